import { createHash } from "node:crypto";
import type { SessionKey } from "../ports/session.ts";
import { partsOf } from "../session/key.ts";

/** The UUID (version 8) of the child that this run made: derived, so that doing the same thing twice names the same child. */
export function childIdFor(spawnRunId: string): string {
  const hex = createHash("sha256").update(spawnRunId).digest("hex").slice(0, 32);
  const marked = `${hex.slice(0, 12)}8${hex.slice(13, 16)}a${hex.slice(17)}`;
  return marked.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The child whose session this is; undefined for every session that was not spawned. */
export function childIdIn(key: SessionKey): string | undefined {
  const parsed = partsOf(key);
  return parsed.family === "subagent" ? parsed.path.at(-1) : undefined;
}
