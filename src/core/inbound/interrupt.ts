import type { Config } from "../config.ts";
import { messageOf } from "../errors.ts";
import type { NewRun, RunQueue } from "../ports/engine.ts";
import type { Logger } from "../ports/host.ts";
import { isSamePlace } from "../runs/batch.ts";
import { isChatMessage, type Job, toJob } from "../runs/job.ts";
import type { Sessions } from "../session/sessions.ts";

/** Whoever is interrupted again and again is answered in the end, however fast people write. */
const MOST_IN_A_ROW = 5;

/** With "interrupt", a message ends the turn of the one before it in its chat. The message has been accepted, so nothing that fails here may say otherwise. */
export function createInterrupt(parts: {
  readonly config: Config;
  readonly queue: Pick<RunQueue, "pending" | "cancel">;
  readonly sessions: Pick<Sessions, "get">;
  readonly logger: Logger;
}): (run: NewRun) => Promise<void> {
  const { config, queue, sessions, logger } = parts;

  async function interrupt(run: NewRun): Promise<void> {
    const [active] = await queue.pending(run.lane, 1);
    if (active?.state !== "running" || active.id === run.id || !isChatMessage(active)) return;
    const job = toJob(run.payload);
    if (!mayEnd(job, toJob(active.payload))) return;
    const session = await sessions.get(job.sessionKey);
    if ((session?.unanswered ?? 0) < MOST_IN_A_ROW) await queue.cancel(active.id);
  }

  return async (run) => {
    if (config.agents.defaults.queue !== "interrupt" || !isChatMessage(run)) return;
    try {
      await interrupt(run);
    } catch (error) {
      logger.warn({ runId: run.id, error: messageOf(error) }, "A message could not end the turn before it");
    }
  };
}

/** Not in another chat, and an owner's turn only for an owner. */
function mayEnd(job: Job, active: Job): boolean {
  return isSamePlace(job.replyTo, active.replyTo) && (active.byOwner !== true || job.byOwner === true);
}
