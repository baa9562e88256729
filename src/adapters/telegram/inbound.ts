import type { Chat, Message, MessageEntity, MessageOrigin, Update, User, UserFromGetMe } from "grammy/types";
import type {
  Address,
  Attachment,
  InboundMessage,
  MessageChange,
  QuotedText,
  Sender,
} from "../../core/ports/chat.ts";
import { type RichText, richText } from "./rich-text.ts";

/** One update and the bot that received it. */
export interface TelegramEvent {
  readonly update: Update;
  readonly me: UserFromGetMe;
  readonly accountId: string;
}

/** The thread id of a forum's General topic, which Telegram leaves out in messages. */
export const generalTopic = "1";

/**
 * A message of a person or of another bot, or a channel's post, as the core sees it. Undefined for every other update: edits, button presses,
 * inline, business and guest updates, service notices, commands for another bot, and messages that show nothing.
 */
export function toInbound(event: TelegramEvent): InboundMessage | undefined {
  const message = event.update.message ?? event.update.channel_post;
  if (!message || !isForTheBot(message, event.me)) return undefined;
  const quoted = quotedIn(message);
  const isForwarded = quoted?.forwarded === true;
  const words = isForwarded ? noWords : wordsOf(message, event.me);
  const attachments = attachmentsOf(message);
  const shown = isForwarded ? quoted.text : words.text;
  if (words.isForAnotherBot || (shown === "" && attachments.length === 0)) return undefined;

  const from = addressOf(message, event);
  const repliedTo = repliedToIn(message);
  const isReplyToBot = repliedTo?.from?.id === event.me.id;
  return {
    id: String(message.message_id),
    from,
    sender: senderOf(message),
    text: words.text,
    addressed: from.chatType === "direct" || isReplyToBot || words.namesBot,
    sentAtMs: message.date * 1000,
    ...(repliedTo ? { replyToId: String(repliedTo.message_id) } : {}),
    ...(quoted ? { quoted } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...surroundings(message),
  };
}

/** A person's message or a channel's post that got a new text. */
export function toChange(event: TelegramEvent): MessageChange | undefined {
  const message = event.update.edited_message ?? event.update.edited_channel_post;
  if (!message || !isForTheBot(message, event.me)) return undefined;
  const { text } = wordsOf(message, event.me);
  return text
    ? { id: String(message.message_id), from: addressOf(message, event), change: "edited", text }
    : undefined;
}

/** A basic group that became a supergroup: Telegram tells it in both chats. */
export function toMove(event: TelegramEvent): { readonly from: Address; readonly to: Address } | undefined {
  const { message } = event.update;
  if (!message) return undefined;
  const here: Address = { ...placeOf(event), chatType: "group", chatId: String(message.chat.id) };
  const { migrate_to_chat_id: newId, migrate_from_chat_id: oldId } = message;
  if (newId !== undefined) return { from: here, to: { ...here, chatId: String(newId) } };
  if (oldId !== undefined) return { from: { ...here, chatId: String(oldId) }, to: here };
  return undefined;
}

function surroundings({ chat: { title }, from }: Message) {
  const locale = from?.language_code;
  return { ...(title ? { chatTitle: title } : {}), ...(locale ? { locale } : {}) };
}

const placeOf = ({ accountId }: TelegramEvent) => ({ channel: "telegram", accountId });

export function addressOf(message: Message, event: TelegramEvent): Address {
  const { chat, message_thread_id: topic, is_topic_message: inTopic } = message;
  // Outside of topics the thread id only marks a chain of replies.
  const threadId = inTopic && topic !== undefined ? String(topic) : undefined;
  return addressIn(chat, threadId, event);
}

/** A chat, or its topic `threadId` where the chat has topics. */
export function addressIn(chat: Chat, threadId: string | undefined, event: TelegramEvent): Address {
  const place = { ...placeOf(event), chatId: String(chat.id) };
  if (chat.type === "channel") return { ...place, chatType: "channel" };
  if (chat.type === "private") {
    const hasTopics = event.me.has_topics_enabled && threadId !== undefined;
    return { ...place, chatType: "direct", ...(hasTopics ? { threadId } : {}) };
  }
  return { ...place, chatType: "group", ...(chat.is_forum ? { threadId: threadId ?? generalTopic } : {}) };
}

function isForTheBot(message: Message, me: UserFromGetMe): boolean {
  if (message.via_bot?.id === me.id) return false;
  // The copy of a channel's post in its discussion group; the post itself arrives as such.
  if (message.is_automatic_forward) return false;
  // Many people's private talks with a channel share one chat id there.
  if (message.chat.is_direct_messages) return false;
  // Seen by one person and the bot only, and no message of the chat.
  if (message.ephemeral_message_id !== undefined) return false;
  return message.from?.id !== me.id;
}

/** Whoever speaks in the name of a chat cannot be told apart from its other speakers. */
export function senderOf({ chat, sender_chat, from, author_signature: signature }: Message): Sender {
  if (from && !sender_chat) return personOf(from);
  const { id, title } = sender_chat ?? chat;
  const name = signature ?? title;
  return { id: String(id), isBot: false, anonymous: true, ...(name ? { name } : {}) };
}

export function personOf(user: User): Sender {
  const name = fullName(user);
  return { id: String(user.id), isBot: user.is_bot, ...(name ? { name } : {}) };
}

const fullName = ({ first_name, last_name }: User) => [first_name, last_name].filter(Boolean).join(" ");

interface Words {
  /** Without the bot's name in front of it or behind the command. */
  readonly text: string;
  readonly namesBot: boolean;
  readonly isForAnotherBot: boolean;
}

/** A forwarded text is somebody else's from its first word to its last. */
const noWords: Words = { text: "", namesBot: false, isForAnotherBot: false };

export function wordsOf(message: Message, me: UserFromGetMe): Words {
  const { text, entities } = contentOf(message);
  const namesBot = entities.some((entity) => isMention(entity, text, me));
  const first = entities.find(({ offset }) => offset === 0);
  if (first?.type === "bot_command") return commandWords(text, first, { me, namesBot });
  if (first && isMention(first, text, me)) {
    const rest = text.slice(first.length).replace(/^\s*[,:]?\s*/, "");
    return { text: rest || text, namesBot, isForAnotherBot: false };
  }
  return { text, namesBot, isForAnotherBot: false };
}

type Content = Pick<Message, "text" | "entities" | "caption" | "caption_entities" | "rich_message">;

/** A rich message may have a text too, which says that it cannot be shown. */
function contentOf(message: Content): RichText {
  const { text, entities, caption, caption_entities, rich_message: rich } = message;
  if (rich) return richText(rich.blocks);
  return { text: text ?? caption ?? "", entities: entities ?? caption_entities ?? [] };
}

function commandWords(
  text: string,
  { length }: MessageEntity,
  { me, namesBot }: { me: UserFromGetMe; namesBot: boolean },
): Words {
  const [command = "", botName] = text.slice(0, length).split("@");
  if (botName === undefined) return { text, namesBot, isForAnotherBot: false };
  const isOurs = botName.toLowerCase() === me.username.toLowerCase();
  return { text: command + text.slice(length), namesBot: isOurs, isForAnotherBot: !isOurs };
}

function isMention(entity: MessageEntity, text: string, me: UserFromGetMe): boolean {
  if (entity.type === "text_mention") return entity.user.id === me.id;
  const name = text.slice(entity.offset, entity.offset + entity.length);
  return entity.type === "mention" && name.toLowerCase() === `@${me.username.toLowerCase()}`;
}

/** In a topic every message formally replies to the notice that opened it, which may be the bot's own. */
function repliedToIn({ reply_to_message: original, message_thread_id, is_topic_message }: Message) {
  const isOpening = is_topic_message && original?.message_id === message_thread_id;
  return isOpening ? undefined : original;
}

function quotedIn(message: Message): QuotedText | undefined {
  const { forward_origin: origin, via_bot: inlineBot, quote, external_reply: external } = message;
  const words = contentOf(message).text;
  if (origin) return quotedText(words, nameOf(origin), true);
  // Picked by the sender, worded by the other bot.
  if (inlineBot && words) return quotedText(words, inlineBot.first_name, true);
  if (external) return quote && quotedText(quote.text, nameOf(external.origin), false);
  const original = repliedToIn(message);
  const text = quote?.text ?? (original && contentOf(original).text);
  return original && text ? quotedText(text, senderOf(original).name, false) : undefined;
}

function quotedText(text: string, senderName: string | undefined, forwarded: boolean): QuotedText {
  return { text, forwarded, ...(senderName ? { senderName } : {}) };
}

function nameOf(origin: MessageOrigin): string | undefined {
  switch (origin.type) {
    case "user":
      return fullName(origin.sender_user);
    case "hidden_user":
      return origin.sender_user_name;
    case "chat":
      return origin.sender_chat.title;
    case "channel":
      return origin.chat.title;
    default:
      return nobody(origin);
  }
}

/** Of a kind that Telegram has added since. */
function nobody(_origin: never): undefined {
  return undefined;
}

interface TelegramFile {
  readonly mime_type?: string;
  readonly file_size?: number;
  readonly file_name?: string;
}

function attachmentsOf(message: Message): readonly Attachment[] {
  const files: readonly (readonly [string, TelegramFile | undefined])[] = [
    ["image/jpeg", message.photo?.at(-1)],
    ["image/webp", message.sticker],
    ["video/mp4", message.animation],
    ["video/mp4", message.video],
    ["video/mp4", message.video_note],
    ["audio/ogg", message.voice],
    ["audio/mpeg", message.audio],
    // An animation is repeated as a document for old clients.
    ["application/octet-stream", message.animation ? undefined : message.document],
  ];
  return files.flatMap(([usualType, file]) => {
    if (!file) return [];
    const { mime_type: mediaType = usualType, file_size: sizeBytes, file_name: name } = file;
    return [{ mediaType, ...(sizeBytes === undefined ? {} : { sizeBytes }), ...(name ? { name } : {}) }];
  });
}
