import type { Worker } from "../../ports/engine.ts";
import type { LocalWorker } from "./worker.ts";

/** The workers of this process. */
export interface LocalWorkers {
  /** Kept until it is stopped. */
  add(pool: string, worker: LocalWorker): Worker;
  /** The pools that somebody here works on. */
  pools(): readonly string[];
  nudge(pool: string): void;
  nudgeAll(): void;
  stopAll(graceMs: number): Promise<void>;
}

export function createLocalWorkers(): LocalWorkers {
  const pools = new Map<string, Set<LocalWorker>>();
  const all = (): LocalWorker[] => [...pools.values()].flatMap((workers) => [...workers]);

  return {
    add(pool, worker) {
      const workers = pools.get(pool) ?? new Set();
      pools.set(pool, workers.add(worker));
      worker.nudge();
      return {
        async stop(graceMs) {
          await worker.stop(graceMs);
          workers.delete(worker);
          if (workers.size === 0 && pools.get(pool) === workers) pools.delete(pool);
        },
      };
    },
    pools: () => [...pools.keys()],
    nudge(pool) {
      for (const worker of pools.get(pool) ?? []) worker.nudge();
    },
    nudgeAll() {
      for (const worker of all()) worker.nudge();
    },
    async stopAll(graceMs) {
      await Promise.all(all().map((worker) => worker.stop(graceMs)));
    },
  };
}
