import { setImmediate } from "node:timers/promises";
import { messageOf, SwitchboardError } from "../../errors.ts";
import type { ClaimedRun, RunSettlement, Worker } from "../../ports/engine.ts";
import type { Clock, Logger } from "../../ports/host.ts";
import type { Claim, Claims } from "./claims.ts";
import type { Running } from "./running.ts";
import { createSlots, type Slot } from "./slots.ts";
import type { WriteCarrier } from "./write-carrier.ts";

export interface LocalWorker extends Worker {
  /** Something may be there to claim. Cheap; many calls in one turn are one look. */
  nudge(): void;
}

export interface WorkerParts {
  readonly claims: Claims;
  readonly running: Running;
  readonly writer: WriteCarrier;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Between two attempts to settle while the store cannot be reached. */
  readonly retryMs: number;
  /** How long an aborted handler may take to settle before `stop` goes on without it. */
  readonly abandonMs: number;
}

export function createWorker(
  pool: string,
  concurrency: number,
  handler: (run: ClaimedRun) => Promise<RunSettlement>,
  parts: WorkerParts,
): LocalWorker {
  const { claims, running, clock, logger } = parts;
  const handling = new Map<Claim, Promise<void>>();
  let stopping = false;
  let nudged = false;

  const slots = createSlots(concurrency, () => nudge());

  const claimSome = (): void => {
    nudged = false;
    if (stopping) return;
    try {
      for (const claim of claims.take(pool, slots.vacant())) begin(claim);
    } catch (error) {
      logger.warn({ pool, error: messageOf(error) }, "could not claim runs; the next heartbeat tries again");
    }
  };

  const nudge = (): void => {
    if (nudged || stopping) return;
    nudged = true;
    queueMicrotask(claimSome);
  };

  const begin = (claim: Claim): void => {
    const done = handle(claim, slots.take()).finally(() => handling.delete(claim));
    handling.set(claim, done);
  };

  const handle = async (claim: Claim, slot: Slot): Promise<void> => {
    const signal = running.start(claim.token);
    if (claim.run.cancelling) running.abort(claim.token, "cancelled");
    try {
      // A turn of the event loop for each run: timers and sockets get theirs, however long the queue is.
      await setImmediate();
      if (stopping) return claims.putBack(claim);
      if (!running.has(claim.token)) return;
      await settle(claim, await outcomeOf(handler, claimedRun(claim, signal, slot, claims), logger), slot);
    } catch (error) {
      logger.error({ run: claim.run.id, error: messageOf(error) }, "a run could not be settled");
    } finally {
      running.end(claim.token);
      slot.free();
    }
  };

  const settle = async (claim: Claim, settlement: RunSettlement, slot: Slot): Promise<void> => {
    try {
      if (parts.writer.before && "writes" in settlement && settlement.writes && claims.isHeld(claim)) {
        await parts.writer.before(settlement.writes);
      }
      settleNow(claim, settlement, slot);
    } catch (error) {
      if (isUnreachable(error) && running.has(claim.token)) {
        logger.warn({ run: claim.run.id, error: messageOf(error) }, "a run waits for the store to settle");
        await new Promise<void>((resolve) => clock.after(parts.retryMs, resolve));
        return settle(claim, settlement, slot);
      }
      logger.error(
        { run: claim.run.id, error: messageOf(error) },
        "a settlement was refused; the run failed",
      );
      settleNow(claim, { failed: messageOf(error) }, slot);
    }
  };

  const settleNow = (claim: Claim, settlement: RunSettlement, slot: Slot): void => {
    const settled = claims.settle(claim, settlement, !stopping && slot.isInheritable() ? pool : undefined);
    running.end(claim.token);
    slot.free();
    if (!settled) logger.warn({ run: claim.run.id }, "the claim was lost; what the run did is dropped");
    else if (settled.next) begin(settled.next);
  };

  const allEnded = (withinMs: number): Promise<boolean> =>
    within(withinMs, Promise.all(handling.values()), clock);

  return {
    nudge,
    async stop(graceMs) {
      stopping = true;
      if (await allEnded(graceMs)) return;
      for (const claim of handling.keys()) running.abort(claim.token, "stopping");
      if (await allEnded(parts.abandonMs)) return;
      const runs = [...handling.keys()].map((claim) => claim.run.id);
      logger.error({ pool, runs }, "handlers ignored their signal; stopping goes on without them");
    },
  };
}

function claimedRun(claim: Claim, signal: AbortSignal, slot: Slot, claims: Claims): ClaimedRun {
  const { id, lane, kind, payload, attempt, interrupted } = claim.run;
  return {
    id,
    lane,
    kind,
    payload,
    attempt,
    interrupted,
    signal,
    whileWaiting: (work) => slot.away(work, signal),
    async checkpoint(next) {
      if (claims.checkpoint(claim, next)) return;
      throw new SwitchboardError(
        "CLOSED",
        `Run "${id}" is not this worker's any more. Stop it; its next worker decides.`,
      );
    },
  };
}

async function outcomeOf(
  handler: (run: ClaimedRun) => Promise<RunSettlement>,
  run: ClaimedRun,
  logger: Logger,
): Promise<RunSettlement> {
  try {
    return await handler(run);
  } catch (error) {
    logger.error({ run: run.id, kind: run.kind, error: messageOf(error) }, "a run handler failed");
    return { failed: messageOf(error) };
  }
}

/** Whether the work has ended before the time was up. */
function within(ms: number, work: Promise<unknown>, clock: Clock): Promise<boolean> {
  let cancel = (): void => {};
  const tooLate = new Promise<boolean>((resolve) => {
    cancel = clock.after(ms, () => resolve(false));
  });
  return Promise.race([work.then(() => true), tooLate]).finally(cancel);
}

function isUnreachable(error: unknown): boolean {
  return error instanceof SwitchboardError && error.code === "STORE_UNREACHABLE";
}
