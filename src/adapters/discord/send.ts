import { createHash } from "node:crypto";
import type { REST } from "discord.js";
import { deliveryFailed } from "../../core/errors.ts";
import type { DeliveryReceipt, OutboundMessage } from "../../core/ports/chat.ts";
import { fieldOf } from "../field-of.ts";
import { within } from "../within.ts";
import { toButtons } from "./buttons.ts";
import { isReplyRefused, rateLimited, toDeliveryError } from "./delivery-error.ts";
import { watchLimits } from "./rate-limit.ts";

/** Nothing that an agent writes notifies anybody; a reply does not notify the author replied to. */
export const noMentions = { parse: [], repliedUser: false } as const;

interface Posting {
  /** A channel, a thread or a direct chat. */
  readonly roomId: string;
  readonly parts: readonly string[];
  readonly message: OutboundMessage;
  readonly signal: AbortSignal;
}

/**
 * Posts the parts in order, each with a nonce by which Discord recognises a repeat for some minutes.
 * Requests go through the client's own queue and need no channel in its cache.
 */
export async function sendParts(rest: REST, posting: Posting): Promise<DeliveryReceipt> {
  const { roomId, parts, message, signal } = posting;
  const messageIds: string[] = [];
  for (const part of parts.keys()) {
    if (part < (message.fromPart ?? 0)) continue;
    if (signal.aborted) throw aborted(part);
    await message.onPart?.({ part, state: "starting" });
    const messageId = await postPart(rest, `/channels/${roomId}/messages`, { ...posting, part });
    messageIds.push(messageId);
    await message.onPart?.({ part, state: "sent", messageId });
  }
  return { messageIds };
}

/** What Discord does not let the bot reply to is answered without pointing at it. */
async function postPart(
  rest: REST,
  path: `/${string}`,
  { parts, part, message, signal }: Posting & { readonly part: number },
): Promise<string> {
  const buttons = part === parts.length - 1 ? toButtons(message.choices) : [];
  const body = {
    content: parts[part],
    nonce: nonceOf(message.deliveryId, part),
    enforce_nonce: true,
    allowed_mentions: { parse: noMentions.parse, replied_user: noMentions.repliedUser },
    ...(buttons.length > 0 ? { components: buttons } : {}),
  };
  if (message.replyToId === undefined || part > 0) return post(rest, path, { body, part, signal });
  const message_reference = { message_id: message.replyToId, fail_if_not_exists: false };
  try {
    return await post(rest, path, { body: { ...body, message_reference }, part, signal });
  } catch (error) {
    if (isReplyRefused(error)) return post(rest, path, { body, part, signal });
    throw error;
  }
}

/** The id of the message that Discord has stored. */
async function post(
  rest: REST,
  path: `/${string}`,
  { body, part, signal }: { body: object; part: number; signal: AbortSignal },
): Promise<string> {
  const limits = watchLimits(rest, path);
  const either = AbortSignal.any([signal, limits.signal]);
  try {
    const id = fieldOf(await within(either, rest.post(path, { body, signal: either })), "id");
    if (typeof id === "string") return id;
    throw new Error("the answer is no message");
  } catch (error) {
    if (signal.aborted) throw aborted(part);
    const limit = limits.limit();
    throw limit === undefined ? toDeliveryError(error, part) : rateLimited(limit, part, error);
  } finally {
    limits.stop();
  }
}

function nonceOf(deliveryId: string, part: number): string {
  return createHash("sha256").update(`${deliveryId}:${part}`).digest("base64url").slice(0, 25);
}

function aborted(part: number) {
  const message = `The send was stopped after ${part} part(s). Send again from there.`;
  return deliveryFailed(message, { retryable: true, partsSent: part });
}
