import type { Channel, GuildMember, Message, PartialMessage, User } from "discord.js";
import { given } from "../../core/given.ts";
import type { Address, InboundMessage, MessageChange, Sender } from "../../core/ports/chat.ts";
import { attachmentsOf, forwardReference, quotedIn, wordsOf } from "./shown.ts";

/** Discord's numbers, spelled out here so that nothing of discord.js is loaded at run time. */
const directChat = 1;
const groupDirectChat = 3;
const plainMessage = 0;
const replyMessage = 19;

export interface InboundContext {
  readonly accountId: string;
  readonly botId: string;
}

/**
 * A message of a person or of another bot as the core sees it. Undefined for everything that is not for the bot: its own messages,
 * system notices, group direct chats, and messages that show nothing (no text, no file, no poll, nothing forwarded).
 */
export function toInbound(message: Message, context: InboundContext): InboundMessage | undefined {
  if (!isFromSomebodyElse(message, context.botId)) return undefined;
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
    sender: authorOf(message),
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

/** Whether the words changed: a preview that Discord adds to a link, or a pin, is no edit. */
export function isEdit(before: Message | PartialMessage, { editedTimestamp }: Message): boolean {
  return editedTimestamp !== null && editedTimestamp !== before.editedTimestamp;
}

/** An edit of what `toInbound` hands over. */
export function toEdit(message: Message, context: InboundContext): MessageChange | undefined {
  const inbound = toInbound(message, context);
  return inbound && { id: inbound.id, from: inbound.from, change: "edited", text: inbound.text };
}

/** A removal of what `toInbound` hands over, or of a message that the client no longer knows. */
export function toRemoval(
  message: Message | PartialMessage,
  context: InboundContext,
): MessageChange | undefined {
  const from = message.partial
    ? toAddress(message.channel, context.accountId)
    : toInbound(message, context)?.from;
  return from && { id: message.id, from, change: "deleted" };
}

/** The place of a channel; undefined for group direct chats. A thread whose parent nobody knows stands for itself. */
export function toAddress(channel: Channel, accountId: string): Address | undefined {
  const chatType = channel.type === directChat ? ("direct" as const) : ("channel" as const);
  if (channel.type === groupDirectChat) return undefined;
  const parent = channel.isThread() ? channel.parentId : null;
  const place = { channel: "discord", accountId, chatType };
  return parent ? { ...place, chatId: parent, threadId: channel.id } : { ...place, chatId: channel.id };
}

function isFromSomebodyElse({ type, author }: Message, botId: string): boolean {
  const isWritten = type === plainMessage || type === replyMessage;
  return isWritten && author.id !== botId && !author.system;
}

/** Nobody can tell who speaks through a webhook: it counts as a bot, and as nobody in particular. */
function authorOf({ author, member, webhookId }: Message): Sender {
  const sender = senderOf(author, member);
  return webhookId ? { ...sender, isBot: true, anonymous: true } : sender;
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
  // What is forwarded is somebody else's words, whatever else the message holds.
  if (message.reference?.type === forwardReference) return "";
  const whole = wordsOf(message);
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
    isBot: user.bot === true,
    roleIds: roleIds.length > 0 ? roleIds : undefined,
  });
}

function titleOf({ channel, guild }: Message): string | undefined {
  if (channel.isDMBased()) return undefined;
  return guild ? `${guild.name} #${channel.name}` : `#${channel.name}`;
}
