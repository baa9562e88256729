import { type Config, channelConfig } from "../config.ts";
import { given } from "../given.ts";
import { isOwner, type Owners } from "../policy/people.ts";
import type { Address, Sender } from "../ports/chat.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Write } from "../ports/storage.ts";
import type { KeyNames } from "../session/key.ts";
import type { Moves, Place } from "../session/moves.ts";
import type { People } from "../session/people.ts";
import { linkedName, personIds, type SamePerson } from "../session/person.ts";
import { type ResolvedChat, resolveChat } from "../session/resolve.ts";
import type { Pairing } from "./pairing.ts";

/** Where something came from, as the switchboard sees it. Key and agent are those of the session as it is now. */
export interface Origin extends ResolvedChat {
  /** Where the chat belongs by the rules. */
  readonly place: Place;
  /** The session of an admitted message, and what is written with it. */
  readonly arrival: Place & { readonly writes: readonly Write[] };
  readonly owner: boolean;
  /**
   * The thread of a child. here: whatever is written is for it. overheard: another bot of this installation opened it, and hears the same words.
   */
  readonly childThread?: "here" | "overheard";
  /** The config joins this person's ids across channels. */
  readonly linked: boolean;
  /** An owner has approved the person for direct messages to this account, and they need it: `dmPolicy` is "pairing". */
  readonly paired: boolean;
  readonly samePerson: SamePerson;
}

export type FindOrigin = (at: {
  readonly from: Address;
  readonly sender: Sender;
  readonly guildId?: string;
}) => Promise<Origin>;

export interface OriginParts {
  readonly config: Config;
  readonly names: KeyNames;
  readonly agentIds: readonly string[];
  readonly owners: Owners;
  readonly people: People;
  readonly moves: Moves;
  readonly pairing: Pick<Pairing, "isPaired">;
  /** Ids of the account behind an adapter, where its own chat counts as the owner's. */
  ownIds(channel: string, accountId: string): readonly string[];
}

/** From a chat and a person to a session: which agent, which key, and who is asking. A chat that moved is found at its new place. Writes nothing. */
export function createFindOrigin(parts: OriginParts): FindOrigin {
  const { config, names, agentIds, owners, people, moves, pairing } = parts;
  return async ({ from, sender, guildId }) => {
    const { samePerson, joining } = await people.known(from.channel, sender);
    const options = { agentIds, defaultAgentId: names.defaultAgentId, samePerson };
    const place = { address: from, sender, ...(guildId === undefined ? {} : { guildId }) };
    const chat = resolveChat(place, config, options);
    const ids = personIds(from.channel, sender, samePerson);
    const keys = from.chatType === "direct" && ids.length > 1 ? keysAlone(ids, place, parts) : [];
    const { session, arrival, moving } = await moves.find(chat, keys, from);
    const ownIds = parts.ownIds(from.channel, from.accountId);
    const owner = isOwner(owners, from.channel, sender, { samePerson, ownIds });
    const linked = linkedName(from.channel, ids, config) !== undefined;
    const pairs = from.chatType === "direct" && channelConfig(config, from.channel).dmPolicy === "pairing";
    return {
      ...chat,
      key: session?.key ?? chat.key,
      agentId: session?.agentId ?? chat.agentId,
      place: chat,
      ...given({ childThread: childThreadAt(from, session) }),
      arrival: { key: arrival.key, agentId: arrival.agentId, writes: [...joining, ...moving] },
      owner,
      linked,
      // Nobody else's record keeps an owner out.
      paired: pairs && !owner && !linked && (await pairing.isPaired(from, ids)),
      samePerson,
    };
  };
}

/** A child's session that a chat leads to was made with its thread. */
function childThreadAt({ accountId }: Address, session: Session | undefined): Origin["childThread"] {
  if (session?.spawnedBy === undefined) return undefined;
  return session.origin?.accountId === accountId ? "here" : "overheard";
}

/** Keys of the person's ids one by one, the message's own first: who was first met under another id keeps the session. */
function keysAlone(
  ids: readonly string[],
  place: { readonly address: Address; readonly sender: Sender },
  { config, names, agentIds }: OriginParts,
): readonly SessionKey[] {
  const own = ids.filter((id) => id === place.sender.id);
  const keys = [...own, ...ids].map((id) => {
    const alone = { ...place, sender: { id, isBot: place.sender.isBot } };
    const options = { agentIds, defaultAgentId: names.defaultAgentId, samePerson: () => [] };
    return resolveChat(alone, config, options).key;
  });
  return [...new Set(keys)];
}
