import type { Address, InboundMessage, MessageChange, Sender } from "../../core/ports/chat.ts";
import { numberOf, readContent, unwrapped } from "./content.ts";
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

/** A person's message as the core sees it; undefined when it shows nothing. */
export function toInbound(
  message: WhatsAppMessage,
  { chat, author, alternative }: Route,
  context: InboundContext,
): InboundMessage | undefined {
  const said = readContent(message.message);
  const id = message.key.id;
  if (!said || !id) return undefined;
  const from = addressOf(chat, context.accountId);
  const sentAtMs = numberOf(message.messageTimestamp) * 1000;
  const isMentioned = said.mentions.some((jid) => isMe(jid, context.me));
  return {
    id,
    from,
    sender: senderOf(author, alternative, message.pushName),
    text: isMentioned ? withoutMention(said.text, context.me) : said.text,
    addressed: from.chatType === "direct" || isMentioned || isMe(said.replyToAuthor, context.me),
    sentAtMs,
    ...(said.replyToId ? { replyToId: said.replyToId } : {}),
    ...(said.quoted ? { quoted: said.quoted } : {}),
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
