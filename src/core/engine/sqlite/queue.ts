import { SwitchboardError } from "../../errors.ts";
import type { RunId, RunQueue, Worker } from "../../ports/engine.ts";
import type { Clock } from "../../ports/host.ts";
import type { Backlogs } from "./backlogs.ts";
import type { Changes } from "./changes.ts";
import type { Lanes } from "./lanes.ts";
import type { Recovery } from "./recovery.ts";
import type { RunRows } from "./run-rows.ts";
import type { Running } from "./running.ts";
import type { Schedule } from "./schedule.ts";
import { type WaitEdges, waitCycle } from "./wait-edges.ts";
import type { Waiting } from "./waiting.ts";
import { carry, type WriteCarrier } from "./write-carrier.ts";

export interface QueueParts {
  readonly changes: Changes;
  readonly rows: RunRows;
  readonly lanes: Lanes;
  readonly backlogs: Backlogs;
  readonly schedule: Schedule;
  readonly edges: WaitEdges;
  readonly recovery: Recovery;
  readonly running: Running;
  readonly waiting: Waiting;
  readonly writer: WriteCarrier;
  readonly clock: Clock;
  /** Throws CLOSED when the engine is closed. */
  readonly assertOpen: () => void;
  /** A new worker, known to whoever wakes them. */
  readonly startWorker: (...args: Parameters<RunQueue["work"]>) => Worker;
  /** Somebody begins to wait. */
  readonly onWait: () => void;
}

export function createQueue(parts: QueueParts): RunQueue {
  const { changes, rows, lanes, schedule, edges, waiting, writer, assertOpen } = parts;
  return {
    async enqueue(run, { writes, waiter } = {}) {
      assertOpen();
      if (writer.before && writes && !rows.place(run.id)) {
        if (waiter !== undefined) changes.write(() => claimThatMayWait(parts, waiter, run.lane));
        await writer.before(writes);
      }
      return changes.write(() => {
        const added = schedule.add(run);
        if (waiter !== undefined) addEdge(parts, waiter, run.id);
        if (!added) return "duplicate";
        carry(writes, writer, changes);
        return "accepted";
      });
    },
    async get(id) {
      assertOpen();
      return rows.get(id);
    },
    async pending(lane, limit) {
      assertOpen();
      return rows.pending(lane, limit);
    },
    async pendingBefore(lane, id) {
      assertOpen();
      return rows.pendingBefore(lane, id);
    },
    async next(id, except) {
      assertOpen();
      return rows.next(id, except);
    },
    async backlog(lane) {
      assertOpen();
      return parts.backlogs.of(lane);
    },
    async openLanes(prefix, limit) {
      assertOpen();
      return parts.backlogs.lanes(prefix, limit);
    },
    async busy(some) {
      assertOpen();
      return new Set(lanes.busy(some));
    },
    async wait(id, timeoutMs, { signal, waiter } = {}) {
      assertOpen();
      const record = rows.get(id);
      if (!record) throw unknownRun(id);
      if (record.endedAtMs !== undefined) return record;
      const claim = waiter === undefined ? undefined : rows.place(waiter)?.claim;
      const ended = waiting.until(id, timeoutMs, signal);
      parts.onWait();
      const settled = await ended;
      // The edge of a settled run counts no more and goes with its waiter.
      if (!settled && claim) changes.write(() => edges.remove(claim, id));
      return settled;
    },
    async work(pool, concurrency, handler) {
      assertOpen();
      return parts.startWorker(pool, concurrency, handler);
    },
    async cancel(id) {
      assertOpen();
      return changes.write(() => cancel(parts, id));
    },
    async wake(pool) {
      assertOpen();
      changes.write(() => schedule.wake(pool));
    },
  };
}

function addEdge(parts: QueueParts, waiter: RunId, id: RunId): void {
  const target = parts.rows.place(id);
  if (!target || parts.rows.isEnded(id)) return;
  parts.edges.add(claimThatMayWait(parts, waiter, target.lane), id, target.lane);
}

/** The claim of the waiter; throws when it is not running here, or when waiting for that lane would close a circle. */
function claimThatMayWait(
  { rows, edges, recovery, running }: QueueParts,
  waiter: RunId,
  lane: string,
): string {
  const from = rows.place(waiter);
  if (!from?.claim || !running.has(from.claim)) {
    throw new SwitchboardError(
      "CLOSED",
      `Run "${waiter}" is not running here any more, so it cannot wait. Stop it; its next worker decides.`,
    );
  }
  let circle = edges.circle(from.lane, lane);
  if (circle && recovery.recoverDead({ observe: false })) circle = edges.circle(from.lane, lane);
  if (circle) throw waitCycle(circle);
  return from.claim;
}

function cancel({ changes, rows, lanes, running, clock }: QueueParts, id: RunId): boolean {
  const place = rows.place(id);
  if (place?.state === "running") {
    rows.requestCancel(id);
    const { claim } = place;
    changes.afterCommit(() => claim !== null && running.abort(claim, "cancelled"));
    return true;
  }
  if (place?.state !== "queued") return false;
  const wasHead = lanes.head(place.lane)?.id === id;
  rows.end(id, { state: "cancelled" }, clock.now());
  changes.ended(id);
  if (wasHead) lanes.release(place.lane);
  return true;
}

function unknownRun(id: RunId): SwitchboardError {
  return new SwitchboardError(
    "RUN_NOT_FOUND",
    `No run "${id}". Finished runs are kept for a day; check the run id.`,
  );
}
