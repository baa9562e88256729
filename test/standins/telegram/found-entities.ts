import type { MessageEntity } from "grammy/types";

const FINDERS = [
  { type: "bot_command", pattern: /(?<=^|\s)\/[a-z0-9_]{1,64}(?:@[a-z0-9_]+)?(?![\w/])/gi },
  { type: "mention", pattern: /(?<![\w@/.])@[a-z0-9_]{3,32}\b/gi },
  { type: "url", pattern: /\bhttps?:\/\/[^\s<>"]+/gi },
] as const;

/** What Telegram itself makes clickable in any text: `/commands`, `@mentions` (they notify) and links. */
export function findEntities(text: string, taken: readonly MessageEntity[] = []): MessageEntity[] {
  const shielded = taken.filter(({ type }) => ["code", "pre", "text_link", "text_mention"].includes(type));
  const isFree = (offset: number, length: number) =>
    shielded.every((entity) => offset + length <= entity.offset || offset >= entity.offset + entity.length);
  const found = FINDERS.flatMap(({ type, pattern }) =>
    [...text.matchAll(pattern)].map((hit) => ({ type, offset: hit.index, length: hit[0].length })),
  );
  return found.filter(({ offset, length }) => isFree(offset, length)).toSorted((a, b) => a.offset - b.offset);
}
