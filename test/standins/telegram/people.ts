import type { Chat, Message, MessageEntity, Update, User } from "grammy/types";
import { findEntities } from "./found-entities.ts";
import { nowInSeconds } from "./messages.ts";
import { privateChat, type Room, type Rooms } from "./rooms.ts";
import type { NewUpdate } from "./update-queue.ts";

/** Telegram's fake authors for messages in the name of a chat. */
const GROUP_ANONYMOUS_BOT: User = {
  id: 1087968824,
  is_bot: true,
  first_name: "Group",
  username: "GroupAnonymousBot",
};
const CHANNEL_BOT: User = { id: 136817688, is_bot: true, first_name: "Channel", username: "Channel_Bot" };

export const ANN: User = {
  id: 1001,
  is_bot: false,
  first_name: "Ann",
  username: "ann_example",
  language_code: "en",
};

export interface SayOptions {
  /** Left out: the private chat of the person. */
  readonly chat?: Chat;
  readonly from?: User;
  /** A topic. In General of a forum it is left out. */
  readonly threadId?: number;
  readonly replyTo?: Message;
  /** "anonymous": an admin in the name of the group; a chat: somebody in the name of that channel. */
  readonly inNameOf?: "anonymous" | Chat;
  readonly entities?: readonly MessageEntity[];
  /** The text is the caption of a photo. */
  readonly caption?: boolean;
  /** Any other field of the message: forward_origin, quote, sticker … */
  readonly more?: Partial<Message>;
}

/** Makes the messages of people and channels as Telegram would word them. */
export class People {
  readonly #rooms: Rooms;

  constructor(rooms: Rooms) {
    this.#rooms = rooms;
  }

  say(text: string, options: SayOptions = {}): { message: Message; update: NewUpdate } {
    const from = options.from ?? ANN;
    const room = this.#rooms.add(options.chat ?? privateChat(from));
    const place = placeOf(room, options.threadId);
    const message: Message = {
      message_id: ++room.lastMessageId,
      date: nowInSeconds(),
      chat: room.chat,
      ...authorOf(room.chat, from, options.inNameOf),
      ...content(text, options),
      ...place,
      ...(options.replyTo ? { reply_to_message: asQuoted(options.replyTo) } : {}),
      ...options.more,
    };
    room.people.set(message.message_id, asQuoted(message));
    return { message, update: updateOf(message) };
  }

  edit(message: Message, text: string): NewUpdate {
    const edited = {
      ...message,
      ...content(text, { caption: message.caption !== undefined }),
      edit_date: nowInSeconds(),
    };
    return isPost(edited) ? { edited_channel_post: edited } : { edited_message: hasAuthor(edited) };
  }
}

/** Every message in a topic "replies" to the service message that opened it, as long as it replies to nothing else. */
function placeOf(room: Room, threadId: number | undefined): Partial<Message> {
  if (threadId === undefined) return {};
  const { name, openedBy } = room.topics.get(threadId) ?? { name: `Topic ${threadId}`, openedBy: ANN };
  room.topics.set(threadId, { name, openedBy });
  room.lastMessageId = Math.max(room.lastMessageId, threadId);
  const inTopic = { message_thread_id: threadId, is_topic_message: true };
  if (!room.chat.is_forum) return inTopic;
  const opening = {
    ...inTopic,
    message_id: threadId,
    date: nowInSeconds(),
    chat: room.chat,
    from: openedBy,
    forum_topic_created: { name, icon_color: 0x6fb9f0 },
  };
  return { ...inTopic, reply_to_message: asQuoted(opening) };
}

function authorOf(chat: Chat, from: User, inNameOf: SayOptions["inNameOf"]): Partial<Message> {
  if (chat.type === "channel") return { sender_chat: chat };
  if (inNameOf === "anonymous") return { from: GROUP_ANONYMOUS_BOT, sender_chat: chat };
  if (inNameOf) return { from: CHANNEL_BOT, sender_chat: inNameOf };
  return { from };
}

function content(text: string, { caption, entities = findEntities(text) }: SayOptions): Partial<Message> {
  const marks = entities.length > 0 ? [...entities] : undefined;
  if (!caption) return { ...(text ? { text } : {}), ...(marks ? { entities: marks } : {}) };
  const photo = [{ file_id: "photo", file_unique_id: "photo-1", width: 64, height: 48, file_size: 2048 }];
  return { photo, ...(text ? { caption: text } : {}), ...(marks ? { caption_entities: marks } : {}) };
}

function updateOf(message: Message): NewUpdate {
  return isPost(message) ? { channel_post: message } : { message: hasAuthor(message) };
}

const isPost = <M extends Message>(message: M): message is M & Update.Channel =>
  message.chat.type === "channel";

/** Outside of channels every message has an author; the type of a message cannot say so. */
const hasAuthor = <M extends Message>(message: M) => message as M & Update.NonChannel;

/** A quoted message quotes nothing itself; the type says so in a way that no object can fulfil. */
const asQuoted = ({ reply_to_message, ...rest }: Message) => rest as NonNullable<Message["reply_to_message"]>;
