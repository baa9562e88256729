import { SwitchboardError } from "../errors.ts";
import type { ClaimedRun, RunQueue, RunSettlement } from "../ports/engine.ts";
import type { Clock } from "../ports/host.ts";

/** How soon something that found the store out of reach is tried again. */
const RETRY_MS = 1000;

/**
 * The same queue for handlers that meet a store which is out of reach for a while: their run keeps its place and is handled again, instead of being lost
 * as failed. A handler lets STORE_UNREACHABLE out only before it has done anything that may not be done twice.
 */
export function patientQueue(queue: RunQueue, clock: Clock): RunQueue {
  return {
    ...queue,
    work: (pool, concurrency, handler) => queue.work(pool, concurrency, (run) => handle(run, handler, clock)),
  };
}

/** Does the work as often as it takes to reach the store, at most until the signal is raised. */
export async function patiently<T>(work: () => Promise<T>, clock: Clock, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isUnreachable(error) || signal?.aborted === true) throw error;
      await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
    }
  }
}

/** A parked run is no longer known as an interrupted one, so that one stays where it is. */
async function handle(
  run: ClaimedRun,
  handler: (run: ClaimedRun) => Promise<RunSettlement>,
  clock: Clock,
): Promise<RunSettlement> {
  if (run.interrupted) return patiently(() => handler(run), clock, run.signal);
  try {
    return await handler(run);
  } catch (error) {
    if (isUnreachable(error)) return { retryAtMs: clock.now() + RETRY_MS };
    throw error;
  }
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof SwitchboardError && error.code === "STORE_UNREACHABLE";
}
