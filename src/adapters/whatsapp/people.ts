import { LRUCache } from "lru-cache";
import { isGroupJid, isLidJid, isPhoneJid, phoneNumber } from "./jid.ts";
import type { Link } from "./link.ts";

/** People remembered at the same time; Baileys keeps the mapping for good. */
const MOST_PEOPLE = 5000;

/** Which phone number and LID are one person, and at which of the two each person wrote last. */
export interface People {
  /** Notes that two bare addresses are one person, and no longer whoever had one of them before; true when that is news. */
  join(jid: string, other: string): boolean;
  /** The person's other address, if it is known here or to Baileys. */
  otherAddress(jid: string, link: Link | undefined): Promise<string | undefined>;
  /** The one address by which a person is known here, whichever of the two is asked for; a group's is its own. */
  idOf(jid: string): string;
  /** Notes what a person calls themselves. */
  named(jid: string, name: string): void;
  /** What a person calls themselves, else their phone number. */
  nameOf(jid: string): string | undefined;
  /** Notes that this address works for a direct message: the person wrote from it. */
  heard(jid: string): void;
  /** Where to answer a chat: the address last used by the person, else the known LID, else the chat as it is. */
  answerAt(chat: string, link: Link | undefined): Promise<string>;
}

export function createPeople(): People {
  const others = new LRUCache<string, string>({ max: 2 * MOST_PEOPLE });
  const names = new LRUCache<string, string>({ max: MOST_PEOPLE });
  const lastUsed = new LRUCache<string, string>({ max: 2 * MOST_PEOPLE });

  async function otherAddress(jid: string, link: Link | undefined): Promise<string | undefined> {
    return others.get(jid) ?? link?.otherAddress(jid);
  }

  function idOf(jid: string): string {
    return isLidJid(jid) ? (others.get(jid) ?? jid) : jid;
  }

  /** What was known of whoever had this address before: it is not true of whoever has it now. */
  function forget(jid: string): void {
    const before = others.get(jid);
    if (before === undefined) return;
    for (const one of [jid, before]) {
      others.delete(one);
      names.delete(one);
      lastUsed.delete(one);
    }
  }

  return {
    otherAddress,
    idOf,
    named: (jid, name) => names.set(idOf(jid), name),
    nameOf(jid) {
      const id = idOf(jid);
      return names.get(id) ?? (isPhoneJid(id) ? phoneNumber(id) : undefined);
    },
    join(jid, other) {
      if (others.get(jid) === other && others.get(other) === jid) return false;
      for (const one of [jid, other]) forget(one);
      others.set(jid, other);
      others.set(other, jid);
      return true;
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
