import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/core/config.ts";
import { matchesPattern } from "../../../src/core/policy/pattern.ts";
import { decideTools, type ToolUser } from "../../../src/core/policy/tools.ts";
import { configOf } from "../session/a-session.ts";

const every = [
  "sessions_list",
  "sessions_history",
  "sessions_send",
  "sessions_spawn",
  "sessions_yield",
  "subagents",
  "session_status",
  "agents_list",
];
const messaging = ["sessions_list", "sessions_history", "sessions_send", "session_status"];

const ops: ToolUser = { agentId: "ops", depth: 0, rooms: [], sandboxed: false };

function allowed(tools: ConfigInput["tools"], agentTools: object = {}, depth = 0): readonly string[] {
  return left({ tools, agents: { list: [{ id: "ops", tools: agentTools }] } }, { depth });
}

/** Which of the session tools somebody has; a session of "ops" unless said otherwise. */
function left(config: ConfigInput, user: Partial<ToolUser> = {}): readonly string[] {
  return decideTools(every, configOf(config), { ...ops, ...user }).allowed;
}

const without = (...gone: readonly string[]) => every.filter((name) => !gone.includes(name));

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
])("TOOLS-1: %s", (_, tools, expected) => {
  expect(allowed(tools)).toEqual(expected);
});

it("TOOLS-1: an agent's lists can only remove, and only for that agent", () => {
  expect(allowed({ profile: "messaging" }, { allow: ["*"] })).toEqual(messaging);
  expect(allowed({}, { allow: ["group:sessions"], deny: ["sessions_send"] })).not.toContain("sessions_send");
  const config: ConfigInput = { agents: { list: [{ id: "ops", tools: { deny: ["*"] } }] } };
  expect(left(config, { agentId: "main" })).toEqual(every);
  expect(left(config)).toEqual([]);
});

it("TOOLS-1: a subagent has no session tools, whatever is allowed; a host's own tool stays", () => {
  expect(allowed({ profile: "full", allow: ["*"] }, {}, 1)).toEqual([]);
  const config = configOf({ tools: { profile: "full" } });
  expect(decideTools(["weather", ...every], config, { ...ops, depth: 2 }).allowed).toEqual(["weather"]);
});

it.each<[string, object, string | undefined, readonly string[]]>([
  ["a provider", { openai: { deny: ["sessions_send"] } }, "openai/gpt-5", without("sessions_send")],
  [
    "a provider in other case",
    { OpenAI: { deny: ["sessions_send"] } },
    "openai/gpt-5",
    without("sessions_send"),
  ],
  ["another provider", { openai: { deny: ["*"] } }, "anthropic/claude", every],
  ["a provider whose name goes on", { open: { deny: ["*"] } }, "openai/gpt-5", every],
  ["a pattern of providers", { "open*": { allow: ["subagents"] } }, "openrouter/openai/x", ["subagents"]],
  ["the provider stands before the first slash", { openai: { deny: ["*"] } }, "openrouter/openai/x", every],
  ["a model", { "openai/gpt-5": { deny: ["*"] } }, "openai/gpt-5", []],
  ["another model of the provider", { "openai/gpt-5": { deny: ["*"] } }, "openai/gpt-5-mini", every],
  ["a pattern of models", { "*/gpt-*": { deny: ["sub*"] } }, "openai/gpt-5", without("subagents")],
  ["a model without a provider by its name", { fast: { deny: ["sub*"] } }, "fast", without("subagents")],
  ["any model", { "*": { deny: ["sub*"] } }, "fast", without("subagents")],
  ["a run without a model has no provider", { "*": { deny: ["*"] } }, undefined, every],
  [
    "all entries that fit hold",
    { openai: { deny: ["sub*"] }, "openai/*": { allow: ["sub*", "session_status"] } },
    "openai/gpt-5",
    ["session_status"],
  ],
  [
    "a name that every object has",
    { constructor: { deny: ["sub*"] } },
    "constructor/x",
    without("subagents"),
  ],
])("TOOLS-1: by provider: %s", (_, byProvider, model, expected) => {
  expect(
    left({ tools: { byProvider } as ConfigInput["tools"] }, model === undefined ? {} : { model }),
  ).toEqual(expected);
});

const room = (chatId: string, channel = "telegram") => ({ channel, chatId });

it.each<[string, object, ToolUser["rooms"], readonly string[]]>([
  ["the group", { "-100": { tools: { deny: ["sub*"] } } }, [room("-100")], without("subagents")],
  ["another group", { "-100": { tools: { deny: ["*"] } } }, [room("-1001")], every],
  ["no group", { "*": { tools: { deny: ["*"] } } }, [], every],
  ["every group of the platform", { "*": { tools: { deny: ["sub*"] } } }, [room("-7")], without("subagents")],
  ["a group of another platform", { "*": { tools: { deny: ["*"] } } }, [room("-7", "discord")], every],
  ["a platform in other case", { "*": { tools: { deny: ["*"] } } }, [room("-7", "Telegram")], []],
  ["an id with its platform", { "telegram:-100": { tools: { deny: ["*"] } } }, [room("-100")], []],
  ["an id is no pattern", { "-1*": { tools: { deny: ["*"] } } }, [room("-100")], every],
  [
    "what is said for all groups holds beside what is said for one",
    { "*": { tools: { deny: ["sub*"] } }, "-100": { tools: { allow: ["sub*", "session_status"] } } },
    [room("-100")],
    ["session_status"],
  ],
  [
    "each room that counts takes away",
    { "-100": { tools: { deny: ["sub*"] } }, "-200": { tools: { deny: ["sessions_send"] } } },
    [room("-100"), room("-200")],
    without("subagents", "sessions_send"),
  ],
  ["a group without rules", { "-100": {} }, [room("-100")], every],
])("TOOLS-1: by group: %s", (_, groups, rooms, expected) => {
  expect(left({ channels: { telegram: { groups } } } as ConfigInput, { rooms })).toEqual(expected);
});

it("TOOLS-1: what is set for the sandbox holds for sandboxed sessions alone", () => {
  const tools = { sandbox: { tools: { allow: ["sessions_*"], deny: ["sessions_send"] } } };
  expect(left({ tools }, { sandboxed: true })).toEqual([
    "sessions_list",
    "sessions_history",
    "sessions_spawn",
    "sessions_yield",
    "agents_list",
  ]);
  expect(left({ tools })).toEqual(every);
});

it("TOOLS-1: of each tool that is not there it is known which stage took it first, and where that is written", () => {
  const config = configOf({
    tools: {
      profile: "messaging",
      alsoAllow: ["sessions_yield", "subagents", "sessions_spawn"],
      byProvider: { openai: { deny: ["sessions_yield"] } },
      deny: ["sessions_history", "sessions_yield"],
      sandbox: { tools: { deny: ["sessions_send"] } },
      subagents: { tools: { allow: ["session_status"], alsoAllow: ["sessions_spawn"] } },
    },
    agents: { list: [{ id: "main" }, { id: "ops", tools: { allow: ["*s*"], deny: ["agents_list"] } }] },
    channels: { telegram: { groups: { "-100": { tools: { deny: ["subagents"] } } } } },
  });
  const user = { ...ops, depth: 1, model: "openai/x", rooms: [room("-100")], sandboxed: true };
  expect(decideTools([...every, "weather"], config, user)).toEqual({
    allowed: ["sessions_spawn", "session_status"],
    removed: [
      { name: "sessions_list", stage: "subagent", setting: "tools.subagents.tools.allow" },
      { name: "sessions_history", stage: "global", setting: "tools.deny" },
      { name: "sessions_send", stage: "sandbox", setting: "tools.sandbox.tools.deny" },
      { name: "sessions_yield", stage: "provider", setting: 'tools.byProvider["openai"].deny' },
      { name: "subagents", stage: "group", setting: 'channels.telegram.groups["-100"].tools.deny' },
      { name: "agents_list", stage: "agent", setting: "agents.list[1].tools.deny" },
      { name: "weather", stage: "profile", setting: 'tools.profile: "messaging"' },
    ],
  });
  const leaf = decideTools(["sessions_list"], configOf(), { ...ops, depth: 1 });
  expect(leaf.removed).toEqual([
    { name: "sessions_list", stage: "subagent", setting: "tools.subagents.tools.alsoAllow" },
  ]);
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
  return decideTools(["weather", ...every], config, { ...ops, depth }).allowed;
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
});

describe("whatever the lists", () => {
  it("TOOLS-1 D15: everybody has exactly what all stages leave, and the first one that takes a tool is named", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { allowed: mine, removed } = decideTools(["weather", ...every], configIn(world), userIn(world));
        const right = ["weather", ...every].map((name) => [name, takenBy(name, world)] as const);
        expect(mine).toEqual(right.flatMap(([name, stage]) => (stage === undefined ? [name] : [])));
        expect(removed.map(({ name, stage }) => [name, stage])).toEqual(
          right.filter(([, stage]) => stage !== undefined),
        );
      }),
      { numRuns: 3000 },
    );
  });

  it("TOOLS-1: no stage gives back what another took: with its rules there are never more tools than without", () => {
    fc.assert(
      fc.property(worlds, fc.constantFrom(...RULES), (world, stage) => {
        const names = (some: World) =>
          decideTools(["weather", ...every], configIn(some), userIn(some)).allowed;
        const before = names({ ...world, [stage]: stage.startsWith("by") ? {} : NO_RULES });
        expect(before).toEqual(expect.arrayContaining([...names(world)]));
      }),
      { numRuns: 1000 },
    );
  });
});

interface Rules {
  readonly allow?: readonly string[];
  readonly deny: readonly string[];
}

/** A config and somebody who uses tools under it. */
interface World {
  readonly profile: "coding" | "messaging" | "minimal" | "full";
  readonly alsoAllow: readonly string[];
  readonly global: Rules;
  readonly agent: Rules;
  readonly otherAgent: Rules;
  readonly sandbox: Rules;
  readonly child: Rules & { readonly alsoAllow: readonly string[] };
  readonly byProvider: Readonly<Record<string, Rules>>;
  readonly byGroup: Readonly<Record<string, Rules>>;
  readonly model: string | undefined;
  readonly rooms: ToolUser["rooms"];
  readonly sandboxed: boolean;
  readonly depth: number;
  readonly maxSpawnDepth: number;
}

const NO_RULES: Rules = { deny: [] };
/** The stages that may only take away; what a child was given back is theirs alone. */
const RULES = ["global", "agent", "sandbox", "byProvider", "byGroup"] as const;

const entries = fc.array(
  fc.constantFrom(
    "*",
    "weather",
    "group:sessions",
    " Group:Sessions ",
    "sessions_*",
    "SESSIONS_LIST",
    "sessions_spawn",
    "agents_list",
    "*s",
    "s*s*t*",
    "subagents",
    "session_status",
    "x",
    " ",
  ),
  { maxLength: 3 },
);
const rules: fc.Arbitrary<Rules> = fc.oneof(
  fc.constant(NO_RULES),
  fc.record({ deny: entries }),
  fc.record({ allow: entries, deny: entries }),
);
const PATTERNS = ["openai", "OPEN*", "openai/*", "*/gpt-5", "fast", "*"];
const GROUPS = ["*", "-100", "-200"];
const some = (keys: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...keys), rules, { maxKeys: 2, noNullPrototype: true });
const worlds: fc.Arbitrary<World> = fc.record({
  profile: fc.constantFrom("coding", "messaging", "minimal", "full"),
  alsoAllow: entries,
  global: rules,
  agent: rules,
  otherAgent: rules,
  sandbox: rules,
  child: fc.record({ allow: entries, alsoAllow: entries, deny: entries }),
  byProvider: some(PATTERNS),
  byGroup: some(GROUPS),
  model: fc.constantFrom(undefined, "openai/gpt-5", "azure/openai/gpt-5", "fast", "FAST"),
  rooms: fc.subarray([room("-100"), room("-200"), room("-300"), room("-100", "discord")]),
  sandboxed: fc.boolean(),
  depth: fc.integer({ min: 0, max: 4 }),
  maxSpawnDepth: fc.integer({ min: 1, max: 3 }),
});

function configIn(world: World) {
  const groups = Object.entries(world.byGroup).map(([id, tools]) => [id, { tools }]);
  const config = {
    tools: {
      ...world.global,
      profile: world.profile,
      alsoAllow: world.alsoAllow,
      byProvider: world.byProvider,
      sandbox: { tools: world.sandbox },
      subagents: { tools: world.child },
    },
    agents: {
      defaults: { subagents: { maxSpawnDepth: world.maxSpawnDepth } },
      list: [
        { id: "main", tools: world.otherAgent },
        { id: "ops", tools: world.agent },
      ],
    },
    channels: { telegram: { groups: Object.fromEntries(groups) } },
  };
  // The lists are readonly here and arrays in the schema.
  return configOf(config as unknown as ConfigInput);
}

function userIn({ model, rooms, sandboxed, depth }: World): ToolUser {
  return { ...ops, depth, rooms, sandboxed, ...(model === undefined ? {} : { model }) };
}

/** The rules once more, in other words than the product's: the first stage that takes this tool. */
function takenBy(tool: string, world: World): string | undefined {
  const { model, rooms, child } = world;
  const provider = Object.keys(world.byProvider).filter(
    (pattern) =>
      model !== undefined && (isLike(pattern, model) || isLike(pattern, model.replace(/\/.*/, ""))),
  );
  const ids = rooms.filter(({ channel }) => channel === "telegram").map(({ chatId }) => chatId);
  const group = Object.keys(world.byGroup).filter((id) => ids.includes(id) || (id === "*" && ids.length > 0));
  const ofProfile = {
    coding: every,
    full: ["*"],
    messaging,
    minimal: ["session_status"],
  }[world.profile];
  const stages: readonly (readonly [string, boolean])[] = [
    ["profile", !isIn(tool, [...ofProfile, ...world.alsoAllow])],
    ["provider", provider.some((pattern) => isTaken(tool, world.byProvider[pattern]))],
    ["global", isTaken(tool, world.global)],
    ["agent", isTaken(tool, world.agent)],
    ["group", group.some((id) => isTaken(tool, world.byGroup[id]))],
    ["sandbox", world.sandboxed && isTaken(tool, world.sandbox)],
    ["subagent", world.depth > 0 && isTakenFromChild(tool, child, world.depth < world.maxSpawnDepth)],
  ];
  return stages.find(([, taken]) => taken)?.[0];
}

function isTaken(tool: string, { allow = [], deny }: Rules = NO_RULES): boolean {
  return isIn(tool, deny) || (allow.length > 0 && !isIn(tool, allow));
}

function isTakenFromChild(tool: string, { allow = [], alsoAllow, deny }: World["child"], leads: boolean) {
  if (isIn(tool, deny)) return true;
  const given = isIn(tool, allow) || isIn(tool, alsoAllow);
  if (allow.length > 0 && !given) return true;
  return tool !== "weather" && !given && !(leads && orchestrator.includes(tool));
}

function isIn(tool: string, list: readonly string[]): boolean {
  const names = tool === "agents_list" ? ["agents_list", "sessions_spawn"] : [tool];
  return list.some((entry) =>
    names.some((name) =>
      entry.trim().toLowerCase() === "group:sessions" ? every.includes(name) : isLike(entry, name),
    ),
  );
}

/** `*` is any text; what is blank is like nothing. */
function isLike(pattern: string, text: string): boolean {
  const source = pattern
    .trim()
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*");
  return source !== "" && new RegExp(`^${source}$`, "i").test(text);
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
])("TOOLS-1 VIS-3: the pattern %j fits %j: %s", (pattern, text, fits) => {
  expect(matchesPattern(pattern, text)).toBe(fits);
});
