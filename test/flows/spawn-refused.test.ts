import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../src/core/config.ts";
import { aBoard } from "../fakes/a-board.ts";
import { childrenOf } from "../fakes/a-family.ts";
import { everythingIn, hangs, spawner, tasksOf, withAgents } from "../fakes/a-spawner.ts";
import { fileOf } from "../fakes/store-files.ts";

const MAIN = "agent:main:main";
const limited = (subagents: object): ConfigInput => ({ agents: { defaults: { subagents } } });

describe("calls that cannot be", () => {
  it.each<[string, RegExp]>([
    ["channel", /the requester of a subagent, has its chat/],
    ["to", /the requester of a subagent, has its chat/],
    ["threadId", /part of the session key/],
    ["thread_id", /part of the session key/],
    ["replyTo", /bound to the run/],
    ["reply_to", /bound to the run/],
    ["transport", /decides where texts go/],
    ["target", /goes to whoever spawned it/],
    ["timeoutSeconds", /runTimeoutSeconds/],
    ["sessionKey", /parameters: task, label/],
  ])("SPAWN-2: the key %s is refused with the place where that is decided", async (key, says) => {
    const { board, spawn } = await withAgents({ main: {} });
    const before = everythingIn(board);
    const answer = await spawn({ [key]: "telegram" });
    expect(answer).toMatchObject({ status: "error", code: "INPUT_INVALID" });
    expect(answer.error).toMatch(new RegExp(`"${key}" is not a parameter`));
    expect(answer.error).toMatch(says);
    expect(everythingIn(board)).toBe(before);
  });

  it.each<[string, unknown]>([
    ["task", undefined],
    ["task", ""],
    ["task", " \n\t "],
    ["task", 7],
    ["label", 7],
    ["runTimeoutSeconds", "60"],
    ["runTimeoutSeconds", null],
    ["runTimeoutSeconds", Number.NaN],
    ["cleanup", "archive"],
    ["runtime", "docker"],
    ["thread", "yes"],
    ["sandbox", "off"],
    ["context", "all"],
    ["announce", "everybody"],
    ["idempotencyKey", ""],
  ])("SPAWN-2: %s: %j is an error that names it and leaves nothing behind", async (name, value) => {
    const { board, spawn } = await withAgents({ main: {} });
    const before = everythingIn(board);
    const answer = await spawn({ [name]: value });
    expect(answer).toMatchObject({ status: "error", code: "INPUT_INVALID" });
    expect(answer.error).toMatch(new RegExp(`^${name}: `));
    expect(everythingIn(board)).toBe(before);
  });

  it("SPAWN-2: everything that is wrong is said at once", async () => {
    const { spawn } = await withAgents({ main: {} });
    const { error } = await spawn({ task: "", cleanup: "x", to: "1" });
    expect(error).toMatch(/task: .*cleanup: .*"to" is not a parameter/s);
  });

  it.each([
    [12.9, 12],
    [-5, 0],
    [0.5, 0],
    [86_400, 86_400],
    [1e12, 86_400],
  ])("SPAWN-2 SPAWN-9: runTimeoutSeconds %d means %d", async (written, meant) => {
    const { board, spawn } = await withAgents({ main: {} });
    expect(await spawn({ runTimeoutSeconds: written })).toMatchObject({ status: "accepted" });
    expect(childrenOf(board)[0]?.timeoutSeconds).toBe(meant);
  });

  it.each<[string, object, ConfigInput, string, string]>([
    ["a session at its depth", {}, limited({ maxSpawnDepth: 1 }), "forbidden", "SPAWN_DEPTH"],
    [
      "one child too many",
      {},
      limited({ maxSpawnDepth: 2, maxChildrenPerAgent: 1 }),
      "forbidden",
      "SPAWN_LIMIT",
    ],
    ["one too many of all", {}, limited({ maxSpawnDepth: 2, maxOpen: 1 }), "forbidden", "SPAWN_LIMIT"],
    [
      "one too many in the hour",
      {},
      limited({ maxSpawnDepth: 2, maxSpawnsPerHour: 1 }),
      "forbidden",
      "SPAWN_BUDGET",
    ],
    [
      "an agent that is not allowed",
      { agentId: "ops" },
      limited({ maxSpawnDepth: 2 }),
      "forbidden",
      "AGENT_NOT_ALLOWED",
    ],
    [
      "a sandbox that is none",
      { sandbox: "require" },
      limited({ maxSpawnDepth: 2 }),
      "forbidden",
      "SANDBOX_UNAVAILABLE",
    ],
    [
      "an agent that is not there",
      { agentId: "ghost" },
      limited({ maxSpawnDepth: 2 }),
      "error",
      "AGENT_UNKNOWN",
    ],
    [
      "a harness that is not there",
      { runtime: "acp" },
      limited({ maxSpawnDepth: 2 }),
      "error",
      "ACP_UNAVAILABLE",
    ],
    ["a thread of no chat", { thread: true }, limited({ maxSpawnDepth: 2 }), "error", "THREAD_UNAVAILABLE"],
  ])("SPAWN-2 SPAWN-6: %s is told apart", async (what, input, config, status, code) => {
    const tools: ConfigInput = { tools: { subagents: { tools: { alsoAllow: ["sessions_spawn"] } } } };
    const { board, spawn } = await withAgents(
      { main: {}, ops: {} },
      { ...config, ...tools },
      ({ request, signal }) => (request.depth > 0 ? hangs(signal) : "ok"),
    );
    const { childSessionKey } = await spawn({});
    const before = everythingIn(board);
    // The place of the only child is taken, and it is at its depth itself.
    const from = what.includes("depth") ? String(childSessionKey) : MAIN;
    const isAboutPlaces = /too many/.test(what);
    const answer = await spawn(isAboutPlaces ? {} : input, from);
    expect(answer).toEqual({ status, code, error: expect.stringMatching(/\.$/) });
    expect(everythingIn(board)).toBe(before);
  });
});

describe("the sandbox of a child", () => {
  const confines = { supportsSandbox: true };
  const sandboxed = (mode: "all" | "non-main", id = "main"): ConfigInput => ({
    agents: {
      list: [{ id, sandbox: { mode }, ...(id === "main" && { subagents: { allowAgents: ["*"] } }) }],
    },
  });

  it("SPAWN-2: require is one, in its entry and for its runner", async () => {
    const { agents, spawn } = await withAgents({ main: confines });
    expect(await spawn({ sandbox: "require" })).toMatchObject({ status: "accepted" });
    expect(tasksOf(agents.main)[0]).toMatchObject({ sandboxed: true, session: { sandboxed: true } });
  });

  it("SPAWN-2: inherit of somebody who is not confined is none", async () => {
    const { agents, spawn } = await withAgents({ main: confines });
    await spawn({ sandbox: "inherit" });
    expect(tasksOf(agents.main)[0]?.sandboxed).toBe(false);
    expect(tasksOf(agents.main)[0]?.session).not.toHaveProperty("sandboxed");
  });

  it("SPAWN-2: require where the runner does not confine is refused and leaves nothing behind", async () => {
    const { board, spawn } = await withAgents({ main: {} });
    const before = everythingIn(board);
    expect(await spawn({ sandbox: "require" })).toEqual({
      status: "forbidden",
      code: "SANDBOX_UNAVAILABLE",
      error: expect.stringMatching(/"main".*supportsSandbox.*nothing was spawned/),
    });
    expect(everythingIn(board)).toBe(before);
  });

  it("SPAWN-2: who is confined spawns only who is confined, of whichever agent", async () => {
    const { board, agents, spawn } = await withAgents(
      { main: confines, ops: confines, cipher: {} },
      sandboxed("all"),
    );
    await spawn({});
    await spawn({ agentId: "ops" });
    expect(tasksOf(agents.main)[0]).toMatchObject({ sandboxed: true, session: { sandboxed: true } });
    expect(tasksOf(agents.ops)[0]).toMatchObject({ sandboxed: true, session: { sandboxed: true } });
    const before = everythingIn(board);
    expect(await spawn({ agentId: "cipher" })).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    expect(everythingIn(board)).toBe(before);
  });

  it("SPAWN-2: the sandbox goes down to the grandchildren", async () => {
    const { agents, spawn } = await withAgents(
      { main: confines },
      limited({ maxSpawnDepth: 2 }),
      async ({ request, call }) => {
        if (request.trigger === "spawn" && request.depth === 1)
          await call("sessions_spawn", { task: "deeper" });
        return "ok";
      },
    );
    await spawn({ sandbox: "require" });
    expect(tasksOf(agents.main).map(({ depth, sandboxed }) => [depth, sandboxed])).toEqual([
      [1, true],
      [2, true],
    ]);
  });

  it("SPAWN-2: with mode non-main the child of a free main session is confined by its own key", async () => {
    const { agents, spawn } = await withAgents({ main: confines }, sandboxed("non-main"));
    await spawn({});
    expect(tasksOf(agents.main)[0]?.sandboxed).toBe(true);
  });
});

describe("cleanup of a child", () => {
  it.each([
    ["keep", 1],
    ["delete", 0],
  ])("SPAWN-2: cleanup %s leaves %i session(s) when its end has been told", async (cleanup, left) => {
    const { script } = spawner();
    const board = await aBoard({ agents: { main: script } });
    await board.telegram.says(JSON.stringify({ task: "look", cleanup }));
    await board.quiet();
    const { sessions } = await board.gateway.call("sessions.list", { search: "subagent" });
    expect(sessions).toHaveLength(left);
    const { sessionId } = tasksOf(board.agents.main)[0]?.session ?? {};
    const turns = fileOf(board.dataDir)
      .prepare("SELECT key FROM kv WHERE key LIKE ?")
      .all(`turn/${sessionId}/%`);
    expect(turns.length > 0).toBe(left > 0);
  });
});
