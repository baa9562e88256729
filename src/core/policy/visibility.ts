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

/** Decides for every tool, after the reference was resolved for the last time. */
export function mayAccess(
  caller: Caller,
  target: AccessTarget,
  action: AccessAction,
  config: Config,
): AccessDecision {
  const right = rightFor[action];
  const isSpawned = target.ancestors.includes(caller.key) && spawnedReached(caller, config);
  const isKin = target.key === caller.key || isSpawned;
  if (isKin || agentReached(caller, target.agentId, right, config)) return { allowed: true };
  const reason = isClamped(caller, config)
    ? SANDBOX_REFUSAL
    : refusal(caller.agentId, target.agentId, right, config);
  return { allowed: false, code: "NOT_VISIBLE", reason };
}

/** Every session for which mayAccess says yes, as far as it belongs to one of `agentIds` or was spawned by the caller. */
export function visibleScope(
  caller: Caller & { readonly descendants: readonly SessionKey[] },
  action: AccessAction,
  config: Config,
  agentIds: readonly string[],
): RowScope {
  const right = rightFor[action];
  return {
    agentIds: agentIds.filter((id) => agentReached(caller, id, right, config)),
    keys: [caller.key, ...(spawnedReached(caller, config) ? caller.descendants : [])],
  };
}

/** undefined: nothing is held back from this caller. */
export function visibilityNote(
  caller: Caller,
  config: Config,
  agentIds: readonly string[],
): VisibilityNote | undefined {
  const mode = levelOf(caller, config);
  const open = visibleScope({ ...caller, descendants: [] }, "list", config, agentIds).agentIds;
  if (mode === "all" && open.length === agentIds.length) return undefined;
  return { mode, restricted: true, warning: warnings[mode] };
}

/** The caller reaches what it spawned and nothing else, whatever is granted. */
export function isClamped(caller: Caller, config: Config): boolean {
  return caller.sandboxed && config.agents.defaults.sandbox.sessionToolsVisibility === "spawned";
}

/** First half of the rule: what was spawned stays reachable at any depth and for ever, in whichever agent it runs. */
function spawnedReached(caller: Caller, config: Config): boolean {
  return levelOf(caller, config) !== "self";
}

/** Second half: all sessions of an agent, however they came about. */
function agentReached(caller: Caller, agentId: string, right: Right, config: Config): boolean {
  if (isClamped(caller, config)) return false;
  const level = levelOf(caller, config);
  if (agentId === caller.agentId && (level === "agent" || level === "all")) return true;
  if (!config.tools.agentToAgent.enabled) return false;
  const crosses = level === "all" && patternsAllow(caller.agentId, agentId, config);
  return crosses || isGranted(caller.agentId, agentId, right, config);
}

function levelOf(caller: Caller, config: Config): VisibilityLevel {
  const { visibility } = config.tools.sessions;
  return isClamped(caller, config) && visibility !== "self" ? "tree" : visibility;
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

/** Names every setting that would have to change, and only those. */
function refusal(from: string, to: string, right: Right, config: Config): string {
  const { agentToAgent, sessions } = config.tools;
  const enable = agentToAgent.enabled ? "" : "tools.agentToAgent.enabled: true and ";
  const grant = `${enable}a grant { from: "${from}", to: "${to}", ${right}: true } in tools.agentToAgent.allow`;
  const subject = right === "read" ? "read" : "send to";
  const fact = `Agent "${from}" may not ${subject} this session of agent "${to}" (tools.sessions.visibility is "${sessions.visibility}"`;
  if (from === to) {
    return `${fact}). The owner can set tools.sessions.visibility: "agent", or ${grant}.`;
  }
  const wider = [
    ...(sessions.visibility === "all" ? [] : ['tools.sessions.visibility: "all"']),
    ...(agentToAgent.enabled ? [] : ["tools.agentToAgent.enabled: true"]),
    ...(patternsAllow(from, to, config)
      ? []
      : [`patterns for "${from}" and "${to}" in tools.agentToAgent.allow`]),
  ];
  const state = agentToAgent.enabled ? "on" : "off";
  return `${fact}, tools.agentToAgent is ${state}). The owner can set ${wider.join(" and ")}; or ${grant}.`;
}
