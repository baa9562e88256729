import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/core/config.ts";
import { maySpawn, spawnTargets } from "../../../src/core/policy/spawn.ts";
import { agentIds, configOf } from "../session/a-session.ts";

interface Lists {
  /** Of the agent "main". */
  readonly own?: string[];
  readonly general?: string[];
  readonly maxSpawnDepth?: number;
}

function configWith({ own, general, maxSpawnDepth = 1 }: Lists) {
  const input: ConfigInput = {
    agents: {
      defaults: { subagents: { maxSpawnDepth, ...(general && { allowAgents: general }) } },
      list: [{ id: "main", ...(own && { subagents: { allowAgents: own } }) }],
    },
  };
  return configOf(input);
}

function targets(lists: Lists, depth = 0) {
  return spawnTargets({ agentId: "main", depth }, configWith(lists), agentIds);
}

describe("which agents a spawn may name", () => {
  it.each<[string, Lists, string[], boolean]>([
    ["without any list only the requester's own", {}, ["main"], false],
    ["an empty list is the own agent too", { own: [] }, ["main"], false],
    ["a named one beside the own", { own: ["ops"] }, ["main", "ops"], false],
    ["the own first, the rest sorted", { own: ["ops", "cipher"] }, ["main", "cipher", "ops"], false],
    ['"*" is every configured one', { own: ["*"] }, ["main", "cipher", "ops"], true],
    ['"*" among others and with spaces', { own: ["ops", " * "] }, ["main", "cipher", "ops"], true],
    ["whatever the case and the spaces", { own: [" OPS "] }, ["main", "ops"], false],
    ["a pattern", { own: ["c*"] }, ["main", "cipher"], false],
    ["one that is not configured is left out", { own: ["ghost", "ops"] }, ["main", "ops"], false],
    ["one that is named twice stands once", { own: ["ops", "OPS", "o*"] }, ["main", "ops"], false],
    ["naming itself changes nothing", { own: ["main"] }, ["main"], false],
    ["the general list, where the agent has none", { general: ["ops"] }, ["main", "ops"], false],
    [
      "the agent's own list beats the general one",
      { own: ["cipher"], general: ["*"] },
      ["main", "cipher"],
      false,
    ],
    ["an empty list of its own beats the general one", { own: [], general: ["*"] }, ["main"], false],
  ])("SPAWN-3 AGENTS-1: %s", (_, lists, expected, allowAny) => {
    expect(targets(lists)).toEqual({ agentIds: expected, allowAny });
  });

  it("SPAWN-3: the list of one agent is no other agent's", () => {
    const config = configWith({ own: ["*"] });
    expect(spawnTargets({ agentId: "ops", depth: 0 }, config, agentIds).agentIds).toEqual(["ops"]);
  });

  it("SPAWN-3: an agent that was taken out of the options is nobody's target, not even its own", () => {
    const config = configOf();
    expect(spawnTargets({ agentId: "retired", depth: 0 }, config, agentIds).agentIds).toEqual([]);
    expect(maySpawn({ agentId: "retired", depth: 0 }, undefined, config, agentIds)).toMatchObject({
      allowed: false,
      code: "AGENT_UNKNOWN",
    });
  });
});

describe("whether a spawn may be", () => {
  it.each([
    [0, 1, true],
    [1, 1, false],
    [2, 1, false],
    [1, 2, true],
    [2, 2, false],
    [4, 5, true],
    [5, 5, false],
  ])("SPAWN-4 SPAWN-6: at depth %i of at most %i: %s", (depth, maxSpawnDepth, allowed) => {
    const decision = maySpawn({ agentId: "main", depth }, undefined, configWith({ maxSpawnDepth }), agentIds);
    expect(decision.allowed).toBe(allowed);
    if (decision.allowed) return;
    expect(decision.code).toBe("SPAWN_DEPTH");
    expect(decision.reason).toContain(`depth ${depth}`);
    expect(decision.reason).toContain(`agents.defaults.subagents.maxSpawnDepth is ${maxSpawnDepth}`);
  });

  it("SPAWN-3: a refusal names the agents that are allowed and the setting that decides", () => {
    const config = configWith({ own: ["cipher"] });
    expect(maySpawn({ agentId: "main", depth: 0 }, "ops", config, agentIds)).toEqual({
      allowed: false,
      code: "AGENT_NOT_ALLOWED",
      reason: expect.stringMatching(/"ops".*main, cipher.*agents\.list\[\]\.subagents\.allowAgents/),
    });
    expect(maySpawn({ agentId: "main", depth: 0 }, "ghost", config, agentIds)).toEqual({
      allowed: false,
      code: "AGENT_UNKNOWN",
      reason: expect.stringMatching(/"ghost".*agents_list/),
    });
  });
});

const universe = ["main", "ops", "cipher", "ghost", "o", "mainly"];
const entry = fc.oneof(
  fc.constantFrom(...universe, "*", " * ", "OPS", "c*", "*s", "", "  ", "m*n", "**"),
  fc.string({ minLength: 1, maxLength: 4 }),
);
const list = fc.option(
  fc.array(
    entry.filter((text) => text.trim() !== ""),
    { maxLength: 4 },
  ),
  {
    nil: undefined,
  },
);

/** Whether an entry of a list means this id, in other words than the product's. */
function means(pattern: string, id: string): boolean {
  const escaped = pattern
    .trim()
    .replace(/[\\^$.|?+()[\]{}]/g, "\\$&")
    .replaceAll("*", "[^]*");
  return new RegExp(`^${escaped}$`, "i").test(id);
}

it("SPAWN-3 AGENTS-1: agents_list says exactly what sessions_spawn accepts, whatever the config", () => {
  fc.assert(
    fc.property(
      fc.record({ own: list, general: list, maxSpawnDepth: fc.integer({ min: 1, max: 5 }) }),
      fc.constantFrom("main", "ops", "ghost"),
      fc.integer({ min: 0, max: 6 }),
      ({ own, general, maxSpawnDepth }, agentId, depth) => {
        const config = configWith({ maxSpawnDepth, ...(own && { own }), ...(general && { general }) });
        const spawner = { agentId, depth };
        const shown = spawnTargets(spawner, config, agentIds).agentIds;
        const accepted = universe.filter((id) => maySpawn(spawner, id, config, agentIds).allowed);
        expect([...shown].sort()).toEqual(accepted.sort());
        const unnamed = maySpawn(spawner, undefined, config, agentIds);
        expect(unnamed.allowed).toBe(shown[0] === agentId);
        if (unnamed.allowed) expect(unnamed.agentId).toBe(agentId);
        const entries = (agentId === "main" ? own : undefined) ?? general ?? [];
        const right = agentIds.filter((id) => id === agentId || entries.some((one) => means(one, id)));
        expect(accepted).toEqual(depth < maxSpawnDepth ? right.sort() : []);
      },
    ),
    { numRuns: 500 },
  );
});
