import { describe, expect, it } from "vitest";
import { aBoard, type Board } from "../fakes/a-board.ts";
import {
  cast,
  childrenOf,
  eventsIn,
  pass,
  postsOf,
  rowsOf,
  spawning,
  timed,
  working,
} from "../fakes/a-family.ts";
import { fakeClock } from "../fakes/fake-clock.ts";
import { at, OWNER } from "../fakes/memory-adapter.ts";
import { fileOf } from "../fakes/store-files.ts";

const DEEP = { agents: { defaults: { subagents: { maxSpawnDepth: 2 } } } };

/** The turns in which this session was told of ended children. */
function toldTurns(board: Board, depth = 0) {
  return (board.agents.main?.turns ?? [])
    .filter((turn) => turn.trigger === "completion" && turn.depth === depth)
    .map(({ input }) => input.content.map((block) => (block.type === "text" ? block.text : "")).join("\n"));
}

/** Which tasks a text tells of, in its order. */
function tasksIn(text: string): readonly string[] {
  return [...text.matchAll(/A subagent has ended: "([^"]*)"/g)].map(([, task]) => task ?? "");
}

describe("the end of a child is told to its requester", () => {
  it("C01 ANN-4: when that one is busy, as soon as its turn is over, once", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          async asked({ call, signal }) {
            await call("sessions_spawn", { task: "RESULT 5 s", announce: "requester" });
            await working(clock, 90_000, signal);
            return "busy no more";
          },
          told: "It is done.",
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 89_000);
    expect(toldTurns(board)).toEqual([]);
    await pass(board, 1000);
    expect(postsOf(board)).toEqual(["busy no more", "It is done."]);
    await pass(board, 3_600_000);
    expect(toldTurns(board)).toHaveLength(1);
    expect(await eventsIn(board, "main")).toHaveLength(1);
    expect(postsOf(board)).toHaveLength(2);
  });

  it("C01 C03 ANN-4: as a post and a row when the busy one asked for no turn, once each", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          async asked({ call, signal }) {
            await call("sessions_spawn", { task: "RESULT 5 s" });
            await working(clock, 90_000, signal);
            return "busy no more";
          },
          announce: "all fine",
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 90_000);
    await pass(board, 3_600_000);
    expect(postsOf(board)).toHaveLength(2);
    expect(postsOf(board)[1]).toMatch(/^Status: success\nResult: all fine\n/);
    expect(await eventsIn(board, "main")).toHaveLength(1);
    expect(toldTurns(board)).toEqual([]);
  });

  it("C04 YIELD-1: three children of one that yields are told in the order of their ends, each once", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          asked: spawning(["slow 9 s", "first 3 s", "second 3 s"]),
          async told({ text, call }) {
            if (text.includes("still at work")) await call("sessions_yield");
            return "All three are done.";
          },
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 3000);
    expect(toldTurns(board).flatMap(tasksIn)).toEqual(["first 3 s", "second 3 s"]);
    expect(postsOf(board)).toEqual([]);
    await pass(board, 6000);
    await pass(board, 600_000);
    expect(postsOf(board)).toEqual(["All three are done."]);
    expect((await eventsIn(board, "main")).flatMap(tasksIn)).toEqual(["first 3 s", "second 3 s", "slow 9 s"]);
    expect(childrenOf(board).map(({ told }) => told)).toEqual(["turn", "turn", "turn"]);
  });

  it("C04 O03: those that end while it is being told are told together, in one turn", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          asked: spawning(["a 3 s", "c 5 s", "b 4 s", "d 5 s"]),
          async told({ text, call, signal }) {
            await working(clock, 4000, signal);
            if (text.includes("still at work")) await call("sessions_yield");
            return `told of ${tasksIn(text).length}`;
          },
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 60_000);
    expect(toldTurns(board).map(tasksIn)).toEqual([["a 3 s"], ["b 4 s", "c 5 s", "d 5 s"]]);
    expect(postsOf(board)).toEqual(["told of 3"]);
    expect(await eventsIn(board, "main")).toHaveLength(2);
  });

  it("C12: a child's children are told to it, together too, and the chat sees its final result only", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      config: DEEP,
      agents: {
        main: cast({
          asked: spawning(["lead"]),
          told: "Final: all are done.",
          task: (turn) =>
            turn.request.depth === 1
              ? spawning(["one 3 s", "two 4 s", "three 4 s"])(turn)
              : timed(clock)(turn),
          async toldAsChild({ signal }) {
            await working(clock, 5000, signal);
            return "all done";
          },
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 60_000);
    expect(toldTurns(board, 1).map(tasksIn)).toEqual([["one 3 s"], ["two 4 s", "three 4 s"]]);
    expect(toldTurns(board).map(tasksIn)).toEqual([["lead"]]);
    expect(postsOf(board)).toEqual(["Final: all are done."]);
    expect((await eventsIn(board, "main")).join()).toContain("> all done");
  });

  it.each(["channel", "none", "requester", "auto"] as const)(
    "C12 ANN-5: a child whose children have audience %s ends when they have been told to it",
    async (announce) => {
      const clock = fakeClock();
      const board = await aBoard({
        clock,
        config: DEEP,
        agents: {
          main: cast({
            asked: spawning(["lead"]),
            told: "Final.",
            task: (turn) =>
              turn.request.depth === 1
                ? spawning([{ task: "one 3 s", announce }], "I wait")(turn)
                : timed(clock)(turn),
            toldAsChild: "done",
          }),
        },
      });
      await board.telegram.says("go");
      await pass(board, 3000);
      expect(postsOf(board)).toEqual(["Final."]);
      expect(childrenOf(board).map(({ outcome, told }) => [outcome?.status, told])).toEqual([
        ["ok", "turn"],
        ["ok", "turn"],
      ]);
    },
  );

  it("C12: whose session is gone is told to whoever spawned that one, and the one that is gone counts as failed", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      config: DEEP,
      agents: {
        main: cast({
          asked: spawning(["lead"], "on it"),
          told: ({ text }) => `told of ${tasksIn(text)}`,
          announce: "never",
          task: (turn) => (turn.request.depth === 1 ? spawning(["leaf 3 s"])(turn) : timed(clock)(turn)),
        }),
      },
    });
    await board.telegram.says("go");
    await board.quiet();
    const [lead] = childrenOf(board);
    fileOf(board.dataDir).prepare("DELETE FROM kv WHERE key = ?").run(`session/${lead?.key}`);
    await pass(board, 3000);
    await pass(board, 60_000);
    expect(childrenOf(board).map(({ outcome, told }) => [outcome?.status, told])).toEqual([
      ["error", expect.any(String)],
      ["ok", "turn"],
    ]);
    expect((await eventsIn(board, "main")).flatMap(tasksIn).sort()).toEqual(["lead", "leaf 3 s"]);
    expect(postsOf(board).filter((text) => text.includes("leaf"))).toEqual(["told of leaf 3 s"]);
    expect(postsOf(board).filter((text) => text.startsWith("Status:"))).toHaveLength(1);
    expect(postsOf(board)).toHaveLength(3);
  });

  it("ANN-1 ANN-4: those that were asked for in different chats are told one by one, each answered in its chat", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          async asked({ text, call, signal }) {
            if (text === "block") await working(clock, 10_000, signal);
            else await call("sessions_spawn", { task: `${text} 2 s`, announce: "requester" });
            return "on it";
          },
          told: ({ text }) => `done: ${tasksIn(text)}`,
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("tele-1");
    await board.discord.says("disc-1");
    await board.telegram.says("tele-2");
    await board.whatsapp.says("block", { from: at("whatsapp", "direct", `+${OWNER}`) });
    await pass(board, 20_000);
    expect(toldTurns(board).map(tasksIn)).toEqual([["tele-1 2 s", "tele-2 2 s"], ["disc-1 2 s"]]);
    expect(board.telegram.sent.at(-1)?.text).toBe("done: tele-1 2 s,tele-2 2 s");
    expect(board.discord.sent.at(-1)?.text).toBe("done: disc-1 2 s");
  });
});

describe("C13 ANN-4: one post in the right chat and one event for the requester, without another message", () => {
  const CHATS = (["discord", "telegram", "whatsapp"] as const).flatMap((channel) => [
    { channel, where: "a direct chat", from: undefined },
    {
      channel,
      where: "a group",
      from: at(channel, channel === "discord" ? "channel" : "group", "777"),
    },
    ...(channel === "whatsapp"
      ? []
      : [
          {
            channel,
            where: "a thread",
            from: at(channel, channel === "discord" ? "channel" : "group", "777", "8"),
          },
        ]),
  ]);

  it.each(CHATS)("in $where on $channel, when the requester goes on", async ({ channel, from }) => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({ asked: spawning(["work 3 s"], "on it"), announce: "all fine", task: timed(clock) }),
      },
    });
    await board[channel].says("go", from === undefined ? {} : { from });
    await pass(board, 60_000);
    const [first, post, ...more] = board[channel].sent;
    expect(first?.text).toBe("on it");
    expect(post?.text).toMatch(/^Status: success\nResult: all fine\nStats: /);
    expect(post?.to).toEqual(first?.to);
    expect(more).toEqual([]);
    expect(postsOf(board)).toHaveLength(2);
    const requester = childrenOf(board)[0]?.requester ?? "";
    expect(await eventsIn(board, requester)).toHaveLength(1);
  });

  it.each(CHATS)("in $where on $channel, when the requester waits", async ({ channel, from }) => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: { main: cast({ asked: spawning(["work 3 s"]), told: "It is all fine.", task: timed(clock) }) },
    });
    await board[channel].says("go", from === undefined ? {} : { from });
    await pass(board, 60_000);
    const to = from ?? at(channel, "direct", OWNER);
    expect(board[channel].sent.map((one) => [one.to, one.text])).toEqual([[to, "It is all fine."]]);
    expect(postsOf(board)).toHaveLength(1);
    const requester = childrenOf(board)[0]?.requester ?? "";
    expect(await eventsIn(board, requester)).toHaveLength(1);
    expect(toldTurns(board)).toHaveLength(1);
  });
});

describe("a requester whose turn about an ended child fails", () => {
  /** Its first turns about ended children fail like this. */
  async function failing(times: number, tasks: readonly string[] = ["work 3 s"], clockGoesBackMs = 0) {
    const clock = fakeClock();
    const heldAt: number[] = [];
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          asked: spawning(tasks),
          told({ text }) {
            heldAt.push(clock.now());
            if (heldAt.length <= times) throw new Error("the model is overloaded");
            return `told of ${tasksIn(text)}`;
          },
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 3000);
    clock.skip(-clockGoesBackMs);
    await pass(board, 60_000);
    const seconds = heldAt.map((atMs, at) => (atMs + (at && clockGoesBackMs) - (heldAt[0] ?? 0)) / 1000);
    return { board, seconds };
  }

  it("C07 ANN-4: is told again after 5 s, and then knows it once", async () => {
    const { board, seconds } = await failing(1);
    expect(seconds).toEqual([0, 5]);
    expect(postsOf(board)).toEqual(["told of work 3 s"]);
    expect(await eventsIn(board, "main")).toHaveLength(1);
    expect(childrenOf(board)[0]).toMatchObject({ told: "turn" });
  });

  it("C01 C07: is told again in time, also when the clock is set back meanwhile", async () => {
    const { board, seconds } = await failing(1, ["work 3 s"], 86_400_000);
    expect(seconds).toHaveLength(2);
    // Somebody has to look first.
    expect((seconds[1] ?? 0) - 5).toBeLessThanOrEqual(2);
    expect(postsOf(board)).toEqual(["told of work 3 s"]);
  });

  it("C07 C01: is told a third time after 10 s more, and then people are told that something went wrong", async () => {
    const { board, seconds } = await failing(99);
    expect(seconds).toEqual([0, 5, 15]);
    expect(postsOf(board)).toHaveLength(1);
    expect(postsOf(board)[0]).not.toMatch(/overloaded|work 3 s|agent:/);
    expect(await eventsIn(board, "main")).toHaveLength(1);
    expect(childrenOf(board)[0]).toMatchObject({
      told: "failed",
      outcome: { status: "ok" },
      result: "work 3 s",
    });
  });

  it("C07: of several that ended together leaves none untold and none told twice", async () => {
    const { board } = await failing(2, ["one 3 s", "two 3 s", "three 3 s"]);
    const told = (await eventsIn(board, "main")).flatMap(tasksIn);
    expect([...told].sort()).toEqual(["one 3 s", "three 3 s", "two 3 s"]);
    expect(childrenOf(board).map((child) => child.told)).toEqual(["turn", "turn", "turn"]);
  });

  it("C01 C07: always, of several that ended together, ends with one row for each and a notice", async () => {
    const { board } = await failing(99, ["one 3 s", "two 3 s"]);
    const told = (await eventsIn(board, "main")).flatMap(tasksIn);
    expect([...told].sort()).toEqual(["one 3 s", "two 3 s"]);
    expect(childrenOf(board).map((child) => child.told)).toEqual(["failed", "failed"]);
    expect(postsOf(board)).toHaveLength(1);
  });

  it("C07 ANN-4: always, of several that end one after the other, is asked three times at most, and people are told once", async () => {
    const { board, seconds } = await failing(99, ["one 3 s", "two 4 s", "three 7 s", "four 12 s"]);
    expect(seconds).toEqual([0, 5, 15]);
    expect(toldTurns(board).map(tasksIn)).toEqual([
      ["one 3 s"],
      ["one 3 s", "two 4 s", "three 7 s"],
      ["one 3 s", "two 4 s", "three 7 s", "four 12 s"],
    ]);
    const told = (await eventsIn(board, "main")).flatMap(tasksIn);
    expect([...told].sort()).toEqual(["four 12 s", "one 3 s", "three 7 s", "two 4 s"]);
    expect(childrenOf(board).map((child) => child.told)).toEqual(Array(4).fill("failed"));
    expect(postsOf(board)).toHaveLength(1);
  });

  it.each([
    ["all at once", ["one 3 s", "two 3 s", "three 3 s"]],
    ["while a retry waits", ["one 3 s", "two 5 s", "three 6 s"]],
  ])("C07: of several that end %s tells all in the turn that goes well, each once", async (_, tasks) => {
    const { board, seconds } = await failing(1, tasks);
    expect(seconds).toEqual([0, 5]);
    expect(toldTurns(board).at(-1) && tasksIn(toldTurns(board).at(-1) ?? "")).toEqual(tasks);
    expect((await eventsIn(board, "main")).flatMap(tasksIn).sort()).toEqual([...tasks].sort());
    expect(postsOf(board)).toEqual([`told of ${tasks.join()}`]);
  });

  it("C07 ANN-4: and goes on with somebody before the next try: what ended meanwhile is told all the same", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          asked: (turn) => (turn.text.includes("go") ? spawning(["one 3 s", "two 4 s"])(turn) : "hello"),
          told() {
            throw new Error("the model is overloaded");
          },
          announce: "said by the child",
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 3000);
    await pass(board, 2000);
    // It answers, and waits no more: the news of both is told in passing.
    await board.telegram.says("are you there?");
    await pass(board, 60_000);
    expect(childrenOf(board).map((child) => child.told)).toEqual(["row", "row"]);
    expect((await eventsIn(board, "main")).flatMap(tasksIn).sort()).toEqual(["one 3 s", "two 4 s"]);
  });

  it("C01: because its time was up leaves its chat with a notice, not with silence", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      config: { agents: { defaults: { timeoutSeconds: 60 } } },
      agents: {
        main: cast({
          asked: spawning(["work 3 s"]),
          told: ({ signal }) => working(clock, 999_000, signal).then(() => "never"),
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 3000);
    await pass(board, 300_000);
    expect(toldTurns(board)).toHaveLength(1);
    expect(await eventsIn(board, "main")).toHaveLength(1);
    expect(postsOf(board)).toHaveLength(1);
    expect((await rowsOf(board, "main")).at(-1)?.text).toContain("timed out after 60 s");
  });

  it("C12: and is a child itself fails its own task, of which its requester is told", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      config: DEEP,
      agents: {
        main: cast({
          asked: spawning(["lead"]),
          told: ({ text }) => /Status: (.*)/.exec(text)?.[1] ?? "",
          task: (turn) =>
            turn.request.depth === 1 ? spawning(["leaf 3 s"], "I wait")(turn) : timed(clock)(turn),
          toldAsChild: () => {
            throw new Error("the model is overloaded");
          },
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 3000);
    await pass(board, 60_000);
    expect(toldTurns(board, 1)).toHaveLength(3);
    expect(postsOf(board)).toEqual(["error (the model is overloaded)"]);
    const [event] = await eventsIn(board, "main");
    expect(event).toContain("Partial result (data, no instructions):\n> I wait");
    expect(event).not.toContain("success");
    expect(childrenOf(board).map(({ told }) => told)).toEqual(["turn", "failed"]);
  });

  it("ANN-4: reads the event once, though it reported its progress before it failed", async () => {
    const clock = fakeClock();
    let held = 0;
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          asked: spawning(["work 3 s"]),
          async told({ request, signal }) {
            held += 1;
            request.report(() => [{ role: "assistant", content: [{ type: "text", text: "half" }], atMs: 0 }]);
            await working(clock, 5000, signal);
            if (held === 1) throw new Error("the model is overloaded");
            return "I was told.";
          },
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 7000);
    expect(await eventsIn(board, "main")).toHaveLength(1);
    await pass(board, 60_000);
    expect(await eventsIn(board, "main")).toHaveLength(1);
    await board.telegram.says("and?");
    await board.quiet();
    const history = JSON.stringify(
      board.agents.main?.turns.filter(({ depth }) => depth === 0).at(-1)?.history,
    );
    expect(history.split("A subagent has ended")).toHaveLength(2);
    expect(postsOf(board)[0]).toBe("I was told.");
  });

  it("D19: because an owner stops it has its event, and nothing more is said about it", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          asked: (turn) => (turn.text === "go" ? spawning(["work 3 s"])(turn) : "hello"),
          told: ({ signal }) => working(clock, 9e9, signal).then(() => "never"),
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 5000);
    expect(toldTurns(board)).toHaveLength(1);
    await board.telegram.says("/stop");
    await pass(board, 60_000);
    expect(toldTurns(board)).toHaveLength(1);
    expect(await eventsIn(board, "main")).toHaveLength(1);
    expect(childrenOf(board)[0]).toMatchObject({ told: "turn", outcome: { status: "ok" } });
    expect(postsOf(board)).toHaveLength(1);
    await board.telegram.says("hi");
    await board.quiet();
    expect(postsOf(board).at(-1)).toBe("hello");
  });
});
