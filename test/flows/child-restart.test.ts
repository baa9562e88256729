import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import type { Child } from "../../src/core/ports/child.ts";
import type { EventName } from "../../src/core/ports/events.ts";
import { aBoard, type Board, type BoardOptions, LEASE_MS, type Script } from "../fakes/a-board.ts";
import { type Cast, cast, childrenOf, eventsIn, pass, spawning, timed, working } from "../fakes/a-family.ts";
import { type FakeClock, fakeClock } from "../fakes/fake-clock.ts";
import { fileOf } from "../fakes/store-files.ts";

/** What a process that is killed at one moment leaves behind. */
interface Crash {
  readonly moment: string;
  readonly dataDir: string;
  /** Ids of the deliveries that the platform has got by then. */
  readonly got: readonly string[];
  /** Where the values live elsewhere. */
  readonly values?: Map<string, string>;
}

type Options = BoardOptions & { readonly clock: FakeClock };

const EVERY: readonly EventName[] = [
  "run.started",
  "run.finished",
  "tool.called",
  "child.spawned",
  "child.ended",
  "child.told",
  "delivery.settled",
];

/** Plays a scenario and keeps a copy of the files at every event of it. Events between which nothing was written or sent are one moment. */
async function crashesIn(options: Options): Promise<readonly Crash[]> {
  const crashes: Crash[] = [];
  const states = new Set<string>();
  const board = await aBoard(options);
  for (const name of EVERY) {
    board.on(name, (event) => {
      const crash = crashNow(board, `${name} ${JSON.stringify(event)}`);
      const state = stateOf(crash);
      if (!states.has(state)) crashes.push(crash);
      states.add(state);
    });
  }
  await play(board);
  return crashes;
}

/** The same for two moments only when every byte that is left behind is the same, and the platform has got the same. */
function stateOf({ dataDir, got }: Crash): string {
  const hash = createHash("sha256").update(JSON.stringify(got));
  const found = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  for (const file of found
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .sort()) {
    hash.update(file.slice(dataDir.length)).update(readFileSync(file));
  }
  return hash.digest("hex");
}

/** The same on a store without transactions, at every single value that is written. */
async function crashesOnStore(options: Options): Promise<readonly Crash[]> {
  const crashes: Crash[] = [];
  const running: { board?: Board } = {};
  class Watched extends Map<string, string> {
    override set(key: string, value: string): this {
      super.set(key, value);
      const { board } = running;
      if (board !== undefined) crashes.push({ ...crashNow(board, key), values: new Map(this) });
      return this;
    }
  }
  const board = await aBoard({ ...options, store: onStore(new Watched()) });
  running.board = board;
  await play(board);
  return crashes;
}

function crashNow(board: Board, moment: string): Crash {
  return { moment, dataDir: board.snapshot(), got: postIdsOf(board) };
}

function postIdsOf({ telegram }: Board): readonly string[] {
  return telegram.sent.map(({ deliveryId }) => deliveryId);
}

async function play(board: Board): Promise<void> {
  await board.telegram.says("go");
  await pass(board, 60_000);
  await board.close({ graceMs: 0 });
}

function onStore(values: Map<string, string>): Keyv {
  return new Keyv({ store: values, throwOnErrors: true });
}

/** What is wrong in the end: nothing is open, every task is told once, and the chat hears of it once. */
async function faultsAfter(crash: Crash, options: Options): Promise<readonly string[]> {
  const { dataDir, values } = crash;
  const next = await aBoard({ ...options, dataDir, ...(values && { store: onStore(values) }) });
  await pass(next, LEASE_MS);
  await pass(next, 60_000);
  const children = values === undefined ? childrenOf(next) : childrenIn(values, dataDir);
  const faults = [
    ...stillOpen(dataDir),
    ...(await Promise.all(children.map((child) => untold(next, child, values !== undefined)))).flat(),
    ...posts(next, children, crash.got),
    ...(values === undefined ? unheard(next, children, crash.got) : []),
  ];
  await next.close({ graceMs: 0 });
  return faults.map((fault) => `${crash.moment}: ${fault}`);
}

/** Those that came into being: a crash in the middle of a spawn may leave a record without a run. */
function childrenIn(values: Map<string, string>, dataDir: string): readonly Child[] {
  const runs = fileOf(dataDir).prepare("SELECT id FROM runs WHERE id = ?");
  const stored = [...values].filter(([key]) => key.includes("/child/"));
  // Keyv wraps the texts that it is given; those of this table are children.
  const children = stored.map(([, text]) => JSON.parse(JSON.parse(text).value) as Child);
  return children.filter(({ runId }) => runs.get(runId) !== undefined);
}

function stillOpen(dataDir: string): readonly string[] {
  const open = fileOf(dataDir).prepare(
    "SELECT id FROM runs WHERE ended_at IS NULL AND id NOT LIKE '%#archive:%'",
  );
  return open.all<{ id: string }>().map(({ id }) => `never settled: ${id}`);
}

/** `often`: where the values live elsewhere, a crash between two of them may have a requester told twice, but never not at all. */
async function untold(board: Board, child: Child, often: boolean): Promise<readonly string[]> {
  const { requester, task, outcome, told, post } = child;
  const rows = (await eventsIn(board, requester)).join("\n");
  const events = rows.split(`A subagent has ended: "${task}"`).length - 1;
  return [
    ...(outcome === undefined ? [`"${task}" has no end`] : []),
    ...(told === undefined ? [`"${task}" was never told`] : []),
    ...(events === 1 || (often && events > 0) ? [] : [`"${task}" stands ${events} times in the transcript`]),
    ...(post?.state === "pending" || post === undefined ? [`the post of "${task}" is open`] : []),
  ];
}

/** Posts about children: those of completions and announces. The platform knows a repeated delivery by its id. */
function posts(board: Board, children: readonly Child[], before: readonly string[]): readonly string[] {
  const all = [...new Set([...before, ...postIdsOf(board)])];
  return children
    .filter(({ depth }) => depth === 1)
    .flatMap(({ runId, told, post, task }) => {
      const own = all.filter((id) => id.startsWith(`${runId}>`) || id.startsWith(`${runId}#`));
      const wanted = post?.state === "delivered" ? 1 : 0;
      const isRight = told === "row" ? own.length === wanted : own.length <= 1;
      return isRight ? [] : [`"${task}" was posted as ${own.join() || "nothing"} (${post?.state})`];
    });
}

/** A requester that was woken has said something; only a store without transactions may lose that. */
function unheard(board: Board, children: readonly Child[], before: readonly string[]): readonly string[] {
  const all = [...before, ...postIdsOf(board)];
  const isWoken = children.some(({ told, depth }) => told === "turn" && depth === 1);
  return isWoken && !all.some((id) => id.startsWith("spawn:")) ? ["nobody heard of anything"] : [];
}

const ONE_AT_A_TIME = { agents: { defaults: { subagents: { maxConcurrent: 1, maxSpawnDepth: 2 } } } };

/** Fails once for each board. */
const onceFailing = (): Script => {
  let failed = false;
  return () => {
    if (failed) return "told";
    failed = true;
    throw new Error("the model is overloaded");
  };
};

const SCENARIOS: readonly { readonly what: string; readonly lines: (clock: FakeClock) => Cast }[] = [
  {
    what: "two children that announce in the chat",
    lines: (clock) => ({
      asked: spawning(["one 3 s", "two 3 s"], "on it"),
      announce: "all fine",
      task: timed(clock),
    }),
  },
  {
    what: "two children of a requester that waits",
    lines: (clock) => ({ asked: spawning(["one 3 s", "two 3 s"]), told: "all fine", task: timed(clock) }),
  },
  {
    what: "a child that posts, and wakes its requester too",
    lines: (clock) => ({
      asked: spawning([{ task: "one 3 s", announce: "channel" }]),
      told: "I know",
      announce: "all fine",
      task: timed(clock),
    }),
  },
  {
    what: "a child whose requester cannot be told at first",
    lines: (clock) => ({ asked: spawning(["one 3 s"]), told: onceFailing(), task: timed(clock) }),
  },
  {
    what: "a child that cannot announce at first, and is deleted then",
    lines: (clock) => ({
      asked: spawning([{ task: "one 3 s", cleanup: "delete" }], "on it"),
      announce: onceFailing(),
      task: timed(clock),
    }),
  },
  {
    what: "a child with children of its own",
    lines: (clock) => ({
      asked: spawning(["lead"]),
      told: "all fine",
      task: (turn) =>
        turn.request.depth === 1 ? spawning(["one 3 s", "two 3 s"])(turn) : timed(clock)(turn),
      toldAsChild: "both done",
    }),
  },
  {
    what: "a child that ends while its requester is busy",
    lines: (clock) => ({
      async asked({ call, signal }) {
        await call("sessions_spawn", { task: "one 3 s" });
        await working(clock, 9000, signal);
        return "on it";
      },
      announce: "all fine",
      task: timed(clock),
    }),
  },
];

const STORES = [
  { on: "one file", crashesWith: crashesIn },
  { on: "a store without transactions", crashesWith: crashesOnStore },
];

it.each(SCENARIOS.flatMap((scenario) => STORES.map((store) => ({ ...scenario, ...store }))))(
  "D06 RUN-2 ANN-4: $what, on $on: wherever a crash comes, everything is settled, told once and posted once",
  { timeout: 120_000 },
  async ({ lines, crashesWith }) => {
    const clock = fakeClock();
    const options = () => ({ clock, config: ONE_AT_A_TIME, agents: { main: cast(lines(clock)) } });
    const crashes = await crashesWith(options());
    expect(crashes.length).toBeGreaterThan(5);
    const faults: string[] = [];
    for (const crash of crashes) faults.push(...(await faultsAfter(crash, options())));
    expect(faults).toEqual([]);
  },
);

it("D06 ANN-4: though the process is stopped after each step, a child is told once and posted once", async () => {
  const clock = fakeClock();
  const lines = { asked: spawning(["work"], "on it"), announce: "all fine" };
  const options = { clock, agents: { main: cast(lines) } };
  let board = await aBoard(options);
  await board.telegram.says("go");
  const sent: string[] = [];
  for (let stops = 0; stops < 12; stops++) {
    const step = Promise.race([
      board.next("run.finished"),
      board.next("child.told"),
      board.next("delivery.settled"),
    ]);
    await Promise.race([step, board.quiet()]);
    await board.close({ graceMs: 0 });
    sent.push(...postIdsOf(board));
    board = await aBoard({ ...options, dataDir: board.dataDir });
    await pass(board, 5000);
  }
  await pass(board, 60_000);
  sent.push(...postIdsOf(board));
  expect(new Set(sent.filter((id) => id.endsWith(">announce"))).size).toBe(1);
  expect(await eventsIn(board, "main")).toHaveLength(1);
  expect(childrenOf(board)[0]).toMatchObject({ told: "row", post: { state: "delivered" } });
});

it("D04: a task that is tried again after a crash is announced once, as what came of it in the end", async () => {
  const clock = fakeClock();
  const config = { agents: { defaults: { resume: "retry" as const } } };
  const lines = { asked: spawning(["work"], "on it"), announce: "It is done." };
  const hanging = cast({ ...lines, task: ({ signal }) => working(clock, 9e9, signal).then(() => "never") });
  const usage = { inputTokens: 10, outputTokens: 5 };
  const done = cast({ ...lines, task: () => ({ status: "ok", reply: "DONE", usage }) });
  const board = await aBoard({ clock, config, agents: { main: hanging } });
  await board.telegram.says("go");
  await pass(board, 3000);
  const dataDir = board.snapshot();
  await board.close({ graceMs: 0 });
  const next = await aBoard({ clock, config, dataDir, agents: { main: done } });
  await pass(next, LEASE_MS);
  await pass(next, 60_000);
  expect(next.telegram.sent).toHaveLength(1);
  expect(next.telegram.sent[0]?.text).toMatch(/^Status: success\nResult: It is done\.\nStats: .*tokens 15 /);
  expect(await eventsIn(next, "main")).toEqual([expect.stringContaining("> DONE")]);
});

describe("a turn about an ended child that does not come to its end", () => {
  /** What becomes of each attempt, in order; after the last it goes well. Resolves with how often the turn was held. */
  async function afterAttempts(attempts: readonly ("cut off" | "failed")[]) {
    const clock = fakeClock();
    let held = 0;
    const lines: Cast = {
      asked: spawning(["work"]),
      async told({ signal }) {
        held += 1;
        const what = attempts[held - 1];
        if (what === "cut off") await working(clock, 9e9, signal);
        if (what === "failed") throw new Error("the model is overloaded");
        return "told";
      },
    };
    const options = { clock, agents: { main: cast(lines) } };
    let board = await aBoard(options);
    await board.telegram.says("go");
    const sent: string[] = [];
    for (const _ of attempts) {
      await pass(board, 30_000);
      const dataDir = board.snapshot();
      sent.push(...board.telegram.sent.map(({ text }) => text));
      await board.close({ graceMs: 0 });
      board = await aBoard({ ...options, dataDir });
      await pass(board, LEASE_MS);
    }
    await pass(board, 60_000);
    sent.push(...board.telegram.sent.map(({ text }) => text));
    expect(await eventsIn(board, "main")).toHaveLength(1);
    return { held, sent, told: childrenOf(board)[0]?.told };
  }

  it.each([
    [["cut off"]],
    [["cut off", "cut off"]],
    [["failed", "cut off"]],
    [["cut off", "failed"]],
  ] as const)(
    "C07 D06: is held again, after it was %j, and then its chat hears of it once",
    async (attempts) => {
      const { held, sent, told } = await afterAttempts(attempts);
      expect(held).toBe(attempts.length + 1);
      expect([sent, told]).toEqual([["told"], "turn"]);
    },
  );

  it.each([
    [["cut off", "cut off", "cut off", "cut off"]],
    [["failed", "cut off", "cut off", "cut off"]],
    [["failed", "failed", "cut off", "cut off"]],
    [["cut off", "failed", "failed", "failed"]],
    [["cut off", "cut off", "failed", "failed"]],
    [["cut off", "failed", "cut off", "cut off"]],
  ] as const)(
    "C07 D06: is held three times in all, though it was always %j, and then there is a notice",
    async (attempts) => {
      const { held, sent, told } = await afterAttempts(attempts);
      expect(held).toBe(3);
      expect(sent).toHaveLength(1);
      expect(sent[0]).not.toBe("told");
      expect(told).toBe("failed");
    },
  );
});
