import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { scriptedAgent } from "../../src/agents/scripted-agent.ts";
import type { GatewayMethod } from "../../src/core/gateway.ts";
import { createSwitchboard } from "../../src/switchboard.ts";
import { aBoard, aFolder, type Board, OPEN, type Script, use } from "../fakes/a-board.ts";
import { cast, childrenOf, spawning } from "../fakes/a-family.ts";
import { hangs } from "../fakes/a-spawner.ts";
import { asking, send } from "../fakes/asking.ts";
import { type Gate, gate } from "../fakes/gate.ts";
import { at } from "../fakes/memory-adapter.ts";

const ROOM = at("discord", "channel", "222");
const ROOM_KEY = "agent:research:discord:channel:222";
const BINDINGS = [{ agentId: "research", match: { channel: "discord" } }];

/** Agents main and research; research has a Discord room. */
async function aHost(options: Parameters<typeof aBoard>[0] = {}): Promise<Board> {
  const board = await aBoard({
    agents: { main: ({ text }) => `re: ${text}`, research: ({ text }) => `found: ${text}` },
    ...options,
    config: { bindings: BINDINGS, ...options.config },
  });
  await board.discord.says("hi", { from: ROOM });
  await board.quiet();
  return board;
}

/** Says this when the gate is open. */
function afterGate(slow: Gate, said: string): Script {
  return async ({ signal }) => {
    await slow.pass(signal);
    return said;
  };
}

/** The same, but only for a message that holds this word; others are answered at once. */
function slowOn(word: string, slow: Gate, said: string): Script {
  return (turn) => (turn.text.includes(word) ? afterGate(slow, said)(turn) : said);
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "no error",
    (error: { code?: string }) => error.code ?? String(error),
  );
}

async function messageOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "no error",
    (error: Error) => error.message,
  );
}

async function keys(board: Board): Promise<readonly unknown[]> {
  const { sessions } = await board.gateway.call("sessions.list");
  // The shape that sessions_list documents.
  return (sessions as readonly { key: string }[]).map((one) => one.key).sort();
}

async function row(board: Board, key: string) {
  const { sessions } = await board.gateway.call("sessions.list");
  // As above.
  return (sessions as readonly Record<string, unknown>[]).find((one) => one.key === key) ?? {};
}

async function texts(board: Board, sessionKey: string): Promise<readonly string[]> {
  const { messages } = await board.gateway.call("chat.history", { sessionKey });
  // The shape that sessions_history documents.
  return (messages as readonly { content: readonly { text?: string }[] }[]).map(
    (one) => one.content[0]?.text ?? "",
  );
}

describe("every call of the host", () => {
  it.each(["sessions.drop", "", "toString", "__proto__", "constructor"])(
    "API-1: %j is no call; the error lists those there are",
    async (method) => {
      const board = await aHost();
      // A JavaScript host may pass anything.
      const call = board.gateway.call(method as GatewayMethod);
      expect(await codeOf(call)).toBe("INPUT_INVALID");
      expect(await messageOf(call)).toContain("agent, agent.wait, chat.send, chat.history, sessions.list");
    },
  );

  it.each<[GatewayMethod, unknown, readonly string[]]>([
    ["agent", { agentId: "main", message: "", delivre: true }, ["message", "delivre"]],
    ["agent", { message: "x" }, ["sessionKey", "agentId"]],
    ["agent", { agentId: "main", message: "x", timeoutSeconds: -1 }, ["timeoutSeconds"]],
    ["agent", { sessionKey: "agent::x", message: "x" }, ["agent::x"]],
    ["agent", "hello", ["agent"]],
    ["agent", { sessionKey: ROOM_KEY, agentId: "main", message: "x" }, ["research", "main"]],
    ["agent.wait", {}, ["runId"]],
    ["agent.wait", { runId: "r", timeoutSeconds: "30" }, ["timeoutSeconds"]],
    ["chat.send", { message: "x" }, ["sessionKey"]],
    ["chat.send", { sessionKey: "main", message: "x", channel: "discord" }, ["channel"]],
    ["chat.history", {}, ["sessionKey"]],
    ["chat.history", { sessionKey: "main", bogus: 1 }, ["bogus"]],
    ["sessions.list", { kinds: ["nonsense"] }, ["nonsense"]],
    ["sessions.list", { bogus: 1 }, ["bogus"]],
    ["sessions.resolve", {}, ["key", "sessionId", "label"]],
    ["sessions.resolve", { label: "ops", sessionId: "x" }, ["exactly one"]],
    ["sessions.resolve", { key: "main", label: "ops" }, ["exactly one"]],
    ["sessions.patch", { sessionKey: ROOM_KEY, colour: "red" }, ["colour"]],
    ["sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: "mute", pinned: "yes" }, ["sendPolicy", "pinned"]],
    ["sessions.patch", { sessionKey: "" }, ["sessionKey"]],
    ["sessions.reset", {}, ["sessionKey"]],
    ["sessions.delete", { sessionKey: ROOM_KEY, force: true }, ["force"]],
  ])("API-1: %s with %j is INPUT_INVALID and names what is wrong", async (method, params, named) => {
    const board = await aHost();
    const before = await keys(board);
    const call = board.gateway.call(method, params);
    expect(await codeOf(call)).toBe("INPUT_INVALID");
    const message = await messageOf(call);
    for (const name of named) expect(message).toContain(name);
    await board.quiet();
    expect(await keys(board)).toEqual(before);
    expect(board.agents.main?.turns).toEqual([]);
  });

  it.each<[GatewayMethod, object]>([
    ["chat.history", { sessionKey: "agent:research:discord:channel:9" }],
    ["sessions.resolve", { key: "agent:research:discord:channel:9" }],
    ["sessions.resolve", { sessionId: "00000000-0000-4000-8000-00000000dead" }],
    ["sessions.resolve", { label: "nobody" }],
    ["sessions.patch", { sessionKey: "agent:research:discord:channel:9", pinned: true }],
    ["sessions.reset", { sessionKey: "agent:research:discord:channel:9" }],
    ["sessions.delete", { sessionKey: "agent:research:discord:channel:9" }],
  ])(
    "API-1 STORE-5: %s of a session that is not there is SESSION_NOT_FOUND and makes none",
    async (method, params) => {
      const board = await aHost();
      const before = await keys(board);
      expect(await codeOf(board.gateway.call(method, params))).toBe("SESSION_NOT_FOUND");
      expect(await keys(board)).toEqual(before);
    },
  );

  it("API-1: waits that are pending when the switchboard closes get what came of a run that was stopped, or CLOSED", async () => {
    const slow = gate();
    const board = await aHost({ agents: { main: afterGate(slow, "late"), research: () => "" } });
    const runs = [
      await board.gateway.call("agent", { agentId: "main", message: "running" }),
      await board.gateway.call("agent", { agentId: "main", message: "queued" }),
    ];
    await slow.reached;
    const [running, queued] = runs.map(({ runId }) =>
      board.gateway.call("agent.wait", { runId, timeoutSeconds: 60 }),
    );
    const closed = codeOf(queued ?? Promise.resolve());
    await board.close({ graceMs: 0 });
    expect(await running).toMatchObject({ state: "failed", error: "interrupted by restart" });
    expect(await closed).toBe("CLOSED");
  });

  it("API-1: after close every call is CLOSED", async () => {
    const board = await aHost();
    await board.close({ graceMs: 0 });
    const calls: [GatewayMethod, object][] = [
      ["agent", { agentId: "main", message: "x" }],
      ["agent.wait", { runId: "r" }],
      ["sessions.list", {}],
      ["sessions.patch", { sessionKey: ROOM_KEY, pinned: true }],
    ];
    for (const [method, params] of calls)
      expect(await codeOf(board.gateway.call(method, params))).toBe("CLOSED");
  });
});

describe("agent", () => {
  it("API-1: runs an agent in its main session, which it makes, and delivers nothing by itself", async () => {
    const board = await aHost();
    const started = await board.gateway.call("agent", { agentId: "main", message: "plan" });
    expect(started).toMatchObject({ status: "accepted", sessionKey: "agent:main:main" });
    const run = await board.gateway.call("agent.wait", { runId: started.runId });
    expect(run).toMatchObject({ state: "done", result: { status: "ok", reply: "re: plan" } });
    expect(await texts(board, "agent:main:main")).toEqual(["plan", "re: plan"]);
    expect(board.agents.main?.turns[0]).toMatchObject({
      trigger: "gateway",
      input: { provenance: { kind: "internal_system", sourceTool: "agent" } },
    });
    expect(board.telegram.sent).toEqual([]);
  });

  it.each([
    { written: "cron:daily", key: "agent:main:cron:daily" },
    {
      written: "hook:00000000-0000-4000-8000-00000000abcd",
      key: "agent:main:hook:00000000-0000-4000-8000-00000000abcd",
    },
    { written: "node-pi4", key: "agent:main:node-pi4" },
    { written: "cron:daily", agentId: "research", key: "agent:research:cron:daily" },
    { written: "AGENT:Research:Main", key: "agent:research:main" },
  ])("API-1 KEY-3: $written of agent $agentId opens the session $key", async ({ written, agentId, key }) => {
    const board = await aHost();
    const named = agentId === undefined ? {} : { agentId };
    const started = await board.gateway.call("agent", { sessionKey: written, message: "go", ...named });
    expect(started.sessionKey).toBe(key);
    await board.quiet();
    expect(await board.gateway.call("sessions.resolve", { key })).toMatchObject({ key });
  });

  it("API-1: passes model, thinking and its own time limit to the run", async () => {
    const slow = gate();
    const board = await aHost({
      agents: { main: afterGate(slow, "late"), research: () => "" },
    });
    const params = { agentId: "main", message: "go", model: "small", thinking: "high", timeoutSeconds: 3 };
    const { runId } = await board.gateway.call("agent", params);
    await slow.reached;
    expect(board.agents.main?.turns[0]).toMatchObject({ model: "small", thinking: "high" });
    await board.clock.advance(3000);
    const run = await board.gateway.call("agent.wait", { runId });
    expect(run).toMatchObject({ state: "failed", error: "timed out after 3 s" });
  });

  it("API-1: the call's model and thinking hold for its run, the session's for every other", async () => {
    const board = await aHost();
    const set = { sessionKey: ROOM_KEY, model: "small", thinkingLevel: "low" };
    await board.gateway.call("sessions.patch", set);
    const ask = { sessionKey: ROOM_KEY, message: "go" };
    await board.gateway.call("agent", { ...ask, model: "large", thinking: "high" });
    await board.gateway.call("agent", ask);
    await board.quiet();
    expect(board.agents.research?.turns.slice(1)).toMatchObject([
      { model: "large", thinking: "high" },
      { model: "small", thinking: "low" },
    ]);
  });

  it("API-1: its own time limit of 0 is none, whatever limit the agents have", async () => {
    const slow = gate();
    const board = await aHost({
      config: { agents: { defaults: { timeoutSeconds: 2 } } },
      agents: { main: afterGate(slow, "late"), research: () => "" },
    });
    const params = { agentId: "main", message: "go", timeoutSeconds: 0 };
    const { runId } = await board.gateway.call("agent", params);
    await slow.reached;
    await board.clock.advance(3000);
    slow.open();
    const run = await board.gateway.call("agent.wait", { runId });
    expect(run).toMatchObject({ state: "done", result: { reply: "late" } });
  });

  it.each([
    { params: { agentId: "zzz", message: "x" }, code: "AGENT_UNKNOWN", says: "main, research" },
    { params: { sessionKey: "agent:zzz:main", message: "x" }, code: "AGENT_UNKNOWN", says: "main, research" },
    { params: { agentId: "main", message: "x", deliver: true }, code: "NO_ROUTE", says: "deliver: false" },
    {
      params: { sessionKey: "cron:daily", message: "x", deliver: true },
      code: "NO_ROUTE",
      says: "cron:daily",
    },
  ])("API-1 STORE-5: $params is $code, runs nothing and opens nothing", async ({ params, code, says }) => {
    const board = await aHost();
    const before = await keys(board);
    const call = board.gateway.call("agent", params);
    expect(await codeOf(call)).toBe(code);
    expect(await messageOf(call)).toContain(says);
    await board.quiet();
    expect(await keys(board)).toEqual(before);
    expect(board.agents.main?.turns).toEqual([]);
  });

  it("API-1: delivers to the session's chat when it is told to", async () => {
    const board = await aHost();
    await board.gateway.call("agent", { sessionKey: ROOM_KEY, message: "news", deliver: true });
    await board.quiet();
    expect(board.discord.sent.at(-1)).toMatchObject({ to: { chatId: "222" }, text: "found: news" });
  });

  it.each(["agent", "chat.send"] as const)(
    "POL-4: %s that would deliver into a denied session is refused with the reason and runs nothing",
    async (method) => {
      const board = await aHost();
      await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: "deny" });
      const call = board.gateway.call(method, { sessionKey: ROOM_KEY, message: "x", deliver: true });
      expect(await codeOf(call)).toBe("SEND_DENIED");
      expect(await messageOf(call)).toContain("/send off");
      await board.quiet();
      expect(board.agents.research?.turns).toHaveLength(1);

      await board.gateway.call(method, { sessionKey: ROOM_KEY, message: "quietly", deliver: false });
      await board.quiet();
      expect(board.agents.research?.turns).toHaveLength(2);
      expect(board.discord.sent).toHaveLength(1);
    },
  );

  it("POL-4: a denied thread follows its room, and a rule of the config counts as well", async () => {
    const sendPolicy = { rules: [{ action: "deny" as const, match: { channel: "discord" } }] };
    const board = await aHost({ config: { session: { sendPolicy }, bindings: BINDINGS } });
    const call = board.gateway.call("chat.send", { sessionKey: ROOM_KEY, message: "x" });
    expect(await codeOf(call)).toBe("SEND_DENIED");
    expect(await messageOf(call)).toContain("session.sendPolicy.rules[0]");
  });

  it("POL-3: a session that is denied while the run goes on gets nothing", async () => {
    const slow = gate();
    const board = await aHost({
      agents: {
        main: () => "",
        research: (turn) => (turn.request.trigger === "gateway" ? afterGate(slow, "secret")(turn) : "hello"),
      },
    });
    const { runId } = await board.gateway.call("agent", {
      sessionKey: ROOM_KEY,
      message: "x",
      deliver: true,
    });
    await slow.reached;
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: "deny" });
    slow.open();
    await board.quiet();
    expect(board.discord.sent.map((one) => one.text)).toEqual(["hello"]);
    const { result } = await board.gateway.call("agent.wait", { runId });
    const { deliveryId } = result as { deliveryId: string };
    const delivery = await board.gateway.call("agent.wait", { runId: deliveryId });
    expect(delivery).toMatchObject({ result: { state: "suppressed" } });
  });

  it.each(["agent", "chat.send"] as const)(
    "SEND-7 API-1: %s with the same idempotencyKey runs once",
    async (method) => {
      const board = await aHost();
      const params = { sessionKey: ROOM_KEY, message: "once", idempotencyKey: "k-1", deliver: false };
      const first = await board.gateway.call(method, params);
      await board.quiet();
      const second = await board.gateway.call(method, params);
      await board.quiet();
      expect(second.runId).toBe(first.runId);
      expect((await texts(board, ROOM_KEY)).filter((text) => text === "once")).toHaveLength(1);
      const other = await board.gateway.call(method, { ...params, sessionKey: "agent:research:main" });
      await board.quiet();
      expect(other.runId).not.toBe(first.runId);
      expect(await texts(board, "agent:research:main")).toContain("once");
    },
  );

  it("API-1: an agent with a list of models takes no other", async () => {
    const board = await aBoard({ agents: { main: () => "ok" } });
    const limited = await aBoardWithModels(["small", "large"]);
    await limited.gateway.call("agent", { agentId: "main", message: "x", model: "small" });
    const call = limited.gateway.call("agent", { agentId: "main", message: "x", model: "huge" });
    expect(await codeOf(call)).toBe("MODEL_UNKNOWN");
    expect(await messageOf(call)).toContain("small, large");
    const patch = limited.gateway.call("sessions.patch", { sessionKey: "main", model: "huge" });
    expect(await codeOf(patch)).toBe("MODEL_UNKNOWN");
    await board.gateway.call("agent", { agentId: "main", message: "x", model: "anything" });
  });
});

async function aBoardWithModels(models: readonly string[]) {
  const agents = { main: scriptedAgent(() => "ok", { models }) };
  const board = await createSwitchboard({ agents, dataDir: aFolder() });
  onTestFinished(() => board.close({ graceMs: 0 }));
  return board;
}

describe("agent.wait", () => {
  it("API-1: an unknown run is RUN_NOT_FOUND", async () => {
    const board = await aHost();
    const call = board.gateway.call("agent.wait", { runId: "call:agent:nothing" });
    expect(await codeOf(call)).toBe("RUN_NOT_FOUND");
    expect(await messageOf(call)).toContain("a day");
  });

  it("SEND-5 API-1: a wait that ends first says timeout, and the next one gets the result", async () => {
    const slow = gate();
    const board = await aHost({
      agents: { main: afterGate(slow, "done"), research: () => "" },
    });
    const { runId } = await board.gateway.call("agent", { agentId: "main", message: "x" });
    const waiting = board.gateway.call("agent.wait", { runId, timeoutSeconds: 2 });
    await slow.reached;
    await board.clock.advance(2000);
    expect(await waiting).toEqual({ runId, status: "timeout" });
    slow.open();
    await board.quiet();
    expect(await board.gateway.call("agent.wait", { runId })).toMatchObject({
      state: "done",
      result: { reply: "done" },
    });
  });

  it("API-1 A2A-4: the run of a sessions_send brings its exchange along", async () => {
    const { script, answers } = asking();
    const board = await aHost({
      config: { ...OPEN, bindings: BINDINGS },
      agents: { main: script, research: () => "ok" },
    });
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "status?" }));
    await board.quiet();
    const run = await board.gateway.call("agent.wait", { runId: answers[0]?.runId });
    expect(run.exchange).toMatchObject({
      requester: "agent:main:main",
      target: ROOM_KEY,
      state: "announced",
    });
  });

  it("API-1 HIST-5: masks credentials as every way out does", async () => {
    const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    const board = await aHost({ agents: { main: () => `use ${token}`, research: () => "" } });
    const { runId } = await board.gateway.call("agent", { agentId: "main", message: `with ${token}?` });
    const run = await board.gateway.call("agent.wait", { runId });
    expect(JSON.stringify(run)).toContain("use ");
    expect(JSON.stringify(run)).not.toContain(token);
  });
});

describe("chat.send", () => {
  it("API-1: a message to the agent, whose reply goes to the chat", async () => {
    const board = await aHost();
    const { runId } = await board.gateway.call("chat.send", {
      sessionKey: ROOM_KEY,
      message: "weekly report",
    });
    await board.quiet();
    expect(board.discord.sent.at(-1)?.text).toBe("found: weekly report");
    const run = await board.gateway.call("agent.wait", { runId });
    expect(run).toMatchObject({ state: "done", result: { reply: "found: weekly report" } });
  });

  it("API-1: a session without a chat is NO_ROUTE", async () => {
    const board = await aHost();
    expect(
      await codeOf(board.gateway.call("chat.send", { sessionKey: "agent:main:main", message: "x" })),
    ).toBe("NO_ROUTE");
    expect(await keys(board)).toEqual([ROOM_KEY]);
  });

  it("STORE-2: moves no route", async () => {
    const board = await aHost();
    const before = await row(board, ROOM_KEY);
    await board.gateway.call("chat.send", { sessionKey: ROOM_KEY, message: "x" });
    await board.quiet();
    const { deliveryContext, lastTo, lastChannel, origin } = await row(board, ROOM_KEY);
    expect({ deliveryContext, lastTo, lastChannel, origin }).toEqual({
      deliveryContext: before.deliveryContext,
      lastTo: before.lastTo,
      lastChannel: before.lastChannel,
      origin: before.origin,
    });
  });

  it("a failing run posts no error text", async () => {
    const board = await aHost({
      agents: {
        main: () => "",
        research({ request }) {
          if (request.trigger === "gateway") throw new Error("quota exceeded");
          return "hello";
        },
      },
    });
    const { runId } = await board.gateway.call("chat.send", { sessionKey: ROOM_KEY, message: "x" });
    await board.quiet();
    expect(board.discord.sent).toHaveLength(1);
    expect(await board.gateway.call("agent.wait", { runId })).toMatchObject({
      state: "failed",
      error: "quota exceeded",
    });
  });
});

describe("chat.history and sessions.list", () => {
  it("API-1 VIS-1: skip visibility", async () => {
    const board = await aHost({
      config: { tools: { sessions: { visibility: "self" } }, bindings: BINDINGS },
    });
    expect(await keys(board)).toEqual([ROOM_KEY]);
    expect((await texts(board, ROOM_KEY)).at(-1)).toMatch(/^found: /);
    const list = await board.gateway.call("sessions.list", { limit: 20 });
    expect(list).toMatchObject({ count: 1, hasMore: false });
    expect(list).not.toHaveProperty("visibility");
  });

  it("API-1 HIST-5: never skip masking and limits", async () => {
    const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    const board = await aHost({ agents: { main: () => "", research: () => `use ${token}` } });
    const history = await board.gateway.call("chat.history", { sessionKey: ROOM_KEY, limit: 1 });
    expect(history).toMatchObject({ contentRedacted: true });
    expect(JSON.stringify(history)).not.toContain(token);
    const list = await board.gateway.call("sessions.list", { messageLimit: 5 });
    expect(JSON.stringify(list)).not.toContain(token);
  });
});

describe("sessions.resolve", () => {
  it("API-1: finds by key, session id, label, and label with agent", async () => {
    const board = await aHost();
    await board.gateway.call("agent", { agentId: "main", message: "x" });
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "ops" });
    await board.gateway.call("sessions.patch", { sessionKey: "main", label: "ops" });
    const found = await board.gateway.call("sessions.resolve", { key: ROOM_KEY });
    expect(found).toMatchObject({ key: ROOM_KEY, agentId: "research" });
    expect(await board.gateway.call("sessions.resolve", { sessionId: found.sessionId })).toEqual(found);
    expect(await board.gateway.call("sessions.resolve", { label: "ops", agentId: "research" })).toEqual(
      found,
    );
    const both = board.gateway.call("sessions.resolve", { label: "ops" });
    expect(await codeOf(both)).toBe("SESSION_AMBIGUOUS");
    expect(await messageOf(both)).toContain("2 sessions");
  });
});

describe("sessions.patch", () => {
  it.each([
    { field: "label", value: "ops", shown: { label: "ops" } },
    { field: "sendPolicy", value: "deny", shown: { sendPolicy: "deny" } },
    { field: "model", value: "small", shown: { modelOverride: "small" } },
    { field: "thinkingLevel", value: "high", shown: { thinkingLevel: "high" } },
    { field: "verboseLevel", value: "full", shown: { verboseLevel: "full" } },
    { field: "pinned", value: true, shown: { pinned: true } },
  ])(
    "API-1: sets $field, leaves it alone when it is not named, and null clears it",
    async ({ field, value, shown }) => {
      const board = await aHost();
      const before = await row(board, ROOM_KEY);
      await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, [field]: value });
      expect(await row(board, ROOM_KEY)).toMatchObject(shown);
      await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY });
      expect(await row(board, ROOM_KEY)).toMatchObject(shown);
      await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, [field]: null });
      const { updatedAt: _before, ...was } = before;
      const { updatedAt: _after, ...is } = await row(board, ROOM_KEY);
      expect(is).toEqual(was);
    },
  );

  it("API-1: archived hides the session until it is cleared or somebody writes", async () => {
    const board = await aHost();
    const patch = (archived: boolean | null) =>
      board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, archived });
    await patch(true);
    expect(await keys(board)).toEqual([]);
    await patch(null);
    expect(await keys(board)).toEqual([ROOM_KEY]);
    await patch(true);
    await board.discord.says("again", { from: ROOM });
    await board.quiet();
    expect(await keys(board)).toEqual([ROOM_KEY]);
  });

  it("API-1: what is set again keeps the time since when it holds", async () => {
    const board = await aHost();
    const set = { sessionKey: ROOM_KEY, pinned: true };
    await board.gateway.call("sessions.patch", set);
    const { pinnedAt } = await row(board, ROOM_KEY);
    expect(pinnedAt).toBe(board.clock.now());
    await board.clock.advance(60_000);
    await board.gateway.call("sessions.patch", set);
    expect(await row(board, ROOM_KEY)).toMatchObject({ pinnedAt });
  });

  it("API-1 STORE-8: a label in use is LABEL_IN_USE, one without characters LABEL_INVALID; neither changes anything", async () => {
    const board = await aHost();
    await board.discord.says("hi", { from: at("discord", "channel", "333") });
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "ops" });
    const other = "agent:research:discord:channel:333";
    const twice = { sessionKey: other, label: "ops", pinned: true };
    expect(await codeOf(board.gateway.call("sessions.patch", twice))).toBe("LABEL_IN_USE");
    const blank = { sessionKey: other, label: "\u200b\n ", pinned: true };
    expect(await codeOf(board.gateway.call("sessions.patch", blank))).toBe("LABEL_INVALID");
    expect(await row(board, other)).toMatchObject({ pinned: false });
  });
});

describe("sessions.reset", () => {
  it("API-1 STORE-6: begins a new session id; what was said stays readable by the old one", async () => {
    const board = await aHost();
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "ops" });
    const { sessionId: old } = await board.gateway.call("sessions.resolve", { key: ROOM_KEY });
    const reset = await board.gateway.call("sessions.reset", { sessionKey: ROOM_KEY });
    expect(reset).toMatchObject({ ok: true, key: ROOM_KEY });
    expect(reset.sessionId).not.toBe(old);
    expect(await texts(board, ROOM_KEY)).toEqual([]);
    expect((await texts(board, String(old))).length).toBe(2);
    expect(await row(board, ROOM_KEY)).toMatchObject({ label: "ops", lastTo: "222" });
  });

  it("API-1: a run that was under way ends in the old transcript", async () => {
    const slow = gate();
    const board = await aHost({
      agents: {
        main: () => "",
        research: slowOn("slow", slow, "ok"),
      },
    });
    await board.discord.says("slow", { from: ROOM });
    await slow.reached;
    const { sessionId: old } = await board.gateway.call("sessions.resolve", { key: ROOM_KEY });
    await board.gateway.call("sessions.reset", { sessionKey: ROOM_KEY });
    slow.open();
    await board.quiet();
    expect(await texts(board, ROOM_KEY)).toEqual([]);
    expect((await texts(board, String(old))).slice(-2)).toEqual(["slow", "ok"]);
  });
});

describe("sessions.delete", () => {
  /** research is busy in its room, and two more runs wait there: a person's message and a sessions_send of main, which waits for it. */
  async function busyRoom() {
    const { script, answers } = asking();
    const slow = gate();
    const board = await aHost({
      config: { ...OPEN, bindings: BINDINGS },
      agents: {
        main: script,
        research: slowOn("slow", slow, "hello"),
      },
    });
    const finished: string[] = [];
    board.on("run.finished", ({ sessionKey, status }) => sessionKey === ROOM_KEY && finished.push(status));
    await board.discord.says("slow", { from: ROOM });
    await slow.reached;
    await board.discord.says("a person waits", { from: ROOM });
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "an agent waits" }));
    await board.quiet();
    const { sessionId } = await board.gateway.call("sessions.resolve", { key: ROOM_KEY });
    return { board, answers, finished, sessionId };
  }

  it("API-1: stops what runs, drops what waits without asking its agent, and removes entry and transcript", async () => {
    const { board, finished, sessionId } = await busyRoom();
    const asked = board.agents.research?.turns.length;
    expect(await board.gateway.call("sessions.delete", { sessionKey: ROOM_KEY })).toMatchObject({
      ok: true,
      key: ROOM_KEY,
    });
    await board.quiet();
    expect(finished).toEqual(["killed"]);
    expect(board.agents.research?.turns).toHaveLength(asked ?? -1);
    expect(await keys(board)).not.toContain(ROOM_KEY);
    for (const sessionKey of [ROOM_KEY, String(sessionId)]) {
      expect(await codeOf(board.gateway.call("chat.history", { sessionKey }))).toBe("SESSION_NOT_FOUND");
    }
    expect(board.discord.sent.map((one) => one.text)).toEqual(["hello"]);

    await board.discord.says("anybody there?", { from: ROOM });
    await board.quiet();
    expect(await texts(board, ROOM_KEY)).toEqual(["anybody there?", "hello"]);
  });

  it("API-1 G06: what was said before resets goes too, with its files, and stays gone when the chat comes back", async () => {
    const board = await aHost();
    const ids: string[] = [];
    for (const words of ["second", "third"]) {
      ids.push(String((await board.gateway.call("sessions.resolve", { key: ROOM_KEY })).sessionId));
      await board.gateway.call("sessions.reset", { sessionKey: ROOM_KEY });
      await board.discord.says(words, { from: ROOM });
      await board.quiet();
    }
    const files = () => readdirSync(join(board.dataDir, "transcripts")).sort();
    await vi.waitFor(() => expect(files()).toHaveLength(3));
    await board.gateway.call("sessions.delete", { sessionKey: ROOM_KEY });
    await board.discord.says("back", { from: ROOM });
    await board.quiet();
    for (const sessionKey of ids) {
      expect(await codeOf(board.gateway.call("chat.history", { sessionKey }))).toBe("SESSION_NOT_FOUND");
    }
    const { sessionId } = await board.gateway.call("sessions.resolve", { key: ROOM_KEY });
    await vi.waitFor(() => expect(files()).toEqual([`${sessionId}.jsonl`]));
    expect(await texts(board, ROOM_KEY)).toEqual(["back", "found: Olivia: back"]);
  });

  it("API-1 SEND-4: whoever waits for a run of it is told at once, and its exchange is settled", async () => {
    const { board, answers } = await busyRoom();
    await board.gateway.call("sessions.delete", { sessionKey: ROOM_KEY });
    await board.quiet();
    expect(answers[0]).toMatchObject({ status: "error", code: "RUN_FAILED" });
    expect(answers[0]?.error).toContain("deleted");
    const { exchange } = await board.gateway.call("agent.wait", { runId: answers[0]?.runId });
    expect(exchange).toMatchObject({ state: "failed" });
  });

  it("API-1: a main session is SESSION_PROTECTED, and its runs go on", async () => {
    const slow = gate();
    const board = await aHost({
      agents: { main: afterGate(slow, "done"), research: () => "" },
    });
    await board.telegram.says("work");
    await slow.reached;
    await board.telegram.says("more");
    expect(await codeOf(board.gateway.call("sessions.delete", { sessionKey: "main" }))).toBe(
      "SESSION_PROTECTED",
    );
    slow.open();
    await board.quiet();
    expect(board.telegram.sent.map((one) => one.text)).toEqual(["done", "done"]);
  });

  it("A2A-3 API-1: a requester that is deleted in the middle of an exchange does not keep the target from announcing", async () => {
    const { script } = asking();
    const slow = gate();
    const board = await aHost({
      config: { ...OPEN, bindings: BINDINGS },
      agents: {
        main: script,
        research: async ({ request, signal }) => {
          if (request.trigger === "send") await slow.pass(signal);
          return request.trigger === "announce" ? "told" : "hello";
        },
      },
    });
    const group = at("telegram", "group", "-5");
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "x", timeoutSeconds: 0 }), {
      from: group,
    });
    await slow.reached;
    await board.gateway.call("sessions.delete", { sessionKey: "agent:main:telegram:group:-5" });
    slow.open();
    await board.quiet();
    expect(board.discord.sent.map((one) => one.text)).toEqual(["hello", "told"]);
    expect(await keys(board)).toEqual([ROOM_KEY]);
  });
});

describe("subagents", () => {
  const forever: Script = ({ signal }) => hangs(signal);
  const GROUP = at("telegram", "group", "-5");
  const GROUP_KEY = "agent:main:telegram:group:-5";
  const outcomes = (board: Board) => childrenOf(board).map(({ outcome, told }) => [outcome?.status, told]);

  /** A group whose session has a lead, which waits for two of its own; and main's own session, which has one. */
  async function aDeepFamily(board?: Parameters<typeof aBoard>[0]) {
    const lead = spawning(["leaf 1", "leaf 2"]);
    const main = cast({
      asked: (turn) => spawning([turn.text.endsWith("alone") ? "alone" : "lead"], "asked")(turn),
      task: (turn) => (turn.text.endsWith("lead") ? lead(turn) : forever(turn)),
    });
    const config = { agents: { defaults: { subagents: { maxSpawnDepth: 2 } } } };
    const made = await aBoard({ config, agents: { main }, ...board });
    await made.telegram.says("alone");
    await made.quiet();
    await made.telegram.says("go", { from: GROUP });
    await made.quiet();
    expect(childrenOf(made).map(({ task }) => task)).toEqual(["alone", "lead", "leaf 1", "leaf 2"]);
    return made;
  }

  it("D19 API-1: sessions.delete ends everything below the session, at any depth, and nothing else", async () => {
    const board = await aDeepFamily();
    await board.gateway.call("sessions.delete", { sessionKey: GROUP_KEY });
    await board.quiet();
    expect(outcomes(board).map(([status]) => status)).toEqual([undefined, "killed", "killed", "killed"]);
    expect(
      outcomes(board)
        .slice(1)
        .every(([, told]) => told !== undefined),
    ).toBe(true);
    expect(await keys(board)).not.toContain(GROUP_KEY);
    expect(board.telegram.sent.map(({ text }) => text)).toEqual(["asked", "asked"]);
    expect(board.complaints).toEqual([]);

    await board.telegram.says("go", { from: GROUP });
    await board.quiet();
    const { active, recent } = await use(board, GROUP_KEY, "subagents");
    expect({ active, recent }).toMatchObject({ active: [{ task: "lead" }], recent: [] });
  });

  it("D19 API-1: sessions.delete of a child ends its task and what is below it, and its requester is told once", async () => {
    const board = await aDeepFamily();
    const [, lead] = childrenOf(board);
    await board.gateway.call("sessions.delete", { sessionKey: lead?.key });
    await board.quiet();
    expect(outcomes(board).map(([status]) => status)).toEqual([undefined, "killed", "killed", "killed"]);
    expect(childrenOf(board)[1]).toMatchObject({ stoppedBy: "owner", told: "row" });
    const told = (await texts(board, GROUP_KEY)).filter((text) => text.includes('"lead"'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("Status: stopped");
  });

  it("D19: a run that spawns while its session is deleted leaves nobody at work", async () => {
    const slow = gate();
    const asked: Script = async ({ call, signal }) => {
      await call("sessions_spawn", { task: "first" });
      await slow.pass(signal);
      await call("sessions_spawn", { task: "second" });
      return "asked";
    };
    const board = await aBoard({ agents: { main: cast({ asked, task: forever }) } });
    await board.telegram.says("go", { from: GROUP });
    await slow.reached;
    const deleted = board.gateway.call("sessions.delete", { sessionKey: GROUP_KEY });
    slow.open();
    await deleted;
    await board.quiet();
    expect(outcomes(board).filter(([status]) => status !== "killed")).toEqual([]);
  });

  it("API-1 D19: what may not be deleted keeps its subagents", async () => {
    const board = await aDeepFamily();
    expect(await codeOf(board.gateway.call("sessions.delete", { sessionKey: "main" }))).toBe(
      "SESSION_PROTECTED",
    );
    expect(await codeOf(board.gateway.call("sessions.delete", { sessionKey: "cron:x" }))).toBe(
      "SESSION_NOT_FOUND",
    );
    expect(outcomes(board).map(([status]) => status)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("API-1 SPAWN-1: agent.wait of a spawn's run tells of the task, open and ended, with nobody's secret", async () => {
    const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    const slow = gate();
    const main = cast({
      asked: spawning([{ task: `look for ${token}`, label: "scout" }], "asked"),
      async task({ signal }) {
        await slow.pass(signal);
        return `it is ${token}`;
      },
    });
    const board = await aBoard({ agents: { main } });
    await board.telegram.says("go");
    await slow.reached;
    const runId = childrenOf(board)[0]?.runId;
    const wait = (timeoutSeconds: number) => board.gateway.call("agent.wait", { runId, timeoutSeconds });
    expect(await wait(0)).toEqual({ runId, status: "timeout" });
    slow.open();
    const answer = await wait(30);
    expect(answer).toMatchObject({
      state: "done",
      child: { label: "scout", requester: "agent:main:main", outcome: { status: "ok" } },
    });
    expect(JSON.stringify(answer)).not.toContain(token);
    const other = await board.gateway.call("agent", { agentId: "main", message: "x" });
    expect(await board.gateway.call("agent.wait", { runId: other.runId })).not.toHaveProperty("child");
  });
});
