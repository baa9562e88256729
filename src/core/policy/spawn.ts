import type { Config } from "../config.ts";
import type { ErrorCode } from "../errors.ts";
import { matchesPattern } from "./pattern.ts";

/** Who wants to spawn. */
export interface Spawner {
  readonly agentId: string;
  /** 0 = not spawned itself. */
  readonly depth: number;
  readonly sandboxed?: boolean;
}

export type SpawnDecision =
  | { readonly allowed: true; readonly agentId: string }
  | { readonly allowed: false; readonly code: ErrorCode; readonly reason: string };

/** The agents that a spawn may name, the spawner's own first; what agents_list shows and sessions_spawn accepts. */
export interface SpawnTargets {
  readonly allowAny: boolean;
  readonly agentIds: readonly string[];
}

const NOBODY: SpawnTargets = { allowAny: false, agentIds: [] };

export function spawnTargets(
  { agentId, depth }: Spawner,
  config: Config,
  configured: readonly string[],
): SpawnTargets {
  const { maxSpawnDepth, allowAgents } = config.agents.defaults.subagents;
  if (depth >= maxSpawnDepth) return NOBODY;
  const own = config.agents.list.find(({ id }) => id === agentId)?.subagents.allowAgents;
  const allowed = own ?? allowAgents ?? [];
  const others = configured
    .filter((id) => id !== agentId && allowed.some((pattern) => matchesPattern(pattern, id)))
    .sort();
  const self = configured.includes(agentId) ? [agentId] : [];
  return { allowAny: allowed.some((pattern) => pattern.trim() === "*"), agentIds: [...self, ...others] };
}

/** Depth and agent; what depends on what is at work now is decided when the places are taken. `asked`: absent = the spawner's own agent. */
export function maySpawn(
  spawner: Spawner,
  asked: string | undefined,
  config: Config,
  configured: readonly string[],
): SpawnDecision {
  const { maxSpawnDepth } = config.agents.defaults.subagents;
  if (spawner.depth >= maxSpawnDepth) {
    const reason = `This session is at depth ${spawner.depth}, and agents.defaults.subagents.maxSpawnDepth is ${maxSpawnDepth}: it may not spawn. Do the work yourself.`;
    return { allowed: false, code: "SPAWN_DEPTH", reason };
  }
  const agentId = asked ?? spawner.agentId;
  const { agentIds } = spawnTargets(spawner, config, configured);
  // A sandboxed session does not learn which agents there are beside those that it may spawn.
  if (spawner.sandboxed !== true && !configured.includes(agentId)) {
    const reason = `No agent "${agentId}" is configured. See agents_list.`;
    return { allowed: false, code: "AGENT_UNKNOWN", reason };
  }
  if (agentIds.includes(agentId)) return { allowed: true, agentId };
  const reason = `Agent "${spawner.agentId}" may not spawn "${agentId}". Allowed: ${agentIds.join(", ")}. The owner can add it to agents.list[].subagents.allowAgents.`;
  return { allowed: false, code: "AGENT_NOT_ALLOWED", reason };
}
