import { deliveryFailureOf, messageOf } from "../errors.ts";
import { given } from "../given.ts";
import type { ChannelAdapter, OutboundMessage, PartProgress } from "../ports/chat.ts";
import type { ClaimedRun, RunSettlement } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { Session } from "../ports/session.ts";
import { newSession } from "../session/arrival.ts";
import { agentIdOf, type KeyNames } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Redactor } from "../transcript/redact.ts";
import { type Parcel, type ParcelResult, toParcel, toPayload, toResult } from "./parcel.ts";
import type { SendCheck } from "./send-check.ts";

/** A text that could not be delivered for this long is given up, with a record. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

export interface OutboxParts {
  readonly sessions: Sessions;
  readonly names: KeyNames;
  readonly sendCheck: SendCheck;
  readonly clock: Clock;
  readonly events: Events;
  readonly logger: Logger;
  /** Masks exact secrets on the way out. */
  readonly mask: (text: string) => string;
  readonly redactor: Pick<Redactor, "redact">;
}

/**
 * Handler of one adapter's delivery runs, the only caller of `ChannelAdapter.send`. The lane keeps a chat's texts in order; a parked text keeps its place.
 * Send policy is asked at the moment of leaving. A send that a crash cut off is repeated only where the platform recognises a repeat.
 */
export function createOutbox(adapter: ChannelAdapter, parts: OutboxParts) {
  return async (run: ClaimedRun): Promise<RunSettlement> => {
    const parcel = toParcel(run.payload);
    const denied = await refusal(parcel, parts);
    if (denied !== undefined) return settle(run, parcel, { state: "suppressed", reason: denied }, parts);
    if (parcel.starting !== undefined && !mayRepeat(adapter, parcel, parts.clock.now())) {
      const reason = `The process ended while part ${parcel.starting + 1} was being sent; the platform cannot tell whether it arrived.`;
      return settle(run, parcel, { state: "uncertain", reason, ...sentSoFar(parcel) }, parts);
    }
    return attempt(adapter, run, parcel, parts);
  };
}

async function attempt(
  adapter: ChannelAdapter,
  run: ClaimedRun,
  parcel: Parcel,
  parts: OutboxParts,
): Promise<RunSettlement> {
  let progress = parcel;
  let storeError: unknown;
  const message: OutboundMessage = {
    deliveryId: run.id,
    markdown: parts.mask(parcel.markdown),
    fromPart: parcel.partsSent ?? 0,
    ...given({ replyToId: parcel.replyToId, choices: parcel.choices }),
    onPart: async (step) => {
      progress = advanced(progress, step, parts.clock.now());
      await run.checkpoint(toPayload(progress)).catch((error: unknown) => {
        storeError = error;
        throw error;
      });
    },
  };
  try {
    const { messageIds } = await adapter.send(parcel.to, message, run.signal);
    const earlier = parcel.messageIds ?? [];
    return settle(run, parcel, { state: "delivered", messageIds: [...earlier, ...messageIds] }, parts);
  } catch (error) {
    // Our own store failed, not the platform: the run is neither delivered nor refused, and is tried again.
    if (storeError !== undefined) throw storeError;
    return afterFailure(error, run, progress, adapter, parts);
  }
}

function afterFailure(
  error: unknown,
  run: ClaimedRun,
  progress: Parcel,
  adapter: ChannelAdapter,
  parts: OutboxParts,
): RunSettlement {
  const failure = deliveryFailureOf(error);
  const now = parts.clock.now();
  // Platforms and their libraries repeat what was sent, and with what token.
  const reason = parts.redactor.redact(messageOf(error)).text;
  const uncertain = failure.uncertain === true;
  if (uncertain && !(failure.retryable && mayRepeat(adapter, progress, now))) {
    return settle(run, progress, { state: "uncertain", reason, ...sentSoFar(progress) }, parts);
  }
  if (!failure.retryable || now - progress.createdAtMs > GIVE_UP_AFTER_MS) {
    return settle(run, progress, { state: "failed", reason, ...sentSoFar(progress) }, parts);
  }
  const failures = (progress.failures ?? 0) + 1;
  const backoffMs = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
  parts.logger.warn({ deliveryId: run.id, failures, reason }, "A delivery will be tried again");
  const counted = { ...progress, failures, partsSent: Math.max(progress.partsSent ?? 0, failure.partsSent) };
  // A part that may have arrived stays marked: it is repeated while the platform would recognise it, not later.
  const next = uncertain ? counted : withoutStarting(counted);
  return { retryAtMs: now + (failure.retryAfterMs ?? backoffMs), payload: toPayload(next) };
}

async function refusal(parcel: Parcel, parts: OutboxParts): Promise<string | undefined> {
  if (parcel.evenIfDenied === true) return undefined;
  const session = (await parts.sessions.get(parcel.sessionKey)) ?? unopened(parcel, parts.names);
  if (session === undefined) return "The session was deleted.";
  const may = await parts.sendCheck(session, parcel.to);
  return may.allowed ? undefined : may.reason;
}

/** A command may be answered in a chat that has no session yet; the policy then decides by the chat alone. */
function unopened({ kind, sessionKey: key, createdAtMs }: Parcel, names: KeyNames): Session | undefined {
  if (kind !== "command") return undefined;
  return newSession({ key, agentId: agentIdOf(key, names), nowMs: createdAtMs, newSessionId: "" });
}

function settle(run: ClaimedRun, parcel: Parcel, result: ParcelResult, parts: OutboxParts): RunSettlement {
  const { state, reason } = result;
  parts.events.emit("delivery.settled", {
    deliveryId: run.id,
    to: parcel.to,
    state,
    ...(reason === undefined ? {} : { reason }),
  });
  const effects = parcel.followedBy ?? [];
  if (state === "delivered" || state === "suppressed") return { done: toResult(result), effects };
  parts.logger.warn({ deliveryId: run.id, state, reason }, "A delivery was given up");
  return { failed: reason ?? state, result: toResult(result), effects };
}

function advanced(parcel: Parcel, step: PartProgress, nowMs: number): Parcel {
  if (step.state === "starting") {
    return { ...parcel, starting: step.part, startingAtMs: parcel.startingAtMs ?? nowMs };
  }
  const messageIds = [...(parcel.messageIds ?? []), step.messageId];
  return withoutStarting({ ...parcel, partsSent: step.part + 1, messageIds });
}

function sentSoFar({ messageIds }: Parcel): Pick<ParcelResult, "messageIds"> {
  return messageIds === undefined ? {} : { messageIds };
}

function withoutStarting({ starting: _sent, startingAtMs: _since, ...parcel }: Parcel): Parcel {
  return parcel;
}

/** Whether the platform still knows a part that an earlier attempt may have sent. */
function mayRepeat(adapter: ChannelAdapter, { startingAtMs = 0 }: Parcel, nowMs: number): boolean {
  return nowMs - startingAtMs < adapter.repeatableForMs;
}
