import { describe, expect, it } from "vitest";
import { functionAgent } from "../../src/agents/function-agent.ts";
import type { ConfigInput } from "../../src/core/config.ts";
import type { BoundTool } from "../../src/core/ports/run.ts";
import { mainKey } from "../../src/core/session/key.ts";
import { createToolbox } from "../../src/core/tools/catalogue.ts";
import { defineTool, toolInput } from "../../src/core/tools/define-tool.ts";
import { createBasics } from "../../src/options.ts";
import { createServices, openStore } from "../../src/wiring.ts";
import { sdkVersions, standInAgent } from "../agents/ai-sdk-versions.ts";
import { aBoard, aFolder, type Board, type Script, use } from "../fakes/a-board.ts";
import { aBareBoard, everythingIn, hangs, tasksOf } from "../fakes/a-spawner.ts";
import type { Answer } from "../fakes/asking.ts";
import { gate } from "../fakes/gate.ts";
import { at, memoryAdapter, OWNER } from "../fakes/memory-adapter.ts";

const EVERY = [
  "sessions_list",
  "sessions_history",
  "sessions_send",
  "sessions_spawn",
  "sessions_yield",
  "subagents",
  "session_status",
  "agents_list",
];
const MAIN = "agent:main:main";
const ROOM = at("telegram", "group", "-100");
const ROOM_KEY = "agent:main:telegram:group:-100";
const TOPIC = at("telegram", "group", "-100", "42");
const NEVER = new AbortController().signal;

const without = (...gone: readonly string[]) => EVERY.filter((name) => !gone.includes(name));
const namesOf = (tools: readonly Pick<BoundTool, "name">[] = []) => tools.map(({ name }) => name);

/** What the newest run of an agent was offered. */
const offered = (board: Board, agentId = "main") => namesOf(board.agents[agentId]?.turns.at(-1)?.tools);

/** What a host that mounts the tools is offered. */
const mounted = async (board: Pick<Board, "tools">, key: string) => namesOf(await board.tools(key));

function inGroup(groups: object): ConfigInput {
  return { channels: { telegram: { groups } } } as ConfigInput;
}

async function says(board: Board, text: string, from = ROOM) {
  await board.telegram.says(text, { from });
  await board.quiet();
}

/** Calls a tool that was kept, as a host's own loop does. */
async function call(tools: readonly BoundTool[], name: string, input: object = {}): Promise<Answer> {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`${name} is not among the tools.`);
  return (await tool.call(input, { callId: `kept-${name}`, signal: NEVER })).value;
}

/** Spawns what a person writes as JSON; `child` is what the children do. */
function spawning(child: Script = () => "done"): Script {
  return async (turn) => {
    const { request, text } = turn;
    if (request.trigger === "announce") return "ANNOUNCE_SKIP";
    if (request.depth > 0) return child(turn);
    if (text.includes("{")) await turn.call("sessions_spawn", JSON.parse(text.slice(text.indexOf("{"))));
    return "ok";
  };
}

describe("the tools of a group", () => {
  it("TOOLS-1: hold in the group, its topics and threads, and nowhere else", async () => {
    const board = await aBoard({ config: inGroup({ "-100": { tools: { deny: ["sessions_send"] } } }) });
    await says(board, "hi");
    expect(offered(board)).toEqual(without("sessions_send"));
    await says(board, "hi", TOPIC);
    expect(offered(board)).toEqual(without("sessions_send"));
    await says(board, "hi", at("telegram", "group", "-200"));
    expect(offered(board)).toEqual(EVERY);
    await says(board, "hi", at("telegram", "direct", OWNER));
    expect(offered(board)).toEqual(EVERY);
    const discord = await aBoard({
      config: { channels: { discord: { groups: { "*": { tools: { allow: ["session_status"] } } } } } },
    });
    for (const thread of [undefined, "55"]) {
      await discord.discord.says("hi", { from: at("discord", "channel", "9", thread) });
      await discord.quiet();
      expect(offered(discord)).toEqual(["session_status"]);
    }
  });

  it("TOOLS-1: hold for the subagents that were asked for there, and for theirs", async () => {
    const board = await aBoard({
      config: {
        ...inGroup({ "-100": { tools: { deny: ["sessions_list", "session_status"] } } }),
        agents: { defaults: { subagents: { maxSpawnDepth: 3 } } },
        tools: { subagents: { tools: { alsoAllow: ["session_status"] } } },
      },
      agents: {
        main: spawning(async ({ request, call: calls }) => {
          if (request.trigger === "spawn" && request.depth < 3) {
            await calls("sessions_spawn", { task: "deeper" });
          }
          return "done";
        }),
      },
    });
    await says(board, '{"task":"look"}');
    const ORCHESTRATOR = ["sessions_history", "sessions_spawn", "sessions_yield", "subagents", "agents_list"];
    expect(tasksOf(board.agents.main).map(({ tools }) => namesOf(tools))).toEqual([
      ORCHESTRATOR,
      ORCHESTRATOR,
      [],
    ]);
    await board.telegram.says('{"task":"look"}');
    await board.quiet();
    expect(namesOf(tasksOf(board.agents.main)[3]?.tools)).toEqual(
      expect.arrayContaining(["sessions_list", "session_status"]),
    );
  });

  it("TOOLS-1: stay with a subagent while its requester talks elsewhere, also when all chats are one session", async () => {
    const groups = { "-100": { tools: { deny: ["session_status"] } } };
    const hold = gate();
    for (const scope of ["per-sender", "global"] as const) {
      const board = await aBoard({
        config: {
          ...inGroup(groups),
          session: { scope },
          tools: { subagents: { tools: { alsoAllow: ["session_status", "subagents"] } } },
        },
        agents: { main: spawning(({ signal }) => hold.pass(signal).then(() => "done")) },
      });
      const spawned = board.next("child.spawned");
      await says(board, '{"task":"look"}');
      const { sessionKey: child } = await spawned;
      expect(namesOf(tasksOf(board.agents.main)[0]?.tools)).toEqual(["subagents"]);
      // Everything that is said from now on is said elsewhere.
      await board.telegram.says("hi");
      await board.quiet();
      expect(offered(board)).toEqual(EVERY);
      expect(await mounted(board, child)).toEqual(["subagents"]);
    }
    hold.open();
  });

  it("TOOLS-1: with one session for all chats the chat in which somebody speaks counts", async () => {
    const board = await aBoard({
      config: {
        ...inGroup({ "-100": { tools: { allow: ["session_status"] } } }),
        session: { scope: "global" },
      },
    });
    await says(board, "hi");
    expect(offered(board)).toEqual(["session_status"]);
    expect(await mounted(board, "main")).toEqual(["session_status"]);
    await board.telegram.says("hi");
    await board.quiet();
    expect(offered(board)).toEqual(EVERY);
    expect(await board.telegram.calls("tools", "", { from: ROOM })).toMatch(
      /^Tools here: `session_status`\n/,
    );
    expect(await board.telegram.calls("tools", "")).toMatch(/^Tools here: `sessions_list`, .*`agents_list`$/);
  });

  it("TOOLS-1 I07: what was set for a group holds when it has become a supergroup", async () => {
    const board = await aBoard({ config: inGroup({ "-5": { tools: { deny: ["subagents"] } } }) });
    const [before, after] = [at("telegram", "group", "-5"), at("telegram", "group", "-1005")];
    await says(board, "hi", before);
    await board.telegram.host.onChatMoved(before, after);
    await says(board, "hi", after);
    expect(board.agents.main?.turns.at(-1)?.session.key).toBe("agent:main:telegram:group:-1005");
    expect(offered(board)).toEqual(without("subagents"));
  });
});

describe("the model of a run", () => {
  const config: ConfigInput = {
    tools: { byProvider: { openai: { deny: ["sessions_send"] } } },
    agents: { list: [{ id: "main", model: "openai/gpt-5" }] },
  };

  it("TOOLS-1: its provider decides: the agent's model, the session's, the spawn's, the call's", async () => {
    const board = await aBoard({
      config: {
        ...config,
        tools: { ...config.tools, subagents: { tools: { alsoAllow: ["sessions_send"] } } },
      },
      agents: { main: spawning() },
    });
    await board.telegram.says("hi");
    await board.quiet();
    expect(offered(board)).toEqual(without("sessions_send"));
    await board.gateway.call("sessions.patch", { sessionKey: MAIN, model: "anthropic/claude" });
    await board.telegram.says('{"task":"look"}');
    await board.quiet();
    const [turn] = board.agents.main?.turns.filter(({ trigger }) => trigger === "user").slice(1) ?? [];
    expect(namesOf(turn?.tools)).toEqual(EVERY);
    expect(namesOf(tasksOf(board.agents.main)[0]?.tools)).toEqual(["sessions_send"]);
    await board.telegram.says('{"task":"look","model":"openai/gpt-5-mini"}');
    await board.quiet();
    expect(namesOf(tasksOf(board.agents.main)[1]?.tools)).toEqual([]);
    await board.gateway.call("agent", { sessionKey: MAIN, message: "go", model: "OpenAI/o9" });
    await board.quiet();
    expect(board.agents.main?.turns.at(-1)?.model).toBe("OpenAI/o9");
    expect(offered(board)).toEqual(without("sessions_send"));
  });

  it("TOOLS-1: a run keeps its model's tools to its end, and the next one has those of the model that was chosen", async () => {
    const answers: Answer[] = [];
    const board = await aBoard({
      config: { tools: config.tools ?? {} },
      agents: {
        async main({ call: calls }) {
          answers.push(await calls("session_status", { model: "openai/gpt-5" }));
          answers.push(await calls("sessions_send", { label: "nobody", message: "hi" }));
          return "ok";
        },
      },
    });
    await says(board, "hi");
    expect(answers).toMatchObject([{ changedModel: true }, { code: "SESSION_NOT_FOUND" }]);
    await says(board, "hi again");
    expect(offered(board)).toEqual(without("sessions_send"));
    expect(answers.at(-1)).toMatchObject({ code: "TOOL_UNKNOWN" });
  });
});

describe("what is listed is what is bound", () => {
  const config: ConfigInput = {
    tools: {
      deny: ["sessions_history"],
      sandbox: { tools: { deny: ["sessions_send"] } },
      subagents: { tools: { alsoAllow: ["session_status"] } },
    },
    agents: {
      defaults: { subagents: { maxSpawnDepth: 2, allowAgents: ["*"] } },
      list: [{ id: "boxed", sandbox: { mode: "all" }, tools: { deny: ["sessions_yield"] } }],
    },
    ...inGroup({ "-100": { tools: { deny: ["subagents"] } } }),
  };
  const MINE = without("sessions_history", "subagents");
  const BOXED = ["sessions_list", "sessions_spawn", "session_status", "agents_list"];

  it("TOOLS-1 D15: functionAgent is given the list that holds, in a group and in a sandboxed subagent, and that one works", async () => {
    const given: { readonly agent: string; readonly tools: readonly string[] }[] = [];
    const answers: Answer[] = [];
    const telegram = memoryAdapter("telegram");
    const runner = (agent: string) =>
      functionAgent(async ({ tools, trigger, depth }) => {
        if (trigger !== "user" && trigger !== "spawn") return "ANNOUNCE_SKIP";
        given.push({ agent, tools: namesOf(tools) });
        const spawn = { task: "look", agentId: "boxed", context: "isolated" };
        answers.push(await call(tools, "session_status"));
        if (depth === 0) answers.push(await call(tools, "sessions_spawn", spawn));
        return "done";
      });
    const board = await aBareBoard(
      { main: runner("main"), boxed: runner("boxed") },
      { config, adapters: [telegram], owners: { telegram: [OWNER] } },
    );
    const keys: string[] = [];
    board.on("child.spawned", ({ sessionKey }) => keys.push(sessionKey));
    await telegram.says("hi", { from: ROOM });
    await board.settle();
    expect(given).toEqual([
      { agent: "main", tools: MINE },
      { agent: "boxed", tools: BOXED },
    ]);
    expect(answers).toMatchObject([{ ok: true }, { status: "accepted" }, { ok: true }]);
    expect(await mounted(board, ROOM_KEY)).toEqual(MINE);
    expect(await mounted(board, String(keys[0]))).toEqual(BOXED);
  });

  it.each(sdkVersions)(
    "TOOLS-1 D15: $version tells the model the list that holds, in a group and in a sandboxed subagent, and no other tool is called",
    async (version) => {
      const [main, boxed] = [await standInAgent(version), await standInAgent(version)];
      const telegram = memoryAdapter("telegram");
      const board = await aBareBoard(
        { main: main.agent, boxed: boxed.agent },
        { config, adapters: [telegram], owners: { telegram: [OWNER] } },
      );
      const keys: string[] = [];
      board.on("child.spawned", ({ sessionKey }) => keys.push(sessionKey));
      const called: string[] = [];
      board.on("tool.called", ({ tool }) => called.push(tool));
      const spawn = { id: "c2", name: "sessions_spawn", input: { task: "look", agentId: "boxed" } };
      main.standIn.answers(
        { calls: [{ id: "c1", name: "sessions_history", input: { sessionKey: "main" } }] },
        { calls: [spawn] },
        { text: "asked" },
      );
      const isDone = new Promise<void>((done) =>
        board.on("run.finished", ({ sessionKey }) => sessionKey !== ROOM_KEY && done()),
      );
      boxed.standIn.answers({ text: "done" }, { text: "ANNOUNCE_SKIP" });
      await telegram.says("hi", { from: ROOM });
      await isDone;
      const told = ({ requests }: typeof main.standIn) =>
        requests[0]?.tools?.map((tool) => tool.function.name);
      expect(told(main.standIn)).toEqual(MINE);
      expect(told(boxed.standIn)).toEqual(BOXED);
      expect(called).toEqual(["sessions_spawn"]);
      expect(await mounted(board, ROOM_KEY)).toEqual(MINE);
      expect(await mounted(board, String(keys[0]))).toEqual(BOXED);
    },
  );

  it("TOOLS-1 TOOLS-2: /tools names the same list, for a chat, for a subagent's thread and before the first message", async () => {
    const main = spawning(({ signal }) => hangs(signal));
    const board = await aBoard({ config, agents: { main, boxed: main } });
    const shown = async (from = ROOM) => {
      const [line = ""] = (await board.telegram.calls("tools", "", { from }))?.split("\n") ?? [];
      return [...line.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    };
    expect(await shown()).toEqual(MINE);
    await says(board, '{"task":"look","thread":true}');
    expect(await shown()).toEqual(MINE);
    const child = namesOf(tasksOf(board.agents.main)[0]?.tools);
    expect(child).toContain("sessions_spawn");
    expect(child).not.toContain("sessions_send");
    expect(await shown(at("telegram", "group", "-100", "thread-1"))).toEqual(child);
    expect(await shown(at("telegram", "direct", OWNER))).toEqual(without("sessions_history"));
  });
});

/** Two tools that say how their caller stands, bound over a real store, whose session can become anything. */
async function aToolbox() {
  const options = {
    agents: { main: functionAgent(() => "ok") },
    config: { tools: { sandbox: { tools: { deny: ["subagents"] } } } },
    dataDir: aFolder(),
  };
  const basics = createBasics(options);
  const services = createServices(basics, await openStore(options, basics));
  const probe = (name: string) =>
    defineTool(
      { name, description: "", input: toolInput({}), run: async (_, { sandboxed }) => ({ sandboxed }) },
      services.logger,
    );
  const key = mainKey("main", services.names);
  await services.storage.apply([services.sessions.opening(key, "main")]);
  const session = await services.sessions.get(key);
  if (session === undefined) throw new Error("There is no session.");
  const become = (more: object | undefined) =>
    services.storage.apply([
      {
        type: "record",
        table: "session",
        key,
        change: (current) => current && more && { ...current, ...more },
      },
    ]);
  return {
    services,
    session,
    become,
    toolbox: createToolbox(["session_status", "subagents"].map(probe), services),
  };
}

describe("tools that were kept", () => {
  it("TOOLS-1: a host's mounted tools are decided again at each call, by the session's model of now", async () => {
    const board = await aBoard({
      config: { tools: { byProvider: { "open*": { deny: ["sessions_spawn"] } } } },
    });
    await says(board, "hi");
    const tools = await board.tools(ROOM_KEY);
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, model: "openai/gpt-5" });
    const before = everythingIn(board);
    const called: string[] = [];
    board.on("tool.called", ({ tool, status }) => called.push(`${tool} ${status}`));
    const denied = await call(tools, "sessions_spawn", { task: "look" });
    expect(denied).toEqual({
      status: "forbidden",
      code: "TOOL_DENIED",
      stage: "provider",
      setting: 'tools.byProvider["open*"].deny',
      error: expect.stringMatching(/sessions_spawn: tools\.byProvider\["open\*"\]\.deny .*provider.*owner/),
    });
    expect(await call(tools, "agents_list")).toMatchObject({ code: "TOOL_DENIED" });
    expect(everythingIn(board)).toBe(before);
    expect(called).toEqual(["sessions_spawn forbidden", "agents_list forbidden"]);
    expect(await call(tools, "session_status")).toMatchObject({ ok: true });
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, model: null });
    expect(await call(tools, "sessions_spawn", { task: "look" })).toMatchObject({ status: "accepted" });
  });

  it("TOOLS-1: they follow the session to another agent, and have what that one has, sandbox included", async () => {
    const [before, after] = [at("telegram", "group", "-5"), at("telegram", "group", "-1005")];
    const board = await aBoard({
      config: {
        bindings: [{ agentId: "ops", match: { channel: "telegram", peer: { kind: "group", id: "-1005" } } }],
        agents: { list: [{ id: "ops", sandbox: { mode: "all" } }] },
        tools: { sandbox: { tools: { deny: ["sessions_send"] } }, sessions: { visibility: "agent" } },
      },
      agents: { main: () => "ok", ops: () => "ok" },
    });
    await says(board, "hi", before);
    const tools = await board.tools("agent:main:telegram:group:-5");
    expect(await call(tools, "sessions_list")).toMatchObject({ count: 1, visibility: { mode: "agent" } });
    await board.telegram.host.onChatMoved(before, after);
    await board.quiet();
    expect(await call(tools, "sessions_send", { label: "x", message: "hi" })).toMatchObject({
      code: "TOOL_DENIED",
      stage: "sandbox",
      setting: "tools.sandbox.tools.deny",
    });
    expect(await call(tools, "sessions_list")).toMatchObject({
      count: 1,
      sessions: [{ key: "agent:ops:telegram:group:-1005", agentId: "ops" }],
      visibility: { mode: "tree" },
    });
  });

  it("TOOLS-1: they do nothing for a session that was archived since, until it is opened again, and nothing for one that was deleted", async () => {
    const board = await aBoard();
    await says(board, "hi");
    const tools = await board.tools(ROOM_KEY);
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, archived: true });
    const before = everythingIn(board);
    expect(await call(tools, "sessions_spawn", { task: "look" })).toEqual({
      status: "forbidden",
      code: "TOOL_DENIED",
      error: expect.stringMatching(/was archived .*mount them again/),
    });
    expect(await call(await board.tools(ROOM_KEY), "session_status")).toMatchObject({ ok: true });
    expect(everythingIn(board)).toBe(before);
    await says(board, "hi again");
    expect(await call(tools, "session_status")).toMatchObject({ ok: true });
    await board.gateway.call("sessions.delete", { sessionKey: ROOM_KEY });
    const after = everythingIn(board);
    expect(await call(tools, "sessions_spawn", { task: "look" })).toEqual({
      status: "error",
      code: "SESSION_NOT_FOUND",
      error: expect.stringContaining("deleted"),
    });
    expect(everythingIn(board)).toBe(after);
  });

  it("TOOLS-1: in the middle of a run, too, what the session has become counts", async () => {
    const { services, toolbox, session, become } = await aToolbox();
    const run = {
      runId: "run-1",
      callScope: "run-1",
      chain: [],
      byOwner: false,
      heard: () => {},
      soFar: () => [],
      whileWaiting: <T>(work: () => Promise<T>) => work(),
    };
    const tools = await toolbox.boundTo(session, run);
    expect(await call(tools, "session_status")).toEqual({ sandboxed: false });
    await become({ sandboxed: true });
    expect(await call(tools, "session_status")).toEqual({ sandboxed: true });
    expect(await call(tools, "subagents")).toMatchObject({ code: "TOOL_DENIED", stage: "sandbox" });
    await become(undefined);
    expect(await call(tools, "session_status")).toMatchObject({ code: "SESSION_NOT_FOUND" });
    await services.engine.close();
    services.database.close();
  });

  it("TOOLS-1: a store that cannot be asked is an answer, and the agent does not learn where it lies", async () => {
    const { services, toolbox, session } = await aToolbox();
    const tools = await toolbox.boundTo(session);
    await services.engine.close();
    services.database.close();
    const answer = await call(tools, "session_status");
    expect(answer).toMatchObject({
      status: "error",
      code: expect.stringMatching(/^(CLOSED|INTERNAL|STORE_)/),
    });
    expect(JSON.stringify(answer)).not.toMatch(/sqlite|\/tmp/);
  });

  it("TOOLS-1: an agent that keeps the tools of an earlier run does nothing with them", async () => {
    const kept: BoundTool[] = [];
    const answers: Answer[] = [];
    const board = await aBoard({
      agents: {
        async main({ request }) {
          if (kept.length > 0) answers.push(await call(kept, "sessions_spawn", { task: "look" }));
          kept.push(...request.tools);
          return "ok";
        },
      },
    });
    await says(board, "hi");
    await says(board, "hi again");
    expect(answers).toMatchObject([{ status: "error", code: "CLOSED" }]);
    expect(tasksOf(board.agents.main)).toEqual([]);
  });

  it("TOOLS-1: the host program itself has all that it needs, whatever is denied to sessions", async () => {
    const board = await aBoard({ config: { tools: { deny: ["*"] } } });
    await says(board, "hi");
    expect(await mounted(board, ROOM_KEY)).toEqual([]);
    expect(await board.gateway.call("sessions.list", {})).toMatchObject({ count: 1 });
    expect(await board.gateway.call("chat.history", { sessionKey: ROOM_KEY })).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant" }],
    });
  });
});

describe("eight tools", () => {
  /** Whatever a model may add to say who it is, or where something is to go. */
  const HOSTILE = [
    "channel",
    "to",
    "threadId",
    "thread_id",
    "replyTo",
    "reply_to",
    "transport",
    "target",
    "accountId",
    "agentSessionKey",
    "callerSessionKey",
    "requesterSessionKey",
    "sessionKeyOfCaller",
    "spawnedBy",
    "recipient",
    "from",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
  ];
  /** A call that would be carried out, and what a wrong one is pointed to. */
  const TOOLS: Readonly<Record<string, { readonly input: object; readonly way: RegExp }>> = {
    sessions_list: { input: {}, way: /kinds, label, agentId or search/ },
    sessions_history: { input: { sessionKey: "current" }, way: /with sessionKey/ },
    sessions_send: { input: { agentId: "ops", message: "hi" }, way: /sessionKey, label or agentId/ },
    sessions_spawn: { input: { task: "look" }, way: /announce says .*thread: true/ },
    sessions_yield: { input: {}, way: /by itself/ },
    subagents: { input: {}, way: /with target/ },
    session_status: { input: { model: "m2" }, way: /with sessionKey/ },
    agents_list: { input: {}, way: /without parameters/ },
  };

  it("TOOLS-3: there are eight, their schemas are closed, and no parameter is the caller, a channel or a recipient", async () => {
    const board = await aBoard();
    await says(board, "hi");
    const tools = await board.tools(ROOM_KEY);
    expect(namesOf(tools)).toEqual(EVERY);
    expect(Object.keys(TOOLS)).toEqual(EVERY);
    for (const { name, inputJsonSchema } of tools) {
      expect(inputJsonSchema, name).toMatchObject({ type: "object", additionalProperties: false });
      // The shape was looked at in the line before.
      const { properties = {} } = inputJsonSchema as { readonly properties?: object };
      const suspicious = Object.keys(properties).filter((parameter) => HOSTILE.includes(parameter));
      // One of the caller's own subagents, and of nobody else's.
      expect(suspicious, name).toEqual(name === "subagents" ? ["target"] : []);
      expect(JSON.stringify(inputJsonSchema).match(/"properties"/g)?.length ?? 0, name).toBeLessThan(2);
    }
  });

  const cases = EVERY.flatMap((tool) =>
    HOSTILE.filter((key) => tool !== "subagents" || key !== "target").map((key) => ({ tool, key })),
  );

  it("TOOLS-3: each of them refuses each such key, says how it is done instead, and does nothing", async () => {
    const board = await aBoard({ agents: { main: () => "ok", ops: () => "ok" } });
    await says(board, "hi");
    const before = everythingIn(board);
    const tools = await board.tools(ROOM_KEY);
    for (const { tool, key } of cases) {
      for (const value of ["agent:ops:main", { sessionKey: "agent:ops:main" }, null]) {
        // As a provider hands it over: `__proto__` is a key like any other in JSON.
        const written = JSON.stringify({ ...TOOLS[tool]?.input, "§": value }).replace("§", key);
        const { status, code, error } = await call(tools, tool, JSON.parse(written));
        expect([status, code], `${tool} ${written}`).toEqual(["error", "INPUT_INVALID"]);
        expect(error, `${tool} ${key}`).toMatch(TOOLS[tool]?.way ?? /^$/);
        expect(String(error).startsWith(`"${key}" is not a parameter (`), String(error)).toBe(true);
        expect(error).toMatch(/; parameters: (none|[\w, ]+)$/);
        expect(error).not.toMatch(/native code|\[object/);
      }
    }
    expect(everythingIn(board)).toBe(before);
  });

  it("TOOLS-3: without the key the same calls are carried out", async () => {
    const board = await aBoard({
      config: { tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true } } },
      agents: { main: () => "ok", ops: () => "ok" },
    });
    await says(board, "hi");
    for (const tool of without("sessions_yield")) {
      expect(["error", "forbidden"], tool).not.toContain(
        (await use(board, ROOM_KEY, tool, TOOLS[tool]?.input)).status,
      );
    }
  });

  it("TOOLS-3: a wrong call is told everything at once: values, keys and what there is", async () => {
    const board = await aBoard();
    await says(board, "hi");
    const { error } = await use(board, ROOM_KEY, "sessions_send", {
      to: "x",
      threadId: 1,
      timeoutSeconds: "no",
    });
    expect(error).toMatch(
      /^message: .*timeoutSeconds: .*"to" is not a parameter \(.*"threadId" is not a parameter \(.*parameters: sessionKey, label, agentId, message, timeoutSeconds, idempotencyKey$/,
    );
  });

  it("TOOLS-3: no input at all, nothing that is an object and nothing that is JSON throws or passes for the caller", async () => {
    const board = await aBoard();
    await says(board, "hi");
    const tools = await board.tools(ROOM_KEY);
    const inputs: readonly unknown[] = ["agent:ops:main", 7, true, [], [{}], () => ({}), Symbol("x"), 1n];
    for (const tool of tools) {
      for (const input of inputs) {
        const { value } = await tool.call(input, { callId: "odd", signal: NEVER });
        expect(value, tool.name).toMatchObject({ status: "error", code: "INPUT_INVALID" });
      }
    }
  });
});
