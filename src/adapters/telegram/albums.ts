import type { Update } from "grammy/types";
import { LRUCache } from "lru-cache";
import type { InboundMessage } from "../../core/ports/chat.ts";

const MOST_REMEMBERED = 1000;

/**
 * An album comes as one message for each of its pictures, and nothing tells which is the last. The first one is the turn, with the caption that
 * people write below an album; a later one that says nothing of its own is recorded with it and not answered. Waiting for the others instead would
 * mean to confirm messages before they are stored, or never to get the next one.
 */
export class Albums {
  readonly #firstOf = new LRUCache<string, string>({ max: MOST_REMEMBERED });

  joined(message: InboundMessage, { message: direct, channel_post: post }: Update): InboundMessage {
    const albumId = (direct ?? post)?.media_group_id;
    if (albumId === undefined) return message;
    const key = `${message.from.chatId}:${albumId}`;
    const firstId = this.#firstOf.get(key) ?? message.id;
    this.#firstOf.set(key, firstId);
    return firstId === message.id || hasWords(message) ? message : { ...message, replay: true };
  }
}

function hasWords({ text, quoted }: InboundMessage): boolean {
  return text !== "" || (quoted?.forwarded === true && quoted.text !== "");
}
