import type { Json } from "./host.ts";
import type { Write } from "./storage.ts";

export type RunId = string;

export interface NewRun {
  /** Chosen by the caller; a second enqueue of the same id changes nothing. */
  readonly id: RunId;
  /** Runs of one lane are serial and in order. */
  readonly lane: string;
  /** Workers are per pool. */
  readonly pool: string;
  readonly kind: string;
  readonly payload: Json;
  /** Unix ms. A delayed run takes its place in the lane only when due. A clock that is set back makes nobody wait longer. */
  readonly notBeforeMs?: number;
}

export type RunState = "queued" | "running" | "done" | "failed" | "cancelled";

export interface RunRecord {
  readonly id: RunId;
  readonly lane: string;
  readonly pool: string;
  readonly kind: string;
  readonly payload: Json;
  readonly state: RunState;
  /** How often it was claimed. */
  readonly attempt: number;
  /** What a settlement left: `done` or, beside a failure, `result`. */
  readonly result?: Json;
  readonly error?: string;
  readonly enqueuedAtMs: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
}

/** Why a claimed run's signal was aborted (`signal.reason`). */
export type AbortCause = "cancelled" | "lease lost" | "stopping";

export interface ClaimedRun {
  readonly id: RunId;
  readonly lane: string;
  readonly kind: string;
  readonly payload: Json;
  /** 1 = never begun before. More: an earlier worker died or lost its lease, or the run was parked by retryAt. */
  readonly attempt: number;
  /** true: an earlier claim ended without settling or parking; what it did is unknown. */
  readonly interrupted: boolean;
  readonly signal: AbortSignal;
  /** Gives the concurrency slot back while `work` is pending and takes one on return. */
  whileWaiting<T>(work: () => Promise<T>): Promise<T>;
  /** Replaces the payload durably, fenced by this claim. Rejects with CLOSED when the claim is lost. */
  checkpoint(payload: Json): Promise<void>;
}

interface Settled {
  /** Runs enqueued in the same transaction: replies, events, next steps. Their ids derive from this run's id. */
  readonly effects?: readonly NewRun[];
  readonly writes?: readonly Write[];
}

/** One transaction, fenced by the claim: either all of it happens or none. */
export type RunSettlement =
  | (Settled & { readonly done: Json })
  | (Settled & { readonly failed: string; readonly result?: Json })
  /**
   * Parked at the head of its lane. `orFollowed`: due as soon as a run of another kind than `except` stands behind it, too; at once when one does already.
   */
  | {
      readonly retryAtMs: number;
      readonly payload?: Json;
      readonly orFollowed?: { readonly except: string };
    }
  /** Ends as `done`, and `into`, which is queued in its lane, gets this payload. When that one is not any more, this run is due again instead. */
  | { readonly into: RunId; readonly payload: Json; readonly done: Json };

export interface Worker {
  /** Claims nothing more; waits `graceMs` for running handlers, then aborts them ("stopping") and waits for their settlements. */
  stop(graceMs: number): Promise<void>;
}

/** What waits in one lane. */
export interface Backlog {
  readonly lane: string;
  /** The run that comes next, or is under way. */
  readonly first: RunRecord;
  /** Unsettled runs that have their place in the lane, counted up to 10,000. */
  readonly count: number;
}

export interface OpenLanes {
  readonly lanes: readonly string[];
  readonly total: number;
}

export interface RunQueue {
  /**
   * Resolves when durable: the run, and the writes with it, in one transaction; a duplicate applies no writes.
   * `waiter`: the running run that will wait for this one; rejects with WAIT_CYCLE (details.chain = lanes) and enqueues nothing when its own lane
   * would have to finish first.
   */
  enqueue(
    run: NewRun,
    options?: { readonly writes?: readonly Write[]; readonly waiter?: RunId },
  ): Promise<"accepted" | "duplicate">;
  get(id: RunId): Promise<RunRecord | undefined>;
  /** Runs of a lane that are not settled, in order; the first `limit` of them. */
  pending(lane: string, limit?: number): Promise<readonly RunRecord[]>;
  /** Those of them that were accepted before this run, of whichever lane that is; none when it is unknown. */
  pendingBefore(lane: string, id: RunId): Promise<readonly RunRecord[]>;
  /** The first run behind this one in its lane that is of another kind than `except`. */
  next(id: RunId, except: string): Promise<RunRecord | undefined>;
  /** What waits in this lane, undefined when nothing does. Costs little, however much that is. */
  backlog(lane: string): Promise<Backlog | undefined>;
  /** Lanes in which something waits and whose name begins like this: at most `limit`, longest waiting first, and how many there are. Looks at 10,000. */
  openLanes(prefix: string, limit: number): Promise<OpenLanes>;
  /** Those of these lanes whose first run a worker, in whichever process, has in hand now. */
  busy(lanes: readonly string[]): Promise<ReadonlySet<string>>;
  /** Any process, again after a reconnect; undefined = not settled when the time was up. Ends the wait edge of `waiter`. RUN_NOT_FOUND for an unknown id. */
  wait(
    id: RunId,
    timeoutMs: number,
    options?: { readonly signal?: AbortSignal; readonly waiter?: RunId },
  ): Promise<RunRecord | undefined>;
  /** Serial within a lane, parallel across lanes, at most `concurrency` handlers of this pool here. A handler that throws settles its run as failed. */
  work(
    pool: string,
    concurrency: number,
    handler: (run: ClaimedRun) => Promise<RunSettlement>,
  ): Promise<Worker>;
  /** A queued run ends as cancelled; a running one gets its signal aborted, in whichever process it runs. false = unknown or settled. */
  cancel(id: RunId): Promise<boolean>;
  /** Runs of this pool that retryAtMs parked become due now. */
  wake(pool: string): Promise<void>;
}

/** One owner per resource (a bot login, a WhatsApp socket); the epoch grows with each new owner. */
export interface OwnerLease {
  acquire(
    resource: string,
  ): Promise<
    | { readonly epoch: number; readonly lost: AbortSignal; release(): Promise<void> }
    | { readonly heldBy: string }
  >;
}

export interface Engine {
  readonly queue: RunQueue;
  readonly owners: OwnerLease;
  /** Idempotent. Later calls on any part reject with CLOSED. */
  close(): Promise<void>;
}
