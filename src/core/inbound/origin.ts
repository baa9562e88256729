import type { Config } from "../config.ts";
import { isOwner, type Owners } from "../policy/people.ts";
import type { Address, Sender } from "../ports/chat.ts";
import type { KeyNames } from "../session/key.ts";
import type { People } from "../session/people.ts";
import { linkedName, personIds, type SamePerson } from "../session/person.ts";
import { type ResolvedChat, resolveChat } from "../session/resolve.ts";
import type { Sessions } from "../session/sessions.ts";

/** Where something came from, as the switchboard sees it. */
export interface Origin extends ResolvedChat {
  readonly owner: boolean;
  /** The config joins this person's ids across channels. */
  readonly linked: boolean;
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
  readonly sessions: Sessions;
  /** Ids of the account behind an adapter, where its own chat counts as the owner's. */
  ownIds(channel: string, accountId: string): readonly string[];
}

/** From a chat and a person to a session: which agent, which key, and who is asking. A chat that moved is found at its new place. */
export function createFindOrigin(parts: OriginParts): FindOrigin {
  const { config, names, agentIds, owners, people, sessions } = parts;
  return async ({ from, sender, guildId }) => {
    const samePerson = await people.known(from.channel, sender);
    const options = { agentIds, defaultAgentId: names.defaultAgentId, samePerson };
    const place = { address: from, sender, ...(guildId === undefined ? {} : { guildId }) };
    const chat = resolveChat(place, config, options);
    const ids = personIds(from.channel, sender, samePerson);
    if (from.chatType === "direct" && ids.length > 1) await joinSessions(ids, chat, place, parts);
    const ownIds = parts.ownIds(from.channel, from.accountId);
    return {
      ...chat,
      key: (await sessions.get(chat.key))?.key ?? chat.key,
      owner: isOwner(owners, from.channel, sender, { samePerson, ownIds }),
      linked: linkedName(from.channel, ids, config) !== undefined,
      samePerson,
    };
  };
}

/** A person who was first met under another id keeps the session: it moves to the key of the id that counts now. */
async function joinSessions(
  ids: readonly string[],
  chat: ResolvedChat,
  place: { readonly address: Address; readonly sender: Sender },
  { config, names, agentIds, sessions }: OriginParts,
): Promise<void> {
  for (const id of ids) {
    const alone = { ...place, sender: { id, isBot: place.sender.isBot } };
    const options = { agentIds, defaultAgentId: names.defaultAgentId, samePerson: () => [] };
    const { key } = resolveChat(alone, config, options);
    if (key !== chat.key) await sessions.move(key, chat.key, place.address);
  }
}
