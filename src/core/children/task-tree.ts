import { given } from "../given.ts";
import type { Child } from "../ports/child.ts";
import type { SessionKey } from "../ports/session.ts";
import { type ChildParts, neverCame } from "./parts.ts";
import { type TaskView, taskView } from "./task-view.ts";
import { postOf } from "./upkeep.ts";

/** Deeper than spawning can go; a longer chain can only be a damaged record. */
const MAX_DEPTH = 16;

export interface TaskViewParts extends Pick<ChildParts, "storage" | "sessions" | "queue" | "clock"> {
  readonly redactor: Pick<ChildParts["redactor"], "redact">;
}

/** A task and those below it. `index` as in TaskView. */
export interface TaskNode {
  readonly child: Child;
  readonly index: number;
  readonly below: readonly TaskNode[];
}

/** Everything that was spawned below a session and is still remembered: open tasks in the order of their spawn, then ended ones, newest first. */
export async function taskTree(key: SessionKey, parts: TaskViewParts): Promise<readonly TaskNode[]> {
  return (await treesOf([key], parts, 1)).get(key) ?? [];
}

/** The tasks themselves and all below them, parents first. */
export function everyNode(nodes: readonly TaskNode[]): readonly TaskNode[] {
  return nodes.flatMap((node) => [node, ...everyNode(node.below)]);
}

export function isOpen({ child }: TaskNode): boolean {
  return child.outcome === undefined;
}

/** Open tasks, and those that ended within so many ms. */
export function sinceMs(nodes: readonly TaskNode[], ms: number, nowMs: number): readonly TaskNode[] {
  return nodes.filter(({ child }) => child.endedAtMs === undefined || child.endedAtMs > nowMs - ms);
}

export async function viewOf(node: TaskNode, parts: TaskViewParts): Promise<TaskView> {
  const { child, index, below } = node;
  const { queue, sessions, redactor, clock } = parts;
  const [pending, session, post] = await Promise.all([
    isOpen(node) ? queue.pending(child.key) : [],
    sessions.get(child.key),
    postOf(child, parts),
  ]);
  const now = {
    child,
    index,
    pending,
    openChildren: below.filter(isOpen).length,
    pendingDescendants: everyNode(below).filter(isOpen).length,
    ...given({ session, post }),
  };
  return taskView(now, clock.now(), (text) => redactor.redact(text).text);
}

/** One look per level, however many tasks there are. */
async function treesOf(
  keys: readonly SessionKey[],
  parts: TaskViewParts,
  depth: number,
): Promise<ReadonlyMap<SessionKey, readonly TaskNode[]>> {
  if (keys.length === 0 || depth > MAX_DEPTH) return new Map();
  const { storage } = parts;
  const families = await storage.records("family").getMany(keys);
  const ids = families.map((family) => [
    ...(family?.open.map(({ id }) => id) ?? []),
    ...(family?.recent ?? []),
  ]);
  const children = await rememberedIn(ids.flat(), parts);
  const below = await treesOf(
    [...children.values()].map(({ key }) => key),
    parts,
    depth + 1,
  );
  return new Map(
    keys.map((key, at) => {
      const own = (ids[at] ?? []).map((id) => children.get(id)).filter((child) => child !== undefined);
      const ordered = [...own.filter(({ outcome }) => !outcome), ...own.filter(({ outcome }) => outcome)];
      return [
        key,
        ordered.map((child) => ({ child, index: child.number, below: below.get(child.key) ?? [] })),
      ];
    }),
  );
}

/** Without those that a store kept although their spawn failed. */
async function rememberedIn(
  ids: readonly string[],
  { storage, queue }: TaskViewParts,
): Promise<ReadonlyMap<string, Child>> {
  const records = (await storage.records("child").getMany(ids)).filter((child) => child !== undefined);
  const never = await Promise.all(records.map((child) => neverCame(child, { queue })));
  return new Map(records.filter((_, at) => never[at] !== true).map((child) => [child.id, child]));
}
