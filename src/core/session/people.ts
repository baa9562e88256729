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
  /** Two ids are one person, from now on and after restarts. Joining twice changes nothing. */
  join(channel: string, id: string, altId: string): Promise<void>;
}

/** Which ids belong to one person (WhatsApp phone number and LID), as the platforms have told us. */
export function createPeople(storage: Storage): People {
  const records = storage.records("person");

  async function known(channel: string, { id, altIds = [] }: Pick<Sender, "id" | "altIds">) {
    const told = [id, ...altIds];
    const stored = await records.getMany(told.map((one) => recordKey(channel, one)));
    const all = [...new Set([...told, ...stored.flatMap((record) => record?.ids ?? [])])];
    const isNews =
      altIds.length > 0 && stored.some((record) => !all.every((one) => record?.ids.includes(one)));
    return {
      samePerson: (one: string) => (all.includes(one) ? all.filter((other) => other !== one) : []),
      joining: isNews ? all.map((one) => joinWrite(recordKey(channel, one), all)) : [],
    };
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

function joinWrite(key: string, ids: readonly string[]): Write {
  const change = (current: { readonly ids: readonly string[] } | undefined) => ({
    ids: [...new Set([...(current?.ids ?? []), ...ids])],
  });
  return { type: "record", table: "person", key, change };
}
