import type { Address, PartProgress } from "../ports/chat.ts";
import type { Choice } from "../ports/command.ts";
import type { DeadLetter } from "../ports/dead-letter.ts";
import type { NewRun } from "../ports/engine.ts";
import type { Json } from "../ports/host.ts";
import type { SessionKey } from "../ports/session.ts";
import { deliveryLane } from "../runs/run-id.ts";

export type ParcelKind = "reply" | "announce" | "notice" | "command" | "pairing";

/** One text on its way to one address: the payload of a delivery run. */
export interface Parcel {
  readonly sessionKey: SessionKey;
  readonly to: Address;
  readonly markdown: string;
  readonly kind: ParcelKind;
  readonly replyToId?: string;
  readonly choices?: readonly Choice[];
  /** The owner's own /send must be able to answer in a chat that it has just silenced. */
  readonly evenIfDenied?: boolean;
  readonly createdAtMs: number;
  /** Somebody asked for it again when it had been given up like this. */
  readonly retryOf?: DeadLetter["state"];
  /** Runs that follow when this has been delivered or given up. */
  readonly followedBy?: readonly NewRun[];
  /** Progress, kept by the outbox. */
  readonly partsSent?: number;
  /** Of the parts sent so far. */
  readonly messageIds?: readonly string[];
  /** The part that was being sent when this was written. */
  readonly starting?: number;
  readonly startingAtMs?: number;
  readonly failures?: number;
  /** Of the newest failure, masked. */
  readonly lastReason?: string;
  /** The platform has asked for silence until then. */
  readonly heldUntilMs?: number;
}

export type ParcelState = "delivered" | "suppressed" | "failed" | "uncertain";

/** What a settled delivery run says of itself. */
export interface ParcelResult {
  readonly state: ParcelState;
  /** Of every part that is known to have arrived, whichever attempt sent it. */
  readonly messageIds?: readonly string[];
  readonly reason?: string;
}

export const DELIVERY_KIND = "delivery";

/** The delivery run of a parcel; the same id is the same delivery, whoever enqueues it and however often. */
export function deliveryRun(id: string, parcel: Parcel): NewRun {
  return { id, ...deliveryLane(parcel.to), kind: DELIVERY_KIND, payload: toPayload(parcel) };
}

// Parcels are plain data by construction; Json cannot express the optional members of a named type.
export function toPayload(parcel: Parcel): Json {
  return parcel as unknown as Json;
}

// Payloads of this kind are written by `toPayload` only.
export function toParcel(payload: Json): Parcel {
  return payload as unknown as Parcel;
}

// See toPayload.
export function toResult(result: ParcelResult): Json {
  return result as unknown as Json;
}

/** One step further in the attempt that is under way. */
export function advanced(parcel: Parcel, step: PartProgress, nowMs: number): Parcel {
  if (step.state === "starting") {
    return { ...parcel, starting: step.part, startingAtMs: parcel.startingAtMs ?? nowMs };
  }
  const messageIds = [...(parcel.messageIds ?? []), step.messageId];
  return withoutStarting({ ...parcel, partsSent: step.part + 1, messageIds });
}

/**
 * After an attempt that did not succeed. A part that may have arrived (`uncertain`) stays marked: it is repeated while the platform would recognise it, not
 * later.
 */
export function afterTry(
  { heldUntilMs: _over, ...parcel }: Parcel,
  confirmedParts: number,
  uncertain: boolean,
): Parcel {
  const known = { ...parcel, partsSent: Math.max(parcel.partsSent ?? 0, confirmedParts) };
  return uncertain ? known : withoutStarting(known);
}

/** Of a text that is not tried any more: whether the part that was under way may be there. */
export function ofUnsent({ starting }: Parcel): "failed" | "uncertain" {
  return starting === undefined ? "failed" : "uncertain";
}

/** What is known to be in the chat of a text that does not arrive whole. */
export function sentSoFar({ messageIds }: Parcel): Pick<ParcelResult, "messageIds"> {
  return messageIds === undefined ? {} : { messageIds };
}

function withoutStarting({ starting: _sent, startingAtMs: _since, ...parcel }: Parcel): Parcel {
  return parcel;
}
