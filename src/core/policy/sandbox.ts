import type { Config } from "../config.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import { agentIdOf, isMainKey, type KeyNames } from "../session/key.ts";

/**
 * Whether runs of this session are sandboxed: by its agent's mode, or because a sandboxed session spawned it. What was recorded at the spawn stays,
 * whatever the modes become; a mode that is set later holds for what was spawned before, too.
 */
export function isSandboxed(session: Session, config: Config, names: KeyNames): boolean {
  const { key, agentId, sandboxed, spawnedBy } = session;
  if (sandboxed === true || modeConfines(key, agentId, config, names)) return true;
  return spawnedBy !== undefined && modeConfines(spawnedBy, agentIdOf(spawnedBy, names), config, names);
}

/** Neither sandboxed nor a subagent: may learn where files of the bot lie. */
export function mayKnowFiles({ spawnedBy }: Pick<Session, "spawnedBy">, sandboxed: boolean): boolean {
  return !sandboxed && spawnedBy === undefined;
}

function modeConfines(key: SessionKey, agentId: string, config: Config, names: KeyNames): boolean {
  const mode = config.agents.list.find(({ id }) => id === agentId)?.sandbox.mode ?? "off";
  return mode === "all" || (mode === "non-main" && !isMainKey(key, names));
}
