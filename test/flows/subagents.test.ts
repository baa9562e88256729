import { describe, expect, it } from "vitest";
import type { TaskView } from "../../src/core/children/task-view.ts";
import type { ConfigInput } from "../../src/core/config.ts";
import { aBoard, type Board, type BoardOptions, LEASE_MS, type Script, use } from "../fakes/a-board.ts";
import {
  cast,
  childrenOf,
  eventsIn,
  pass,
  postsOf,
  spawning,
  taskIn,
  timed,
  working,
} from "../fakes/a-family.ts";
import { hangs, tasksOf } from "../fakes/a-spawner.ts";
import { fakeClock } from "../fakes/fake-clock.ts";
import { gate } from "../fakes/gate.ts";
import { at } from "../fakes/memory-adapter.ts";

const MAIN = "agent:main:main";
const TOKEN = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;

const forever: Script = ({ signal }) => hangs(signal);

function limits(subagents: object): ConfigInput {
  return { agents: { defaults: { subagents } } };
}

/** Two levels, and room for all of them. */
const DEEP = limits({ maxSpawnDepth: 2 });

interface List {
  readonly total: number;
  readonly active: readonly TaskView[];
  readonly recent: readonly TaskView[];
  readonly text: string;
}

async function list(board: Board, key: string = MAIN, input: object = {}): Promise<List> {
  const answer = await use(board, key, "subagents", input);
  expect(answer).toMatchObject({ status: "ok", action: "list" });
  // The shape that the tool documents.
  return answer as unknown as List;
}

function cancel(board: Board, target: unknown, key: string = MAIN) {
  return use(board, key, "subagents", { action: "cancel", target });
}

/** Somebody asks for these tasks, and as much of them has been done as can be without time. */
async function asked(board: Board): Promise<Board> {
  await board.telegram.says("go");
  await board.quiet();
  return board;
}

/** A board whose main agent spawns these, then answers; every child is at work for ever unless said otherwise. */
async function aFamily(
  tasks: readonly (string | object)[],
  { task = forever, ...options }: BoardOptions & { readonly task?: string | Script } = {},
): Promise<Board> {
  const agents = { main: cast({ asked: spawning(tasks, "asked"), task }) };
  return asked(await aBoard({ agents, ...options }));
}

/** main has one child, a lead, which has spawned these and waits for them. */
async function aDeepFamily(tasks: readonly string[], options: BoardOptions = {}): Promise<Board> {
  const lead = spawning(tasks);
  const agents = {
    main: cast({
      asked: spawning(["lead"], "asked"),
      task: (turn) => (taskIn(turn.text) === "lead" ? lead(turn) : forever(turn)),
      toldAsChild: "lead is done",
    }),
  };
  return asked(await aBoard({ config: DEEP, agents, ...options }));
}

const keyOf = (board: Board, task: string) =>
  String(childrenOf(board).find((child) => child.task === task || child.label === task)?.key);

/** Everything is over, everybody has been told once, and all places are free again. */
async function expectAllEnded(board: Board, requester = "main") {
  await board.quiet();
  const children = childrenOf(board);
  expect(children.filter(({ outcome }) => outcome === undefined)).toEqual([]);
  expect(children.filter(({ told }) => told === undefined)).toEqual([]);
  const own = children.filter(({ depth }) => depth === 1);
  const events = await eventsIn(board, requester);
  for (const { task, label } of own) {
    expect(events.filter((text) => text.includes(`"${label ?? task}"`))).toHaveLength(1);
  }
  const { status } = await use(board, MAIN, "sessions_spawn", { task: "after" });
  expect(status).toBe("accepted");
}

describe("the list", () => {
  it("SUB-1: is empty in so many words where nothing was spawned", async () => {
    const board = await asked(await aBoard());
    expect(await use(board, MAIN, "subagents")).toEqual({
      status: "ok",
      action: "list",
      requesterSessionKey: "main",
      callerSessionKey: "main",
      callerIsSubagent: false,
      total: 0,
      active: [],
      recent: [],
      text: "Active subagents:\nnone\n\nRecent subagents (last 30 min):\nnone",
    });
  });

  it("SUB-1: says which runs and for how long, and which waits for a free worker", async () => {
    const board = await aFamily([{ task: "first", label: "scout" }, "second"], {
      config: limits({ maxConcurrent: 1 }),
    });
    await pass(board, 192_000);
    const { active, recent, total, text } = await list(board);
    expect(active).toMatchObject([
      { index: 1, label: "scout", task: "first", status: "running", runtime: "3m12s", runtimeMs: 192_000 },
      { index: 2, task: "second", status: "queued", depth: 1, pendingDescendants: 0 },
    ]);
    expect(active[0]).toMatchObject({
      sessionKey: keyOf(board, "scout"),
      runId: childrenOf(board)[0]?.runId,
      startedAt: board.clock.now() - 192_000,
    });
    for (const field of ["runtime", "runtimeMs", "startedAt", "endedAt", "label", "waitsFor", "post"]) {
      expect(active[1]).not.toHaveProperty(field);
    }
    expect([recent, total]).toEqual([[], 2]);
    expect(text).toBe(
      "Active subagents:\n1. scout: running, 3m12s\n2. second: queued\n\nRecent subagents (last 30 min):\nnone",
    );
  });

  it("SUB-1: says who waits for how many of its own, and counts what works below at any depth", async () => {
    const lead = spawning(["middle", "leaf"]);
    const middle = spawning(["deep 1", "deep 2"]);
    const board = await asked(
      await aBoard({
        config: limits({ maxSpawnDepth: 3 }),
        agents: {
          main: cast({
            asked: spawning(["lead"], "asked"),
            task(turn) {
              const task = taskIn(turn.text);
              if (task === "lead") return lead(turn);
              return task === "middle" ? middle(turn) : forever(turn);
            },
          }),
        },
      }),
    );
    const { active, text } = await list(board);
    expect(active).toMatchObject([
      { task: "lead", status: "waiting", waitsFor: 2, pendingDescendants: 4, depth: 1 },
    ]);
    expect(text).toContain("1. lead: waiting (2 children), 0s");
    const below = await list(board, keyOf(board, "lead"));
    expect(below.active).toMatchObject([
      { index: 1, task: "middle", status: "waiting", waitsFor: 2, pendingDescendants: 2, depth: 2 },
      { index: 2, task: "leaf", status: "running", pendingDescendants: 0, depth: 2 },
    ]);
  });

  it("SUB-1: has a word of its own for each way to end, why it did, and what became of the post", async () => {
    const board = await aFamily(["good", "bad", "mute", { task: "slow", runTimeoutSeconds: 60 }, "wild"], {
      config: limits({ maxChildrenPerAgent: 9 }),
      task(turn) {
        const task = taskIn(turn.text);
        if (task === "bad") throw new Error("quota exceeded");
        return task === "slow" || task === "wild" ? forever(turn) : `${task} is done`;
      },
    });
    expect(await cancel(board, 5)).toMatchObject({ status: "ok", cancelled: [keyOf(board, "wild")] });
    await pass(board, 60_000);
    const { active, recent, text } = await list(board);
    expect(active).toEqual([]);
    const states = recent.map(({ task, status, error, told, post }) => [task, status, error, told, post]);
    expect(states.toSorted()).toEqual([
      ["bad", "failed", "quota exceeded", "row", "delivered"],
      ["good", "done", undefined, "row", "silent"],
      ["mute", "done", undefined, "row", "silent"],
      ["slow", "timeout", "timed out after 60 s", "row", "delivered"],
      ["wild", "stopped", "stopped", "row", "delivered"],
    ]);
    expect(text).toContain("4. slow: timeout, 1m00s (timed out after 60 s)");
    expect(text).toContain("2. bad: failed, 0s (quota exceeded)");
  });

  it("SUB-1: ended ones stand behind those at work, the newest first, and keep their numbers whatever is asked for", async () => {
    const clock = fakeClock();
    const board = await aFamily(["60 s", "run 1", "120 s", "run 2", "3000 s"], {
      clock,
      config: limits({ maxChildrenPerAgent: 9 }),
      async task(turn) {
        const [seconds = "0"] = taskIn(turn.text).match(/^\d+(?= s)/) ?? [];
        if (seconds === "0") return forever(turn);
        await working(clock, Number(seconds) * 1000, turn.signal);
        return "done";
      },
    });
    await pass(board, 3_000_000);
    const shown = ({ active, recent }: List) =>
      [...active, ...recent].map(({ index, task }) => `${index} ${task}`);
    expect(shown(await list(board))).toEqual(["2 run 1", "4 run 2", "5 3000 s"]);
    expect(shown(await list(board, MAIN, { recentMinutes: 60 }))).toEqual([
      "2 run 1",
      "4 run 2",
      "5 3000 s",
      "3 120 s",
      "1 60 s",
    ]);
  });

  it("SUB-1: a number means the same one from its spawn on, whoever ends or is spawned meanwhile", async () => {
    const clock = fakeClock();
    const board = await aFamily(["2 s A", "100 s B", "100 s C"], { clock, task: timed(clock) });
    const [, second] = (await list(board)).active;
    expect(second).toMatchObject({ index: 2, task: "100 s B" });
    await pass(board, 3000);
    await use(board, MAIN, "sessions_spawn", { task: "100 s D" });
    await board.quiet();
    const { active, recent } = await list(board);
    expect(active.map(({ index, task }) => `${index} ${task}`)).toEqual([
      "2 100 s B",
      "3 100 s C",
      "4 100 s D",
    ]);
    expect(recent.map(({ index, task }) => `${index} ${task}`)).toEqual(["1 2 s A"]);
    expect(await cancel(board, second?.index)).toMatchObject({ cancelled: [second?.sessionKey] });
    expect(await cancel(board, 1)).toMatchObject({ status: "error", code: "NOTHING_PENDING" });
  });

  it("SUB-1: all that ended within the asked minutes are listed, more than fifty too", async () => {
    const board = await asked(await aBoard({ agents: { main: cast({ asked: "hi" }) } }));
    for (let n = 0; n < 55; n++) {
      expect(await use(board, MAIN, "sessions_spawn", { task: `t${n}` })).toMatchObject({
        status: "accepted",
      });
      await board.quiet();
    }
    const { total, recent } = await list(board, MAIN, { recentMinutes: 60 });
    expect(total).toBe(55);
    expect(recent.map(({ index }) => index)).toEqual(Array.from({ length: 55 }, (_, n) => 55 - n));
  });

  it.each([
    [0, 1],
    [-5, 1],
    [2.9, 2],
    [99_999, 1440],
  ])("SUB-1: recentMinutes %d counts as %d", async (recentMinutes, counted) => {
    const board = await asked(await aBoard());
    expect((await list(board, MAIN, { recentMinutes })).text).toContain(`(last ${counted} min)`);
  });

  it.each([
    [{ recentMinutes: "30" }, "recentMinutes"],
    [{ action: "kill" }, "action"],
    [{ action: "cancel" }, "target"],
    [{ action: "cancel", target: "" }, "target"],
    [{ action: "cancel", target: -1 }, "target"],
    [{ target: "scout" }, "cancel"],
    [{ sessionKey: "main" }, "sessionKey"],
  ])("SUB-1: %j is refused by the name of what is wrong", async (input, named) => {
    const board = await asked(await aBoard());
    const answer = await use(board, MAIN, "subagents", input);
    expect(answer).toMatchObject({ status: "error", code: "INPUT_INVALID" });
    expect(answer.error).toContain(named);
  });

  it("SUB-1: texts are one short line without anybody's secret, and say that something is masked", async () => {
    const board = await aFamily([
      {
        task: `Look\n\tup ${TOKEN}   and\u202e ${"more ".repeat(50)}`,
        label: `a ${"long ".repeat(20)}label`,
      },
      `${"x".repeat(30)} ${TOKEN.slice(0, 10)}\u200b${TOKEN.slice(10)}`,
    ]);
    const answer = await list(board);
    expect(answer).toMatchObject({ contentRedacted: true });
    expect(JSON.stringify(answer)).not.toContain(TOKEN.slice(12, 30));
    for (const { task, label = "" } of answer.active) {
      expect([...task].length).toBeLessThanOrEqual(72);
      expect([...label].length).toBeLessThanOrEqual(48);
      expect(task).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    expect(answer.active[0]?.task).toMatch(/^Look up .*…$/);
  });

  it("SUB-1: tells model and tokens as soon as somebody has reported them", async () => {
    const usage = { inputTokens: 900, outputTokens: 100 };
    const board = await aFamily([{ task: "count", model: "small-1" }], {
      task: async ({ signal, text }) => {
        if (taskIn(text) === "count") await go.pass(signal);
        return { status: "ok", reply: "1000", model: "small-1-2026", usage };
      },
    });
    expect((await list(board)).active).toMatchObject([{ model: "small-1" }]);
    go.open();
    await board.quiet();
    expect((await list(board)).recent).toMatchObject([{ model: "small-1-2026", totalTokens: 1000 }]);
  });
  const go = gate();

  it("SUB-1: a post that the policy holds back, one that fails and one of which nobody knows are told apart from one that arrived", async () => {
    const agents = {
      main: cast({ asked: (turn) => spawning([turn.text], "NO_REPLY")(turn), announce: "all fine" }),
    };
    const board = await aBoard({ agents });
    const post = async (task: string) => {
      await board.telegram.says(task);
      await board.quiet();
      return (await list(board)).recent.find((one) => one.task === task);
    };
    expect(await post("arrives")).toMatchObject({ post: "delivered" });
    board.telegram.failNext("permanent");
    expect(await post("fails")).toMatchObject({
      post: "failed",
      postReason: expect.stringMatching(/permanent/),
    });
    board.telegram.failNext("uncertain");
    expect(await post("who knows")).toMatchObject({ post: "uncertain" });
    await board.telegram.says("/send off");
    await board.quiet();
    expect(await post("denied")).toMatchObject({
      status: "done",
      post: "suppressed",
      postReason: expect.stringContaining("/send off"),
    });
  });

  it("SUB-1: a child leads its own list only, and one that leads nobody has no such tool", async () => {
    const board = await aDeepFamily(["leaf"]);
    const lead = await use(board, keyOf(board, "lead"), "subagents");
    expect(lead).toMatchObject({ callerIsSubagent: true, total: 1, active: [{ task: "leaf" }] });
    const tools = await board.tools(keyOf(board, "leaf"));
    expect(tools.map(({ name }) => name)).not.toContain("subagents");
  });

  it("SUB-1: another chat's subagents are not in it", async () => {
    const board = await aFamily(["mine"]);
    await board.telegram.says("go", { from: at("telegram", "group", "-5") });
    await board.quiet();
    expect(await list(board)).toMatchObject({ total: 1 });
    expect(childrenOf(board)).toHaveLength(2);
  });

  it("SUB-1: after a restart it says the same", async () => {
    const board = await aDeepFamily(["leaf"]);
    const copy = await aBoard({ dataDir: board.snapshot(), clock: board.clock, agents: { main: forever } });
    const { text } = await list(copy);
    expect(text).toContain("1. lead: waiting (1 child)");
  });
});

describe("cancel", () => {
  it.each<[string, (board: Board) => unknown]>([
    ["its run id", (board) => childrenOf(board)[1]?.runId],
    ["its session key", (board) => childrenOf(board)[1]?.key],
    ["its session key in capitals", (board) => childrenOf(board)[1]?.key.toUpperCase()],
    ["its label", () => "scout"],
    ["its label with blanks", () => "  scout "],
    ["its index", () => 2],
    ["its index as text", () => "2"],
    ["its index with a hash", () => "#2"],
  ])("SUB-1 D19: stops the one that %s names, for real, and no other", async (_, target) => {
    const aborted: string[] = [];
    const board = await aFamily(["first", { task: "second", label: "scout" }, "third"], {
      config: limits({ maxChildrenPerAgent: 3 }),
      async task({ text, signal }) {
        await hangs(signal).catch(() => aborted.push(taskIn(text)));
        throw new Error("aborted");
      },
    });
    expect(await cancel(board, target(board))).toMatchObject({
      status: "ok",
      action: "cancel",
      cancelled: [keyOf(board, "second")],
      text: expect.stringContaining("1 subagent"),
    });
    expect(aborted).toEqual(["second"]);
    // At once: the answer waits for the run to let go.
    expect(childrenOf(board).map(({ outcome }) => outcome?.status)).toEqual([undefined, "killed", undefined]);
    expect(await use(board, MAIN, "sessions_spawn", { task: "fourth" })).toMatchObject({
      status: "accepted",
    });
    await board.quiet();
    expect((await eventsIn(board, "main")).join()).toMatch(/"scout"\nStatus: stopped/);
    for (const number of [1, 3, 4]) expect(await cancel(board, number)).toMatchObject({ status: "ok" });
    await expectAllEnded(board);
  });

  it("SUB-1 D19: one that has not begun never does", async () => {
    const board = await aFamily(["first", "second"], { config: limits({ maxConcurrent: 1 }) });
    expect(await cancel(board, 2)).toMatchObject({ cancelled: [keyOf(board, "second")] });
    expect((await list(board)).recent).toMatchObject([{ task: "second", status: "stopped" }]);
    expect((await list(board)).recent[0]).not.toHaveProperty("startedAt");
    const run = { runId: childrenOf(board)[1]?.runId, timeoutSeconds: 0 };
    expect(await board.gateway.call("agent.wait", run)).toMatchObject({ state: "cancelled" });
    await cancel(board, 1);
    await board.quiet();
    expect(tasksOf(board.agents.main)).toHaveLength(1);
    await expectAllEnded(board);
  });

  it("SUB-1 D19: with the one that waits everything below it is stopped", async () => {
    const board = await aDeepFamily(["leaf 1", "leaf 2"]);
    const answer = await cancel(board, "1");
    expect(answer).toMatchObject({ text: expect.stringContaining("3 subagents") });
    expect(answer.cancelled).toEqual(["lead", "leaf 1", "leaf 2"].map((task) => keyOf(board, task)));
    await expectAllEnded(board);
    expect(childrenOf(board).map(({ outcome }) => outcome?.status)).toEqual([
      "killed",
      "killed",
      "killed",
      undefined,
    ]);
  });

  it("SUB-1 YIELD-1: whoever waits for the one that is stopped goes on, though it is two levels down", async () => {
    const board = await aDeepFamily(["leaf 1", "leaf 2"]);
    await cancel(board, keyOf(board, "leaf 1"));
    await cancel(board, childrenOf(board)[2]?.runId);
    await board.quiet();
    const [lead, ...leaves] = childrenOf(board);
    expect(lead).toMatchObject({ outcome: { status: "ok" }, result: "lead is done" });
    expect(leaves.map(({ outcome, told }) => [outcome?.status, told])).toEqual([
      ["killed", "turn"],
      ["killed", "turn"],
    ]);
    await expectAllEnded(board);
  });

  it("SUB-1 D19: what is unknown, another's, above or the caller itself is one and the same refusal, and nothing is stopped", async () => {
    const board = await aDeepFamily(["leaf 1", "leaf 2"]);
    await board.telegram.says("go", { from: at("telegram", "group", "-5") });
    await board.quiet();
    const [lead, leaf, sibling, foreign] = childrenOf(board);
    const answers = await Promise.all([
      cancel(board, "nobody"),
      cancel(board, "agent:main:subagent:00000000-0000-8000-a000-000000000000"),
      cancel(board, 7),
      cancel(board, "0"),
      cancel(board, foreign?.key),
      cancel(board, foreign?.runId),
      cancel(board, "current"),
      cancel(board, "main"),
      cancel(board, MAIN),
      cancel(board, lead?.key, lead?.key),
      cancel(board, lead?.runId, lead?.key),
      cancel(board, "lead", lead?.key),
      cancel(board, foreign?.key, lead?.key),
    ]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: "error", code: "CHILD_NOT_FOUND" });
    expect(childrenOf(board).map(({ stoppedBy, outcome }) => stoppedBy ?? outcome)).toEqual(
      [lead, leaf, sibling, foreign, undefined, undefined].map(() => undefined),
    );
  });

  it("SUB-1: of what has ended it says so, and how it ended", async () => {
    const board = await aFamily(["quick"], { task: "done" });
    const answer = await cancel(board, 1);
    expect(answer).toMatchObject({ status: "error", code: "NOTHING_PENDING" });
    expect(answer.error).toContain("(done)");
    await expectAllEnded(board);
  });

  it("SUB-1: a name that two at work have is refused with their keys; one that an ended one had is not", async () => {
    const agents = {
      main: cast({
        asked: spawning(
          [
            { task: "one", label: "twin" },
            { task: "two", label: "twin", agentId: "research" },
          ],
          "asked",
        ),
        task: forever,
      }),
      research: forever,
    };
    const board = await asked(await aBoard({ agents, config: limits({ allowAgents: ["*"] }) }));
    const keys = childrenOf(board).map(({ key }) => key);
    const answer = await cancel(board, "twin");
    expect(answer).toMatchObject({ status: "error", code: "SESSION_AMBIGUOUS" });
    for (const key of keys) expect(answer.error).toContain(key);
    await cancel(board, keys[0]);
    expect(await cancel(board, "twin")).toMatchObject({ cancelled: [keys[1]] });
  });

  it("SUB-1 D19: a label that is a number names its own task, and never the one of that number", async () => {
    const board = await aFamily(["one", { task: "two", label: "1" }, { task: "three", label: "#2" }]);
    expect(await cancel(board, "1")).toMatchObject({ cancelled: [keyOf(board, "two")] });
    expect(await cancel(board, "1")).toMatchObject({ status: "error", code: "NOTHING_PENDING" });
    expect(await cancel(board, "#2")).toMatchObject({ cancelled: [keyOf(board, "three")] });
    expect(childrenOf(board).map(({ outcome }) => outcome?.status)).toEqual([undefined, "killed", "killed"]);
    expect(await cancel(board, "#1")).toMatchObject({ cancelled: [keyOf(board, "one")] });
  });

  it("SUB-1 ANN-4: two that cancel the same one at once tell its requester once", async () => {
    const board = await aFamily(["wild"]);
    const answers = await Promise.all([cancel(board, 1), cancel(board, 1), cancel(board, 1)]);
    expect(answers.map(({ status, code }) => code ?? status)).toContain("ok");
    await expectAllEnded(board);
    expect(postsOf(board).filter((text) => text.startsWith("Status: stopped"))).toHaveLength(1);
  });

  it("SUB-1 ANN-4: one that meets the end of the run leaves one end, and it is told once", async () => {
    for (const early of [true, false]) {
      const finish = gate();
      const board = await aFamily(["racing"], {
        async task({ signal }) {
          await finish.pass(signal);
          return "made it";
        },
      });
      if (early) finish.open();
      const answer = cancel(board, 1);
      finish.open();
      expect(["ok", "error"]).toContain((await answer).status);
      await expectAllEnded(board);
      expect(["ok", "killed"]).toContain(childrenOf(board)[0]?.outcome?.status);
    }
  });

  it("SUB-1 ANN-4: one that meets the moment in which a child begins to wait leaves nobody waiting, whichever comes first", async () => {
    const ticks = async (count: number) => {
      for (let n = 0; n < count; n++) await Promise.resolve();
    };
    for (let early = 0; early < 60; early += 4) {
      const stopped: Promise<unknown>[] = [];
      const board = await aBoard({
        config: DEEP,
        agents: {
          main: cast({
            asked: spawning(["lead"], "asked"),
            task: async (turn) => {
              if (taskIn(turn.text) !== "lead") return forever(turn);
              await turn.call("sessions_spawn", { task: "leaf" });
              stopped.push(cancel(board, 1));
              await ticks(early);
              return "the rest comes later";
            },
          }),
        },
      });
      await asked(board);
      expect(await Promise.all(stopped)).toMatchObject([{ status: "ok" }]);
      expect(childrenOf(board).map(({ outcome }) => outcome?.status)).toEqual(["killed", "killed"]);
      await expectAllEnded(board);
      await board.close({ graceMs: 0 });
    }
  });

  it("SUB-1: an agent that stops its own subagent can spawn another in its place in the same turn", async () => {
    const answers: unknown[] = [];
    const agents = {
      main: cast({
        async asked({ call }) {
          await call("sessions_spawn", { task: "wild" });
          answers.push((await call("sessions_spawn", { task: "too many" })).code);
          answers.push((await call("subagents", { action: "cancel", target: 1 })).status);
          answers.push((await call("sessions_spawn", { task: "instead" })).status);
          return "asked";
        },
        task: (turn) => (taskIn(turn.text) === "wild" ? forever(turn) : "done"),
      }),
    };
    const board = await asked(await aBoard({ agents, config: limits({ maxChildrenPerAgent: 1 }) }));
    expect(answers).toEqual(["SPAWN_LIMIT", "ok", "accepted"]);
    await expectAllEnded(board);
  });

  it("SUB-1 RUN-2: a process that dies while the run has yet to let go leaves a task that ends as stopped, once", async () => {
    const deaf = new Promise<never>(() => {});
    const board = await aFamily(["deaf"], { task: () => deaf });
    void cancel(board, 1);
    await board.quiet();
    expect(childrenOf(board)[0]).toMatchObject({ stoppedBy: "requester" });
    expect(childrenOf(board)[0]?.outcome).toBeUndefined();
    const again = await aBoard({ dataDir: board.snapshot(), agents: { main: cast({ task: "ran again" }) } });
    await pass(again, LEASE_MS + 1000);
    expect(childrenOf(again)[0]).toMatchObject({ outcome: { status: "killed" } });
    expect(tasksOf(again.agents.main)).toEqual([]);
    await expectAllEnded(again);
    // Nobody listens, so the first board can only leave its run behind.
    await board.clock.advance(2000);
  });
});
