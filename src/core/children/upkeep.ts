import { nextId } from "../delivery/dead-letter.ts";
import type { Child, ChildPost } from "../ports/child.ts";
import type { RunId, RunRecord } from "../ports/engine.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Write } from "../ports/storage.ts";
import { type Aftermath, NOTHING } from "../runs/executor-parts.ts";
import { asksAgent, type Job } from "../runs/job.ts";
import { inheritance } from "../session/sessions.ts";
import { upkeepRun } from "./child-runs.ts";
import { type ChildParts, childWrite } from "./parts.ts";
import { endOnce, familyWrite, STOPPED, timeUp } from "./settle.ts";
import type { Cascade } from "./stop.ts";
import { bindings } from "./thread-bindings.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** What is done for a child when nobody is asked: each of these may be done twice. */
export async function doUpkeep(job: Job, cascade: Cascade, parts: ChildParts): Promise<Aftermath> {
  const { id = "", step } = job.child ?? {};
  const child = await parts.storage.records("child").get(id);
  switch (step) {
    case "cascade":
      await cascade(job.sessionKey, child?.stoppedBy ?? "requester");
      return child === undefined ? NOTHING : endOfStopped(child, parts);
    case "deadline":
      return child === undefined ? NOTHING : endOnce(child, timeUp(child), parts);
    case "cleanup":
      return child === undefined ? NOTHING : cleanUp(child, parts);
    case "archive":
      return archive(job, child, parts);
    default:
      return NOTHING;
  }
}

/** A stop that met the end of a run may find its task still open when the lane comes here. */
async function endOfStopped(child: Child, parts: ChildParts): Promise<Aftermath> {
  return child.stoppedBy === undefined ? NOTHING : endOnce(child, STOPPED, parts);
}

/** Told, and its post settled: the session goes, or will be archived. Until both are true a later run of this step comes. */
async function cleanUp(child: Child, parts: ChildParts): Promise<Aftermath> {
  if (child.told === undefined) return NOTHING;
  const post = await postOf(child, parts);
  if (post?.state === "pending") return NOTHING;
  const known = childWrite(child.id, (now) => (post === undefined ? now : { ...now, post }));
  if (child.cleanup === "delete") {
    const gone = await deletion(child.key, parts);
    return { writes: [known, ...clearing(child), ...gone], effects: [] };
  }
  const session = await parts.sessions.get(child.key);
  const dueMs = session && dueAt(session, child, parts);
  if (dueMs === undefined) return { writes: [known, ...clearing(child)], effects: [] };
  const nowMs = parts.clock.now();
  return { writes: [known], effects: [upkeepRun(child, "archive", { nowMs, dueMs, mark: dueMs })] };
}

/** What the record says of the post or, while nobody has written it down yet or somebody has asked for it again, its delivery. */
export async function postOf(
  { post }: Child,
  { queue }: Pick<ChildParts, "queue">,
): Promise<ChildPost | undefined> {
  if (post?.deliveryId === undefined || post.state === "delivered") return post;
  const delivery = await lastEnded(post.deliveryId, queue);
  if (delivery === undefined) return post;
  // Results of deliveries are written by the outbox only.
  const result = delivery.result as
    | { readonly state?: ChildPost["state"]; readonly reason?: string }
    | undefined;
  const { state = "failed", reason } = result ?? {};
  return reason === undefined ? { ...post, state } : { ...post, state, reason };
}

/** The newest try of a delivery that has ended. The first may be forgotten before the others. */
async function lastEnded(id: RunId, queue: ChildParts["queue"]): Promise<RunRecord | undefined> {
  const [first, next] = await Promise.all([queue.get(id), queue.get(nextId(id))]);
  const later = next === undefined ? undefined : await lastEnded(next.id, queue);
  return later ?? (first?.endedAtMs === undefined ? undefined : first);
}

/** The session and all that was said in it; transcripts first, as they are found through the session. */
async function deletion(key: SessionKey, { sessions, storage }: ChildParts): Promise<readonly Write[]> {
  const session = await sessions.get(key);
  if (session === undefined) return [];
  const ids = new Set([session.sessionId, ...(await storage.index.sessionIds(key))]);
  for (const id of ids) await storage.transcripts.delete(id);
  return [
    ...(await inheritance(session, storage)),
    { type: "record", table: "session", key, change: () => undefined },
  ];
}

/** A child that is still used is looked at again later. */
async function archive(job: Job, child: Child | undefined, parts: ChildParts): Promise<Aftermath> {
  const { sessions, clock, queue } = parts;
  const nowMs = clock.now();
  if (child === undefined) return NOTHING;
  const session = await sessions.get(job.sessionKey);
  const dueMs = session && dueAt(session, child, parts);
  if (session === undefined || session.archivedAtMs !== undefined || dueMs === undefined) {
    return { writes: clearing(child), effects: [] };
  }
  const isBusy = (await queue.pending(session.key)).some(asksAgent);
  if (isBusy || dueMs > nowMs) {
    const laterMs = Math.max(dueMs, nowMs + MINUTE_MS);
    return { writes: [], effects: [upkeepRun(child, "archive", { nowMs, dueMs: laterMs, mark: laterMs })] };
  }
  return { writes: [...archiving(child, nowMs, parts), ...clearing(child)], effects: [] };
}

/** Out of the lists; a thread that it had belongs to its room again. */
export function archiving(
  child: Pick<Child, "key" | "thread">,
  nowMs: number,
  { agentIds }: Pick<ChildParts, "agentIds">,
): readonly Write[] {
  const archived: Write = {
    type: "record",
    table: "session",
    key: child.key,
    change: (now) => now && { ...now, archivedAtMs: now.archivedAtMs ?? nowMs },
  };
  return [archived, ...bindings(child, agentIds).map(({ key, to }) => unbinding(key, to))];
}

/** Only while the redirect still leads to the child. */
function unbinding(key: SessionKey, child: SessionKey): Write {
  return {
    type: "record",
    table: "moved",
    key,
    change: (current) => (current?.to === child ? undefined : current),
  };
}

/** Nothing is left to do: the record goes when its runs are forgotten, and what it counted goes now. */
function clearing({ id, key }: Child): readonly Write[] {
  return [
    childWrite(id, (current) => ({ ...current, cleared: true })),
    familyWrite(key, (family) =>
      family?.open.length === 0 && family.untold.length === 0 ? undefined : family,
    ),
  ];
}

function dueAt(session: Session, child: Child, { config }: ChildParts): number | undefined {
  const usedMs = Math.max(session.updatedAtMs, child.endedAtMs ?? 0);
  if (child.thread === undefined) {
    const { archiveAfterMinutes: minutes } = config.agents.defaults.subagents;
    return minutes === 0 ? undefined : usedMs + minutes * MINUTE_MS;
  }
  const { idleHours, maxAgeHours } = config.session.threadBindings;
  const ends = [
    ...(idleHours === 0 ? [] : [usedMs + idleHours * HOUR_MS]),
    ...(maxAgeHours === 0 ? [] : [child.spawnedAtMs + maxAgeHours * HOUR_MS]),
  ];
  return ends.length === 0 ? undefined : Math.min(...ends);
}
