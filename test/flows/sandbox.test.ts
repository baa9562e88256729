import { describe, expect, it } from "vitest";
import { type ScriptedAgent, scriptedAgent } from "../../src/agents/scripted-agent.ts";
import type { ConfigInput } from "../../src/core/config.ts";
import type { AgentRunner, RunRequest } from "../../src/core/ports/run.ts";
import { textOf } from "../../src/core/transcript/prompt.ts";
import { aBoard, aFolder, type Board, type Script, use } from "../fakes/a-board.ts";
import { aBareBoard, everythingIn, tasksOf, withAgents } from "../fakes/a-spawner.ts";
import { at } from "../fakes/memory-adapter.ts";
import { leaveBehind, sessionWrite, storedSession } from "../fakes/store-files.ts";

const MAIN = "agent:main:main";
const confines = { supportsSandbox: true };

type Mode = "off" | "non-main" | "all";

function modes(of: Readonly<Record<string, Mode>>): NonNullable<ConfigInput["agents"]>["list"] {
  return Object.entries(of).map(([id, mode]) => ({
    id,
    sandbox: { mode },
    subagents: { allowAgents: ["*"] },
  }));
}

/** Whether the newest run of each session was sandboxed. */
function sandboxedRuns(...agents: readonly (ScriptedAgent | undefined)[]): Readonly<Record<string, boolean>> {
  const turns = agents.flatMap((agent) => agent?.turns ?? []);
  return Object.fromEntries(turns.map(({ session, sandboxed }) => [session.key, sandboxed]));
}

describe("who is sandboxed", () => {
  /** Somebody speaks in every kind of session. */
  async function speaks(board: Board): Promise<void> {
    await board.telegram.says("hi");
    await board.telegram.says("hi", { from: at("telegram", "group", "-100") });
    await board.telegram.says("hi", { from: { ...at("telegram", "group", "-100"), threadId: "7" } });
    await board.discord.says("hi", { from: at("discord", "channel", "100") });
    await board.discord.says("hi", { from: { ...at("discord", "channel", "100"), threadId: "200" } });
    for (const sessionKey of [
      "cron:nightly",
      "hook:1",
      "node-pi",
      "agent:ops:main",
      "agent:ops:cron:nightly",
    ])
      await board.gateway.call("agent", { sessionKey, message: "hi" });
    await board.quiet();
  }

  const others = [
    "agent:main:telegram:group:-100",
    "agent:main:telegram:group:-100:topic:7",
    "agent:main:discord:channel:100",
    "agent:main:discord:channel:100:thread:200",
    "agent:main:cron:nightly",
    "agent:main:hook:1",
    "agent:main:node-pi",
  ];

  it.each<[Mode, boolean, boolean]>([
    ["off", false, false],
    ["non-main", false, true],
    ["all", true, true],
  ])(
    "SAND-1: mode %s sandboxes the main session: %s, all others of that agent: %s, other agents' never",
    async (mode, isMain, isOther) => {
      const board = await aBoard({
        agents: { main: () => "ok", ops: () => "ok" },
        config: { agents: { list: modes({ main: mode }) } },
      });
      await speaks(board);
      expect(sandboxedRuns(board.agents.main, board.agents.ops)).toEqual({
        [MAIN]: isMain,
        ...Object.fromEntries(others.map((key) => [key, isOther])),
        "agent:ops:main": false,
        "agent:ops:cron:nightly": false,
      });
    },
  );

  it.each<[string, ConfigInput["session"], Readonly<Record<string, boolean>>]>([
    ["a main key of its own", { mainKey: "hq" }, { "agent:main:hq": false, "agent:main:cron:nightly": true }],
    ["one session for everything", { scope: "global" }, { global: false, "agent:main:cron:nightly": true }],
    [
      "a session per person",
      { dmScope: "per-channel-peer" },
      { "agent:main:telegram:direct:1001": true, "agent:main:cron:nightly": true },
    ],
  ])("SAND-1: with %s non-main means every session but that one", async (_, session, expected) => {
    const board = await aBoard({
      config: { session: session ?? {}, agents: { list: modes({ main: "non-main" }) } },
    });
    await board.telegram.says("hi");
    await board.gateway.call("agent", { sessionKey: "cron:nightly", message: "hi" });
    await board.quiet();
    expect(sandboxedRuns(board.agents.main)).toEqual(expected);
  });

  it("SAND-1: children of a sandboxed session are sandboxed at any depth, in whichever agent, and their entries say so", async () => {
    const agents = ["main", "ops"];
    const deeper: Script = async ({ request, call }) => {
      const agentId = agents[(request.depth + 1) % 2];
      if (request.trigger === "spawn" && request.depth < 5)
        await call("sessions_spawn", { task: "deeper", agentId });
      return "NO_REPLY";
    };
    const config: ConfigInput = {
      agents: {
        defaults: { subagents: { maxSpawnDepth: 5, allowAgents: ["*"] } },
        list: [{ id: "main", sandbox: { mode: "all" } }],
      },
    };
    const { agents: runners, spawn } = await withAgents({ main: confines, ops: confines }, config, deeper);
    expect(await spawn({ agentId: "ops" })).toMatchObject({ status: "accepted" });
    const tasks = [...tasksOf(runners.main), ...tasksOf(runners.ops)];
    expect(
      tasks
        .map(({ depth, session, sandboxed }) => [depth, session.agentId, sandboxed, session.sandboxed])
        .sort(),
    ).toEqual([
      [1, "ops", true, true],
      [2, "main", true, true],
      [3, "ops", true, true],
      [4, "main", true, true],
      [5, "ops", true, true],
    ]);
  });
});

describe("when the mode changes", () => {
  const child = "agent:ops:subagent:c41d";
  const grandchild = "agent:ops:subagent:c41d2";

  /** A restart with another config on the same files. */
  async function restarted(dataDir: string, config: ConfigInput) {
    const board = await aBoard({ dataDir, config, agents: { main: () => "ok", ops: () => "ok" } });
    const runs = async (sessionKey: string) => {
      await board.gateway.call("agent", { sessionKey, message: "hi" });
      await board.quiet();
      return sandboxedRuns(board.agents.main, board.agents.ops)[sessionKey];
    };
    return { board, runs };
  }

  async function aFamily(over: {
    readonly sandboxed?: true;
    readonly archivedAtMs?: number;
  }): Promise<string> {
    const dataDir = aFolder();
    const main = storedSession(1, MAIN);
    const first = storedSession(2, child, { spawnedBy: main.key, spawnDepth: 1, ...over });
    const second = storedSession(3, grandchild, { spawnedBy: first.key, spawnDepth: 2, ...over });
    await leaveBehind(dataDir, [main, first, second].map(sessionWrite));
    return dataDir;
  }

  it("SAND-1 VIS-2: a child stays sandboxed when the mode is set to off, after a reset and out of the archive too; its parent does not", async () => {
    const config: ConfigInput = { agents: { list: modes({ main: "off" }) } };
    const { board, runs } = await restarted(await aFamily({ sandboxed: true, archivedAtMs: 5 }), config);
    expect([await runs(MAIN), await runs(child), await runs(grandchild)]).toEqual([false, true, true]);
    await board.gateway.call("sessions.reset", { sessionKey: child });
    await board.gateway.call("sessions.patch", { sessionKey: child, archived: false });
    expect(await runs(child)).toBe(true);
  });

  it("SAND-1: what was spawned before the mode was set is sandboxed with its parent from then on", async () => {
    const dataDir = await aFamily({});
    const { runs } = await restarted(dataDir, { agents: { list: modes({ main: "all" }) } });
    expect([await runs(MAIN), await runs(child)]).toEqual([true, true]);
  });

  it("VIS-2: whoever is sandboxed by its record alone is clamped like every other, whatever is opened", async () => {
    const tools: ConfigInput["tools"] = {
      profile: "full",
      sessions: { visibility: "all" },
      agentToAgent: { enabled: true },
      subagents: { tools: { alsoAllow: ["group:sessions"] } },
    };
    const { board } = await restarted(await aFamily({ sandboxed: true }), { tools });
    const { sessions, visibility } = await use(board, child, "sessions_list");
    expect(sessions).toMatchObject([{ key: grandchild }, { key: child }]);
    expect(visibility).toMatchObject({
      mode: "tree",
      warning: expect.stringMatching(/sandboxed.*it spawned/),
    });
    expect(await use(board, child, "sessions_history", { sessionKey: MAIN })).toMatchObject({
      code: "NOT_VISIBLE",
    });
    expect(await use(board, MAIN, "sessions_history", { sessionKey: child })).not.toHaveProperty("code");
  });
});

describe("a sandbox that is asked for", () => {
  it("SAND-1: require makes a child that is confined and clamped, whose parent is neither", async () => {
    const answers: object[] = [];
    const script: Script = async ({ request, call }) => {
      if (request.trigger !== "spawn") return "ok";
      answers.push(await call("sessions_history", { sessionKey: MAIN }), await call("sessions_list"));
      return "done";
    };
    const tools = {
      sessions: { visibility: "all" as const },
      subagents: { tools: { alsoAllow: ["group:sessions"] } },
    };
    const { agents, spawn } = await withAgents({ main: confines }, { tools }, script);
    expect(await spawn({ sandbox: "require" })).toMatchObject({ status: "accepted" });
    expect(tasksOf(agents.main)).toMatchObject([{ sandboxed: true, session: { sandboxed: true } }]);
    expect(answers).toMatchObject([{ code: "NOT_VISIBLE" }, { count: 1, visibility: { mode: "tree" } }]);
  });

  const traits: Readonly<Record<string, Pick<AgentRunner, "supportsSandbox">>> = {
    main: confines,
    ops: {},
    cipher: { supportsSandbox: false },
  };

  it.each<[string, object]>([
    ["an agent whose runner says nothing", { agentId: "ops" }],
    ["an agent whose runner says that it does not confine", { agentId: "cipher" }],
    ["a harness that does not confine", { runtime: "acp" }],
  ])("SAND-1: require with %s is SANDBOX_UNAVAILABLE and creates nothing", async (_, input) => {
    const agents = Object.fromEntries(
      Object.entries(traits).map(([id, some]) => [id, scriptedAgent(() => "ok", some)]),
    );
    const config = { agents: { list: modes({ main: "off" }) } };
    const board = await aBareBoard(agents, { config, acp: scriptedAgent(() => "ok") });
    await board.gateway.call("agent", { sessionKey: MAIN, message: "hi" });
    await board.settle();
    const before = everythingIn(board);
    const asked = { task: "look", sandbox: "require", ...input };
    expect(await use(board, MAIN, "sessions_spawn", asked)).toMatchObject({
      status: "forbidden",
      code: "SANDBOX_UNAVAILABLE",
      error: expect.stringContaining("nothing was spawned"),
    });
    expect(everythingIn(board)).toBe(before);
  });

  it("SAND-1: whoever is confined cannot leave through a harness that does not confine", async () => {
    const config = { agents: { list: modes({ main: "all" }) } };
    const board = await aBareBoard(
      { main: scriptedAgent(() => "ok", confines) },
      { config, acp: scriptedAgent(() => "ok") },
    );
    await board.gateway.call("agent", { sessionKey: MAIN, message: "hi" });
    await board.settle();
    const asked = { task: "look", runtime: "acp" };
    expect(await use(board, MAIN, "sessions_spawn", asked)).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
  });
});

describe("what the owner lifts", () => {
  const lifted = (to: "spawned" | "all"): ConfigInput => ({
    tools: { sessions: { visibility: "agent" } },
    agents: { defaults: { sandbox: { sessionToolsVisibility: to } }, list: modes({ main: "all" }) },
  });

  it.each<["spawned" | "all", number]>([
    ["spawned", 0],
    ["all", 1],
  ])('VIS-2: sessionToolsVisibility "%s" is warned of %i times at start', async (to, times) => {
    const board = await aBoard({ config: lifted(to) });
    const warnings = board.complaints.filter((line) => line.includes("sessionToolsVisibility"));
    expect(warnings).toHaveLength(times);
  });

  it("VIS-2: with all a sandboxed caller has the configured level, no more, and refusals that explain themselves", async () => {
    const board = await aBoard({ agents: { main: () => "ok", ops: () => "ok" }, config: lifted("all") });
    for (const sessionKey of [MAIN, "cron:nightly", "agent:ops:main"])
      await board.gateway.call("agent", { sessionKey, message: "hi" });
    await board.quiet();
    const list = await use(board, MAIN, "sessions_list");
    expect(list).toMatchObject({ count: 2, visibility: { mode: "agent" } });
    const refused = await use(board, MAIN, "sessions_history", { sessionKey: "agent:ops:main" });
    expect(refused.error).toContain('tools.sessions.visibility: "all"');
  });
});

describe("where files lie", () => {
  const everything: ConfigInput["tools"] = {
    profile: "full",
    sessions: { visibility: "agent" },
    subagents: { tools: { alsoAllow: ["group:sessions"] } },
  };
  const ROOM = "agent:main:telegram:group:-100";
  const CHILD = "agent:main:subagent:c41d";

  /** Everything that tools tell this caller of itself and of all others. */
  async function toldTo(
    caller: string,
    mode: Mode,
  ): Promise<{ readonly text: string; readonly dataDir: string }> {
    const dataDir = aFolder();
    const main = storedSession(1, MAIN);
    const child = storedSession(3, CHILD, { spawnedBy: main.key, spawnDepth: 1 });
    await leaveBehind(dataDir, [main, storedSession(2, ROOM), child].map(sessionWrite));
    const sandbox = { sessionToolsVisibility: "all" as const };
    const config = { tools: everything, agents: { defaults: { sandbox }, list: modes({ main: mode }) } };
    const board = await aBoard({ dataDir, config });
    for (const sessionKey of [MAIN, ROOM, CHILD])
      await board.gateway.call("agent", { sessionKey, message: "hi" });
    await board.quiet();
    const answers = [
      await use(board, caller, "sessions_list", {
        messageLimit: 5,
        includeDerivedTitles: true,
        includeLastMessage: true,
      }),
      await use(board, caller, "subagents"),
      await use(board, caller, "agents_list"),
    ];
    for (const sessionKey of [MAIN, ROOM, CHILD]) {
      answers.push(await use(board, caller, "sessions_history", { sessionKey, includeTools: true }));
      answers.push(await use(board, caller, "session_status", { sessionKey }));
      answers.push(
        await use(board, caller, "sessions_send", { sessionKey, message: "hi", timeoutSeconds: 0 }),
      );
    }
    return { text: JSON.stringify(answers), dataDir };
  }

  it.each<[string, Mode, boolean]>([
    [MAIN, "off", true],
    [ROOM, "off", true],
    [MAIN, "non-main", true],
    [ROOM, "non-main", false],
    [MAIN, "all", false],
    [CHILD, "off", false],
    [CHILD, "all", false],
  ])("SAND-1 STORE-1: %s with mode %s is told where transcripts lie: %s", async (caller, mode, isTold) => {
    const { text, dataDir } = await toldTo(caller, mode);
    expect(text.includes('"transcriptPath"')).toBe(isTold);
    expect(text.includes(dataDir)).toBe(isTold);
  });

  /** The events that `main` and its child, who has a child too, read of their children. */
  async function events(mode: Mode): Promise<Readonly<Record<number, string>>> {
    const script: Script = async ({ request, call }) => {
      if (request.trigger === "spawn" && request.depth === 1) {
        await call("sessions_spawn", { task: "deeper" });
        await call("sessions_yield");
      }
      return "NO_REPLY";
    };
    const config = { agents: { defaults: { subagents: { maxSpawnDepth: 2 } }, list: modes({ main: mode }) } };
    const { agents, spawn } = await withAgents({ main: {} }, config, script);
    await spawn({ announce: "requester" });
    const turns = (agents.main?.turns ?? []).filter(({ trigger }: RunRequest) => trigger === "completion");
    return Object.fromEntries(turns.map(({ depth, input }) => [depth, textOf(input)]));
  }

  it.each<[Mode, boolean]>([
    ["off", true],
    ["non-main", true],
    ["all", false],
  ])(
    "SAND-1: with mode %s the event of an ended child tells a main session the path: %s; a subagent never",
    async (mode, isTold) => {
      const { 0: toMain = "", 1: toChild = "" } = await events(mode);
      expect(toMain).toMatch(/Stats: /);
      expect(toChild).toMatch(/Stats: /);
      expect(/transcript \S+\.jsonl/.test(toMain)).toBe(isTold);
      expect(toChild).not.toMatch(/\.jsonl/);
    },
  );

  it("SAND-1: neither a copy of its parent's transcript nor the transcript itself tells a child where files lie", async () => {
    const script: Script = ({ request }) => (request.trigger === "completion" ? "noted" : "done");
    const { board, agents, spawn } = await withAgents({ main: {} }, { tools: everything }, script);
    await spawn({ announce: "requester" });
    const { childSessionKey } = await spawn({ announce: "none", context: "fork" });
    expect(JSON.stringify(await use(board, MAIN, "sessions_history", { sessionKey: "main" }))).toContain(
      ".jsonl",
    );
    expect(JSON.stringify(tasksOf(agents.main).at(-1)?.history)).not.toContain(".jsonl");
    for (const answer of [
      await use(board, String(childSessionKey), "sessions_history", { sessionKey: "current" }),
      await use(board, String(childSessionKey), "sessions_history", { sessionKey: "main" }),
      await use(board, String(childSessionKey), "sessions_list", {
        messageLimit: 20,
        includeLastMessage: true,
      }),
    ]) {
      expect(JSON.stringify(answer)).toContain("Stats: runtime");
      expect(JSON.stringify(answer)).not.toContain(".jsonl");
    }
  });
});
