import type { SwitchboardError } from "../../errors.ts";
import type { RunId, RunRecord } from "../../ports/engine.ts";
import type { Clock } from "../../ports/host.ts";
import type { RunRows } from "./run-rows.ts";

/** Who waits in this process for the end of a run. */
export interface Waiting {
  size(): number;
  /** The settled run; undefined when the time is up or the signal is aborted. Looks once more at the very end. */
  until(id: RunId, timeoutMs: number, signal: AbortSignal | undefined): Promise<RunRecord | undefined>;
  ended(id: RunId): void;
  /** Looks at every run that is waited for: another process may have settled it. true: one was. */
  checkAll(): boolean;
  closeAll(error: SwitchboardError): void;
}

const longestTimerMs = 2 ** 31 - 1;

export function createWaiting(rows: RunRows, clock: Clock): Waiting {
  const waiters = new Map<RunId, Set<{ finish(): void; fail(error: unknown): void }>>();
  const onAbort = createAborts();

  const look = async (id: RunId): Promise<RunRecord | undefined> => {
    const record = rows.get(id);
    return record?.endedAtMs === undefined ? undefined : record;
  };

  const ended = (id: RunId): void => {
    for (const waiter of waiters.get(id) ?? []) waiter.finish();
  };

  return {
    size: () => waiters.size,
    until: (id, timeoutMs, signal) =>
      new Promise((resolve, reject) => {
        const settle = (answer: () => void): void => {
          cancelTimer();
          forgetSignal();
          const others = waiters.get(id);
          others?.delete(waiter);
          if (others?.size === 0) waiters.delete(id);
          answer();
        };
        const finish = (): void => settle(() => resolve(look(id)));
        const waiter = { finish, fail: (error: unknown) => settle(() => reject(error)) };
        const cancelTimer = clock.after(Math.min(Math.max(timeoutMs, 0), longestTimerMs), finish);
        const forgetSignal = signal === undefined ? () => {} : onAbort(signal, finish);
        waiters.set(id, (waiters.get(id) ?? new Set()).add(waiter));
        if (signal?.aborted) finish();
      }),
    ended,
    checkAll() {
      const settled = [...waiters.keys()].filter((id) => rows.isEnded(id));
      settled.forEach(ended);
      return settled.length > 0;
    },
    closeAll(error) {
      for (const some of [...waiters.values()]) for (const waiter of some) waiter.fail(error);
    },
  };
}

/** One listener per signal, however many wait with it: Node.js warns about more than ten. The returned function forgets `act`. */
function createAborts(): (signal: AbortSignal, act: () => void) => () => void {
  const heard = new Map<AbortSignal, { readonly acts: Set<() => void>; readonly listener: () => void }>();

  function listenTo(signal: AbortSignal) {
    const acts = new Set<() => void>();
    const listener = () => {
      for (const act of [...acts]) act();
    };
    signal.addEventListener("abort", listener, { once: true });
    const one = { acts, listener };
    heard.set(signal, one);
    return one;
  }

  return (signal, act) => {
    const { acts, listener } = heard.get(signal) ?? listenTo(signal);
    acts.add(act);
    return () => {
      acts.delete(act);
      if (acts.size > 0) return;
      signal.removeEventListener("abort", listener);
      heard.delete(signal);
    };
  };
}
