import type { Logger } from "../../ports/host.ts";
import type { Changes } from "./changes.ts";
import type { Database } from "./database.ts";
import type { Lanes } from "./lanes.ts";
import type { Processes } from "./processes.ts";
import type { Running } from "./running.ts";
import type { WaitEdges } from "./wait-edges.ts";

/** Gives back what nobody works on any more. Everything is called inside a transaction. */
export interface Recovery {
  /** Takes lanes and waits from processes that have died. true: there was one. */
  recoverDead(options: { readonly observe: boolean }): boolean;
  /** Gives back the lanes and waits that this process holds. */
  giveUp(owner: string): void;
  /**
   * The watchdog: a busy lane that nobody works on, and queued due work in a lane that is neither ready nor busy. Neither should
   * ever be; what is found is set right and logged. A call looks at a bounded number of lanes and goes on where the last one stopped.
   */
  heal(owner: string): void;
}

const lanesPerLook = 200;

export function createRecovery({
  database,
  changes,
  lanes,
  edges,
  processes,
  running,
  logger,
}: {
  readonly database: Database;
  readonly changes: Changes;
  readonly lanes: Lanes;
  readonly edges: WaitEdges;
  readonly processes: Processes;
  readonly running: Running;
  readonly logger: Logger;
}): Recovery {
  const busyOf = database.prepare("SELECT lane, claim FROM lanes WHERE state = 'busy' AND owner = ?");
  const strangers = database.prepare(
    "SELECT DISTINCT owner FROM lanes WHERE state = 'busy' AND owner NOT IN (SELECT id FROM processes)",
  );
  const skipped = database.prepare(forgottenLanes);

  const interrupt = ({ lane, claim }: { lane: string; claim: string }): string => {
    edges.removeAll(claim);
    lanes.interrupt(lane);
    return lane;
  };

  const giveUp = (owner: string): readonly string[] =>
    busyOf.all<{ lane: string; claim: string }>(owner).map(interrupt);

  const warn = (details: object, message: string): void =>
    changes.afterCommit(() => logger.warn(details, message));

  const reopen = (lane: string): void => {
    const head = lanes.head(lane);
    if (head) lanes.open({ ...head, lane });
  };

  let lookedUpTo = "";

  return {
    recoverDead({ observe }) {
      const dead = processes.removeDead(observe);
      for (const id of dead) {
        const interrupted = giveUp(id);
        if (interrupted.length > 0) warn({ lanes: interrupted }, "a process died; its runs are interrupted");
      }
      return dead.length > 0;
    },
    giveUp: (owner) => void giveUp(owner),
    heal(owner) {
      for (const stranger of strangers.all<{ owner: string }>()) {
        warn(
          { lanes: giveUp(stranger.owner) },
          "lanes of an unknown process were busy; their runs are interrupted",
        );
      }
      const abandoned = busyOf
        .all<{ lane: string; claim: string }>(owner)
        .filter(({ claim }) => !running.has(claim));
      if (abandoned.length > 0) {
        warn(
          { lanes: abandoned.map(interrupt) },
          "lanes were busy without a handler; their runs are interrupted",
        );
      }
      const looked = skipped.all<{ lane: string; forgotten: number }>(lookedUpTo, lanesPerLook);
      lookedUpTo = looked.length < lanesPerLook ? "" : (looked.at(-1)?.lane ?? "");
      const forgotten = looked.filter((row) => row.forgotten === 1).map((row) => row.lane);
      if (forgotten.length === 0) return;
      forgotten.forEach(reopen);
      warn({ lanes: forgotten }, "lanes had work that nobody was told of; they are ready again");
    },
  };
}

/** Steps from lane to lane through the index of pending runs, however many runs a lane has. */
const forgottenLanes = `
WITH RECURSIVE page (lane, n) AS (
  SELECT (SELECT min(lane) FROM runs WHERE ended_at IS NULL AND lane > ?), 1
  UNION ALL
  SELECT (SELECT min(lane) FROM runs WHERE ended_at IS NULL AND lane > page.lane), n + 1
  FROM page WHERE page.lane IS NOT NULL AND n < ?
)
SELECT lane,
  NOT EXISTS (SELECT 1 FROM lanes WHERE lanes.lane = page.lane)
    AND EXISTS (SELECT 1 FROM runs WHERE runs.lane = page.lane AND ended_at IS NULL AND seq IS NOT NULL) AS forgotten
FROM page WHERE lane IS NOT NULL`;
