import { deliveryFailed } from "../../core/errors.ts";
import type { DeliveryReceipt, OutboundMessage } from "../../core/ports/chat.ts";
import { within } from "../within.ts";
import { toDeliveryError } from "./delivery-error.ts";
import type { Link } from "./link.ts";
import { messageIdOf } from "./message-id.ts";
import type { QuotedMessage } from "./socket.ts";

/** The server answers within a second; after this long the connection is as good as dead. */
const ANSWER_WITHIN_MS = 30_000;

export interface Destination {
  readonly jid: string;
  readonly quoted?: QuotedMessage | undefined;
  /** Looked up for each part: the host may have replaced the socket meanwhile. */
  link(): Link | undefined;
  /** Resolves when the next part may leave. */
  turn(signal: AbortSignal): Promise<void>;
  /** Told of each part before it leaves. */
  beforePart(messageId: string, text: string): void;
  /** Told of the server's error code; true: what was wrong is mended, and the same message may be taken now. */
  mend(code: number): Promise<boolean>;
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
    // What cannot leave takes nobody's turn.
    openLink(to, part);
    await to.turn(signal);
    if (signal.aborted) throw stopped(part);
    const link = openLink(to, part);
    await message.onPart?.({ part, state: "starting" });
    const messageId = messageIdOf(message.deliveryId, part);
    to.beforePart(messageId, text);
    const quoted = part === 0 ? to.quoted : undefined;
    const refusal = await post(link, { jid: to.jid, text, messageId, quoted, part }, signal);
    if (refusal !== undefined) throw refused(part, refusal, await to.mend(refusal));
    messageIds.push(messageId);
    await message.onPart?.({ part, state: "sent", messageId });
  }
  return { messageIds };
}

function openLink(to: Destination, part: number): Link {
  const link = to.link();
  if (!link?.isOpen()) throw notConnected(part, link);
  return link;
}

interface Post {
  readonly jid: string;
  readonly text: string;
  readonly messageId: string;
  readonly quoted: QuotedMessage | undefined;
  readonly part: number;
}

/** Resolves with undefined when the server has stored the message, or with its error code. */
async function post(
  link: Link,
  { jid, text, messageId, quoted, part }: Post,
  signal: AbortSignal,
): Promise<number | undefined> {
  const answer = link.answerTo(messageId);
  const limits = [signal, link.ended, AbortSignal.timeout(ANSWER_WITHIN_MS)];
  const options = quoted ? { messageId, quoted } : { messageId };
  const content = { text, mentions: [], linkPreview: null };
  const sending = link.socket.sendMessage(jid, content, options).then(() => answer.code);
  return within(limits, sending)
    .catch((error: unknown) => {
      throw signal.aborted ? stopped(part) : toDeliveryError(error, part);
    })
    .finally(answer.forget);
}

function refused(part: number, code: number, isMended: boolean) {
  if (!isMended) return toDeliveryError(new Error("the server refused it"), part, code);
  const message = `WhatsApp does not take messages at this address any more (code ${code}). The other address of the person is next.`;
  return deliveryFailed(message, { retryable: true, partsSent: part });
}

function stopped(part: number) {
  const message = `The send was stopped after ${part} part(s). Send again from there.`;
  return deliveryFailed(message, { retryable: true, partsSent: part });
}

function notConnected(part: number, link: Link | undefined) {
  const reason = link?.lockedOut() ?? "WhatsApp is not connected.";
  const message = `${reason} The message is sent when a socket is open; attach() it in your connect().`;
  return deliveryFailed(message, { retryable: true, partsSent: part });
}
