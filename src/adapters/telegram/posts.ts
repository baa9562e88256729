import { LRUCache } from "lru-cache";
import type { InboundMessage } from "../../core/ports/chat.ts";
import type { Clock } from "../../core/ports/host.ts";
import { shownBy, type TelegramPart } from "./outbound.ts";

const MOST_REMEMBERED = 5000;
/** Telegram answers within a second. Whoever asks takes no further update meanwhile. */
const WAIT_MS = 3000;

interface Sending {
  /** What people may see of it: with its markup, or without. */
  readonly shown: readonly string[];
  /** The letters of it, if people may see it as a rich message. */
  readonly letters: string | undefined;
  readonly over: Promise<unknown>;
}

/**
 * What the bot has posted. In channels a post does not say who wrote it, and Telegram may tell other bots of it before it tells its author the
 * id: whoever asks about the words that are just being sent to the same chat waits for the answer, though not for long.
 */
export class Posts {
  readonly #clock: Pick<Clock, "after">;
  readonly #ids = new LRUCache<string, true>({ max: MOST_REMEMBERED });
  readonly #underWay = new Map<string, Set<Sending>>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** Calls `send`, which resolves with the id of what it has posted. */
  async during(chatId: string, part: TelegramPart, send: () => Promise<string>): Promise<string> {
    const over = send().then((messageId) => {
      this.#ids.set(`${chatId}:${messageId}`, true);
      return messageId;
    });
    const letters = part.rich === undefined ? undefined : lettersIn(shownBy({ html: part.rich }));
    const sending = { shown: [shownBy(part), part.plain].map(gist), letters, over };
    const others = this.#underWay.get(chatId) ?? new Set();
    this.#underWay.set(chatId, others.add(sending));
    try {
      return await over;
    } finally {
      others.delete(sending);
      if (others.size === 0) this.#underWay.delete(chatId);
    }
  }

  async has({ id, from: { chatId }, text }: Pick<InboundMessage, "id" | "from" | "text">): Promise<boolean> {
    const isAlike = ({ shown, letters }: Sending) =>
      shown.includes(gist(text)) || letters === lettersIn(text);
    const alike = [...(this.#underWay.get(chatId) ?? [])].filter(isAlike);
    if (alike.length > 0) await this.#inTime(Promise.allSettled(alike.map(({ over }) => over)));
    return this.#ids.has(`${chatId}:${id}`);
  }

  #inTime(work: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(WAIT_MS, resolve);
      const over = () => {
        cancel();
        resolve();
      };
      work.then(over, over);
    });
  }
}

/** Telegram trims what it is sent, and takes some of what cannot be seen out of it. */
function gist(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, "");
}

/** The numbers of lists, the signs of checkboxes and what stands between cells are Telegram's: another bot reads them in its own way. */
function lettersIn(text: string): string {
  return text.replaceAll("[x]", "").replace(/[^\p{L}]+/gu, "");
}
