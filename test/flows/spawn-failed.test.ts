import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import { aBoard, LEASE_MS, type Script, use } from "../fakes/a-board.ts";
import { cast, childrenOf, eventsIn, pass } from "../fakes/a-family.ts";
import { aTalk, counted, hangs, limited, spawner, tasks, tasksOf } from "../fakes/a-spawner.ts";
import type { Answer } from "../fakes/asking.ts";
import { fakeClock } from "../fakes/fake-clock.ts";

const MAIN = "agent:main:main";

describe("a start that fails", () => {
  const FROM = { channel: "discord", accountId: "default", chatType: "channel", chatId: "100" } as const;

  it("D08: a thread that cannot be opened costs no place and no budget, and leaves nothing behind", async () => {
    const { script, answers } = spawner(({ signal }) => hangs(signal));
    const board = await aBoard({
      agents: { main: script },
      config: limited({ maxChildrenPerAgent: 1, maxSpawnsPerHour: 1 }),
    });
    board.discord.failNext("permanent");
    await board.discord.says('{"task":"look","thread":true}', { from: FROM });
    await board.quiet();
    expect(answers[0]).toMatchObject({ status: "error", code: "THREAD_UNAVAILABLE" });
    expect(childrenOf(board)).toEqual([]);
    await board.discord.says('{"task":"look","thread":true}', { from: FROM });
    await board.quiet();
    expect(answers[1]).toMatchObject({ status: "accepted" });
    expect(board.discord.threads).toHaveLength(1);
  });

  it("D08: no thread is opened for a child that may not be", async () => {
    const { script, answers } = spawner(({ signal }) => hangs(signal));
    const board = await aBoard({ agents: { main: script }, config: limited({ maxChildrenPerAgent: 2 }) });
    await board.discord.says(tasks(5, { thread: true }), { from: FROM });
    await board.quiet();
    expect(counted(answers)).toEqual({ accepted: 2, SPAWN_LIMIT: 3 });
    expect(board.discord.threads).toHaveLength(2);
  });

  it("D17: a spawn with a thread that is asked for twice at once opens one", async () => {
    const { script, answers } = spawner(({ signal }) => hangs(signal));
    const board = await aBoard({ agents: { main: script } });
    await board.discord.says(tasks(3, { thread: true, idempotencyKey: "k" }), { from: FROM });
    await board.quiet();
    expect(new Set(answers.map(({ childSessionKey }) => childSessionKey)).size).toBe(1);
    expect(board.discord.threads).toEqual(["task 0"]);
  });
});

describe("a process that ends while a spawn is written, in a store without transactions", () => {
  /** The values are there, and the queue has never heard of the run. */
  async function cutOff() {
    const { script } = spawner();
    const options = { config: limited({ maxChildrenPerAgent: 1, maxOpen: 1 }), store: new Keyv() };
    const board = await aTalk(options);
    const before = board.snapshot();
    const input = { task: "look", idempotencyKey: "k", label: "zebras" };
    const first = await use(board, MAIN, "sessions_spawn", input);
    await board.close({ graceMs: 0 });
    const after = await aBoard({ ...options, agents: { main: script }, dataDir: before, clock: board.clock });
    return { first, input, after };
  }

  it.each([MAIN, "agent:main:cron:job1"])(
    "D08: the task that never came holds no place in front of %s",
    async (key) => {
      const { after } = await cutOff();
      await after.gateway.call("agent", { sessionKey: key, message: "hi" });
      await after.quiet();
      expect(await use(after, key, "sessions_spawn", { task: "other" })).toMatchObject({
        status: "accepted",
      });
    },
  );

  it("D17: the same key makes the child after all", async () => {
    const { first, input, after } = await cutOff();
    expect(await use(after, MAIN, "sessions_spawn", input)).toEqual(first);
    await after.quiet();
    expect(tasksOf(after.agents.main)).toHaveLength(1);
  });
});

describe("a spawn that a store without transactions keeps half of", () => {
  /** Fails once, at the first write of a key that fits. */
  class Failing extends Map<string, string> {
    fails: RegExp | undefined;
    override set(key: string, value: string): this {
      if (this.fails?.test(key) !== true) return super.set(key, value);
      this.fails = undefined;
      throw new Error("the store is down");
    }
  }

  it.each([
    ["the rows of a fork", /\/turn\//],
    ["the session of the child", /\/session\/.*subagent/],
    ["the child", /\/child\//],
  ])("D08 C12: a lead whose spawn failed at %s ends with its own answer, and is told", async (_, fails) => {
    const values = new Failing();
    const answers: Answer[] = [];
    const script: Script = async ({ request, call }) => {
      if (request.trigger === "announce") return "ANNOUNCE_SKIP";
      if (request.trigger === "completion") return "NO_REPLY";
      if (request.depth > 1) return "done";
      if (request.depth === 1) {
        values.fails = fails;
        answers.push(await call("sessions_spawn", { task: "deep", context: "fork" }));
        return "done alone";
      }
      await call("sessions_spawn", { task: "lead" });
      return call("sessions_yield").then(() => "unreachable");
    };
    const store = new Keyv({ store: values, throwOnErrors: true });
    const board = await aBoard({ agents: { main: script }, config: limited({ maxSpawnDepth: 2 }), store });
    await board.telegram.says("go");
    await pass(board, 120_000);
    expect(answers).toMatchObject([{ status: "error", code: "STORE_UNREACHABLE" }]);
    expect(await eventsIn(board, MAIN)).toEqual([
      expect.stringMatching(/"lead"\nStatus: success\n.*\n> done alone/),
    ]);
    expect(await use(board, MAIN, "subagents")).toMatchObject({ active: [], total: 1 });
  });

  it("D08 RUN-2: a process that dies in the middle of one leaves nobody waiting for what never came", async () => {
    const clock = fakeClock();
    let left: { values: Map<string, string>; dataDir: string } | undefined;
    class Watched extends Map<string, string> {
      override set(key: string, value: string): this {
        super.set(key, value);
        if (key.includes("/child/")) left ??= { values: new Map(this), dataDir: board.snapshot() };
        return this;
      }
    }
    const prompts: string[] = [];
    const agents = {
      main: cast({
        async asked({ call, text }) {
          await call("sessions_spawn", { task: "look" }, text.includes("again") ? "other" : "first");
          await call("sessions_yield");
          return "unreachable";
        },
        told({ text }) {
          prompts.push(text);
          return "told";
        },
      }),
    };
    const on = (values: Map<string, string>) => new Keyv({ store: values, throwOnErrors: true });
    const board = await aBoard({ clock, agents, store: on(new Watched()) });
    await board.telegram.says("go");
    await board.quiet();
    prompts.length = 0;
    const { values = new Map(), dataDir = "" } = left ?? {};
    const next = await aBoard({ clock, agents, dataDir, store: on(values) });
    await pass(next, 2 * LEASE_MS);
    await next.telegram.says("again");
    await pass(next, 60_000);
    expect(prompts).toEqual([expect.stringContaining("No other subagent of yours is at work.")]);
    expect(next.telegram.sent.at(-1)?.text).toBe("told");
  });
});

describe("the budget", () => {
  /** Spawns again whenever a child has ended. */
  const again =
    (answers: Answer[]) => async (turn: Parameters<Parameters<typeof spawner>[0] & object>[0]) => {
      if (turn.request.depth > 0) return "done";
      answers.push(await turn.call("sessions_spawn", { task: "once more", announce: "requester" }));
      return "NO_REPLY";
    };

  it("D10: an agent that spawns again on each end is stopped by the budget of the hour, and goes on after it", async () => {
    const answers: Answer[] = [];
    const board = await aBoard({
      agents: { main: again(answers) },
      config: limited({ maxSpawnsPerHour: 12 }),
    });
    await board.telegram.says("go");
    await board.quiet();
    expect(counted(answers)).toEqual({ accepted: 12, SPAWN_BUDGET: 1 });
    expect(answers.at(-1)).toMatchObject({
      status: "forbidden",
      error: expect.stringMatching(/12.*agents\.defaults\.subagents\.maxSpawnsPerHour/),
    });
    board.clock.skip(3_600_000);
    await board.clock.advance(20_000);
    await board.telegram.says("go");
    await board.quiet();
    expect(counted(answers)).toEqual({ accepted: 24, SPAWN_BUDGET: 2 });
  });

  it("D10: a clock that was set back by years does not shut it for years", async () => {
    const yearsMs = 10 * 365 * 86_400_000;
    const board = await aTalk({ config: limited({ maxSpawnsPerHour: 1 }) });
    board.clock.skip(yearsMs);
    expect(await use(board, MAIN, "sessions_spawn", { task: "one" })).toMatchObject({ status: "accepted" });
    board.clock.skip(-yearsMs);
    expect(await use(board, MAIN, "sessions_spawn", { task: "two" })).toMatchObject({ status: "accepted" });
    expect(await use(board, MAIN, "sessions_spawn", { task: "three" })).toMatchObject({
      code: "SPAWN_BUDGET",
    });
  });

  it("D10: without a setting it is sixty, and the budget of one session is not that of another", async () => {
    const answers: Answer[] = [];
    const board = await aBoard({ agents: { main: again(answers) } });
    await board.telegram.says("go");
    await board.quiet();
    expect(counted(answers)).toEqual({ accepted: 60, SPAWN_BUDGET: 1 });
    await board.gateway.call("agent", { sessionKey: "cron:job1", message: "go" });
    await board.quiet();
    expect(counted(answers)).toEqual({ accepted: 120, SPAWN_BUDGET: 2 });
  });
});
