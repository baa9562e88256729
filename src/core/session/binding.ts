import type { Config } from "../config.ts";
import type { Address, Sender } from "../ports/chat.ts";
import { writtenId } from "./person.ts";

type Binding = Config["bindings"][number];

/** Where a message comes from, as far as routing cares. */
export interface Place {
  readonly address: Address;
  readonly sender: Sender;
  readonly guildId?: string;
}

/** From the most to the least specific; a binding ranks by its most specific field. */
const ranks = ["peer", "parent peer", "guild and roles", "guild", "account", "channel"] as const;
type Rank = (typeof ranks)[number];

/** The binding that chooses the agent of a place: the best rank, then the first. All its fields match. */
export function bindingFor(
  place: Place,
  personIds: readonly string[],
  bindings: readonly Binding[],
): Binding | undefined {
  const ranked = bindings.map((binding) => ({ binding, rank: rankOf(binding, place, personIds) }));
  for (const wanted of ranks) {
    const found = ranked.find(({ rank }) => rank === wanted);
    if (found !== undefined) return found.binding;
  }
  return undefined;
}

/** undefined: a field does not match. */
function rankOf({ match }: Binding, place: Place, personIds: readonly string[]): Rank | undefined {
  const { address, sender, guildId } = place;
  const account = match.accountId === "*" ? undefined : match.accountId;
  const holds =
    match.channel.toLowerCase() === address.channel.toLowerCase() &&
    (account === undefined || account === address.accountId) &&
    (match.guildId === undefined || match.guildId === guildId) &&
    (match.roles === undefined || match.roles.some((role) => sender.roleIds?.includes(role)));
  if (!holds) return undefined;
  if (match.peer !== undefined) return peerRank(match.peer, address, personIds);
  if (match.roles !== undefined) return "guild and roles";
  if (match.guildId !== undefined) return "guild";
  return account === undefined ? "channel" : "account";
}

/** A thread is meant by `<chat>:thread:<id>`, a topic by `<chat>:topic:<id>`; a Discord thread also by its own id. */
function peerRank(
  peer: NonNullable<Binding["match"]["peer"]>,
  { channel, chatType, chatId, threadId }: Address,
  personIds: readonly string[],
): Rank | undefined {
  if (peer.kind !== chatType) return undefined;
  const id = chatType === "direct" ? writtenId(channel, peer.id) : peer.id;
  const rooms = chatType === "direct" ? personIds : [chatId];
  if (threadId === undefined) return rooms.includes(id) ? "peer" : undefined;
  const word = chatType === "group" ? "topic" : "thread";
  const own = rooms.map((room) => `${room}:${word}:${threadId}`);
  if (own.includes(id) || (chatType === "channel" && id === threadId)) return "peer";
  return rooms.includes(id) ? "parent peer" : undefined;
}
