import type { Config } from "../config.ts";
import type { Session } from "../ports/session.ts";
import { isMainKey, type KeyNames } from "../session/key.ts";

/** Whether runs of this session are sandboxed: by its agent's mode, or because a sandboxed session spawned it. */
export function isSandboxed(session: Session, config: Config, names: KeyNames): boolean {
  if (session.sandboxed === true) return true;
  const mode = config.agents.list.find((agent) => agent.id === session.agentId)?.sandbox.mode ?? "off";
  if (mode === "non-main") return !isMainKey(session.key, names);
  return mode === "all";
}
