import type { Address, InboundMessage, MessageChange, Sender } from "../../core/ports/chat.ts";
import { numberOf, readContent, type Said, unwrapped } from "./content.ts";
import {
  bareJid,
  isGroupJid,
  isLidJid,
  isPair,
  isPersonJid,
  isPhoneJid,
  phoneNumber,
  userOf,
} from "./jid.ts";
import { isMarked } from "./message-id.ts";
import type { UpsertType, WhatsAppKey, WhatsAppMessage } from "./socket.ts";

/** Values of WhatsApp's own protocol messages. */
const revoke = 0;
const messageEdit = 14;

/** Where a message was written and by whom, in bare addresses. */
export interface Route {
  /** The chat, and the address to answer at. */
  readonly chat: string;
  readonly author: string;
  /** The author's other address (LID beside phone number), when known. */
  readonly alternative?: string;
}

export interface InboundContext {
  readonly accountId: string;
  /** Bare addresses of the bot's own account. */
  readonly me: readonly string[];
  readonly type: UpsertType;
  /** Missed messages from before this moment are recorded only. */
  readonly answerSinceMs: number;
  /** The name that a person gave themselves, for whom they are quoted. */
  nameOf?(jid: string): string | undefined;
}

/** Ids of messages made on linked devices, among them all that Baileys makes. */
const MADE_ON_LINKED_DEVICE = "3EB0";

/**
 * Baileys 6 hands over a bundle of events under the type of the first: what people write while the bot sends is then called "append"
 * like the bot's own. Whatever was written since the connection was opened is live, except what this account may have sent by program.
 */
export function trueType(message: WhatsAppMessage, type: UpsertType, openSinceMs: number): UpsertType {
  const { fromMe, id } = message.key;
  if (type === "notify" || sentAt(message) < openSinceMs) return type;
  return fromMe && id?.startsWith(MADE_ON_LINKED_DEVICE) ? "append" : "notify";
}

/**
 * Chat and author of a message that may be for the bot. Undefined for status, broadcasts, newsletters, calls and Meta AI,
 * and for what the account itself wrote, except live in its chat with itself: there the owner talks to the bot.
 */
export function routeOf(
  key: WhatsAppKey,
  { me, type }: Pick<InboundContext, "me" | "type">,
): Route | undefined {
  const chat = bareJid(key.remoteJid);
  if (!chat || !(isGroupJid(chat) || isPersonJid(chat))) return undefined;
  if (key.fromMe) {
    if (!me.includes(chat) || type === "append") return undefined;
    return route(
      chat,
      chat,
      me.find((jid) => jid !== chat),
    );
  }
  if (!isGroupJid(chat)) return route(chat, chat, key.remoteJidAlt || key.senderPn || key.senderLid);
  const author = bareJid(key.participant);
  if (!author || !isPersonJid(author) || me.includes(author)) return undefined;
  return route(chat, author, key.participantAlt || key.participantPn || key.participantLid);
}

/** A message as the core sees it; undefined when it shows nothing. One account may be typed on by a person and posted from by a bot. */
export function toInbound(
  message: WhatsAppMessage,
  { chat, author, alternative }: Route,
  context: InboundContext,
): InboundMessage | undefined {
  const said = readContent(message.message);
  const id = message.key.id;
  if (!said || !id) return undefined;
  const from = addressOf(chat, context.accountId);
  const sentAtMs = sentAt(message);
  const isMentioned = said.mentions.some((jid) => isMe(jid, context.me));
  return {
    id,
    from,
    sender: { ...senderOf(author, alternative, message.pushName), isBot: isMarked(id) },
    text: isMentioned ? withoutMention(said.text, context.me) : said.text,
    addressed: from.chatType === "direct" || isMentioned || isMe(said.replyToAuthor, context.me),
    sentAtMs,
    ...(said.replyToId ? { replyToId: said.replyToId } : {}),
    ...(said.quoted ? { quoted: { ...said.quoted, ...quotedPerson(said, context) } } : {}),
    ...(said.attachments.length > 0 ? { attachments: said.attachments } : {}),
    ...(context.type === "append" && sentAtMs < context.answerSinceMs ? { replay: true } : {}),
  };
}

/** What an edit or a deletion does to an earlier message; undefined for everything else. */
export function toChange(
  message: WhatsAppMessage,
  { chat }: Route,
  accountId: string,
): MessageChange | undefined {
  const protocol = unwrapped(message.message)?.protocolMessage;
  const id = protocol?.key?.id;
  if (!id) return undefined;
  const from = addressOf(chat, accountId);
  if (protocol.type === revoke) return { id, from, change: "deleted" };
  if (protocol.type !== messageEdit) return undefined;
  return { id, from, change: "edited", text: readContent(protocol.editedMessage)?.text ?? "" };
}

function addressOf(chat: string, accountId: string): Address {
  return { channel: "whatsapp", accountId, chatType: isGroupJid(chat) ? "group" : "direct", chatId: chat };
}

/** A person is their phone number when it is known, else their LID; the other one stands beside it. */
export function senderOf(author: string, alternative?: string, name?: string | null): Sender {
  const known = alternative ? [author, alternative] : [author];
  const phone = known.find(isPhoneJid);
  const lid = known.find(isLidJid);
  return {
    id: phone ? phoneNumber(phone) : author,
    ...(phone && lid ? { altIds: [lid] } : {}),
    ...(name ? { name } : {}),
    isBot: false,
  };
}

function quotedPerson({ replyToAuthor }: Said, { me, nameOf }: InboundContext): { senderName?: string } {
  const author = bareJid(replyToAuthor);
  const senderName = author && !me.includes(author) ? nameOf?.(author) : undefined;
  return senderName ? { senderName } : {};
}

function sentAt({ messageTimestamp }: WhatsAppMessage): number {
  return numberOf(messageTimestamp) * 1000;
}

function route(chat: string, author: string, otherAddress: string | undefined): Route {
  const alternative = bareJid(otherAddress);
  return alternative && isPair(author, alternative) ? { chat, author, alternative } : { chat, author };
}

function isMe(jid: string | undefined, me: readonly string[]): boolean {
  return me.includes(bareJid(jid) ?? "");
}

/** The words without "@bot" in front of them; a mention alone stays, so that the agent sees that it was called. */
function withoutMention(text: string, me: readonly string[]): string {
  const mention = new RegExp(`^(?:@(?:${me.map(userOf).join("|")})(?:[,:]|\\s|$)\\s*)+`);
  return text.replace(mention, "") || text;
}
