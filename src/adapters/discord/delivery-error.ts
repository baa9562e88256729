import { deliveryFailed, messageOf, type SwitchboardError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { fieldOf } from "../field-of.ts";
import type { RateLimit } from "./rate-limit.ts";

/** Discord's own codes that no retry mends, with what the owner can do. */
const advice: ReadonlyMap<number, string> = new Map([
  [10003, "the channel does not exist any more, or the bot has left its server"],
  [10004, "the server does not exist any more, or the bot has left it"],
  [20009, "this person takes no such content"],
  [40005, "the message is larger than Discord takes"],
  [50001, "the bot may not see this channel: give it the View Channel permission"],
  [50006, "the message is empty"],
  [50007, "this person takes no direct messages from the bot: they blocked it or share no server with it"],
  [50008, "this channel holds no messages: use one of its threads or posts"],
  [50009, "the server's verification level keeps the bot out: an administrator has to let it in"],
  [50013, "the bot lacks Send Messages or Send Messages in Threads here"],
  [50083, "the thread is archived and locked: unlock it or use its parent channel"],
  [50278, "the bot and this person share no server"],
  [160_005, "the thread is locked: unlock it or use its parent channel"],
  [200_000, "the server's AutoMod blocked the text: exempt the bot's role, or change the rule"],
]);

/** Refusals that pass by themselves, whatever the HTTP status says: slow mode, write limits, overload. */
const passing: ReadonlySet<number> = new Set([20_016, 20_028, 20_029, 40_062, 130_000]);

const noHistoryToReplyIn = 160_002;

/**
 * What went wrong with a request to Discord, as DELIVERY_FAILED. Rate limits, server errors and everything without an HTTP
 * status (no connection, no login yet, no answer in time) may be tried again; every other refusal is final.
 * Without an answer it is uncertain whether a request arrived, unless it never left.
 */
export function toDeliveryError(error: unknown, partsSent: number): SwitchboardError {
  const waitMs = numberIn(error, "retryAfter");
  if (waitMs !== undefined) {
    const limit = fieldOf(error, "global") === true ? ({ waitMs, scope: "account" } as const) : { waitMs };
    return rateLimited(limit, partsSent, error);
  }

  const status = numberIn(error, "status");
  const said = messageOf(error);
  if (status === undefined) {
    const message = `Discord could not be reached (${said}). It will be tried again.`;
    const doubt = neverLeft(error) ? {} : { uncertain: true };
    return deliveryFailed(message, { retryable: true, partsSent, ...doubt }, error);
  }
  const code = numberIn(error, "code") ?? 0;
  if (status >= 500 || status === 429 || status === 408 || passing.has(code)) {
    const message = `Discord cannot take this now (HTTP ${status}). It will be tried again.`;
    return deliveryFailed(message, { retryable: true, partsSent }, error);
  }
  const reason = advice.get(code) ?? said;
  const message = `Discord refused this for good (HTTP ${status}, code ${code}): ${reason}.`;
  return deliveryFailed(message, { retryable: false, partsSent }, error);
}

/** Whether a send was refused for the message that it replies to, not for what it says. */
export function isReplyRefused(failure: unknown): boolean {
  const refusal: unknown = failure instanceof Error ? failure.cause : undefined;
  if (numberIn(refusal, "code") === noHistoryToReplyIn) return true;
  const form = fieldOf(fieldOf(refusal, "rawError"), "errors");
  return fieldOf(form, "message_reference") !== undefined;
}

/** No connection was made, so nothing can have arrived. */
const unconnected = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** With these words discord.js refuses by itself before the bot has logged in. */
const notLoggedIn = "Expected token to be set for this request, but none was present";

function neverLeft(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    unconnected.has(String(Reflect.get(error, "code"))) ||
    error.message === notLoggedIn ||
    neverLeft(error.cause)
  );
}

export function rateLimited(
  { waitMs: retryAfterMs, scope }: RateLimit,
  partsSent: number,
  cause?: unknown,
): SwitchboardError {
  const who = scope === "account" ? "the whole account to wait" : "to wait";
  const message = `Discord asks ${who} ${Math.ceil(retryAfterMs / 1000)} s. It will be tried again after that.`;
  return deliveryFailed(message, { retryable: true, retryAfterMs, partsSent, ...given({ scope }) }, cause);
}

function numberIn(error: unknown, field: string): number | undefined {
  const value = fieldOf(error, field);
  return typeof value === "number" ? value : undefined;
}
