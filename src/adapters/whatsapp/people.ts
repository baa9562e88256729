import { LRUCache } from "lru-cache";
import { isGroupJid, isPhoneJid } from "./jid.ts";
import type { Link } from "./link.ts";

/** People remembered at the same time; Baileys keeps the mapping for good. */
const MOST_PEOPLE = 5000;

/** Which phone number and LID are one person, and at which of the two each person wrote last. */
export interface People {
  /** Notes that two bare addresses are one person; true when that is news. */
  join(jid: string, other: string): boolean;
  /** The person's other address, if it is known here or to Baileys. */
  otherAddress(jid: string, link: Link | undefined): Promise<string | undefined>;
  /** Notes that a person wrote a direct message from this address. */
  heard(jid: string): void;
  /** Where to answer a chat: the address last used by the person, else the known LID, else the chat as it is. */
  answerAt(chat: string, link: Link | undefined): Promise<string>;
}

export function createPeople(): People {
  const others = new LRUCache<string, string>({ max: 2 * MOST_PEOPLE });
  const lastUsed = new LRUCache<string, string>({ max: 2 * MOST_PEOPLE });

  async function otherAddress(jid: string, link: Link | undefined): Promise<string | undefined> {
    return others.get(jid) ?? link?.otherAddress(jid);
  }

  return {
    otherAddress,
    join(jid, other) {
      const isNews = others.get(jid) !== other;
      others.set(jid, other);
      others.set(other, jid);
      return isNews;
    },
    heard(jid) {
      lastUsed.set(jid, jid);
      const other = others.get(jid);
      if (other) lastUsed.set(other, jid);
    },
    async answerAt(chat, link) {
      if (isGroupJid(chat)) return chat;
      const used = lastUsed.get(chat);
      if (used) return used;
      // Messages to the phone address of an account that moved to LIDs can vanish without an error.
      return (isPhoneJid(chat) && (await otherAddress(chat, link))) || chat;
    },
  };
}
