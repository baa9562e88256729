import { describe, expect, it } from "vitest";
import { aBoard, LEASE_MS, type Script, use } from "../fakes/a-board.ts";
import { cast, childrenOf, eventsIn, pass, postsOf, spawning, timed } from "../fakes/a-family.ts";
import { type FakeClock, fakeClock } from "../fakes/fake-clock.ts";
import { at } from "../fakes/memory-adapter.ts";

const MAIN = "agent:main:main";
const GROUP = at("telegram", "group", "-5");
const GROUP_KEY = "agent:main:telegram:group:-5";
const SUPERGROUP = at("telegram", "group", "-1005");
const SUPERGROUP_KEY = "agent:main:telegram:group:-1005";
/** What no text for people or models may show of a number. */
const NO_NUMBER = /NaN|null|Infinity|undefined/;

/** A runner without types answers this. */
function answering(outcome: object | null): Script {
  // The point of it: the types are broken.
  return () => outcome as never;
}

const ODD_USAGE: readonly (readonly [string, object])[] = [
  ["a cost that is not a number", { inputTokens: 10, outputTokens: 5, estimatedCostUsd: Number.NaN }],
  ["a cost without end", { inputTokens: 10, outputTokens: 5, estimatedCostUsd: Number.POSITIVE_INFINITY }],
  [
    "tokens that are no numbers",
    { inputTokens: Number.NaN, outputTokens: Number.NaN, totalTokens: Number.NaN },
  ],
  ["a cost of null", { inputTokens: 3, outputTokens: 4, estimatedCostUsd: null }],
  ["texts", { inputTokens: "12", outputTokens: "x", totalTokens: "many", estimatedCostUsd: "0.1" }],
  ["less than nothing", { inputTokens: -4, outputTokens: -9, totalTokens: -13, estimatedCostUsd: -1 }],
];

describe("a runner that reports odd usage", () => {
  it.each(ODD_USAGE)(
    "ANN-3 ANN-4: %s: its task is told once and posted once, in numbers that are some",
    async (_, usage) => {
      const agents = {
        main: cast({
          asked: spawning(["look"], "asked"),
          task: answering({ status: "ok", reply: "the result", usage }),
          announce: "It is done.",
        }),
      };
      const board = await aBoard({ agents });
      await board.telegram.says("go");
      await pass(board, 60_000);
      expect(childrenOf(board)[0]).toMatchObject({ told: "row", post: { state: "delivered" } });
      const events = await eventsIn(board, MAIN);
      expect(events).toHaveLength(1);
      expect(postsOf(board)).toEqual([
        "asked",
        expect.stringMatching(/^Status: success\nResult: It is done\./),
      ]);
      const list = await use(board, MAIN, "subagents");
      expect(list).toMatchObject({ status: "ok", total: 1 });
      expect([...events, ...postsOf(board), list.text].join("\n")).not.toMatch(NO_NUMBER);
    },
  );

  it.each(ODD_USAGE)("STATUS-1: %s: the status of its session can still be read", async (_, usage) => {
    const outcome = { status: "ok", reply: "x", model: "m1", usage: { ...usage, contextTokens: 1000 } };
    const board = await aBoard({ agents: { main: answering(outcome) } });
    await board.telegram.says("go");
    await board.quiet();
    const status = await use(board, MAIN, "session_status");
    expect(status).toMatchObject({ ok: true });
    await board.telegram.says("/status");
    await board.quiet();
    expect(board.telegram.sent).toHaveLength(2);
    expect([status.statusText, ...postsOf(board)].join("\n")).not.toMatch(NO_NUMBER);
  });

  it("E01: a requester that waits for such a child is woken", async () => {
    const usage = { inputTokens: 1, outputTokens: 1, estimatedCostUsd: Number.NaN };
    const task = answering({ status: "ok", reply: "the result", usage });
    const board = await aBoard({ agents: { main: cast({ asked: spawning(["look"]), task, told: "told" }) } });
    await board.telegram.says("go");
    await pass(board, 60_000);
    expect(postsOf(board)).toEqual(["told"]);
  });
});

describe("a runner that answers something of another shape", () => {
  it.each<[string, object | null, string]>([
    ["usage null", { status: "ok", reply: "R", usage: null }, "ok"],
    ["usage as text", { status: "ok", reply: "R", usage: "12" }, "ok"],
    ["entries null", { status: "ok", reply: "R", entries: null }, "ok"],
    ["entries as text", { status: "ok", reply: "R", entries: "x" }, "ok"],
    ["a row without content", { status: "ok", reply: "R", entries: [{ role: "assistant" }] }, "ok"],
    ["a model as number", { status: "ok", reply: "R", model: 5 }, "ok"],
    ["that it yielded, though nothing is at work", { status: "yielded" }, "ok"],
    ["an error with usage null", { status: "error", error: "e", usage: null }, "error"],
    ["nothing", null, "error"],
  ])("ANN-4: %s: its task ends and is told once", async (_, outcome, status) => {
    const agents = {
      main: cast({ asked: spawning(["look"], "asked"), task: answering(outcome), announce: "done" }),
    };
    const board = await aBoard({ agents });
    await board.telegram.says("go");
    await pass(board, 60_000);
    expect(childrenOf(board)[0]).toMatchObject({ told: "row", outcome: { status } });
    expect(await eventsIn(board, MAIN)).toHaveLength(1);
  });

  it("HIST-1: one row that nobody can read does not end the session for good", async () => {
    const replies = [
      { status: "ok", reply: "one", entries: [{ role: "assistant" }] },
      { status: "ok", reply: "two" },
    ];
    const board = await aBoard({ agents: { main: (turn) => answering(replies.shift() ?? null)(turn) } });
    for (const text of ["a", "b"]) {
      await board.telegram.says(text);
      await board.quiet();
    }
    expect(postsOf(board)).toEqual(["one", "two"]);
    expect(board.complaints).toEqual([]);
  });

  it("RUN-2: that a run failed is said in the log, once, with the run, its session and the cause", async () => {
    const agents = {
      main: () => {
        throw new Error("429: too many requests");
      },
    };
    const board = await aBoard({ agents });
    await board.telegram.says("go");
    await board.quiet();
    const said = board.complaints.filter((line) => line.startsWith("A run failed "));
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/"runId":"in:.*"sessionKey":"agent:main:main".*429: too many requests/);
  });
});

describe("a spawn whose texts are broken", () => {
  it.each([
    ["half a character in the key", { idempotencyKey: "k\ud800" }],
    ["half a character in the label", { label: "l\ud800" }],
    ["a NUL in the label", { label: "l\0m" }],
    ["a NUL in the task", { task: "nul \0 y" }],
  ])("SPAWN-2: %s is no fault of the board", async (_, more) => {
    const board = await aBoard();
    await board.telegram.says("go");
    await board.quiet();
    const answer = await use(board, MAIN, "sessions_spawn", { task: "x \ud800 y", ...more });
    expect(answer).toMatchObject({ status: "accepted" });
    await pass(board, 1000);
    expect(board.complaints).toEqual([]);
    expect(childrenOf(board)[0]).toMatchObject({ told: "row", outcome: { status: "ok" } });
  });
});

describe("tools that a host mounted", () => {
  /** The host's own agent loop has the tools of the group's session, whatever becomes of that. */
  async function mounted(task: (clock: FakeClock) => Script = () => () => "done") {
    const clock = fakeClock();
    const board = await aBoard({ clock, agents: { main: cast({ asked: "hi", task: task(clock) }) } });
    await board.telegram.says("hi", { from: GROUP });
    await board.quiet();
    const tools = await board.tools(GROUP_KEY);
    let calls = 0;
    const call = async (name: string, input: object = {}) => {
      calls += 1;
      const tool = tools.find((one) => one.name === name);
      return (await tool?.call(input, { callId: `c${calls}`, signal: new AbortController().signal }))?.value;
    };
    return { board, call };
  }

  it("SPAWN-6 ANN-4: before the chat moved spawn for the chat where it is now, and its places are given back", async () => {
    const { board, call } = await mounted();
    await board.telegram.host.onChatMoved(GROUP, SUPERGROUP);
    for (let n = 1; n <= 7; n++) {
      expect(await call("sessions_spawn", { task: `task ${n}` })).toMatchObject({ status: "accepted" });
      await pass(board, LEASE_MS);
    }
    expect(await call("subagents")).toMatchObject({ active: [], total: 7 });
    expect(await use(board, SUPERGROUP_KEY, "subagents")).toMatchObject({ active: [], total: 7 });
    expect(await eventsIn(board, SUPERGROUP_KEY)).toHaveLength(7);
  });

  it("SUB-1: of a chat that moved show what is at work in it", async () => {
    const { board, call } = await mounted(timed);
    await board.telegram.host.onChatMoved(GROUP, SUPERGROUP);
    await call("sessions_spawn", { task: "5 s" });
    await board.quiet();
    expect(await call("subagents")).toMatchObject({ active: [{ index: 1, task: "5 s" }] });
    expect(await use(board, SUPERGROUP_KEY, "subagents")).toMatchObject({
      active: [{ index: 1, task: "5 s" }],
    });
  });

  it("SPAWN-2: for a session that was deleted since spawn nothing", async () => {
    const { board, call } = await mounted();
    await board.gateway.call("sessions.delete", { sessionKey: GROUP_KEY });
    expect(await call("sessions_spawn", { task: "x" })).toMatchObject({ status: "error" });
    await pass(board, 60_000);
    expect(childrenOf(board)).toEqual([]);
  });
});
