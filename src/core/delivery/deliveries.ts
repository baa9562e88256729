import type { ChannelAdapter } from "../ports/chat.ts";
import type { Engine, Worker } from "../ports/engine.ts";
import type { Clock, Logger } from "../ports/host.ts";
import { deliveryPool } from "../runs/run-id.ts";
import { createOutbox, type OutboxParts } from "./outbox.ts";

/** Chats that one account delivers to at the same time; each chat by itself is serial. */
const PARALLEL_CHATS = 8;
/** How soon a process that does not own an account asks again whether its owner is gone. */
const RETRY_MS = 2000;

export interface Deliveries {
  /** Nothing is delivered by this process afterwards. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Delivers for one account while this process is its only owner: two processes with the same bot never send side by side. A process that finds the account
 * taken keeps asking; one that loses it stops at once.
 */
export function startDeliveries(
  adapter: ChannelAdapter,
  parts: OutboxParts & { readonly engine: Engine; readonly clock: Clock; readonly logger: Logger },
): Deliveries {
  const { engine, clock, logger } = parts;
  const pool = deliveryPool(adapter.channel, adapter.accountId);
  const handler = createOutbox(adapter, parts);
  let worker: Worker | undefined;
  let release = async () => {};
  let cancelRetry = () => {};
  let stopped = false;
  let waitedFor: string | undefined;

  async function take(): Promise<void> {
    const lease = await engine.owners.acquire(pool);
    if ("heldBy" in lease) return again(lease.heldBy);
    release = lease.release;
    if (stopped) return lease.release();
    worker = await engine.queue.work(pool, PARALLEL_CHATS, handler);
    lease.lost.addEventListener("abort", () => lose().catch(report), { once: true });
  }

  function again(heldBy: string): void {
    if (waitedFor !== heldBy) logger.info({ pool, heldBy }, "Another process delivers for this account");
    waitedFor = heldBy;
    if (!stopped) cancelRetry = clock.after(RETRY_MS, () => taking());
  }

  async function lose(): Promise<void> {
    if (stopped) return;
    logger.warn({ pool }, "This process no longer owns the account");
    await worker?.stop(0);
    worker = undefined;
    again("another process");
  }

  function report(error: unknown): void {
    if (stopped) return;
    logger.error({ pool, error }, "Deliveries could not be started; trying again");
    cancelRetry = clock.after(RETRY_MS, () => taking());
  }

  function taking(): void {
    begun = take().catch(report);
  }

  let begun: Promise<void> = Promise.resolve();
  taking();
  return {
    async stop(graceMs) {
      stopped = true;
      cancelRetry();
      await begun;
      await worker?.stop(graceMs);
      await release();
    },
  };
}
