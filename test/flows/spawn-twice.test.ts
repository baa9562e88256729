import { describe, expect, it } from "vitest";
import { aBoard, LEASE_MS, use } from "../fakes/a-board.ts";
import { cast, childrenOf, pass, spawning } from "../fakes/a-family.ts";
import { hangs, promptOf, spawner, tasksOf } from "../fakes/a-spawner.ts";

const MAIN = "agent:main:main";

/** One turn for each of these tasks, in which it is spawned under this call id. */
async function numbering(tasks: readonly string[], callId: string) {
  const keys: unknown[] = [];
  const board = await aBoard({
    agents: {
      async main({ request, text, call }) {
        if (request.trigger !== "user") return "NO_REPLY";
        keys.push((await call("sessions_spawn", { task: text }, callId)).childSessionKey);
        return "asked";
      },
    },
  });
  for (const task of tasks) {
    await board.telegram.says(task);
    await board.quiet();
  }
  return { board, keys };
}

describe("the same spawn twice", () => {
  it("D17: one call id is one child, in the same breath and after the answer; other ids are others", async () => {
    const answers: unknown[] = [];
    const board = await aBoard({
      agents: {
        async main({ request, call }) {
          if (request.trigger !== "user") return "NO_REPLY";
          const task = { task: "look" };
          const once = (id: string) => call("sessions_spawn", task, id);
          answers.push(...(await Promise.all([once("a"), once("a"), once("b")])), await once("a"));
          return "asked";
        },
      },
    });
    await board.telegram.says("go");
    await board.quiet();
    const [first, again, other, later] = answers;
    expect(again).toEqual(first);
    expect(later).toEqual(first);
    expect(other).toMatchObject({ status: "accepted" });
    expect(other).not.toMatchObject({
      childSessionKey: (first as { childSessionKey: string }).childSessionKey,
    });
    expect(tasksOf(board.agents.main)).toHaveLength(2);
  });

  it("D17: an idempotency key is one child in every turn, whoever asks at once, and says so once", async () => {
    const { script, answers } = spawner();
    const board = await aBoard({ agents: { main: script, ops: script } });
    const spawned: string[] = [];
    board.on("child.spawned", ({ childId }) => spawned.push(childId));
    const input = { task: "look", idempotencyKey: "k1" };
    await board.telegram.says(JSON.stringify([input, { ...input, task: "look again" }, input]));
    await board.quiet();
    await board.telegram.says(JSON.stringify([input, { ...input, idempotencyKey: "k2" }]));
    await board.quiet();
    const keys = answers.map(({ childSessionKey }) => childSessionKey);
    expect(new Set(keys.slice(0, 4)).size).toBe(1);
    expect(keys[4]).not.toBe(keys[0]);
    expect(tasksOf(board.agents.main)).toHaveLength(2);
    expect(spawned).toHaveLength(2);
  });

  it("D17: the key means its child also when no place is left and its label is taken, by that child", async () => {
    const { script, answers } = spawner(({ signal }) => hangs(signal));
    const config = { agents: { defaults: { subagents: { maxChildrenPerAgent: 1, maxSpawnsPerHour: 1 } } } };
    const board = await aBoard({ agents: { main: script }, config });
    const input = '{"task":"look","idempotencyKey":"k","label":"zebras"}';
    await board.telegram.says(input);
    await board.telegram.says(input);
    await board.quiet();
    expect(answers[0]).toMatchObject({ status: "accepted" });
    expect(answers[1]).toEqual(answers[0]);
  });

  it("D17: two boards on one folder that are asked at once make one child", async () => {
    const one = await aBoard({
      agents: { main: ({ signal, request }) => (request.depth > 0 ? hangs(signal) : "ok") },
    });
    await one.telegram.says("hi");
    await one.quiet();
    const other = await aBoard({
      agents: { main: ({ signal }) => hangs(signal) },
      dataDir: one.dataDir,
      clock: one.clock,
    });
    const input = { task: "look", idempotencyKey: "k" };
    const answers = await Promise.all(
      [one, other, one, other].map((board) => use(board, MAIN, "sessions_spawn", input)),
    );
    expect(new Set(answers.map(({ childSessionKey }) => childSessionKey)).size).toBe(1);
    expect(childrenOf(one)).toHaveLength(1);
    await other.quiet();
    expect([...tasksOf(one.agents.main), ...tasksOf(other.agents.main)]).toHaveLength(1);
  });

  it("D17: the key of one session is not that of another", async () => {
    const { script, answers } = spawner();
    const board = await aBoard({ agents: { main: script } });
    const input = '{"task":"look","idempotencyKey":"k"}';
    await board.telegram.says(input);
    await board.gateway.call("agent", { sessionKey: "cron:job1", message: input });
    await board.quiet();
    expect(answers[0]?.childSessionKey).not.toBe(answers[1]?.childSessionKey);
  });

  it("D17: after a crash and a restart the key still means the child that is at work", async () => {
    const first = spawner(({ signal }) => hangs(signal));
    const board = await aBoard({ agents: { main: first.script } });
    const input = '{"task":"look","idempotencyKey":"k"}';
    await board.telegram.says(input);
    await board.quiet();
    const second = spawner();
    const after = await aBoard({
      agents: { main: second.script },
      dataDir: board.snapshot(),
      clock: board.clock,
    });
    await after.telegram.says(input);
    await after.quiet();
    expect(second.answers).toEqual(first.answers);
    await after.clock.advance(2 * LEASE_MS);
    await after.telegram.says(input);
    await after.quiet();
    expect(second.answers[1]).toEqual(first.answers[0]);
    expect(childrenOf(after)).toHaveLength(1);
  });

  it("D17: a key that comes back long after its task was forgotten is a child that knows nothing of the first", async () => {
    const { script, answers } = spawner(() => "done");
    const board = await aBoard({ agents: { main: script } });
    await board.telegram.says('{"task":"the first","idempotencyKey":"k","label":"old"}');
    await board.quiet();
    for (const hours of [2, 26, 26]) {
      board.clock.skip(hours * 3_600_000);
      await board.clock.advance(LEASE_MS);
      await board.quiet();
    }
    expect(childrenOf(board)).toEqual([]);
    await board.telegram.says('{"task":"the second","idempotencyKey":"k","label":"new","thinking":"low"}');
    await board.quiet();
    const [, second] = tasksOf(board.agents.main);
    expect(promptOf(second)).toBe("[Subagent Task]\n\nthe second");
    expect(second).toMatchObject({ history: [], thinking: "low", session: { label: "new" } });
    expect(second?.session.archivedAtMs).toBeUndefined();
    expect(answers[1]).toMatchObject({ status: "accepted" });
  });

  it("D17: a model that numbers its calls anew in each turn spawns anew, and the same task once more too", async () => {
    const { board, keys } = await numbering(["one", "two", "two"], "call_0");
    expect(new Set(keys).size).toBe(3);
    expect(childrenOf(board).map(({ task }) => task)).toEqual(["one", "two", "two"]);
  });

  it("D17: tools that a host mounted make another child of another task, though the call id comes back", async () => {
    const board = await aBoard();
    await board.telegram.says("hi");
    await board.quiet();
    const tools = await board.tools(MAIN);
    const spawn = async (task: string) => {
      const tool = tools.find(({ name }) => name === "sessions_spawn");
      const call = { callId: "call_0", signal: new AbortController().signal };
      const answer = (await tool?.call({ task }, call))?.value;
      await board.quiet();
      return answer;
    };
    const [one, two, again] = [await spawn("one"), await spawn("two"), await spawn("one")];
    expect([one, two]).toMatchObject([{ status: "accepted" }, { status: "accepted" }]);
    expect(two?.childSessionKey).not.toBe(one?.childSessionKey);
    expect(again).toEqual(one);
    expect(childrenOf(board).map(({ task }) => task)).toEqual(["one", "two"]);
  });

  it("D17 C07: a turn about an ended child that fails after it has spawned is held again without a second child", async () => {
    let held = 0;
    const agents = {
      main: cast({
        asked: spawning(["look"]),
        async told({ call, text }) {
          if (!text.includes('"look"')) return "NO_REPLY";
          await call("sessions_spawn", { task: "follow-up" }, "toolu_1");
          held += 1;
          if (held < 3) throw new Error("429");
          return "told";
        },
      }),
    };
    const board = await aBoard({ agents });
    await board.telegram.says("go");
    await pass(board, 60_000);
    expect(held).toBe(3);
    expect(childrenOf(board).map(({ task }) => task)).toEqual(["look", "follow-up"]);
  });
});
