import type { Sender } from "../ports/chat.ts";
import type { Storage, Write } from "../ports/storage.ts";
import type { SamePerson } from "./person.ts";

/** What is known of a sender's other ids, together with what the message itself says. */
export interface KnownPerson {
  readonly samePerson: SamePerson;
  /** What makes the message's own word last; none when it is no news. */
  readonly joining: readonly Write[];
}

export interface People {
  /** Writes nothing. */
  known(channel: string, sender: Pick<Sender, "id" | "altIds">): Promise<KnownPerson>;
  /** Two ids are one person, from now on and after restarts, and neither is one with what it was joined with before. Joining twice changes nothing. */
  join(channel: string, id: string, altId: string): Promise<void>;
}

/**
 * Which ids belong to one person (WhatsApp phone number and LID), as the platforms have told us. What was told last counts: a phone number is given to somebody
 * else one day, and the rights of its last owner must not go along.
 */
export function createPeople(storage: Storage): People {
  const records = storage.records("person");

  async function known(channel: string, { id, altIds = [] }: Pick<Sender, "id" | "altIds">) {
    const told = [...new Set([id, ...altIds])];
    const stored = await idsOf(channel, told);
    const all = told.length > 1 ? told : [id, ...(await others(channel, id, stored[0] ?? []))];
    const isNews = told.length > 1 && stored.some((ids) => !isSame(ids, told));
    return {
      samePerson: (one: string) => (all.includes(one) ? all.filter((other) => other !== one) : []),
      joining: isNews ? told.map((one) => joinWrite(recordKey(channel, one), told)) : [],
    };
  }

  /** Only ids that name this one too: of a person who has a newer id the old one still tells. */
  async function others(channel: string, id: string, named: readonly string[]) {
    const rest = named.filter((one) => one !== id);
    const told = rest.length > 0 ? await idsOf(channel, rest) : [];
    return rest.filter((_, index) => told[index]?.includes(id));
  }

  async function idsOf(channel: string, ids: readonly string[]) {
    const found = await records.getMany(ids.map((one) => recordKey(channel, one)));
    return found.map((record) => record?.ids ?? []);
  }

  return {
    known,
    async join(channel, id, altId) {
      const { joining } = await known(channel, { id, altIds: [altId] });
      await storage.apply(joining);
    },
  };
}

function recordKey(channel: string, id: string): string {
  return `${channel}:${id}`;
}

function isSame(ids: readonly string[], told: readonly string[]): boolean {
  return ids.length === told.length && told.every((one) => ids.includes(one));
}

function joinWrite(key: string, ids: readonly string[]): Write {
  return { type: "record", table: "person", key, change: () => ({ ids }) };
}
