import { setTimeout as pause } from "node:timers/promises";
import { scriptedAgent } from "../../src/agents/scripted-agent.ts";
import { deliveryRun } from "../../src/core/delivery/parcel.ts";
import { createUndelivered } from "../../src/core/delivery/undelivered.ts";
import type { Address } from "../../src/core/ports/chat.ts";
import type { SessionKey } from "../../src/core/ports/session.ts";
import { createRedactor } from "../../src/core/transcript/redact.ts";
import { createBasics } from "../../src/options.ts";
import { openStore } from "../../src/wiring.ts";
import type { CrashSetup } from "../crash/crash-setup.ts";

/** What the sender wrote down: a text is its words, each once, in order. */
export interface SentText {
  readonly id: string;
  readonly to: Address;
  readonly words: readonly string[];
}

/** A process beside the bots, on the same files, that never dies and puts texts into their queue. */
export interface Sender {
  readonly texts: readonly SentText[];
  /** Each chat's texts in order, as fast as they are taken, with a pause between every few. */
  feed(chats: readonly Address[], perChat: number, pauseMs: number): Promise<void>;
  /** Resolves when nothing waits any more. */
  drained(chats: readonly Address[]): Promise<void>;
  /** Ids of the dead letters. */
  dead(): Promise<readonly string[]>;
  /** Sends all dead letters again. */
  retryAll(): Promise<number>;
  close(): Promise<void>;
}

const LINES_OF_A_LONG_TEXT = 60;
const EVERY_SO_MANY_IS_LONG = 5;
const FILLER = "all work and no play makes a bot a dull companion, or so they say";

export async function startSender({ dataDir }: CrashSetup): Promise<Sender> {
  const agents = { main: scriptedAgent(async () => "nobody asks") };
  const options = { dataDir, agents, logger: { debug() {}, info() {}, warn() {}, error() {} } };
  const basics = createBasics(options);
  const store = await openStore(options, basics);
  const undelivered = createUndelivered({
    ...basics,
    ...store,
    // Answers to commands need no session.
    sessions: { get: async () => undefined },
    redactor: createRedactor({ registered: [] }),
  });
  const texts: SentText[] = [];

  async function send(to: Address, number: number): Promise<void> {
    const lines = number % EVERY_SO_MANY_IS_LONG === 0 ? LINES_OF_A_LONG_TEXT : 1;
    const words = Array.from({ length: lines }, (_, line) => `t${number}.${line}`);
    const id = `chaos:${to.channel}:${to.chatId}:${number}`;
    const parcel = {
      sessionKey: sessionKeyOf(to),
      to,
      markdown: words.map((word) => `${word} ${FILLER}`).join("\n"),
      kind: "command" as const,
      createdAtMs: Date.now(),
    };
    texts.push({ id, to, words });
    await store.queue.enqueue(deliveryRun(id, parcel));
  }

  return {
    texts,
    async feed(chats, perChat, pauseMs) {
      for (let number = 1; number <= perChat; number++) {
        for (const chat of chats) await send(chat, number);
        await pause(pauseMs);
      }
    },
    async drained(chats) {
      while (
        (await Promise.all(chats.map((at) => undelivered.waiting({ at })))).some(({ total }) => total > 0)
      )
        await pause(50);
    },
    async dead() {
      return (await undelivered.deadLetters()).found.map(({ id }) => id);
    },
    retryAll: async () => undelivered.retry((await undelivered.deadLetters()).found.map(({ id }) => id)),
    async close() {
      await store.engine.close();
      await store.storage.flush();
      store.database.close();
    },
  };
}

// The shape of a key of a chat; the deliveries are judged by their address.
function sessionKeyOf({ channel, chatType, chatId }: Address): SessionKey {
  return `agent:main:${channel}:${chatType}:${chatId}` as SessionKey;
}
