import type { Config } from "../config.ts";
import { isForBot, mayEnter } from "../policy/people.ts";
import type { Acceptance, InboundMessage } from "../ports/chat.ts";
import type { CommandRouter } from "../ports/command.ts";
import type { RunQueue } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Clock, Logger } from "../ports/host.ts";
import { type JobKind, jobRun } from "../runs/job.ts";
import { inboundRunId } from "../runs/run-id.ts";
import type { Standing } from "../session/arrival.ts";
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
  const strangers = new Set<string>();
  return async (message) => {
    const origin = await parts.findOrigin(message);
    const may = mayEnter(message, config, origin);
    const isOverheard = origin.childThread === "overheard";
    const acceptance = may.admitted && !isOverheard ? await accept(message, origin) : "ignored";
    if (!may.admitted) refused(message, may.reason);
    events.emit("message.accepted", {
      from: message.from,
      messageId: message.id,
      acceptance,
      atMs: clock.now(),
    });
    return acceptance;
  };

  /** The first stranger of a channel is worth a line: whoever expected an answer will ask why there was none. */
  function refused({ from }: InboundMessage, reason: string): void {
    const level = from.chatType === "direct" && !strangers.has(from.channel) ? "warn" : "debug";
    if (level === "warn") strangers.add(from.channel);
    logger[level]({ channel: from.channel, reason }, "A message was not admitted");
  }

  async function accept(message: InboundMessage, origin: Origin): Promise<Acceptance> {
    const isOld = message.replay === true;
    const call = router.parse(message);
    // What an owner wanted then need not be what is wanted now.
    if (call !== undefined && isOld) return "ignored";
    if (call !== undefined) {
      return done(await queue.enqueue(commandRun(call), { writes: origin.arrival.writes }), "command");
    }
    const childThread = origin.childThread === "here";
    if (isForBot(message, config, { childThread })) return enqueue(message, origin, isOld ? "note" : "agent");
    // Words that were not meant for the bot are context for later, but make no session.
    if ((await sessions.get(origin.key)) === undefined) return "ignored";
    return enqueue(message, origin, "note");
  }

  async function enqueue(message: InboundMessage, origin: Origin, kind: JobKind): Promise<Acceptance> {
    const { text, sender, attachments, quoted, locale } = message;
    const { arrival } = origin;
    const run = jobRun(inboundRunId(message.from, message.id), kind, {
      sessionKey: arrival.key,
      trigger: "user",
      text,
      atMs: message.sentAtMs,
      provenance: { kind: "external_user", sourceChannel: message.from.channel },
      chain: [],
      sender,
      ...(kind === "agent" ? { replyTo: message.from, replyToId: message.id } : {}),
      ...(origin.owner ? { byOwner: true } : {}),
      ...(attachments === undefined ? {} : { attachments }),
      ...(quoted === undefined ? {} : { quoted }),
      ...(locale === undefined ? {} : { locale }),
    });
    const write = sessions.arrival(arrival, message, standingOf(message, origin));
    const outcome = await queue.enqueue(run, { writes: [...arrival.writes, write] });
    return done(outcome, kind === "agent" ? "run" : "context");
  }
}

/** A session that is more than one chat belongs to owners and linked people: only their chats become its route. */
function standingOf(message: InboundMessage, { scope, owner, linked }: Origin): Standing {
  if (message.replay === true) return "past";
  const isShared = scope === "main" || scope === "global";
  return !isShared || owner || linked ? "speaker" : "guest";
}

function done(outcome: "accepted" | "duplicate", accepted: Acceptance): Acceptance {
  return outcome === "duplicate" ? "duplicate" : accepted;
}
