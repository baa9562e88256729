import type { Config } from "../config.ts";
import { writtenId } from "../session/person.ts";
import { matchesPattern } from "./pattern.ts";
import {
  agentRules,
  groupRules,
  isListed,
  type PlacedRules,
  providerRules,
  SESSION_TOOLS,
} from "./tool-lists.ts";

/** A room as groups are named in the config: threads and topics are in the room around them. */
export interface Room {
  readonly channel: string;
  readonly chatId: string;
}

/** Who would use the tools. */
export interface ToolUser {
  readonly agentId: string;
  /** 0 = not spawned. */
  readonly depth: number;
  /** Of the run; absent: the runner chooses, and nobody knows the provider. */
  readonly model?: string;
  /** Where the session speaks, and where its requesters do. */
  readonly rooms: readonly Room[];
  readonly sandboxed: boolean;
}

/** What may take a tool away, in the order in which they are asked. */
export type ToolStage = "profile" | "provider" | "global" | "agent" | "group" | "sandbox" | "subagent";

/** A tool that is not there. `setting` is the place in the config that would have to change. */
export interface RemovedTool {
  readonly name: string;
  readonly stage: ToolStage;
  readonly setting: string;
}

export interface ToolDecision {
  readonly allowed: readonly string[];
  readonly removed: readonly RemovedTool[];
}

/** One reason for which tools go. */
interface Limit {
  readonly stage: ToolStage;
  readonly setting: string;
  removes(name: string): boolean;
}

const profiles: Readonly<Record<Config["tools"]["profile"], readonly string[]>> = {
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

/** Which of these names the user may use, in their order, and what takes each of the others away first. No stage gives back what another took. */
export function decideTools(names: readonly string[], config: Config, user: ToolUser): ToolDecision {
  const limits = limitsFor(config, user);
  const removed = names.flatMap((name) => {
    const limit = limits.find((one) => one.removes(name));
    return limit === undefined ? [] : [{ name, stage: limit.stage, setting: limit.setting }];
  });
  const gone = new Set(removed.map(({ name }) => name));
  return { allowed: names.filter((name) => !gone.has(name)), removed };
}

function limitsFor(config: Config, user: ToolUser): readonly Limit[] {
  const { tools } = config;
  const [agent] = agentRules(config).filter(({ agentId }) => agentId === user.agentId);
  return [
    profileLimit(tools),
    ...providerRules(config)
      .filter(({ pattern }) => fitsModel(pattern, user.model))
      .flatMap((placed) => limitsOf("provider", placed)),
    ...limitsOf("global", { path: "tools", rules: tools }),
    ...(agent === undefined ? [] : limitsOf("agent", agent)),
    ...groupRules(config)
      .filter((placed) => user.rooms.some((room) => isOf(room, placed)))
      .flatMap((placed) => limitsOf("group", placed)),
    ...(user.sandboxed
      ? limitsOf("sandbox", { path: "tools.sandbox.tools", rules: tools.sandbox.tools })
      : []),
    ...(user.depth > 0 ? childLimits(user.depth, config) : []),
  ];
}

function profileLimit({ profile, alsoAllow }: Config["tools"]): Limit {
  const listed = [...profiles[profile], ...alsoAllow];
  return {
    stage: "profile",
    setting: `tools.profile: "${profile}"`,
    removes: (name) => !isListed(name, listed),
  };
}

function limitsOf(stage: ToolStage, { path, rules: { allow = [], deny } }: PlacedRules): readonly Limit[] {
  return [
    { stage, setting: `${path}.deny`, removes: (name) => isListed(name, deny) },
    {
      stage,
      setting: `${path}.allow`,
      removes: (name) => allow.length > 0 && !isListed(name, allow),
    },
  ];
}

/** A child has no session tools, unless it may spawn or the config gives them back. With an `allow` only what it or `alsoAllow` names is left. */
function childLimits(depth: number, config: Config): readonly Limit[] {
  const { allow = [], alsoAllow, deny } = config.tools.subagents.tools;
  const leads = depth < config.agents.defaults.subagents.maxSpawnDepth;
  const given = [...allow, ...alsoAllow, ...(leads ? orchestratorTools : [])];
  const path = "tools.subagents.tools";
  const rules = { allow: allow.length === 0 ? [] : [...allow, ...alsoAllow], deny };
  return [
    ...limitsOf("subagent", { path, rules }),
    {
      stage: "subagent",
      setting: `${path}.alsoAllow`,
      removes: (name) => SESSION_TOOLS.includes(name) && !isListed(name, given),
    },
  ];
}

/** By the provider, which is what stands before the first `/` of a model's id, or by the whole id. */
function fitsModel(pattern: string, model: string | undefined): boolean {
  if (model === undefined) return false;
  const [provider = ""] = model.split("/");
  return matchesPattern(pattern, provider) || matchesPattern(pattern, model);
}

/** Keys hold the names of platforms in lower case, whatever an adapter is called. */
function isOf(room: Room, at: { readonly channel: string; readonly chatId: string }): boolean {
  if (room.channel.toLowerCase() !== at.channel.toLowerCase()) return false;
  const chatId = writtenId(room.channel, at.chatId);
  return chatId === "*" || chatId === room.chatId;
}
