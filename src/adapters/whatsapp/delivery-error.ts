import { deliveryFailed, messageOf, type SwitchboardError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { fieldOf } from "../field-of.ts";

/** Codes of WhatsApp that no retry mends, with what the owner can do. Every other failure may pass. */
const advice: ReadonlyMap<number, string> = new Map([
  [400, "it does not understand the message"],
  [403, "the account may not write in this chat: it was removed, blocked, or only admins may write"],
  [404, "there is no such chat or person"],
  [405, "writing is not allowed in this chat"],
  [406, "it does not accept the message, for instance because it is too long"],
  [463, "the account may not start new chats now: let the person write first (each try makes it worse)"],
]);

/** Refusals that pass, but not within a second: each further try counts against the account. */
const patience: ReadonlyMap<number, number> = new Map([
  // Too much in a short time.
  [429, 60_000],
  // Encrypted for the wrong devices, or for members under their old addresses: what Baileys knows about them has to be renewed.
  [421, 5000],
  [479, 5000],
]);

/**
 * What went wrong with a message to WhatsApp, as DELIVERY_FAILED. `code`: the error in the server's answer; without it, the one
 * that Baileys put into its error is used. A repeat is never uncertain: the message id stays the same.
 */
export function toDeliveryError(error: unknown, partsSent: number, code = codeOf(error)): SwitchboardError {
  const reason = code === undefined ? undefined : advice.get(code);
  if (reason === undefined) {
    const said = code === undefined ? messageOf(error) : `${messageOf(error)}, code ${code}`;
    const message = `WhatsApp did not take the message (${said}). It will be tried again.`;
    const retryAfterMs = patience.get(code ?? 0);
    return deliveryFailed(message, { retryable: true, partsSent, ...given({ retryAfterMs }) }, error);
  }
  const message = `WhatsApp refused the message for good (code ${code}): ${reason}.`;
  return deliveryFailed(message, { retryable: false, partsSent }, error);
}

/** Baileys throws Booms: answers of the server carry their code as `data`, its own errors as `output.statusCode`. */
function codeOf(error: unknown): number | undefined {
  const data = fieldOf(error, "data");
  if (typeof data === "number") return data;
  // Baileys 6 asks for the keys of an address, gets none, and tries to encrypt nevertheless.
  if (fieldOf(error, "name") === "SessionError" && messageOf(error) === "No sessions") return 404;
  return statusCodeOf(error);
}

export function statusCodeOf(error: unknown): number | undefined {
  const statusCode = fieldOf(fieldOf(error, "output"), "statusCode");
  return typeof statusCode === "number" ? statusCode : undefined;
}
