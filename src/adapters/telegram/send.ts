import type { Api } from "grammy";
import { deliveryFailed } from "../../core/errors.ts";
import type { Address, DeliveryReceipt, OutboundMessage } from "../../core/ports/chat.ts";
import type { ChatMoves } from "./chat-moves.ts";
import { refusalOf, toDeliveryError } from "./delivery-error.ts";
import { asGrammySignal } from "./grammy-signal.ts";
import { generalTopic } from "./inbound.ts";
import type { TelegramPart } from "./outbound.ts";

export interface Room {
  readonly api: Api;
  readonly at: Address;
  readonly moves: ChatMoves;
  readonly onMoved: (from: Address, to: Address) => Promise<void>;
}

interface Sending {
  readonly part: TelegramPart;
  readonly replyToId: string | undefined;
  readonly signal: AbortSignal;
}

/** Sends the parts in order. Telegram cannot recognise a repeat, so no part is tried again after a doubtful failure. */
export async function sendParts(
  room: Room,
  parts: readonly TelegramPart[],
  message: OutboundMessage,
  signal: AbortSignal,
): Promise<DeliveryReceipt> {
  const messageIds: string[] = [];
  for (const [index, part] of parts.entries()) {
    if (index < (message.fromPart ?? 0)) continue;
    if (signal.aborted) throw aborted(index, "between");
    await message.onPart?.({ part: index, state: "starting" });
    const replyToId = index === 0 ? message.replyToId : undefined;
    const messageId = await sendPart(room, index, { part, replyToId, signal });
    messageIds.push(messageId);
    await message.onPart?.({ part: index, state: "sent", messageId });
  }
  return { messageIds };
}

async function sendPart(room: Room, index: number, sending: Sending): Promise<string> {
  try {
    return await sendWherever(room, sending);
  } catch (error) {
    const isCutOff = sending.signal.aborted && !refusalOf(error);
    throw isCutOff ? aborted(index, "underway") : toDeliveryError(error, index);
  }
}

/** A group that has moved meanwhile gets the part at its new place. */
async function sendWherever({ api, at, moves, onMoved }: Room, sending: Sending): Promise<string> {
  const here = moves.resolve(at);
  try {
    return await sendReadably(api, here, sending);
  } catch (error) {
    const movedTo = refusalOf(error)?.movedTo;
    if (movedTo === undefined) throw error;
    const there = { ...here, chatId: String(movedTo) };
    await moves.note(here, there, onMoved);
    return sendReadably(api, there, { ...sending, replyToId: undefined });
  }
}

/** Markup that Telegram cannot read after all costs one more try without it. */
async function sendReadably(api: Api, at: Address, { part, replyToId, signal }: Sending): Promise<string> {
  const options = { ...topicOf(at), link_preview_options: { is_disabled: true }, ...replyTo(replyToId) };
  const stop = asGrammySignal(signal);
  const chatId = Number(at.chatId);
  try {
    const sent = await api.sendMessage(chatId, part.html, { ...options, parse_mode: "HTML" }, stop);
    return String(sent.message_id);
  } catch (error) {
    if (!refusalOf(error)?.description.includes("can't parse entities")) throw error;
    const sent = await api.sendMessage(chatId, part.plain, options, stop);
    return String(sent.message_id);
  }
}

/** General takes messages without a topic only. */
function topicOf({ chatType, threadId }: Address) {
  const isGeneral = chatType === "group" && threadId === generalTopic;
  return threadId === undefined || isGeneral ? {} : { message_thread_id: Number(threadId) };
}

function replyTo(messageId: string | undefined) {
  if (messageId === undefined) return {};
  return { reply_parameters: { message_id: Number(messageId), allow_sending_without_reply: true } };
}

function aborted(partsSent: number, when: "between" | "underway") {
  const message = `The send was stopped after ${partsSent} part(s). Send again from there.`;
  const doubt = when === "underway" ? { uncertain: true } : {};
  return deliveryFailed(message, { retryable: true, partsSent, ...doubt });
}
