import { type Config, channelConfig } from "../config.ts";
import { isForBot, mayEnter } from "../policy/people.ts";
import type { Acceptance, ChannelAdapter, InboundMessage } from "../ports/chat.ts";
import type { CommandRouter, NativeCommandCall } from "../ports/command.ts";
import type { RunQueue } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { Session } from "../ports/session.ts";
import { noteRunId } from "../runs/run-id.ts";
import { isStale } from "../session/freshness.ts";
import type { Sessions } from "../session/sessions.ts";
import { createBotLoop, isOwnPost } from "./bot-loop.ts";
import { boundedMessage } from "./bounded.ts";
import { commandRun } from "./command-run.ts";
import { createIsShared, heardId } from "./heard-id.ts";
import type { Incoming, Intake } from "./intake.ts";
import type { FindOrigin, Origin } from "./origin.ts";
import type { Overheard } from "./overheard.ts";
import type { Pairing } from "./pairing.ts";
import { createStrangers } from "./strangers.ts";

export interface PipelineParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events;
  readonly queue: RunQueue;
  readonly sessions: Sessions;
  readonly router: CommandRouter;
  readonly findOrigin: FindOrigin;
  readonly overheard: Overheard;
  readonly intake: Intake;
  readonly pairing: Pick<Pairing, "ask">;
  readonly adapters: readonly ChannelAdapter[];
}

/** A message at the place where it belongs. */
interface Heard {
  readonly message: InboundMessage;
  readonly origin: Origin;
  /** Other accounts of this installation may hear it too. */
  readonly isShared: boolean;
  /** Of the run that it is for an agent, or would be. */
  readonly runId: string;
}

/** What becomes of a message, and why where nothing does. */
interface Verdict {
  readonly acceptance: Acceptance;
  readonly reason?: string;
}

/**
 * One inbound message from the platform to the queue. Resolves when it is durable; what the agent makes of it comes later.
 * The run's id derives from the message, so a second hand-over is recognised by the same write that accepts the first.
 */
export function createPipeline(parts: PipelineParts): (message: InboundMessage) => Promise<Acceptance> {
  const { config, clock, events, overheard, queue, sessions, router } = parts;
  const turnAway = createStrangers(parts);
  const botLoop = createBotLoop(parts);
  const mayBeShared = createIsShared(parts.adapters);
  return async (received) => {
    const message = boundedMessage(received, parts.logger);
    const origin = await parts.findOrigin(message);
    const isShared = mayBeShared(message);
    const heard = { message, origin, isShared, runId: heardId(message, origin.place.agentId, isShared) };
    const refusal = await refusalOf(message, origin);
    const verdict = refusal === undefined ? await accept(heard) : ignored(refusal);
    events.emit("message.accepted", {
      from: message.from,
      messageId: message.id,
      ...verdict,
      atMs: clock.now(),
    });
    return verdict.acceptance;
  };

  /** Why a message is not for this bot at all, whatever it says. */
  async function refusalOf(message: InboundMessage, origin: Origin): Promise<string | undefined> {
    if (await isOwnPost(parts.adapters, message)) return "an account of this installation posted it";
    const may = mayEnter(message, config, origin);
    if (!may.admitted) {
      await turnAway(message, origin, may);
      return may.reason;
    }
    if (origin.childThread === "overheard") return "another account of this installation opened the thread";
    return botLoop.refusal(message);
  }

  async function accept(heard: Heard): Promise<Verdict> {
    const { message, origin } = heard;
    const call = router.parse(message, origin);
    // What an owner wanted then need not be what is wanted now.
    if (call !== undefined && message.replay === true)
      return ignored("a command from before the bot was there");
    const childThread = origin.childThread === "here";
    if (call === undefined && !isForBot(message, config, { childThread })) return overhear(heard);
    return message.replay === true ? note(heard) : answer(heard, call);
  }

  async function answer(heard: Heard, call: NativeCommandCall | undefined): Promise<Verdict> {
    const { message, origin, runId } = heard;
    const refusal = await botLoop.counted(message, runId);
    if (refusal !== undefined) return ignored(refusal);
    if (call === undefined) return take(heard, "agent");
    return done(await queue.enqueue(commandRun(call, runId), { writes: origin.arrival.writes }), "command");
  }

  /** Words that were not meant for the bot are context for later, but neither make nor wake a session. */
  async function overhear(heard: Heard): Promise<Verdict> {
    const { message, origin, isShared, runId } = heard;
    const { channel } = message.from;
    const { groupContext } = channelConfig(config, channel);
    if (groupContext === 0)
      return ignored(`it is not for the bot, and channels.${channel}.groupContext is 0`);
    const { key } = origin.place;
    // Another account may have heard it as words for its bot, or may hear it so in a moment: then it is no context.
    if (isShared && (await queue.get(runId)) !== undefined) return done("duplicate", "context");
    const session = await sessions.get(origin.key);
    if (isShared || session === undefined || isAsleep(session, config, clock.now())) {
      return done(await overheard.keep(key, { id: runId, message }, groupContext), "context");
    }
    if (await overheard.hasLetGo(key, runId)) return done("duplicate", "context");
    return take(heard, "overheard", noteRunId(runId));
  }

  /** What came too late for one account may be in time for another, and is no repeat there. */
  async function note(heard: Heard): Promise<Verdict> {
    if (!heard.isShared) return take(heard, "note");
    const isAsked = (await queue.get(heard.runId)) !== undefined;
    return isAsked ? done("duplicate", "context") : take(heard, "note", noteRunId(heard.runId));
  }

  async function take(heard: Heard, taken: Incoming["taken"], runId = heard.runId): Promise<Verdict> {
    const { message, origin } = heard;
    const outcome = await parts.intake({ message, origin, runId, taken });
    return done(outcome, taken === "agent" ? "run" : "context");
  }
}

/** Only somebody who means the bot reopens an archived session, or begins anew what has been silent for too long. */
function isAsleep(session: Session, config: Config, nowMs: number): boolean {
  return session.archivedAtMs !== undefined || isStale(session, config, nowMs);
}

function done(outcome: "accepted" | "duplicate", accepted: Acceptance): Verdict {
  return { acceptance: outcome === "duplicate" ? "duplicate" : accepted };
}

function ignored(reason: string): Verdict {
  return { acceptance: "ignored", reason };
}
