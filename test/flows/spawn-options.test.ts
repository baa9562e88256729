import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../src/core/config.ts";
import { use } from "../fakes/a-board.ts";
import { everythingIn, tasksOf, withAgents } from "../fakes/a-spawner.ts";

const MAIN = "agent:main:main";
const OPS_CHILD = expect.stringMatching(/^agent:ops:subagent:/);

describe("the agent of a child", () => {
  const TWO = { main: {}, ops: {}, cipher: {} };
  const lists = (own?: string[], general?: string[]): ConfigInput => ({
    agents: {
      defaults: { subagents: { ...(general && { allowAgents: general }) } },
      list: [{ id: "main", ...(own && { subagents: { allowAgents: own } }) }],
    },
  });

  it("SPAWN-3: is the requester's own, and another one where that is allowed, however it is written", async () => {
    const { spawn, agents } = await withAgents(TWO, lists(["ops"]));
    expect(await spawn({})).toMatchObject({
      childSessionKey: expect.stringMatching(/^agent:main:subagent:/),
    });
    expect(await spawn({ agentId: "OPS" })).toMatchObject({ status: "accepted", childSessionKey: OPS_CHILD });
    expect(tasksOf(agents.main)).toHaveLength(1);
    expect(tasksOf(agents.ops)).toHaveLength(1);
  });

  it.each<[string, string, string, string]>([
    ["one that is not in the list", "cipher", "forbidden", "AGENT_NOT_ALLOWED"],
    ["one that does not exist", "ghost", "error", "AGENT_UNKNOWN"],
    ["no id at all", "../main", "error", "INPUT_INVALID"],
    ["spaces", " ops ", "error", "INPUT_INVALID"],
    ["nothing", "", "error", "INPUT_INVALID"],
    ["a pattern", "*", "error", "INPUT_INVALID"],
    ["65 letters", "a".repeat(65), "error", "INPUT_INVALID"],
    ["letters that only look alike", "оps", "error", "INPUT_INVALID"],
  ])("SPAWN-3: %s is refused and leaves nothing behind", async (_, agentId, status, code) => {
    const { board, spawn } = await withAgents(TWO, lists(["ops"]));
    const before = everythingIn(board);
    expect(await spawn({ agentId })).toMatchObject({ status, code });
    expect(everythingIn(board)).toBe(before);
  });

  it.each<[string, ConfigInput]>([
    ["without a list", lists()],
    ["with a list", lists(["cipher"])],
    ["with a general list", lists(undefined, ["ops"])],
    ["with any agent", lists(["*"])],
  ])("AGENTS-1 SPAWN-3: agents_list shows %s what sessions_spawn accepts", async (_, config) => {
    const { board, spawn } = await withAgents(TWO, config);
    const { agents: shown, requester, allowAny } = await use(board, MAIN, "agents_list");
    const ids = (shown as { id: string }[]).map(({ id }) => id);
    expect(requester).toBe("main");
    expect(ids[0]).toBe("main");
    expect(allowAny).toBe(config.agents?.list?.[0]?.subagents?.allowAgents?.[0] === "*");
    for (const agentId of ["main", "ops", "cipher", "ghost"]) {
      const { status } = await spawn({ agentId });
      expect([agentId, status === "accepted"]).toEqual([agentId, ids.includes(agentId)]);
    }
  });

  it("AGENTS-1: agents_list tells the models of each agent, and takes no parameters", async () => {
    const { board } = await withAgents(
      { main: { models: ["m/large"] }, ops: {} },
      { agents: { list: [{ id: "main", model: "m/large", subagents: { allowAgents: ["*"] } }] } },
    );
    expect(await use(board, MAIN, "agents_list")).toEqual({
      requester: "main",
      allowAny: true,
      agents: [
        { id: "main", configured: true, model: "m/large", models: ["m/large"] },
        { id: "ops", configured: true },
      ],
    });
    expect(await use(board, MAIN, "agents_list", { agentId: "ops" })).toMatchObject({
      code: "INPUT_INVALID",
    });
  });
});

describe("model and thinking of a child", () => {
  const MODELS = { main: { models: ["call", "agents", "general", "caller", "own"] }, ops: {} };
  const settings = (levels: { agents?: boolean; general?: boolean }): ConfigInput => ({
    agents: {
      defaults: { subagents: levels.general ? { model: "general", thinking: "low" } : {} },
      list: [
        {
          id: "main",
          model: "own",
          subagents: {
            allowAgents: ["*"],
            ...(levels.agents ? { model: "agents", thinking: "medium" } : {}),
          },
        },
        { id: "ops", model: "its" },
      ],
    },
  });

  it.each<[string, object, object, boolean, string, string | undefined]>([
    [
      "the call, before all",
      { model: "call", thinking: "high" },
      { agents: true, general: true },
      true,
      "call",
      "high",
    ],
    ["the agent's setting for children", {}, { agents: true, general: true }, true, "agents", "medium"],
    ["the general setting", {}, { general: true }, true, "general", "low"],
    ["what the caller was switched to", {}, {}, true, "caller", "xhigh"],
    ["the agent's own", {}, {}, false, "own", undefined],
    ["another agent itself, not of the caller", { agentId: "ops" }, {}, true, "its", undefined],
  ])("SPAWN-2: on its first turn it has that of %s", async (_, input, levels, switched, model, thinking) => {
    const { board, agents, spawn } = await withAgents(MODELS, settings(levels));
    if (switched) {
      await board.gateway.call("sessions.patch", {
        sessionKey: MAIN,
        model: "caller",
        thinkingLevel: "xhigh",
      });
    }
    expect(await spawn(input)).toMatchObject({ status: "accepted" });
    const [request] = [...tasksOf(agents.main), ...tasksOf(agents.ops)];
    expect([request?.model, request?.thinking]).toEqual([model, thinking]);
  });

  it("SPAWN-2: the answer says that the model was taken", async () => {
    const { spawn } = await withAgents(MODELS);
    expect(await spawn({ model: "call" })).toMatchObject({ modelApplied: true });
    expect(await spawn({})).not.toHaveProperty("modelApplied");
  });

  it.each<[string, object, string, RegExp]>([
    ["a model that the agent has not", { model: "gpt-99" }, "MODEL_UNKNOWN", /gpt-99.*call, agents/],
    ["a thinking level that is none", { thinking: "very" }, "INPUT_INVALID", /thinking.*minimal.*xhigh/s],
    ["a model of another type", { model: 7 }, "INPUT_INVALID", /model/],
    ["a blank model", { model: "  " }, "INPUT_INVALID", /model/],
  ])("SPAWN-2: %s is an error that leaves nothing behind", async (_, input, code, error) => {
    const { board, spawn } = await withAgents(MODELS);
    const before = everythingIn(board);
    expect(await spawn(input)).toEqual({ status: "error", code, error: expect.stringMatching(error) });
    expect(everythingIn(board)).toBe(before);
  });

  it("SPAWN-2: with strictModel false an unknown model is a warning, and the usual one is used", async () => {
    const { agents, spawn } = await withAgents(MODELS, {
      agents: { defaults: { strictModel: false, subagents: { model: "general" } } },
    });
    expect(await spawn({ model: "gpt-99" })).toMatchObject({
      status: "accepted",
      modelApplied: false,
      warning: expect.stringMatching(/gpt-99/),
    });
    expect(tasksOf(agents.main)[0]?.model).toBe("general");
  });

  it("SPAWN-2: an agent that names no models takes any", async () => {
    const { agents, spawn } = await withAgents(MODELS, settings({}));
    expect(await spawn({ agentId: "ops", model: "gpt-99" })).toMatchObject({ modelApplied: true });
    expect(tasksOf(agents.ops)[0]?.model).toBe("gpt-99");
  });
});
