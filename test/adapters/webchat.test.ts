import { describe, expect, it } from "vitest";
import {
  type WebchatInbound,
  type WebchatMessage,
  type WebchatOptions,
  webchatAdapter,
} from "../../src/adapters/webchat/index.ts";
import { renderWebchat } from "../../src/adapters/webchat/outbound.ts";
import { deliveryFailed, deliveryFailureOf, SwitchboardError } from "../../src/core/errors.ts";
import {
  type AdapterHarness,
  type Author,
  type Breakage,
  RecordingHost,
} from "../contracts/adapter-harness.ts";
import { channelAdapterContract } from "../contracts/channel-adapter.contract.ts";
import { aBoard } from "../fakes/a-board.ts";
import { limitsInHand } from "../fakes/limits-in-hand.ts";

channelAdapterContract("webchat", makeHarness, { rateLimit: "reported" });

const ANN = { id: "ann", name: "Ann" };

describe("webchat: a channel for web pages", () => {
  it("CHAN-1: what the page has shown once is shown once: a repeated post has the id of the first", async () => {
    const page = aPage();
    page.fail(new Error("the socket closed"));
    await page.adapter.start(new RecordingHost());
    const message = { deliveryId: "d-1", markdown: "hello" };
    const signal = new AbortController().signal;
    await expect(page.adapter.send(page.room, message, signal)).rejects.toMatchObject({
      details: { retryable: true, uncertain: true, partsSent: 0 },
    });
    await page.adapter.send(page.room, message, signal);
    await page.adapter.send(page.room, message, signal);
    expect(new Set(page.posted.map(({ id }) => id)).size).toBe(1);
  });

  it("CHAN-1: a short text arrives as it was written, tables too; buttons hang on the last part", async () => {
    const page = aPage({ maxTextLength: 80 });
    const choices = [{ label: "Off", command: "/send off" }];
    const table = "| a | b |\n|---|---|\n| 1 | 2 |";
    const send = (markdown: string) =>
      page.adapter.send(page.room, { deliveryId: markdown, markdown, choices }, new AbortController().signal);
    await send(table);
    expect(page.posted).toEqual([
      { id: expect.any(String), chatId: "room", chatType: "group", markdown: table, choices },
    ]);
    await send("word ".repeat(40));
    expect(page.posted.slice(1).map((one) => one.choices)).toEqual([undefined, undefined, choices]);
  });

  it("CHAN-1: long code with fences in it stays code in every part", () => {
    const parts = renderWebchat(`\`\`\`\`md\n${"```ts\nlet x = 1;\n```\n".repeat(20)}\`\`\`\``, 100);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect(part).toMatch(/^`{6}(md)?\n[\s\S]*\n`{6}$/);
  });

  it("CHAN-1: code cannot end the fence around it, however many backticks it holds", () => {
    const inner = "``````\n![pixel](https://evil.example/p.png)\n``````````\n";
    const parts = renderWebchat(`~~~~\n${inner.repeat(6)}~~~~`, 120);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect(part.match(/^`{3,}/gm)).toHaveLength(2);
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("no socket");
      },
    ],
    [
      "rejects with an error of ours that tells nothing of a delivery",
      () => Promise.reject(new SwitchboardError("CLOSED", "x")),
    ],
    ["returns no promise and no answer", () => undefined],
    ["answers what it may not", () => Promise.resolve("sent")],
  ])("CHAN-1 M02: a post that %s is tried again", async (_, post) => {
    // As a host without types writes it.
    const page = aPage({ post: post as WebchatOptions["post"] });
    const sending = page.adapter.send(
      page.room,
      { deliveryId: "d", markdown: "hi" },
      new AbortController().signal,
    );
    expect(await sending.catch(deliveryFailureOf)).toEqual({
      retryable: true,
      partsSent: 0,
      uncertain: true,
    });
  });

  it("CHAN-1 DELIV-1: what a post says of its one message does not move the count of parts", async () => {
    const page = aPage({ maxTextLength: 80 });
    page.fail(deliveryFailed("Later.", { retryable: true, retryAfterMs: 1500, partsSent: 0 }), {
      afterPosts: 1,
    });
    const message = { deliveryId: "d", markdown: "word ".repeat(40) };
    const sending = page.adapter.send(page.room, message, new AbortController().signal);
    expect(await sending.catch(deliveryFailureOf)).toEqual({
      retryable: true,
      retryAfterMs: 1500,
      partsSent: 1,
    });
  });

  it("CHAN-1 M02: a post that stays silent for half a minute counts as not reached", async () => {
    const limits = limitsInHand();
    const page = aPage({ post: () => new Promise(() => {}) });
    const sending = page.adapter.send(
      page.room,
      { deliveryId: "d", markdown: "hi" },
      new AbortController().signal,
    );
    limits.pass(30_000);
    expect(await sending.catch(deliveryFailureOf)).toEqual({
      retryable: true,
      partsSent: 0,
      uncertain: true,
    });
  });

  it("CHAN-1 I09: a body with more in it than the type makes nobody an owner and nothing a quotation", async () => {
    const page = aPage();
    const host = new RecordingHost();
    await page.adapter.start(host);
    const sender = { id: "mallory", altIds: ["ann"], roleIds: ["admin"], anonymous: false };
    const more = { from: { channel: "discord" }, replay: true, quoted: { text: "q" }, guildId: "g" };
    // A body is parsed JSON, whatever its type says.
    await page.adapter.receive({ id: "1", chatId: "c", text: "x", sender, ...more } as WebchatInbound);
    expect(host.messages).toEqual([
      {
        id: "1",
        from: { channel: "webchat", accountId: "default", chatType: "direct", chatId: "c" },
        sender: { id: "mallory", isBot: false },
        text: "x",
        addressed: true,
        sentAtMs: expect.any(Number),
      },
    ]);
  });

  it.each<[string, unknown]>([
    ["no object", "hello"],
    ["nothing", undefined],
    ["no sender", { id: "1", chatId: "c", text: "x" }],
    ["a number for an id", { id: 1, chatId: "c", text: "x", sender: ANN }],
    ["an empty chat", { id: "1", chatId: "", text: "x", sender: ANN }],
    ["an unknown kind of chat", { id: "1", chatId: "c", chatType: "room", text: "x", sender: ANN }],
    ["no time", { id: "1", chatId: "c", text: "x", sender: ANN, sentAtMs: Number.NaN }],
  ])(
    "CHAN-1 N05: %s is no message: ignored, the log says why, and the next one is taken",
    async (_, garbage) => {
      const page = aPage();
      const host = new RecordingHost();
      await page.adapter.start(host);
      expect(await page.adapter.receive(garbage as WebchatInbound)).toBe("ignored");
      expect(host.log).toMatchObject([{ level: "error", details: { problem: expect.stringMatching(/./) } }]);
      expect(await page.adapter.receive({ id: "1", chatId: "c", text: "x", sender: ANN })).toBe("run");
    },
  );

  it("CHAN-1 N05: before start and after stop a message is not taken, and the server may hand it over again", async () => {
    const page = aPage();
    const say = (id: string) => page.adapter.receive({ id, chatId: "c", sender: ANN, text: "hello" });
    expect(await say("1")).toBe("failed");
    await page.adapter.start(new RecordingHost());
    expect(await say("1")).toBe("run");
    await page.adapter.stop();
    expect(await say("2")).toBe("failed");
  });

  it("CHAN-1 DELIV-1: on a board: a person asks, the answer waits while the page is away, and a tap is a command", async () => {
    const page = aPage();
    const board = await aBoard({
      adapters: [page.adapter],
      agents: { main: ({ text }) => `You said: ${text}` },
      owners: { webchat: [ANN.id] },
    });
    page.fail(new Error("no socket"));
    const say = (id: string, text: string) => page.adapter.receive({ id, chatId: "c-1", sender: ANN, text });
    expect(await say("1", "hello")).toBe("run");
    expect(await say("1", "hello")).toBe("duplicate");
    await board.quiet();
    expect(page.posted).toEqual([]);
    page.adapter.reachable();
    await board.quiet();
    expect(page.posted).toMatchObject([{ chatId: "c-1", markdown: expect.stringMatching(/^You said: /) }]);
    expect(await say("2", "/send off")).toBe("command");
    await board.quiet();
    expect(page.posted[1]).toMatchObject({ replyToId: "2", markdown: expect.stringMatching(/off|stop/i) });
  });
});

/** A web server's side: what its pages show, and how it fails. */
function aPage(options: Partial<WebchatOptions> = {}) {
  const posted: WebchatMessage[] = [];
  let hangsNext = false;
  const faults: { error: Error | "gone"; afterPosts: number; isStored: boolean }[] = [];
  const adapter = webchatAdapter({
    async post(message) {
      if (hangsNext) {
        hangsNext = false;
        return new Promise(() => {});
      }
      const fault = faults[0];
      if (fault !== undefined && fault.afterPosts-- === 0) {
        faults.shift();
        if (fault.isStored) show(message);
        if (fault.error === "gone") return "gone";
        throw fault.error;
      }
      show(message);
      return "posted";
    },
    ...options,
  });
  /** As every page has to: each id once. */
  function show(message: WebchatMessage): void {
    if (!posted.some(({ id }) => id === message.id)) posted.push(message);
  }
  return {
    adapter,
    posted: posted as readonly WebchatMessage[],
    room: { channel: "webchat", accountId: "default", chatType: "group", chatId: "room" } as const,
    hang() {
      hangsNext = true;
    },
    fail(error: Error | "gone", { afterPosts = 0, isStored = false } = {}) {
      faults.push({ error, afterPosts, isStored });
    },
  };
}

async function makeHarness(): Promise<AdapterHarness> {
  const page = aPage({ maxTextLength: 2000 });
  let count = 0;
  const faults: Record<Breakage, () => Parameters<typeof page.fail>> = {
    permanent: () => ["gone"],
    transient: () => [new Error("no socket")],
    rateLimit: () => [
      deliveryFailed("The page asks for a pause.", { retryable: true, retryAfterMs: 1500, partsSent: 0 }),
    ],
    drop: () => [new Error("the socket closed"), { isStored: true }],
  };
  const authors: Record<Author, { readonly id: string; readonly isBot?: boolean }> = {
    person: ANN,
    bot: { id: "bot" },
    otherBot: { id: "crawler", isBot: true },
  };
  return {
    adapter: page.adapter,
    chat: page.room,
    otherChat: { ...page.room, chatId: "room-2" },
    thread: { ...page.room, threadId: "thread-1" },
    mentionBait: "@everyone",
    sent: () => page.posted.map(({ markdown, ...place }) => ({ ...place, text: markdown, pings: [] })),
    async platformSays(author, text, at = page.room) {
      const { chatId, chatType, threadId } = at;
      const place = threadId === undefined ? { chatId, chatType } : { chatId, chatType, threadId };
      count += 1;
      await page.adapter.receive({ ...place, id: `m-${count}`, sender: authors[author], text });
    },
    hangNextSend: page.hang,
    breakNextSend(kind, afterPosts = 0) {
      const [error, fault] = faults[kind]();
      page.fail(error, { ...fault, afterPosts });
    },
    // Nothing is registered anywhere: the page calls us.
    listeners: () => 0,
    close: async () => undefined,
  };
}
