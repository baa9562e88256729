import { createHash } from "node:crypto";
import type { APIMessage, APIRequest, RateLimitData, REST, ResponseLike } from "discord.js";
import { deliveryFailed } from "../../core/errors.ts";
import type { DeliveryReceipt, OutboundMessage } from "../../core/ports/chat.ts";
import { rateLimited, toDeliveryError } from "./delivery-error.ts";

/** Nothing that an agent writes notifies anybody; a reply does not notify the author replied to. */
export const noMentions = { parse: [], repliedUser: false } as const;

/** The client library waits out a rate limit by itself; a longer wait goes back to the outbox, which survives restarts. */
const patienceMs = 5000;

/**
 * Posts the parts in order, each with a nonce by which Discord recognises a repeat for some minutes.
 * Requests go through the client's own queue and need no channel in its cache.
 */
export async function sendParts(
  rest: REST,
  channelId: string,
  parts: readonly string[],
  message: OutboundMessage,
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  const messageIds: string[] = [];
  for (const [part, content] of parts.entries()) {
    if (part < (message.fromPart ?? 0)) continue;
    if (signal.aborted) throw aborted(part);
    await message.onPart?.({ part, state: "starting" });
    const body = {
      content,
      nonce: nonceOf(message.deliveryId, part),
      enforce_nonce: true,
      allowed_mentions: { parse: noMentions.parse, replied_user: noMentions.repliedUser },
      ...(message.replyToId && part === 0
        ? { message_reference: { message_id: message.replyToId, fail_if_not_exists: false } }
        : {}),
    };
    const posted = await post(rest, `/channels/${channelId}/messages`, { body, part, signal });
    messageIds.push(posted.id);
    await message.onPart?.({ part, state: "sent", messageId: posted.id });
  }
  return { messageIds };
}

async function post(
  rest: REST,
  path: `/${string}`,
  { body, part, signal }: { body: object; part: number; signal: AbortSignal },
): Promise<APIMessage> {
  const patience = watchPatience(rest, path);
  const either = AbortSignal.any([signal, patience.signal]);
  const ended = new Promise<never>((_, reject) => {
    either.addEventListener("abort", () => reject(either.reason), { once: true });
  });
  try {
    // The shape of the answer is Discord's promise; discord.js types it as unknown.
    return (await Promise.race([rest.post(path, { body, signal: either }), ended])) as APIMessage;
  } catch (error) {
    if (signal.aborted) throw aborted(part);
    const hintMs = patience.hintMs();
    throw hintMs === undefined ? toDeliveryError(error, part) : rateLimited(hintMs, part, error);
  } finally {
    patience.stop();
  }
}

/** Aborts when Discord asks for a longer wait than a send has patience for; then `hintMs` is what it asked for. */
function watchPatience(rest: REST, path: string) {
  const controller = new AbortController();
  let hintMs: number | undefined;
  const asked = (waitMs: number) => {
    if (!(waitMs > patienceMs)) return;
    hintMs = waitMs;
    controller.abort();
  };
  const onWait = ({ method, url, retryAfter }: RateLimitData) => {
    if (method === "POST" && url.endsWith(path)) asked(retryAfter);
  };
  const onResponse = (request: APIRequest, response: ResponseLike) => {
    if (response.status !== 429 || request.method !== "POST" || request.path !== path) return;
    asked(Number(response.headers.get("retry-after")) * 1000);
  };
  rest.on("rateLimited", onWait);
  rest.on("response", onResponse);
  const stop = () => {
    rest.off("rateLimited", onWait);
    rest.off("response", onResponse);
  };
  return { signal: controller.signal, hintMs: () => hintMs, stop };
}

function nonceOf(deliveryId: string, part: number): string {
  return createHash("sha256").update(`${deliveryId}:${part}`).digest("base64url").slice(0, 25);
}

function aborted(part: number) {
  const message = `The send was stopped after ${part} part(s). Send again from there.`;
  return deliveryFailed(message, { retryable: true, partsSent: part });
}
