import type { Config } from "../config.ts";
import type { Sender } from "../ports/chat.ts";

/** Other known ids of the person who has this id on the message's channel; [] when nothing is known. */
export type SamePerson = (id: string) => readonly string[];

/**
 * Every id of a person on one channel, in the same order whichever of them the message carried. Keys use the first: a
 * phone number before a LID.
 */
export function personIds(
  channel: string,
  sender: Pick<Sender, "id" | "altIds">,
  samePerson: SamePerson,
): readonly [string, ...string[]] {
  const told = [sender.id, ...(sender.altIds ?? [])].map((id) => platformId(channel, id));
  const known = told.flatMap(samePerson).map((id) => platformId(channel, id));
  const [first = sender.id, ...others] = [...new Set([...told, ...known])].sort(phoneNumbersFirst);
  return [first, ...others];
}

/** An id as an owner writes it in the config: with or without `<channel>:`, phone numbers in any notation. */
export function writtenId(channel: string, written: string | number): string {
  const text = String(written).trim();
  const prefix = `${channel}:`;
  return platformId(channel, text.toLowerCase().startsWith(prefix) ? text.slice(prefix.length).trim() : text);
}

/**
 * The name under which `session.identityLinks` joins this person's ids. Entries without a channel count on every
 * channel, but a number without `+` is never taken for a phone number.
 */
export function linkedName(channel: string, ids: readonly string[], config: Config): string | undefined {
  const isEntryOf = (entry: string) => {
    const id = writtenId(channel, entry);
    return ids.includes(id) && id !== `+${entry}`;
  };
  return Object.entries(config.session.identityLinks).find(([, entries]) => entries.some(isEntryOf))?.[0];
}

/** WhatsApp writes one phone number in several ways; a LID stays a LID. Ids of other channels are opaque. */
function platformId(channel: string, id: string): string {
  if (channel !== "whatsapp") return id;
  const jid = /^(\d+)(?:_\d+)?(?::\d+)?@(s\.whatsapp\.net|c\.us|lid)$/i.exec(id);
  if (jid !== null) return jid[2]?.toLowerCase() === "lid" ? `${jid[1]}@lid` : `+${jid[1]}`;
  return /^\+?[\d\s().-]*\d$/.test(id) ? `+${id.replace(/\D/g, "")}` : id;
}

function phoneNumbersFirst(one: string, other: string): number {
  const phones = Number(other.startsWith("+")) - Number(one.startsWith("+"));
  return phones || (one < other ? -1 : 1);
}
