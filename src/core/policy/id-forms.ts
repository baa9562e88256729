import { writtenId } from "../session/person.ts";

interface IdForm {
  readonly form: RegExp;
  readonly example: string;
}

/** Stable ids of people on the channels that we know. */
const PEOPLE: ReadonlyMap<string, IdForm> = new Map([
  ["discord", { form: /^\d+$/, example: "80351110224678912" }],
  ["telegram", { form: /^\d+$/, example: "123456" }],
  ["whatsapp", { form: /^(\+\d+|\d+@lid)$/, example: '+15550001111" or the LID "123@lid' }],
]);

/** Ids of chats with several people there. */
const ROOMS: ReadonlyMap<string, IdForm> = new Map([
  ["discord", { form: /^\d+$/, example: "81384788765712384" }],
  ["telegram", { form: /^-\d+$/, example: "-1001234567890" }],
  ["whatsapp", { form: /^[\d-]+@g\.us$/, example: "120363012345678901@g.us" }],
]);

/** Why an entry can be no person's stable id; undefined: it may be one. On channels that we do not know it only must not look like a name. */
export function problemWithPerson(channel: string, entry: string | number): string | undefined {
  if (typeof entry === "number" && !Number.isSafeInteger(entry)) {
    return "is a number that has lost digits; write it as text";
  }
  const id = writtenId(channel, entry);
  const other = otherChannel(channel, id);
  if (other !== undefined) return `belongs to ${other}, not to ${channel}; move it there`;
  const known = PEOPLE.get(channel);
  if (known === undefined)
    return id.startsWith("@") ? "is a name; names can change hands, write the id" : undefined;
  return known.form.test(id) ? undefined : `is no stable ${channel} id; write one like "${known.example}"`;
}

/** The same of a group, server channel or thread. On channels that we do not know it may be anything. */
export function problemWithRoom(channel: string, entry: string | number): string | undefined {
  const id = writtenId(channel, entry);
  const known = ROOMS.get(channel);
  if (known === undefined || known.form.test(id)) return undefined;
  const other = otherChannel(channel, id);
  if (other !== undefined) return `belongs to ${other}, not to ${channel}; move it there`;
  return `is no id of a ${channel} group; write one like "${known.example}"`;
}

/** Whether ids of this channel have a form that we know. */
export function hasKnownIds(channel: string): boolean {
  return PEOPLE.has(channel);
}

function otherChannel(channel: string, id: string): string | undefined {
  const [prefix = "", rest] = id.split(":");
  return rest !== undefined && prefix !== channel && PEOPLE.has(prefix.toLowerCase()) ? prefix : undefined;
}
