import type { Database } from "./database.ts";

/**
 * - runs: every run, kept for a day after its end (the memory of what was accepted, and the answer for a late wait).
 *   `seq` is the place in the lane; a delayed run has none before it is due. `not_before`: a delayed run's due time, or until
 *   when the head of a lane is parked. `ignores`: it is due before when a run of another kind than this is placed behind it.
 * - lanes: a row for each lane that has placed, unsettled runs; no row = idle. `turn` is the order among the ready lanes of a pool.
 * - waits: `claim` (a running run) waits for `run`, which stands in the lane `target`.
 * - processes: who has the file open. `beat` grows while the process lives.
 * - owners: a resource is free when its holder is not among the processes.
 * - clock: when any process last looked for what is due. A clock that stands before that was set back.
 */
const tables = `
CREATE TABLE IF NOT EXISTS runs (
  id TEXT PRIMARY KEY, lane TEXT NOT NULL, pool TEXT NOT NULL, kind TEXT NOT NULL, payload TEXT NOT NULL,
  state TEXT NOT NULL, seq INTEGER, not_before INTEGER, ignores TEXT,
  attempt INTEGER NOT NULL DEFAULT 0, interrupted INTEGER NOT NULL DEFAULT 0, cancelling INTEGER NOT NULL DEFAULT 0,
  result TEXT, error TEXT, enqueued_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER
);
CREATE INDEX IF NOT EXISTS runs_pending ON runs (lane, seq) WHERE ended_at IS NULL;
CREATE INDEX IF NOT EXISTS runs_delayed ON runs (not_before) WHERE ended_at IS NULL AND seq IS NULL;
CREATE INDEX IF NOT EXISTS runs_cancelling ON runs (lane) WHERE ended_at IS NULL AND cancelling = 1;
CREATE INDEX IF NOT EXISTS runs_ended ON runs (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS lanes (
  lane TEXT PRIMARY KEY, pool TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN ('ready', 'busy', 'parked')),
  turn INTEGER, due_at INTEGER, owner TEXT, claim TEXT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS lanes_ready ON lanes (pool, turn) WHERE state = 'ready';
CREATE INDEX IF NOT EXISTS lanes_parked ON lanes (due_at) WHERE state = 'parked';
CREATE INDEX IF NOT EXISTS lanes_busy ON lanes (owner) WHERE state = 'busy';

CREATE TABLE IF NOT EXISTS waits (
  claim TEXT NOT NULL, run TEXT NOT NULL, target TEXT NOT NULL, PRIMARY KEY (claim, run)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS processes (
  id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, start_token TEXT, beat INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS owners (
  resource TEXT PRIMARY KEY, epoch INTEGER NOT NULL, holder TEXT
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS clock (id INTEGER PRIMARY KEY CHECK (id = 1), seen_at INTEGER NOT NULL);
`;

/** Makes what is missing; never changes what is there. */
export function createTables(database: Database): void {
  database.transaction(() => database.exec(tables));
}
