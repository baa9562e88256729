import { createHash } from "node:crypto";
import type { SessionKey } from "../ports/session.ts";
import { partsOf } from "../session/key.ts";

/**
 * The UUID (version 8) of the child that one sessions_spawn makes: derived, so that doing the same thing twice names the same child, and hashed, so that
 * neither its length nor what it tells grows with the chain of spawns. `scope`: the run, the mounting of the tools, or the session of an idempotency key.
 */
export function childIdFor(scope: string, callId: string): string {
  const text = JSON.stringify([scope, callId]);
  const hex = createHash("sha256").update(text).digest("hex").slice(0, 32);
  const marked = `${hex.slice(0, 12)}8${hex.slice(13, 16)}a${hex.slice(17)}`;
  return marked.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The child whose session this is; undefined for every session that was not spawned. */
export function childIdIn(key: SessionKey): string | undefined {
  const parsed = partsOf(key);
  return parsed.family === "subagent" ? parsed.path.at(-1) : undefined;
}
