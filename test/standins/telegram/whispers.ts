import type { Message, MessageEntity, User } from "grammy/types";
import { badRequest } from "./api-error.ts";
import type { FormattedText } from "./html.ts";
import { numberOf, type Payload, recordOf, textOf } from "./payload.ts";
import type { Rooms } from "./rooms.ts";

/** What the bot answered, as the one person sees it. */
export interface WhisperedAnswer {
  readonly chatId: number;
  readonly receiverId: number;
  readonly toEphemeralId: number;
  readonly text: string;
  readonly entities: readonly MessageEntity[];
  readonly hasButtons: boolean;
}

const ANSWERED_WITHIN_MS = 15_000;

/** Ephemeral messages: one person and the bot see them, they have no message id, and the bot may only answer one, within 15 seconds. */
export class Whispers {
  readonly answers: WhisperedAnswer[] = [];
  readonly #open = new Map<number, { readonly from: User; readonly chatId: number; readonly atMs: number }>();
  readonly #rooms: Rooms;

  constructor(rooms: Rooms) {
    this.#rooms = rooms;
  }

  /** The fields of a message that somebody whispers. */
  open(from: User, chatId: number): Partial<Message> {
    const id = this.#open.size + 1;
    this.#open.set(id, { from, chatId, atMs: Date.now() });
    return { message_id: 0, ephemeral_message_id: id };
  }

  /** Undefined for messages to everybody. */
  answer(payload: Payload, read: (payload: Payload) => FormattedText): Message | undefined {
    const toEphemeralId = Number(recordOf(payload, "reply_parameters")?.ephemeral_message_id ?? 0);
    const receiver = recordOf(payload, "ephemeral_message_parameters");
    if (!receiver && toEphemeralId === 0) return undefined;
    const { chat } = this.#rooms.writable(textOf(payload, "chat_id"));
    const asked = this.#open.get(toEphemeralId);
    if (!receiver) throw badRequest("a reply to an ephemeral message must be ephemeral");
    if (asked?.chatId !== chat.id || asked.from.id !== numberOf(receiver, "receiver_user_id"))
      throw badRequest("EPHEMERAL_MESSAGE_INVALID");
    if (Date.now() - asked.atMs > ANSWERED_WITHIN_MS) throw badRequest("EPHEMERAL_MESSAGE_EXPIRED");
    const { text, entities } = read(payload);
    const hasButtons = payload.reply_markup !== undefined;
    this.answers.push({
      chatId: chat.id,
      receiverId: asked.from.id,
      toEphemeralId,
      text,
      entities,
      hasButtons,
    });
    return { message_id: 0, date: 0, chat, text };
  }
}
