import type { Api } from "grammy";
import type { InlineKeyboardMarkup } from "grammy/types";
import { deliveryFailed } from "../../core/errors.ts";
import type { Address, DeliveryReceipt, OutboundMessage } from "../../core/ports/chat.ts";
import type { ChatMoves, TellOfMove } from "./chat-moves.ts";
import { refusalOf, toDeliveryError } from "./delivery-error.ts";
import { asGrammySignal } from "./grammy-signal.ts";
import { generalTopic } from "./inbound.ts";
import { toKeyboard } from "./keyboard.ts";
import type { TelegramPart } from "./outbound.ts";
import type { Posts } from "./posts.ts";
import type { RichMessages } from "./rich-messages.ts";

export interface Room {
  readonly api: Api;
  readonly at: Address;
  readonly moves: ChatMoves;
  readonly posts: Posts;
  readonly rich: RichMessages;
  readonly onMoved: TellOfMove;
}

interface Sending {
  readonly part: TelegramPart;
  readonly replyToId: string | undefined;
  readonly keyboard: InlineKeyboardMarkup | undefined;
  readonly signal: AbortSignal;
}

/** Sends the parts in order, with the choices below the last one. Telegram cannot recognise a repeat, so no part is tried again after a doubtful failure. */
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
    const isLast = index === parts.length - 1;
    const keyboard = isLast ? toKeyboard(message.choices, room.at.threadId) : undefined;
    const { chatId } = room.moves.resolve(room.at);
    const send = () => sendPart(room, index, { part, replyToId, keyboard, signal });
    const messageId = await room.posts.during(chatId, part, send);
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
async function sendWherever(room: Room, sending: Sending): Promise<string> {
  const { at, moves, onMoved } = room;
  const here = moves.resolve(at);
  try {
    return await sendReadably(room, here, sending);
  } catch (error) {
    const movedTo = refusalOf(error)?.movedTo;
    if (movedTo === undefined) throw error;
    const there = { ...here, chatId: String(movedTo) };
    await moves.note(here, there, onMoved);
    return sendReadably(room, there, { ...sending, replyToId: undefined });
  }
}

async function sendReadably({ api, rich }: Room, at: Address, sending: Sending): Promise<string> {
  const { part, keyboard } = sending;
  const signal = asGrammySignal(sending.signal);
  const place = { chat_id: Number(at.chatId), ...topicOf(at), ...replyTo(sending.replyToId) };
  const sendRich = (html: string) => {
    const rich_message = { html, skip_entity_detection: true };
    // Older versions of grammY have no method of this name, but `raw` passes on every one.
    return api.raw.sendRichMessage({ ...place, ...below(keyboard), rich_message }, signal);
  };
  const sendHtml = () => {
    const { chat_id, ...options } = { ...place, ...lookOf(keyboard) };
    return readably(part, (text, markup) =>
      api.sendMessage(chat_id, text, { ...options, ...markup }, signal),
    );
  };
  const sent = await rich.send(part, sendRich, sendHtml);
  return String(sent.message_id);
}

/** Markup that Telegram cannot read after all costs one more try without it. */
export async function readably<T>(
  part: TelegramPart,
  call: (text: string, markup: { readonly parse_mode?: "HTML" }) => Promise<T>,
): Promise<T> {
  try {
    return await call(part.html, { parse_mode: "HTML" });
  } catch (error) {
    if (!refusalOf(error)?.description.includes("can't parse entities")) throw error;
    return call(part.plain, {});
  }
}

export function lookOf(keyboard: InlineKeyboardMarkup | undefined) {
  return { link_preview_options: { is_disabled: true }, ...below(keyboard) };
}

function below(keyboard: InlineKeyboardMarkup | undefined) {
  return keyboard ? { reply_markup: keyboard } : {};
}

/** General takes messages without a topic only. */
export function topicOf({ chatType, threadId }: Address) {
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
