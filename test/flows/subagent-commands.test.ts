import fc from "fast-check";
import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../src/core/config.ts";
import type { Address, InboundMessage } from "../../src/core/ports/chat.ts";
import { aBot as aDiscordBot } from "../adapters/discord/bot.ts";
import { aBoard, type Board, type BoardOptions, OPEN, type Script, use } from "../fakes/a-board.ts";
import {
  cast,
  childrenOf,
  eventsIn,
  pass,
  postsOf,
  rowsOf,
  spawning,
  taskIn,
  working,
} from "../fakes/a-family.ts";
import { hangs, tasksOf } from "../fakes/a-spawner.ts";
import { asking, send } from "../fakes/asking.ts";
import { fakeClock } from "../fakes/fake-clock.ts";
import { gate } from "../fakes/gate.ts";
import { at, type MemoryAdapter, memoryAdapter } from "../fakes/memory-adapter.ts";

const MAIN = "agent:main:main";
const TOKEN = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
const MEMBER = { id: "7", name: "Mia", isBot: false };
const ROOM = at("discord", "channel", "100");
const THREAD = at("discord", "channel", "100", "thread-1");

const forever: Script = ({ signal }) => hangs(signal);

function limits(subagents: object): ConfigInput {
  return { agents: { defaults: { subagents } } };
}

const DEEP = limits({ maxSpawnDepth: 2 });

/** The owner writes this, and everything that follows without time has happened. Resolves with what came back in that chat. */
async function says(board: Board, text: string, message: Partial<InboundMessage> = {}): Promise<string> {
  const before = postsOf(board).length;
  const platform = message.from?.channel === "discord" ? board.discord : board.telegram;
  await platform.says(text, message);
  await board.quiet();
  return postsOf(board).slice(before).join("\n---\n");
}

/** A board whose main agent spawns these when it is asked, then answers; every child is at work for ever unless said otherwise. */
async function aFamily(
  tasks: readonly (string | object)[],
  { task = forever, ...options }: BoardOptions & { readonly task?: string | Script } = {},
): Promise<Board> {
  const asked: Script = (turn) =>
    turn.text.endsWith("go") ? spawning(tasks, "asked")(turn) : `re: ${turn.text}`;
  const board = await aBoard({ agents: { main: cast({ asked, task }) }, ...options });
  await says(board, "go");
  return board;
}

/** main has a lead, which waits for two of its own. */
async function aDeepFamily(options: BoardOptions = {}): Promise<Board> {
  const lead = spawning(["leaf 1", { task: "leaf 2", label: "scout" }]);
  const agents = {
    main: cast({
      asked: spawning(["lead"], "asked"),
      task: (turn) => (taskIn(turn.text) === "lead" ? lead(turn) : forever(turn)),
      toldAsChild: "lead is done",
    }),
  };
  const board = await aBoard({ config: DEEP, agents, ...options });
  await says(board, "go");
  return board;
}

const child = (board: Board, task: string) => {
  const found = childrenOf(board).find((one) => one.task === task || one.label === task);
  if (found === undefined) throw new Error(`No child "${task}".`);
  return found;
};

const endOf = (board: Board, task: string, length = 4) => child(board, task).key.slice(-length);

const outcomes = (board: Board) => childrenOf(board).map(({ outcome }) => outcome?.status);

/** Everything is over, the requester has been told of each child once, and all places are free again. */
async function expectAllEnded(board: Board, requester = "main") {
  await board.quiet();
  const children = childrenOf(board);
  expect(children.filter(({ outcome, told }) => outcome === undefined || told === undefined)).toEqual([]);
  const events = await eventsIn(board, requester);
  for (const { task, label, depth } of children) {
    const found = events.filter((text) => text.includes(`"${label ?? task}"`));
    expect(found, task).toHaveLength(depth === 1 ? 1 : 0);
  }
  const { status } = await use(board, MAIN, "sessions_spawn", { task: "after" });
  expect(status).toBe("accepted");
}

describe("/subagents", () => {
  it("CMD: shows who is at work and who has ended, with numbers, states and times", async () => {
    const board = await aFamily(["first", { task: "second", label: "scout" }, "third"], {
      config: limits({ maxConcurrent: 2 }),
      task: (turn) => (taskIn(turn.text) === "first" ? "done" : forever(turn)),
    });
    await pass(board, 192_000);
    expect(await says(board, "/subagents")).toBe(
      [
        "Subagents at work:",
        "#2 **scout**: running, 3m12s",
        "#3 **third**: running, 3m12s",
        "",
        "Ended in the last 24 hours:",
        "#1 **first**: done, 0s",
      ].join("\n"),
    );
  });

  it("CMD: says in so many words that there are none", async () => {
    const board = await aBoard();
    for (const text of ["/subagents", "/subagents list", "/SUBAGENTS: List"]) {
      expect(await says(board, text)).toBe("No subagent is at work.\n\nNone has ended in the last 24 hours.");
    }
    expect(await says(board, "/subagents tree")).toBe("This session has no subagents.");
    expect(await says(board, "/subagents stop all")).toBe("No subagent is at work.");
  });

  it("CMD: of many that have ended the newest ten are shown, and how many more there are; a day later none", async () => {
    const tasks = Array.from({ length: 13 }, (_, n) => `task ${n}`);
    const board = await aFamily(tasks, { task: "done", config: limits({ maxChildrenPerAgent: 20 }) });
    const text = await says(board, "/subagents");
    expect(text.match(/^#/gm)).toHaveLength(10);
    expect(text).toContain("… and 3 more");
    board.clock.skip(24 * 3_600_000);
    expect(await says(board, "/subagents")).toContain("None has ended");
  });

  it("CMD: the tree goes down to the last one, each with its state and the end of its key", async () => {
    const board = await aDeepFamily();
    const row = (task: string) => `(…${endOf(board, task, 6)})`;
    expect(await says(board, "/subagents tree")).toBe(
      [
        `- lead: waiting for 2 subagents, 0s ${row("lead")}`,
        `  - leaf 1: running, 0s ${row("leaf 1")}`,
        `  - scout: running, 0s ${row("scout")}`,
      ].join("\n"),
    );
  });

  it.each<[string, (board: Board) => string]>([
    ["its number", () => "1"],
    ["its number with a hash", () => "#1"],
    ["its label, whatever its case", () => "LEAD-1"],
    ["the last four characters of its key", (board) => endOf(board, "lead-1")],
    ["its whole key", (board) => child(board, "lead-1").key],
  ])("CMD: info of the one that %s names tells what is known, with nobody's secret", async (_, which) => {
    const board = await aFamily([{ task: `look at\n*this* ${TOKEN}`, label: "lead-1" }], {
      task: () => ({ status: "ok", reply: "seen", model: "small-1", usage: { totalTokens: 1200 } }),
    });
    const text = await says(board, `/subagents info ${which(board)}`);
    expect(text).toBe(
      [
        "**lead-1**: done, 0s",
        expect.anything(),
        "Model: small-1",
        "Tokens: 1,200",
        "Announcement: nothing to say",
        `Key: \`${child(board, "lead-1").key}\``,
      ]
        .map((line, at) => (typeof line === "string" ? line : text.split("\n")[at]))
        .join("\n"),
    );
    expect(text).toContain("Task: look at \\*this\\* ghp_");
    expect(text).not.toContain(TOKEN);
  });

  it("CMD: in a room, where everybody reads along, the key is only hinted at", async () => {
    const agents = { main: cast({ asked: spawning(["look"], "asked"), task: forever }) };
    const board = await aBoard({ agents });
    await says(board, "go", { from: ROOM });
    const text = await says(board, "/subagents info 1", { from: ROOM });
    expect(text).toContain(`Key: …${endOf(board, "look", 6)}`);
    expect(text).not.toContain(child(board, "look").id);
  });

  it("CMD: one that works two levels down is named by its label or the end of its key", async () => {
    const board = await aDeepFamily();
    expect(await says(board, "/subagents info scout")).toContain("**scout**: running");
    expect(await says(board, `/subagents info ${endOf(board, "leaf 1")}`)).toContain("**leaf 1**: running");
    expect(await says(board, "/subagents info lead")).toContain("No subagent here fits");
    expect(await says(board, "/subagents info 1")).toMatch(
      /\*\*lead\*\*.*\n.*\n2 subagents are at work below it\./,
    );
  });

  it.each([
    ["/subagents info", "Say which one"],
    ["/subagents log", "Say which one"],
    ["/subagents stop", "Say which one"],
    ["/subagents info nobody", "No subagent here fits “nobody”"],
    ["/subagents log 7", "No subagent here fits “7”"],
    ["/subagents stop 0", "No subagent here fits “0”"],
    ["/subagents stop 000", "No subagent here fits “000”"],
    ["/subagents kill 1", "Usage: /subagents [list|info|log|stop|tree] [which]"],
    ["/subagents please", "Usage: /subagents [list|info|log|stop|tree] [which]"],
    ["/subagents constructor", "Usage:"],
  ])("CMD: %j is answered with what to type", async (text, answer) => {
    const board = await aFamily(["wild"]);
    expect(await says(board, text)).toContain(answer);
    expect(outcomes(board)).toEqual([undefined]);
  });

  it("CMD: three characters of a key are too few to name anybody", async () => {
    const board = await aFamily(["wild"]);
    expect(await says(board, `/subagents stop x${endOf(board, "wild", 3)}`)).toContain(
      "No subagent here fits",
    );
    expect(
      await says(board, `/subagents log ${endOf(board, "wild", 3).replace(/^0*[1-9]$/, "abc")}`),
    ).toContain("No subagent here fits");
    expect(outcomes(board)).toEqual([undefined]);
  });

  it("CMD: of a name that ended ones had the one at work is meant; of two that are alike the ends of their keys are told", async () => {
    const config = { ...limits({ allowAgents: ["*"] }) };
    const twins = [
      { task: "a", label: "twin" },
      { task: "b", label: "twin", agentId: "research" },
    ];
    const asked = spawning(twins, "asked");
    const board = await aBoard({
      config,
      agents: { main: cast({ asked, task: forever }), research: forever },
    });
    await says(board, "go");
    const text = await says(board, "/subagents stop twin");
    expect(text).toContain("2 subagents fit “twin”");
    for (const { key } of childrenOf(board)) expect(text).toContain(key.slice(-6));
    expect(await says(board, "/subagents stop 1")).toBe("⏹ Stopped 1 subagent.");
    expect(await says(board, "/subagents stop twin")).toBe("⏹ Stopped 1 subagent.");
    expect(outcomes(board)).toEqual(["killed", "killed"]);
  });
});

describe("/subagents log", () => {
  it("CMD: shows what was said in a child's session, cleaned and masked, oldest first, one line each", async () => {
    const board = await aFamily([{ task: `Find\nthe <b>key</b> of \`x\` **now**`, label: "finder" }], {
      async task({ call }) {
        await call("sessions_nothing");
        return `<think>hm ${TOKEN}</think>It is ${TOKEN}\n\`\`\`js\nlet a = 1;`;
      },
    });
    const text = await says(board, "/subagents log finder");
    expect(text.split("\n")).toEqual([
      "Last messages of **finder**:",
      "→ Find the \\<b\\>key\\</b\\> of \\`x\\` \\*\\*now\\*\\*",
      expect.stringMatching(/^← It is ghp\\?_.* \\`\\`\\`js let a = 1;$/),
      expect.stringMatching(/^→ /),
      expect.stringMatching(/^← ANNOUNCE\\?_SKIP$/),
    ]);
    expect(text).not.toContain(TOKEN);
  });

  it("CMD: stays short however long and however much was said", async () => {
    const board = await aFamily([{ task: "talk ".repeat(5000), label: "talker" }], {
      task: "word ".repeat(30_000),
    });
    for (let n = 0; n < 12; n++) {
      await board.gateway.call("agent", {
        sessionKey: child(board, "talker").key,
        message: `question ${n} ${"long ".repeat(200)}`,
      });
      await board.quiet();
    }
    const text = await says(board, "/subagents log talker");
    expect(text.length).toBeLessThan(3600);
    expect(text.split("\n").length).toBeGreaterThan(4);
    expect(text.split("\n").length).toBeLessThanOrEqual(11);
    expect(text).toContain("question 11");
    expect(text).not.toContain("question 5");
  });

  it("CMD: says that a session is gone when its subagent was to be cleared away", async () => {
    const board = await aFamily([{ task: "once", cleanup: "delete" }], { task: "done" });
    expect(await says(board, "/subagents log 1")).toBe("The session of **once** is gone.");
    expect(await says(board, "/subagents info 1")).toContain("**once**: done");
  });

  it("CMD: one that has not begun has nothing to show yet", async () => {
    const board = await aFamily(["first", "second"], { config: limits({ maxConcurrent: 1 }) });
    expect(await says(board, "/subagents log 2")).toBe("**second** has no messages yet.");
  });
});

describe("/subagents stop", () => {
  it("CMD D19: stops the one that is named and tells its requester, with one row and no post", async () => {
    const board = await aFamily(["first", { task: "second", label: "scout" }]);
    expect(await says(board, "/subagents stop scout")).toBe("⏹ Stopped 1 subagent.");
    expect(outcomes(board)).toEqual([undefined, "killed"]);
    expect(child(board, "scout")).toMatchObject({ stoppedBy: "owner", told: "row" });
    expect(await says(board, "/subagents stop scout")).toBe("**scout** has ended already: stopped.");
    expect(await says(board, "/subagents stop 1")).toBe("⏹ Stopped 1 subagent.");
    await expectAllEnded(board);
  });

  it.each(["revisión", "समीक्षा", "समी\u200dक्षा-2", "проверка_1", "レビュー"])(
    "CMD: stops the one whose label is %s",
    async (label) => {
      const board = await aFamily(["first", { task: "second", label }]);
      expect(await board.telegram.says(`/subagents stop ${label}`)).toBe("command");
      await board.quiet();
      expect(postsOf(board).at(-1)).toBe("⏹ Stopped 1 subagent.");
      expect(outcomes(board)).toEqual([undefined, "killed"]);
    },
  );

  it("CMD D19: by its number, which stays with it though others end", async () => {
    const board = await aFamily(["first", "second", "third"]);
    await says(board, "/subagents stop 1");
    expect(await says(board, "/subagents stop #1")).toBe("**first** has ended already: stopped.");
    expect(await says(board, "/subagents stop 3")).toBe("⏹ Stopped 1 subagent.");
    expect(outcomes(board)).toEqual(["killed", undefined, "killed"]);
    expect(await says(board, "/subagents")).toMatch(/#2 \*\*second\*\*: running.*\n\nEnded.*\n#3 .*\n#1 /);
  });

  it("CMD D19: all of them, those that wait and those that have not begun too", async () => {
    const board = await aDeepFamily({
      config: { agents: { defaults: { subagents: { maxSpawnDepth: 2, maxConcurrent: 1 } } } },
    });
    expect(childrenOf(board).map(({ startedAtMs }) => startedAtMs === undefined)).toEqual([
      false,
      true,
      true,
    ]);
    expect(await says(board, "/subagents stop all")).toBe("⏹ Stopped 3 subagents.");
    await expectAllEnded(board);
    expect(tasksOf(board.agents.main).length).toBeLessThanOrEqual(3);
  });

  it("CMD YIELD-1: a lead whose only subagents are stopped goes on with what it knows", async () => {
    const board = await aDeepFamily();
    await says(board, "/subagents stop scout");
    await says(board, `/subagents stop ${endOf(board, "leaf 1")}`);
    expect(child(board, "lead")).toMatchObject({ outcome: { status: "ok" }, result: "lead is done" });
    await expectAllEnded(board);
  });

  it("CMD YIELD-1: a requester that has yielded for the one that is stopped is woken and can answer", async () => {
    const agents = {
      main: cast({ asked: spawning(["wild"]), task: forever, told: "It was stopped, so I have nothing." }),
    };
    const board = await aBoard({ agents });
    await says(board, "go");
    expect(await says(board, "/subagents stop 1")).toContain("It was stopped, so I have nothing.");
    expect(child(board, "wild")).toMatchObject({ told: "turn" });
  });

  it("CMD: one that has ended and still holds a thread gives it back to the room, once, and says so", async () => {
    const { board } = await inThread({ task: () => "child's answer", toldInThread: "child's answer" });
    expect(await says(board, "and you?", { from: THREAD })).toBe("child's answer");
    expect(await says(board, "/subagents stop talker", { from: ROOM })).toBe(
      "**talker** has ended already. Its thread is an ordinary one again.",
    );
    expect(await says(board, "and you?", { from: THREAD })).toBe("main's answer");
    expect(await says(board, "/subagents stop talker", { from: ROOM })).toBe(
      "**talker** has ended already: done.",
    );
  });

  it("CMD: one at work in a thread is stopped before the thread is given back", async () => {
    const { board } = await inThread({ task: forever, toldInThread: "child's answer" });
    const stopped = await says(board, "/subagents stop talker", { from: ROOM });
    expect(stopped).toContain("⏹ Stopped 1 subagent.");
    expect(await says(board, "and you?", { from: THREAD })).toBe("child's answer");
    expect(await says(board, "/subagents stop talker", { from: ROOM })).toContain("an ordinary one again");
  });
});

/** A child that has a thread of the room. */
async function inThread({
  task,
  toldInThread,
}: {
  readonly task: Script;
  readonly toldInThread: string | Script;
}) {
  const spawn = spawning([{ task: "talk", label: "talker", thread: true }], "asked");
  const main = cast({
    task,
    asked(turn) {
      if (turn.request.depth > 0) return typeof toldInThread === "string" ? toldInThread : toldInThread(turn);
      if (turn.text.endsWith("another")) return spawning(["other"], "asked")(turn);
      return turn.text.endsWith("go") ? spawn(turn) : "main's answer";
    },
  });
  const board = await aBoard({ agents: { main } });
  await says(board, "go", { from: ROOM });
  return { board };
}

describe("/stop", () => {
  it("CMD D19: ends the run that is under way, the messages behind it and every subagent, and says how many", async () => {
    const asked: Script = async (turn) => {
      await spawning(["one", "two"], "")(turn);
      return hangs(turn.signal);
    };
    const board = await aBoard({ agents: { main: cast({ asked, task: forever }) } });
    await says(board, "go");
    await says(board, "and this");
    await says(board, "and that");
    expect(await says(board, "/stop")).toBe("⏹ Stopped: 1 run, 2 waiting messages, and 2 subagents.");
    expect(board.agents.main?.turns.filter(({ trigger }) => trigger === "user")).toHaveLength(1);
    expect(outcomes(board)).toEqual(["killed", "killed"]);
    expect(childrenOf(board).map(({ stoppedBy, told }) => [stoppedBy, told])).toEqual([
      ["owner", "row"],
      ["owner", "row"],
    ]);
    expect(postsOf(board)).toHaveLength(1);
    await expectAllEnded(board);
  });

  it("CMD: says that nothing was going on, and a second one too", async () => {
    const board = await aFamily(["wild"]);
    expect(await says(board, "/stop", { from: at("telegram", "group", "-5") })).toBe(
      "Nothing was going on here.",
    );
    expect(outcomes(board)).toEqual([undefined]);
    expect(await says(board, "/stop")).toBe("⏹ Stopped: 1 subagent.");
    expect(await says(board, "/stop")).toBe("Nothing was going on here.");
    await expectAllEnded(board);
  });

  it("CMD: afterwards the chat goes on as if nothing had been", async () => {
    const asked: Script = (turn) => (turn.text.endsWith("hang") ? hangs(turn.signal) : `re: ${turn.text}`);
    const board = await aBoard({ agents: { main: cast({ asked }) } });
    await says(board, "hang");
    await says(board, "/stop");
    expect(await says(board, "hello")).toBe("re: hello");
    const rows = (await rowsOf(board, MAIN)).map(({ text }) => text);
    expect(rows).toEqual(["hang", "This run ended without an answer: stopped.", "hello", "re: hello"]);
  });

  it("CMD D19: a session that has yielded is not woken by the ends of what was stopped", async () => {
    const agents = { main: cast({ asked: spawning(["one", "two"]), task: forever, told: "I was woken" }) };
    const board = await aBoard({ agents });
    await says(board, "go");
    expect(await says(board, "/stop")).toBe("⏹ Stopped: 2 subagents.");
    await pass(board, 3_600_000);
    expect(postsOf(board)).toHaveLength(1);
    expect(await use(board, MAIN, "session_status")).toMatchObject({ runState: "idle" });
    await expectAllEnded(board);
  });

  it("CMD D19: reaches every depth, those that wait and those that have not begun", async () => {
    const config = limits({ maxSpawnDepth: 2, maxConcurrent: 1 });
    const board = await aDeepFamily({ config });
    expect(await says(board, "/stop")).toBe("⏹ Stopped: 3 subagents.");
    await expectAllEnded(board);
  });

  it("CMD ANN-4: the end of a child that waits to be told is told all the same", async () => {
    const clock = fakeClock();
    const asked: Script = async (turn) => {
      await spawning(["quick"], "")(turn);
      return hangs(turn.signal);
    };
    const task: Script = async ({ signal }) => {
      await working(clock, 5000, signal);
      return "42";
    };
    const board = await aBoard({ clock, agents: { main: cast({ asked, task, announce: "It is 42." }) } });
    await says(board, "go");
    await pass(board, 5000);
    expect(child(board, "quick")).toMatchObject({ outcome: { status: "ok" } });
    expect(child(board, "quick").told).toBeUndefined();
    expect(await says(board, "/stop")).toMatch(/1 run\./);
    await board.quiet();
    expect(postsOf(board).at(-1)).toMatch(/^Status: success\nResult: It is 42\./);
    await expectAllEnded(board);
  });

  it("CMD SEND-2: what another agent has asked here is answered all the same", async () => {
    const { script, answers } = asking();
    const config: ConfigInput = {
      ...OPEN,
      bindings: [{ agentId: "research", match: { channel: "discord" } }],
    };
    const research: Script = (turn) => (turn.text.endsWith("hang") ? hangs(turn.signal) : "found");
    const board = await aBoard({ config, agents: { main: script, research } });
    await says(board, "hang", { from: ROOM });
    await board.telegram.says(send({ sessionKey: "agent:research:discord:channel:100", message: "look" }));
    await board.quiet();
    expect(answers).toEqual([]);
    expect(await says(board, "/stop", { from: ROOM })).toContain("⏹ Stopped: 1 run.");
    await board.quiet();
    expect(answers).toMatchObject([{ status: "ok", reply: "found" }]);
  });

  it("CMD D19: in a child's thread it stops that child and what is below it, and nothing of the room", async () => {
    const { board } = await inThread({ task: forever, toldInThread: "child's answer" });
    await says(board, "another", { from: ROOM });
    expect(await says(board, "/stop", { from: THREAD })).toContain("⏹ Stopped: 1 subagent.");
    expect(child(board, "talker")).toMatchObject({ outcome: { status: "killed" }, stoppedBy: "owner" });
    expect(child(board, "other").outcome).toBeUndefined();
    expect(await says(board, "and you?", { from: THREAD })).toBe("child's answer");
  });

  it("CMD D19: in the thread of a child whose task is over it stops what is going on there", async () => {
    const { board } = await inThread({ task: () => "done", toldInThread: forever });
    await says(board, "think", { from: THREAD });
    await says(board, "more", { from: THREAD });
    expect(await says(board, "/stop", { from: THREAD })).toContain("⏹ Stopped: 1 run and 1 waiting message.");
    expect(child(board, "talker")).toMatchObject({ outcome: { status: "ok" } });
  });

  it("CMD D19: a subagent that a slow store is still writing at the moment of the stop does not stay behind", async () => {
    const writing = gate();
    const values = new Map<string, string>();
    let isSlow = false;
    const slow = {
      opts: {},
      get: async (key: string) => values.get(key),
      async set(key: string, value: string) {
        if (isSlow && key.includes("/child/")) {
          isSlow = false;
          await writing.pass(new AbortController().signal);
        }
        values.set(key, value);
        return true;
      },
      delete: async (key: string) => values.delete(key),
      clear: async () => values.clear(),
    };
    const agents = {
      main: cast({
        async asked(turn) {
          isSlow = true;
          return spawning(["deep"], "asked")(turn);
        },
        task: forever,
      }),
    };
    const board = await aBoard({ agents, store: new Keyv({ store: slow, throwOnErrors: true }) });
    await board.telegram.says("go");
    await writing.reached;
    await board.telegram.says("/stop");
    await pass(board, 5000);
    writing.open();
    await pass(board, 5000);
    expect(await use(board, MAIN, "subagents")).toMatchObject({ active: [] });
    expect(await says(board, "/subagents")).toContain("No subagent is at work.");
  });

  it("CMD D19: a subagent that is spawned while a slow store is asked which there are does not stay behind", async () => {
    const [asking, go] = [gate(), gate()];
    const values = new Map<string, string>();
    let isAsked = false;
    const slow = {
      opts: {},
      async get(key: string) {
        const value = values.get(key);
        if (isAsked && key.includes("/family/")) {
          isAsked = false;
          await asking.pass(new AbortController().signal);
        }
        return value;
      },
      set: async (key: string, value: string) => values.set(key, value) !== undefined,
      delete: async (key: string) => values.delete(key),
      clear: async () => values.clear(),
    };
    const asked: Script = async (turn) => {
      await go.pass(turn.signal);
      await spawning(["late"], "")(turn);
      return hangs(turn.signal);
    };
    const agents = { main: cast({ asked, task: forever }) };
    const board = await aBoard({ agents, store: new Keyv({ store: slow, throwOnErrors: true }) });
    await board.telegram.says("go");
    await go.reached;
    isAsked = true;
    await board.telegram.says("/stop");
    await asking.reached;
    go.open();
    await board.quiet();
    expect(await use(board, MAIN, "subagents")).toMatchObject({ active: [{ task: "late" }] });
    asking.open();
    await pass(board, 5000);
    expect(await use(board, MAIN, "subagents")).toMatchObject({ active: [] });
    expect(postsOf(board).at(-1)).toBe("⏹ Stopped: 1 run and 1 subagent.");
  });

  it("CMD D19: a subagent whose thread is being opened at the moment of the stop does not stay behind", async () => {
    const opening = gate();
    const discord = memoryAdapter("discord");
    const slow: MemoryAdapter = Object.assign(Object.create(discord), {
      async createThread(room: Address) {
        await opening.pass(new AbortController().signal);
        return { ...room, threadId: "thread-1" };
      },
    });
    const asked = spawning([{ task: "talk", thread: true }], "asked");
    const board = await aBoard({ adapters: [slow], agents: { main: cast({ asked, task: forever }) } });
    await discord.says("go", { from: ROOM });
    await opening.reached;
    await discord.says("/stop", { from: ROOM });
    await board.quiet();
    expect(childrenOf(board)).toEqual([]);
    opening.open();
    await board.quiet();
    expect(outcomes(board)).toEqual([]);
    expect(discord.sent.at(-1)?.text).toBe("⏹ Stopped: 1 run.");
  });

  it("CMD ANN-4: meeting the end of a child it leaves one end of it, told once", async () => {
    for (const order of ["stop first", "end first"] as const) {
      const finish = gate();
      const task: Script = async ({ signal }) => {
        await finish.pass(signal);
        return "made it";
      };
      const board = await aFamily(["racing"], { task });
      if (order === "end first") finish.open();
      const stopping = board.telegram.says("/stop");
      finish.open();
      await stopping;
      await expectAllEnded(board);
    }
  });

  it("CMD RUN-2: carried out again after a crash it does no harm, and what it had begun is finished", async () => {
    const deaf = new Promise<never>(() => {});
    const board = await aFamily(["deaf", "wild"], {
      task: (turn) => (taskIn(turn.text) === "deaf" ? deaf : forever(turn)),
    });
    await board.telegram.says("/stop");
    await board.quiet();
    const again = await aBoard({ dataDir: board.snapshot(), agents: { main: cast({ task: "ran again" }) } });
    await pass(again, 20_000);
    expect(outcomes(again)).toEqual(["killed", "killed"]);
    await expectAllEnded(again);
    // Nobody listens, so the first board can only leave its run behind.
    await board.clock.advance(2000);
  });

  it("CMD: an agent that does not listen is left behind after a second, and the answer waits for that", async () => {
    const board = await aFamily(["deaf"], { task: () => new Promise<never>(() => {}) });
    expect(await says(board, "/stop")).toBe("");
    await pass(board, 1000);
    expect(postsOf(board).at(-1)).toBe("⏹ Stopped: 1 subagent.");
    await expectAllEnded(board);
  });
});

describe("who may, and where it goes", () => {
  it.each(["/stop", "/subagents", "/subagents stop all", "/subagents log 1"])(
    "CMD D19: %j of somebody else is ignored without a word and not heard by the agent",
    async (text) => {
      const board = await aBoard({
        agents: { main: cast({ asked: spawning(["wild"], "asked"), task: forever }) },
      });
      await says(board, "go", { from: ROOM });
      const turns = board.agents.main?.turns.length;
      expect(await says(board, text, { from: ROOM, sender: MEMBER })).toBe("");
      expect(outcomes(board)).toEqual([undefined]);
      expect(board.agents.main?.turns).toHaveLength(turns ?? -1);
      const [name = "", ...words] = text.slice(1).split(" ");
      const answer = await board.discord.calls(name, words.join(" "), { from: ROOM, sender: MEMBER });
      expect(answer).toBe("Only the owner can do this. Your id: 7");
      expect(outcomes(board)).toEqual([undefined]);
    },
  );

  it("CMD: neither commands nor answers reach the agent or a transcript", async () => {
    const board = await aFamily(["wild"]);
    for (const text of ["/subagents", "/subagents info 1", "/subagents log 1", "/subagents tree", "/stop"]) {
      await says(board, text);
    }
    await says(board, "bye");
    expect(JSON.stringify(board.agents.main?.turns)).not.toMatch(/\/subagents|\/stop|Subagents at work|⏹/);
    expect(JSON.stringify(await rowsOf(board, MAIN))).not.toMatch(/\/subagents|\/stop|Subagents at work|⏹/);
  });

  it("CMD: a menu gives the same answers, with the label as it is, blanks and all", async () => {
    const board = await aFamily([{ task: "look", label: "My best scout" }]);
    expect(await board.telegram.calls("subagents", "")).toContain("#1 **My best scout**");
    expect(await board.telegram.calls("subagents", "info my best  scout")).toContain(
      "**My best scout**: running",
    );
    expect(await board.telegram.calls("subagents", "info nobody\nhere **x**")).toContain(
      "“nobody here \\*\\*x\\*\\*”",
    );
    expect(await board.telegram.calls("subagents", "stop My best scout")).toBe("⏹ Stopped 1 subagent.");
    expect(await board.telegram.calls("stop", "")).toBe("Nothing was going on here.");
    await expectAllEnded(board);
  });

  it("CMD: Discord's own menu has both options of /subagents, and its call with both is carried out", async () => {
    const { discord, adapter } = await aDiscordBot();
    const board = await aBoard({
      adapters: [adapter],
      owners: { discord: [discord.owner.id] },
      agents: { main: cast({ asked: spawning([{ task: "look", label: "scout" }], "asked"), task: forever }) },
    });
    await discord.until(() => discord.commands().find("subagents") !== undefined, "it is registered");
    const options = discord.commands().find("subagents")?.options ?? [];
    expect(options.map(({ name, required }) => [name, required ?? false])).toEqual([
      ["action", false],
      ["which", false],
    ]);
    expect(options[0]?.choices?.map(({ value }) => value)).toEqual(["list", "info", "log", "stop", "tree"]);
    discord.say(`<@${discord.bot.user.id}> go`);
    await discord.until(() => discord.sent.length === 1, "the agent answered");
    const call = discord.slash("subagents", { options: { action: "stop", which: "scout" } });
    await discord.until(() => call.answers.length > 0, "the command was answered");
    await board.quiet();
    expect(outcomes(board)).toEqual(["killed"]);
  });

  it.each([
    [
      "es",
      "Subagentes trabajando:\n#1 **wild**: en curso, 0s",
      "⏹ Detenido: 1 ejecución, 1 mensaje en espera y 1 subagente.",
    ],
    [
      "pt-BR",
      "Subagentes trabalhando:\n#1 **wild**: em andamento, 0s",
      "⏹ Parado: 1 execução, 1 mensagem em espera e 1 subagente.",
    ],
    ["hi", "काम पर सब-एजेंट:\n#1 **wild**: चल रहा है, 0s", "⏹ रोका गया: 1 रन, 1 प्रतीक्षारत संदेश, और 1 सब-एजेंट।"],
  ])("CMD: a person with locale %s is answered in that language", async (locale, listed, stopped) => {
    const asked: Script = async (turn) => {
      await spawning(["wild"], "")(turn);
      return hangs(turn.signal);
    };
    const board = await aBoard({ agents: { main: cast({ asked, task: forever }) } });
    await says(board, "go");
    await says(board, "more");
    expect(await says(board, "/subagents", { locale })).toContain(listed);
    for (const text of ["tree", "info 1", "info", "info x", "log 1", "stop x"]) {
      expect(await says(board, `/subagents ${text}`, { locale })).not.toBe("");
    }
    expect(await says(board, "/stop", { locale })).toBe(stopped);
    expect(await says(board, "/stop", { locale })).not.toContain("{");
  });
});

describe("what is typed", () => {
  it.each([
    "/subagents stop all now",
    "/subagents stop all!",
    "/subagents 1 of them",
    "/subagents info (lead)",
    "/subagents info a,b",
    "/subagents info\nlead",
    "/subagents info lead\nplease",
    `/subagents info ${"x".repeat(201)}`,
    "/stop it now",
    "/stop.",
    "/stopp",
    "stop",
    "please /stop",
  ])("CMD: %j is words for the agent", async (text) => {
    const board = await aFamily(["wild"]);
    expect(await board.telegram.says(text)).toBe("run");
    await board.quiet();
    expect(outcomes(board)).toEqual([undefined]);
    expect(postsOf(board).at(-1)).toBe(`re: ${text}`);
  });

  const word = fc.oneof(
    fc.constantFrom(
      "list",
      "info",
      "stop",
      "all",
      "on",
      "please",
      "1",
      "#2",
      "a:b",
      "x/y",
      "é",
      "revisión",
      "समीक्षा",
      "a,b",
      "-",
      "`x`",
    ),
    fc.string({ unit: "grapheme", maxLength: 12 }),
  );
  const typed = fc.record({
    name: fc.constantFrom("send", "status", "subagents", "stop", "whoami", "help", "weather"),
    words: fc.array(word, { maxLength: 4 }),
    gap: fc.constantFrom(" ", "  ", "\t", "\u00a0"),
  });

  it("CMD: whatever is typed, a command takes the words that it has room for, and everything else is for the agent", async () => {
    const letters = /^[\p{L}\p{M}]{1,40}$/u;
    const room: Readonly<Record<string, readonly RegExp[]>> = {
      send: [letters],
      subagents: [letters, /^[\p{L}\p{M}\p{N}_#.:@/+%-]{1,200}$/u],
      // A single word behind them is taken for a slip.
      status: [letters],
      stop: [letters],
      whoami: [letters],
      help: [letters],
    };
    const board = await aBoard();
    await fc.assert(
      fc.asyncProperty(typed, async ({ name, words, gap }) => {
        const text = [`/${name}`, ...words].join(gap);
        // As people see it: without what nobody sees.
        const [, ...seen] = text
          .replace(/\uFEFF|(?!\s)[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, "")
          .trim()
          .split(/\s+/);
        const places = room[name];
        const isNumber = seen.length === 1 && /^#?\p{Nd}{1,9}$/u.test(seen[0] ?? "");
        // A number alone is taken for a slip where a word is to say what is done.
        const isSlip = isNumber && name === "subagents";
        const fits =
          places !== undefined && (isSlip || seen.every((one, n) => places[n]?.test(one) === true));
        const isOneLine = !/[\r\n\u2028\u2029]/.test(text.trim());
        expect(await board.telegram.says(text)).toBe(fits && isOneLine ? "command" : "run");
      }),
      { numRuns: 300 },
    );
    await board.quiet();
  });
});
