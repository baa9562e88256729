import type { Sender } from "../ports/chat.ts";
import type { Storage } from "../ports/storage.ts";
import type { SamePerson } from "./person.ts";

export interface People {
  /** What is known of a sender's other ids, together with what the message itself says. */
  known(channel: string, sender: Sender): Promise<SamePerson>;
  /** Two ids are one person, from now on and after restarts. Joining twice changes nothing. */
  join(channel: string, id: string, altId: string): Promise<void>;
}

/** Which ids belong to one person (WhatsApp phone number and LID), as the platforms have told us. */
export function createPeople(storage: Storage): People {
  const records = storage.records("person");
  const recordKey = (channel: string, id: string) => `${channel}:${id}`;
  const idsOf = async (channel: string, id: string) =>
    (await records.get(recordKey(channel, id)))?.ids ?? [id];

  async function join(channel: string, id: string, altId: string): Promise<void> {
    const [first, second] = await Promise.all([idsOf(channel, id), idsOf(channel, altId)]);
    const ids = [...new Set([...first, ...second])];
    if (ids.length === first.length && ids.length === second.length) return;
    await Promise.all(
      ids.map((one) =>
        records.update(recordKey(channel, one), (current) => ({
          ids: [...new Set([...(current?.ids ?? []), ...ids])],
        })),
      ),
    );
  }

  return {
    join,
    async known(channel, sender) {
      const own = [sender.id, ...(sender.altIds ?? [])];
      for (const altId of sender.altIds ?? []) await join(channel, sender.id, altId);
      const all = [...new Set((await Promise.all(own.map((id) => idsOf(channel, id)))).flat())];
      return (id) => (all.includes(id) ? all.filter((other) => other !== id) : []);
    },
  };
}
