import { deliveryFailed, messageOf, type SwitchboardError } from "../../core/errors.ts";
import { fieldOf } from "../field-of.ts";

/** What Telegram answered instead of doing what it was asked. */
export interface Refusal {
  readonly code: number;
  readonly description: string;
  readonly retryAfterS?: number;
  /** The group is a supergroup now and has this id. */
  readonly movedTo?: number;
}

/** Reads grammY's GrammyError; undefined when no answer came from Telegram at all. */
export function refusalOf(error: unknown): Refusal | undefined {
  const code = fieldOf(error, "error_code");
  if (typeof code !== "number") return undefined;
  const description = String(fieldOf(error, "description"));
  const parameters = fieldOf(error, "parameters");
  const retryAfterS = secondsIn(fieldOf(parameters, "retry_after"), description);
  const movedTo = fieldOf(parameters, "migrate_to_chat_id");
  return {
    code,
    description,
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
    ...(typeof movedTo === "number" ? { movedTo } : {}),
  };
}

/** Servers that stand in for Telegram's name the time as a number, as digits, or in their words alone. */
function secondsIn(named: unknown, description: string): number | undefined {
  const seconds = Number(named ?? /retry after (\d+)/i.exec(description)?.[1]);
  return seconds >= 0 ? seconds : undefined;
}

/**
 * What went wrong with a request to Telegram, as DELIVERY_FAILED. Limits, server errors and lost connections may be tried again,
 * every other refusal is final. Without an answer the message may be there all the same, and Telegram cannot recognise a repeat.
 * The cause is left out: grammY's errors carry the text of the message, and those of the network the token.
 */
export function toDeliveryError(error: unknown, partsSent: number): SwitchboardError {
  const refusal = refusalOf(error);
  if (!refusal) return unreached(error, partsSent);
  const { code, description, retryAfterS } = refusal;
  if (retryAfterS !== undefined) {
    const message = `Telegram asks to wait ${retryAfterS} s. It will be tried again after that.`;
    return deliveryFailed(message, { retryable: true, retryAfterMs: retryAfterS * 1000, partsSent });
  }
  if (code === 429 || code >= 500) {
    const message = `Telegram cannot take this now (${code}: ${description}). It will be tried again.`;
    return deliveryFailed(message, { retryable: true, partsSent });
  }
  const message = `Telegram refused this for good (${code}: ${description}): ${adviceFor(description)}.`;
  return deliveryFailed(message, { retryable: false, partsSent });
}

/** The error's own words. What is not JSON is reported with the address, and the address holds the token. */
export function saidBy(error: unknown): string {
  return messageOf(error).replaceAll(/\/bot[^/\s]+/g, "/bot…");
}

function unreached(error: unknown, partsSent: number): SwitchboardError {
  const said = saidBy(error);
  if (neverConnected(error)) {
    const message = `Telegram could not be reached (${said}). It will be tried again.`;
    return deliveryFailed(message, { retryable: true, partsSent });
  }
  const message = `Telegram's answer did not arrive (${said}). Look in the chat before you send this again.`;
  return deliveryFailed(message, { retryable: true, partsSent, uncertain: true });
}

const noConnection = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH"]);

/** The socket's error is wrapped: by fetch, by grammY, by us. */
function neverConnected(error: unknown): boolean {
  const code = fieldOf(error, "code");
  if (typeof code === "string" && noConnection.has(code)) return true;
  const inner = fieldOf(error, "error") ?? fieldOf(error, "cause");
  return inner !== undefined && neverConnected(inner);
}

const advice: readonly (readonly [RegExp, string])[] = [
  [/chat not found/, "the bot is not in this chat, or the person has not opened a chat with it yet"],
  [
    /blocked by the user|user is deactivated|can't initiate conversation|USER_IS_BLOCKED/,
    "this person takes no messages from the bot",
  ],
  [/kicked|not a member|group chat was deactivated/, "add the bot to the chat again"],
  [/thread not found|TOPIC_/, "the topic is gone or closed: open it again or use another one"],
  [/not a forum/, "turn on topics in the settings of the group"],
  [
    /not enough rights|no rights|need administrator rights|CHAT_ADMIN_REQUIRED|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED/,
    "give the bot the right to do this in the chat",
  ],
  [/Unauthorized|Not Found/, "the bot's token is no longer valid"],
];

function adviceFor(description: string): string {
  const known = advice.find(([pattern]) => pattern.test(description));
  return known?.[1] ?? "change the text or the chat before you send it again";
}
