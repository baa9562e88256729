import { describe, expect, it } from "vitest";
import { aBoard, LEASE_MS, OPEN } from "../fakes/a-board.ts";
import { cast, pass, rowsOf, spawning, timed } from "../fakes/a-family.ts";
import { asking, send } from "../fakes/asking.ts";
import { type FakeClock, fakeClock } from "../fakes/fake-clock.ts";
import { at } from "../fakes/memory-adapter.ts";

const ROOM = at("discord", "channel", "222");
const ROOM_KEY = "agent:research:discord:channel:222";
const BINDINGS = [{ agentId: "research", match: { channel: "discord" } }];

/** main asks research, which spawns, yields, tells its chat, and answers when it is asked again. */
async function yielding(clock: FakeClock, input: object, dataDir?: string, againYields = false) {
  const { script, answers } = asking();
  const read: string[] = [];
  const board = await aBoard({
    clock,
    ...(dataDir === undefined ? {} : { dataDir }),
    config: { ...OPEN, bindings: BINDINGS },
    agents: {
      main(turn) {
        if (turn.request.trigger === "reply-back") read.push(turn.text);
        return script(turn);
      },
      research: cast({
        asked(turn) {
          if (turn.request.trigger === "user") return "hello";
          const isAgain = turn.text.includes("still waits for your answer");
          if (isAgain && !againYields) return "COUNTED: 42";
          return isAgain || turn.request.trigger === "send" ? spawning(["count 3 s"])(turn) : "REPLY_SKIP";
        },
        told: "told in the chat",
        task: timed(clock),
        announce: "announced",
      }),
    },
  });
  const begin = async () => {
    await board.discord.says("hi", { from: ROOM });
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "how many?", ...input }));
  };
  return { board, answers, read, begin };
}

const stateOf = async ({ gateway }: Awaited<ReturnType<typeof aBoard>>, runId: unknown) =>
  (await gateway.call("agent.wait", { runId, timeoutSeconds: 0 })).exchange;

describe("an asked session that yields", () => {
  it.each([0, 30])(
    "A03 SEND-2 A2A-2: is asked again when its subagents have ended, and its answer reaches the requester once (timeoutSeconds %i)",
    async (timeoutSeconds) => {
      const { board, answers, read, begin } = await yielding(fakeClock(), { timeoutSeconds });
      await begin();
      await pass(board, 1000);
      expect(answers[0]).toMatchObject({ status: "accepted" });
      expect(answers[0]).not.toHaveProperty("reply");
      if (timeoutSeconds > 0) expect(answers[0]?.notice).toContain("waits for its own subagents");
      expect(await stateOf(board, answers[0]?.runId)).toMatchObject({ state: "open" });
      await pass(board, 60_000);
      expect(read.filter((text) => text.includes("COUNTED: 42"))).toHaveLength(1);
      expect(board.discord.sent.map(({ text }) => text)).toEqual(["hello", "told in the chat", "announced"]);
      expect(await stateOf(board, answers[0]?.runId)).toMatchObject({ state: "announced" });
    },
  );

  it.each([100, 1500, 3500])("A03 STORE-3: a kill after %i ms loses and doubles nothing", async (ms) => {
    const clock = fakeClock();
    const first = await yielding(clock, { timeoutSeconds: 0 });
    await first.begin();
    await pass(first.board, ms);
    expect(first.read).toEqual([]);
    const copy = first.board.snapshot();
    await first.board.close({ graceMs: 0 });
    const second = await yielding(clock, {}, copy);
    await pass(second.board, LEASE_MS * 3);
    await pass(second.board, 60_000);
    expect(second.read.filter((text) => text.includes("COUNTED: 42"))).toHaveLength(1);
  });

  it("A03: one that only yields is given up, and the requester is told", async () => {
    const { board, answers, begin } = await yielding(fakeClock(), { timeoutSeconds: 0 }, undefined, true);
    await begin();
    for (let minute = 0; minute < 8; minute++) await pass(board, 60_000);
    expect(await stateOf(board, answers[0]?.runId)).toMatchObject({ state: "failed" });
    const rows = (await rowsOf(board, "main")).map(({ text }) => text);
    expect(rows.filter((text) => text.includes("was not answered: it yielded again and again"))).toHaveLength(
      1,
    );
  });
});
