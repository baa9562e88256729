import { createHash } from "node:crypto";
import { graphemeBorder } from "../text/grapheme-border.ts";
import type { Parcel } from "./parcel.ts";

const HOUR_MS = 3_600_000;
/** A text that the platform has refused for this long is given up. */
const GIVE_UP_AFTER_MS = 24 * HOUR_MS;
/** A text that nobody could even try to send for this long is too old to appear out of nowhere. */
const STALE_AFTER_MS = 48 * HOUR_MS;
/** Texts of one chat that cannot be sent now; of more, the oldest is given up for each that follows. */
const MOST_WAITING = 1000;
/** However long a platform asks to be left alone: it is asked again, and the text ends, within the limits above. */
const LONGEST_HOLD_MS = 24 * HOUR_MS;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
/** Chats that failed at the same moment do not all come back at the same moment. */
const JITTER = 0.2;
/** A longer text floods the chat, and the limits of the account. Its session has all of it. */
const MOST_PARTS = 50;

/** Why this text is not tried any more, before it is; `waiting`: texts in its chat, itself among them. */
export function hopeless(parcel: Parcel, waiting: number, nowMs: number): string | undefined {
  if (isStale(parcel, nowMs))
    return `It could not be sent for ${Math.floor((nowMs - parcel.createdAtMs) / HOUR_MS)} hours.`;
  if (hasFailed(parcel) && waiting > MOST_WAITING)
    return `More than ${MOST_WAITING} texts wait for this chat. ${parcel.lastReason ?? ""}`.trim();
  return undefined;
}

function isStale({ createdAtMs }: Parcel, nowMs: number): boolean {
  return nowMs - createdAtMs > STALE_AFTER_MS;
}

/** Until when the platform's own limit keeps this text, which can still be sent then. */
export function heldUntil(parcel: Parcel, nowMs: number): number | undefined {
  const { heldUntilMs = 0 } = parcel;
  return heldUntilMs > nowMs && !isStale(parcel, nowMs) ? heldUntilMs : undefined;
}

/** When a limit ends that the platform has named; undefined: it named none. */
export function holdEnd(retryAfterMs: number | undefined, nowMs: number): number | undefined {
  // What platforms name may be no number.
  if (retryAfterMs === undefined || !(retryAfterMs >= 0)) return undefined;
  return nowMs + Math.min(retryAfterMs, LONGEST_HOLD_MS);
}

/** Whoever has failed once is asked how many wait behind it. */
export function hasFailed({ failures = 0 }: Parcel): boolean {
  return failures > 0;
}

/** Whether a text that has just failed has been tried for long enough. */
export function isOverdue({ createdAtMs }: Parcel, nowMs: number): boolean {
  return nowMs - createdAtMs > GIVE_UP_AFTER_MS;
}

/** 1, 2, 4 … seconds, a minute at most, each up to a fifth earlier. The same for the same try of the same delivery. */
export function backoffMs(deliveryId: string, failures: number): number {
  const longest = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
  const digest = createHash("sha256").update(`${deliveryId}#${failures}`).digest();
  return Math.round(longest * (1 - JITTER * (digest.readUInt32BE(0) / 2 ** 32)));
}

/** When a text that has failed is tried again. A limit that is over within a second is no leave to knock on without end. */
export function nextTryMs(
  deliveryId: string,
  failures: number,
  heldUntilMs: number | undefined,
  nowMs: number,
): number {
  const isLong = heldUntilMs !== undefined && heldUntilMs - nowMs >= FIRST_RETRY_MS;
  return isLong ? heldUntilMs : Math.max(heldUntilMs ?? 0, nowMs + backoffMs(deliveryId, failures));
}

/** The text as far as it may leave at once, with how much is missing said at its end. The same text is always cut at the same place. */
export function bounded(
  markdown: string,
  maxTextLength: number,
): { readonly text: string; readonly cut?: string } {
  const most = MOST_PARTS * maxTextLength;
  if (markdown.length <= most) return { text: markdown };
  const at = graphemeBorder(markdown, most);
  const cut = `${at} of ${markdown.length} characters were sent; the history of the session has all of them.`;
  return { text: `${markdown.slice(0, at)}\n\n[… ${at} / ${markdown.length}]`, cut };
}
