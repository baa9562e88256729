import type { Address, ChannelAdapter } from "../ports/chat.ts";
import type { ClaimedRun, Engine, RunId, RunSettlement } from "../ports/engine.ts";
import type { Clock, Logger } from "../ports/host.ts";
import { DELIVERIES, deliveryPool, poolOfLane } from "../runs/run-id.ts";
import { isOverdue } from "./delivery-rules.ts";
import { type OutboxParts, refusal, settle } from "./outbox.ts";
import { ofUnsent, sentSoFar, toParcel } from "./parcel.ts";

/** Processes that were started together have taken their accounts by then. */
const FIRST_LOOK_MS = 30_000;
const LOOK_EVERY_MS = 15 * 60_000;
const MOST_LANES = 10_000;
/** While one text is given up, those of other chats that are not overdue step aside. */
const ASIDE_MS = 60_000;
const LONGEST_END_MS = 60_000;

interface Parts extends OutboxParts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Looks after texts for accounts that have no adapter, neither here nor in another process that lives: their owner is told once, and a text that has waited
 * for a day is given up, with all that follows. When an adapter comes before that, it finds them ready to leave.
 */
export function startUnserved(
  adapters: readonly Pick<ChannelAdapter, "channel" | "accountId">[],
  parts: Parts,
): { stop(): Promise<void> } {
  const { engine, clock, logger } = parts;
  const served = new Set(adapters.map(({ channel, accountId }) => deliveryPool(channel, accountId)));
  const stopping = new AbortController();
  const named = new Set<string>();
  let looking: Promise<void> = Promise.resolve();
  let cancelNext = clock.after(FIRST_LOOK_MS, look);

  function look(): void {
    looking = lookOnce()
      .catch(report)
      .then(() => {
        if (!stopping.signal.aborted) cancelNext = clock.after(LOOK_EVERY_MS, look);
      });
  }

  function report(error: unknown): void {
    if (!stopping.signal.aborted) logger.error({ error }, "Texts for accounts without an adapter stay");
  }

  async function lookOnce(): Promise<void> {
    const { lanes } = await engine.queue.openLanes(DELIVERIES, MOST_LANES);
    const unserved = new Set(lanes.map(poolOfLane).filter((pool) => !served.has(pool)));
    const nobodys: string[] = [];
    for (const pool of unserved) {
      if (stopping.signal.aborted) return;
      const lease = await engine.owners.acquire(pool);
      if ("heldBy" in lease) continue;
      nobodys.push(pool);
      const own = lanes.filter((lane) => poolOfLane(lane) === pool);
      await endOverdue(pool, own, parts, stopping.signal).finally(lease.release);
    }
    warn(nobodys.filter((pool) => !named.has(pool)));
  }

  function warn(pools: readonly string[]): void {
    if (pools.length === 0) return;
    for (const pool of pools) named.add(pool);
    const sentence =
      "Texts wait for accounts that have no adapter. They are given up a day after they were written; add the adapters to deliver them";
    logger.warn(
      { accounts: pools.map((pool) => decodeURIComponent(pool.slice(DELIVERIES.length))) },
      sentence,
    );
  }

  return {
    async stop() {
      stopping.abort();
      cancelNext();
      await looking;
    },
  };
}

/** Only while this process is the pool's owner. */
async function endOverdue(
  pool: string,
  lanes: readonly string[],
  parts: Parts,
  signal: AbortSignal,
): Promise<void> {
  const { engine } = parts;
  const { queue } = engine;
  const overdue = await Promise.all(lanes.map((lane) => overdueHead(lane, parts)));
  if (overdue.every((id) => id === undefined)) return;
  const worker = await queue.work(pool, 1, (run) => endOne(run, parts));
  try {
    await queue.wake(pool);
    for (const lane of lanes) await drain(lane, parts, signal);
  } finally {
    await worker.stop(LONGEST_END_MS);
    await queue.wake(pool);
  }
}

/** Until the first text of the lane is none that is overdue. */
async function drain(lane: string, parts: Parts, signal: AbortSignal): Promise<void> {
  let last: RunId | undefined;
  for (;;) {
    const id = await overdueHead(lane, parts);
    if (id === undefined || id === last || signal.aborted) return;
    await parts.engine.queue.wait(id, LONGEST_END_MS, { signal });
    last = id;
  }
}

async function overdueHead(lane: string, { engine, clock }: Parts): Promise<RunId | undefined> {
  const first = (await engine.queue.backlog(lane))?.first;
  return first !== undefined && isOverdue(toParcel(first.payload), clock.now()) ? first.id : undefined;
}

async function endOne(run: ClaimedRun, parts: Parts): Promise<RunSettlement> {
  const parcel = toParcel(run.payload);
  const nowMs = parts.clock.now();
  if (!isOverdue(parcel, nowMs)) return { retryAtMs: nowMs + ASIDE_MS };
  const end = (await refusal(parcel, parts)) ?? { state: ofUnsent(parcel), reason: nobody(parcel.to) };
  return settle(run, parcel, { ...end, ...sentSoFar(parcel) }, parts);
}

function nobody({ channel, accountId }: Address): string {
  return `No adapter serves ${channel}, account "${accountId}".`;
}
