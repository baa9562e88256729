import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { deliveryFailed } from "../../src/core/errors.ts";
import type { AdapterHost, Address, ChannelAdapter, OutboundMessage } from "../../src/core/ports/chat.ts";
import type { AdapterHarness, Author, Breakage, StoredText } from "./adapter-harness.ts";
import {
  channelAdapterContract,
  channelAdapterSentences,
  type Sentence,
} from "./channel-adapter.contract.ts";

type Flaw =
  | "none"
  | "echoesTheBot"
  | "unordered"
  | "leaksAListener"
  | "dropsTheTail"
  | "ignoresStop"
  | "forgetsAtStop"
  | "takesEditsForMessages"
  | "drawsChoicesFirst"
  | "takesForwardsForWords";

interface Said {
  readonly id: string;
  readonly author: Author;
  readonly text: string;
  readonly at: Address;
  readonly is?: "edit" | "forward";
}

const TRAITS = { rateLimit: "reported", hearsAhead: true } as const;
const MAX = 120;

channelAdapterContract("in-memory adapter", async () => harnessWith("none"), TRAITS);

describe("the contract notices an adapter that", () => {
  it.each([
    ["echoes the bot", "echoesTheBot", "what the bot itself writes is never handed over"],
    ["is unordered", "unordered", "messages of one chat are handed over in their order"],
    ["leaks a listener", "leaksAListener", "stop leaves nothing behind"],
    ["drops the tail of a long text", "dropsTheTail", "a long text arrives whole and in order"],
    ["ignores stop", "ignoresStop", "after stop nothing is handed over"],
    ["forgets at stop what had arrived", "forgetsAtStop", "stop during a hand-over waits for it"],
    ["takes an edit for a message", "takesEditsForMessages", "an edit is told as a change"],
    [
      "takes forwarded words for the sender's",
      "takesForwardsForWords",
      "what is forwarded is somebody else's text",
    ],
    ["draws choices too early", "drawsChoicesFirst", "choices can be tapped below the last part"],
  ] as const)("DISC-1 TG-1 WA-1: %s", async (_, flaw, promise) => {
    const broken = await Promise.all(channelAdapterSentences.map((sentence) => isBroken(sentence, flaw)));
    const titles = channelAdapterSentences.filter((_, index) => broken[index]).map(({ title }) => title);
    expect(titles).toContainEqual(expect.stringContaining(promise));
    expect(titles.length).toBeLessThan(channelAdapterSentences.length / 2);
  });
});

async function isBroken(sentence: Sentence, flaw: Flaw): Promise<boolean> {
  const harness = harnessWith(flaw);
  if (sentence.skipped?.(harness, TRAITS)) return false;
  return sentence.run(harness, TRAITS).then(
    () => false,
    () => true,
  );
}

/** A chat platform that fits in a few lines; "@name" notifies people on it. */
class Platform extends EventEmitter<{ said: [Said] }> {
  readonly stored: StoredText[] = [];
  #count = 0;
  #breakage: { kind: Breakage; afterParts: number } | undefined;

  say(author: Author, text: string, at: Address, is?: "forward"): string {
    const id = String(++this.#count);
    this.emit("said", { id, author, text, at, ...(is ? { is } : {}) });
    return id;
  }

  edit(id: string, text: string, at: Address): void {
    this.emit("said", { id, author: "person", text, at, is: "edit" });
  }

  breakNext(kind: Breakage, afterParts: number): void {
    this.#breakage = { kind, afterParts };
  }

  store(at: Address, text: string, buttons: readonly string[]): string {
    const broken = this.#breakage && this.#breakage.afterParts-- === 0 ? this.#breakage.kind : undefined;
    if (broken) this.#breakage = undefined;
    if (broken && broken !== "drop") throw new PlatformError(broken);
    const pings = text.match(/@\w+/g) ?? [];
    this.stored.push({
      chatId: at.chatId,
      text,
      pings,
      buttons,
      ...(at.threadId ? { threadId: at.threadId } : {}),
    });
    if (broken) throw new PlatformError(broken);
    this.say("bot", text, at);
    return String(this.#count);
  }
}

class PlatformError extends Error {
  readonly kind: Breakage;

  constructor(kind: Breakage) {
    super(`planted: ${kind}`);
    this.kind = kind;
  }
}

class MemoryAdapter implements ChannelAdapter {
  readonly channel = "memory";
  readonly accountId = "default";
  readonly maxTextLength = MAX;
  readonly repeatableForMs = 0;
  readonly #platform: Platform;
  readonly #flaw: Flaw;
  #host: AdapterHost | undefined;
  #handedOver: Promise<unknown> = Promise.resolve();

  constructor(platform: Platform, flaw: Flaw) {
    this.#platform = platform;
    this.#flaw = flaw;
  }

  async start(host: AdapterHost): Promise<void> {
    if (this.#host) return;
    this.#host = host;
    this.#platform.on("said", this.#onSaid);
  }

  async stop(): Promise<void> {
    if (this.#flaw === "ignoresStop") return;
    if (this.#flaw !== "leaksAListener") this.#platform.off("said", this.#onSaid);
    this.#host = undefined;
    await this.#handedOver;
  }

  async send(to: Address, message: OutboundMessage, signal: AbortSignal) {
    const messageIds: string[] = [];
    const parts = split(message.markdown.replaceAll("@", "@\u2060"));
    if (this.#flaw === "dropsTheTail") parts.splice(2);
    const choices = message.choices?.map(({ label }) => label) ?? [];
    const drawnAt = this.#flaw === "drawsChoicesFirst" ? 0 : parts.length - 1;
    for (const [part, text] of parts.entries()) {
      if (part < (message.fromPart ?? 0)) continue;
      if (signal.aborted) throw deliveryFailed("The send was stopped.", { retryable: true, partsSent: part });
      await message.onPart?.({ part, state: "starting" });
      try {
        messageIds.push(this.#platform.store(to, text, part === drawnAt ? choices : []));
      } catch (error) {
        throw failureOf(error, part);
      }
      await message.onPart?.({ part, state: "sent", messageId: messageIds.at(-1) ?? "" });
    }
    return { messageIds };
  }

  async #handOver(said: Said, host: AdapterHost): Promise<unknown> {
    const { id, at: from, text, is } = said;
    if (is === "edit" && this.#flaw !== "takesEditsForMessages") {
      return host.onMessageChanged({ id, from, change: "edited", text });
    }
    const message = inboundOf(said);
    if (is !== "forward" || this.#flaw === "takesForwardsForWords") return host.onMessage(message);
    return host.onMessage({ ...message, text: "", quoted: { text, forwarded: true } });
  }

  readonly #onSaid = (said: Said) => {
    const host = this.#host;
    if (!host || (said.author === "bot" && this.#flaw !== "echoesTheBot")) return;
    const handOver = async () => {
      if (this.#flaw === "forgetsAtStop" && !this.#host) return;
      await this.#handOver(said, host).catch(() => "the host's own affair");
    };
    this.#handedOver = this.#flaw === "unordered" ? handOver() : this.#handedOver.then(handOver);
  };
}

function inboundOf({ id, author, text, at }: Said) {
  const sender = { id: author, isBot: author !== "person" };
  return { id, from: at, sender, text, addressed: true, sentAtMs: Date.now() };
}

function failureOf(error: unknown, partsSent: number): unknown {
  if (!(error instanceof PlatformError)) return error;
  const { kind } = error;
  return deliveryFailed("The platform refused.", {
    retryable: kind !== "permanent",
    partsSent,
    ...(kind === "rateLimit" ? { retryAfterMs: 1500 } : {}),
    ...(kind === "drop" ? { uncertain: true } : {}),
  });
}

/** At line ends, else at blanks, else between graphemes. */
function split(text: string): string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > MAX) {
    const head = rest.slice(0, MAX + 1);
    const space = Math.max(head.lastIndexOf("\n"), head.includes("\n") ? 0 : head.lastIndexOf(" "));
    const cut = space > 0 ? space : graphemeBorder(rest);
    parts.push(rest.slice(0, cut));
    rest = rest.slice(cut).trim();
  }
  return rest ? [...parts, rest] : parts;
}

function graphemeBorder(text: string): number {
  const starts = [...new Intl.Segmenter().segment(text.slice(0, MAX * 2))].map(({ index }) => index);
  return starts.findLast((index) => index <= MAX) || MAX;
}

function harnessWith(flaw: Flaw): AdapterHarness {
  const platform = new Platform();
  const chat: Address = { channel: "memory", accountId: "default", chatType: "group", chatId: "room-1" };
  return {
    adapter: new MemoryAdapter(platform, flaw),
    chat,
    otherChat: { ...chat, chatId: "room-2" },
    thread: { ...chat, threadId: "thread-1" },
    mentionBait: "@everyone",
    sent: () => platform.stored,
    platformSays: async (author, text, at = chat) => void platform.say(author, text, at),
    person: {
      forwards: async (text) => void platform.say("person", text, chat, "forward"),
      edits: async (text, into) => platform.edit(platform.say("person", text, chat), into, chat),
    },
    restarted: () => new MemoryAdapter(platform, flaw),
    breakNextSend: (kind, afterParts = 0) => platform.breakNext(kind, afterParts),
    listeners: () => platform.listenerCount("said"),
    close: async () => undefined,
  };
}
