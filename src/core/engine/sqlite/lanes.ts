import type { Clock, Json } from "../../ports/host.ts";
import type { Changes } from "./changes.ts";
import type { Database } from "./database.ts";

/** A run at the head of its lane, taken by a claim. */
export interface TakenRun {
  readonly id: string;
  readonly lane: string;
  readonly kind: string;
  readonly payload: Json;
  readonly attempt: number;
  readonly interrupted: boolean;
  readonly cancelling: boolean;
}

/**
 * A lane is idle (no row), ready, parked (its head waits for a time) or busy (a claim works on its head).
 * Everything that changes is called inside a transaction.
 */
export interface Lanes {
  /** A run has got a place: an idle lane becomes ready, and one whose head waited for it. Any other stays as it is. */
  open(run: { readonly lane: string; readonly pool: string; readonly kind: string }): void;
  /** Cheap look before a claim; outside a transaction. */
  isReady(pool: string): boolean;
  /** Makes the pool's longest ready lane busy under this claim. */
  take(pool: string, owner: string, claim: string): TakenRun | undefined;
  /** Gives the lane the state that its head asks for, behind the ready ones. Ends a claim. */
  release(lane: string): void;
  /** The head that was running becomes an interrupted one, and the lane is free again. */
  interrupt(lane: string): void;
  /** The head need not wait for its time any more. */
  unpark(lane: string, pool: string): void;
  head(lane: string): { readonly id: string; readonly pool: string; readonly kind: string } | undefined;
  /** Those of these lanes that are busy. */
  busy(lanes: readonly string[]): readonly string[];
}

interface TakenRow extends Omit<TakenRun, "payload" | "interrupted" | "cancelling"> {
  readonly payload: string;
  readonly interrupted: number;
  readonly cancelling: number;
}

export function createLanes({
  database,
  changes,
  clock,
}: {
  readonly database: Database;
  readonly changes: Changes;
  readonly clock: Clock;
}): Lanes {
  const sql = prepare(database);

  const ready = (lane: string, pool: string): void => {
    sql.ready.run(pool, pool, lane);
    changes.ready(pool);
  };

  const release = (lane: string): void => {
    const head = sql.head.get<{ pool: string; not_before: number | null }>(lane);
    if (!head) {
      sql.idle.run(lane);
    } else if (head.not_before === null || head.not_before <= clock.now()) {
      ready(lane, head.pool);
    } else {
      sql.park.run(head.pool, head.not_before, lane);
      changes.due(head.not_before);
    }
  };

  const take = (pool: string, owner: string, claim: string): TakenRun | undefined => {
    const taken = sql.takeLane.get<{ lane: string }>(owner, claim, pool);
    if (!taken) return undefined;
    const row = sql.startHead.get<TakenRow>(clock.now(), taken.lane);
    if (row) return toTakenRun(row);
    release(taken.lane);
    return take(pool, owner, claim);
  };

  const unpark = (lane: string, pool: string): void => {
    sql.unparkHead.run(lane);
    ready(lane, pool);
  };

  return {
    open({ lane, pool, kind }) {
      if (sql.open.run(lane, pool, pool) > 0) return changes.ready(pool);
      const parked = sql.parkedUntilFollowed.get<{ pool: string }>(lane, kind);
      if (parked) unpark(lane, parked.pool);
    },
    isReady: (pool) => sql.isReady.get(pool) !== undefined,
    take,
    release,
    interrupt(lane) {
      sql.interruptHead.run(lane);
      release(lane);
    },
    unpark,
    head: (lane) => sql.head.get(lane),
    busy: (lanes) => sql.busy.all<{ lane: string }>(JSON.stringify(lanes)).map((row) => row.lane),
  };
}

function toTakenRun({ id, lane, kind, payload, attempt, interrupted, cancelling }: TakenRow): TakenRun {
  return {
    id,
    lane,
    kind,
    payload: JSON.parse(payload),
    attempt,
    interrupted: interrupted === 1,
    cancelling: cancelling === 1,
  };
}

function prepare(database: Database) {
  const headOf = (lane: string) =>
    `FROM runs WHERE runs.lane = ${lane} AND ended_at IS NULL AND seq IS NOT NULL ORDER BY seq LIMIT 1`;
  const head = headOf("?");
  const nextTurn =
    "(SELECT coalesce(max(turn), 0) + 1 FROM lanes AS others WHERE others.pool = ? AND others.state = 'ready')";
  const free = "owner = NULL, claim = NULL";
  return {
    open: database.prepare(
      `INSERT INTO lanes (lane, pool, state, turn) VALUES (?, ?, 'ready', ${nextTurn}) ON CONFLICT (lane) DO NOTHING`,
    ),
    ready: database.prepare(
      `UPDATE lanes SET state = 'ready', pool = ?, turn = ${nextTurn}, due_at = NULL, ${free} WHERE lane = ?`,
    ),
    park: database.prepare(
      `UPDATE lanes SET state = 'parked', pool = ?, turn = NULL, due_at = ?, ${free} WHERE lane = ?`,
    ),
    idle: database.prepare("DELETE FROM lanes WHERE lane = ?"),
    head: database.prepare(`SELECT id, pool, kind, not_before ${head}`),
    parkedUntilFollowed: database.prepare(
      `SELECT pool FROM lanes WHERE lane = ? AND state = 'parked' AND (SELECT ignores ${headOf("lanes.lane")}) <> ?`,
    ),
    busy: database.prepare(
      "SELECT lane FROM lanes WHERE state = 'busy' AND lane IN (SELECT value FROM json_each(?))",
    ),
    isReady: database.prepare("SELECT 1 AS found FROM lanes WHERE pool = ? AND state = 'ready' LIMIT 1"),
    takeLane: database.prepare(
      "UPDATE lanes SET state = 'busy', turn = NULL, owner = ?, claim = ? " +
        "WHERE lane = (SELECT lane FROM lanes WHERE pool = ? AND state = 'ready' ORDER BY turn LIMIT 1) RETURNING lane",
    ),
    startHead: database.prepare(
      "UPDATE runs SET state = 'running', attempt = attempt + 1, not_before = NULL, started_at = ? " +
        `WHERE id = (SELECT id ${head}) RETURNING id, lane, kind, payload, attempt, interrupted, cancelling`,
    ),
    interruptHead: database.prepare(
      `UPDATE runs SET state = 'queued', interrupted = 1 WHERE id = (SELECT id ${head}) AND state = 'running'`,
    ),
    unparkHead: database.prepare(`UPDATE runs SET not_before = NULL WHERE id = (SELECT id ${head})`),
  };
}
