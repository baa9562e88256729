import type { InlineKeyboardMarkup, Message, MessageEntity, UserFromGetMe } from "grammy/types";
import { badRequest } from "./api-error.ts";
import { findEntities } from "./found-entities.ts";
import { type FormattedText, parseTelegramHtml } from "./html.ts";
import { keyboardIn } from "./keyboard.ts";
import { jsonOf, numberOf, type Payload, recordOf, textOf } from "./payload.ts";
import { checkedRichMessage } from "./rich-message.ts";
import type { Room, Rooms } from "./rooms.ts";

const MAX_TEXT = 4096;
const MAX_RAW_BYTES = 32_768;

/** A message of the bot, as stored: `text` and `entities` are what people see. */
export interface SentMessage {
  readonly method: "sendMessage" | "sendRichMessage";
  readonly messageId: number;
  readonly chatId: number;
  readonly threadId?: number;
  readonly text: string;
  readonly entities: readonly MessageEntity[];
  readonly parseMode?: string;
  readonly replyToId?: number;
  readonly linkPreview: boolean;
  /** Rows of labels. */
  readonly buttons?: readonly (readonly string[])[];
}

/** The bot's own messages: checked as strictly as Telegram checks them, then kept in order. */
export class BotMessages {
  readonly sent: SentMessage[] = [];
  /** As they are now: edits change them. */
  readonly #messages = new Map<string, Message>();
  readonly #rooms: Rooms;
  readonly #bot: () => UserFromGetMe;

  constructor(rooms: Rooms, bot: () => UserFromGetMe) {
    this.#rooms = rooms;
    this.#bot = bot;
  }

  send(payload: Payload): Message {
    return this.#post("sendMessage", payload, () => {
      const { text, entities } = checkedText(payload);
      return { seen: { text, entities }, stored: textFields({ text, entities }) };
    });
  }

  sendRich(payload: Payload): Message {
    return this.#post("sendRichMessage", payload, () => {
      const { blocks, text, entities } = checkedRichMessage(payload);
      return { seen: { text, entities }, stored: { rich_message: { blocks } } };
    });
  }

  #post(
    method: SentMessage["method"],
    payload: Payload,
    read: () => { readonly seen: FormattedText; readonly stored: Partial<Message> },
  ): Message {
    const room = this.#rooms.writable(textOf(payload, "chat_id"));
    const threadId = this.#rooms.topicOf(room, numberOf(payload, "message_thread_id"), "send");
    const { seen, stored } = read();
    const keyboard = keyboardIn(payload);
    const replyToId = repliedTo(room, payload);
    const messageId = ++room.lastMessageId;
    const parseMode = textOf(payload, "parse_mode");
    this.sent.push({
      method,
      messageId,
      chatId: room.chat.id,
      ...seen,
      linkPreview: recordOf(payload, "link_preview_options")?.is_disabled !== true,
      ...(threadId === undefined ? {} : { threadId }),
      ...(parseMode ? { parseMode } : {}),
      ...(replyToId === undefined ? {} : { replyToId }),
      ...(keyboard ? { buttons: labelsIn(keyboard) } : {}),
    });
    const original = replyToId === undefined ? undefined : room.people.get(replyToId);
    return this.#store(room, {
      message_id: messageId,
      date: nowInSeconds(),
      chat: room.chat,
      from: this.#bot(),
      ...stored,
      ...(keyboard ? { reply_markup: keyboard } : {}),
      ...(original ? { reply_to_message: original } : {}),
      ...(threadId === undefined ? {} : { message_thread_id: threadId, is_topic_message: true }),
    });
  }

  /** Text and buttons are replaced together: what is not given is gone. */
  edit(payload: Payload): Message {
    const room = this.#rooms.writable(textOf(payload, "chat_id"));
    const {
      text: _text,
      entities: _entities,
      rich_message: _rich,
      reply_markup: _buttons,
      ...before
    } = this.stored(room, payload);
    const after = shownAs(checkedText(payload), keyboardIn(payload));
    if (JSON.stringify(after) === JSON.stringify(shownIn(this.stored(room, payload)))) {
      throw badRequest(
        "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
      );
    }
    return this.#store(room, { ...before, ...after, edit_date: nowInSeconds() });
  }

  stored({ chat }: Pick<Room, "chat">, payload: Payload): Message {
    const message = this.#messages.get(`${chat.id}:${numberOf(payload, "message_id") ?? 0}`);
    if (!message) throw badRequest("message to edit not found");
    return message;
  }

  /** Somebody deletes a message of the bot. */
  delete({ chat, message_id }: Message): void {
    this.#messages.delete(`${chat.id}:${message_id}`);
  }

  #store({ chat }: Room, message: Message): Message {
    this.#messages.set(`${chat.id}:${message.message_id}`, message);
    return message;
  }
}

const labelsIn = ({ inline_keyboard }: InlineKeyboardMarkup) =>
  inline_keyboard.map((row) => row.map(({ text }) => text));

function textFields({ text, entities }: FormattedText) {
  return { text, ...(entities.length > 0 ? { entities: [...entities] } : {}) };
}

function shownAs(content: FormattedText, keyboard: InlineKeyboardMarkup | undefined) {
  return {
    ...textFields(content),
    ...(keyboard ? { reply_markup: keyboard } : {}),
  };
}

const shownIn = ({ text = "", entities = [], reply_markup }: Message) =>
  shownAs({ text, entities }, reply_markup);

export const nowInSeconds = () => Math.floor(Date.now() / 1000);

/** Reads the markup, trims, counts: the limit is for the text that is left when the markup is gone. */
export function checkedText(payload: Payload): FormattedText {
  const raw = textOf(payload, "text");
  const mode = textOf(payload, "parse_mode").toLowerCase();
  if (mode && mode !== "html") throw badRequest("unsupported parse_mode (this stand-in reads HTML only)");
  if (Buffer.byteLength(raw) > MAX_RAW_BYTES) throw badRequest("text is too long");
  const given = jsonOf(payload, "entities");
  const parsed = mode ? parseTelegramHtml(raw) : { text: raw, entities: Array.isArray(given) ? given : [] };
  const { text, entities } = trimmed(parsed);
  if (text === "") throw badRequest("message text is empty");
  if (text.length > MAX_TEXT) throw badRequest("message is too long");
  if (/\p{Surrogate}/u.test(text)) throw badRequest("strings must be encoded in UTF-8");
  return { text, entities: [...entities, ...findEntities(text, entities)] };
}

/** Telegram drops white space at both ends, in code blocks too when nothing else is there. */
function trimmed({ text, entities }: FormattedText): FormattedText {
  const lead = text.length - text.trimStart().length;
  const kept = text.trim();
  const moved = entities.map((entity) => {
    const start = Math.max(entity.offset - lead, 0);
    const end = Math.min(entity.offset + entity.length - lead, kept.length);
    return { ...entity, offset: start, length: end - start };
  });
  return { text: kept, entities: moved.filter(({ length }) => length > 0) };
}

function repliedTo(room: Room, payload: Payload): number | undefined {
  const reply = recordOf(payload, "reply_parameters");
  const messageId = Number(reply?.message_id ?? 0);
  if (!reply || messageId === 0) return undefined;
  if (messageId <= room.lastMessageId) return messageId;
  if (reply.allow_sending_without_reply === true) return undefined;
  throw badRequest("message to be replied not found");
}
