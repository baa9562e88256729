import { createHash } from "node:crypto";
import { deliveryFailed } from "../../core/errors.ts";
import type { DeliveryReceipt, OutboundMessage } from "../../core/ports/chat.ts";
import { toDeliveryError } from "./delivery-error.ts";
import type { Link } from "./link.ts";
import type { QuotedMessage } from "./socket.ts";
import { within } from "./within.ts";

/** The server answers within a second; after this long the connection is as good as dead. */
const ANSWER_WITHIN_MS = 30_000;

export interface Destination {
  readonly jid: string;
  readonly quoted?: QuotedMessage | undefined;
  /** Looked up for each part: the host may have replaced the socket meanwhile. */
  link(): Link | undefined;
  /** Told of each part before it leaves. */
  beforePart(messageId: string, text: string): void;
}

/**
 * Sends the parts in order and waits for the server to store each. Message ids derive from the delivery and the part, so
 * that a repeat is the same message for WhatsApp. Nothing in them mentions anybody, and links are not fetched.
 */
export async function sendParts(
  parts: readonly string[],
  message: OutboundMessage,
  to: Destination,
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  const messageIds: string[] = [];
  for (const [part, text] of parts.entries()) {
    if (part < (message.fromPart ?? 0)) continue;
    if (signal.aborted) throw stopped(part);
    const link = to.link();
    if (!link?.isOpen()) throw notConnected(part);
    await message.onPart?.({ part, state: "starting" });
    const messageId = messageIdOf(message.deliveryId, part);
    to.beforePart(messageId, text);
    const quoted = part === 0 ? to.quoted : undefined;
    await post(link, { jid: to.jid, text, messageId, quoted, part }, signal);
    messageIds.push(messageId);
    await message.onPart?.({ part, state: "sent", messageId });
  }
  return { messageIds };
}

interface Post {
  readonly jid: string;
  readonly text: string;
  readonly messageId: string;
  readonly quoted: QuotedMessage | undefined;
  readonly part: number;
}

async function post(
  link: Link,
  { jid, text, messageId, quoted, part }: Post,
  signal: AbortSignal,
): Promise<void> {
  const answer = link.answerTo(messageId);
  const limit = AbortSignal.any([signal, link.ended, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
  const options = quoted ? { messageId, quoted } : { messageId };
  const content = { text, mentions: [], linkPreview: null };
  const sending = link.socket.sendMessage(jid, content, options).then(() => answer.code);
  const code = await within(limit, sending)
    .catch((error: unknown) => {
      throw signal.aborted ? stopped(part) : toDeliveryError(error, part);
    })
    .finally(answer.forget);
  if (code !== undefined) throw toDeliveryError(new Error("the server refused it"), part, code);
}

/** The shape of ids that WhatsApp's own web client makes. */
function messageIdOf(deliveryId: string, part: number): string {
  const digest = createHash("sha256").update(`${deliveryId}:${part}`).digest("hex");
  return `3EB0${digest.slice(0, 18).toUpperCase()}`;
}

function stopped(part: number) {
  const message = `The send was stopped after ${part} part(s). Send again from there.`;
  return deliveryFailed(message, { retryable: true, partsSent: part });
}

function notConnected(part: number) {
  const message =
    "WhatsApp is not connected. The message is sent when a socket is open; attach() it in your connect().";
  return deliveryFailed(message, { retryable: true, partsSent: part });
}
