import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { discordAdapter } from "../../src/adapters/discord/index.ts";
import { telegramAdapter } from "../../src/adapters/telegram/index.ts";
import { whatsappAdapter } from "../../src/adapters/whatsapp/index.ts";
import type { Address, ChannelAdapter } from "../../src/core/ports/chat.ts";
import { aBoard, type Board, type BoardOptions } from "../fakes/a-board.ts";
import { at, type MemoryAdapter, memoryAdapter } from "../fakes/memory-adapter.ts";

const ROOM = at("discord", "channel", "222");
const KEY = "agent:main:discord:channel:222";
const PERSON = { id: "7", name: "Pia", isBot: false };

/** Two accounts of one installation in one room, whose messages have the same ids for both. */
async function twoAccounts(options: BoardOptions = {}) {
  const alpha = memoryAdapter("discord", { accountId: "alpha", botId: "501", sharesIds: true });
  const beta = memoryAdapter("discord", { accountId: "beta", botId: "502", sharesIds: true });
  const board = await aBoard({ ...options, adapters: [alpha, beta] });
  return { board, alpha, beta };
}

/** What an account hears of a message in the room. */
const hears = (account: MemoryAdapter, id: string, text: string, more: object = {}) =>
  account.says(text, { id, from: { ...ROOM, accountId: account.accountId }, ...more });
const aside = { addressed: false, sender: PERSON };

async function rowsOf(board: Board, sessionKey = KEY): Promise<readonly string[]> {
  const { messages } = await board.gateway.call("chat.history", { sessionKey, limit: 200 });
  // Rows of a transcript.
  return (messages as readonly { role: string; content: unknown }[]).map(({ content }) =>
    JSON.stringify(content),
  );
}

const times = (rows: readonly string[], words: string) => rows.filter((row) => row.includes(words)).length;

describe("two accounts of one installation in one room, with one agent", () => {
  it("N11 IN-1: talk that both overhear stands in the session once, before the words that it is context for", async () => {
    const { board, alpha, beta } = await twoAccounts();
    await hears(alpha, "1", "@alpha hello");
    await board.quiet();
    for (const account of [alpha, beta, alpha]) await hears(account, "2", "the cake is late", aside);
    await hears(beta, "3", "@beta what is late?");
    await hears(alpha, "3", "@beta what is late?", { addressed: false });
    await board.quiet();
    const rows = await rowsOf(board);
    expect(times(rows, "the cake is late")).toBe(1);
    expect(times(rows, "what is late?")).toBe(1);
    expect(rows.findIndex((row) => row.includes("cake"))).toBeLessThan(
      rows.findIndex((row) => row.includes("what is late?")),
    );
    expect([alpha.sent.length, beta.sent.length]).toEqual([1, 1]);
  });

  it("N11: words for one bot are no context of the other, whoever hears them first", async () => {
    for (const order of [0, 1]) {
      const { board, alpha, beta } = await twoAccounts();
      const hearing = [
        () => hears(beta, "1", "@beta good day"),
        () => hears(alpha, "1", "@beta good day", { addressed: false }),
      ];
      for (const hear of order === 0 ? hearing : hearing.reverse()) await hear();
      await board.quiet();
      await hears(alpha, "2", "@alpha and you?");
      await board.quiet();
      expect(times(await rowsOf(board), "good day")).toBe(1);
      expect([alpha.sent.length, beta.sent.length]).toEqual([1, 1]);
    }
  });

  it("N11: words for one bot are answered though another one's question has brought them along as context", async () => {
    const { board, alpha, beta } = await twoAccounts();
    await hears(alpha, "1", "@beta good day", { addressed: false });
    await hears(alpha, "2", "@alpha and you?");
    await board.quiet();
    expect(await hears(beta, "1", "@beta good day")).toBe("run");
    await board.quiet();
    expect(beta.sent).toHaveLength(1);
  });

  it("N11 N01: a message that comes too late for one of them is answered by the other, and not noted after that", async () => {
    for (const order of [0, 1]) {
      const { board, alpha, beta } = await twoAccounts();
      const hearing = [
        () => hears(beta, "1", "@beta good day"),
        () => hears(alpha, "1", "@beta good day", { replay: true }),
      ];
      for (const hear of order === 0 ? hearing : hearing.reverse()) await hear();
      await board.quiet();
      expect(beta.sent).toHaveLength(1);
      if (order === 0) expect(times(await rowsOf(board), "good day")).toBe(1);
    }
  });

  it("N11: nobody has to be mentioned, and one of them answers", async () => {
    const config = { channels: { discord: { requireMention: false } } };
    const { board, alpha, beta } = await twoAccounts({ config });
    expect(await hears(alpha, "1", "anybody?", { addressed: false })).toBe("run");
    expect(await hears(beta, "1", "anybody?", { addressed: false })).toBe("duplicate");
    await board.quiet();
    expect([alpha.sent.length, beta.sent.length]).toEqual([1, 0]);
  });

  it("N11 CMD-3: a command is carried out once, and answered once", async () => {
    const { board, alpha, beta } = await twoAccounts();
    await hears(alpha, "1", "@alpha hello");
    await board.quiet();
    await hears(alpha, "2", "/new", { addressed: false });
    await board.quiet();
    await hears(alpha, "3", "@alpha remember me");
    await board.quiet();
    expect(await hears(beta, "2", "/new", { addressed: false })).toBe("duplicate");
    await board.quiet();
    expect(times(await rowsOf(board), "remember me")).toBe(1);
    expect(beta.sent).toEqual([]);
  });

  it("N11: whatever is said to whom, in whatever order the accounts hear it, each message is answered once if it is for a bot, and stands in the session once", async () => {
    const message = fc.constantFrom("alpha", "beta", "nobody");
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { minLength: 1, maxLength: 8 }),
        fc.infiniteStream(fc.boolean()),
        async (said, alphaFirst) => {
          const { board, alpha, beta } = await twoAccounts();
          const events = said.map((to, n) => ({ id: `m${n}`, text: `word${n}.`, to }));
          for (const { id, text, to } of [...events, { id: "last", text: "last.", to: "alpha" }]) {
            const first = alphaFirst.next().value === true ? [alpha, beta] : [beta, alpha];
            for (const account of first) {
              await hears(account, id, text, { addressed: to === account.accountId, sender: PERSON });
            }
          }
          await board.quiet();
          const rows = await rowsOf(board);
          expect(events.map(({ text }) => times(rows, text))).toEqual(events.map(() => 1));
          const answered = (name: string) => events.filter(({ to }) => to === name).length;
          expect([alpha.sent.length, beta.sent.length]).toEqual([answered("alpha") + 1, answered("beta")]);
          await board.close();
        },
      ),
      { numRuns: 15 },
    );
  });
});

it("N11: with an agent each, every account's session has all that was said", async () => {
  const { board, alpha, beta } = await twoAccounts({
    agents: { left: () => "ok", right: () => "ok" },
    config: {
      bindings: [
        { agentId: "left", match: { channel: "discord", accountId: "alpha" } },
        { agentId: "right", match: { channel: "discord", accountId: "beta" } },
      ],
    },
  });
  for (const account of [alpha, beta]) await hears(account, "1", "to nobody", aside);
  for (const account of [alpha, beta]) await hears(account, "2", "@alpha @beta hello");
  await board.quiet();
  for (const agent of ["left", "right"]) {
    const rows = await rowsOf(board, `agent:${agent}:discord:channel:222`);
    expect([times(rows, "to nobody"), times(rows, "hello")]).toEqual([1, 1]);
  }
  expect([alpha.sent.length, beta.sent.length]).toEqual([1, 1]);
});

it("N11: where each account counts messages for itself, equal ids are different messages", async () => {
  const adapters = ["alpha", "beta"].map((accountId) => memoryAdapter("telegram", { accountId }));
  const board = await aBoard({ adapters });
  for (const account of adapters) {
    const from = { ...at("telegram", "group", "-5"), accountId: account.accountId };
    expect(await account.says("hello", { id: "1", from })).toBe("run");
  }
  await board.quiet();
  expect(adapters.map(({ sent }) => sent.length)).toEqual([1, 1]);
});

it("N11: ids are shared in Discord's servers, Telegram's supergroups and channels, and WhatsApp's groups, and nowhere else", () => {
  // Nothing of a client is used to tell.
  const bot = { use: () => {}, api: { config: { use: () => {} } } } as never;
  const adapters: readonly ChannelAdapter[] = [
    discordAdapter({ client: {} as never }),
    telegramAdapter({ bot }),
    whatsappAdapter(),
  ];
  const shares = (place: Address) =>
    adapters.find(({ channel }) => channel === place.channel)?.sharesIds?.(place);
  const table: readonly (readonly [Address, boolean])[] = [
    [at("discord", "channel", "1"), true],
    [at("discord", "direct", "1"), false],
    [at("telegram", "group", "-1001234567890"), true],
    [at("telegram", "group", "-1001234567890", "7"), true],
    [at("telegram", "channel", "-1001234567890"), true],
    [at("telegram", "group", "-1001234567"), false],
    [at("telegram", "group", "-5"), false],
    [at("telegram", "direct", "1001"), false],
    [at("whatsapp", "group", "1-2@g.us"), true],
    [at("whatsapp", "direct", "15550001111@s.whatsapp.net"), false],
  ];
  expect(table.map(([place]) => shares(place))).toEqual(table.map(([, is]) => is));
});
