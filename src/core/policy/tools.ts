import type { Config } from "../config.ts";
import { matchesPattern } from "./pattern.ts";

type Profile = Config["tools"]["profile"];

interface Lists {
  readonly allow?: readonly string[] | undefined;
  readonly deny: readonly string[];
}

/** Tools that deal with sessions: `group:sessions` in lists. */
const sessionTools = [
  "sessions_list",
  "sessions_history",
  "sessions_send",
  "sessions_spawn",
  "sessions_yield",
  "session_status",
  "subagents",
  "agents_list",
];

const profiles: Readonly<Record<Profile, readonly string[]>> = {
  coding: ["group:sessions"],
  messaging: ["sessions_list", "sessions_history", "sessions_send", "session_status"],
  minimal: ["session_status"],
  full: ["*"],
};

/** What a child needs to lead children of its own. */
const orchestratorTools = [
  "sessions_spawn",
  "sessions_yield",
  "subagents",
  "sessions_list",
  "sessions_history",
];

/** The names that this agent may use, in their order. Every stage can only remove. `depth`: 0 = not spawned. */
export function allowedTools(
  names: readonly string[],
  config: Config,
  agentId: string,
  { depth }: { readonly depth: number },
): readonly string[] {
  const { profile, alsoAllow, allow, deny, subagents } = config.tools;
  const agent = config.agents.list.find(({ id }) => id === agentId)?.tools;
  const stages: readonly Lists[] = [
    { allow: [...profiles[profile], ...alsoAllow], deny: [] },
    { allow, deny },
    agent ?? { deny: [] },
    depth > 0 ? childLists(subagents.tools) : { deny: [] },
  ];
  const survivors = names.filter((name) => stages.every((lists) => survives(name, lists)));
  return depth > 0 ? survivors.filter((name) => isForChild(name, depth, config)) : survivors;
}

/** With an `allow` only what it or `alsoAllow` names is left. */
function childLists({ allow = [], alsoAllow, deny }: Config["tools"]["subagents"]["tools"]): Lists {
  return { allow: allow.length === 0 ? [] : [...allow, ...alsoAllow], deny };
}

/** A child has no session tools, unless it may spawn or the config gives them back. */
function isForChild(name: string, depth: number, config: Config): boolean {
  if (!sessionTools.includes(name)) return true;
  const { allow = [], alsoAllow } = config.tools.subagents.tools;
  const leads = depth < config.agents.defaults.subagents.maxSpawnDepth;
  return isListed(name, [...allow, ...alsoAllow, ...(leads ? orchestratorTools : [])]);
}

/** A denial beats a permission; without a list, or with an empty one, everything is allowed. */
function survives(name: string, { allow = [], deny }: Lists): boolean {
  if (isListed(name, deny)) return false;
  return allow.length === 0 || isListed(name, allow);
}

/** agents_list says what sessions_spawn accepts, so it comes and goes with it. */
function isListed(name: string, list: readonly string[]): boolean {
  const aliases = name === "agents_list" ? [name, "sessions_spawn"] : [name];
  return aliases.some((alias) =>
    list.some((entry) =>
      isSessionGroup(entry) ? sessionTools.includes(alias) : matchesPattern(entry, alias),
    ),
  );
}

function isSessionGroup(entry: string): boolean {
  return entry.trim().toLowerCase() === "group:sessions";
}
