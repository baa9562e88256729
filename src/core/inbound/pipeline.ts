import type { Config } from "../config.ts";
import { isForBot, mayEnter } from "../policy/people.ts";
import type { Acceptance, InboundMessage } from "../ports/chat.ts";
import type { CommandRouter } from "../ports/command.ts";
import type { RunQueue } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Clock, Logger } from "../ports/host.ts";
import { type JobKind, jobRun } from "../runs/job.ts";
import { inboundRunId } from "../runs/run-id.ts";
import type { Sessions } from "../session/sessions.ts";
import { commandRun } from "./command-run.ts";
import type { FindOrigin, Origin } from "./origin.ts";

export interface PipelineParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events;
  readonly queue: RunQueue;
  readonly sessions: Sessions;
  readonly router: CommandRouter;
  readonly findOrigin: FindOrigin;
}

/**
 * One inbound message from the platform to the queue. Resolves when it is durable; what the agent makes of it comes later.
 * The run's id derives from the message, so a second hand-over is recognised by the same write that accepts the first.
 */
export function createPipeline(parts: PipelineParts): (message: InboundMessage) => Promise<Acceptance> {
  const { config, clock, events, logger, queue, sessions, router } = parts;
  return async (message) => {
    const origin = await parts.findOrigin(message);
    const may = mayEnter(message, config, origin);
    const acceptance = may.admitted ? await accept(message, origin) : "ignored";
    if (!may.admitted)
      logger.debug({ channel: message.from.channel, reason: may.reason }, "A message was not admitted");
    events.emit("message.accepted", {
      from: message.from,
      messageId: message.id,
      acceptance,
      atMs: clock.now(),
    });
    return acceptance;
  };

  async function accept(message: InboundMessage, origin: Origin): Promise<Acceptance> {
    const call = message.replay === true ? undefined : router.parse(message);
    if (call !== undefined) return done(await queue.enqueue(commandRun(call)), "command");
    if (isForBot(message, config) && message.replay !== true) return enqueue(message, origin, "agent");
    // Words that were not meant for the bot are context for later, but make no session.
    if ((await sessions.get(origin.key)) === undefined) return "ignored";
    return enqueue(message, origin, "note");
  }

  async function enqueue(message: InboundMessage, origin: Origin, kind: JobKind): Promise<Acceptance> {
    const takesRoute = origin.scope !== "main" || origin.owner || origin.linked;
    const { text, sender, attachments, quoted, locale } = message;
    const run = jobRun(inboundRunId(message.from, message.id), kind, {
      sessionKey: origin.key,
      trigger: "user",
      text,
      atMs: message.sentAtMs,
      provenance: { kind: "external_user", sourceChannel: message.from.channel },
      chain: [],
      sender,
      ...(kind === "agent" ? { replyTo: message.from, replyToId: message.id } : {}),
      ...(attachments === undefined ? {} : { attachments }),
      ...(quoted === undefined ? {} : { quoted }),
      ...(locale === undefined ? {} : { locale }),
    });
    const outcome = await queue.enqueue(run, { writes: [sessions.arrival(origin, message, takesRoute)] });
    return done(outcome, kind === "agent" ? "run" : "context");
  }
}

function done(outcome: "accepted" | "duplicate", accepted: Acceptance): Acceptance {
  return outcome === "duplicate" ? "duplicate" : accepted;
}
