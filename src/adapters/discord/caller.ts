import type { AutocompleteInteraction, ButtonInteraction, ChatInputCommandInteraction } from "discord.js";
import { given } from "../../core/given.ts";
import type { AdapterHost, Address } from "../../core/ports/chat.ts";
import type { NativeCommandCall } from "../../core/ports/command.ts";
import { inTime } from "./in-time.ts";
import { senderOf, toAddress } from "./inbound.ts";

export interface CallContext {
  readonly host: AdapterHost;
  readonly accountId: string;
  readonly maxTextLength: number;
}

type Call = ChatInputCommandInteraction | ButtonInteraction | AutocompleteInteraction;

/** Who called from where; undefined in group direct chats, where the bot has no business. */
export async function callerOf(
  call: Call,
  accountId: string,
): Promise<Omit<NativeCommandCall, "name" | "text"> | undefined> {
  const from = await placeOf(call, accountId);
  if (!from) return undefined;
  return given({
    id: call.id,
    from,
    sender: senderOf(call.user, call.inCachedGuild() ? call.member : null),
    locale: call.locale,
    guildId: call.guildId ?? undefined,
  });
}

/** A call may come from a channel that the client cannot see; then its kind is all that is known. */
async function placeOf(call: Call, accountId: string): Promise<Address | undefined> {
  const { channelId, client } = call;
  const channel = call.channel ?? (await inTime(client.channels.fetch(channelId)).catch(() => null));
  if (channel) return toAddress(channel, accountId);
  const chatType = call.inGuild() ? "channel" : "direct";
  return { channel: "discord", accountId, chatType, chatId: channelId };
}
