import type { RunId, RunSettlement } from "../../ports/engine.ts";
import type { Clock, Json } from "../../ports/host.ts";
import type { Changes } from "./changes.ts";
import type { Lanes, TakenRun } from "./lanes.ts";
import type { Processes } from "./processes.ts";
import type { Parking, RunEnd, RunRows } from "./run-rows.ts";
import type { Schedule } from "./schedule.ts";
import type { WaitEdges } from "./wait-edges.ts";
import { carry, type WriteCarrier } from "./write-carrier.ts";

export interface Claim {
  /** Never used twice: whoever holds another one holds nothing. */
  readonly token: string;
  readonly run: TakenRun;
}

/** Each call is one transaction, fenced by the claim and by the lease of this process. */
export interface Claims {
  /** Starts the heads of at most `count` ready lanes of the pool, the longest ready first. */
  take(pool: string, count: number): readonly Claim[];
  /**
   * The settlement with its writes and effects, and the next claim of `nextPool` in the same transaction: its own lane stands
   * behind the lanes that have waited longer. false: the claim was lost, nothing happened.
   */
  settle(claim: Claim, settlement: RunSettlement, nextPool?: string): { readonly next?: Claim } | false;
  /** The run was not begun: as if it had never been claimed. Nothing happens when the claim was lost. */
  putBack(claim: Claim): void;
  /** false: the claim was lost, nothing happened. */
  checkpoint(claim: Claim, payload: Json): boolean;
  /** Whether the claim is still held, without a transaction: to save work that would be for nothing. */
  isHeld(claim: Claim): boolean;
}

export interface ClaimParts {
  readonly changes: Changes;
  readonly rows: RunRows;
  readonly lanes: Lanes;
  readonly schedule: Schedule;
  readonly edges: WaitEdges;
  readonly processes: Processes;
  readonly writer: WriteCarrier;
  readonly clock: Clock;
}

export function createClaims(parts: ClaimParts): Claims {
  const { changes, rows, lanes, edges, processes } = parts;
  let made = 0;

  const takeOne = (pool: string, owner: string): Claim | undefined => {
    made += 1;
    const token = `${owner}:${made}`;
    const run = lanes.take(pool, owner, token);
    return run && { token, run };
  };

  const isHeld = ({ token, run }: Claim): boolean => {
    const place = rows.place(run.id);
    return place?.state === "running" && place.claim === token;
  };

  /** The owner, when claim and lease are still ours. */
  const fence = (claim: Claim): string | undefined => {
    const owner = processes.verify();
    return owner !== undefined && isHeld(claim) ? owner : undefined;
  };

  return {
    take(pool, count) {
      if (count < 1 || !lanes.isReady(pool)) return [];
      return changes.write(() => {
        const owner = processes.verify();
        if (owner === undefined) return [];
        const taken: Claim[] = [];
        while (taken.length < count) {
          const claim = takeOne(pool, owner);
          if (!claim) break;
          taken.push(claim);
        }
        return taken;
      });
    },
    settle: (claim, settlement, nextPool) =>
      changes.write(() => {
        const owner = fence(claim);
        if (owner === undefined) return false;
        applySettlement(parts, claim.run, settlement);
        edges.removeAll(claim.token);
        lanes.release(claim.run.lane);
        const next = nextPool === undefined ? undefined : takeOne(nextPool, owner);
        return next ? { next } : {};
      }),
    putBack: (claim) =>
      changes.write(() => {
        if (fence(claim) === undefined) return;
        rows.putBack(claim.run.id);
        lanes.release(claim.run.lane);
      }),
    checkpoint: (claim, payload) =>
      changes.write(() => {
        if (fence(claim) === undefined) return false;
        rows.setPayload(claim.run.id, payload);
        return true;
      }),
    isHeld,
  };
}

function applySettlement(parts: ClaimParts, run: TakenRun, settlement: RunSettlement): void {
  if ("retryAtMs" in settlement) park(parts, run, settlement);
  else if ("into" in settlement) merge(parts, run, settlement);
  else {
    carry(settlement.writes, parts.writer, parts.changes);
    for (const effect of settlement.effects ?? []) parts.schedule.add(effect);
    if ("failed" in settlement) {
      end(parts, run, { state: "failed", error: settlement.failed, result: settlement.result });
    } else end(parts, run, { state: "done", result: settlement.done });
  }
}

function end({ changes, rows, clock }: ClaimParts, { id }: TakenRun, how: RunEnd): void {
  rows.end(id, how, clock.now());
  changes.ended(id);
}

/** Whoever is followed before its transaction begins has waited long enough. */
function park(parts: ClaimParts, run: TakenRun, parking: Parking): void {
  const { rows, clock } = parts;
  const { orFollowed } = parking;
  const isFollowed = orFollowed !== undefined && rows.next(run.id, orFollowed.except) !== undefined;
  if (rows.isCancelling(run.id)) end(parts, run, { state: "cancelled" });
  else rows.park(run.id, isFollowed ? { ...parking, retryAtMs: clock.now() } : parking);
}

/** Whoever cancels this run alone has not cancelled the other one, which is what it is now. */
function merge(
  parts: ClaimParts,
  run: TakenRun,
  { into, payload, done }: Extract<RunSettlement, { readonly into: RunId }>,
): void {
  const { rows, clock } = parts;
  const place = rows.place(into);
  const isQueued = place?.state === "queued" && place.lane === run.lane;
  if (!isQueued) park(parts, run, { retryAtMs: clock.now() });
  else {
    rows.setPayload(into, payload);
    end(parts, run, { state: "done", result: done });
  }
}
