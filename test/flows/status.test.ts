import { describe, expect, it } from "vitest";
import { scriptedAgent } from "../../src/agents/scripted-agent.ts";
import type { ConfigInput } from "../../src/core/config.ts";
import type { RunOutcome } from "../../src/core/ports/run.ts";
import type { Usage } from "../../src/core/ports/session.ts";
import { aBoard, aFolder, type Board, OPEN, type Script, use } from "../fakes/a-board.ts";
import { aBareBoard } from "../fakes/a-spawner.ts";
import type { Answer } from "../fakes/asking.ts";
import { type Gate, gate } from "../fakes/gate.ts";
import { at } from "../fakes/memory-adapter.ts";
import { fileOf, leaveBehind, said, sessionWrite, storedSession, turnWrites } from "../fakes/store-files.ts";

const MAIN = "agent:main:main";
const ROOM = at("telegram", "group", "-100");
const ROOM_KEY = "agent:main:telegram:group:-100";
/** Children get session_status back. */
const FOR_CHILDREN: ConfigInput = {
  tools: { subagents: { tools: { alsoAllow: ["session_status"] } } },
};

/** Somebody writes in the room, and everything that follows has happened. */
async function says(board: Board, text: string) {
  await board.telegram.says(text, { from: ROOM });
  await board.quiet();
}

/** session_status as a host's own agent loop would call it. */
function status(board: Pick<Board, "tools">, key: string, input: object = {}): Promise<Answer> {
  return use(board, key, "session_status", input);
}

async function lines(
  board: Pick<Board, "tools">,
  key: string,
  input: object = {},
): Promise<readonly string[]> {
  const { statusText } = await status(board, key, input);
  return String(statusText).split("\n");
}

async function rowOf(board: Pick<Board, "gateway">, search: string): Promise<Answer> {
  const { sessions } = await board.gateway.call("sessions.list", { search });
  // Rows of a list.
  const [row] = sessions as readonly Answer[];
  if (row === undefined) throw new Error(`There is no row for ${search}.`);
  return row;
}

/** Everything that is stored. */
function stored({ dataDir }: Pick<Board, "dataDir">): string {
  const database = fileOf(dataDir);
  const values = database.prepare("SELECT key, value FROM kv ORDER BY key").all();
  const runs = database.prepare("SELECT * FROM runs ORDER BY id").all();
  return JSON.stringify([values, runs]);
}

/** An agent that calls session_status with what it is told as JSON, and keeps what it is answered. */
function curious(): { readonly script: Script; readonly answers: readonly Answer[] } {
  const answers: Answer[] = [];
  return {
    answers,
    async script({ text, call }) {
      answers.push(await call("session_status", JSON.parse(text.slice(text.indexOf("{")))));
      return "ok";
    },
  };
}

/** Goes on when the gate is open. */
function held(work: Gate): Script {
  return async ({ signal }) => {
    await work.pass(signal);
    return "ok";
  };
}

function reporting(model: string | undefined, usage: Usage): RunOutcome {
  return { status: "ok", reply: "hi", usage, ...(model === undefined ? {} : { model }) };
}

describe("STATUS-1: the state of a session", () => {
  it("STATUS-1: the card of the caller's own session has time, model, tokens, context, run state and sending, each on its line", async () => {
    const usage = {
      inputTokens: 1000,
      outputTokens: 200,
      totalTokens: 1200,
      cacheRead: 300,
      cacheWrite: 20,
      contextTokens: 200_000,
      estimatedCostUsd: 0.0123,
    };
    const board = await aBoard({ agents: { main: () => reporting("small-1", usage) } });
    await board.telegram.says("hello", { from: ROOM, chatTitle: "Family Chat" });
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, thinkingLevel: "high" });
    await board.clock.advance(65_000);
    const answer = await status(board, ROOM_KEY);
    const { sessionId } = await rowOf(board, "-100");
    const now = new Date(board.clock.now());
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    expect(String(answer.statusText).split("\n").slice(0, 9)).toEqual([
      expect.stringContaining(`${pad(now.getHours())}:${pad(now.getMinutes())}:05 (${timeZone}, GMT`),
      `Session: telegram:g-family-chat, key ${ROOM_KEY}, agent main`,
      `Session id: ${sessionId}, 1m05s old`,
      "Model: small-1 (of the last run; none is selected)",
      "Tokens of the newest run: 1,200 (in 1,000 / out 200), cache read 300, cache written 20, est. $0.0123",
      "Context: 1,200 of 200,000 tokens (1%)",
      "Thinking: high",
      "State: idle",
      "Last run: done after 0s, 1m05s ago",
    ]);
    expect(String(answer.statusText)).toContain(
      "\nSending: on (session.sendPolicy.default)\n\nRoute context:",
    );
    expect(answer).toMatchObject({
      ok: true,
      sessionKey: ROOM_KEY,
      agentId: "main",
      changedModel: false,
      model: "small-1",
      usage,
      runState: "idle",
      queuedRuns: 0,
      lastRun: { status: "done", runtimeMs: 0, aborted: false },
      time: { now: board.clock.now(), timeZone },
      sending: { allowed: true, rule: "session.sendPolicy.default" },
    });
  });

  it("STATUS-1: what nobody knows is left out: no zeros, no guesses, no lines without a fact", async () => {
    const board = await aBoard();
    await board.gateway.call("agent", { sessionKey: "agent:main:hook:nightly", message: "hello" });
    await board.quiet();
    const answer = await status(board, "agent:main:hook:nightly");
    expect(String(answer.statusText)).not.toMatch(
      /Model|Tokens|Context|Thinking|Task|Subagents|Route|label|undefined/,
    );
    for (const name of ["model", "modelOverride", "usage", "task", "origin", "active", "deliveryContext"]) {
      expect(answer, name).not.toHaveProperty(name);
    }
  });

  it("STATUS-1: another visible session is found by key, session id, label and main", async () => {
    const board = await aBoard({ config: OPEN, agents: { main: () => "ok", ops: () => "ok" } });
    await says(board, "hello");
    await board.telegram.says("hello");
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "The Family" });
    const { sessionId } = await rowOf(board, "-100");
    for (const sessionKey of [ROOM_KEY, "telegram:group:-100", String(sessionId), "The Family"]) {
      expect(await status(board, MAIN, { sessionKey }), sessionKey).toMatchObject({ ok: true, sessionId });
    }
    expect(await status(board, ROOM_KEY, { sessionKey: "main" })).toMatchObject({ sessionKey: "main" });
    expect(await lines(board, MAIN, { sessionKey: "The Family" })).toContainEqual(
      expect.stringMatching(/^Session id: .*, label "The Family"$/),
    );
    await board.gateway.call("sessions.patch", { sessionKey: MAIN, label: "Boss" });
    expect(String((await status(board, MAIN)).statusText).match(/Boss/g)).toHaveLength(1);
  });

  it("STATUS-1: what runs and what waits is told while it does, and how the last run ended afterwards", async () => {
    const work = gate();
    const board = await aBoard({ config: OPEN, agents: { main: held(work), ops: () => "ok" } });
    await board.gateway.call("agent", { agentId: "ops", message: "hello" });
    await board.telegram.says("first", { from: ROOM });
    await work.reached;
    await board.clock.advance(7000);
    await board.telegram.says("second", { from: ROOM });
    const look = () => status(board, "agent:ops:main", { sessionKey: ROOM_KEY });
    const busy = await look();
    expect(busy).toMatchObject({
      runState: "running",
      queuedRuns: 1,
      runningSince: board.clock.now() - 7000,
    });
    expect(busy).not.toHaveProperty("lastRun");
    expect(busy.statusText).toContain("\nState: running for 7s, 1 run queued behind it\n");
    work.open();
    await board.quiet();
    await board.clock.advance(60_000);
    expect((await look()).statusText).toContain("\nState: idle\nLast run: done after 0s, 1m00s ago\n");
  });

  it("STATUS-1: a run that was stopped is told as aborted", async () => {
    const work = gate();
    const config = { agents: { defaults: { timeoutSeconds: 5 } } };
    const board = await aBoard({ config, agents: { main: held(work) } });
    await board.telegram.says("hello", { from: ROOM });
    await work.reached;
    await board.clock.advance(8000);
    await board.quiet();
    expect(await lines(board, ROOM_KEY)).toContainEqual(
      expect.stringMatching(/^Last run: timeout after \ds, \ds ago, aborted$/),
    );
  });

  it("STATUS-1: subagents at work are named with their state and runtime, to whoever may see them; the session waits", async () => {
    const work = gate();
    const board = await aBoard({
      config: { ...OPEN, agents: { defaults: { subagents: { maxConcurrent: 1 } } } },
      agents: {
        main: async ({ request, call, signal }) => {
          if (request.depth > 0) return work.pass(signal).then(() => "ok");
          await call("sessions_spawn", { task: "count the\nboxes", label: "boxes" });
          await call("sessions_spawn", { task: "look at ```json\nthe list" });
          await call("sessions_yield");
          return "unreachable";
        },
        ops: () => "ok",
      },
    });
    await board.telegram.says("go", { from: ROOM });
    await work.reached;
    await board.quiet();
    await board.clock.advance(12_000);
    const answer = await status(board, ROOM_KEY);
    expect(answer).toMatchObject({
      runState: "yielded",
      tasks: [
        { label: "boxes", status: "running", runtimeMs: 12_000 },
        { task: "look at ```json the list", status: "queued" },
      ],
    });
    const text = String(answer.statusText);
    expect(text).toContain("\nState: yielded, waiting for an event or a message\n");
    expect(text).toMatch(
      /\nSubagents: 2 at work\n- "boxes" \(agent:main:subagent:[\w-]+\): running, 12s\n- "look at ```json the list" \(agent:main:subagent:[\w-]+\): queued\n/,
    );
    work.open();
    await board.quiet();
    expect(await status(board, ROOM_KEY)).toMatchObject({ tasks: [] });
  });

  it("STATUS-1: tasks below a session that the caller may not see stay hidden from it", async () => {
    const work = gate();
    const grant = { from: "ops", to: "main", read: true, send: false };
    const board = await aBoard({
      config: {
        tools: { agentToAgent: { enabled: true, allow: [grant] } },
        agents: { list: [{ id: "main", subagents: { allowAgents: ["*"] } }] },
      },
      agents: {
        main: async ({ request, call, signal }) => {
          if (request.depth > 0) return work.pass(signal).then(() => "ok");
          await call("sessions_spawn", { task: "for main" });
          await call("sessions_spawn", { task: "for cipher", agentId: "cipher" });
          return "ok";
        },
        cipher: held(work),
        ops: () => "ok",
      },
    });
    await board.gateway.call("agent", { agentId: "ops", message: "hello" });
    await board.telegram.says("go", { from: ROOM });
    await work.reached;
    await board.quiet();
    const names = async (key: string) => {
      const { tasks } = await status(board, key, { sessionKey: ROOM_KEY });
      // As documented.
      return (tasks as readonly { task: string }[]).map(({ task }) => task);
    };
    expect(await names("agent:ops:main")).toEqual(["for main"]);
    expect(await names(ROOM_KEY)).toEqual(["for main", "for cipher"]);
    work.open();
  });

  it("STATUS-1: the caller's own tasks are its own business, even where it may see no session but itself", async () => {
    const work = gate();
    const board = await aBoard({
      config: { tools: { sessions: { visibility: "self" } } },
      agents: {
        main: async ({ request, call, signal }) => {
          if (request.depth > 0) return work.pass(signal).then(() => "ok");
          await call("sessions_spawn", { task: "x" });
          return "ok";
        },
      },
    });
    await says(board, "go");
    expect(await status(board, ROOM_KEY)).toMatchObject({ tasks: [{ task: "x" }] });
    work.open();
  });

  it("STATUS-1: sending and the active route are those of the chat in which the asking run answers, also when replies go elsewhere by now", async () => {
    const work = gate();
    const answers: Answer[] = [];
    const board = await aBoard({
      config: {
        session: { sendPolicy: { rules: [{ action: "deny", match: { channel: "discord" } }] } },
      },
      agents: {
        main: async ({ call, signal }) => {
          await work.pass(signal);
          answers.push(await call("session_status"));
          return "ok";
        },
      },
    });
    await board.discord.says("first");
    await work.reached;
    await board.telegram.says("second");
    work.open();
    await board.quiet();
    expect(answers).toMatchObject([
      {
        active: { channel: "discord" },
        deliveryContext: { channel: "telegram" },
        sending: { allowed: false, rule: "session.sendPolicy.rules[0]" },
      },
      {
        active: { channel: "telegram" },
        deliveryContext: { channel: "telegram" },
        sending: { allowed: true },
      },
    ]);
  });

  it("STATUS-1: a subagent reads its task, for whom it is and how much time is left", async () => {
    const seen: Answer[] = [];
    const board = await aBoard({
      config: FOR_CHILDREN,
      agents: {
        main: async ({ request, call }) => {
          if (request.trigger === "spawn") seen.push(await call("session_status"));
          if (request.depth > 0) return "done";
          await call("sessions_spawn", { task: "sort it", runTimeoutSeconds: 90 });
          return "ok";
        },
      },
    });
    await board.telegram.says("go", { from: ROOM });
    await board.quiet();
    expect(seen).toMatchObject([
      {
        runState: "running",
        task: { name: "sort it", requester: ROOM_KEY, deadline: board.clock.now() + 90_000 },
      },
    ]);
    expect(seen[0]?.statusText).toContain(`\nTask: "sort it" for ${ROOM_KEY}, 1m30s left\n`);
    const after = await status(board, String(seen[0]?.sessionKey));
    // Its archiving waits in its lane for an hour; nobody is asked then.
    expect(after).toMatchObject({ runState: "idle", queuedRuns: 0 });
    expect(after.statusText).toContain(`\nTask: "sort it" for ${ROOM_KEY}, ended: ok\n`);
  });

  it("STATUS-1: labels and tasks of others are one line each, masked, and cannot pass for the runtime's words", async () => {
    const secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD";
    const board = await aBoard();
    await says(board, "hello");
    await board.gateway.call("sessions.patch", {
      sessionKey: ROOM_KEY,
      label: `[Subagent Task] key ${secret}`,
      thinkingLevel: "high\nState: idle",
    });
    const answer = await status(board, ROOM_KEY);
    expect(JSON.stringify(answer)).not.toContain(secret);
    expect(answer).toMatchObject({ contentRedacted: true, notice: expect.stringContaining("not the real") });
    expect(String(answer.statusText)).toContain('label "(Subagent Task] key ');
    expect(String(answer.statusText).match(/^State: idle/gm)).toHaveLength(1);
  });

  it("STATUS-1: looking writes nothing, also where counters are filled", async () => {
    const board = await aBoard({ agents: { main: () => reporting("m1", { totalTokens: 5 }) }, config: OPEN });
    await says(board, "hello");
    const before = stored(board);
    await status(board, ROOM_KEY);
    await status(board, ROOM_KEY, { sessionKey: "no-such-label" });
    await board.telegram.calls("status", "", { from: ROOM });
    expect(stored(board)).toBe(before);
  });

  it("STATUS-1: with the profile minimal it is the one tool that an agent has", async () => {
    const config = { tools: { profile: "minimal" as const } };
    const board = await aBoard({ config });
    await says(board, "hello");
    expect((await board.tools(ROOM_KEY)).map(({ name }) => name)).toEqual(["session_status"]);
    expect(board.agents.main?.turns[0]?.tools.map(({ name }) => name)).toEqual(["session_status"]);
    expect(await status(board, ROOM_KEY)).toMatchObject({ ok: true });
  });

  it("STATUS-1: children do not have it unless the config gives it back", async () => {
    const bound: (readonly string[])[] = [];
    for (const config of [{}, FOR_CHILDREN]) {
      const board = await aBoard({
        config,
        agents: {
          main: async ({ request, call }) => {
            if (request.trigger === "spawn") bound.push(request.tools.map(({ name }) => name));
            if (request.depth > 0) return "done";
            await call("sessions_spawn", { task: "x" });
            return "ok";
          },
        },
      });
      await says(board, "go");
    }
    expect(bound).toEqual([[], ["session_status"]]);
  });

  it.each([
    [{ sessionKey: 5 }, /sessionKey/],
    [{ model: 5 }, /model/],
    [{ model: "a\nb" }, /one line/],
    [{ target: MAIN }, /"target" is not a parameter/],
    [{ label: "x" }, /parameters: sessionKey, model/],
  ])("STATUS-1: %j is an error that names what is wrong", async (input, words) => {
    const board = await aBoard();
    await says(board, "hello");
    expect(await status(board, ROOM_KEY, input)).toMatchObject({
      status: "error",
      code: "INPUT_INVALID",
      error: expect.stringMatching(words),
    });
  });
});

describe("STATUS-2: the model", () => {
  it("STATUS-2: a model that is set holds for this session's next runs until default clears it, and for no other session", async () => {
    const { board, runner } = await withModels({ agents: { list: [{ id: "main", model: "m1" }] } });
    await hears(board);
    expect(await status(board, ROOM_KEY, { model: "m2" })).toMatchObject({
      changedModel: true,
      model: "m2",
      modelOverride: "m2",
      lastRunModel: "m1",
    });
    await hears(board);
    await hears(board);
    await hears(board, MAIN);
    const cleared = await status(board, ROOM_KEY, { model: "default" });
    expect(cleared).toMatchObject({ changedModel: true, model: "m1", lastRunModel: "m2" });
    expect(cleared).not.toHaveProperty("modelOverride");
    await hears(board);
    expect(runner.turns.map(({ model }) => model)).toEqual(["m1", "m2", "m2", "m1", "m1"]);
  });

  it.each(["default", "DEFAULT", "", "  "])("STATUS-2: %j clears the override", async (model) => {
    const { board } = await withModels();
    await hears(board);
    await status(board, ROOM_KEY, { model: "m2" });
    expect(await status(board, ROOM_KEY, { model })).toMatchObject({ changedModel: true });
    expect(await rowOf(board, "-100")).not.toHaveProperty("modelOverride");
  });

  it("STATUS-2: the same model again, or default where none is set, writes nothing", async () => {
    const { board } = await withModels();
    await hears(board);
    await board.clock.advance(5000);
    const fresh = stored(board);
    expect(await status(board, ROOM_KEY, { model: "default" })).toMatchObject({ changedModel: false });
    expect(stored(board)).toBe(fresh);
    await status(board, ROOM_KEY, { model: "m2" });
    const before = stored(board);
    expect(before).not.toBe(fresh);
    await board.clock.advance(5000);
    expect(await status(board, ROOM_KEY, { model: " m2 " })).toMatchObject({
      changedModel: false,
      modelOverride: "m2",
    });
    expect(stored(board)).toBe(before);
  });

  it("STATUS-2: an unknown model is an error that lists the known ones and changes nothing", async () => {
    const { board } = await withModels();
    await hears(board);
    const before = stored(board);
    expect(await status(board, ROOM_KEY, { model: "m9" })).toEqual({
      status: "error",
      code: "MODEL_UNKNOWN",
      error: 'Agent "main" has no model "m9". Models: m1, m2.',
    });
    expect(stored(board)).toBe(before);
  });

  it("STATUS-2: where the config is lenient an unknown model is not applied and said so beside the card", async () => {
    const { board } = await withModels({ agents: { defaults: { strictModel: false } } });
    await hears(board);
    expect(await status(board, ROOM_KEY, { model: "m9" })).toMatchObject({
      ok: true,
      changedModel: false,
      modelApplied: false,
      warning: expect.stringContaining("Models: m1, m2"),
      statusText: expect.stringContaining("State: idle"),
    });
    expect(await rowOf(board, "-100")).not.toHaveProperty("modelOverride");
  });

  it("STATUS-2: whoever may read another session and not send to it may not change its model; who may send may", async () => {
    const grant = (send: boolean) => [{ from: "ops", to: "main", read: true, send }];
    for (const send of [false, true]) {
      const board = await aBoard({
        config: { tools: { agentToAgent: { enabled: true, allow: grant(send) } } },
        agents: { main: () => "ok", ops: () => "ok" },
      });
      await says(board, "hello");
      await board.gateway.call("agent", { agentId: "ops", message: "hello" });
      await board.quiet();
      const ask = (model?: string) =>
        status(board, "agent:ops:main", { sessionKey: ROOM_KEY, ...(model && { model }) });
      expect(await ask()).toMatchObject({ ok: true });
      const answer = await ask("m2");
      if (send) expect(answer).toMatchObject({ ok: true, changedModel: true, modelOverride: "m2" });
      else expect(answer).toMatchObject({ status: "forbidden", code: "NOT_VISIBLE" });
      expect((await rowOf(board, "-100")).modelOverride).toBe(send ? "m2" : undefined);
    }
  });

  it("STATUS-2: a session of an external harness shows the model that the harness reported, and takes no other", async () => {
    const board = await aBoard({
      config: { agents: { defaults: { subagents: { model: "m5", thinking: "low" } } } },
      acp: scriptedAgent(() => reporting("harness-1", { totalTokens: 5 })),
      agents: {
        main: async ({ request, call }) => {
          if (request.trigger === "user") await call("sessions_spawn", { task: "x", runtime: "acp" });
          return "ok";
        },
      },
    });
    await says(board, "go");
    const { key } = await rowOf(board, "subagent");
    const look = (model?: string) =>
      status(board, ROOM_KEY, { sessionKey: key, ...(model === undefined ? {} : { model }) });
    const answer = await look();
    expect(answer).toMatchObject({ ok: true, model: "harness-1" });
    expect(answer).not.toHaveProperty("modelOverride");
    // The model of other subagents is not its own either.
    for (const model of ["m5", "m6", "harness-1"]) {
      expect(await look(model)).toMatchObject({ status: "error", code: "INPUT_INVALID" });
    }
    for (const field of ["modelOverride", "thinkingLevel"]) {
      expect(await rowOf(board, "subagent")).not.toHaveProperty(field);
    }
  });

  it("STATUS-2: only the newest rows are looked at, however long the transcript is", async () => {
    const dataDir = aFolder();
    const session = storedSession(1, ROOM_KEY, { usage: { totalTokens: 9 } });
    const rows = Array.from({ length: 60 }, (_, at) =>
      said("assistant", `row ${at}`, { usage: at < 10 ? { cacheRead: 5 } : { cacheWrite: 3 } }),
    );
    await leaveBehind(dataDir, [sessionWrite(session), ...turnWrites(session, [rows])]);
    const board = await aBoard({ dataDir });
    expect((await status(board, ROOM_KEY)).usage).toEqual({ totalTokens: 9, cacheWrite: 3 });
  });

  it("STATUS-2: counters that the newest run did not report come one by one from the newest rows that have them", async () => {
    const board = await aBoard({
      agents: {
        main: ({ text, request: { runId } }) => ({
          ...reporting("m1", text.includes("first") ? { cacheWrite: 7 } : { totalTokens: 1200 }),
          entries: [
            { inputTokens: 1, cacheRead: 1 },
            text.includes("first") ? {} : { inputTokens: 1000, outputTokens: 900, cacheRead: 300 },
          ].map((usage) => ({
            role: "assistant" as const,
            content: [{ type: "text" as const, text: "step" }],
            atMs: 1_790_000_000_000,
            runId,
            usage,
          })),
        }),
      },
    });
    await says(board, "first");
    await says(board, "second");
    expect((await status(board, ROOM_KEY)).usage).toEqual({
      totalTokens: 1200,
      inputTokens: 1000,
      outputTokens: 900,
      cacheRead: 300,
      cacheWrite: 7,
    });
    // Of another count, so no parts of this total.
    expect(await rowOf(board, "-100")).not.toHaveProperty("inputTokens");
    expect(await lines(board, ROOM_KEY)).toContain(
      "Tokens of the newest run: 1,200, cache read 300, cache written 7",
    );
  });

  it("STATUS-2: what the requester had spent is not the spending of a child that began with a copy of its transcript", async () => {
    const seen: Answer[] = [];
    const board = await aBoard({
      config: FOR_CHILDREN,
      agents: {
        main: async ({ request, text, call }) => {
          if (request.trigger === "spawn") seen.push(await call("session_status"));
          if (request.depth > 0 || !text.includes("go")) return reporting("m1", { totalTokens: 99 });
          await call("sessions_spawn", { task: "x", context: "fork" });
          return "ok";
        },
      },
    });
    await says(board, "before");
    await board.clock.advance(1000);
    await says(board, "go");
    expect(seen).toHaveLength(1);
    expect(seen[0]).not.toHaveProperty("usage");
  });
});

describe("STATUS-3: the route context", () => {
  it("STATUS-3: origin, active and deliveryContext tell where the session was made, where this run answers and where replies go", async () => {
    const agent = curious();
    const board = await aBoard({ agents: { main: agent.script } });
    await board.telegram.says("{}");
    await board.quiet();
    await board.discord.says("{}", { from: at("discord", "direct", "d7") });
    await board.quiet();
    const origin = { channel: "telegram", to: "1001", accountId: "default" };
    const active = { channel: "discord", to: "d7", accountId: "default" };
    const [first, second] = agent.answers;
    expect(first).toMatchObject({ origin, active: origin, deliveryContext: origin });
    expect(second).toMatchObject({ origin, active, deliveryContext: active });
    const block = /\n\nRoute context:\n```json\n(.*)\n```$/s.exec(String(second?.statusText))?.[1] ?? "";
    expect(JSON.parse(block)).toEqual({ origin, active, deliveryContext: active });
  });

  it("STATUS-3: a topic is part of the address", async () => {
    const agent = curious();
    const board = await aBoard({ agents: { main: agent.script } });
    await board.telegram.says("{}", { from: at("telegram", "group", "-100", "42") });
    await board.quiet();
    expect(agent.answers[0]?.active).toEqual({ ...roomPlace, threadId: "42" });
  });

  it("STATUS-3: active is told of the caller's own live session alone", async () => {
    const agent = curious();
    const board = await aBoard({ config: OPEN, agents: { main: agent.script } });
    await says(board, "{}");
    await board.telegram.says(JSON.stringify({ sessionKey: ROOM_KEY }));
    await board.quiet();
    expect(agent.answers[1]).toMatchObject({ origin: roomPlace, deliveryContext: roomPlace });
    expect(agent.answers[1]).not.toHaveProperty("active");
    const outside = await status(board, ROOM_KEY);
    expect(outside).toMatchObject({ origin: roomPlace, deliveryContext: roomPlace });
    expect(outside).not.toHaveProperty("active");
  });

  it.each([
    ["agent:main:discord:channel:77", { channel: "discord" }],
    ["agent:main:telegram:group:-5:topic:2", { channel: "telegram" }],
    ["agent:main:whatsapp:direct:+1555", { channel: "whatsapp" }],
    [MAIN, undefined],
    ["agent:main:direct:7", undefined],
    ["agent:main:cron:nightly", undefined],
    ["agent:main:discord:slash:7", undefined],
  ])("STATUS-3: a session without a recorded origin, %s, has that of its key: %j", async (key, origin) => {
    const board = await aBoard();
    await board.gateway.call("agent", { sessionKey: key, message: "hello" });
    await board.quiet();
    const answer = await status(board, key);
    expect(answer.origin).toEqual(origin);
    expect(String(answer.statusText).includes("Route context")).toBe(origin !== undefined);
  });

  const roomPlace = { channel: "telegram", to: "-100", accountId: "default" };
});

describe("people's troubles", () => {
  it("H01: current is the session that calls and says the same as its key, whatever older rows of the same person there are", async () => {
    const agent = curious();
    const board = await aBoard({ config: OPEN, agents: { main: agent.script } });
    await board.gateway.call("agent", { sessionKey: "agent:main:telegram:direct:1001", message: "{}" });
    await board.quiet();
    await board.gateway.call("sessions.patch", {
      sessionKey: "agent:main:telegram:direct:1001",
      label: "current",
    });
    for (const sessionKey of ["current", " Current ", MAIN, "main", ""]) {
      await board.telegram.says(JSON.stringify({ sessionKey }));
      await board.quiet();
      const { statusText, sessionKey: key } = agent.answers.at(-1) ?? {};
      expect(key, sessionKey).toBe("main");
      expect(statusText, sessionKey).toContain("State: running");
    }
    const [, ...own] = agent.answers;
    expect(new Set(own.map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  it("H01: the name that a client shows is no session; the error says how to ask for one's own", async () => {
    const board = await aBoard({ config: OPEN });
    await says(board, "hello");
    for (const sessionKey of ["my-ui-label", "agent:main:nowhere", "00000000-0000-4000-8000-00000000beef"]) {
      expect(await status(board, ROOM_KEY, { sessionKey }), sessionKey).toMatchObject({
        status: "error",
        code: "SESSION_NOT_FOUND",
        error: expect.stringContaining('"current"'),
      });
    }
  });

  it("H01: main is never a label: where there is no main session, nothing else takes its place", async () => {
    const board = await aBoard({ config: OPEN });
    await says(board, "hello");
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "main" });
    expect(await status(board, ROOM_KEY, { sessionKey: "main" })).toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
  });

  it("H01: a label that two visible sessions share is answered with their keys", async () => {
    const board = await aBoard({ config: OPEN, agents: { main: () => "ok", ops: () => "ok" } });
    await says(board, "hello");
    await board.gateway.call("agent", { agentId: "ops", message: "hello" });
    await board.quiet();
    for (const sessionKey of [ROOM_KEY, "agent:ops:main"])
      await board.gateway.call("sessions.patch", { sessionKey, label: "twin" });
    expect(await status(board, ROOM_KEY, { sessionKey: "twin" })).toMatchObject({
      code: "SESSION_AMBIGUOUS",
      error: expect.stringContaining("agent:ops:main"),
    });
  });

  it("H02: selected and last used model are both told, and the window is that of the one that is shown", async () => {
    const { board } = await withModels({ agents: { list: [{ id: "main", model: "m1" }] } });
    await hears(board);
    const card = async (input: object = {}) =>
      (await lines(board, ROOM_KEY, input)).filter((line) => /^(Model|Context)/.test(line));
    expect(await card()).toEqual(["Model: m1", "Context: 100 of 1,000 tokens (10%)"]);
    expect(await card({ model: "m2" })).toEqual(["Model: m2 (set for this session); the last run used m1"]);
    await hears(board);
    expect(await card()).toEqual(["Model: m2 (set for this session)", "Context: 100 of 4,000 tokens (3%)"]);
    expect(await card({ model: "default" })).toEqual([
      "Model: m1; the last run used m2",
      "Context: 100 of 1,000 tokens (10%)",
    ]);
  });

  it("H02: a run that names its model and no counters does not lend its name to the window of the run before", async () => {
    const outcomes: RunOutcome[] = [
      reporting("m1", { totalTokens: 100, contextTokens: 1000 }),
      { status: "ok", reply: "hi", model: "m2" },
    ];
    const board = await aBoard({ agents: { main: () => outcomes.shift() ?? "ok" } });
    await says(board, "one");
    await says(board, "two");
    const answer = await status(board, ROOM_KEY);
    expect(answer).toMatchObject({ model: "m2", usage: { totalTokens: 100 } });
    expect(answer.usage).not.toHaveProperty("contextTokens");
  });

  it("H02: counters over several model calls that are larger than the window claim no share of it", async () => {
    const board = await aBoard({
      agents: { main: () => reporting("m1", { totalTokens: 5000, contextTokens: 1000 }) },
    });
    await says(board, "hello");
    expect(await lines(board, ROOM_KEY)).toContain("Context: window of 1,000 tokens");
  });

  it("H03: a sandboxed child reaches neither its parent nor anybody else by any spelling, to read or to change, and cannot tell hidden from missing", async () => {
    const answers = new Map<string, Answer>();
    let parentId = "";
    const board = await aBoard({
      config: {
        tools: { ...OPEN.tools, ...FOR_CHILDREN.tools },
        agents: { list: [{ id: "main", sandbox: { mode: "all" } }] },
      },
      agents: {
        main: async ({ request, call }) => {
          if (request.trigger === "spawn") {
            const spellings = ["main", MAIN, ROOM_KEY, parentId, "The Family", "no-such", "agent:main:nope"];
            for (const sessionKey of spellings) {
              answers.set(sessionKey, await call("session_status", { sessionKey }));
              answers.set(`${sessionKey} model`, await call("session_status", { sessionKey, model: "m2" }));
            }
            answers.set("own", await call("session_status", { model: "m2" }));
          }
          if (request.depth > 0) return "done";
          if (request.trigger === "user") await call("sessions_spawn", { task: "x" });
          return "ok";
        },
      },
    });
    await board.gateway.call("agent", { sessionKey: MAIN, message: "hello" });
    await board.gateway.call("agent", { sessionKey: ROOM_KEY, message: "hello" });
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "The Family" });
    parentId = String((await rowOf(board, "-100")).sessionId);
    const before = await rowOf(board, "-100");
    await says(board, "go");
    const { own, ...refusals } = Object.fromEntries(answers);
    expect(Object.keys(refusals)).toHaveLength(14);
    expect(new Set(Object.values(refusals).map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(refusals["no-such"]).toMatchObject({ status: "forbidden", code: "NOT_VISIBLE" });
    expect(own).toMatchObject({ ok: true, changedModel: true, modelOverride: "m2" });
    expect(await rowOf(board, "-100")).toMatchObject({ sessionId: before.sessionId });
    expect(await rowOf(board, "-100")).not.toHaveProperty("modelOverride");
  });

  it("H04: a reset ends what was counted and what was waited for; what people chose, /send off and the model, stays", async () => {
    const board = await aBoard({
      agents: {
        main: async ({ text, call }) => {
          if (text.includes("wait")) await call("sessions_yield");
          return reporting("m1", { totalTokens: 10 });
        },
      },
    });
    await says(board, "hello");
    await says(board, "wait");
    await says(board, "/send off");
    await status(board, ROOM_KEY, { model: "m2" });
    expect(await status(board, ROOM_KEY)).toMatchObject({ runState: "yielded", usage: { totalTokens: 10 } });
    const { sessionId: before } = await rowOf(board, "-100");
    await board.gateway.call("sessions.reset", { sessionKey: ROOM_KEY });
    const after = await status(board, ROOM_KEY);
    expect(after).toMatchObject({
      modelOverride: "m2",
      runState: "idle",
      sending: { allowed: false, rule: "/send off" },
    });
    expect(after.sessionId).not.toBe(before);
    expect(after).not.toHaveProperty("usage");
    expect(after).not.toHaveProperty("lastRun");
  });
});

const WINDOWS: Readonly<Record<string, number>> = { m1: 1000, m2: 4000 };

/** A board whose one agent has two models and says which of them it used. */
async function withModels(config: ConfigInput = {}) {
  const script: Script = ({ request: { model = "m1" } }) =>
    reporting(model, { totalTokens: 100, contextTokens: WINDOWS[model] ?? 0 });
  const runner = scriptedAgent(script, { models: Object.keys(WINDOWS) });
  return { runner, board: await aBareBoard({ main: runner }, { config }) };
}

/** A run of this session, from beginning to end. */
async function hears({ gateway }: Pick<Board, "gateway">, sessionKey = ROOM_KEY): Promise<void> {
  const { runId } = await gateway.call("agent", { sessionKey, message: "hello" });
  await gateway.call("agent.wait", { runId });
}

function pad(figure: number): string {
  return String(figure).padStart(2, "0");
}
