import type { ChannelConfig } from "../config.ts";
import type { Address } from "../ports/chat.ts";
import { writtenId } from "../session/person.ts";
import { cleanLine } from "../text/lines.ts";

/** Scripts that write words without anything between them: next to their letters a name may begin and end. */
const UNSPACED = ["Han", "Hira", "Kana", "Bopo", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"]
  .map((script) => `\\p{scx=${script}}`)
  .join("");
const SPACED = `[[\\p{L}\\p{M}\\p{N}]--[${UNSPACED}]]`;
const BEGINS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "v");
const ENDS_UNSPACED = new RegExp(`[${UNSPACED}]$`, "v");
const ENDS_SPACED = new RegExp(`${SPACED}$`, "v");
const BEGINS_SPACED = new RegExp(`^${SPACED}`, "v");
/** Longer than any part of a mail address. */
const ADDRESS_UNITS = 66;
/** A handle, a hashtag or a mail address goes on: what looks like a name is a part of it. */
const IN_WORD_BEFORE = new RegExp(`${SPACED}_+$|${SPACED}@[${SPACED}.\\-]*$`, "v");
const IN_WORD_AFTER = new RegExp(`^_+${SPACED}|^[${SPACED}._%+\\-]*@${SPACED}`, "v");
const WEB_ADDRESS = new RegExp(`(?:://|(?<!${SPACED})WWW\\.)[\\S--[${UNSPACED}]]*`, "gv");
/** It changes the letter before it. */
const BEGINS_WITH_MARK = /^\p{M}/u;

/** Whether the bot answers in this room only when it is meant: by topic, thread or Discord thread id, by chat id, by "*", by the channel. */
export function needsMention(at: Address, { groups, requireMention }: ChannelConfig): boolean {
  const listed = Object.entries(groups).map(([name, group]) => [writtenId(at.channel, name), group] as const);
  const settings = [...roomNames(at), "*"].map(
    (name) => listed.find(([listedName]) => listedName === name)?.[1].requireMention,
  );
  return settings.find((setting) => setting !== undefined) ?? requireMention;
}

/** Whether one of the names stands in the text as a word or words of its own, in whichever case and script. Linear in the text. */
export function isNamed(text: string, names: readonly string[]): boolean {
  if (names.length === 0) return false;
  const said = comparable(text).replace(WEB_ADDRESS, " . ");
  return names.some((name) => stands(comparable(name), said));
}

/** As bindings name rooms, from the inside out. */
function roomNames({ chatType, chatId, threadId }: Address): readonly string[] {
  if (threadId === undefined) return [chatId];
  const inner = `${chatId}:${chatType === "group" ? "topic" : "thread"}:${threadId}`;
  return [inner, ...(chatType === "channel" ? [threadId] : []), chatId];
}

function stands(name: string, text: string): boolean {
  if (name === "") return false;
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const end = at + name.length;
    const before = text.slice(Math.max(0, at - ADDRESS_UNITS), at);
    if (mayBegin(name, before) && mayEnd(name, text.slice(end, end + ADDRESS_UNITS))) return true;
  }
  return false;
}

function mayBegin(name: string, before: string): boolean {
  if (IN_WORD_BEFORE.test(before)) return false;
  return BEGINS_UNSPACED.test(name) || !ENDS_SPACED.test(before);
}

function mayEnd(name: string, after: string): boolean {
  if (BEGINS_WITH_MARK.test(after) || IN_WORD_AFTER.test(after)) return false;
  return ENDS_UNSPACED.test(name) || !BEGINS_SPACED.test(after);
}

function comparable(text: string): string {
  return cleanLine(text.normalize("NFKC")).toUpperCase();
}
