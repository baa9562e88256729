import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import type { InboundMessage } from "../../src/core/ports/chat.ts";
import { aBoard, type Board, type BoardOptions, LEASE_MS, type Script } from "../fakes/a-board.ts";
import { cast, childrenOf, spawning } from "../fakes/a-family.ts";
import { hangs } from "../fakes/a-spawner.ts";
import { cutOff } from "../fakes/cut-off.ts";
import { fakeClock } from "../fakes/fake-clock.ts";
import { at } from "../fakes/memory-adapter.ts";

const MAIN = "agent:main:main";
const ROOM = at("telegram", "group", "-100");
const ROOM_KEY = "agent:main:telegram:group:-100";
const MEMBER = { id: "7", name: "Mia", isBot: false };

const texts = (board: Board) => board.telegram.sent.map(({ text }) => text);

/** Typed a second after what was before; resolves with the answers. */
async function says(board: Board, text: string, message: Partial<InboundMessage> = {}) {
  const before = texts(board).length;
  await board.clock.advance(1000);
  await board.telegram.says(text, message);
  await board.quiet();
  return texts(board).slice(before);
}

/** The process has died before the newest command had ended, and the next one goes on. */
async function again(
  board: Board,
  options: BoardOptions = {},
  cutOffAt?: "end" | "beginning",
): Promise<Board> {
  await board.clock.advance(1000);
  const clock = fakeClock(board.clock.now());
  // No id is drawn twice, whoever draws it.
  for (let drawn = 0; drawn < 1000; drawn++) clock.uuid();
  const next = await aBoard({ ...options, dataDir: cutOff(board, cutOffAt), clock });
  await next.clock.advance(LEASE_MS + 5000);
  await next.quiet();
  return next;
}

async function session(board: Board, sessionKey: string): Promise<Readonly<Record<string, unknown>>> {
  const pages = await Promise.all(
    [false, true].map((archived) => board.gateway.call("sessions.list", { archived, limit: 200 })),
  );
  // Rows of a list.
  const rows = pages.flatMap(({ sessions }) => sessions as readonly Readonly<Record<string, unknown>>[]);
  return rows.find(({ key }) => key === (sessionKey === MAIN ? "main" : sessionKey)) ?? {};
}

/** One child at a time is at work, for the room; the others wait. */
async function aBusyBoard() {
  const asked: Script = (turn) => {
    const task = /spawn (\w+)/.exec(turn.text)?.[1];
    if (task !== undefined)
      return spawning([task === "other" ? task : { task, label: "scout" }], "spawned")(turn);
    return turn.text.includes("hang") ? hangs(turn.signal) : `re: ${turn.text}`;
  };
  const options: BoardOptions = {
    agents: { main: cast({ asked, task: ({ signal }) => hangs(signal) }) },
    config: { agents: { defaults: { subagents: { maxConcurrent: 1 } } } },
  };
  const board = await aBoard(options);
  await says(board, "spawn other", { from: ROOM });
  return { board, options };
}

const stoppedIn = (board: Board) =>
  Object.fromEntries(
    childrenOf(board)
      .filter(({ task }) => task !== "other")
      .map(({ task, stoppedBy, outcome }) => [task, stoppedBy !== undefined && outcome !== undefined]),
  );

describe("a command that a crash cut off at its end is one command all the same", () => {
  it("CMD RUN-2: /stop leaves the messages and the subagents that came after it, and says what it has stopped", async () => {
    const { board, options } = await aBusyBoard();
    await says(board, "spawn early");
    for (const text of ["hang early", "early"]) await says(board, text);
    const answer = "⏹ Stopped: 1 run, 1 waiting message, and 1 subagent.";
    expect(await says(board, "/stop")).toEqual([answer]);
    for (const text of ["spawn late", "hang late", "late"]) await says(board, text);
    const next = await again(board, options);
    expect(texts(next)).toEqual(expect.arrayContaining([answer, "re: late"]));
    expect(stoppedIn(next)).toEqual({ early: true, late: false });
  });

  it("CMD D19: /stop does not reach what is typed right behind it", async () => {
    const asked: Script = (turn) => (turn.text.includes("hang") ? hangs(turn.signal) : `re: ${turn.text}`);
    const board = await aBoard({ agents: { main: cast({ asked }) } });
    await says(board, "hang");
    await says(board, "before");
    await Promise.all([board.telegram.says("/stop"), board.telegram.says("after")]);
    await board.quiet();
    expect([...texts(board)].sort()).toEqual(["re: after", "⏹ Stopped: 1 run and 1 waiting message."]);
  });

  it.each(["/subagents stop all", "/subagents stop scout"])(
    "CMD RUN-2: %s says how many it has stopped, and leaves one that was spawned since",
    async (command) => {
      const { board, options } = await aBusyBoard();
      await says(board, "spawn early");
      expect(await says(board, command)).toEqual(["⏹ Stopped 1 subagent."]);
      await says(board, "spawn late");
      const next = await again(board, options);
      expect(texts(next)).toContain("⏹ Stopped 1 subagent.");
      expect(stoppedIn(next)).toEqual({ early: true, late: false });
    },
  );

  it.each(["/new", "/reset", "/new go on"])(
    "CMD-3 RUN-2: %s leaves the conversation that has begun since",
    async (command) => {
      const board = await aBoard();
      await says(board, "hello", { from: ROOM });
      const [answer] = await says(board, command, { from: ROOM });
      expect(answer).toBe("A new conversation begins here.");
      await says(board, "something new", { from: ROOM });
      const { sessionId } = await session(board, ROOM_KEY);
      const next = await again(board);
      expect(texts(next)).toEqual([answer]);
      expect((await session(next, ROOM_KEY)).sessionId).toBe(sessionId);
      expect(next.agents.main?.turns).toEqual([]);
      await says(next, "/new", { from: ROOM });
      expect((await session(next, ROOM_KEY)).sessionId).not.toBe(sessionId);
    },
  );

  it("CMD-3 RUN-2 IN-1: /new in a room without a session leaves what was said there since, to the bot or not", async () => {
    for (const since of ["to the bot", "to each other"] as const) {
      const board = await aBoard();
      await says(board, "old news", { from: ROOM, sender: MEMBER, addressed: false });
      const answer = await says(board, "/new", { from: ROOM });
      await says(board, "noon", { from: ROOM, sender: MEMBER, addressed: since === "to the bot" });
      const { sessionId } = await session(board, ROOM_KEY);
      const next = await again(board);
      expect(texts(next)).toEqual(answer);
      expect((await session(next, ROOM_KEY)).sessionId).toBe(sessionId);
      await says(next, "when?", { from: ROOM });
      const heard = JSON.stringify(next.agents.main?.turns.at(-1));
      expect([heard.includes("noon"), heard.includes("old news")], since).toEqual([true, false]);
    }
  });

  it("IN-1 RUN-2: /pair remove names whom it has removed", async () => {
    const options: BoardOptions = {
      config: {
        session: { dmScope: "per-channel-peer" },
        channels: { telegram: { dmPolicy: "pairing" } },
      },
    };
    const board = await aBoard(options);
    const [told = ""] = await says(board, "hi", {
      from: at("telegram", "direct", "9"),
      sender: { id: "9", name: "Ann", isBot: false },
    });
    await says(board, `/pair approve ${/`([A-Z2-9]{8})`/.exec(told)?.[1]}`);
    const answer = await says(board, "/pair remove 9");
    expect(answer.join()).toContain("Ann");
    const next = await again(board, options);
    expect(texts(next)).toEqual(answer);
  });

  it.each<[string, BoardOptions]>([
    ["one file", {}],
    ["a store of the host", { store: new Keyv({ throwOnErrors: true }) }],
  ])(
    "DELIV-1 RUN-2: /deliveries retry sends nothing twice, nor what was lost since (%s)",
    async (_, options) => {
      const board = await aBoard(options);
      for (const text of ["one", "two"]) {
        board.telegram.failNext("permanent");
        await says(board, text, { from: ROOM });
      }
      board.telegram.failNext("permanent");
      const answer = ["↻ Sending 2 messages again."];
      await board.discord.says("/deliveries retry all");
      await board.quiet();
      expect(board.discord.sent.map(({ text }) => text)).toEqual(answer);
      expect(texts(board)).toEqual(["ok"]);
      const { found: lost } = await board.deliveries.deadLetters();
      const next = await again(board, options);
      expect(next.discord.sent.map(({ text }) => text)).toEqual(answer);
      expect(texts(next)).toEqual([]);
      expect((await next.deliveries.deadLetters()).found).toEqual(lost);
    },
  );

  it("DELIV-1 RUN-2: /deliveries dismiss forgets nothing that was lost since", async () => {
    const board = await aBoard();
    const lose = async (text: string) => {
      board.telegram.failNext("permanent");
      await says(board, text, { from: ROOM });
    };
    await lose("one");
    await board.discord.says("/deliveries dismiss all");
    await board.quiet();
    await lose("two");
    const next = await again(board);
    expect(next.discord.sent.map(({ text }) => text)).toEqual(["Dismissed 1 message."]);
    expect((await next.deliveries.deadLetters()).found).toMatchObject([{ number: 2 }]);
  });

  it("CMD-3 RUN-2: /sessions label without a label names the one that it has taken away", async () => {
    const board = await aBoard();
    await says(board, "hello", { from: ROOM });
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "Kin" });
    const answer = await says(board, "/sessions label Kin");
    expect(answer.join()).toContain("Kin");
    const next = await again(board);
    expect(texts(next)).toEqual(answer);
  });

  it("CMD-3 RUN-2: /sessions archive leaves a session open that somebody has spoken in since", async () => {
    const board = await aBoard();
    await says(board, "hello", { from: ROOM });
    const answer = await says(board, `/sessions archive ${ROOM_KEY}`);
    await says(board, "hello again", { from: ROOM });
    const next = await again(board);
    expect(texts(next)).toEqual(answer);
    expect(await session(next, ROOM_KEY)).not.toHaveProperty("archivedAt");
  });
});

describe("a command that a crash cut off at its beginning", () => {
  it.each(["/stop", "/subagents stop all"])(
    "CMD RUN-2: %s leaves the messages and the subagents that came since",
    async (command) => {
      const { board, options } = await aBusyBoard();
      await says(board, command);
      for (const text of ["spawn late", "hang late", "late"]) await says(board, text);
      const next = await again(board, options, "beginning");
      expect(texts(next)).toContain("re: late");
      expect(stoppedIn(next)).toEqual({ late: false });
    },
  );

  it("CMD-3 RUN-2: /new leaves the conversation that has begun since", async () => {
    const board = await aBoard();
    const answer = await says(board, "/new", { from: ROOM });
    await says(board, "hello", { from: ROOM });
    const { sessionId } = await session(board, ROOM_KEY);
    const next = await again(board, {}, "beginning");
    expect(texts(next)).toEqual(answer);
    expect((await session(next, ROOM_KEY)).sessionId).toBe(sessionId);
  });

  it("DELIV-1 RUN-2: /deliveries retry all leaves what was lost since", async () => {
    const board = await aBoard();
    await board.discord.says("/deliveries retry all");
    await board.quiet();
    board.telegram.failNext("permanent");
    await says(board, "one", { from: ROOM });
    const next = await again(board, {}, "beginning");
    expect(texts(next)).toEqual([]);
    expect((await next.deliveries.deadLetters()).total).toBe(1);
  });

  it("CMD RUN-2: a clock that was set back keeps no command from what is there", async () => {
    const board = await aBoard();
    await says(board, "hello");
    const { sessionId } = await session(board, MAIN);
    board.clock.skip(-3_600_000);
    expect(await says(board, "/new")).toEqual(["A new conversation begins here."]);
    expect((await session(board, MAIN)).sessionId).not.toBe(sessionId);
  });
});
