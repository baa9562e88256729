import { given } from "../given.ts";
import type { Child } from "../ports/child.ts";
import type { RunId } from "../ports/engine.ts";
import type { SessionKey } from "../ports/session.ts";
import { isOfTask, upkeepRun } from "./child-runs.ts";
import { MAX_DEPTH, openTasks, stoppedAmong, tasksOf } from "./open-tasks.ts";
import { type ChildParts, childWrite, neverCame } from "./parts.ts";
import { endOfTask, STOPPED } from "./settle.ts";

type StoppedBy = NonNullable<Child["stoppedBy"]>;

/** Stops every open task below a session, at any depth, without waiting for the runs that are under way. */
export type Cascade = (key: SessionKey, by: StoppedBy) => Promise<readonly Stopped[]>;

/** Whether an open task is meant. Everything below one that is stopped is stopped with it. */
type Meant = (child: Child) => boolean;

const EVERY_TASK: Meant = () => true;

/** A task that was open. `runId`: its run that was under way, which records the end when it has let go. */
interface Stopped {
  readonly key: SessionKey;
  readonly runId?: RunId;
}

/** Longer than an agent that ignores its signal is waited for. */
const LETTING_GO_MS = 3000;

export function createStop(parts: ChildParts) {
  const { clock, queue } = parts;
  const children = parts.storage.records("child");

  /** Whoever could spawn anew is stopped before what it spawned. */
  async function below(
    key: SessionKey,
    by: StoppedBy,
    meant: Meant,
    depth: number,
  ): Promise<readonly Stopped[]> {
    if (depth > MAX_DEPTH) return [];
    const stopped: Stopped[] = [];
    for (const child of await tasksOf(key, parts)) {
      const isOpen = child.outcome === undefined;
      if (isOpen && !meant(child)) continue;
      const deeper = isOpen ? EVERY_TASK : meant;
      stopped.push(...(await stopOne(child, by)), ...(await below(child.key, by, deeper, depth + 1)));
    }
    return stopped;
  }

  async function stopOne(child: Child, by: StoppedBy): Promise<readonly Stopped[]> {
    const { id, key } = child;
    if (child.outcome !== undefined) return [];
    // The mark and the run that looks after it are one write: whatever happens from here on, the task ends.
    const mark = childWrite(id, (now) =>
      now.outcome === undefined ? { ...now, stoppedBy: now.stoppedBy ?? by } : now,
    );
    if (await neverCame(child, parts)) {
      await parts.storage.apply([mark]);
      return [];
    }
    await queue.enqueue(upkeepRun(child, "cascade", { nowMs: clock.now() }), { writes: [mark] });
    const marked = await children.get(id);
    if (marked === undefined || marked.outcome !== undefined) return [];
    const pending = await queue.pending(key);
    const running = pending.find((run) => run.state === "running" && isOfTask(run, child));
    // A run that is under way settles the task itself, with what it has made.
    if (running !== undefined && (await queue.cancel(running.id))) return [{ key, runId: running.id }];
    return (await endNow(marked, parts)) ? [{ key }] : [];
  }

  const cascade: Cascade = (key, by) => below(key, by, EVERY_TASK, 0);
  return {
    cascade,
    /** See openTasks. */
    openBelow: (key: SessionKey) => openTasks(key, parts),
    /** Stops the open tasks below a session, all or those that are meant. Resolves with their sessions when their runs have let go, or after three seconds. */
    stopBelow: async (key: SessionKey, by: StoppedBy, meant = EVERY_TASK) =>
      letGo(await below(key, by, meant, 0), parts),
    /** The same with the task itself; none: everything had ended. */
    async stop(child: Child, by: StoppedBy, meant = EVERY_TASK): Promise<readonly SessionKey[]> {
      const own = await stopOne(child, by);
      const deeper = child.outcome === undefined ? EVERY_TASK : meant;
      return letGo([...own, ...(await below(child.key, by, deeper, 0))], parts);
    },
    /** How many were stopped: these sessions just now, and those of these tasks that were stopped before. One whose end came first is none of them. */
    async countStopped(now: readonly SessionKey[], ids: readonly string[]): Promise<number> {
      const before = await stoppedAmong(ids, parts);
      return new Set([...now, ...before.map(({ key }) => key)]).size;
    },
  };
}

/** Nobody is at work: the end is recorded with the run that tells it, and what waits is not begun. false: another end came first. */
async function endNow(child: Child, parts: ChildParts): Promise<boolean> {
  const { queue, storage } = parts;
  const end = { outcome: STOPPED, ...given({ result: child.result }) };
  const { writes, effects } = await endOfTask(child, end, parts);
  const [first, ...others] = effects;
  if (first === undefined) await storage.apply(writes);
  else if ((await queue.enqueue(first, { writes })) === "duplicate") return false;
  for (const run of others) await queue.enqueue(run);
  // A worker may have taken one of them in the meantime.
  const waiting = (await queue.pending(child.key)).filter((run) => isOfTask(run, child));
  for (const run of waiting)
    if (run.state === "running" || run.id === child.runId) await queue.cancel(run.id);
  return true;
}

async function letGo(stopped: readonly Stopped[], { queue }: ChildParts): Promise<readonly SessionKey[]> {
  const runs = stopped.flatMap(({ runId }) => (runId === undefined ? [] : [runId]));
  await Promise.all(runs.map((id) => queue.wait(id, LETTING_GO_MS)));
  return stopped.map(({ key }) => key);
}
