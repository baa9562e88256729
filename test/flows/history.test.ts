import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NewEntry, TranscriptEntry } from "../../src/core/ports/run.ts";
import { aBoard, aFolder, type Board, type BoardOptions, OPEN, use } from "../fakes/a-board.ts";
import { at } from "../fakes/memory-adapter.ts";
import {
  dumpOf,
  fileOf,
  leaveBehind,
  said,
  sessionIdOf,
  sessionWrite,
  storedSession,
  toolRows,
  turnWrites,
} from "../fakes/store-files.ts";

const MAIN = "agent:main:main";
const ROOM_KEY = "agent:main:telegram:group:-100";
const SEES_AGENT = { tools: { sessions: { visibility: "agent" as const } } };

interface Page {
  readonly messages: readonly TranscriptEntry[];
  readonly truncated: boolean;
  readonly droppedMessages: boolean;
  readonly contentTruncated: boolean;
  readonly contentRedacted: boolean;
  readonly bytes: number;
  readonly offset?: number;
  readonly nextOffset?: number;
  readonly hasMore?: boolean;
  readonly totalMessages?: number;
}

async function history(board: Pick<Board, "tools">, input: object = {}, caller = MAIN) {
  // An answer that is no page makes the sentence fail at its first look at `messages`.
  return (await use(board, caller, "sessions_history", {
    sessionKey: "current",
    ...input,
  })) as unknown as Page & Record<string, unknown>;
}

/** A board whose main session holds these turns. */
async function aBoardWith(turns: readonly (readonly NewEntry[])[], options: BoardOptions = {}) {
  const dataDir = aFolder();
  const main = storedSession(1, MAIN, { lastInteractionAtMs: 1 });
  await leaveBehind(dataDir, [sessionWrite(main), ...turnWrites(main, turns)]);
  const config = { session: { reset: { mode: "none" as const } }, ...options.config };
  return aBoard({ ...options, config, dataDir });
}

const textsOf = (rows: readonly TranscriptEntry[]) =>
  rows.map(({ content }) => content.map((block) => ("text" in block ? block.text : block.type)).join("|"));

describe("sessions_history: whose, and how much", () => {
  it("HIST-1: by key, main, current and session id, in any case where case says nothing", async () => {
    const board = await aBoardWith([[said("user", "hello")]]);
    for (const sessionKey of [
      MAIN,
      "Agent:Main:MAIN",
      "main",
      " Main ",
      "current",
      "CURRENT",
      sessionIdOf(1),
      sessionIdOf(1).toUpperCase(),
    ]) {
      const page = await history(board, { sessionKey });
      expect(page, sessionKey).toMatchObject({ sessionKey: "main", sessionId: sessionIdOf(1) });
      expect(textsOf(page.messages), sessionKey).toEqual(["hello"]);
    }
  });

  it.each([
    [sessionIdOf(404), "SESSION_NOT_FOUND"],
    ["agent:main:telegram:group:-404", "SESSION_NOT_FOUND"],
    ["agent:nobody:main", "SESSION_NOT_FOUND"],
    ["my-terminal", "SESSION_NOT_FOUND"],
    ["agent::x", "INPUT_INVALID"],
    ["  ", "INPUT_INVALID"],
  ])("HIST-1: %j is a clear error and makes nothing", async (sessionKey, code) => {
    const board = await aBoardWith([[said("user", "hello")]]);
    const before = dumpOf(fileOf(board.dataDir));
    const answer = await history(board, { sessionKey });
    expect(answer).toMatchObject({ status: "error", code });
    expect(String(answer.error)).toMatch(/sessions_list|sessionKey/);
    expect(dumpOf(fileOf(board.dataDir))).toBe(before);
  });

  it.each([
    [{}, "sessionKey"],
    [{ sessionKey: 7 }, "sessionKey"],
    [{ sessionKey: "main", limit: "9" }, "limit"],
    [{ sessionKey: "main", includeTools: 1 }, "includeTools"],
    [{ sessionKey: "main", offset: "0" }, "offset"],
    [{ sessionKey: "main", channel: "telegram" }, "channel"],
  ])("HIST-1: %j is an error that names the field", async (input, field) => {
    const board = await aBoardWith([]);
    const answer = await use(board, MAIN, "sessions_history", input);
    expect(answer).toMatchObject({ status: "error", code: "INPUT_INVALID" });
    expect(answer.error).toContain(field);
  });

  it.each([
    [{}, 200],
    [{ limit: 3 }, 3],
    [{ limit: 0 }, 1],
    [{ limit: -5 }, 1],
    [{ limit: 2.9 }, 2],
    [{ limit: 1e9 }, 1000],
  ])("HIST-2 G01: %j of 5,000 messages is the newest %i", async (input, count) => {
    const board = await aBoardWith(Array.from({ length: 5000 }, (_, n) => [said("user", `m${n}`)]));
    const page = await history(board, input);
    const shown = textsOf(page.messages);
    expect(shown.at(-1)).toBe("m4999");
    // 1,000 rows are more than fit: what was dropped is said.
    if (count < 1000) expect(shown).toHaveLength(count);
    else expect(page).toMatchObject({ droppedMessages: true, truncated: true });
    expect(page.bytes).toBeLessThanOrEqual(81_920);
    expect(page).not.toHaveProperty("nextOffset");
    expect(page).not.toHaveProperty("totalMessages");
  });

  it("HIST-2: tool results are shown on request; without, the call is named and its arguments are not", async () => {
    const board = await aBoardWith([
      [said("user", "look"), ...toolRows("c1", "found"), said("assistant", "done")],
    ]);
    const plain = await history(board);
    expect(plain.messages.map(({ role }) => role)).toEqual(["user", "assistant", "assistant"]);
    expect(plain.messages[1]?.content).toEqual([{ type: "toolCall", id: "c1", name: "lookup" }]);
    const full = await history(board, { includeTools: true });
    expect(full.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
    expect(full.messages[1]?.content).toMatchObject([{ arguments: { of: "c1" } }]);
    expect(full.messages[2]?.content).toMatchObject([{ type: "toolResult", id: "c1", text: "found" }]);
  });

  it("HIST-2: the limit counts what is shown, however many tool results lie between", async () => {
    const busy = Array.from({ length: 30 }, (_, n) => toolRows(`c${n}`, "r")).flat();
    const board = await aBoardWith([[said("user", "one"), ...busy, said("assistant", "two")]]);
    const page = await history(board, { limit: 32 });
    expect(page.messages).toHaveLength(32);
    expect(textsOf(page.messages)[0]).toBe("one");
  });

  it("HIST-1 STORE-1: a session that has said nothing is an empty page, not an error", async () => {
    const board = await aBoardWith([]);
    expect(await history(board, { offset: 0 })).toMatchObject({
      messages: [],
      truncated: false,
      hasMore: false,
      totalMessages: 0,
      bytes: 2,
    });
  });
});

/** Follows nextOffset to the end; `between` happens after every page. */
async function everyPage(board: Board, input: object, between: (page: number) => Promise<void>) {
  const pages: Page[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page: Page = await history(board, { ...input, offset });
    expect(page.messages, "a page").toBeInstanceOf(Array);
    expect(page.hasMore).toBe(page.nextOffset !== undefined);
    pages.unshift(page);
    offset = page.nextOffset;
    expect(pages.length, "pages come to an end").toBeLessThan(300);
    if (offset !== undefined) await between(pages.length);
  }
  return pages;
}

describe("HIST-3: paging", () => {
  const row = fc.record({
    tool: fc.boolean(),
    length: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 40 }) }, fc.constantFrom(3900, 9000)),
  });
  const turns = fc.array(fc.array(row, { maxLength: 6 }), { minLength: 1, maxLength: 30 });

  it("HIST-3: the pages together hold every message once and in order, whatever arrives meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(
        turns,
        fc.integer({ min: 1, max: 12 }),
        fc.boolean(),
        async (shape, limit, includeTools) => {
          let count = 0;
          const rows = shape.map((turn) =>
            turn.map(({ tool, length }): NewEntry => {
              count += 1;
              const text = `#${count} ${"x".repeat(length)}`;
              const result = {
                type: "toolResult",
                id: `c${count}`,
                name: "t",
                text,
                isError: false,
              } as const;
              return tool ? { role: "toolResult", content: [result], atMs: 1 } : said("user", text);
            }),
          );
          const board = await aBoardWith(rows.filter((turn) => turn.length > 0));
          const pages = await everyPage(board, { limit, includeTools }, async (page) => {
            if (page % 2 === 0) return;
            await board.telegram.says(`late ${page}`);
            await board.quiet();
          });
          const expected = rows.flat().flatMap(({ role }, index) => {
            return includeTools || role !== "toolResult" ? [index + 1] : [];
          });
          const seen = pages.flatMap(({ messages }) => messages);
          expect(seen.map(({ seq }) => seq)).toEqual(expected);
          for (const { messages } of pages) expect(messages.length).toBeLessThanOrEqual(limit);
          await board.close({ graceMs: 0 });
        },
      ),
      { numRuns: 25 },
    );
  });

  it("HIST-3: so they do where the byte cap cuts pages and some rows are too large to be shown", async () => {
    const turns = Array.from({ length: 40 }, (_, n) => {
      const words = "ж".repeat(n % 13 === 5 ? 400_000 : 3000);
      return [
        said("user", `#${n} ${words}`),
        ...toolRows(`c${n}`, "y".repeat(3000)),
        said("assistant", `a${n}`),
      ];
    });
    const board = await aBoardWith(turns);
    for (const includeTools of [false, true]) {
      const pages = await everyPage(board, { limit: 1000, includeTools }, async () => {
        await board.telegram.says("meanwhile");
        await board.quiet();
      });
      expect(pages.length).toBeGreaterThan(2);
      for (const page of pages) {
        expect(page.bytes).toBe(Buffer.byteLength(JSON.stringify(page.messages)));
        expect(page.bytes).toBeLessThanOrEqual(81_920);
      }
      const seqs = pages.flatMap(({ messages }) => messages.map(({ seq }) => seq));
      const stored = Array.from({ length: 160 }, (_, index) => index + 1);
      const expected = includeTools ? stored : stored.filter((seq) => seq % 4 !== 3);
      expect(seqs.filter((seq) => seq <= 160)).toEqual(expected);
    }
  });

  it("HIST-3: offset 0 adds the facts of paging; a plain number counts back from the newest", async () => {
    const board = await aBoardWith(Array.from({ length: 10 }, (_, n) => [said("user", `m${n}`)]));
    const first = await history(board, { limit: 4, offset: 0 });
    expect(first).toMatchObject({ offset: 0, totalMessages: 10, hasMore: true });
    expect(textsOf(first.messages)).toEqual(["m6", "m7", "m8", "m9"]);
    const third = await history(board, { limit: 2, offset: 7 });
    expect(textsOf(third.messages)).toEqual(["m1", "m2"]);
    const behind = await history(board, { limit: 2, offset: 400 });
    expect(behind).toMatchObject({ messages: [], hasMore: false, totalMessages: 10 });
    expect(behind).not.toHaveProperty("nextOffset");
  });

  it("HIST-3: a page that has nothing to show still leads on to what lies before it", async () => {
    const results = Array.from({ length: 300 }, (_, n) => toolRows(`c${n}`, "r").slice(1)).flat();
    const board = await aBoardWith([[said("user", "look")], results]);
    const first = await history(board, { limit: 5, offset: 0 });
    expect(first).toMatchObject({ messages: [], hasMore: true, totalMessages: 301 });
    const second = await history(board, { limit: 5, offset: first.nextOffset });
    expect(textsOf(second.messages)).toEqual(["look"]);
    expect(second).toMatchObject({ hasMore: false });
  });

  it("HIST-3: a page of an older session id stays with it after a reset", async () => {
    const board = await aBoardWith(Array.from({ length: 6 }, (_, n) => [said("user", `old ${n}`)]));
    const first = await history(board, { sessionKey: sessionIdOf(1), limit: 4, offset: 0 });
    await board.gateway.call("sessions.reset", { sessionKey: MAIN });
    await board.telegram.says("new");
    await board.quiet();
    const second = await history(board, { sessionKey: sessionIdOf(1), offset: first.nextOffset });
    expect(textsOf(second.messages)).toEqual(["old 0", "old 1"]);
    expect(textsOf((await history(board)).messages)).toEqual(["new", "ok"]);
  });
});

describe("sessions_history: what is shown", () => {
  const DIRTY = [
    "<think>secret plan</think>Answer.",
    "<relevant-memories>likes tea</relevant-memories>",
    'Then <tool_call>{"name":"x","arguments":{}}</tool_call>',
    '[Tool Call: search (ID: 7)]\nArguments: {"q":1}',
    "Hello<|assistant|>there<｜end▁of▁turn｜>",
    "`<think>code</think>` stays",
  ].join("\n");

  it("HIST-4: assistant text is cleaned, code in it is not, people's words neither, and storage keeps every character", async () => {
    const board = await aBoard({ agents: { main: () => DIRTY } });
    await board.telegram.says("what is <think>?");
    await board.quiet();
    const { messages } = await history(board);
    const [asked = "", answered = ""] = textsOf(messages);
    expect(asked).toBe("what is <think>?");
    expect(answered).not.toMatch(/secret plan|likes tea|tool_call|Tool Call|assistant\|>|｜/);
    expect(answered).toContain("`<think>code</think>` stays");
    expect(answered).toContain("Answer.");
    const { sessionId } = (await history(board)) as Record<string, unknown>;
    await board.close({ graceMs: 0 });
    expect(dumpOf(fileOf(board.dataDir))).toContain(JSON.stringify(JSON.stringify(DIRTY)).slice(3, -3));
    const mirror = readFileSync(join(board.dataDir, "transcripts", `${sessionId}.jsonl`), "utf8");
    expect(mirror).toContain(JSON.stringify(DIRTY).slice(1, -1));
  });

  it("K08: markup and words between tool calls never leave: neither in the reply, nor to a caller, nor in a list", async () => {
    const turn = ({ request }: { request: { trigger: string } }) =>
      request.trigger === "announce"
        ? 'Done.<tool_call>{"name":"x","args":{"p":"a'
        : {
            status: "ok" as const,
            reply: "<|assistant|>Final answer.",
            entries: [said("assistant", "Let me look.")],
          };
    const board = await aBoard({ config: OPEN, agents: { main: turn, ops: turn } });
    await board.telegram.says("hi");
    await board.quiet();
    expect(board.telegram.sent.map(({ text }) => text)).toEqual(["Final answer."]);
    const sent = await use(board, MAIN, "sessions_send", { agentId: "ops", message: "?", timeoutSeconds: 5 });
    expect(sent).toMatchObject({ status: "ok", reply: "Final answer." });
    const listed = await use(board, MAIN, "sessions_list", { messageLimit: 5, includeLastMessage: true });
    expect(JSON.stringify(listed)).not.toContain("<|");
    expect(textsOf((await history(board)).messages).at(-1)).toBe("Final answer.");
  });

  const SECRETS: readonly (readonly [string, string])[] = [
    ["an OpenAI key", "sk-proj-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6"],
    ["a bearer token", "Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345"],
    ["a Telegram token", "123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc"],
    ["a Discord token", "MTAxMDEwMTAxMDEwMTAxMDEw.GabcdE.aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789ab"],
    ["a JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"],
    ["a PEM key", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----"],
    ["a password in a URL", "postgres://bob:hunter2hunter2@db/x"],
  ];

  it.each(SECRETS)(
    "HIST-5 G03: %s is masked in history and in lists, and stays as it is in storage",
    async (_, secret) => {
      const board = await aBoardWith([[said("user", `here: ${secret}`), ...toolRows("c1", secret)]]);
      const page = await history(board, { includeTools: true });
      const list = await use(board, MAIN, "sessions_list", {
        messageLimit: 5,
        includeLastMessage: true,
        includeDerivedTitles: true,
      });
      const worst = secret
        .split(/[\s:@/]/)
        .reduce((longest, part) => (part.length > longest.length ? part : longest));
      for (const answer of [page, list]) expect(JSON.stringify(answer)).not.toContain(worst);
      expect(page.contentRedacted).toBe(true);
      for (const answer of [page, list]) expect(answer.notice).toMatch(/not the real/);
      expect(list.sessions).toMatchObject([{ contentRedacted: true }]);
      const { messages } = await history(board, { sessionKey: sessionIdOf(1) });
      expect(messages).toHaveLength(2);
      expect(dumpOf(fileOf(board.dataDir))).toContain(worst);
    },
  );

  it("HIST-5 G03: a token that is split over two blocks of a message is masked as well", async () => {
    const [, secret = ""] = SECRETS[0] ?? [];
    const content = [
      { type: "text", text: `key ${secret.slice(0, 20)}` },
      { type: "text", text: secret.slice(20) },
    ] as const;
    const board = await aBoardWith([[{ role: "user", content, atMs: 1 }]]);
    const page = await history(board);
    expect(page.contentRedacted).toBe(true);
    expect(JSON.stringify(page.messages)).not.toContain(secret.slice(20));
  });

  it("HIST-5: a token in the name of a file or in the arguments of a tool is masked as well", async () => {
    const [, secret = ""] = SECRETS[0] ?? [];
    const file = { type: "attachment", mediaType: "text/plain", name: `${secret}.txt` } as const;
    const call = { type: "toolCall", id: "c1", name: "lookup", arguments: { with: secret } } as const;
    const board = await aBoardWith([
      [{ role: "user", content: [file], atMs: 1 }],
      [{ role: "assistant", content: [call], atMs: 1 }],
    ]);
    const { messages } = await history(board, { includeTools: true });
    expect(messages).toMatchObject([{ content: [{ type: "attachment" }] }, { content: [{ id: "c1" }] }]);
    expect(JSON.stringify(messages)).not.toContain(secret.slice(10, 30));
  });

  it("HIST-5: values of the config are masked wherever they turn up", async () => {
    const value = "correct horse battery";
    const board = await aBoardWith([[said("user", `it is ${value}!`)]], {
      config: { redaction: { values: [value] }, session: { reset: { mode: "none" } } },
    });
    const page = await history(board);
    expect(page.contentRedacted).toBe(true);
    expect(JSON.stringify(page)).not.toContain("horse");
  });

  it.each([
    "80351110224678912",
    "5e550000-0000-4000-8000-000000000001",
    "d41d8cd98f00b204e9800998ecf8427e",
    "+41 79 000 00 00",
    "120363403215116621@g.us",
    "8877@lid",
    "my password is swordfish",
    "commit 527601bd5a7c0e1f2a3b4c5d6e7f8a9b0c1d2e3f",
  ])("HIST-5 G03: %s is an ordinary word and stays", async (text) => {
    const board = await aBoardWith([[said("user", text)]]);
    const page = await history(board);
    expect(textsOf(page.messages)).toEqual([text]);
    expect(page.contentRedacted).toBe(false);
    expect(page).not.toHaveProperty("notice");
  });

  it("G04 HIST-5: what was read masked is neither masked in storage nor to the session's own agent, also after a restart", async () => {
    const [, secret = ""] = SECRETS[0] ?? [];
    const first = await aBoard();
    await first.telegram.says(`the key is ${secret}`);
    await first.quiet();
    await history(first);
    await first.close({ graceMs: 0 });
    const second = await aBoard({ dataDir: first.dataDir });
    await second.telegram.says("use it", { id: "later" });
    await second.quiet();
    expect(JSON.stringify(second.agents.main?.turns[0]?.history)).toContain(secret);
    expect(dumpOf(fileOf(second.dataDir))).toContain(secret);
  });

  it("G08 HIST-8: words of another session keep their structured origin, words of people theirs", async () => {
    const board = await aBoard({
      config: OPEN,
      agents: {
        main: async ({ call }) => {
          await call("sessions_send", { agentId: "ops", message: "all well?", timeoutSeconds: 5 });
          return "asked";
        },
        ops: () => "REPLY_SKIP",
      },
    });
    await board.discord.says("hi ops", { from: at("discord", "direct", "9") });
    await board.telegram.says("ask ops");
    await board.quiet();
    const ops = await history(board, { sessionKey: "agent:ops:main" });
    expect(ops.messages[0]?.provenance).toEqual({
      kind: "inter_session",
      sourceSessionKey: MAIN,
      sourceChannel: "telegram",
      sourceTool: "sessions_send",
    });
    const own = await history(board);
    expect(own.messages[0]?.provenance).toEqual({ kind: "external_user", sourceChannel: "discord" });
  });

  it("HIST-8: each turn of an exchange names the session it came from, not the one it stands in", async () => {
    const board = await aBoard({
      config: OPEN,
      agents: {
        async main({ request, call }) {
          if (request.trigger === "reply-back") return "since when?";
          await call("sessions_send", { agentId: "ops", message: "all well?", timeoutSeconds: 0 });
          return "asked";
        },
        ops: ({ request }) => (request.trigger === "send" ? "fine" : "REPLY_SKIP"),
      },
    });
    await board.telegram.says("ask ops");
    await board.quiet();
    const routed = async (sessionKey: string) =>
      (await history(board, { sessionKey })).messages
        .filter(({ provenance }) => provenance?.kind === "inter_session")
        .map((row) => [...textsOf([row]), row.provenance?.sourceSessionKey]);
    expect(await routed("agent:ops:main")).toEqual([
      ["all well?", MAIN],
      ["since when?", MAIN],
    ]);
    expect(await routed(MAIN)).toEqual([["fine", "agent:ops:main"]]);
  });

  it("HIST-6 G02: base64 becomes a short note, and the budget counts what is left", async () => {
    const image = `data:image/png;base64,${"iVBORw0KGgo".repeat(100_000)}`;
    const board = await aBoardWith([
      [said("user", "before"), ...toolRows("c1", `see ${image} there`)],
      [said("assistant", `![x](${image})`)],
      [
        {
          role: "user",
          content: [{ type: "attachment", mediaType: "image/png", sizeBytes: 1_200_000 }],
          atMs: 1,
        },
      ],
    ]);
    const page = await history(board, { includeTools: true });
    expect(JSON.stringify(page)).not.toContain("iVBORw0KGgoiVBOR");
    expect(page.contentTruncated).toBe(true);
    expect(page.messages.at(-1)?.content).toEqual([
      { type: "attachment", mediaType: "image/png", sizeBytes: 1_200_000 },
    ]);
    expect(textsOf(page.messages)[0]).toBe("before");
  });

  it("HIST-6: long text is cut between characters, with a mark", async () => {
    const board = await aBoardWith([[said("user", "🦊".repeat(5000))]]);
    const page = await history(board);
    const [text = ""] = textsOf(page.messages);
    expect(text).toMatch(/^(?:🦊)+\n…\(truncated\)…$/u);
    expect(page).toMatchObject({ contentTruncated: true, truncated: true, droppedMessages: false });
  });

  it("HIST-6 G07: a row beyond the cap becomes the documented words, its neighbours stay, escapes go", async () => {
    const drawing = `\u001b[31m${"█".repeat(400)}\u001b[0m\n`.repeat(1000);
    const board = await aBoardWith([
      [said("user", "draw")],
      [said("assistant", drawing)],
      [said("user", "\u001b[1mthanks\u001b[0m\u0007")],
    ]);
    const page = await history(board);
    expect(textsOf(page.messages)).toEqual([
      "draw",
      "[sessions_history omitted: message too large]",
      "thanks",
    ]);
    expect(page.messages.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(page).toMatchObject({ truncated: true, droppedMessages: true });
  });

  it("HIST-6: a row of many long blocks is too large as a whole, however small each block is", async () => {
    const content = Array.from({ length: 60 }, () => ({ type: "text" as const, text: "y".repeat(3900) }));
    const board = await aBoardWith([[{ role: "user", content, atMs: 1 }], [said("user", "after")]]);
    const page = await history(board);
    expect(textsOf(page.messages)).toEqual(["[sessions_history omitted: message too large]", "after"]);
    expect(page.bytes).toBeLessThanOrEqual(81_920);
  });

  const FLAGS = ["truncated", "droppedMessages", "contentTruncated", "contentRedacted"] as const;

  it.each<[string, readonly NewEntry[], readonly string[]]>([
    ["plain words", [said("user", "hi"), said("assistant", "yes")], []],
    ["usage and thinking", [said("assistant", "yes", { usage: { totalTokens: 9 } })], []],
    ["a removed reasoning block", [said("assistant", "<think>x</think>yes")], []],
    [
      "words that look like our note, and a carriage return",
      [said("user", "3 rows omitted, see\r\nbelow")],
      [],
    ],
    ["words that look like our mark", [said("user", "so …(truncated)… it was")], []],
    ["a mask that somebody typed", [said("user", "it is ***")], []],
    ["a tool call whose arguments are not shown", toolRows("c", "r"), []],
    ["long words", [said("user", "x".repeat(9000))], ["truncated", "contentTruncated"]],
    [
      "a picture among the words",
      [said("user", `see data:image/png;base64,${"iVBORw0KGgo".repeat(20)}`)],
      ["truncated", "contentTruncated"],
    ],
    ["a key", [said("user", "sk-proj-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6")], ["contentRedacted"]],
    [
      "more than fits",
      Array.from({ length: 60 }, () => said("user", "x".repeat(3900))),
      ["truncated", "droppedMessages"],
    ],
  ])(
    "HIST-7: of %s each flag is true only when it is true, and bytes are exact",
    async (_, rows, expected) => {
      const board = await aBoardWith([rows]);
      const page = await history(board, { offset: 0 });
      expect(FLAGS.filter((flag) => page[flag])).toEqual(expected);
      expect(page.bytes).toBe(Buffer.byteLength(JSON.stringify(page.messages)));
      expect(page.totalMessages).toBe(rows.length);
    },
  );

  it("HIST-7: the flags of a page speak of that page alone", async () => {
    const board = await aBoardWith([
      [said("user", "x".repeat(9000))],
      [said("user", "plain")],
      [said("user", "sk-proj-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6")],
    ]);
    const pages: Page[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; offset = pages.at(-1)?.nextOffset) {
      pages.push(await history(board, { limit: 1, offset }));
    }
    expect(pages.map((page) => FLAGS.filter((flag) => page[flag]))).toEqual([
      ["contentRedacted"],
      [],
      ["truncated", "contentTruncated"],
    ]);
  });

  it("K04: names of senders are one short line without control, bidi or zero-width characters", async () => {
    const board = await aBoard();
    const sender = { id: "1001", name: `x\n## SYSTEM\u202e\u200b ${"n".repeat(500)}`, isBot: false };
    await board.telegram.says("hi", { sender });
    await board.quiet();
    const name = (await history(board)).messages[0]?.sender?.name ?? "";
    expect(name).toMatch(/^x ## SYSTEM n/);
    expect(name.length).toBeLessThanOrEqual(128);
    expect(name).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

describe("HIST-9: rows of another source", () => {
  const external = [said("user", "from outside"), said("assistant", "<think>x</think>seen outside")];

  it("HIST-9: they end the default tail, marked and cleaned, within the limit, and are counted nowhere", async () => {
    const board = await aBoardWith([[said("user", "one")], [said("user", "two")]], {
      externalHistory: async () => external,
    });
    const tail = await history(board);
    expect(textsOf(tail.messages)).toEqual(["one", "two", "from outside", "seen outside"]);
    expect(tail.messages.map(({ provenance }) => provenance?.kind)).toEqual([
      undefined,
      undefined,
      "external",
      "external",
    ]);
    expect(new Set(tail.messages.map(({ id }) => id)).size).toBe(4);
    expect(textsOf((await history(board, { limit: 3 })).messages)).toEqual([
      "two",
      "from outside",
      "seen outside",
    ]);
    expect(textsOf((await history(board, { limit: 1 })).messages)).toEqual(["seen outside"]);
  });

  it("HIST-9: a page with an offset holds stored rows only", async () => {
    const board = await aBoardWith([[said("user", "one")]], { externalHistory: async () => external });
    const page = await history(board, { offset: 0 });
    expect(textsOf(page.messages)).toEqual(["one"]);
    expect(page.totalMessages).toBe(1);
  });

  it("HIST-9: an older transcript is not continued by them, and a source that fails costs nothing else", async () => {
    const board = await aBoardWith([[said("user", "old")]], {
      async externalHistory(sessionKey) {
        if (sessionKey === ROOM_KEY) throw new Error("the harness is down");
        return external;
      },
      config: { ...SEES_AGENT, session: { reset: { mode: "none" } } },
    });
    await board.gateway.call("sessions.reset", { sessionKey: MAIN });
    expect(textsOf((await history(board, { sessionKey: sessionIdOf(1) })).messages)).toEqual(["old"]);
    await board.telegram.says("in the room", { from: at("telegram", "group", "-100") });
    await board.quiet();
    const room = await history(board, { sessionKey: ROOM_KEY });
    expect(textsOf(room.messages)).toEqual(["in the room", "ok"]);
    expect(board.complaints.join()).toContain("the harness is down");
  });

  it("HIST-9: they are asked for only when the caller may read the session", async () => {
    const asked: string[] = [];
    const board = await aBoardWith([[said("user", "one")]], {
      async externalHistory(sessionKey) {
        asked.push(sessionKey);
        return external;
      },
    });
    await board.telegram.says("hi", { from: at("telegram", "group", "-100") });
    await board.quiet();
    expect(await history(board, { sessionKey: ROOM_KEY })).toMatchObject({ status: "forbidden" });
    expect(asked).toEqual([]);
  });
});

describe("G06: resets and archives", () => {
  it("G06: what was reset is read by its own id only, and does not come back by itself", async () => {
    const board = await aBoard();
    await board.telegram.says("first");
    await board.quiet();
    const { sessionId } = (await history(board)) as Record<string, unknown>;
    await board.gateway.call("sessions.reset", { sessionKey: MAIN });
    expect((await history(board)).messages).toEqual([]);
    await board.telegram.says("second");
    await board.quiet();
    expect(textsOf((await history(board)).messages)).toEqual(["second", "ok"]);
    expect(JSON.stringify(board.agents.main?.turns[1]?.history)).not.toContain("first");
    expect(textsOf((await history(board, { sessionKey: sessionId })).messages)).toEqual(["first", "ok"]);
  });

  it("G06: a new message reopens an archived chat, with all that was said in it", async () => {
    const board = await aBoard();
    await board.telegram.says("first");
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: MAIN, archived: true });
    const keys = async (archived: boolean) => {
      const { sessions } = await use(board, MAIN, "sessions_list", { archived });
      return (sessions as readonly { key: string }[]).map(({ key }) => key);
    };
    expect([await keys(false), await keys(true)]).toEqual([[], ["main"]]);
    expect(textsOf((await history(board)).messages)).toEqual(["first", "ok"]);
    await board.telegram.says("second");
    await board.quiet();
    expect([await keys(false), await keys(true)]).toEqual([["main"], []]);
    expect(textsOf((await history(board)).messages)).toEqual(["first", "ok", "second", "ok"]);
  });
});

it("KEY-6 B01: the bare id of a Discord thread stands for the thread's session, to read but not to send to", async () => {
  const board = await aBoard({
    agents: {
      async main({ request, call }) {
        if (request.session.chatType === "channel") return "noted";
        const asked = { sessionKey: "agent:main:discord:channel:200" };
        const read = await call("sessions_history", asked);
        const sent = await call("sessions_send", { ...asked, message: "hello" });
        return `${read.sessionKey} ${sent.code}`;
      },
    },
    config: { tools: { sessions: { visibility: "agent" } } },
  });
  await board.discord.says("in the thread", { from: at("discord", "channel", "100", "200") });
  await board.quiet();
  await board.telegram.says("look");
  await board.quiet();
  expect(board.telegram.sent.at(-1)?.text).toBe("agent:main:discord:channel:100:thread:200 THREAD_TARGET");
});
