import { describe, expect, it } from "vitest";
import { aBoard, type Board, type BoardOptions, OPEN, type Script } from "../fakes/a-board.ts";
import { type Answer, asking, send } from "../fakes/asking.ts";
import { gate } from "../fakes/gate.ts";
import { at } from "../fakes/memory-adapter.ts";

const ROOM = at("discord", "channel", "222");
const ROOM_KEY = "agent:research:discord:channel:222";
const BINDINGS = [{ agentId: "research", match: { channel: "discord" } }];
const NO_TURNS = { agentToAgent: { maxPingPongTurns: 0 } };

/** An asking agent `main` for Telegram and an agent `research` with a Discord room, which has said hello there. */
async function twoAgents(research: Script, options: BoardOptions = {}) {
  const { script, answers } = asking();
  const board = await aBoard({
    ...options,
    config: { session: NO_TURNS, ...OPEN, bindings: BINDINGS, ...options.config },
    agents: {
      main: script,
      research: (turn) => (turn.request.trigger === "user" ? "hello" : research(turn)),
      ...options.agents,
    },
  });
  await board.discord.says("hi", { from: ROOM });
  await board.quiet();
  return { board, answers };
}

async function ask(board: Board, input: object): Promise<void> {
  await board.telegram.says(send(input));
  await board.quiet();
}

/** What was announced in the room, after the first hello. */
function announced(board: Board): readonly string[] {
  return board.discord.sent.slice(1).map((one) => one.text);
}

/** What the agent read in its last run. */
function lastInput(board: Board, agentId: string): string {
  const block = board.agents[agentId]?.turns.at(-1)?.input.content[0];
  return block?.type === "text" ? block.text : "";
}

async function history(board: Board, sessionKey: string) {
  const answer = await board.gateway.call("chat.history", { sessionKey });
  // The shape that sessions_history documents.
  return answer.messages as readonly {
    readonly role: string;
    readonly content: readonly { readonly text?: string }[];
    readonly provenance?: { readonly kind: string };
  }[];
}

function texts(rows: Awaited<ReturnType<typeof history>>, role: string): readonly string[] {
  return rows.filter((row) => row.role === role).map((row) => row.content[0]?.text ?? "");
}

describe("a send that does not wait", () => {
  it("SEND-1: is accepted with its run id at once, however busy the target is", async () => {
    const busy = gate();
    const { board, answers } = await twoAgents(async ({ signal }) => {
      await busy.pass(signal);
      return "done";
    });
    await ask(board, { sessionKey: ROOM_KEY, message: "first", timeoutSeconds: 0 });
    await busy.reached;
    await ask(board, { sessionKey: ROOM_KEY, message: "second", timeoutSeconds: 0 });
    expect(answers).toHaveLength(2);
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: "accepted", sessionKey: ROOM_KEY });
      expect(answer.runId).toMatch(/./);
      expect(answer).not.toHaveProperty("reply");
    }
    expect(answers[0]?.runId).not.toBe(answers[1]?.runId);
    busy.open();
    await board.quiet();
  });

  it("A03: announces after a run of 150 s", async () => {
    const slow = gate();
    const { board } = await twoAgents(async ({ request, signal }) => {
      if (request.trigger === "announce") return "It took a while: 42.";
      await slow.pass(signal);
      return "42";
    });
    await ask(board, { sessionKey: ROOM_KEY, message: "compute", timeoutSeconds: 0 });
    await board.clock.advance(150_000);
    expect(announced(board)).toEqual([]);
    slow.open();
    await board.quiet();
    expect(announced(board)).toEqual(["It took a while: 42."]);
  });
});

describe("a send that waits", () => {
  it("SEND-2: returns the reply of its run", async () => {
    const { board, answers } = await twoAgents(({ request }) =>
      request.trigger === "send" ? "all green" : "ANNOUNCE_SKIP",
    );
    await ask(board, { sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: 5 });
    expect(answers[0]).toMatchObject({ status: "ok", reply: "all green", sessionKey: ROOM_KEY });
    expect(answers[0]?.runId).toMatch(/./);
  });

  it("SEND-2: waits for 30 s when nothing is said", async () => {
    const slow = gate();
    const { board, answers } = await twoAgents(async ({ signal }) => {
      await slow.pass(signal);
      return "late";
    });
    await ask(board, { sessionKey: ROOM_KEY, message: "status?" });
    await board.clock.advance(29_999);
    expect(answers).toEqual([]);
    await board.clock.advance(1);
    expect(answers[0]).toMatchObject({ status: "timeout" });
    slow.open();
    await board.quiet();
  });

  it.each([
    { timeoutSeconds: 2.9, waitsMs: 2000 },
    { timeoutSeconds: 99_999, waitsMs: 3_600_000 },
  ])(
    "SEND-2: $timeoutSeconds s are cut to whole seconds within the range",
    async ({ timeoutSeconds, waitsMs }) => {
      const never = gate();
      const config = { agents: { defaults: { timeoutSeconds: 0 } } };
      const { board, answers } = await twoAgents(
        async ({ signal }) => {
          await never.pass(signal);
          return "never";
        },
        { config },
      );
      await ask(board, { agentId: "research", message: "x", timeoutSeconds });
      await never.reached;
      board.clock.skip(waitsMs - 1000);
      await board.clock.advance(999);
      expect(answers).toEqual([]);
      await board.clock.advance(1);
      expect(answers[0]).toMatchObject({ status: "timeout" });
    },
  );

  it("SEND-1: less than nothing is nothing", async () => {
    const { board, answers } = await twoAgents(() => "REPLY_SKIP");
    await ask(board, { agentId: "research", message: "x", timeoutSeconds: -5 });
    expect(answers[0]).toMatchObject({ status: "accepted" });
  });

  it.each([
    { says: "", what: "nothing" },
    { says: " \n ", what: "blanks" },
    { says: "ANNOUNCE_SKIP", what: "a silence token" },
    { says: "<think>old text?</think>", what: "reasoning alone" },
  ])("A04 SEND-2: a run that says $what returns no reply, never an older one", async ({ says }) => {
    let runs = 0;
    const { board, answers } = await twoAgents(({ request }) => {
      if (request.trigger === "announce") return "ANNOUNCE_SKIP";
      runs += 1;
      return runs === 1 ? "old text" : says;
    });
    await ask(board, { sessionKey: ROOM_KEY, message: "first" });
    await ask(board, { sessionKey: ROOM_KEY, message: "second" });
    expect(answers[0]).toMatchObject({ status: "ok", reply: "old text" });
    expect(answers[1]).toMatchObject({ status: "ok" });
    expect(JSON.stringify(answers[1])).not.toContain("old text");
    expect(answers[1]).not.toHaveProperty("reply");
    expect(announced(board)).toEqual([]);
  });

  it("A01 SEND-3: an expired wait says that the message was handed over, and everything else still happens", async () => {
    const slow = gate();
    const { board, answers } = await twoAgents(async ({ request, signal }) => {
      if (request.trigger === "announce") return "pong, told to everybody";
      await slow.pass(signal);
      return "pong";
    });
    await ask(board, { sessionKey: ROOM_KEY, message: "ping", timeoutSeconds: 2 });
    await board.clock.advance(2000);
    const answer = answers[0] ?? {};
    expect(answer).toMatchObject({ status: "timeout", delivered: true, runState: "running" });
    expect(answer.error).toContain("handed over");
    expect(answer.error).toContain("Do not send it again");
    expect(answer.error).toContain("sessions_history");
    expect(answer.error).toContain(answer.runId);

    slow.open();
    await board.quiet();
    const rows = await history(board, ROOM_KEY);
    expect(texts(rows, "user").filter((text) => text === "ping")).toHaveLength(1);
    expect(texts(rows, "assistant")).toContain("pong");
    expect(announced(board)).toEqual(["pong, told to everybody"]);
  });

  it("N08 SEND-3: tells whether the message still stands in the queue", async () => {
    const busy = gate();
    const { board, answers } = await twoAgents(async ({ signal }) => {
      await busy.pass(signal);
      return "done";
    });
    await ask(board, { sessionKey: ROOM_KEY, message: "first", timeoutSeconds: 0 });
    await busy.reached;
    await ask(board, { sessionKey: ROOM_KEY, message: "second", timeoutSeconds: 1 });
    await board.clock.advance(1000);
    expect(answers[1]).toMatchObject({ status: "timeout", runState: "queued" });
    busy.open();
    await board.quiet();
  });

  it("A05 SEND-4: a failed run is an error with its run id as soon as it has failed", async () => {
    const { board, answers } = await twoAgents(() => {
      throw new Error("429 Too Many Requests");
    });
    await ask(board, { sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: 10 });
    expect(answers[0]).toMatchObject({ status: "error", code: "RUN_FAILED", sessionKey: ROOM_KEY });
    expect(answers[0]?.error).toContain("429 Too Many Requests");
    expect(answers[0]?.runId).toMatch(/./);
  });

  it("A05 SEND-4: the reason is one short line without credentials", async () => {
    const key = `sk-${"a1B2c3D4".repeat(6)}`;
    const { board, answers } = await twoAgents(() => {
      throw new Error(`Incorrect API key provided: ${key}\n    at model (file.js:1)\n${"x".repeat(5000)}`);
    });
    await ask(board, { sessionKey: ROOM_KEY, message: "status?" });
    const error = String(answers[0]?.error);
    expect(error).toContain("Incorrect API key provided");
    expect(error).not.toContain(key);
    expect(error).not.toContain("\n");
    expect(error.length).toBeLessThan(400);
  });

  it("A08: what is sent after a failed run reaches the agent word for word", async () => {
    let runs = 0;
    const { board } = await twoAgents(() => {
      runs += 1;
      if (runs === 1) throw new Error("broken");
      return "REPLY_SKIP";
    });
    await ask(board, { sessionKey: ROOM_KEY, message: "TASK-41" });
    await ask(board, { sessionKey: ROOM_KEY, message: "TASK-42" });
    expect(lastInput(board, "research")).toContain("TASK-42");
  });

  it("SEND-5: whoever has the run id can wait for it again and gets the kept result, also after a restart", async () => {
    const slow = gate();
    const { board, answers } = await twoAgents(async ({ request, signal }) => {
      if (request.trigger === "announce") return "ANNOUNCE_SKIP";
      await slow.pass(signal);
      return "late answer";
    });
    await ask(board, { sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: 1 });
    await board.clock.advance(1000);
    const runId = answers[0]?.runId;
    const first = await board.gateway.call("agent.wait", { runId, timeoutSeconds: 0 });
    expect(first).toEqual({ runId, status: "timeout" });

    const waiting = board.gateway.call("agent.wait", { runId, timeoutSeconds: 60 });
    slow.open();
    await board.quiet();
    expect(await waiting).toMatchObject({ state: "done", result: { reply: "late answer" } });
    await board.close({ graceMs: 0 });

    const again = await aBoard({ dataDir: board.dataDir, clock: board.clock });
    const kept = await again.gateway.call("agent.wait", { runId });
    expect(kept).toMatchObject({ state: "done", result: { reply: "late answer" } });
  });

  it("SEND-5: another process on the same files can wait for it as well", async () => {
    const slow = gate();
    const { board, answers } = await twoAgents(async ({ request, signal }) => {
      if (request.trigger === "announce") return "ANNOUNCE_SKIP";
      await slow.pass(signal);
      return "the answer";
    });
    await ask(board, { sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: 0 });
    await slow.reached;
    const other = await aBoard({ dataDir: board.dataDir, clock: board.clock });
    const waiting = other.gateway.call("agent.wait", { runId: answers[0]?.runId, timeoutSeconds: 60 });
    slow.open();
    await board.quiet();
    await board.clock.advance(1000);
    expect(await waiting).toMatchObject({ state: "done", result: { reply: "the answer" } });
  });

  it("SEND-4: a run over agents.defaults.timeoutSeconds is stopped and says so", async () => {
    const never = gate();
    const { board, answers } = await twoAgents(
      async ({ signal }) => {
        await never.pass(signal);
        return "too late";
      },
      { config: { agents: { defaults: { timeoutSeconds: 20 } } } },
    );
    const message = send({ sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: 60 });
    await board.gateway.call("agent", { agentId: "main", message, timeoutSeconds: 90 });
    await board.quiet();
    await board.clock.advance(20_000);
    await board.quiet();
    expect(answers[0]).toMatchObject({ status: "error", code: "RUN_FAILED" });
    expect(answers[0]?.error).toContain("20 s");
  });
});

describe("the target of a send", () => {
  const REACHED = { status: "ok", reply: "reached", sessionKey: ROOM_KEY };
  const reply: Script = ({ request }) => (request.trigger === "send" ? "reached" : "ANNOUNCE_SKIP");

  async function labelled(label: string) {
    const made = await twoAgents(reply);
    await made.board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label });
    const { sessionId } = await made.board.gateway.call("sessions.resolve", { key: ROOM_KEY });
    return { ...made, sessionId };
  }

  it.each([
    { spelling: "its key", input: () => ({ sessionKey: ROOM_KEY }) },
    {
      spelling: "its key in capitals and blanks",
      input: () => ({ sessionKey: `  ${ROOM_KEY.toUpperCase()} ` }),
    },
    { spelling: "its session id", input: (sessionId: unknown) => ({ sessionKey: sessionId }) },
    { spelling: "its label", input: () => ({ label: "ops room" }) },
    { spelling: "label and agent", input: () => ({ label: "ops room", agentId: "research" }) },
    {
      spelling: "B06 the key, though the other fields are filled with junk",
      input: () => ({ sessionKey: ROOM_KEY, label: ROOM_KEY, agentId: "main" }),
    },
    {
      spelling: "B06 its label, though the key is blank",
      input: () => ({ sessionKey: "", label: "ops room", agentId: " " }),
    },
  ])("SEND-6: is found by $spelling", async ({ input }) => {
    const { board, answers, sessionId } = await labelled("ops room");
    await ask(board, { ...input(sessionId), message: "hello" });
    expect(answers[0]).toMatchObject(REACHED);
  });

  it.each([
    { input: { agentId: "research" }, spelling: "the agent alone" },
    {
      input: { agentId: "research", label: "research", sessionKey: "" },
      spelling: "B06 an agent in every field",
    },
    { input: { sessionKey: "agent:research:main" }, spelling: "the key of its main session", exists: true },
  ])(
    "SEND-6 B07: $spelling means that agent's main session, made on first use",
    async ({ input, exists }) => {
      const { board, answers } = await twoAgents(reply);
      if (exists) await ask(board, { agentId: "research", message: "first" });
      await ask(board, { ...input, message: "hello" });
      expect(answers.at(-1)).toMatchObject({
        status: "ok",
        reply: "reached",
        sessionKey: "agent:research:main",
      });
    },
  );

  it.each([
    { input: { agentId: "zzz" }, code: "AGENT_UNKNOWN", says: "main, research" },
    { input: { label: "nobody" }, code: "SESSION_NOT_FOUND", says: "0 matches" },
    { input: { label: "  " }, code: "INPUT_INVALID", says: "sessionKey" },
    { input: {}, code: "INPUT_INVALID", says: "sessionKey" },
    {
      input: { sessionKey: "agent:research:discord:channel:999" },
      code: "SESSION_NOT_FOUND",
      says: "sessions_list",
    },
    { input: { sessionKey: "agent::x" }, code: "INPUT_INVALID", says: "not a session key" },
    { input: { agentId: "research", timeoutSeconds: "30" }, code: "INPUT_INVALID", says: "timeoutSeconds" },
    { input: { agentId: "research", message: "   " }, code: "INPUT_INVALID", says: "message" },
  ])("SEND-6 B07: $input is answered with $code and makes no session", async ({ input, code, says }) => {
    const { board, answers } = await twoAgents(reply);
    const before = await board.gateway.call("sessions.list");
    await ask(board, { message: "hello", ...input });
    expect(answers[0]).toMatchObject({ status: "error", code });
    expect(answers[0]?.error).toContain(says);
    const after = await board.gateway.call("sessions.list");
    expect(after.count).toBe(Number(before.count) + 1);
    expect(board.agents.research?.turns).toHaveLength(1);
  });

  it("SEND-6 B06: a label that fits two sessions is an error with their number and keys", async () => {
    const { board, answers } = await twoAgents(reply);
    await ask(board, { agentId: "research", message: "open" });
    await board.discord.says("hi", { from: at("discord", "channel", "333") });
    await board.gateway.call("sessions.patch", { sessionKey: "agent:main:main", label: "ops" });
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "ops" });
    await ask(board, { label: "ops", message: "hello" });
    expect(answers[1]).toMatchObject({ status: "error", code: "SESSION_AMBIGUOUS" });
    expect(answers[1]?.error).toContain("2 sessions");
    expect(answers[1]?.error).toContain(ROOM_KEY);
  });

  it.each([
    { scope: "per-sender" as const, mainKey: "main", key: "agent:cipher:main" },
    { scope: "per-sender" as const, mainKey: "home", key: "agent:cipher:home" },
    { scope: "global" as const, mainKey: "main", key: "agent:cipher:main" },
  ])(
    "B08 KEY-1: `main` is the caller's own main session ($scope, $mainKey)",
    async ({ scope, mainKey, key }) => {
      const { script, answers } = asking();
      const board = await aBoard({
        config: {
          ...OPEN,
          session: { scope, mainKey, ...NO_TURNS },
          bindings: [{ agentId: "cipher", match: { channel: "telegram" } }],
        },
        agents: {
          ops: () => "wrong agent",
          cipher: (turn) => (turn.request.trigger === "send" ? "own main" : script(turn)),
        },
      });
      await board.gateway.call("agent", {
        agentId: "cipher",
        message: send({ sessionKey: "main", message: "self" }),
      });
      await board.quiet();
      expect(answers[0]).toMatchObject({ status: "error", code: "SELF_TARGET" });
      if (scope === "per-sender") {
        const group = at("telegram", "group", "-77");
        await board.telegram.says(send({ sessionKey: "main", message: "hello" }), { from: group });
        await board.quiet();
        expect(answers[1]).toMatchObject({ status: "ok", reply: "own main", sessionKey: "main" });
        const { key: resolved } = await board.gateway.call("sessions.resolve", { key });
        expect(resolved).toBe(key);
      }
      expect(JSON.stringify(answers)).not.toContain("global");
      expect(board.agents.ops?.turns).toEqual([]);
    },
  );
});

describe("the own session as target", () => {
  it.each([
    { spelling: "its key", input: { sessionKey: "agent:main:main" } },
    { spelling: "main", input: { sessionKey: "main" } },
    { spelling: "current", input: { sessionKey: "current" } },
    { spelling: "its bare key in capitals", input: { sessionKey: " MAIN " } },
    { spelling: "the agent alone", input: { agentId: "main" } },
    { spelling: "its label", input: { label: "boss" } },
    { spelling: "its session id", input: "session id" as const },
  ])("A09 A10 SEND-6: is refused at once as $spelling, waiting or not", async ({ input }) => {
    const { board, answers } = await twoAgents(() => "unused");
    await board.telegram.says(send({ agentId: "nobody", message: "open my session" }));
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: "agent:main:main", label: "boss" });
    const { sessionId } = await board.gateway.call("sessions.resolve", { key: "agent:main:main" });
    const target = input === "session id" ? { sessionKey: sessionId } : input;
    for (const timeoutSeconds of [30, 0]) await ask(board, { ...target, message: "note", timeoutSeconds });
    for (const answer of answers.slice(1))
      expect(answer).toMatchObject({ status: "error", code: "SELF_TARGET" });
    expect(answers).toHaveLength(3);
    expect(board.agents.main?.turns).toHaveLength(3);
    expect(board.telegram.sent.map((one) => one.text)).toEqual(["asked", "asked", "asked"]);
  });
});

describe("a thread as target", () => {
  const THREAD = at("discord", "channel", "222", "900");
  const THREAD_KEY = `${ROOM_KEY}:thread:900`;

  it.each([
    { spelling: "its key", input: () => ({ sessionKey: THREAD_KEY }) },
    { spelling: "its session id", input: (sessionId: unknown) => ({ sessionKey: sessionId }) },
    { spelling: "its label", input: () => ({ label: "support" }) },
  ])("B01 SEND-6: is refused by $spelling, with its room as the hint", async ({ input }) => {
    const { board, answers } = await twoAgents(() => "unused");
    await board.discord.says("help", { from: THREAD });
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: THREAD_KEY, label: "support" });
    const { sessionId } = await board.gateway.call("sessions.resolve", { key: THREAD_KEY });
    const before = await history(board, THREAD_KEY);
    await ask(board, { ...input(sessionId), message: "hello" });
    expect(answers[0]).toMatchObject({ status: "error", code: "THREAD_TARGET" });
    expect(answers[0]?.error).toContain(ROOM_KEY);
    expect(await history(board, THREAD_KEY)).toEqual(before);
  });

  it("B01: a private-chat thread is refused as well, a Telegram topic is a room and is not", async () => {
    const { script, answers } = asking();
    const board = await aBoard({
      config: {
        ...OPEN,
        session: NO_TURNS,
        bindings: [
          { agentId: "research", match: { channel: "telegram", peer: { kind: "group", id: "-100" } } },
        ],
      },
      agents: {
        main: script,
        research: ({ request }) => (request.trigger === "announce" ? "told" : "heard"),
      },
    });
    await board.telegram.says("hi", { from: at("telegram", "group", "-100", "42") });
    await board.telegram.says(send({ agentId: "main", message: "x" }), {
      from: at("telegram", "direct", "1001", "7"),
    });
    await board.quiet();
    await ask(board, { sessionKey: "agent:main:main:thread:7", message: "hello" });
    expect(answers[1]).toMatchObject({ status: "error", code: "THREAD_TARGET" });
    await ask(board, { sessionKey: "agent:research:telegram:group:-100:topic:42", message: "hello" });
    expect(answers[2]).toMatchObject({ status: "ok", reply: "heard" });
    expect(board.telegram.sent.at(-1)).toMatchObject({ to: { chatId: "-100", threadId: "42" } });
  });

  it("B01: a caller who may not see it learns no key", async () => {
    const { board, answers } = await twoAgents(() => "unused", {
      config: { tools: {}, bindings: BINDINGS },
    });
    await board.discord.says("help", { from: THREAD });
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: THREAD_KEY, label: "support" });
    await ask(board, { label: "support", message: "hello" });
    expect(answers[0]).toMatchObject({ status: "forbidden", code: "NOT_VISIBLE" });
    expect(JSON.stringify(answers[0])).not.toContain("222");
  });
});

describe("a call that is no call", () => {
  it.each([null, undefined, "hello", [], 7, { message: {} }, { agentId: 5, message: "x" }])(
    "SEND-6: %j is answered as a value and never thrown",
    async (input) => {
      const { board } = await twoAgents(() => "unused");
      await ask(board, { agentId: "nobody", message: "open" });
      const tool = (await board.tools("agent:main:main")).find((one) => one.name === "sessions_send");
      const output = await tool?.call(input, { callId: "1", signal: AbortSignal.timeout(5000) });
      expect(output?.value).toMatchObject({ status: "error", code: "INPUT_INVALID" });
    },
  );
});

describe("who may send where", () => {
  it("B10 VIS-3: a refusal names the settings that block it, and nothing runs", async () => {
    const { board, answers } = await twoAgents(() => "unused", { config: { tools: {}, bindings: BINDINGS } });
    await ask(board, { sessionKey: ROOM_KEY, message: "hello" });
    expect(answers[0]).toMatchObject({ status: "forbidden", code: "NOT_VISIBLE" });
    expect(answers[0]?.error).toContain("tools.agentToAgent");
    expect(answers[0]?.error).toContain("tools.sessions.visibility");
    expect(board.agents.research?.turns).toHaveLength(1);
  });

  it("B10: a grant to send opens sending alone: no reading, no listing", async () => {
    const grant = { from: "main", to: "research", read: false, send: true };
    const read: Answer[] = [];
    const { board, answers } = await twoAgents(
      ({ request }) => (request.trigger === "send" ? "yes" : "ANNOUNCE_SKIP"),
      {
        config: {
          tools: { agentToAgent: { enabled: true, allow: [grant] } },
          session: NO_TURNS,
          bindings: BINDINGS,
        },
      },
    );
    await ask(board, { sessionKey: ROOM_KEY, message: "hello" });
    expect(answers[0]).toMatchObject({ status: "ok", reply: "yes" });
    const tools = await board.tools("agent:main:main");
    for (const name of ["sessions_list", "sessions_history"]) {
      const tool = tools.find((one) => one.name === name);
      const input = name === "sessions_list" ? {} : { sessionKey: ROOM_KEY };
      read.push((await tool?.call(input, { callId: name, signal: AbortSignal.timeout(5000) }))?.value ?? {});
    }
    expect(JSON.stringify(read[0])).not.toContain(ROOM_KEY);
    expect(read[1]).toMatchObject({ status: "forbidden" });
  });

  it("B11: the run is marked as another session's, so that the host can cap what it may do", async () => {
    const { board } = await twoAgents(() => "REPLY_SKIP");
    await ask(board, { sessionKey: ROOM_KEY, message: "use your secret tool" });
    const request = board.agents.research?.turns.at(-1);
    expect(request?.trigger).toBe("send");
    expect(request?.input.provenance).toEqual({
      kind: "inter_session",
      sourceSessionKey: "agent:main:main",
      sourceChannel: "telegram",
      sourceTool: "sessions_send",
    });
  });

  it("J02: a denied target still runs and answers its caller; only the announce stays away", async () => {
    const { board, answers } = await twoAgents(({ request }) =>
      request.trigger === "send" ? "quietly" : "aloud",
    );
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: "deny" });
    await ask(board, { sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: 10 });
    expect(answers[0]).toMatchObject({ status: "ok", reply: "quietly" });
    expect(announced(board)).toEqual([]);
    expect(board.agents.research?.turns.map((turn) => turn.trigger)).not.toContain("announce");
  });
});

describe("the same call twice", () => {
  /** A main agent that sends twice in one run, with these call ids. */
  async function sendsTwice(
    first: string,
    second: string,
    messages: readonly [string, string] = ["one", "one"],
  ) {
    const answers: Answer[] = [];
    const { board } = await twoAgents(
      ({ request }) => (request.trigger === "send" ? `reply ${Math.random()}` : "ANNOUNCE_SKIP"),
      {
        agents: {
          async main({ request, signal }) {
            if (request.trigger !== "user") return "REPLY_SKIP";
            const tool = request.tools.find((one) => one.name === "sessions_send");
            for (const [callId, message] of [
              [first, messages[0]],
              [second, messages[1]],
            ] as const) {
              answers.push(
                (await tool?.call({ sessionKey: ROOM_KEY, message }, { callId, signal }))?.value ?? {},
              );
            }
            return "asked";
          },
          research: ({ request }) =>
            request.trigger === "send" ? `reply ${request.runId}` : "ANNOUNCE_SKIP",
        },
      },
    );
    await board.telegram.says("go");
    await board.quiet();
    return { board, answers };
  }

  it("A07 SEND-7: with one call id runs once and is answered twice", async () => {
    const { board, answers } = await sendsTwice("call-1", "call-1");
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: "ok" });
    expect(board.agents.research?.turns.filter((turn) => turn.trigger === "send")).toHaveLength(1);
  });

  it("SEND-7: with two call ids runs twice", async () => {
    const { board, answers } = await sendsTwice("call-1", "call-2");
    expect(answers[1]?.runId).not.toBe(answers[0]?.runId);
    expect(board.agents.research?.turns.filter((turn) => turn.trigger === "send")).toHaveLength(2);
  });

  it("SEND-7: one idempotencyKey in two runs of a session is one send with one answer", async () => {
    const { board, answers } = await twoAgents(({ request }) =>
      request.trigger === "send" ? request.runId : "ANNOUNCE_SKIP",
    );
    const input = { sessionKey: ROOM_KEY, message: "once", idempotencyKey: "job-7" };
    await ask(board, input);
    await ask(board, input);
    expect(answers[0]).toMatchObject({ status: "ok" });
    expect(answers[1]).toMatchObject({ runId: answers[0]?.runId, reply: answers[0]?.reply, status: "ok" });
    expect(texts(await history(board, ROOM_KEY), "user").filter((text) => text === "once")).toHaveLength(1);
  });

  it("SEND-7: one idempotencyKey for two targets is two sends", async () => {
    const { board, answers } = await twoAgents(({ request }) =>
      request.trigger === "send" ? `I am ${request.session.key}` : "ANNOUNCE_SKIP",
    );
    await ask(board, { sessionKey: ROOM_KEY, message: "who?", idempotencyKey: "job-7" });
    await ask(board, { agentId: "research", message: "who?", idempotencyKey: "job-7" });
    expect(answers[0]).toMatchObject({ reply: `I am ${ROOM_KEY}` });
    expect(answers[1]).toMatchObject({ reply: "I am agent:research:main" });
  });

  it("SEND-7: an idempotencyKey of one session says nothing about another's", async () => {
    const { board, answers } = await twoAgents(({ request }) =>
      request.trigger === "send" ? "ok" : "ANNOUNCE_SKIP",
    );
    const input = { sessionKey: ROOM_KEY, message: "mine", idempotencyKey: "job-7" };
    await ask(board, input);
    await board.telegram.says(send(input), { from: at("telegram", "group", "-5") });
    await board.quiet();
    expect(answers[1]?.runId).not.toBe(answers[0]?.runId);
    expect(texts(await history(board, ROOM_KEY), "user").filter((text) => text === "mine")).toHaveLength(2);
  });

  it("SEND-7: after a day, when the first run is forgotten, the key starts a new send that works", async () => {
    const { board, answers } = await twoAgents(({ request }) =>
      request.trigger === "announce" ? "told" : "done",
    );
    const input = { sessionKey: ROOM_KEY, message: "daily", idempotencyKey: "daily" };
    await ask(board, input);
    const DAY_MS = 24 * 3_600_000;
    // Finished runs are pruned by the heartbeat after a day.
    await jump(board, DAY_MS + 60_000);
    await ask(board, input);
    expect(answers[1]).toMatchObject({ status: "ok", reply: "done" });
    expect(announced(board)).toEqual(["told", "told"]);
  });

  it("SEND-7: tools that the host mounts twice do not mistake one call for another", async () => {
    const { board } = await twoAgents(({ request, text }) =>
      request.trigger === "send" ? `about ${text.split("\n").at(-1)}` : "ANNOUNCE_SKIP",
    );
    await ask(board, { agentId: "nobody", message: "open" });
    const replies: unknown[] = [];
    for (const message of ["apples", "pears"]) {
      const tool = (await board.tools("agent:main:main")).find((one) => one.name === "sessions_send");
      const output = await tool?.call(
        { sessionKey: ROOM_KEY, message },
        { callId: "1", signal: AbortSignal.timeout(5000) },
      );
      replies.push(output?.value.reply);
    }
    expect(replies).toEqual(["about apples", "about pears"]);
  });
});

/** Moves the clock past a long pause without stepping through every heartbeat of it. */
async function jump(board: Board, ms: number): Promise<void> {
  board.clock.skip(ms);
  await board.clock.advance(5000);
  await board.quiet();
}
