import type { Config } from "../config.ts";
import type { SessionKey } from "../ports/session.ts";
import type { RowScope } from "../ports/storage.ts";
import { matchesPattern } from "./pattern.ts";

/** The session that uses a tool. */
export interface Caller {
  readonly key: SessionKey;
  readonly agentId: string;
  readonly sandboxed: boolean;
}

export interface AccessTarget {
  readonly key: SessionKey;
  readonly agentId: string;
  /** Sessions that spawned it, directly or further up. */
  readonly ancestors: readonly SessionKey[];
  /** Its agent is not configured any more: only who spawned it reaches it. */
  readonly retired?: true;
}

export type AccessAction = "list" | "history" | "send" | "status";

export type AccessDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly code: "NOT_VISIBLE"; readonly reason: string };

type VisibilityLevel = Config["tools"]["sessions"]["visibility"];

/** For the agent, when a list does not show everything. */
export interface VisibilityNote {
  readonly mode: VisibilityLevel;
  readonly restricted: true;
  readonly warning: string;
}

/** The one answer to a clamped caller, for hidden and for missing sessions alike. */
export const SANDBOX_REFUSAL = "Not visible from this sandboxed session. Use a key from sessions_list.";

type Right = "read" | "send";

const rightFor = { list: "read", history: "read", status: "read", send: "send" } as const;

const warnings: Readonly<Record<VisibilityLevel, string>> = {
  self: "Only the current session and sessions granted to this agent are shown.",
  tree: "Only the current session, the sessions it spawned and sessions granted to this agent are shown.",
  agent: "Only sessions of this agent, sessions it spawned and sessions granted to it are shown.",
  all: "Sessions of other agents are shown only as far as tools.agentToAgent allows.",
};

/** No grant helps a clamped caller. */
const clampedWarnings = {
  self: "This session is sandboxed: only itself is shown.",
  tree: "This session is sandboxed: only itself and the sessions it spawned are shown.",
} as const;

/** Decides for every tool, after the reference was resolved for the last time. */
export function mayAccess(
  caller: Caller,
  target: AccessTarget,
  action: AccessAction,
  config: Config,
): AccessDecision {
  const right = rightFor[action];
  const { key, agentId, ancestors, retired = false } = target;
  const isBelow = ancestors.includes(caller.key);
  const isKin = key === caller.key || (isBelow && spawnedReached(config));
  if (isKin || (!retired && agentReached(caller, agentId, right, config))) return { allowed: true };
  const reason = isClamped(caller, config)
    ? SANDBOX_REFUSAL
    : refusal({ from: caller.agentId, to: agentId, right, isBelow, retired }, config);
  return { allowed: false, code: "NOT_VISIBLE", reason };
}

/** Every session for which mayAccess says yes. `agentIds`: the configured agents. */
export function visibleScope(
  caller: Caller & { readonly descendants: readonly SessionKey[] },
  action: AccessAction,
  config: Config,
  agentIds: readonly string[],
): RowScope {
  const right = rightFor[action];
  return {
    agentIds: agentIds.filter((id) => agentReached(caller, id, right, config)),
    keys: [caller.key, ...(spawnedReached(config) ? caller.descendants : [])],
  };
}

/** undefined: the level is "all" and no configured agent is held back. */
export function visibilityNote(
  caller: Caller,
  config: Config,
  agentIds: readonly string[],
): VisibilityNote | undefined {
  const level = config.tools.sessions.visibility;
  if (isClamped(caller, config)) {
    const mode = level === "self" ? "self" : "tree";
    return { mode, restricted: true, warning: clampedWarnings[mode] };
  }
  const open = visibleScope({ ...caller, descendants: [] }, "list", config, agentIds).agentIds;
  if (level === "all" && open.length === agentIds.length) return undefined;
  return { mode: level, restricted: true, warning: warnings[level] };
}

/** The caller reaches what it spawned and nothing else, whatever is granted. */
export function isClamped(caller: Caller, config: Config): boolean {
  return caller.sandboxed && config.agents.defaults.sandbox.sessionToolsVisibility === "spawned";
}

/** First half of the rule: what was spawned stays reachable at any depth and for ever, in whichever agent it runs. */
function spawnedReached(config: Config): boolean {
  return config.tools.sessions.visibility !== "self";
}

/** Second half: all sessions of an agent, however they came about. */
function agentReached(caller: Caller, agentId: string, right: Right, config: Config): boolean {
  if (isClamped(caller, config)) return false;
  const { visibility: level } = config.tools.sessions;
  if (agentId === caller.agentId && (level === "agent" || level === "all")) return true;
  if (!config.tools.agentToAgent.enabled) return false;
  const crosses = level === "all" && patternsAllow(caller.agentId, agentId, config);
  return crosses || isGranted(caller.agentId, agentId, right, config);
}

/** Both agents must fit a pattern, not necessarily the same one. An empty list allows every pair. */
function patternsAllow(from: string, to: string, config: Config): boolean {
  const { allow } = config.tools.agentToAgent;
  const patterns = allow.filter((entry) => typeof entry === "string");
  const isNamed = (id: string) => patterns.some((pattern) => matchesPattern(pattern, id));
  return allow.length === 0 || (isNamed(from) && isNamed(to));
}

function isGranted(from: string, to: string, right: Right, config: Config): boolean {
  return config.tools.agentToAgent.allow.some(
    (entry) =>
      typeof entry !== "string" &&
      entry[right] &&
      matchesPattern(entry.from, from) &&
      matchesPattern(entry.to, to),
  );
}

interface Refused {
  readonly from: string;
  readonly to: string;
  readonly right: Right;
  /** The caller spawned it, directly or further up. */
  readonly isBelow: boolean;
  readonly retired: boolean;
}

/** Names every setting that would have to change, and only those. Where there are two ways, each is enough. */
function refusal({ from, to, right, isBelow, retired }: Refused, config: Config): string {
  const { agentToAgent, sessions } = config.tools;
  const subject = right === "read" ? "read" : "send to";
  const mayNot = `Agent "${from}" may not ${subject} this session of agent "${to}"`;
  if (retired && !isBelow) return `${mayNot}. Agent "${to}" is not configured any more.`;
  const state = from === to ? "" : `, tools.agentToAgent is ${agentToAgent.enabled ? "on" : "off"}`;
  const wider = isBelow ? [visibility("tree")] : widening(from, to, config);
  const ways = retired ? [wider] : shortest(wider, granting(from, to, right, config));
  const settings = ways.map((way) => way.join(" and ")).join("; or ");
  return `${mayNot} (tools.sessions.visibility is "${sessions.visibility}"${state}). The owner can set ${settings}.`;
}

function visibility(level: VisibilityLevel): string {
  return `tools.sessions.visibility: "${level}"`;
}

const ENABLED = "tools.agentToAgent.enabled: true";

/** What a wider level takes. */
function widening(from: string, to: string, config: Config): readonly string[] {
  if (from === to) return [visibility("agent")];
  const { agentToAgent, sessions } = config.tools;
  return [
    ...(sessions.visibility === "all" ? [] : [visibility("all")]),
    ...(agentToAgent.enabled ? [] : [ENABLED]),
    ...(patternsAllow(from, to, config)
      ? []
      : [`patterns for "${from}" and "${to}" in tools.agentToAgent.allow`]),
  ];
}

/** What it takes at this level. */
function granting(from: string, to: string, right: Right, config: Config): readonly string[] {
  const other = right === "read" ? "send" : "read";
  const grant = `a grant { from: "${from}", to: "${to}", ${right}: true } (${other} may be false) in tools.agentToAgent.allow`;
  return [
    ...(config.tools.agentToAgent.enabled ? [] : [ENABLED]),
    ...(isGranted(from, to, right, config) ? [] : [grant]),
  ];
}

/** Without a way that holds all of the other one. */
function shortest(one: readonly string[], other: readonly string[]): readonly (readonly string[])[] {
  if (other.every((setting) => one.includes(setting))) return [other];
  return one.every((setting) => other.includes(setting)) ? [one] : [one, other];
}
