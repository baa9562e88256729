import type { Api } from "grammy";
import { deliveryFailed, type SwitchboardError } from "../../core/errors.ts";
import type { Address } from "../../core/ports/chat.ts";
import { shorten } from "../../core/text/shorten.ts";
import { refusalOf, toDeliveryError } from "./delivery-error.ts";

const longestName = 128;

/** Opens a topic in the forum of `at`, beside the topic that `at` may be. A refusal by Telegram is DELIVERY_FAILED. */
export async function createTopic(api: Api, at: Address, title: string): Promise<Address> {
  const { threadId: _beside, ...chat } = at;
  try {
    const topic = await api.createForumTopic(Number(chat.chatId), nameFrom(title));
    return { ...chat, threadId: String(topic.message_thread_id) };
  } catch (error) {
    throw missingRight(error) ?? toDeliveryError(error, 0);
  }
}

function missingRight(error: unknown): SwitchboardError | undefined {
  const { code, description = "" } = refusalOf(error) ?? {};
  if (!/not enough rights|CHAT_ADMIN_REQUIRED/.test(description)) return undefined;
  const message = `Telegram opens no topic here (${code}: ${description}): make the bot an administrator with the right Manage Topics.`;
  return deliveryFailed(message, { retryable: false, partsSent: 0 });
}

function nameFrom(title: string): string {
  return shorten(title.replaceAll(/\s+/g, " ").trim(), longestName) || "Topic";
}
