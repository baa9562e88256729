import { deliveryFailureOf, messageOf, SwitchboardError } from "../errors.ts";
import { given } from "../given.ts";
import type { ChannelAdapter, OutboundMessage } from "../ports/chat.ts";
import type { Choice } from "../ports/command.ts";
import type { DeadLetter } from "../ports/dead-letter.ts";
import type { ClaimedRun, RunQueue, RunSettlement } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { Session } from "../ports/session.ts";
import { newSession } from "../session/arrival.ts";
import { agentIdOf, type KeyNames } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import { shortReason } from "../text/short-line.ts";
import type { Redactor } from "../transcript/redact.ts";
import { undeliveredNote } from "./dead-letter.ts";
import { bounded, hasFailed, heldUntil, holdEnd, hopeless, isOverdue, nextTryMs } from "./delivery-rules.ts";
import { type AccountHold, createAccountHold } from "./outbox-hold.ts";
import {
  advanced,
  afterTry,
  ofUnsent,
  type Parcel,
  type ParcelResult,
  type ParcelState,
  sentSoFar,
  toParcel,
  toPayload,
  toResult,
} from "./parcel.ts";
import type { SendCheck } from "./send-check.ts";
import type { Undelivered } from "./undelivered.ts";
import { withheldWrites } from "./withheld.ts";

export interface OutboxParts {
  readonly sessions: Sessions;
  readonly names: KeyNames;
  readonly sendCheck: SendCheck;
  readonly queue: Pick<RunQueue, "backlog">;
  readonly undelivered: Pick<Undelivered, "burial">;
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
  const account = createAccountHold(adapter, parts);
  return async (run: ClaimedRun): Promise<RunSettlement> => {
    const parcel = toParcel(run.payload);
    // Whatever has woken it, a reconnect or a restart: the platform's own limit still holds.
    const heldUntilMs = heldUntil(parcel, parts.clock.now());
    if (heldUntilMs !== undefined) return { retryAtMs: heldUntilMs };
    const held = account.held(parcel);
    if (held !== undefined) return parked(held);
    const end = await endWithoutSending(adapter, run, parcel, parts);
    if (end !== undefined) return settle(run, parcel, { ...end, ...sentSoFar(parcel) }, parts);
    return attempt({ adapter, account }, run, parcel, parts);
  };
}

function parked(held: Parcel): RunSettlement {
  return { retryAtMs: held.heldUntilMs ?? 0, payload: toPayload(held) };
}

type End = Pick<ParcelResult, "state" | "reason">;

/** undefined: it is sent now. */
async function endWithoutSending(
  adapter: ChannelAdapter,
  { lane }: ClaimedRun,
  parcel: Parcel,
  parts: OutboxParts,
): Promise<End | undefined> {
  const now = parts.clock.now();
  const refused = await refusal(parcel, parts);
  if (refused !== undefined) return refused;
  if (parcel.starting !== undefined && !mayRepeat(adapter, parcel, now)) {
    const reason = `The process ended while part ${parcel.starting + 1} was being sent; the platform cannot tell whether it arrived.`;
    return { state: "uncertain", reason };
  }
  const waiting = hasFailed(parcel) ? ((await parts.queue.backlog(lane))?.count ?? 0) : 0;
  const reason = hopeless(parcel, waiting, now);
  return reason === undefined ? undefined : { state: ofUnsent(parcel), reason };
}

async function attempt(
  { adapter, account }: Pick<Failed, "adapter" | "account">,
  run: ClaimedRun,
  parcel: Parcel,
  parts: OutboxParts,
): Promise<RunSettlement> {
  let progress = parcel;
  let storeError: unknown;
  const { text: markdown, cut } = bounded(parts.mask(parcel.markdown), adapter.maxTextLength);
  const message: OutboundMessage = {
    deliveryId: run.id,
    markdown,
    fromPart: parcel.partsSent ?? 0,
    ...given({ replyToId: parcel.replyToId, choices: maskedChoices(parcel, parts) }),
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
    const reached = { state: "delivered" as const, messageIds: [...earlier, ...messageIds] };
    return settle(run, parcel, { ...reached, ...given({ reason: cut }) }, parts);
  } catch (error) {
    // Our own store failed, not the platform: the run is neither delivered nor refused, and is tried again.
    if (storeError !== undefined) throw storeError;
    const isDoubtful = progress.starting !== undefined && progress.starting === parcel.starting;
    return afterFailure(error, { run, progress, isDoubtful, adapter, account }, parts);
  }
}

interface Failed {
  readonly run: ClaimedRun;
  readonly progress: Parcel;
  /** The part under way was already under way when an earlier attempt was cut off: it may be there, whatever became of this one. */
  readonly isDoubtful: boolean;
  readonly adapter: ChannelAdapter;
  readonly account: AccountHold;
}

function afterFailure(
  error: unknown,
  { run, progress, isDoubtful, adapter, account }: Failed,
  parts: OutboxParts,
): Promise<RunSettlement> | RunSettlement {
  const failure = deliveryFailureOf(error);
  const now = parts.clock.now();
  // Platforms and their libraries repeat what was sent, and with what token.
  const reason = reasonOf(error, parts) || "The platform gave no reason.";
  const uncertain = failure.uncertain === true || isDoubtful;
  const unsent = { ...afterTry(progress, failure.partsSent, uncertain), lastReason: reason };
  const held = account.refused(failure, unsent);
  if (held !== undefined) return parked(held);
  const failures = (progress.failures ?? 0) + 1;
  const next = { ...unsent, failures };
  const isRepeatable = !uncertain || mayRepeat(adapter, next, now);
  if (!failure.retryable || !isRepeatable || isOverdue(next, now)) {
    const state = uncertain ? "uncertain" : "failed";
    return settle(run, next, { state, reason, ...sentSoFar(next) }, parts);
  }
  // Said once for each text: an outage of hours would say it every minute.
  const level = failures === 1 ? "warn" : "debug";
  parts.logger[level]({ deliveryId: run.id, failures, reason }, "A delivery will be tried again");
  const heldUntilMs = holdEnd(failure.retryAfterMs, now);
  return {
    retryAtMs: nextTryMs(run.id, failures, heldUntilMs, now),
    payload: toPayload({ ...next, ...given({ heldUntilMs }) }),
  };
}

/** Why it may not leave, if it may not. */
export async function refusal(parcel: Parcel, parts: OutboxParts): Promise<End | undefined> {
  if (parcel.evenIfDenied === true) return undefined;
  try {
    const session = (await parts.sessions.get(parcel.sessionKey)) ?? unopened(parcel, parts.names);
    if (session === undefined) return { state: "suppressed", reason: "The session was deleted." };
    const may = await parts.sendCheck(session, parcel.to);
    return may.allowed ? undefined : { state: "suppressed", reason: may.reason };
  } catch (error) {
    if (!(error instanceof SwitchboardError) || error.code !== "STORE_CORRUPT") throw error;
    // Nobody knows any more whether it may leave.
    return { state: ofUnsent(parcel), reason: reasonOf(error, parts) };
  }
}

/** What may be said in a chat that has no session yet: the answer to a command, and a code. The policy then decides by the chat alone. */
function unopened({ kind, sessionKey: key, createdAtMs }: Parcel, names: KeyNames): Session | undefined {
  if (kind !== "command" && kind !== "pairing") return undefined;
  return newSession({ key, agentId: agentIdOf(key, names), nowMs: createdAtMs, newSessionId: "" });
}

/** The end of a text, with what follows it. */
export async function settle(
  run: ClaimedRun,
  parcel: Parcel,
  result: ParcelResult,
  parts: OutboxParts,
): Promise<RunSettlement> {
  const { state, reason = state } = result;
  const { sessionKey, to, followedBy: effects = [] } = parcel;
  const told = { deliveryId: run.id, to, state, ...given({ reason: result.reason }) };
  const done = { done: toResult(result), effects };
  const fate = letterState(state, parcel);
  if (fate === undefined) {
    const silenced = state === "suppressed" ? await parts.sessions.get(sessionKey) : undefined;
    const writes = withheldWrites(run.id, parcel.kind, silenced, parts.clock.now());
    parts.events.emit("delivery.settled", told);
    return { ...done, writes };
  }
  const payload = toPayload(parcel);
  const letter = { id: run.id, sessionKey, to, state: fate, reason, atMs: parts.clock.now(), payload };
  const writes = await parts.undelivered.burial(letter);
  parts.events.emit("delivery.settled", told);
  if (state === "suppressed") return { ...done, writes };
  parts.logger.warn({ deliveryId: run.id, state, reason }, "A delivery was given up");
  return {
    failed: reason,
    result: toResult(result),
    effects: [...effects, ...undeliveredNote(letter)],
    writes,
  };
}

/** As what its owner finds it; undefined: there is nothing to decide. Whoever has asked for it again is told in any case that it has not left. */
function letterState(state: ParcelState, { retryOf }: Parcel): DeadLetter["state"] | undefined {
  if (state === "delivered") return undefined;
  if (state === "suppressed") return retryOf;
  // Of the first time nobody knows yet.
  return retryOf === "uncertain" ? "uncertain" : state;
}

function reasonOf(error: unknown, { redactor }: OutboxParts): string {
  return shortReason(messageOf(error), (text) => redactor.redact(text).text);
}

function maskedChoices({ choices }: Parcel, { mask }: OutboxParts): readonly Choice[] | undefined {
  return choices?.map((choice) => ({ ...choice, label: mask(choice.label) }));
}

/** Whether the platform still knows a part that an earlier attempt may have sent. */
function mayRepeat(adapter: ChannelAdapter, { startingAtMs = 0 }: Parcel, nowMs: number): boolean {
  return nowMs - startingAtMs < adapter.repeatableForMs;
}
