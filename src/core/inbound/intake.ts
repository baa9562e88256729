import { type Config, channelConfig } from "../config.ts";
import { given } from "../given.ts";
import type { InboundMessage } from "../ports/chat.ts";
import type { NewRun, RunQueue } from "../ports/engine.ts";
import type { Logger } from "../ports/host.ts";
import type { Write } from "../ports/storage.ts";
import { jobRun } from "../runs/job.ts";
import { noteRunId } from "../runs/run-id.ts";
import type { Standing } from "../session/arrival.ts";
import type { Sessions } from "../session/sessions.ts";
import { createInterrupt } from "./interrupt.ts";
import type { Origin } from "./origin.ts";
import type { Overheard } from "./overheard.ts";

interface IntakeParts {
  readonly config: Config;
  readonly logger: Logger;
  readonly queue: RunQueue;
  readonly sessions: Sessions;
  readonly overheard: Overheard;
}

/** A message that a session is told. */
export interface Incoming {
  readonly message: InboundMessage;
  readonly origin: Origin;
  readonly runId: string;
  /** An agent is asked, or the message is only noted: as one for the bot that came too late, or as context. */
  readonly taken: "agent" | "note" | "overheard";
  /** It came with a command: the message that the answer replies to, if it was one. */
  readonly command?: { readonly replyToId?: string };
}

/** The way of every message into its session. Resolves when it is durable. */
export type Intake = (incoming: Incoming) => ReturnType<RunQueue["enqueue"]>;

export function createIntake(parts: IntakeParts): Intake {
  const { config, queue, sessions, overheard } = parts;
  const interrupt = createInterrupt(parts);
  return async (incoming) => {
    await bringAlong(incoming);
    return enqueue(incoming);
  };

  /** What has been kept of the talk in the room comes first. A crash in between is made up for by the next message. */
  async function bringAlong(incoming: Incoming): Promise<void> {
    const { message, origin, runId } = incoming;
    if (message.from.chatType === "direct") return;
    const kept = await overheard.of(origin.place.key);
    if (kept.length === 0) return;
    const { groupContext } = channelConfig(config, message.from.channel);
    for (const heard of kept.slice(Math.max(0, kept.length - groupContext))) {
      // Another account may have heard it as words for its bot.
      if (heard.id === runId || (await queue.get(heard.id)) !== undefined) continue;
      await enqueue(
        {
          message: heard.message,
          runId: noteRunId(heard.id),
          origin: { ...origin, owner: false },
          taken: "overheard",
        },
        arrivalOf(incoming),
      );
    }
    await overheard.forget(origin.place.key, kept);
  }

  function arrivalOf(incoming: Incoming): Write {
    return sessions.arrival(incoming.origin.arrival, incoming.message, standingOf(incoming));
  }

  async function enqueue(incoming: Incoming, arriving = arrivalOf(incoming)) {
    const run = inboundRun(incoming);
    const outcome = await queue.enqueue(run, { writes: [...incoming.origin.arrival.writes, arriving] });
    if (outcome === "accepted") await interrupt(run);
    return outcome;
  }
}

function inboundRun({ message, origin, runId, taken, command }: Incoming): NewRun {
  const { id, from, text, sender, attachments, quoted, locale } = message;
  const isAsked = taken === "agent";
  const { replyToId } = command ?? { replyToId: id };
  return jobRun(runId, isAsked ? "agent" : "note", {
    sessionKey: origin.arrival.key,
    trigger: "user",
    text,
    atMs: message.sentAtMs,
    provenance: { kind: "external_user", sourceChannel: from.channel },
    chain: [],
    sender,
    ...(taken === "overheard" ? { overheard: true } : {}),
    ...(isAsked ? { replyTo: from, ...given({ replyToId }) } : {}),
    ...(origin.owner ? { byOwner: true } : {}),
    ...(command === undefined ? {} : { alone: true }),
    ...given({ attachments, quoted, locale }),
  });
}

/**
 * A session that is more than one chat belongs to owners and linked people: only their chats become its route. What people say to each other moves nothing and
 * keeps no session awake.
 */
function standingOf({ message, origin, taken }: Incoming): Standing {
  if (message.replay === true || taken === "overheard") return "past";
  const { scope, owner, linked } = origin;
  const isShared = scope === "main" || scope === "global";
  return !isShared || owner || linked ? "speaker" : "guest";
}
