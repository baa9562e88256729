import type { Message, User } from "grammy/types";
import type { AdapterHost } from "../../core/ports/chat.ts";
import type { CommandReply, NativeCommandCall } from "../../core/ports/command.ts";
import { shorten } from "../../core/text/shorten.ts";
import { refusalOf, saidBy } from "./delivery-error.ts";
import { asGrammySignal } from "./grammy-signal.ts";
import { addressIn, personOf, type TelegramEvent } from "./inbound.ts";
import { readButton, toKeyboard } from "./keyboard.ts";
import { renderTelegram, type TelegramPart } from "./outbound.ts";
import { lookOf, type Room, readably, sendParts } from "./send.ts";

/** Somebody pressed a button that a bot of ours has drawn. */
export interface Press {
  readonly call: NativeCommandCall;
  readonly messageId: number;
  /** The same for two taps of one person on one button, as long as the message has not changed in between. */
  readonly tap: string;
  /** The message may show the answer: it has this button, and is in a direct chat or was the answer to the same person. */
  readonly isTheirs: boolean;
}

const longestNotice = 200;
/** Of an answer; whoever wants to read more asks by typing. */
const mostMessages = 3;
const more: TelegramPart = { html: "…", plain: "…" };
/** A person who has waited this long has pressed again; and stop waits for what is under way. */
export const SHOWN_WITHIN_MS = 15_000;

/** Undefined for every other update, and for buttons of the host and of inline messages. */
export function toPress(event: TelegramEvent): Press | undefined {
  const query = event.update.callback_query;
  const button = query?.data === undefined ? undefined : readButton(query.data);
  if (!query?.message || !button || query.from.is_bot) return undefined;
  const { id, from, data, message } = query;
  const { chat, message_id: messageId, date, edit_date: editedAt } = message;
  const locale = from.language_code;
  const isTheirs = hasButton(message, data) && (chat.type === "private" || isAnswerTo(message, from));
  return {
    call: {
      id,
      name: button.name,
      text: button.text,
      from: addressIn(chat, button.threadId, event),
      sender: personOf(from),
      ...(locale ? { locale } : {}),
      // The answer takes the place of a message of the chat.
      ...(isTheirs ? { isPublic: true } : {}),
    },
    messageId,
    // Of a message that the bot can no longer see Telegram does not tell when it changed.
    tap: date === 0 ? id : [chat.id, messageId, editedAt, from.id, data].join(" "),
    isTheirs,
  };
}

/** Anybody's client can claim that any button was pressed below any message. What Telegram no longer shows has none that can be seen. */
function hasButton({ reply_markup }: Message, data: string | undefined): boolean {
  const buttons = reply_markup?.inline_keyboard.flat() ?? [];
  return buttons.some((button) => "callback_data" in button && button.callback_data === data);
}

function isAnswerTo({ reply_to_message: asked }: Message, { id }: User): boolean {
  return asked?.from?.id === id && !asked.sender_chat;
}

/**
 * Lets the core carry the command out, ends the waiting sign on the button and shows the answer: in the place of the message, or to the person
 * alone, as nobody else may change what somebody was answered. Whether the message has changed. Never rejects.
 */
export async function answerPress(press: Press, host: AdapterHost, room: Room): Promise<boolean> {
  const { call, isTheirs } = press;
  const reply = await host.onCommand(call);
  await endWaiting(press, isTheirs ? undefined : reply, host, room);
  if (!reply || !isTheirs) return false;
  try {
    return await replaceMessage(press, reply, room);
  } catch (error) {
    complain(host, press, error, "The answer to a button could not be shown.");
    return false;
  }
}

/** The beginning of what is longer than anybody reads in passing. */
export function asAnswer(text: string): readonly TelegramPart[] {
  const all = renderTelegram(text);
  return all.length > mostMessages ? [...all.slice(0, mostMessages - 1), more] : all;
}

/** With a notice that only the person sees, if there is something to say. Never rejects. */
export async function endWaiting(
  press: Press,
  reply: CommandReply | undefined,
  host: AdapterHost,
  { api }: Pick<Room, "api">,
): Promise<void> {
  const [part] = reply ? renderTelegram(reply.text) : [];
  const notice = part ? { text: shorten(part.plain, longestNotice, "…"), show_alert: true } : {};
  const signal = asGrammySignal(AbortSignal.timeout(SHOWN_WITHIN_MS));
  try {
    await api.answerCallbackQuery(press.call.id, notice, signal);
  } catch (error) {
    complain(host, press, error, "The press of a button could not be confirmed.");
  }
}

function complain(host: AdapterHost, { call: { name, from } }: Press, error: unknown, what: string): void {
  host.logger.warn({ command: name, chatId: from.chatId, error: saidBy(error) }, what);
}

/** Without new choices the buttons go. Where the old message is gone, the answer is a new one. Whether the old one has changed. */
async function replaceMessage(press: Press, reply: CommandReply, room: Room): Promise<boolean> {
  const { call, messageId } = press;
  const signal = AbortSignal.timeout(SHOWN_WITHIN_MS);
  const parts = asAnswer(reply.text);
  const [first, ...others] = parts;
  if (!first) return false;
  const keyboard = others.length > 0 ? undefined : toKeyboard(reply.choices, call.from.threadId);
  const chatId = Number(room.moves.resolve(room.at).chatId);
  const outcome = await readably(first, (text, markup) =>
    room.api.editMessageText(
      chatId,
      messageId,
      text,
      { ...lookOf(keyboard), ...markup },
      asGrammySignal(signal),
    ),
  ).then(() => "changed" as const, whyNotChanged);
  const message = { deliveryId: call.id, markdown: reply.text, choices: reply.choices ?? [] };
  await sendParts(room, parts, { ...message, fromPart: outcome === "gone" ? 0 : 1 }, signal);
  return outcome === "changed";
}

function whyNotChanged(error: unknown): "same" | "gone" {
  const { description = "" } = refusalOf(error) ?? {};
  if (description.includes("message is not modified")) return "same";
  if (/message to edit not found|message can't be edited|MESSAGE_ID_INVALID/.test(description)) return "gone";
  throw error;
}
