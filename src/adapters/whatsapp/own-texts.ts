import { LRUCache } from "lru-cache";

const MOST_REMEMBERED = 200;
/** An echo comes at once; what is typed later are the owner's words, though they be the same. */
const ECHO_WITHIN_MS = 60_000;

/** What the bot wrote in the account's chat with itself, so that it never takes its own words for the owner's. */
export interface OwnTexts {
  /** To be called before the text leaves: its echo may be faster than the send. */
  add(id: string, text: string): void;
  /** By id, or for a while by text: an echo can come back under another id. Each text excuses one echo. */
  isOwn(id: string, text: string): boolean;
}

export function createOwnTexts(clock: { now(): number } = performance): OwnTexts {
  const ids = new LRUCache<string, true>({ max: MOST_REMEMBERED });
  /** What has not come back yet, by id. */
  const awaited = new LRUCache<string, string>({
    max: MOST_REMEMBERED,
    ttl: ECHO_WITHIN_MS,
    // Otherwise a reading of the clock is kept for as long as a real timer runs.
    ttlResolution: 0,
    perf: clock,
  });
  const awaitedAs = (text: string) => [...awaited.entries()].find(([, sent]) => sent === text);

  return {
    add(id, text) {
      ids.set(id, true);
      awaited.set(id, text.trim());
    },
    isOwn(id, text) {
      const [sentId] = ids.has(id) ? [id] : (awaitedAs(text.trim()) ?? []);
      if (sentId === undefined) return false;
      ids.set(id, true);
      awaited.delete(sentId);
      return true;
    },
  };
}
