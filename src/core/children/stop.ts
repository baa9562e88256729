import { given } from "../given.ts";
import type { Child } from "../ports/child.ts";
import type { RunId } from "../ports/engine.ts";
import type { SessionKey } from "../ports/session.ts";
import { isOfTask, upkeepRun } from "./child-runs.ts";
import { type ChildParts, childWrite, neverCame } from "./parts.ts";
import { endOfTask, STOPPED } from "./settle.ts";

type StoppedBy = NonNullable<Child["stoppedBy"]>;

/** Stops every open task below a session, at any depth, without waiting for the runs that are under way. */
export type Cascade = (key: SessionKey, by: StoppedBy) => Promise<readonly Stopped[]>;

/** A task that was open. `runId`: its run that was under way, which records the end when it has let go. */
interface Stopped {
  readonly key: SessionKey;
  readonly runId?: RunId;
}

/** Deeper than spawning can go; a longer chain can only be a damaged record. */
const MAX_DEPTH = 16;

/** Longer than an agent that ignores its signal is waited for. */
const LETTING_GO_MS = 3000;

export function createStop(parts: ChildParts) {
  const { clock, queue } = parts;
  const children = parts.storage.records("child");

  /** Whoever could spawn anew is stopped before what it spawned. */
  async function below(key: SessionKey, by: StoppedBy, depth: number): Promise<readonly Stopped[]> {
    if (depth > MAX_DEPTH) return [];
    const stopped: Stopped[] = [];
    const { open = [], recent = [] } = (await parts.storage.records("family").get(key)) ?? {};
    // One that has ended may have spawned again, when somebody spoke to it.
    for (const child of await children.getMany([...open.map(({ id }) => id), ...recent])) {
      if (child === undefined) continue;
      stopped.push(...(await stopOne(child, by)), ...(await below(child.key, by, depth + 1)));
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
    return (await endNow(marked)) ? [{ key }] : [];
  }

  /** Nobody is at work: the end is recorded with the run that tells it, and what waits is not begun. false: another end came first. */
  async function endNow(child: Child): Promise<boolean> {
    const { writes, effects } = await endOfTask(
      child,
      { outcome: STOPPED, ...given({ result: child.result }) },
      parts,
    );
    const [first, ...others] = effects;
    if (first === undefined) await parts.storage.apply(writes);
    else if ((await queue.enqueue(first, { writes })) === "duplicate") return false;
    for (const run of others) await queue.enqueue(run);
    // A worker may have taken one of them in the meantime.
    const waiting = (await queue.pending(child.key)).filter((run) => isOfTask(run, child));
    for (const run of waiting)
      if (run.state === "running" || run.id === child.runId) await queue.cancel(run.id);
    return true;
  }

  async function letGo(stopped: readonly Stopped[]): Promise<readonly SessionKey[]> {
    const runs = stopped.flatMap(({ runId }) => (runId === undefined ? [] : [runId]));
    await Promise.all(runs.map((id) => queue.wait(id, LETTING_GO_MS)));
    return stopped.map(({ key }) => key);
  }

  const cascade: Cascade = (key, by) => below(key, by, 0);
  return {
    cascade,
    /** Stops every open task below a session. Resolves with their sessions when their runs have let go, or after three seconds. */
    stopBelow: async (key: SessionKey, by: StoppedBy) => letGo(await cascade(key, by)),
    /** The same with the task itself; none: everything had ended. */
    async stop(child: Child, by: StoppedBy): Promise<readonly SessionKey[]> {
      const own = await stopOne(child, by);
      return letGo([...own, ...(await cascade(child.key, by))]);
    },
  };
}
