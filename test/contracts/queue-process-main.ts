import { appendFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { ClaimedRun, Engine, RunSettlement } from "../../src/core/ports/engine.ts";
import type { ProcessCalls, ProcessMessage } from "./queue-process.ts";

// The program of a process of the queue contract: see spawnQueueProcess.

const [moduleUrl = "", location = "{}"] = process.argv.slice(2);
const { openEngine } = await import(moduleUrl);
const engine: Engine = await openEngine(JSON.parse(location));

const holding = new Map<string, (settlement: RunSettlement) => void>();
const releases = new Map<string, () => Promise<void>>();
const lost: string[] = [];

const tell = (message: ProcessMessage): void => void process.send?.(message);

/** What a run does stands in its payload: hold until told, or write to a log that survives a kill. */
async function handle(run: ClaimedRun): Promise<RunSettlement> {
  tell({ type: "started", id: run.id, attempt: run.attempt, interrupted: run.interrupted });
  run.signal.addEventListener("abort", () => tell({ type: "aborted", id: run.id, cause: run.signal.reason }));
  // The contract makes the payloads.
  const { log } = run.payload as { log?: string };
  if (log === undefined) return new Promise((resolve) => holding.set(run.id, resolve));
  appendFileSync(log, `start ${run.lane} ${run.id} ${run.attempt} ${process.pid}\n`);
  await pause(Math.random() * 6);
  appendFileSync(log, `end ${run.lane} ${run.id} ${run.attempt} ${process.pid}\n`);
  return { done: null, writes: [turnOf(run.id)] };
}

function turnOf(runId: string) {
  // A session key is opaque here: nothing reads it back.
  return { type: "turn", sessionId: "s", sessionKey: "k" as never, turn: 1, runId, entries: [] } as const;
}

const calls: { [M in keyof ProcessCalls]: (...args: Parameters<ProcessCalls[M]>) => Promise<unknown> } = {
  enqueue: (run, waiter) => engine.queue.enqueue(run, waiter === undefined ? {} : { waiter }),
  wait: (id, timeoutMs) => engine.queue.wait(id, timeoutMs),
  get: (id) => engine.queue.get(id),
  cancel: (id) => engine.queue.cancel(id),
  work: (pool, concurrency) => engine.queue.work(pool, concurrency, handle),
  finish: async (id, settlement) => holding.get(id)?.(settlement),
  async acquire(resource) {
    const lease = await engine.owners.acquire(resource);
    if ("heldBy" in lease) return lease;
    releases.set(resource, () => lease.release());
    lease.lost.addEventListener("abort", () => lost.push(resource));
    return { epoch: lease.epoch };
  },
  release: async (resource) => releases.get(resource)?.(),
  lost: async () => lost,
  close: () => engine.close(),
};

process.on(
  "message",
  async ({ call, method, args }: { call: number; method: keyof ProcessCalls; args: never[] }) => {
    try {
      // The parent's types make the arguments fit the method.
      const answer = await (calls[method] as (...args: never[]) => Promise<unknown>)(...args);
      const value = method === "work" ? null : (answer ?? null);
      tell({ type: "answer", call, value });
    } catch (error) {
      tell({ type: "answer", call, code: String((error as { code?: unknown }).code ?? error) });
    }
  },
);
process.on("disconnect", () => process.exit());
tell({ type: "open" });
