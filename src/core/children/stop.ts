import type { Child } from "../ports/child.ts";
import type { RunRecord } from "../ports/engine.ts";
import type { SessionKey } from "../ports/session.ts";
import { toJob } from "../runs/job.ts";
import { type ChildParts, openBelow } from "./parts.ts";
import { endOfTask } from "./settle.ts";

/** Stops every open task below a session, at any depth. Resolves with how many there were. */
export type StopBelow = (key: SessionKey, by: NonNullable<Child["stoppedBy"]>) => Promise<number>;

/** Deeper than spawning can go; a longer chain can only be a damaged record. */
const MAX_DEPTH = 16;

export function createStop(parts: ChildParts) {
  const children = parts.storage.records("child");

  /** Whoever could spawn anew is stopped before what it spawned. */
  async function below(key: SessionKey, by: NonNullable<Child["stoppedBy"]>, depth: number): Promise<number> {
    if (depth > MAX_DEPTH) return 0;
    let stopped = 0;
    for (const id of await openBelow(key, parts)) {
      const child = await children.get(id);
      if (child === undefined) continue;
      if (await stopOne(child, by)) stopped += 1;
      stopped += await below(child.key, by, depth + 1);
    }
    return stopped;
  }

  async function stopOne(child: Child, by: NonNullable<Child["stoppedBy"]>): Promise<boolean> {
    if (child.outcome !== undefined) return false;
    const marked = await children.update(child.id, (now) => {
      if (now === undefined || now.outcome !== undefined) return now;
      return { ...now, stoppedBy: now.stoppedBy ?? by };
    });
    if (marked === undefined || marked.outcome !== undefined) return false;
    const pending = await parts.queue.pending(child.key);
    const running = pending.find((run) => run.state === "running" && isOfTask(run, child));
    // A run that is under way settles the task itself, with what it has made.
    if (running !== undefined && (await parts.queue.cancel(running.id))) return true;
    await endNow(marked, pending);
    return true;
  }

  /** Nobody is at work: the end is recorded with the run that tells it, and what waits is not begun. */
  async function endNow(child: Child, pending: readonly RunRecord[]): Promise<void> {
    const outcome = { status: "killed" as const, error: "stopped" };
    const { writes, effects } = await endOfTask(child, { outcome }, parts);
    const [first, ...others] = effects;
    if (first === undefined) await parts.storage.apply(writes);
    else await parts.queue.enqueue(first, { writes });
    for (const run of others) await parts.queue.enqueue(run);
    for (const run of pending) if (run.id === child.runId) await parts.queue.cancel(run.id);
  }

  const stopBelow: StopBelow = (key, by) => below(key, by, 0);
  return {
    stopBelow,
    /** The task and everything below it. false: it had ended. */
    async stop(child: Child, by: NonNullable<Child["stoppedBy"]>): Promise<boolean> {
      const stopped = await stopOne(child, by);
      await stopBelow(child.key, by === "owner" ? "owner" : "requester");
      return stopped;
    },
  };
}

function isOfTask({ payload }: RunRecord, child: Child): boolean {
  const { child: step, sessionKey } = toJob(payload);
  return sessionKey === child.key && (step?.step === "task" || step?.step === "completion");
}
