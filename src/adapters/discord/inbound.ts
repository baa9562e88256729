import type { Channel, GuildMember, Message, User } from "discord.js";
import { given } from "../../core/given.ts";
import type { Address, Attachment, InboundMessage, QuotedText, Sender } from "../../core/ports/chat.ts";

/** Discord's numbers, spelled out here so that nothing of discord.js is loaded at run time. */
const directChat = 1;
const groupDirectChat = 3;
const plainMessage = 0;
const replyMessage = 19;
const forwardReference = 1;

export interface InboundContext {
  readonly accountId: string;
  readonly botId: string;
}

/**
 * A person's message as the core sees it. Undefined for everything that is not for the bot: its own messages, other bots,
 * webhooks, system notices, group direct chats, and messages that show nothing (no text, no file, nothing forwarded).
 */
export function toInbound(message: Message, context: InboundContext): InboundMessage | undefined {
  if (!isFromPerson(message)) return undefined;
  const from = toAddress(message.channel, context.accountId);
  if (!from) return undefined;
  const attachments = attachmentsOf(message);
  const quoted = quotedIn(message);
  const showsMore = attachments.length > 0 || quoted?.forwarded === true;
  const text = textOf(message, context.botId, showsMore);
  if (text === "" && !showsMore) return undefined;

  return given({
    id: message.id,
    from,
    sender: senderOf(message.author, message.member),
    text,
    addressed: isAddressed(message, from, context.botId),
    sentAtMs: message.createdTimestamp,
    replyToId: message.type === replyMessage ? message.reference?.messageId : undefined,
    quoted,
    attachments: attachments.length > 0 ? attachments : undefined,
    chatTitle: titleOf(message),
    guildId: message.guildId ?? undefined,
  });
}

/** The place of a channel; undefined for group direct chats. A thread whose parent nobody knows stands for itself. */
export function toAddress(channel: Channel, accountId: string): Address | undefined {
  const chatType = channel.type === directChat ? ("direct" as const) : ("channel" as const);
  if (channel.type === groupDirectChat) return undefined;
  const parent = channel.isThread() ? channel.parentId : null;
  const place = { channel: "discord", accountId, chatType };
  return parent ? { ...place, chatId: parent, threadId: channel.id } : { ...place, chatId: channel.id };
}

function isFromPerson(message: Message): boolean {
  const isWritten = message.type === plainMessage || message.type === replyMessage;
  return isWritten && !message.author.bot && !message.author.system && !message.webhookId;
}

/** Meant for the bot: a direct chat, a mention of it or of the role that Discord made for it, or a reply to it. */
function isAddressed({ mentions }: Message, from: Address, botId: string): boolean {
  return (
    from.chatType === "direct" ||
    mentions.users.has(botId) ||
    mentions.roles.some((role) => role.tags?.botId === botId) ||
    mentions.repliedUser?.id === botId
  );
}

/** The words without the mention in front of them. A mention alone stays, so that the agent sees that it was called. */
function textOf(message: Message, botId: string, showsMore: boolean): string {
  const whole = message.content.trim();
  const botRoles = message.mentions.roles.filter((role) => role.tags?.botId === botId);
  const ids = [botId, ...botRoles.keys()].join("|");
  const words = whole.replace(new RegExp(`^(?:<@[!&]?(?:${ids})>\\s*)+(?:[,:](?:\\s+|$))?`), "");
  return words === "" && !showsMore ? whole : words;
}

export function senderOf(user: User, member: GuildMember | null): Sender {
  // The role that everybody has carries the id of the server.
  const roleIds = [...(member?.roles.cache.keys() ?? [])].filter((id) => id !== member?.guild.id);
  return given({
    id: user.id,
    name: member?.displayName ?? user.displayName,
    isBot: false,
    roleIds: roleIds.length > 0 ? roleIds : undefined,
  });
}

function attachmentsOf(message: Message): readonly Attachment[] {
  return message.attachments.map(({ contentType, size, name }) => ({
    mediaType: contentType ?? "application/octet-stream",
    sizeBytes: size,
    name,
  }));
}

function quotedIn(message: Message): QuotedText | undefined {
  const { reference } = message;
  if (!reference) return undefined;
  if (reference.type === forwardReference) {
    const text = message.messageSnapshots?.first()?.content;
    return text ? { text, forwarded: true } : undefined;
  }
  const original = reference.messageId ? message.channel.messages.cache.get(reference.messageId) : undefined;
  if (!original?.content) return undefined;
  const senderName = original.member?.displayName ?? original.author.displayName;
  return { text: original.content, senderName, forwarded: false };
}

function titleOf({ channel, guild }: Message): string | undefined {
  if (channel.isDMBased()) return undefined;
  return guild ? `${guild.name} #${channel.name}` : `#${channel.name}`;
}
