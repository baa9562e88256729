import type { Chat, Message, User, UserFromGetMe } from "grammy/types";
import { ApiError, badRequest } from "./api-error.ts";

/** A chat as Telegram keeps it. Message ids count per chat, so equal ids in two chats are normal. */
export interface Room {
  chat: Chat;
  lastMessageId: number;
  readonly topics: Map<number, { readonly name: string; readonly openedBy: User }>;
  /** What people wrote, by message id, as replies quote it. */
  readonly people: Map<number, NonNullable<Message["reply_to_message"]>>;
  movedTo?: number;
  refusal?: string;
  mayManageTopics: boolean;
}

export function privateChat(user: User): Chat.PrivateChat {
  const { id, first_name, username } = user;
  return { id, type: "private", first_name, ...(username ? { username } : {}) };
}

/** Every chat that the bot could write to, by id and by @username. */
export class Rooms {
  readonly #rooms = new Map<number, Room>();
  readonly #bot: () => UserFromGetMe;

  constructor(bot: () => UserFromGetMe) {
    this.#bot = bot;
  }

  add(chat: Chat): Room {
    const known = this.#rooms.get(chat.id);
    if (known) return known;
    // Message 1 of a forum is the one that opened General.
    const lastMessageId = chat.is_forum ? 1 : 0;
    const room = { chat, lastMessageId, topics: new Map(), people: new Map(), mayManageTopics: true };
    this.#rooms.set(chat.id, room);
    return room;
  }

  find(id: string): Room | undefined {
    if (!id.startsWith("@")) return this.#rooms.get(Number(id));
    return [...this.#rooms.values()].find(
      ({ chat }) => chat.username?.toLowerCase() === id.slice(1).toLowerCase(),
    );
  }

  /** The chat that a bot names in a call, or the refusal that Telegram would answer with. */
  writable(id: string): Room {
    const room = this.find(id);
    if (!room) throw badRequest("chat not found");
    if (room.refusal) throw new ApiError(403, `Forbidden: ${room.refusal}`);
    if (room.movedTo !== undefined) {
      throw badRequest("group chat was upgraded to a supergroup chat", { migrate_to_chat_id: room.movedTo });
    }
    return room;
  }

  /** Topics exist in forums, and in private chats when the bot has them switched on. */
  hasTopics({ chat }: Room): boolean {
    return chat.type === "private" ? this.#bot().has_topics_enabled : chat.is_forum === true;
  }

  /** The topic a message goes to. Naming General by its id 1 fails in sends, and only there. */
  topicOf(room: Room, threadId: number | undefined, action: "send" | "typing"): number | undefined {
    if (threadId === undefined) return undefined;
    if (threadId === 1 && action === "typing" && room.chat.is_forum) return 1;
    if (!this.hasTopics(room) || !room.topics.has(threadId)) throw badRequest("message thread not found");
    return threadId;
  }

  createTopic(room: Room, name: string): number {
    if (!this.hasTopics(room)) throw badRequest("the chat is not a forum");
    if (!room.mayManageTopics) throw badRequest("not enough rights to create a topic");
    if (name.length < 1 || name.length > 128) throw badRequest("TOPIC_TITLE_INVALID");
    const threadId = ++room.lastMessageId;
    room.topics.set(threadId, { name, openedBy: this.#bot() });
    return threadId;
  }
}
