import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/core/config.ts";
import { matchesPattern } from "../../../src/core/policy/pattern.ts";
import { allowedTools } from "../../../src/core/policy/tools.ts";
import { configOf } from "../session/a-session.ts";

const every = [
  "sessions_list",
  "sessions_history",
  "sessions_send",
  "sessions_spawn",
  "sessions_yield",
  "session_status",
  "subagents",
  "agents_list",
];
const messaging = ["sessions_list", "sessions_history", "sessions_send", "session_status"];

function allowed(tools: ConfigInput["tools"], agentTools: object = {}, depth = 0): readonly string[] {
  const config = configOf({ tools, agents: { list: [{ id: "ops", tools: agentTools }] } });
  return allowedTools(every, config, "ops", { depth });
}

it.each<[string, ConfigInput["tools"], string[]]>([
  ["coding by default", {}, every],
  ["full", { profile: "full" }, every],
  ["messaging", { profile: "messaging" }, messaging],
  ["minimal", { profile: "minimal" }, ["session_status"]],
  [
    "alsoAllow adds to the profile",
    { profile: "minimal", alsoAllow: ["sessions_list"] },
    ["sessions_list", "session_status"],
  ],
  ["alsoAllow the group", { profile: "minimal", alsoAllow: ["group:sessions"] }, every],
  ["allow removes the rest", { allow: ["sessions_l*"] }, ["sessions_list"]],
  ["allow cannot add to the profile", { profile: "minimal", allow: ["*"] }, ["session_status"]],
  ["an empty allow allows all", { profile: "messaging", allow: [] }, messaging],
  ["a blank allow allows nothing", { allow: ["  "] }, []],
  ["deny beats allow", { allow: ["*"], deny: ["SESSIONS_*", "subagents"] }, ["session_status"]],
  [
    "deny beats alsoAllow",
    { profile: "minimal", alsoAllow: ["subagents"], deny: ["sub*"] },
    ["session_status"],
  ],
  ["deny the group", { deny: ["Group:Sessions"] }, []],
  [
    "agents_list comes with sessions_spawn",
    { profile: "minimal", alsoAllow: ["sessions_spawn"] },
    ["sessions_spawn", "session_status", "agents_list"],
  ],
  [
    "agents_list goes with sessions_spawn",
    { deny: ["sessions_spawn"] },
    every.filter((name) => !["sessions_spawn", "agents_list"].includes(name)),
  ],
  ["agents_list can be denied alone", { deny: ["agents_list"] }, every.slice(0, -1)],
])("TOOLS: %s", (_, tools, expected) => {
  expect(allowed(tools)).toEqual(expected);
});

it("TOOLS: an agent's lists can only remove, and only for that agent", () => {
  expect(allowed({ profile: "messaging" }, { allow: ["*"] })).toEqual(messaging);
  expect(allowed({}, { allow: ["group:sessions"], deny: ["sessions_send"] })).not.toContain("sessions_send");
  const config = configOf({ agents: { list: [{ id: "ops", tools: { deny: ["*"] } }] } });
  expect(allowedTools(every, config, "main", { depth: 0 })).toEqual(every);
  expect(allowedTools(every, config, "ops", { depth: 0 })).toEqual([]);
});

it("TOOLS: a subagent has no session tools, whatever is allowed; a host's own tool stays", () => {
  expect(allowed({ profile: "full", allow: ["*"] }, {}, 1)).toEqual([]);
  expect(
    allowedTools(["weather", ...every], configOf({ tools: { profile: "full" } }), "ops", { depth: 2 }),
  ).toEqual(["weather"]);
});

const orchestrator = [
  "sessions_list",
  "sessions_history",
  "sessions_spawn",
  "sessions_yield",
  "subagents",
  "agents_list",
];

interface Situation {
  readonly agentDeny?: string[];
  readonly allow?: string[];
  readonly alsoAllow?: string[];
  readonly deny?: string[];
  readonly depth: number;
  readonly maxSpawnDepth: number;
}

/** What a child of "ops" is offered of a host's own tool and ours. */
function offered({ agentDeny = [], allow, alsoAllow = [], deny = [], depth, maxSpawnDepth }: Situation) {
  const config = configOf({
    tools: { profile: "full", subagents: { tools: { alsoAllow, deny, ...(allow && { allow }) } } },
    agents: {
      defaults: { subagents: { maxSpawnDepth } },
      list: [
        { id: "ops", tools: { deny: agentDeny } },
        { id: "main", tools: { deny: ["*"] } },
      ],
    },
  });
  return allowedTools(["weather", ...every], config, "ops", { depth });
}

const leaf = { depth: 1, maxSpawnDepth: 1 };
const lead = { depth: 1, maxSpawnDepth: 2 };

describe("the tools of a child", () => {
  it.each<[string, Situation, string[]]>([
    ["a leaf: the host's own tools, none of the session tools", leaf, ["weather"]],
    ["one that may spawn: what it needs to lead", lead, ["weather", ...orchestrator]],
    ["its children again: none", { depth: 2, maxSpawnDepth: 2 }, ["weather"]],
    ["in the middle of five levels", { depth: 4, maxSpawnDepth: 5 }, ["weather", ...orchestrator]],
    ["at the bottom of five levels", { depth: 5, maxSpawnDepth: 5 }, ["weather"]],
    ["alsoAllow gives one back", { ...leaf, alsoAllow: ["sessions_list"] }, ["weather", "sessions_list"]],
    ["allow gives one back and takes the rest", { ...leaf, allow: ["sessions_list"] }, ["sessions_list"]],
    [
      "alsoAllow adds to allow",
      { ...leaf, allow: ["weather"], alsoAllow: ["sessions_list"] },
      ["weather", "sessions_list"],
    ],
    ["allow alone holds for one that leads, too", { ...lead, allow: ["weather"] }, ["weather"]],
    ["an empty allow is none", { ...lead, allow: [] }, ["weather", ...orchestrator]],
    ["deny beats allow", { ...leaf, allow: ["weather", "subagents"], deny: ["sub*"] }, ["weather"]],
    ["deny beats alsoAllow", { ...leaf, alsoAllow: ["sessions_list"], deny: ["sessions_list"] }, ["weather"]],
    ["deny takes from one that leads", { ...lead, deny: ["group:sessions"] }, ["weather"]],
    [
      "the agent's denial beats what is given back",
      { ...leaf, agentDeny: ["s*"], allow: ["*"] },
      ["weather"],
    ],
    [
      "the agent's denial holds for its children",
      { ...lead, agentDeny: ["weather", "sessions_spawn"] },
      orchestrator.filter((name) => !["sessions_spawn", "agents_list"].includes(name)),
    ],
  ])("D15 SPAWN-4: %s", (_, situation, expected) => {
    expect([...offered(situation)].sort()).toEqual([...expected].sort());
  });

  it("SPAWN-4: what a child may not use can be given back, but nothing that the profile does not hold", () => {
    const tools = { profile: "minimal" as const, subagents: { tools: { allow: ["*"] } } };
    expect(allowed(tools, {}, 1)).toEqual(["session_status"]);
  });

  it("D15 SPAWN-4: the lists for children say nothing about anybody else", () => {
    expect(offered({ depth: 0, maxSpawnDepth: 1, allow: ["weather"], deny: ["*"] })).toEqual([
      "weather",
      ...every,
    ]);
  });

  it("D15: whatever the lists, a child is offered exactly what the rules give it", () => {
    const entries = fc.array(
      fc.constantFrom(
        "*",
        "weather",
        "group:sessions",
        "sessions_*",
        "SESSIONS_LIST",
        "sessions_spawn",
        "agents_list",
        "subagents",
        "x",
      ),
      { maxLength: 3 },
    );
    const situations = fc.record({
      agentDeny: entries,
      allow: entries,
      alsoAllow: entries,
      deny: entries,
      depth: fc.integer({ min: 0, max: 4 }),
      maxSpawnDepth: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(situations, (situation) => {
        const right = ["weather", ...every].filter((name) => isRight(name, situation));
        expect(offered(situation)).toEqual(right);
      }),
      { numRuns: 1000 },
    );
  });
});

/** The rules once more, in other words than the product's. */
function isRight(
  tool: string,
  { agentDeny = [], allow = [], alsoAllow = [], deny = [], depth, maxSpawnDepth }: Situation,
) {
  const names = tool === "agents_list" ? ["agents_list", "sessions_spawn"] : [tool];
  const isIn = (list: readonly string[]) =>
    list.some((entry) =>
      names.some(
        (name) =>
          entry === "*" ||
          entry.toLowerCase() === name ||
          (entry === "sessions_*" && name.startsWith("sessions_")) ||
          (entry === "group:sessions" && every.includes(name)),
      ),
    );
  if (isIn(agentDeny)) return false;
  if (depth === 0) return true;
  if (isIn(deny)) return false;
  const given = isIn(allow) || isIn(alsoAllow);
  if (allow.length > 0 && !given) return false;
  const leads = depth < maxSpawnDepth && orchestrator.includes(tool);
  return tool === "weather" || given || leads;
}

it.each([
  ["*", "anything", true],
  ["*", "", true],
  ["", "", false],
  ["  ", "x", false],
  ["ops", "OPS", true],
  ["ops", "ops2", false],
  ["ops*", "ops2", true],
  ["*ops", "devops", true],
  ["a*a", "a", false],
  ["a*a", "aa", true],
  ["a*b*c", "a-b-b-c", true],
  ["a*b*c", "a-c-b", false],
  ["ab*bc", "abc", false],
  ["a*bc*bc", "abc", false],
  ["**", "x", true],
  ["a.c", "abc", false],
  ["a+(", "a+(", true],
])("TOOLS VIS-3: the pattern %j fits %j: %s", (pattern, text, fits) => {
  expect(matchesPattern(pattern, text)).toBe(fits);
});
