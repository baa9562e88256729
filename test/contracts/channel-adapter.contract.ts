import { describe, expect, it } from "vitest";
import { deliveryFailureOf, SwitchboardError } from "../../src/core/errors.ts";
import type { Address, DeliveryReceipt, OutboundMessage } from "../../src/core/ports/chat.ts";
import { type AdapterHarness, type AdapterTraits, RecordingHost } from "./adapter-harness.ts";

/** One promise of a channel adapter. `run` rejects when an adapter breaks it. */
export interface Sentence {
  readonly title: string;
  /** Why it does not apply here, if it does not. */
  skipped?(harness: AdapterHarness, traits: AdapterTraits): string | undefined;
  run(harness: AdapterHarness, traits: AdapterTraits): Promise<void>;
}

/** Holds one platform's adapter to the contract of `ChannelAdapter`; every sentence gets a fresh harness. */
export function channelAdapterContract(
  name: string,
  makeHarness: () => Promise<AdapterHarness>,
  traits: AdapterTraits,
): void {
  describe(`${name}: what every channel adapter promises`, () => {
    for (const sentence of channelAdapterSentences) {
      it(sentence.title, async ({ skip }) => {
        const harness = await makeHarness();
        try {
          const reason = sentence.skipped?.(harness, traits);
          if (reason) skip(reason);
          await sentence.run(harness, traits);
        } finally {
          await harness.adapter.stop();
          await harness.close();
        }
      });
    }
  });
}

const inbound: readonly Sentence[] = [
  {
    title: "DISC-1 TG-1 WA-1: a person's text is handed over once, with its place and its author",
    async run(harness) {
      const host = await started(harness);
      await harness.platformSays("person", "is anyone there?");
      await harness.platformSays("person", "still there?");
      expect(await host.texts(2)).toEqual(["is anyone there?", "still there?"]);
      const [first, second] = host.messages;
      expect(first?.from).toEqual(harness.chat);
      expect(first?.sender).toMatchObject({ isBot: false, id: expect.stringMatching(/./) });
      expect(first?.sender.id).toBe(second?.sender.id);
      expect(first?.id).not.toBe(second?.id);
    },
  },
  {
    title: "DISC-1 TG-1 WA-1 I08: one chat has one address, another chat another one",
    async run(harness) {
      const host = await started(harness);
      const places = [
        harness.chat,
        harness.otherChat,
        harness.chat,
        ...(harness.thread ? [harness.thread] : []),
      ];
      for (const [number, place] of places.entries())
        await harness.platformSays("person", `text ${number}`, place);
      await host.texts(places.length);
      expect(host.messages.map((message) => message.from)).toEqual(places);
    },
  },
  {
    title: "DISC-1 TG-1 WA-1: the time of a message is the platform's, in milliseconds",
    async run(harness) {
      const host = await started(harness);
      await harness.platformSays("person", "what time is it?");
      await host.texts(1);
      const agoMs = Date.now() - (host.messages[0]?.sentAtMs ?? 0);
      expect(Math.abs(agoMs)).toBeLessThan(60_000);
    },
  },
  {
    title: "DISC-1 TG-1 WA-1 N09: what the bot itself writes is never handed over",
    async run(harness) {
      const host = await started(harness);
      await harness.platformSays("bot", "my own words");
      await send(harness, "an answer");
      await harness.platformSays("person", "a person's words");
      expect(await host.texts(1)).toEqual(["a person's words"]);
    },
  },
  {
    title: "DISC-1 TG-1 WA-1 N09: another bot's words are never taken for a person's",
    async run(harness) {
      const host = await started(harness);
      await harness.platformSays("otherBot", "beep");
      await harness.platformSays("person", "hello");
      await host.until(() => host.messages.some(({ text }) => text === "hello"), "the person was heard");
      const people = host.messages.filter(({ sender }) => !sender.isBot);
      expect(people.map(({ text }) => text)).toEqual(["hello"]);
    },
  },
  {
    title:
      "DISC-1 TG-1 WA-1: messages of one chat are handed over in their order, one at a time, although the host is slow",
    async run(harness) {
      const host = await started(harness);
      const running: string[] = [];
      let most = 0;
      host.answer = async ({ text }) => {
        running.push(text);
        most = Math.max(most, running.length);
        await turns(text === "1" ? 40 : 4);
        running.splice(running.indexOf(text), 1);
        return "run" as const;
      };
      const said = ["1", "2", "3", "4", "5"].map((text) => harness.platformSays("person", text));
      await Promise.all(said);
      expect(await host.texts(5)).toEqual(["1", "2", "3", "4", "5"]);
      expect(most).toBe(1);
    },
  },
  {
    title: "DISC-1 TG-1 WA-1 N05: a host that fails on one message still gets the next",
    async run(harness) {
      const host = await started(harness);
      host.answer = ({ text }) => {
        if (text === "first") throw new Error("planted failure of the host");
        return "run";
      };
      await harness.platformSays("person", "first");
      await harness.platformSays("person", "second");
      expect(await host.texts(2)).toEqual(["first", "second"]);
    },
  },
  {
    title: "DISC-1 TG-1 WA-1: a file without words is a message, with what can be known of the file",
    skipped: ({ person }) => (person?.attaches ? undefined : "not played here"),
    async run(harness) {
      const host = await started(harness);
      const attachment = await harness.person?.attaches?.();
      expect(await host.texts(1)).toEqual([""]);
      expect(host.messages[0]?.attachments).toEqual([attachment]);
    },
  },
  {
    title: "DISC-1 TG-1 WA-1: what a reply answers is quoted, and is not the sender's own text",
    skipped: ({ person }) => (person?.replies ? undefined : "not played here"),
    async run(harness) {
      const host = await started(harness);
      await harness.person?.replies?.("me too", "I like it");
      expect(await host.texts(2)).toEqual(["I like it", "me too"]);
      const [original, reply] = host.messages;
      expect(reply).toMatchObject({
        replyToId: original?.id,
        quoted: { text: "I like it", forwarded: false },
      });
    },
  },
  {
    title: "DISC-1 TG-1 WA-1: what is forwarded is somebody else's text from its first word to its last",
    skipped: ({ person }) => (person?.forwards ? undefined : "not played here"),
    async run(harness) {
      const host = await started(harness);
      await harness.person?.forwards?.("/send off");
      expect(await host.texts(1)).toEqual([""]);
      expect(host.messages[0]?.quoted).toMatchObject({ text: "/send off", forwarded: true });
    },
  },
  {
    title: "DISC-1 TG-1 WA-1: an edit is told as a change of the message, and is no second message",
    skipped: ({ person }) => (person?.edits ? undefined : "not played here"),
    async run(harness) {
      const host = await started(harness);
      await harness.person?.edits?.("helo", "hello");
      await harness.platformSays("person", "end");
      await host.until(() => host.changes.length > 0 && host.messages.length > 1, "both were told");
      const { id, from } = host.messages[0] ?? {};
      expect(host.messages.map(({ text }) => text).slice(1)).toEqual(["end"]);
      expect(host.changes).toEqual([{ id, from, change: "edited", text: "hello" }]);
    },
  },
  {
    title: "DISC-1 TG-1 WA-1: a removal is told as a change of the message",
    skipped: ({ person }) => (person?.removes ? undefined : "not played here"),
    async run(harness) {
      const host = await started(harness);
      await harness.person?.removes?.("a slip");
      await host.until(() => host.changes.length > 0, "it was told");
      const { id, from } = host.messages[0] ?? {};
      expect(host.changes).toEqual([{ id, from, change: "deleted" }]);
    },
  },
  {
    title: "I09: of two accounts each hands over under its own id, and one that stops leaves the other alone",
    skipped: ({ otherAccount }) => (otherAccount ? undefined : "not played here"),
    async run(harness) {
      const second = await harness.otherAccount?.();
      if (!second) throw new Error("The harness has no other account.");
      const hosts = [await started(harness), await started(second)];
      await second.platformSays("person", "hello");
      await Promise.all(hosts.map((host) => host.texts(1)));
      const heard = hosts.map(({ messages }) => messages[0]?.from.accountId);
      expect(heard).toEqual([harness.adapter.accountId, second.adapter.accountId]);
      expect(new Set(heard).size).toBe(2);
      await harness.adapter.stop();
      await second.platformSays("person", "still there?");
      expect(await hosts[1]?.texts(2)).toEqual(["hello", "still there?"]);
      await second.adapter.stop();
    },
  },
];

const lifeCycle: readonly Sentence[] = [
  {
    title: "DISC-1 TG-1 WA-1: before start nothing is handed over",
    async run(harness) {
      await harness.platformSays("person", "too early");
      const host = await started(harness);
      await harness.platformSays("person", "in time");
      expect(await host.texts(1)).toEqual(["in time"]);
    },
  },
  {
    title:
      "DISC-1 TG-1 WA-1: after stop nothing is handed over, the bot stays connected, and a second stop does nothing",
    async run(harness) {
      const host = await started(harness);
      await harness.platformSays("person", "before");
      await host.texts(1);
      await harness.adapter.stop();
      await harness.platformSays("person", "after");
      await harness.adapter.stop();
      await harness.platformSays("person", "long after");
      expect(host.messages.map(({ text }) => text)).toEqual(["before"]);
    },
  },
  {
    title:
      "DISC-1 TG-1 WA-1: stop during a hand-over waits for it and for what had arrived, and the host is not called once stop has resolved",
    async run(harness, { hearsAhead }) {
      const host = await started(harness);
      const release = host.hold();
      const said = ["1", "2", "3"].map((text) => harness.platformSays("person", text));
      await host.texts(1);
      if (hearsAhead) await Promise.all(said);
      let acceptedAtStop = -1;
      let callsAtStop = -1;
      const stopped = harness.adapter.stop().then(() => {
        acceptedAtStop = host.accepted;
        callsAtStop = host.messages.length;
      });
      await turns(5);
      release();
      await Promise.all([stopped, ...said]);
      expect(host.messages[0]?.text).toBe("1");
      if (hearsAhead) expect(host.messages.map(({ text }) => text)).toEqual(["1", "2", "3"]);
      expect(acceptedAtStop).toBe(callsAtStop);
      expect(host.messages).toHaveLength(callsAtStop);
    },
  },
  {
    title: "DISC-1 TG-1 WA-1: stop leaves nothing behind on the host's client",
    async run(harness) {
      const before = harness.listeners();
      await started(harness);
      await harness.adapter.stop();
      expect(harness.listeners()).toBe(before);
    },
  },
  {
    title: "DISC-1 TG-1 WA-1: a second start hands nothing over twice",
    async run(harness) {
      const host = await started(harness);
      await harness.adapter.start(host).catch(() => "refusing is fine too");
      await harness.platformSays("person", "once");
      await harness.platformSays("person", "end");
      await host.until(() => host.messages.some(({ text }) => text === "end"), "the end was heard");
      expect(host.messages.map(({ text }) => text)).toEqual(["once", "end"]);
    },
  },
  {
    title:
      "DISC-1 TG-1 WA-1: a new adapter takes over on the same client: it hears each message once, the old one none",
    skipped: ({ restarted }) => (restarted ? undefined : "not played here"),
    async run(harness) {
      const old = await started(harness);
      await harness.platformSays("person", "before");
      await old.texts(1);
      const during = harness.listeners();
      await harness.adapter.stop();
      const next = harness.restarted?.();
      const host = new RecordingHost();
      await next?.start(host);
      await harness.platformSays("person", "after");
      expect(await host.texts(1)).toEqual(["after"]);
      expect(harness.listeners()).toBe(during);
      expect(old.messages).toHaveLength(1);
      await next?.stop();
    },
  },
];

const outbound: readonly Sentence[] = [
  {
    title: "DISC-2 TG-2 WA-2: a text arrives once, in its chat only, and the receipt names the message",
    async run(harness) {
      await started(harness);
      const receipt = await send(harness, "good morning");
      expect(harness.sent().map(({ chatId, text }) => ({ chatId, text: text.trim() }))).toEqual([
        { chatId: harness.chat.chatId, text: "good morning" },
      ]);
      expect(receipt.messageIds).toEqual([expect.stringMatching(/./)]);
    },
  },
  {
    title: "B02: a text for a thread arrives in that thread",
    skipped: (harness) => (harness.thread ? undefined : "the platform has no threads"),
    async run(harness) {
      await started(harness);
      await send(harness, "in the thread", {}, harness.thread);
      expect(harness.sent()).toHaveLength(1);
      expect(harness.sent()[0]).toMatchObject({ threadId: harness.thread?.threadId });
    },
  },
  {
    title: "L04: a long text arrives whole and in order, down to its last word",
    async run(harness) {
      await started(harness);
      const words = longText(harness).split(/\s+/);
      const receipt = await send(harness, words.join(" "));
      expect(wordsSent(harness)).toEqual(words);
      expect(harness.sent().length).toBeGreaterThan(2);
      expect(new Set(receipt.messageIds).size).toBe(harness.sent().length);
    },
  },
  {
    title: "L02: no part is empty or longer than maxTextLength",
    async run(harness) {
      await started(harness);
      const { maxTextLength } = harness.adapter;
      const wall = "x".repeat(maxTextLength + 1);
      await send(harness, `${longText(harness)}\n\n${wall}\n\n**${"<&> ".repeat(maxTextLength / 4)}**`);
      const lengths = harness.sent().map(({ text }) => text.length);
      expect(Math.max(...lengths)).toBeLessThanOrEqual(maxTextLength);
      expect(Math.min(...harness.sent().map(({ text }) => text.trim().length))).toBeGreaterThan(0);
      expect(textSent(harness).replaceAll(/[^x]/g, "")).toBe(wall);
    },
  },
  {
    title: "L01: every line of a long code block arrives once and in order, text around it too",
    async run(harness) {
      await started(harness);
      const count = Math.ceil((harness.adapter.maxTextLength * 2.5) / 24);
      const lines = Array.from({ length: count }, (_, index) => `const value_${index} = ${index};`);
      await send(harness, ["Before.", "```ts", ...lines, "```", "After."].join("\n"));
      expect(textSent(harness).match(/const value_\d+ = \d+;/g)).toEqual(lines);
      expect(textSent(harness).trim()).toMatch(/^Before\.[\s\S]*After\.$/);
    },
  },
  {
    title: "L05: emoji at every cut point stay whole",
    async run(harness) {
      await started(harness);
      const family = "👩‍👩‍👧‍👦";
      const count = Math.ceil((harness.adapter.maxTextLength * 1.3) / family.length);
      for (const shift of [0, 1, 2, 5]) await send(harness, "a".repeat(shift) + family.repeat(count));
      expect(harness.sent().some(({ text }) => /\p{Surrogate}/u.test(text))).toBe(false);
      expect(textSent(harness).split(family)).toHaveLength(4 * count + 1);
    },
  },
  {
    title: "L04: a text of white space sends nothing and says so",
    async run(harness) {
      await started(harness);
      for (const markdown of ["", "  \n\t\n "])
        expect((await send(harness, markdown)).messageIds).toEqual([]);
      expect(harness.sent()).toEqual([]);
    },
  },
  {
    title: "K06: a text that names people notifies nobody and stays readable",
    async run(harness) {
      await started(harness);
      await send(harness, `done ${harness.mentionBait} thanks`);
      expect(harness.sent().flatMap(({ pings }) => pings)).toEqual([]);
      expect(textSent(harness)).toMatch(/^done .+ thanks\s*$/);
    },
  },
  {
    title: "DELIV-1: each part is announced before it leaves and confirmed after it was stored",
    async run(harness) {
      await started(harness);
      const steps: string[] = [];
      const confirmed: string[] = [];
      const onPart: OutboundMessage["onPart"] = async (progress) => {
        steps.push(`${progress.part} ${progress.state}, ${harness.sent().length} stored`);
        if (progress.state === "sent") confirmed.push(progress.messageId);
      };
      const { messageIds } = await send(harness, longText(harness), { onPart });
      expect(confirmed).toEqual(messageIds);
      const parts = Array.from(harness.sent().keys());
      expect(steps).toEqual(
        parts.flatMap((n) => [`${n} starting, ${n} stored`, `${n} sent, ${n + 1} stored`]),
      );
    },
  },
  {
    title:
      "L04: choices can be tapped below the last part or are left out; the text is the same with and without",
    async run(harness) {
      await started(harness);
      const choices = [
        { label: "Silence", command: "/send off" },
        { label: "Speak", command: "/send on" },
      ];
      await send(harness, longText(harness), { choices });
      const drawn = harness.sent().map((part) => part.buttons ?? []);
      expect(wordsSent(harness)).toEqual(longText(harness).split(/\s+/));
      expect(drawn.slice(0, -1).flat()).toEqual([]);
      expect([[], ["Silence", "Speak"]]).toContainEqual(drawn.at(-1));
    },
  },
];

const failures: readonly Sentence[] = [
  {
    title: "M02: what the platform refuses for good is DELIVERY_FAILED and not to be tried again",
    async run(harness) {
      await started(harness);
      harness.breakNextSend("permanent");
      expect(await failureOf(send(harness, "hello"))).toMatchObject({ retryable: false, partsSent: 0 });
      expect(harness.sent()).toEqual([]);
    },
  },
  {
    title: "M02 DELIV-1: a passing failure is DELIVERY_FAILED and may be tried again, which then works",
    async run(harness) {
      await started(harness);
      harness.breakNextSend("transient");
      const failure = await failureOf(send(harness, "hello"));
      expect(failure).toMatchObject({ retryable: true, partsSent: 0 });
      // In doubt only where a repeat would be recognised.
      expect(failure.uncertain === true && harness.adapter.repeatableForMs === 0).toBe(false);
      await send(harness, "hello");
      expect(wordsSent(harness)).toEqual(["hello"]);
    },
  },
  {
    title: "M01: a rate limit is passed on with the platform's own waiting time",
    skipped: (_, { rateLimit }) => (rateLimit === "reported" ? undefined : `rate limits here: ${rateLimit}`),
    async run(harness) {
      await started(harness);
      harness.breakNextSend("rateLimit");
      const failure = await failureOf(send(harness, "hello"));
      expect(failure).toMatchObject({ retryable: true, partsSent: 0 });
      expect(failure.retryAfterMs).toBeGreaterThan(0);
    },
  },
  {
    title: "M01: a rate limit that the client waits out ends in one message",
    skipped: (_, { rateLimit }) => (rateLimit === "waitedOut" ? undefined : `rate limits here: ${rateLimit}`),
    async run(harness) {
      await started(harness);
      harness.breakNextSend("rateLimit");
      await send(harness, "hello");
      expect(wordsSent(harness)).toEqual(["hello"]);
    },
  },
  {
    title:
      "DELIV-1: a failure in the middle tells how many parts arrived, and fromPart goes on without a double",
    async run(harness) {
      await started(harness);
      const markdown = longText(harness);
      harness.breakNextSend("transient", 1);
      const failure = await failureOf(send(harness, markdown));
      expect(failure).toMatchObject({ retryable: true, partsSent: 1 });
      expect(harness.sent()).toHaveLength(1);
      const receipt = await send(harness, markdown, { fromPart: failure.partsSent });
      expect(wordsSent(harness)).toEqual(markdown.split(/\s+/));
      expect(receipt.messageIds).toHaveLength(harness.sent().length - 1);
    },
  },
  {
    title: "DELIV-1: a resumed send that fails again counts its parts from the beginning",
    async run(harness) {
      await started(harness);
      harness.breakNextSend("transient", 1);
      await failureOf(send(harness, longText(harness)));
      harness.breakNextSend("transient", 1);
      const again = await failureOf(send(harness, longText(harness), { fromPart: 1 }));
      expect(again.partsSent).toBe(2);
      expect(harness.sent()).toHaveLength(2);
    },
  },
  {
    title: "M03: when the answer to a stored message is lost, nobody gets it twice unknowingly",
    async run(harness) {
      await started(harness);
      harness.breakNextSend("drop");
      const failed = await send(harness, "hello").then(() => undefined, deliveryFailureOf);
      const mayRepeat = failed !== undefined && failed.uncertain !== true;
      if (mayRepeat) await send(harness, "hello");
      expect(mayRepeat && harness.adapter.repeatableForMs === 0).toBe(false);
      expect(wordsSent(harness)).toEqual(["hello"]);
    },
  },
  {
    title: "DELIV-1: an aborted signal sends nothing more: before the first part, or between two parts",
    async run(harness) {
      await started(harness);
      const early = AbortSignal.abort();
      expect(await failureOf(send(harness, "never", {}, harness.chat, early))).toMatchObject({
        partsSent: 0,
      });
      const midway = new AbortController();
      const onPart: OutboundMessage["onPart"] = async ({ state }) => {
        if (state === "sent") midway.abort();
      };
      const cut = send(harness, longText(harness), { onPart }, harness.chat, midway.signal);
      expect(await failureOf(cut)).toEqual({ retryable: true, partsSent: 1 });
      expect(harness.sent()).toHaveLength(1);
    },
  },
  {
    title: "DELIV-1: an aborted signal ends a send that hangs",
    skipped: ({ hangNextSend }) => (hangNextSend ? undefined : "not played here"),
    async run(harness) {
      await started(harness);
      harness.hangNextSend?.();
      const stopped = new AbortController();
      const onPart: OutboundMessage["onPart"] = async () => {
        void turns(10).then(() => stopped.abort());
      };
      const hanging = send(harness, "hello", { onPart }, harness.chat, stopped.signal);
      expect(await failureOf(hanging)).toMatchObject({ retryable: true, partsSent: 0 });
    },
  },
];

/** Every promise, in reading order. */
export const channelAdapterSentences: readonly Sentence[] = [
  ...inbound,
  ...lifeCycle,
  ...outbound,
  ...failures,
];

async function started(harness: AdapterHarness): Promise<RecordingHost> {
  const host = new RecordingHost();
  await harness.adapter.start(host);
  return host;
}

/** The same text is the same delivery, as when the core tries again. */
function send(
  harness: AdapterHarness,
  markdown: string,
  more: Partial<OutboundMessage> = {},
  to: Address = harness.chat,
  signal: AbortSignal = new AbortController().signal,
): Promise<DeliveryReceipt> {
  const deliveryId = `delivery-${markdown.length}-${markdown.slice(0, 20)}`;
  return harness.adapter.send(to, { deliveryId, markdown, ...more }, signal);
}

async function failureOf(sending: Promise<unknown>) {
  const error: unknown = await sending.then(
    () => new Error("the send worked"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SwitchboardError);
  expect(error).toMatchObject({ code: "DELIVERY_FAILED" });
  return deliveryFailureOf(error);
}

/** About two and a half messages of plain words, each of them different. */
function longText({ adapter }: AdapterHarness): string {
  const count = Math.ceil((adapter.maxTextLength * 2.5) / 10);
  return Array.from({ length: count }, (_, index) => `word${String(index).padStart(5, "0")}`).join(" ");
}

const textSent = (harness: AdapterHarness) =>
  harness
    .sent()
    .map(({ text }) => text)
    .join("\n");

const wordsSent = (harness: AdapterHarness) => textSent(harness).trim().split(/\s+/);

/** Lets the event loop turn: a host that takes its time, without a clock. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
