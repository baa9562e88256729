import { createHash } from "node:crypto";
import { deliveryFailed, deliveryFailureOf, messageOf, SwitchboardError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import type { Address, DeliveryReceipt, OutboundMessage } from "../../core/ports/chat.ts";
import type { Choice } from "../../core/ports/command.ts";
import { within } from "../within.ts";
import type { WebchatPlace } from "./inbound.ts";
import { renderWebchat } from "./outbound.ts";

/** What is to be shown on the pages of a chat. The text is an agent's: sanitise the HTML that you make of it. */
export interface WebchatMessage extends WebchatPlace {
  /** The same whenever the message is posted again: show each id once. */
  readonly id: string;
  readonly markdown: string;
  readonly replyToId?: string;
  /** Buttons: a tap is a message whose text is the choice's command. */
  readonly choices?: readonly Choice[];
}

/**
 * Resolves when the page, or your store for it, has the message; "gone": the chat is no more, do not try again. Rejects while it cannot be
 * reached, or stays silent for half a minute: then the message waits, and is posted again in order, after `reachable()` or by itself. Rejecting with
 * DELIVERY_FAILED says more about that: how long to wait, or never again.
 */
export type Post = (message: WebchatMessage) => Promise<"posted" | "gone">;

const ANSWER_WITHIN_MS = 30_000;

/** Posts the parts in order. Ids derive from the delivery and the part, so that a page knows a repeat. */
export async function sendParts(
  post: Post,
  {
    to,
    message,
    maxTextLength,
  }: { readonly to: Address; readonly message: OutboundMessage; readonly maxTextLength: number },
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  const messages = toMessages(to, message, maxTextLength);
  const messageIds: string[] = [];
  for (const [part, posted] of messages.entries()) {
    if (part < (message.fromPart ?? 0)) continue;
    if (signal.aborted) throw stopped(part);
    await message.onPart?.({ part, state: "starting" });
    await postPart(() => post(posted), part, signal);
    messageIds.push(posted.id);
    await message.onPart?.({ part, state: "sent", messageId: posted.id });
  }
  return { messageIds };
}

function toMessages(to: Address, message: OutboundMessage, maxTextLength: number): readonly WebchatMessage[] {
  const texts = renderWebchat(message.markdown, maxTextLength);
  return texts.map((markdown, part) => {
    const replyToId = part === 0 ? message.replyToId : undefined;
    const choices = part === texts.length - 1 ? message.choices : undefined;
    return {
      ...placeOf(to),
      id: messageIdOf(message.deliveryId, part),
      markdown,
      ...given({ replyToId, choices }),
    };
  });
}

async function postPart(post: () => ReturnType<Post>, part: number, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.timeout(ANSWER_WITHIN_MS);
  // `post` is the host's: it may throw before there is a promise, or return none.
  const posting = (async () => post())();
  const answer: unknown = await within([signal, limit], posting).catch((error: unknown) => {
    throw signal.aborted ? stopped(part, { uncertain: true }) : notPosted(error, part);
  });
  if (answer === "gone") throw gone(part);
  if (answer !== "posted")
    throw unreachable(`post() answered ${String(answer)} where "posted" or "gone" is expected`, part);
}

/** `post` knows of one message only: how many parts were sent is ours to say. */
function notPosted(error: unknown, partsSent: number) {
  if (!(error instanceof SwitchboardError) || error.code !== "DELIVERY_FAILED")
    return unreachable(messageOf(error), partsSent, error);
  return deliveryFailed(error.message, { ...deliveryFailureOf(error), partsSent }, error);
}

export function placeOf({ chatId, threadId, chatType }: Address): WebchatPlace {
  return { chatId, chatType, ...given({ threadId }) };
}

function messageIdOf(deliveryId: string, part: number): string {
  return createHash("sha256").update(`${deliveryId}:${part}`).digest("base64url").slice(0, 22);
}

function unreachable(reason: string, partsSent: number, cause?: unknown) {
  const message = `The page could not be reached: ${reason}. Call reachable() when it is back.`;
  return deliveryFailed(message, { retryable: true, partsSent, uncertain: true }, cause);
}

function gone(partsSent: number) {
  return deliveryFailed("The chat is gone, says post().", { retryable: false, partsSent });
}

function stopped(partsSent: number, doubt: { readonly uncertain?: true } = {}) {
  const message = `The send was stopped after ${partsSent} part(s). Send again from there.`;
  return deliveryFailed(message, { retryable: true, partsSent, ...doubt });
}
