import type { Child } from "../ports/child.ts";
import type { SessionKey } from "../ports/session.ts";
import { type ChildParts, neverCame } from "./parts.ts";

/** Deeper than spawning can go; a longer chain can only be a damaged record. */
export const MAX_DEPTH = 16;

type Parts = Pick<ChildParts, "storage" | "queue">;

/** The tasks of a requester. One that has ended may have spawned again, when somebody spoke to it. */
export async function tasksOf(key: SessionKey, { storage }: Parts): Promise<readonly Child[]> {
  const { open = [], recent = [] } = (await storage.records("family").get(key)) ?? {};
  const found = await storage.records("child").getMany([...open.map(({ id }) => id), ...recent]);
  return found.filter((child) => child !== undefined);
}

/** The open tasks below a session, at any depth, parents first; also those of which a store has kept half. */
export async function openTasks(key: SessionKey, parts: Parts, depth = 0): Promise<readonly Child[]> {
  if (depth > MAX_DEPTH) return [];
  const open: Child[] = [];
  for (const child of await tasksOf(key, parts)) {
    if (child.outcome === undefined) open.push(child);
    open.push(...(await openTasks(child.key, parts, depth + 1)));
  }
  return open;
}

/** Those of these tasks that somebody has stopped; one whose own end came first is none of them. */
export async function stoppedAmong(ids: readonly string[], parts: Parts): Promise<readonly Child[]> {
  const found = await parts.storage.records("child").getMany(ids);
  const known = found.filter((child) => child !== undefined);
  const never = await Promise.all(known.map((child) => neverCame(child, parts)));
  return known.filter((child, at) => never[at] !== true && isStopped(child));
}

/** A run that is under way may have settled its task as done, whatever it was told. */
function isStopped({ stoppedBy, outcome }: Child): boolean {
  return stoppedBy !== undefined && (outcome === undefined || outcome.status === "killed");
}
