import { describe, expect, it } from "vitest";
import { aBoard, type Board, use } from "../fakes/a-board.ts";
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
import { at } from "../fakes/memory-adapter.ts";

const DEEP = { agents: { defaults: { subagents: { maxSpawnDepth: 2 } } } };

type Answer = { readonly [key: string]: unknown };

/** Triggers of the turns that sessions of this depth had. */
const triggers = (board: Board, depth = 0) =>
  (board.agents.main?.turns ?? []).filter((turn) => turn.depth === depth).map(({ trigger }) => trigger);

describe("YIELD-1: sessions_yield", () => {
  it("ends the turn: nothing is sent, no script goes on, and the note stays inside", async () => {
    const clock = fakeClock();
    let wentOn = false;
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          async asked({ call }) {
            await call("sessions_spawn", { task: "work 3 s" });
            await call("sessions_yield", { message: "waiting for the count" });
            wentOn = true;
            return "must not be said";
          },
          told: "It is done.",
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 2000);
    expect(postsOf(board)).toEqual([]);
    expect(wentOn).toBe(false);
    expect((await rowsOf(board, "main")).map(({ role, text }) => [role, text])).toEqual([
      ["user", "go"],
      ["assistant", ""],
      ["assistant", ""],
    ]);
    await pass(board, 2000);
    expect(postsOf(board)).toEqual(["It is done."]);
    expect(postsOf(board).join()).not.toContain("waiting for the count");
  });

  it("says what it answers: yielded, the note, and how many are at work", async () => {
    const clock = fakeClock();
    const answers: Answer[] = [];
    const board = await aBoard({
      clock,
      agents: {
        async main({ request, signal }) {
          if (request.trigger !== "user") return "NO_REPLY";
          const tool = (name: string) => request.tools.find((one) => one.name === name);
          await tool("sessions_spawn")?.call({ task: "work" }, { callId: "a", signal });
          const output = await tool("sessions_yield")?.call({ message: "soon" }, { callId: "b", signal });
          answers.push({ ...output?.value, ends: output?.ends });
          return "ignored";
        },
      },
    });
    await board.telegram.says("go");
    await board.quiet();
    expect(answers).toEqual([{ status: "yielded", message: "soon", atWork: 1, ends: true }]);
    expect(postsOf(board)).not.toContain("ignored");
  });

  it.each([
    ["ok", "done", "success"],
    ["error", () => ({ status: "error" as const, error: "disk full" }), "error (disk full)"],
    ["timeout", undefined, "timeout (timed out after 5 s)"],
  ] as const)("E01 YIELD-1: is ended by a child's %s, without anybody writing", async (_, task, status) => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          asked: spawning([{ task: "work", runTimeoutSeconds: 5 }]),
          told: ({ text }) => /Status: (.*)/.exec(text)?.[1] ?? "",
          task: task ?? (({ signal }) => working(clock, 9e9, signal).then(() => "never")),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 10_000);
    expect(postsOf(board)).toEqual([status]);
    expect(triggers(board)).toEqual(["user", "completion"]);
  });

  it("E01 D19: is ended by a child that was stopped", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          asked: spawning(["work 99 s"]),
          told: ({ text }) => /Status: (.*)/.exec(text)?.[1] ?? "",
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 1000);
    const deleted = board.gateway.call("sessions.delete", { sessionKey: childrenOf(board)[0]?.key });
    await pass(board, 20_000);
    await deleted;
    expect(postsOf(board)).toEqual(["stopped"]);
    expect(childrenOf(board)[0]).toMatchObject({ outcome: { status: "killed" }, told: "turn" });
  });

  it("E01: each of two children wakes, also where the requester is a child itself", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      config: DEEP,
      agents: {
        main: cast({
          asked: spawning(["lead"]),
          told: "All done.",
          task: (turn) =>
            turn.request.depth === 1 ? spawning(["one 2 s", "two 4 s"])(turn) : timed(clock)(turn),
          async toldAsChild({ text, call }) {
            if (text.includes("still at work")) await call("sessions_yield");
            return "both done";
          },
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 2000);
    expect(triggers(board, 1)).toEqual(["spawn", "completion"]);
    expect(childrenOf(board)[0]?.outcome).toBeUndefined();
    await pass(board, 2000);
    expect(triggers(board, 1)).toEqual(["spawn", "completion", "completion"]);
    expect(triggers(board)).toEqual(["user", "completion"]);
    expect(postsOf(board)).toEqual(["All done."]);
    expect(childrenOf(board)[0]).toMatchObject({ outcome: { status: "ok" }, result: "both done" });
  });

  it("E02: no timer wakes it: until a child ends there is no turn, however long that takes", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: { main: cast({ asked: spawning(["work 7200 s"]), told: "It is done.", task: timed(clock) }) },
    });
    await board.telegram.says("go");
    await pass(board, 3_600_000);
    await pass(board, 3_599_000);
    expect(triggers(board)).toEqual(["user"]);
    await pass(board, 1000);
    expect(postsOf(board)).toEqual(["It is done."]);
  });

  it("C04: children that end before it are kept, and are its next message at once", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          async asked({ call, signal }) {
            await call("sessions_spawn", { task: "one 1 s" });
            await call("sessions_spawn", { task: "two 2 s" });
            await working(clock, 10_000, signal);
            await call("sessions_yield");
            return "unreachable";
          },
          told: ({ text }) => `told of ${text.split("A subagent has ended").length - 1}`,
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 9900);
    expect(postsOf(board)).toEqual([]);
    await pass(board, 100);
    expect(postsOf(board)).toEqual(["told of 2"]);
    expect(triggers(board)).toEqual(["user", "completion"]);
  });

  it("YIELD-1: a person's message ends it too, and what its children come to is still told once", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          asked: (turn) => (turn.text === "go" ? spawning(["work 5 s"])(turn) : "Still at it."),
          announce: "It went well.",
          told: "never",
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 1000);
    await board.telegram.says("how far?");
    await pass(board, 60_000);
    expect(postsOf(board).map((text) => text.split("\n")[1] ?? text)).toEqual([
      "Still at it.",
      "Result: It went well.",
    ]);
    expect(await eventsIn(board, "main")).toHaveLength(1);
  });

  it("YIELD-1: one that yields again after a person's message goes on waiting", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: cast({
          asked: (turn) =>
            turn.text === "go"
              ? spawning(["work 5 s"])(turn)
              : turn.call("sessions_yield").then(() => "unreachable"),
          told: "It is done.",
          task: timed(clock),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 1000);
    await board.telegram.says("how far?");
    await pass(board, 60_000);
    expect(postsOf(board)).toEqual(["It is done."]);
  });

  it.each(["channel", "none"] as const)(
    "YIELD-1 ANN-5: wakes by children with audience %s as well; what the woken one answers is not posted",
    async (announce) => {
      const clock = fakeClock();
      const board = await aBoard({
        clock,
        agents: {
          main: cast({
            asked: spawning([{ task: "work 3 s", announce }]),
            told: "I know now.",
            announce: "It went well.",
            task: timed(clock),
          }),
        },
      });
      await board.telegram.says("go");
      await pass(board, 60_000);
      expect(triggers(board)).toEqual(["user", "completion"]);
      expect(postsOf(board).map((text) => text.split("\n")[1])).toEqual(
        announce === "channel" ? ["Result: It went well."] : [],
      );
      expect(await eventsIn(board, "main")).toHaveLength(1);
      expect(childrenOf(board)[0]).toMatchObject({
        told: "turn",
        post: { state: announce === "channel" ? "delivered" : "none" },
      });
    },
  );

  it("warns in a chat where nothing is at work, and the next message is answered", async () => {
    const answers: Answer[] = [];
    const board = await aBoard({
      agents: {
        async main({ text, request, signal }) {
          if (!text.endsWith("go")) return "hello again";
          const output = await request.tools
            .find(({ name }) => name === "sessions_yield")
            ?.call({}, { callId: "y", signal });
          answers.push(output?.value ?? {});
          return "";
        },
      },
    });
    await board.telegram.says("go", { from: at("telegram", "group", "-5") });
    await board.quiet();
    expect(answers).toEqual([
      {
        status: "yielded",
        message: expect.any(String),
        atWork: 0,
        warning: expect.stringContaining("only a message"),
      },
    ]);
    await board.telegram.says("and?", { from: at("telegram", "group", "-5") });
    await board.quiet();
    expect(postsOf(board)).toEqual(["hello again"]);
  });

  it("E01: is refused where nothing would ever wake it: a child, or a session without a chat, with nothing at work", async () => {
    const clock = fakeClock();
    const answers: Answer[] = [];
    const board = await aBoard({
      clock,
      config: DEEP,
      agents: {
        main: cast({
          asked: async ({ call, request }) => {
            if (request.trigger === "gateway") answers.push(await call("sessions_yield"));
            else
              await call("sessions_spawn", { task: "lead", runTimeoutSeconds: 600, announce: "requester" });
            return "ok";
          },
          async task({ call, request }) {
            if (request.depth > 1) return "leaf";
            answers.push(await call("sessions_yield"));
            await call("sessions_spawn", { task: "leaf" });
            await call("sessions_yield");
            return "unreachable";
          },
          async toldAsChild({ call }) {
            answers.push(await call("sessions_yield"));
            return "the end";
          },
          told: "told",
        }),
      },
    });
    await board.gateway.call("agent", { sessionKey: "agent:main:cron:job1", message: "go" });
    await board.telegram.says("go");
    await pass(board, 1000);
    expect(answers.map(({ code }) => code)).toEqual([
      "NOTHING_PENDING",
      "NOTHING_PENDING",
      "NOTHING_PENDING",
    ]);
    expect(childrenOf(board)[0]).toMatchObject({ outcome: { status: "ok" }, result: "the end" });
    expect(postsOf(board)).toEqual(["ok", "told"]);
  });

  it("is refused outside of a run", async () => {
    const board = await aBoard();
    await board.telegram.says("hi");
    await board.quiet();
    expect(await use(board, "main", "sessions_yield")).toMatchObject({
      status: "error",
      code: "INPUT_INVALID",
    });
  });
});

describe("YIELD-1: one that waits", () => {
  it("C12: and is a child counts as at work until it has been told, whatever it said before", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      config: DEEP,
      agents: {
        main: cast({
          asked: spawning(["lead"]),
          told: "All done.",
          task: (turn) =>
            turn.request.depth === 1 ? spawning(["leaf 3 s"], "51 %, continuing")(turn) : timed(clock)(turn),
          toldAsChild: "the end",
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 2000);
    expect(childrenOf(board)[0]?.outcome).toBeUndefined();
    expect(await eventsIn(board, "main")).toEqual([]);
    await pass(board, 60_000);
    expect(await eventsIn(board, "main")).toEqual([expect.stringContaining("> the end")]);
    expect((await eventsIn(board, "main")).join()).not.toContain("51 %");
  });

  it("SPAWN-9 D05: and is a child is stopped when its whole time is up, with what it has spawned", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      config: DEEP,
      agents: {
        main: cast({
          asked: spawning([{ task: "lead", runTimeoutSeconds: 10 }]),
          told: ({ text }) => /Status: (.*)/.exec(text)?.[1] ?? "",
          task: (turn) => (turn.request.depth === 1 ? spawning(["leaf 99 s"])(turn) : timed(clock)(turn)),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 20_000);
    expect(postsOf(board)).toEqual(["timeout (timed out after 10 s)"]);
    expect(childrenOf(board).map(({ outcome }) => outcome?.status)).toEqual(["timeout", "killed"]);
  });

  it("SPAWN-9 D05: and is being told when its time is up is stopped in that turn", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      config: DEEP,
      agents: {
        main: cast({
          asked: spawning([{ task: "lead", runTimeoutSeconds: 10 }]),
          told: ({ text }) => /Status: (.*)/.exec(text)?.[1] ?? "",
          task: (turn) => (turn.request.depth === 1 ? spawning(["leaf 3 s"])(turn) : timed(clock)(turn)),
          toldAsChild: ({ signal }) => working(clock, 9e9, signal).then(() => "never"),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 60_000);
    expect(postsOf(board)).toEqual(["timeout (timed out after 10 s)"]);
    const [lead] = childrenOf(board);
    expect((lead?.endedAtMs ?? 0) - (lead?.startedAtMs ?? 0)).toBeLessThanOrEqual(11_000);
  });
});

describe("SPAWN-9 D05: the clock is set back while a child waits that has a limit", () => {
  it.each([
    ["and what it waits for goes on for ever", "leaf 999 s"],
    ["and it is told of its end", "leaf 20 s"],
    ["while its own turn is under way", "first 5 s"],
  ])("%s: it is stopped in time", async (_, work) => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      config: DEEP,
      agents: {
        main: cast({
          asked: spawning([{ task: "lead", runTimeoutSeconds: 60 }]),
          told: ({ text }) => /Status: (.*)/.exec(text)?.[1] ?? "",
          async task(turn) {
            if (turn.request.depth > 1) return timed(clock)(turn);
            if (work.startsWith("first")) await working(clock, 5000, turn.signal);
            return spawning([work.replace("first 5 s", "leaf 999 s")])(turn);
          },
          toldAsChild: ({ signal }) => working(clock, 9e9, signal).then(() => "never"),
        }),
      },
    });
    await board.telegram.says("go");
    await pass(board, 4000);
    clock.skip(-86_400_000);
    for (const ms of [20_000, 20_000, 30_000, 10_000]) await pass(board, ms);
    expect(postsOf(board)).toEqual(["timeout (timed out after 60 s)"]);
  });
});

describe("YIELD-1: a child whose own task ended well, and that is spoken to", () => {
  /** It spawns one of its own and yields, or says `then`, when it is asked for more. */
  async function afterItsTask(then?: string, task = "first done") {
    const more = spawning(["more"], then);
    const board = await aBoard({
      config: DEEP,
      agents: {
        async main(turn) {
          const { request, text, call } = turn;
          const { trigger, depth } = request;
          if (trigger === "announce") return "ANNOUNCE_SKIP";
          if (depth === 2) return "grandchild";
          if (trigger === "completion") return depth === 1 ? "woken" : "NO_REPLY";
          if (depth === 1 && trigger === "spawn") {
            if (task === "fails") throw new Error("the model is overloaded");
            return task;
          }
          if (depth === 1) return ["send", "gateway"].includes(trigger) ? more(turn) : "REPLY_SKIP";
          if (trigger !== "user") return "REPLY_SKIP";
          const sessionKey = /agent:\S+/.exec(text)?.[0];
          if (sessionKey === undefined) await call("sessions_spawn", { task: "look" });
          else await call("sessions_send", { sessionKey, message: "more please", timeoutSeconds: 0 });
          return "asked";
        },
      },
    });
    await board.telegram.says("go");
    await board.quiet();
    const [{ key = "" } = {}] = childrenOf(board);
    return { board, key };
  }

  it("E01: by the host is woken by what it then waits for", async () => {
    const { board, key } = await afterItsTask();
    await board.gateway.call("agent", { sessionKey: key, message: "now more" });
    await pass(board, 30_000);
    expect(triggers(board, 1)).toContain("completion");
    expect((await rowsOf(board, key)).at(-1)).toMatchObject({ role: "assistant", text: "woken" });
    expect(await eventsIn(board, key)).toHaveLength(1);
    expect(childrenOf(board).map(({ told, result }) => [told, result])).toEqual([
      ["row", "first done"],
      ["turn", "grandchild"],
    ]);
  });

  it("E01: by its requester is woken by what it then waits for", async () => {
    const { board, key } = await afterItsTask();
    await board.telegram.says(`send ${key}`);
    await pass(board, 30_000);
    expect(triggers(board, 1).filter((trigger) => trigger === "completion")).toHaveLength(1);
    expect(await eventsIn(board, key)).toHaveLength(1);
    expect(await eventsIn(board, "main")).toHaveLength(1);
  });

  it("ANN-5: without a chat of its own is asked, as nobody else could be told", async () => {
    const { board, key } = await afterItsTask("spawned");
    await board.gateway.call("agent", { sessionKey: key, message: "now more" });
    await pass(board, 30_000);
    expect(triggers(board, 1)).toContain("completion");
    expect(await eventsIn(board, key)).toHaveLength(1);
  });

  it("ANN-5: or badly, has a row of it only, when it does not wait", async () => {
    const { board, key } = await afterItsTask("spawned", "fails");
    expect(childrenOf(board)[0]?.outcome).toMatchObject({ status: "error" });
    await board.gateway.call("agent", { sessionKey: key, message: "now more" });
    await pass(board, 30_000);
    expect(triggers(board, 1)).not.toContain("completion");
    expect(await eventsIn(board, key)).toHaveLength(1);
    expect(childrenOf(board)[1]).toMatchObject({ told: "row" });
  });
});
