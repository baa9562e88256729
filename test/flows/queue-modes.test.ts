import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/core/config.ts";
import { createInterrupt } from "../../src/core/inbound/interrupt.ts";
import { textOf } from "../../src/core/transcript/prompt.ts";
import { aBoard, type Board, type BoardOptions, LEASE_MS, OPEN, type Script, use } from "../fakes/a-board.ts";
import { asking, send } from "../fakes/asking.ts";
import { fakeClock } from "../fakes/fake-clock.ts";
import { type Gate, gate } from "../fakes/gate.ts";
import { at } from "../fakes/memory-adapter.ts";

type Mode = "followup" | "collect" | "interrupt";

const ROOM = at("telegram", "group", "-100");
const MIA = { id: "7", name: "Mia", isBot: false };

const mode = (queue: Mode) => ({ ...OPEN, agents: { defaults: { queue } } });

/** Stops at the gate when it is asked something with the word "first"; says what it was asked. */
const slowFirst =
  (slow: Gate): Script =>
  async ({ text, signal }) => {
    if (text.includes("first")) await slow.pass(signal);
    return `re: ${text}`;
  };

/** A board whose agent is at work on "first". */
async function atWork(queue: Mode, options: BoardOptions = {}) {
  const slow = gate();
  const board = await aBoard({ agents: { main: slowFirst(slow) }, config: mode(queue), ...options });
  await board.telegram.says("first", { id: "first" });
  await slow.reached;
  return { board, slow };
}

/** What the agent was asked, turn by turn. */
function asked(board: Board, agent = "main"): readonly string[] {
  return (board.agents[agent]?.turns ?? []).map(({ input }) =>
    input.content.map((block) => (block.type === "text" ? block.text : `(${block.type})`)).join(" | "),
  );
}

const replies = (board: Board) => board.telegram.sent.map(({ text }) => text);

async function rows(board: Board, sessionKey = "main") {
  const { messages } = await board.gateway.call("chat.history", { sessionKey });
  // The shape that sessions_history documents.
  return (messages as readonly { role: string; content: readonly { text?: string }[] }[]).map(
    ({ role, content }) => `${role}: ${content[0]?.text ?? ""}`,
  );
}

/** Makes the main session of an agent. */
async function open(board: Board, agentId: string): Promise<void> {
  await board.gateway.call("agent", { agentId, message: "open" });
  await board.quiet();
}

async function afterCrash(board: Board, options: BoardOptions): Promise<Board> {
  const dataDir = board.snapshot();
  await board.close({ graceMs: 0 });
  const next = await aBoard({ ...options, dataDir, clock: board.clock });
  await board.clock.advance(LEASE_MS);
  await next.quiet();
  return next;
}

describe('agents.defaults.queue "followup", the default', () => {
  it("RUN-1 N06 N08: messages that come during a turn each get theirs, in order", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: slowFirst(slow) } });
    await board.telegram.says("first");
    await slow.reached;
    for (const text of ["a", "b", "c"]) {
      await board.telegram.says(text);
      await board.clock.advance(40_000);
    }
    slow.open();
    await board.quiet();
    expect(replies(board)).toEqual(["re: first", "re: a", "re: b", "re: c"]);
  });
});

describe('agents.defaults.queue "collect"', () => {
  it("RUN-1 N08: messages that wait behind a turn become one, answered once, to the last", async () => {
    const { board, slow } = await atWork("collect");
    for (const text of ["a", "b", "c"]) {
      await board.telegram.says(text, { id: text });
      await board.clock.advance(40_000);
    }
    slow.open();
    await board.quiet();
    expect(asked(board)).toEqual(["first", "a | b | c"]);
    expect(replies(board)).toEqual(["re: first", "re: a\nb\nc"]);
    expect(board.telegram.sent[1]?.deliveryId).toMatch(/:c>reply$/);
    expect(await rows(board)).toEqual([
      "user: first",
      "assistant: re: first",
      "user: a",
      "user: b",
      "user: c",
      "assistant: re: a\nb\nc",
    ]);
  });

  it("RUN-1: the words of several people in a room are one turn, each with its speaker", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: slowFirst(slow) }, config: mode("collect") });
    await board.telegram.says("first", { from: ROOM, sender: MIA });
    await slow.reached;
    await board.telegram.says("a", { from: ROOM, sender: MIA });
    await board.telegram.says("b", { from: ROOM, sender: { id: "8", name: "Ben", isBot: false } });
    slow.open();
    await board.quiet();
    expect(asked(board)).toEqual(["Mia: first", "Mia: a | Ben: b"]);
  });

  it("RUN-1: an owner's turn answers nobody else's words", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: slowFirst(slow) }, config: mode("collect") });
    await board.telegram.says("first", { from: ROOM });
    await slow.reached;
    await board.telegram.says("delete everything", { from: ROOM, sender: MIA });
    await board.telegram.says("how are you?", { from: ROOM });
    slow.open();
    await board.quiet();
    expect(asked(board)).toEqual(["Olivia: first", "Mia: delete everything", "Olivia: how are you?"]);
  });

  it("RUN-1: twenty messages are one turn, the twenty-first begins the next", async () => {
    const { board, slow } = await atWork("collect");
    for (let n = 1; n <= 21; n++) await board.telegram.says(`${n}`);
    slow.open();
    await board.quiet();
    expect(asked(board).map((turn) => turn.split(" | ").length)).toEqual([1, 20, 1]);
  });

  it("RUN-1: together they are no longer than one message may be in a prompt; what goes beyond is the next turn", async () => {
    const { board, slow } = await atWork("collect");
    for (let n = 0; n < 4; n++) await board.telegram.says("x".repeat(30_000));
    slow.open();
    await board.quiet();
    const sizes = board.agents.main?.turns.map(({ input }) => textOf(input).replaceAll("\n", "").length);
    expect(sizes).toEqual([5, 60_000, 60_000]);
  });

  it("RUN-1 N08: messages that two processes are handed at once are answered once each", async () => {
    for (let round = 0; round < 3; round++) {
      const { board: one, slow } = await atWork("collect");
      const options = { agents: { main: slowFirst(slow) }, config: mode("collect") };
      const two = await aBoard({ ...options, dataDir: one.dataDir, clock: one.clock });
      await one.telegram.says("a");
      await Promise.all([one.telegram.says("b"), two.telegram.says("c")]);
      slow.open();
      for (let second = 0; second < 5; second++) {
        await one.clock.advance(1000);
        await one.quiet();
        await two.quiet();
      }
      const words = [...asked(one), ...asked(two)].flatMap((turn) => turn.split(" | "));
      expect(words.toSorted()).toEqual(["a", "b", "c", "first"]);
    }
  });

  it("RUN-1 N08: what other sessions and the host say is not merged, and keeps its place", async () => {
    const slow = gate();
    const board = await aBoard({
      agents: { main: slowFirst(slow), ops: () => "REPLY_SKIP" },
      config: { ...mode("collect"), session: { agentToAgent: { maxPingPongTurns: 0 } } },
    });
    await open(board, "ops");
    await board.telegram.says("first");
    await slow.reached;
    await board.telegram.says("a");
    const message = { sessionKey: "agent:main:main", message: "from ops", timeoutSeconds: 0 };
    expect(await use(board, "agent:ops:main", "sessions_send", message)).toMatchObject({
      status: "accepted",
    });
    await board.telegram.says("b");
    await board.telegram.says("c");
    slow.open();
    await board.quiet();
    const turns = asked(board).filter((turn) => !turn.includes("announce"));
    expect(turns.map((turn) => (turn.includes("from ops") ? "ops" : turn)).slice(0, 4)).toEqual([
      "first",
      "a",
      "ops",
      "b | c",
    ]);
  });

  it("RUN-1 RUN-2: after a crash what waited is still one turn, and what was cut off is told of", async () => {
    const { board } = await atWork("collect");
    await board.telegram.says("a");
    await board.telegram.says("b");
    const next = await afterCrash(board, { agents: { main: slowFirst(gate()) }, config: mode("collect") });
    expect(asked(next)).toEqual(["a | b"]);
    expect(next.telegram.sent).toHaveLength(2);
  });

  it("RUN-1: a message that nothing stands before is answered at once", async () => {
    const board = await aBoard({ config: mode("collect") });
    await board.telegram.says("hello");
    await board.quiet();
    await board.telegram.says("again");
    await board.quiet();
    expect(asked(board)).toEqual(["hello", "again"]);
  });
});

describe('agents.defaults.queue "interrupt"', () => {
  const stores: readonly (readonly [string, () => BoardOptions])[] = [
    ["the embedded store", () => ({})],
    ["a Keyv of the host", () => ({ store: new Keyv() })],
  ];

  it.each(stores)(
    "RUN-1 N08: on %s a message ends the turn before it, without a notice, and nothing is lost",
    async (_, store) => {
      const { board } = await atWork("interrupt", store());
      await board.telegram.says("no, rather this");
      await board.clock.advance(2000);
      await board.quiet();
      expect(replies(board)).toEqual(["re: no, rather this"]);
      expect(await rows(board)).toEqual([
        "user: first",
        "system: This run ended without an answer: stopped.",
        "user: no, rather this",
        "assistant: re: no, rather this",
      ]);
      expect(board.agents.main?.turns[1]?.history.map(({ role }) => role)).toEqual(["user", "system"]);
    },
  );

  it("RUN-1: messages that come before the turn has let go are one turn", async () => {
    const { board } = await atWork("interrupt");
    await Promise.all([board.telegram.says("a"), board.telegram.says("b"), board.telegram.says("c")]);
    await board.clock.advance(2000);
    await board.quiet();
    expect(asked(board)).toEqual(["first", "a | b | c"]);
    expect(replies(board)).toEqual(["re: a\nb\nc"]);
  });

  it("RUN-1: a message in another chat of the session ends nothing there", async () => {
    const { board, slow } = await atWork("interrupt");
    await board.discord.says("another thing");
    await board.clock.advance(2000);
    slow.open();
    await board.quiet();
    expect(replies(board)).toEqual(["re: first"]);
    expect(board.discord.sent.map(({ text }) => text)).toEqual(["re: another thing"]);
  });

  it("RUN-1: nobody else ends an owner's turn, an owner everybody's", async () => {
    for (const [before, behind, ends] of [
      [undefined, MIA, false],
      [MIA, undefined, true],
    ] as const) {
      const slow = gate();
      const board = await aBoard({ agents: { main: slowFirst(slow) }, config: mode("interrupt") });
      await board.telegram.says("first", { from: ROOM, ...(before && { sender: before }) });
      await slow.reached;
      await board.telegram.says("second", { from: ROOM, ...(behind && { sender: behind }) });
      await board.clock.advance(2000);
      slow.open();
      await board.quiet();
      expect(replies(board)).toHaveLength(ends ? 1 : 2);
    }
  });

  it("RUN-1: after five turns in a row that were ended the next one is not, however fast people write", async () => {
    const clock = fakeClock();
    const board = await aBoard({
      clock,
      agents: {
        main: ({ signal, text }) =>
          new Promise((resolve, reject) => {
            const cancel = clock.after(3000, () => resolve(`re: ${text}`));
            signal.addEventListener("abort", () => {
              cancel();
              reject(new Error("aborted"));
            });
          }),
      },
      config: mode("interrupt"),
    });
    for (let n = 0; n < 10; n++) {
      await board.telegram.says(`${n}`, { from: ROOM, sender: MIA });
      await board.quiet();
      await board.clock.advance(2000);
    }
    await board.quiet();
    expect(replies(board)[0]).toBe("re: Mia: 5");
    await board.clock.advance(10_000);
    await board.quiet();
    expect(replies(board).at(-1)).toContain("Mia: 9");
  });

  it("RUN-1: a message that the platform hands over again ends nothing", async () => {
    const { board, slow } = await atWork("interrupt");
    expect(await board.telegram.says("first", { id: "first" })).toBe("duplicate");
    slow.open();
    await board.quiet();
    expect(replies(board)).toEqual(["re: first"]);
  });

  it("RUN-1: words among people and commands end nothing, other sessions go on", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: slowFirst(slow) }, config: mode("interrupt") });
    await board.telegram.says("first", { from: ROOM });
    await slow.reached;
    await board.telegram.says("between us", { from: ROOM, addressed: false, sender: MIA });
    await board.telegram.says("/whoami", { from: ROOM });
    await board.telegram.says("elsewhere", { from: { ...ROOM, chatId: "-200" } });
    await board.quiet();
    slow.open();
    await board.quiet();
    expect(replies(board)).toContain("re: Olivia: first");
  });

  it("RUN-1 A07 N08: the turn of another session is not ended; the message waits for it", async () => {
    const slow = gate();
    const board = await aBoard({
      agents: { main: slowFirst(slow), ops: () => "REPLY_SKIP" },
      config: { ...mode("interrupt"), session: { agentToAgent: { maxPingPongTurns: 0 } } },
    });
    await open(board, "ops");
    const message = { agentId: "main", message: "first", timeoutSeconds: 0 };
    const { runId } = await use(board, "agent:ops:main", "sessions_send", message);
    await slow.reached;
    await board.telegram.says("hello");
    await board.clock.advance(2000);
    await board.quiet();
    expect(asked(board)).toHaveLength(1);
    slow.open();
    await board.quiet();
    expect(await board.gateway.call("agent.wait", { runId, timeoutSeconds: 0 })).toMatchObject({
      state: "done",
    });
    expect(replies(board)).toContain("re: hello");
  });

  it("RUN-1: the children of the session go on and tell what came of them", async () => {
    const child = gate();
    const slow = gate();
    const board = await aBoard({
      agents: {
        main: async ({ request, text, signal }) => {
          if (request.depth > 0) await child.pass(signal);
          if (text === "first") await slow.pass(signal);
          return request.depth > 0 ? "the child's result" : `re: ${text}`;
        },
      },
      config: mode("interrupt"),
    });
    await board.telegram.says("hello");
    await board.quiet();
    await use(board, "agent:main:main", "sessions_spawn", { task: "a long one" });
    await child.reached;
    await board.telegram.says("first");
    await slow.reached;
    await board.telegram.says("second");
    await board.clock.advance(2000);
    await board.quiet();
    expect(replies(board)).toEqual(["re: hello", "re: second"]);
    child.open();
    await board.quiet();
    expect(replies(board).join("\n")).toContain("the child's result");
  });

  it("RUN-1 A01: a caller that waits for an answer is ended, what it asked goes on", async () => {
    const busy = gate();
    const { script } = asking();
    const board = await aBoard({
      agents: {
        main: (turn) => (turn.text.startsWith("{") ? script(turn) : "REPLY_SKIP"),
        ops: async ({ signal }) => {
          await busy.pass(signal);
          return "REPLY_SKIP";
        },
      },
      config: mode("interrupt"),
    });
    await board.telegram.says(send({ agentId: "ops", message: "work", timeoutSeconds: 600 }));
    await busy.reached;
    await board.telegram.says("never mind");
    await board.clock.advance(2000);
    await board.quiet();
    expect(asked(board)).toHaveLength(2);
    expect(board.agents.ops?.turns).toHaveLength(1);
    busy.open();
    await board.quiet();
    expect(board.complaints).toEqual([]);
  });
});

it("RUN-1 N05: a message that could not end the turn before it has been accepted all the same", async () => {
  const logged: string[] = [];
  const say = (_: object, message: string) => void logged.push(message);
  const interrupt = createInterrupt({
    config: parseConfig(mode("interrupt"), ["main"]),
    queue: { pending: () => Promise.reject(new Error("out of reach")), cancel: async () => false },
    sessions: { get: async () => undefined },
    logger: { debug: say, info: say, warn: say, error: say },
  });
  const run = { id: "in:1", lane: "main", pool: "agents", kind: "agent", payload: { trigger: "user" } };
  await expect(interrupt(run)).resolves.toBeUndefined();
  expect(logged).toEqual(["A message could not end the turn before it"]);
});

it("IN-1: with interrupt nobody waits for a window, and the start says so", async () => {
  const config = { ...mode("interrupt"), channels: { telegram: { debounceMs: 60_000 } } };
  const board = await aBoard({ config });
  await board.telegram.says("hello");
  await board.quiet();
  expect(replies(board)).toEqual(["ok"]);
  expect(board.complaints).toEqual([expect.stringMatching(/channels\.telegram\.debounceMs has no effect/)]);
});

it("RUN-1: another word than the three is a config error", async () => {
  // A word that somebody may try.
  const config = mode("steer" as Mode);
  await expect(aBoard({ config })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
