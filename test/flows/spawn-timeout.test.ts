import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../src/core/config.ts";
import { aBoard, type Board, type Script } from "../fakes/a-board.ts";
import { cast, childrenOf, eventsIn, pass, postsOf, spawning, working } from "../fakes/a-family.ts";
import { hangs, spawner, tasksOf } from "../fakes/a-spawner.ts";
import { fakeClock } from "../fakes/fake-clock.ts";

const MAIN = "agent:main:main";

interface Aborted {
  readonly atMs: number;
  readonly reason: unknown;
}

type Child = (turn: Parameters<Script>[0], board: Board) => ReturnType<Script>;

/** A board on which a child was spawned that never ends, if nothing else is said; `aborted` is what its signal said. */
async function withHanging(input: object, config: ConfigInput = {}, child?: Child) {
  const aborted: Aborted[] = [];
  const { script, answers } = spawner((turn) => {
    const { signal } = turn;
    signal.addEventListener("abort", () =>
      aborted.push({ atMs: board.clock.now() - startMs, reason: signal.reason }),
    );
    return child?.(turn, board) ?? hangs(signal);
  });
  const board: Board = await aBoard({ agents: { main: script }, config });
  const startMs = board.clock.now();
  await board.telegram.says(JSON.stringify({ task: "for ever", ...input }));
  await board.quiet();
  const spawnsAgain = async () => {
    await board.telegram.says('{"task":"next"}');
    await board.quiet();
    return answers.at(-1);
  };
  return { board, aborted, answers, spawnsAgain };
}

const defaults = (subagents: object, more: object = {}): ConfigInput => ({
  agents: { defaults: { subagents, ...more } },
});

it("C05: a child that fails without a reason is told with a sentence, not with a word of the programming language", async () => {
  const board = await aBoard({
    agents: { main: cast({ asked: spawning(["work"], "ok"), task: () => Promise.reject(undefined) }) },
  });
  await board.telegram.says("go");
  await board.quiet();
  const told = JSON.stringify([postsOf(board), await eventsIn(board, "main")]);
  expect(told).toContain("no reason was given");
  expect(told).not.toContain("undefined");
});

describe("the time of a task", () => {
  it("D05 SPAWN-9: after runTimeoutSeconds the child is aborted, its place free and its requester told", async () => {
    const { board, aborted, spawnsAgain } = await withHanging(
      { runTimeoutSeconds: 60 },
      defaults({ maxChildrenPerAgent: 1 }),
    );
    await board.clock.advance(59_900);
    expect(aborted).toEqual([]);
    expect(childrenOf(board)[0]?.outcome).toBeUndefined();
    expect(await spawnsAgain()).toMatchObject({ code: "SPAWN_LIMIT" });
    await board.clock.advance(200);
    await board.quiet();
    expect(aborted).toEqual([{ atMs: 60_000, reason: expect.objectContaining({ name: "TimeoutError" }) }]);
    expect(childrenOf(board)).toMatchObject([
      { outcome: { status: "timeout", error: "timed out after 60 s" } },
    ]);
    expect(await eventsIn(board, MAIN)).toEqual([
      expect.stringMatching(/Status: timeout \(timed out after 60 s\)/),
    ]);
    expect(await spawnsAgain()).toMatchObject({ status: "accepted" });
  });

  it("D05 SPAWN-9: without one the configured time holds", async () => {
    const { board, aborted } = await withHanging({}, defaults({ runTimeoutSeconds: 600 }));
    await board.clock.advance(599_900);
    expect(aborted).toEqual([]);
    await board.clock.advance(200);
    await board.quiet();
    expect(aborted).toMatchObject([{ atMs: 600_000 }]);
    expect(childrenOf(board)[0]?.outcome?.status).toBe("timeout");
  });

  it.each<[string, object, ConfigInput]>([
    [
      "0 is none, although the config has one",
      { runTimeoutSeconds: 0 },
      defaults({ runTimeoutSeconds: 600 }),
    ],
    ["nothing at all is none", {}, {}],
    ["the time of ordinary runs is not that of tasks", {}, defaults({}, { timeoutSeconds: 30 })],
  ])("D05 SPAWN-9: %s", async (_, input, config) => {
    const { board, aborted } = await withHanging(input, config);
    await board.clock.advance(3_600_000);
    await board.quiet();
    expect(aborted).toEqual([]);
    expect(childrenOf(board)[0]?.outcome).toBeUndefined();
  });

  it("D05: after an own timeout nothing is tried again, and no other model is asked", async () => {
    const { board } = await withHanging(
      { runTimeoutSeconds: 5 },
      defaults({ model: "usual" }, { resume: "retry" }),
    );
    await board.clock.advance(3_600_000);
    await board.quiet();
    const turns = board.agents.main?.turns ?? [];
    expect(turns.filter(({ depth }) => depth === 1)).toHaveLength(1);
    expect(tasksOf(board.agents.main)).toHaveLength(1);
  });

  it("D05 SPAWN-9: a child that ignores its signal is left behind, and what it still does is of no account", async () => {
    let release: (reply: string) => void = () => {};
    const { board, answers, spawnsAgain } = await withHanging(
      { runTimeoutSeconds: 5 },
      defaults({ maxChildrenPerAgent: 1, maxConcurrent: 1 }),
      ({ text }) => (text.endsWith("next") ? "done" : new Promise((resolve) => (release = resolve))),
    );
    await board.clock.advance(6100);
    await board.quiet();
    expect(childrenOf(board)[0]?.outcome?.status).toBe("timeout");
    expect(await spawnsAgain()).toMatchObject({ status: "accepted" });
    release("too late");
    await board.quiet();
    expect(childrenOf(board).map(({ outcome, result }) => [outcome?.status, result])).toEqual([
      ["timeout", undefined],
      ["ok", "done"],
    ]);
    const { messages } = await board.gateway.call("chat.history", {
      sessionKey: answers[0]?.childSessionKey,
    });
    expect(JSON.stringify(messages)).not.toContain("too late");
  });

  it("D05 SPAWN-9: the time begins with the task, not while it waits for its turn", async () => {
    const { board, aborted } = await withHanging({ runTimeoutSeconds: 60 }, defaults({ maxConcurrent: 1 }));
    await board.clock.advance(10_000);
    await board.telegram.says('{"task":"second","runTimeoutSeconds":60}');
    await board.quiet();
    await board.clock.advance(111_000);
    await board.quiet();
    expect(aborted.map(({ atMs }) => atMs)).toEqual([60_000, 120_000]);
    expect(childrenOf(board).map(({ outcome }) => outcome?.error)).toEqual(
      Array(2).fill("timed out after 60 s"),
    );
  });

  it("D03 SPAWN-9: a child that ends just in time has ended well", async () => {
    const { board, aborted } = await withHanging(
      { runTimeoutSeconds: 10 },
      {},
      (_turn, { clock }) => new Promise((resolve) => void clock.after(9900, () => resolve("in time"))),
    );
    await board.clock.advance(20_000);
    await board.quiet();
    expect(aborted).toEqual([]);
    expect(childrenOf(board)).toMatchObject([{ outcome: { status: "ok" }, result: "in time" }]);
  });

  it("SPAWN-9: the time of a child that waits for its own runs on, and what it has spawned ends with it", async () => {
    const aborted: number[] = [];
    const board: Board = await aBoard({
      config: defaults({ maxSpawnDepth: 2 }),
      agents: {
        async main({ request, call, signal }) {
          if (request.trigger === "completion" || request.trigger === "announce") return "NO_REPLY";
          const input = request.depth === 0 ? { task: "lead", runTimeoutSeconds: 60 } : { task: "work" };
          if (request.depth < 2) await call("sessions_spawn", input);
          if (request.depth === 1) await call("sessions_yield");
          if (request.depth === 0) return "asked";
          signal.addEventListener("abort", () => aborted.push(board.clock.now()));
          return hangs(signal);
        },
      },
    });
    const startMs = board.clock.now();
    await board.telegram.says("go");
    await board.quiet();
    await board.clock.advance(59_000);
    expect(childrenOf(board).map(({ outcome }) => outcome)).toEqual([undefined, undefined]);
    await board.clock.advance(3000);
    await board.quiet();
    expect(childrenOf(board).map(({ outcome }) => outcome?.status)).toEqual(["timeout", "killed"]);
    expect(aborted[0]).toBeLessThanOrEqual(startMs + 62_000);
  });

  it.each([
    ["another run is under way in its session", 8, true],
    ["every worker is busy with other tasks", 1, false],
  ])(
    "SPAWN-9: a lead that waits is timed out when its time is up, though %s",
    async (_, maxConcurrent, isAsked) => {
      const clock = fakeClock();
      const script: Script = async ({ request, call, signal, text }) => {
        const { depth, trigger } = request;
        if (trigger === "announce" || trigger === "completion") return "NO_REPLY";
        if (depth === 2) return hangs(signal);
        if (trigger === "send") return working(clock, 500_000, signal).then(() => "late");
        if (depth === 1) {
          await call("sessions_spawn", { task: "work" });
          return call("sessions_yield").then(() => "unreachable");
        }
        if (trigger !== "user") return "REPLY_SKIP";
        const sessionKey = /agent:\S+/.exec(text)?.[0];
        if (sessionKey === undefined) await call("sessions_spawn", { task: "lead", runTimeoutSeconds: 30 });
        else await call("sessions_send", { sessionKey, message: "ping", timeoutSeconds: 0 });
        return "asked";
      };
      const config = defaults({ maxSpawnDepth: 2, maxConcurrent });
      const board = await aBoard({ clock, agents: { main: script }, config });
      await board.telegram.says("go");
      await pass(board, 1000);
      if (isAsked) await board.telegram.says(`ping ${childrenOf(board)[0]?.key}`);
      await pass(board, 29_500);
      const [lead] = childrenOf(board);
      expect(lead).toMatchObject({ outcome: { status: "timeout", error: "timed out after 30 s" } });
      expect((lead?.endedAtMs ?? 0) - (lead?.spawnedAtMs ?? 0)).toBeLessThan(30_500);
    },
  );
});
