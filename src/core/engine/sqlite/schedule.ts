import type { NewRun } from "../../ports/engine.ts";
import type { Clock } from "../../ports/host.ts";
import type { Changes } from "./changes.ts";
import type { Database } from "./database.ts";
import type { Lanes } from "./lanes.ts";
import type { RunRows } from "./run-rows.ts";

/** When a run takes its place. Everything that changes is called inside a transaction. */
export interface Schedule {
  /** At the end of its lane, a delayed run when it is due. false: the id is known, nothing changed. */
  add(run: NewRun): boolean;
  /**
   * Delayed runs that are due get their place, parked lanes that are due become ready. When the clock was set back, whichever process notices it first: delayed
   * runs wait as long as they still had to at the last look, and all parked lanes become ready.
   */
  promoteDue(): void;
  nextDueAtMs(): number | undefined;
  /** Parked lanes of this pool become ready now. */
  wake(pool: string): void;
}

interface LaneOfPool {
  readonly lane: string;
  readonly pool: string;
}

/** What is more than that follows at once, in the next transaction. */
const promotionBatch = 200;

export function createSchedule({
  database,
  changes,
  rows,
  lanes,
  clock,
}: {
  readonly database: Database;
  readonly changes: Changes;
  readonly rows: RunRows;
  readonly lanes: Lanes;
  readonly clock: Clock;
}): Schedule {
  const dueRuns = database.prepare(
    "SELECT id, lane, pool, kind FROM runs WHERE ended_at IS NULL AND seq IS NULL AND not_before <= ? ORDER BY not_before, rowid LIMIT ?",
  );
  const dueLanes = database.prepare(
    "SELECT lane, pool FROM lanes WHERE state = 'parked' AND due_at <= ? ORDER BY due_at LIMIT ?",
  );
  const parkedIn = database.prepare(
    "SELECT lane, pool FROM lanes WHERE state = 'parked' AND pool = ? ORDER BY due_at",
  );
  const nextDue = database.prepare(
    "SELECT min(at) AS at FROM (SELECT min(not_before) AS at FROM runs WHERE ended_at IS NULL AND seq IS NULL " +
      "UNION ALL SELECT min(due_at) FROM lanes WHERE state = 'parked')",
  );

  const allParked = database.prepare("SELECT lane, pool FROM lanes WHERE state = 'parked' ORDER BY due_at");
  const earlier = database.prepare(
    "UPDATE runs SET not_before = not_before - ? WHERE ended_at IS NULL AND seq IS NULL AND not_before > ?",
  );
  const seenByAny = database.prepare("SELECT seen_at AS at FROM clock WHERE id = 1");
  const see = database.prepare(
    "INSERT INTO clock (id, seen_at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at",
  );
  let seenAtMs = clock.now();

  const nextDueAtMs = (): number | undefined => nextDue.get<{ at: number | null }>()?.at ?? undefined;

  /** By how much the clock was set back since any process looked. */
  const setBackMs = (now: number): number => Math.max(0, (seenByAny.get<{ at: number }>()?.at ?? now) - now);

  const promoteDue = (): void => {
    const now = clock.now();
    const backMs = setBackMs(now);
    // Nobody knows how long what is parked has still to wait, so its handler looks itself.
    const isBack = backMs > 0 || now < seenAtMs;
    if (backMs > 0) earlier.run(backMs, now);
    see.run(now);
    seenAtMs = now;
    for (const run of dueRuns.all<LaneOfPool & { id: string; kind: string }>(now, promotionBatch)) {
      rows.giveSeq(run.id, run.lane);
      lanes.open(run);
    }
    const parked = isBack ? allParked.all<LaneOfPool>() : dueLanes.all<LaneOfPool>(now, promotionBatch);
    for (const { lane, pool } of parked) lanes.unpark(lane, pool);
  };

  const addDelayed = (run: NewRun, notBeforeMs: number, now: number): boolean => {
    const added = rows.insert(run, true, now);
    if (added) changes.due(notBeforeMs);
    return added;
  };

  return {
    add(run) {
      const now = clock.now();
      const { notBeforeMs = 0 } = run;
      const isDelayed = notBeforeMs > now;
      // What became due before this run stands before it, even when no timer has fired yet; and how long a delayed one has waited is counted from a look on.
      if (isDelayed || now < seenAtMs || (nextDueAtMs() ?? Number.POSITIVE_INFINITY) <= now) promoteDue();
      seenAtMs = now;
      if (isDelayed) return addDelayed(run, notBeforeMs, now);
      const added = rows.insert(run, false, now);
      if (added) lanes.open(run);
      return added;
    },
    promoteDue,
    nextDueAtMs,
    wake(pool) {
      for (const { lane } of parkedIn.all<LaneOfPool>(pool)) lanes.unpark(lane, pool);
    },
  };
}
