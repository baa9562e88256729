import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import { aBoard, aFolder, type BoardOptions, use } from "../fakes/a-board.ts";
import { childrenOf } from "../fakes/a-family.ts";
import { aTalk, counted, hangs, limited, spawner, tasks, tasksOf } from "../fakes/a-spawner.ts";
import type { Answer } from "../fakes/asking.ts";
import { gate } from "../fakes/gate.ts";

const MAIN = "agent:main:main";

/** A store that takes its time, as one behind a network does. */
class SlowMap extends Map<string, unknown> {
  override get(key: string): unknown {
    return later(() => super.get(key));
  }
  override set(key: string, value: unknown): this {
    // Keyv awaits what a store returns.
    return later(() => super.set(key, value)) as unknown as this;
  }
}

async function later<T>(work: () => T): Promise<T> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  return work();
}

const stores: readonly (readonly [string, () => BoardOptions])[] = [
  ["the embedded store", () => ({})],
  ["a Keyv of the host", () => ({ store: new Keyv() })],
  ["a slow Keyv of the host", () => ({ store: new Keyv({ store: new SlowMap() }) })],
];

describe.each(stores)("places in %s", (_, options) => {
  it("D08 SPAWN-6: of ten spawns in one turn with a cap of three exactly three are made", async () => {
    const { script, answers } = spawner(({ signal }) => hangs(signal));
    const board = await aBoard({
      agents: { main: script },
      config: limited({ maxChildrenPerAgent: 3 }),
      ...options(),
    });
    const asked = board.next("run.finished", ({ trigger }) => trigger === "user");
    await board.telegram.says(tasks(10));
    await asked;
    await board.quiet();
    expect(counted(answers)).toEqual({ accepted: 3, SPAWN_LIMIT: 7 });
    expect(tasksOf(board.agents.main)).toHaveLength(3);
    expect(answers.find(({ code }) => code === "SPAWN_LIMIT")?.error).toMatch(
      /3 of at most 3.*agents\.defaults\.subagents\.maxChildrenPerAgent/,
    );
  });

  it("D08 SPAWN-6: spawns that come one shortly after the other take no place twice", async () => {
    const board = await aTalk({ config: limited({ maxChildrenPerAgent: 2 }), ...options() });
    const answers: Promise<Answer>[] = [];
    for (let n = 0; n < 12; n++) {
      answers.push(use(board, MAIN, "sessions_spawn", { task: `task ${n}` }));
      for (let turn = 0; turn < n; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(counted(await Promise.all(answers))).toEqual({ accepted: 2, SPAWN_LIMIT: 10 });
  });

  it("D08: a spawn that is refused at the last moment gives its place back", async () => {
    const board = await aTalk({ config: limited({ maxChildrenPerAgent: 3, maxOpen: 3 }), ...options() });
    const spawn = (input: object) => use(board, MAIN, "sessions_spawn", { task: "look", ...input });
    const same = await Promise.all([1, 2, 3].map(() => spawn({ label: "zebras" })));
    expect(counted(same)).toEqual({ accepted: 1, LABEL_IN_USE: 2 });
    expect(counted([await spawn({}), await spawn({}), await spawn({})])).toEqual({
      accepted: 2,
      SPAWN_LIMIT: 1,
    });
  });

  it("SPAWN-2 SPAWN-6: a spawn that finds no place takes no label away from a child that has ended", async () => {
    const board = await aTalk({
      agents: {
        main({ request, signal, text }) {
          return request.trigger === "spawn" && !text.includes("quick") ? hangs(signal) : "done";
        },
      },
      config: limited({ maxChildrenPerAgent: 1 }),
      ...options(),
    });
    const spawn = (input: object) => use(board, MAIN, "sessions_spawn", input);
    const told = board.next("child.told");
    const first = await spawn({ task: "quick", label: "zebras" });
    await told;
    await spawn({ task: "slow" });
    expect(await spawn({ task: "more", label: "zebras" })).toMatchObject({ code: "SPAWN_LIMIT" });
    const holder = await board.gateway.call("sessions.resolve", { label: "zebras", agentId: "main" });
    expect(holder.key).toBe(first.childSessionKey);
  });

  it("SPAWN-6: the end of a child makes room, and only that", async () => {
    const hold = gate();
    const { script, answers } = spawner(async ({ signal, text }) => {
      if (text.includes("quick")) await hold.pass(signal);
      else await hangs(signal);
      return "done";
    });
    const board = await aBoard({
      agents: { main: script },
      config: limited({ maxChildrenPerAgent: 2 }),
      ...options(),
    });
    const spawned = async (input: string) => {
      const asked = board.next("run.finished", ({ trigger }) => trigger === "user");
      await board.telegram.says(input);
      await asked;
    };
    await spawned('[{"task":"quick"},{"task":"slow"}]');
    await spawned('{"task":"more"}');
    const told = board.next("child.told");
    hold.open();
    await told;
    await spawned('{"task":"more"}');
    await spawned('{"task":"more"}');
    expect(answers.map(({ status, code }) => code ?? status)).toEqual([
      "accepted",
      "accepted",
      "SPAWN_LIMIT",
      "accepted",
      "SPAWN_LIMIT",
    ]);
  });
});

describe("limits across sessions and processes", () => {
  it("D08 SPAWN-6: two boards on one folder share the cap of a session", async () => {
    const dataDir = aFolder();
    const config = limited({ maxChildrenPerAgent: 3 });
    const one = await aTalk({ config, dataDir });
    const other = await aTalk({ config, dataDir, clock: one.clock });
    const answers = await Promise.all(
      [one, other, one, other, one, other, one, other].map((board) =>
        use(board, MAIN, "sessions_spawn", { task: "look" }),
      ),
    );
    expect(counted(answers)).toEqual({ accepted: 3, SPAWN_LIMIT: 5 });
    expect(childrenOf(one)).toHaveLength(3);
  });

  it("SPAWN-6: maxOpen counts the children of all sessions", async () => {
    const board = await aTalk({ config: limited({ maxOpen: 3 }) });
    await board.gateway.call("agent", { sessionKey: "cron:job1", message: "hi" });
    await board.quiet();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        use(board, n % 2 === 0 ? MAIN : "agent:main:cron:job1", "sessions_spawn", { task: "look" }),
      ),
    );
    expect(counted(answers)).toEqual({ accepted: 3, SPAWN_LIMIT: 3 });
    expect(answers.find(({ code }) => code === "SPAWN_LIMIT")?.error).toMatch(/All sessions.*maxOpen/);
  });

  it("SPAWN-6: more children than maxConcurrent wait for their turn, and people do not", async () => {
    let atWork = 0;
    let most = 0;
    const hold = gate();
    const { script, answers } = spawner(async ({ signal }) => {
      atWork += 1;
      most = Math.max(most, atWork);
      await hold.pass(signal);
      atWork -= 1;
      return "done";
    });
    const board = await aBoard({
      agents: { main: script },
      config: limited({ maxConcurrent: 2, maxChildrenPerAgent: 20 }),
    });
    await board.telegram.says(tasks(10));
    await board.quiet();
    expect(counted(answers)).toEqual({ accepted: 10 });
    expect(atWork).toBe(2);
    await board.telegram.says("[]");
    await board.quiet();
    expect(board.telegram.sent).toHaveLength(2);
    hold.open();
    await board.quiet();
    expect(childrenOf(board).map(({ outcome }) => outcome?.status)).toEqual(Array(10).fill("ok"));
    expect(most).toBe(2);
  });

  it("D11 SPAWN-6: of twenty that are spawned in one tick on real files each writes what it says", async () => {
    const { script, answers } = spawner(({ text }) => `did ${text.split("\n").at(-1)}`);
    const board = await aBoard({ agents: { main: script }, config: limited({ maxChildrenPerAgent: 20 }) });
    await board.telegram.says(tasks(20));
    await board.quiet();
    expect(counted(answers)).toEqual({ accepted: 20 });
    const said = await Promise.all(
      answers.map(async ({ childSessionKey }) => {
        const { messages } = await board.gateway.call("chat.history", { sessionKey: childSessionKey });
        // The shape that sessions_history documents.
        const rows = messages as readonly { content: readonly { text: string }[] }[];
        return rows.slice(0, 2).map(({ content }) => content[0]?.text);
      }),
    );
    expect(said).toEqual(Array.from({ length: 20 }, (_, n) => [`task ${n}`, `did task ${n}`]));
    expect(board.complaints).toEqual([]);
  });
});
