import type { NewRun, RunId, RunRecord, RunSettlement, RunState } from "../../ports/engine.ts";
import type { Json } from "../../ports/host.ts";
import type { Database } from "./database.ts";

interface RunRow {
  readonly id: string;
  readonly lane: string;
  readonly pool: string;
  readonly kind: string;
  readonly payload: string;
  readonly state: RunState;
  readonly attempt: number;
  readonly result: string | null;
  readonly error: string | null;
  readonly enqueued_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
}

export type RunEnd =
  | { readonly state: "done"; readonly result: Json }
  | { readonly state: "failed"; readonly error: string; readonly result?: Json | undefined }
  | { readonly state: "cancelled" };

export type Parking = Extract<RunSettlement, { readonly retryAtMs: number }>;

/** Where a run stands; `claim` while it is running. */
export interface RunPlace {
  readonly state: RunState;
  readonly lane: string;
  readonly claim: string | null;
}

/** The rows of the table runs. Nothing here opens a transaction. */
export interface RunRows {
  /** At the end of its lane, or without a place when `delayed`. false: the id is known. */
  insert(run: NewRun, delayed: boolean, nowMs: number): boolean;
  get(id: RunId): RunRecord | undefined;
  /** A delayed run is due: to the end of its lane. */
  giveSeq(id: RunId, lane: string): void;
  /** Not settled, in order; delayed ones last. */
  pending(lane: string, limit?: number): readonly RunRecord[];
  /** Those that were accepted before this run, of whichever lane that is. */
  pendingBefore(lane: string, id: RunId): readonly RunRecord[];
  /** The first one behind it in its lane that is of another kind than `except`. */
  next(id: RunId, except: string): RunRecord | undefined;
  place(id: RunId): RunPlace | undefined;
  isEnded(id: RunId): boolean;
  end(id: RunId, end: RunEnd, nowMs: number): void;
  /** Back to the head of its lane, until its time or until it is followed. */
  park(id: RunId, parking: Parking): void;
  /** A claimed run that nobody has begun is a queued one again. */
  putBack(id: RunId): void;
  setPayload(id: RunId, payload: Json): void;
  requestCancel(id: RunId): void;
  isCancelling(id: RunId): boolean;
  /** Claims of this process whose run somebody wants to cancel. */
  cancelRequests(owner: string): readonly string[];
  /** At most `limit`, those that ended first. */
  endedBefore(beforeMs: number, limit: number): readonly RunId[];
  forget(ids: readonly RunId[]): void;
}

const columns =
  "id, lane, pool, kind, payload, state, attempt, result, error, enqueued_at, started_at, ended_at";
/** One look at the end of an index, however long the lane is. */
const nextSeq =
  "(SELECT coalesce(max(seq), 0) + 1 FROM runs AS others WHERE others.lane = ? AND others.ended_at IS NULL)";

export function createRunRows(database: Database): RunRows {
  const insertPlaced =
    database.prepare(`INSERT INTO runs (id, lane, pool, kind, payload, enqueued_at, state, seq)
    VALUES (?, ?, ?, ?, ?, ?, 'queued', ${nextSeq}) ON CONFLICT (id) DO NOTHING`);
  const insertDelayed =
    database.prepare(`INSERT INTO runs (id, lane, pool, kind, payload, enqueued_at, state, not_before)
    VALUES (?, ?, ?, ?, ?, ?, 'queued', ?) ON CONFLICT (id) DO NOTHING`);
  const byId = database.prepare(`SELECT ${columns} FROM runs WHERE id = ?`);
  const place = database.prepare(
    "SELECT runs.state, runs.lane, iif(runs.state = 'running', lanes.claim, NULL) AS claim " +
      "FROM runs LEFT JOIN lanes ON lanes.lane = runs.lane WHERE runs.id = ?",
  );
  const ended = database.prepare("SELECT 1 AS found FROM runs WHERE id = ? AND ended_at IS NOT NULL");
  const end = database.prepare(
    "UPDATE runs SET state = ?, result = ?, error = ?, ended_at = ?, cancelling = 0 WHERE id = ?",
  );
  const park = database.prepare(
    "UPDATE runs SET state = 'queued', not_before = ?, ignores = ?, payload = coalesce(?, payload) WHERE id = ?",
  );
  const putBack = database.prepare(
    "UPDATE runs SET state = 'queued', attempt = attempt - 1, started_at = iif(attempt > 1, started_at, NULL) WHERE id = ?",
  );
  const setPayload = database.prepare("UPDATE runs SET payload = ? WHERE id = ?");
  const requestCancel = database.prepare("UPDATE runs SET cancelling = 1 WHERE id = ?");
  const cancelling = database.prepare("SELECT 1 AS found FROM runs WHERE id = ? AND cancelling = 1");
  const cancelRequests = database.prepare(
    "SELECT lanes.claim FROM runs JOIN lanes ON lanes.lane = runs.lane " +
      "WHERE runs.ended_at IS NULL AND runs.cancelling = 1 AND runs.state = 'running' AND lanes.owner = ?",
  );
  const endedBefore = database.prepare(
    "SELECT id FROM runs WHERE ended_at IS NOT NULL AND ended_at < ? ORDER BY ended_at LIMIT ?",
  );
  const forget = database.prepare("DELETE FROM runs WHERE id IN (SELECT value FROM json_each(?))");

  return {
    ...createLaneOrder(database),
    insert(run, delayed, nowMs) {
      const { lane, id, pool, kind, notBeforeMs = null } = run;
      const payload = toText(run.payload);
      const inserted = delayed
        ? insertDelayed.run(id, lane, pool, kind, payload, nowMs, notBeforeMs)
        : insertPlaced.run(id, lane, pool, kind, payload, nowMs, lane);
      return inserted > 0;
    },
    get: (id) => toRecord(byId.get<RunRow>(id)),
    place: (id) => place.get<RunPlace>(id),
    isEnded: (id) => ended.get(id) !== undefined,
    end(id, to, nowMs) {
      const result = "result" in to && to.result !== undefined ? toText(to.result) : null;
      end.run(to.state, result, to.state === "failed" ? to.error : null, nowMs, id);
    },
    park: (id, { retryAtMs, orFollowed, payload }) =>
      void park.run(
        retryAtMs,
        orFollowed?.except ?? null,
        payload === undefined ? null : toText(payload),
        id,
      ),
    putBack: (id) => void putBack.run(id),
    setPayload: (id, payload) => void setPayload.run(toText(payload), id),
    requestCancel: (id) => void requestCancel.run(id),
    isCancelling: (id) => cancelling.get(id) !== undefined,
    cancelRequests: (owner) => cancelRequests.all<{ claim: string }>(owner).map((row) => row.claim),
    endedBefore: (beforeMs, limit) => endedBefore.all<{ id: RunId }>(beforeMs, limit).map(({ id }) => id),
    forget: (ids) => void forget.run(JSON.stringify(ids)),
  };
}

function createLaneOrder(
  database: Database,
): Pick<RunRows, "giveSeq" | "pending" | "pendingBefore" | "next"> {
  const giveSeq = database.prepare(`UPDATE runs SET not_before = NULL, seq = ${nextSeq} WHERE id = ?`);
  const inOrder = "ORDER BY seq IS NULL, seq, not_before, rowid";
  const byLane = database.prepare(
    `SELECT ${columns} FROM runs WHERE lane = ? AND ended_at IS NULL ${inOrder} LIMIT ?`,
  );
  // `seq` counts within a lane, and two runs may come within one millisecond; a row never changes its place in the table.
  const before = database.prepare(
    `SELECT ${columns} FROM runs WHERE lane = ? AND ended_at IS NULL AND rowid < (SELECT rowid FROM runs WHERE id = ?) ${inOrder}`,
  );
  const next = database.prepare(
    `SELECT ${columns} FROM runs WHERE lane = (SELECT lane FROM runs WHERE id = ?) AND ended_at IS NULL ` +
      "AND seq > (SELECT seq FROM runs WHERE id = ?) AND kind <> ? ORDER BY seq LIMIT 1",
  );
  return {
    giveSeq: (id, lane) => void giveSeq.run(lane, id),
    pending: (lane, limit = -1) => byLane.all<RunRow>(lane, limit).map((row) => toRecord(row)),
    pendingBefore: (lane, id) => before.all<RunRow>(lane, id).map((row) => toRecord(row)),
    next: (id, except) => toRecord(next.get<RunRow>(id, id, except)),
  };
}

/** What has no JSON is null: a column is never left without a text. */
function toText(value: Json): string {
  return JSON.stringify(value ?? null);
}

function toRecord(row: RunRow): RunRecord;
function toRecord(row: RunRow | undefined): RunRecord | undefined;
function toRecord(row: RunRow | undefined): RunRecord | undefined {
  if (!row) return undefined;
  const { id, lane, pool, kind, state, attempt } = row;
  return {
    id,
    lane,
    pool,
    kind,
    state,
    attempt,
    payload: JSON.parse(row.payload),
    enqueuedAtMs: row.enqueued_at,
    ...(row.result === null ? {} : { result: JSON.parse(row.result) }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.started_at === null ? {} : { startedAtMs: row.started_at }),
    ...(row.ended_at === null ? {} : { endedAtMs: row.ended_at }),
  };
}
