import { describe, expect, it } from "vitest";
import type { Completion, CompletionCall } from "../../src/core/ports/command.ts";
import { aBoard, type Board, type BoardOptions } from "../fakes/a-board.ts";
import { cast, childrenOf, spawning } from "../fakes/a-family.ts";
import { hangs } from "../fakes/a-spawner.ts";
import { at, OWNER } from "../fakes/memory-adapter.ts";

const DIRECT = at("discord", "direct", OWNER);
const ROOM = at("discord", "channel", "100");
const TOKEN = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;

const suggests = (
  board: Board,
  typed: string,
  call: Partial<CompletionCall> = {},
): Promise<readonly Completion[]> =>
  board.discord.host.onComplete({
    id: "i1",
    name: "sessions",
    argument: "which",
    typed,
    from: DIRECT,
    sender: { id: OWNER, isBot: false },
    ...call,
  });

const names = (found: readonly Completion[]) => found.map(({ name }) => name);

/** Rooms with these titles, the last one the newest. */
async function rooms(titles: readonly string[], options: BoardOptions = {}): Promise<Board> {
  const board = await aBoard(options);
  for (const [at, chatTitle] of titles.entries()) {
    await board.clock.advance(1000);
    const from = { ...ROOM, chatId: `${200 + at}` };
    await board.discord.says("hello", { from, chatTitle });
    await board.quiet();
  }
  return board;
}

describe("suggestions of sessions", () => {
  it("CMD-4: the newest first, by label, else title, else name; the value is the key", async () => {
    const board = await rooms(["Family Chat", "Work"]);
    await board.clock.advance(1000);
    await board.discord.says("hello");
    await board.quiet();
    await board.gateway.call("sessions.patch", {
      sessionKey: "agent:main:discord:channel:201",
      label: "Job",
    });
    expect(await suggests(board, "")).toEqual([
      { name: "main", value: "agent:main:main" },
      { name: "Job · discord:g-work", value: "agent:main:discord:channel:201" },
      { name: "Family Chat · discord:g-family-chat", value: "agent:main:discord:channel:200" },
    ]);
  });

  it("CMD-4: hold what is typed, whatever its case and accents, those that begin with it first", async () => {
    const board = await rooms(["Café Central", "Unser CAFE", "Büro", "समीक्षा"]);
    expect(names(await suggests(board, "café"))).toEqual([
      "Café Central · discord:g-café-central",
      "Unser CAFE · discord:g-unser-cafe",
    ]);
    expect(names(await suggests(board, "buro"))).toHaveLength(1);
    expect(names(await suggests(board, "समीक"))).toHaveLength(1);
    expect(await suggests(board, "zzz")).toEqual([]);
    expect(names(await suggests(board, "channel:200"))).toEqual(["Café Central · discord:g-café-central"]);
  });

  it("CMD-4: every value does what it says, also where the key is longer than a menu allows", async () => {
    const board = await aBoard({ config: { session: { dmScope: "main" } } });
    const chatId = "9".repeat(90);
    await board.discord.says("hello there", { from: { ...ROOM, chatId }, chatTitle: "Long" });
    await board.quiet();
    const [one] = await suggests(board, "long");
    expect(one?.value.length).toBeLessThanOrEqual(100);
    const answer = await board.discord.calls("sessions", `history ${one?.value}`, { from: DIRECT });
    expect(answer).toContain("hello there");
  });

  it("CMD-4: at most 25, each of 1 to 100 units that no character is torn by", async () => {
    const board = await rooms(
      Array.from({ length: 30 }, (_, n) => `Room ${n} ${"👨\u200d👩\u200d👧".repeat(30)}`),
    );
    const found = await suggests(board, "room");
    expect(found).toHaveLength(25);
    for (const { name, value } of found) {
      expect(name.length).toBeGreaterThan(0);
      expect(name.length).toBeLessThanOrEqual(100);
      expect(name).not.toMatch(/\p{Surrogate}/u);
      expect(value.length).toBeLessThanOrEqual(100);
    }
    expect(found[0]?.name).toMatch(/^Room 29 /);
  });

  it("CMD-4: an older session than the newest two hundred is found by its name", async () => {
    const board = await aBoard();
    await board.gateway.call("agent", { sessionKey: "agent:main:first-one", message: "hello" });
    await board.quiet();
    await board.clock.advance(1000);
    for (let n = 0; n < 205; n++) {
      await board.gateway.call("agent", { sessionKey: `agent:main:later-${n}`, message: "hello" });
    }
    await board.quiet();
    expect(names(await suggests(board, "first"))).toEqual(["first-one"]);
  });

  it("CMD-4: archived ones come last", async () => {
    const board = await rooms(["One", "Two"]);
    await board.gateway.call("sessions.patch", {
      sessionKey: "agent:main:discord:channel:201",
      archived: true,
    });
    expect(names(await suggests(board, ""))).toEqual(["One · discord:g-one", "Two · discord:g-two"]);
  });

  it("CMD-4: in a room too, as nobody else sees what is suggested and answered there", async () => {
    const board = await rooms(["Family Chat"]);
    await board.discord.says("hello");
    await board.quiet();
    expect([...names(await suggests(board, "", { from: ROOM }))].sort()).toEqual([
      "Family Chat · discord:g-family-chat",
      "main",
    ]);
    const [one] = await suggests(board, "main", { from: ROOM });
    expect(await board.discord.calls("sessions", `history ${one?.value}`, { from: ROOM })).toContain("hello");
  });

  it("CMD-4 K04: names are one clean, masked line", async () => {
    const live = "live-secret-of-the-bot";
    const board = await rooms([`a\n# b \u202e\u200b ${TOKEN} ${live}`], {
      config: { redaction: { values: [live] } },
    });
    const [found] = await suggests(board, "");
    expect(found?.name).not.toMatch(/[\n\u202e\u200b]/);
    expect(found?.name).not.toContain(TOKEN);
    expect(found?.name).not.toContain(live);
  });
});

describe("suggestions of subagents", () => {
  const call = { name: "subagents" } as const;

  async function withChildren(): Promise<Board> {
    const asked = spawning([{ task: "count the boxes", label: "Zähler" }, `look at ${TOKEN}`], "ok");
    const board = await aBoard({ agents: { main: cast({ asked, task: ({ signal }) => hangs(signal) }) } });
    await board.discord.says("go");
    await board.quiet();
    return board;
  }

  it("CMD-4: those of this chat's session, by label and task; the value names the one", async () => {
    const board = await withChildren();
    const found = await suggests(board, "", call);
    expect(names(found)).toEqual(["Zähler · count the boxes", expect.stringMatching(/^look at ghp_a1…/)]);
    expect(JSON.stringify(found)).not.toContain(TOKEN);
    expect(await suggests(board, "zahl", call)).toHaveLength(1);
    expect(await suggests(board, "boxes", call)).toHaveLength(1);
    expect(await suggests(board, "", { ...call, from: ROOM })).toEqual([]);
    const [first] = await suggests(board, "count", call);
    const answer = await board.discord.calls("subagents", `stop ${first?.value}`);
    expect(answer).toBe("⏹ Stopped 1 subagent.");
    expect(childrenOf(board).map(({ outcome }) => outcome?.status)).toEqual(["killed", undefined]);
    expect(names(await suggests(board, "", call)).at(-1)).toBe("Zähler · count the boxes");
  });
});

describe("suggestions of what was not delivered", () => {
  const call = { name: "deliveries" } as const;

  /** One text of each of these chats was given up, the last one last. */
  async function withLetters(chats: readonly (readonly [chatTitle: string, said: string])[]): Promise<Board> {
    const board = await aBoard({ agents: { main: ({ text }) => text.slice(text.indexOf(":") + 1).trim() } });
    for (const [at, [chatTitle, said]] of chats.entries()) {
      board.discord.failNext(at === 0 ? "uncertain" : "permanent");
      await board.discord.says(said, { from: { ...ROOM, chatId: `${200 + at}` }, chatTitle });
      await board.quiet();
      await board.clock.advance(60_000);
    }
    return board;
  }

  it("CMD-4 DELIV-1: the newest first, by number, state, chat and how it begins, in the person's language; the value is the number", async () => {
    const board = await withLetters([
      ["Family Chat", "the cake is ready"],
      ["Work", "the report is ready"],
    ]);
    expect(await suggests(board, "", { ...call, locale: "es-419" })).toEqual([
      { name: "#2, hace 1m00s, no entregado · discord:g-work · the report is ready", value: "2" },
      { name: "#1, hace 2m00s, quizá entregado · discord:g-family-chat · the cake is ready", value: "1" },
    ]);
    const values = async (typed: string) => (await suggests(board, typed, call)).map(({ value }) => value);
    for (const typed of ["1", "#1", "Family", "cake"]) expect(await values(typed), typed).toEqual(["1"]);
    expect(await values("ready")).toEqual(["2", "1"]);
    expect(await values("nothing like it")).toEqual([]);
  });

  it("CMD-4 DELIV-1: each value does what it says, in a room as in the direct chat, as the list in the menu shows the same there", async () => {
    const board = await withLetters([
      ["Family Chat", "the cake is ready"],
      ["Work", "the report is ready"],
    ]);
    for (const from of [ROOM, DIRECT]) {
      const list = await board.discord.calls("deliveries", "list", { from });
      const [first] = await suggests(board, "", { ...call, from });
      expect(list).toContain(`#${first?.value}, `);
      const answer = await board.discord.calls("deliveries", `retry ${first?.value}`, { from });
      expect(answer).toBe("↻ Sending 1 message again.");
      await board.quiet();
    }
    expect(board.discord.sent.map(({ text }) => text)).toEqual(["the report is ready", "the cake is ready"]);
    expect(await suggests(board, "", call)).toEqual([]);
  });

  it("CMD-4 K04: at most 25, each one clean, masked line of at most 100 units", async () => {
    const board = await withLetters(
      Array.from(
        { length: 27 },
        (_, n) => [`Room ${n}`, `a\n# ${TOKEN} ${"👨\u200d👩\u200d👧 ".repeat(30)}`] as const,
      ),
    );
    const found = await suggests(board, "", call);
    expect(found.map(({ value }) => value)).toEqual(Array.from({ length: 25 }, (_, n) => `${27 - n}`));
    for (const { name } of found) {
      expect(name.length).toBeLessThanOrEqual(100);
      expect(name).toContain("· a # ghp_a1…");
      expect(name).not.toMatch(/[\n\p{Surrogate}]/u);
    }
  });

  it("CMD-2 CMD-4: nothing for whoever is no owner", async () => {
    const board = await withLetters([["Family Chat", "the cake is ready"]]);
    expect(await suggests(board, "", { ...call, from: ROOM })).toHaveLength(1);
    const sender = { id: "7", isBot: false };
    expect(await suggests(board, "", { ...call, from: ROOM, sender })).toEqual([]);
  });
});

describe("suggestions are for whoever may use the command", () => {
  it.each<[string, Partial<CompletionCall>]>([
    ["a member", { sender: { id: "7", isBot: false } }],
    ["an anonymous admin", { sender: { id: OWNER, isBot: false, anonymous: true } }],
    ["a bot", { sender: { id: OWNER, isBot: true } }],
    [
      "a stranger in a direct chat",
      { from: at("discord", "direct", "7"), sender: { id: "7", isBot: false } },
    ],
    ["an unknown command", { name: "nonsense" }],
    ["an argument that names nothing", { argument: "action" }],
    ["an unknown argument", { argument: "nonsense" }],
    ["a command without arguments", { name: "stop" }],
  ])("CMD-2 CMD-4: nothing for %s", async (_, call) => {
    const board = await rooms(["Family Chat"]);
    expect(await suggests(board, "", { from: ROOM })).toHaveLength(1);
    expect(await suggests(board, "", { from: ROOM, ...call })).toEqual([]);
  });

  it("CMD-4: nothing where nobody is let in, and looking makes no session", async () => {
    const board = await aBoard({ config: { channels: { discord: { groupPolicy: "disabled" } } } });
    expect(await suggests(board, "", { from: ROOM })).toEqual([]);
    expect(await suggests(board, "")).toEqual([]);
    expect(await board.gateway.call("sessions.list", {})).toMatchObject({ count: 0 });
  });
});
