import { LRUCache } from "lru-cache";

const MOST_REMEMBERED = 200;

/** What the bot wrote in the account's chat with itself, so that it never takes its own words for the owner's. */
export interface OwnTexts {
  /** To be called before the text leaves: its echo may be faster than the send. */
  add(id: string, text: string): void;
  /** By id, or by text: an echo can come back under another id. Each text excuses one other id. */
  isOwn(id: string, text: string): boolean;
}

export function createOwnTexts(): OwnTexts {
  const ids = new LRUCache<string, true>({ max: MOST_REMEMBERED });
  const texts = new LRUCache<string, true>({ max: MOST_REMEMBERED });
  return {
    add(id, text) {
      ids.set(id, true);
      texts.set(text.trim(), true);
    },
    isOwn(id, text) {
      if (ids.has(id)) return true;
      if (!texts.delete(text.trim())) return false;
      ids.set(id, true);
      return true;
    },
  };
}
