import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { RunSettlement } from "../../src/core/ports/engine.ts";
import type { QueueHarness } from "./queue-harness.ts";
import type { QueueProcess } from "./queue-process.ts";
import { aRun, turnOf } from "./run-queue.contract.ts";

/** What every engine must do when several processes share its store. Each process here is a real one. */
export function runQueueProcessesContract(name: string, makeHarness: () => Promise<QueueHarness>): void {
  const harnesses: QueueHarness[] = [];
  const fresh = async (): Promise<QueueHarness> => {
    const harness = await makeHarness();
    harnesses.push(harness);
    return harness;
  };
  afterEach(async () => {
    for (const harness of harnesses.splice(0)) await harness.dispose();
  });

  describe(`RUN: the run queue contract with several processes, ${name}`, { timeout: 120_000 }, () => {
    it("SEND-5: a run is waited for from another process than the one that settles it", async () => {
      const harness = await fresh();
      const { queue } = (await harness.open()).engine;
      const other = await harness.spawn();
      await other.work("p", 1);
      await queue.enqueue(aRun({ id: "r" }));
      const waits = [queue.wait("r", 15_000), other.wait("r", 15_000)];
      await other.event({ type: "started", id: "r" });
      await other.finish("r", { done: "from there" });
      for (const record of await Promise.all(waits))
        expect(record).toMatchObject({ state: "done", result: "from there" });
    });

    it("RUN-1: a running run is cancelled in whichever process it runs", async () => {
      const harness = await fresh();
      const { queue } = (await harness.open()).engine;
      const other = await harness.spawn();
      await other.work("p", 1);
      await queue.enqueue(aRun({ id: "r" }));
      await other.event({ type: "started", id: "r" });
      expect(await queue.cancel("r")).toBe(true);
      expect(await other.event({ type: "aborted", id: "r" })).toMatchObject({ cause: "cancelled" });
    });

    it("RUN-2: after kill -9 the queued run runs, and the running one is given out as interrupted, first", async () => {
      const harness = await fresh();
      const { queue } = (await harness.open({ leaseMs: 60_000 })).engine;
      const other = await harness.spawn({ leaseMs: 60_000 });
      await other.work("p", 1);
      await queue.enqueue(aRun({ id: "running" }));
      await queue.enqueue(aRun({ id: "queued" }));
      await other.event({ type: "started", id: "running" });
      await other.kill("SIGKILL");
      const seen: unknown[] = [];
      await queue.work("p", 1, async ({ id, attempt, interrupted }) => {
        seen.push({ id, attempt, interrupted });
        return ok;
      });
      expect(await queue.wait("queued", 15_000)).toMatchObject({ state: "done" });
      expect(seen).toEqual([
        { id: "running", attempt: 2, interrupted: true },
        { id: "queued", attempt: 1, interrupted: false },
      ]);
    });

    it("RUN-2: a paused process that wakes up after its lease settles nothing and starts nothing under its old claim", async () => {
      const harness = await fresh();
      const { engine, written } = await harness.open();
      const { queue } = engine;
      const paused = await harness.spawn();
      await paused.work("p", 1);
      for (const id of ["1", "2"]) await queue.enqueue(aRun({ id }));
      await paused.event({ type: "started", id: "1" });
      await paused.kill("SIGSTOP");

      let finish = (_: RunSettlement): void => {};
      const taken = new Promise<number>((resolve) => {
        void queue.work("p", 1, (run) => {
          resolve(run.attempt);
          return new Promise((end) => {
            finish = end;
          });
        });
      });
      expect(await taken).toBe(2);
      const stale = { done: "stale", writes: [turnOf("stale")], effects: [aRun({ id: "stale effect" })] };
      // Lies in its mail box when it wakes up: settling is the first thing that it tries.
      const answered = paused.finish("1", stale);
      await paused.kill("SIGCONT");
      await answered;
      expect(await paused.event({ type: "aborted", id: "1" })).toMatchObject({ cause: "lease lost" });

      expect(await queue.get("1")).toMatchObject({ state: "running", attempt: 2 });
      expect(await queue.get("stale effect")).toBeUndefined();
      expect(written()).toEqual([]);
      expect(paused.events.filter((event) => event.type === "started")).toHaveLength(1);
      finish({ done: "right" });
      expect(await queue.wait("1", 15_000)).toMatchObject({ state: "done", result: "right" });
    });

    it("RUN-2: a process that lost its lease works on as a new one", async () => {
      const harness = await fresh();
      const { queue } = (await harness.open()).engine;
      const paused = await harness.spawn();
      await paused.work("p", 1);
      await queue.enqueue(aRun({ id: "1" }));
      await paused.event({ type: "started", id: "1" });
      await paused.kill("SIGSTOP");
      await vi.waitFor(
        async () => expect(await queue.get("1")).toMatchObject({ state: "queued" }),
        patiently,
      );
      await paused.kill("SIGCONT");
      await paused.event({ type: "aborted", id: "1" });
      await paused.finish("1", { done: "stale" });
      await paused.event({ type: "started", id: "1", attempt: 2, interrupted: true });
      await paused.finish("1", { done: "right" });
      expect(await queue.wait("1", 15_000)).toMatchObject({ result: "right" });
    });

    it("N06: a handler may run for many leases while its process lives", async () => {
      const harness = await fresh();
      const { queue } = (await harness.open({ leaseMs: 600 })).engine;
      const other = await harness.spawn({ leaseMs: 600 });
      await other.work("p", 1);
      await queue.enqueue(aRun({ id: "long" }));
      await other.event({ type: "started", id: "long" });
      await queue.work("p", 1, async () => ({ failed: "taken away" }));
      expect(await queue.wait("long", 4 * 600)).toBeUndefined();
      await other.finish("long", { done: "in peace" });
      expect(await queue.wait("long", 15_000)).toMatchObject({ result: "in peace", attempt: 1 });
    });

    it("SEND-7: a ring of waits across processes is refused; the waits of a killed one do not count", async () => {
      const harness = await fresh();
      const { queue } = (await harness.open({ leaseMs: 60_000 })).engine;
      const [one, two] = await Promise.all([
        harness.spawn({ leaseMs: 60_000 }),
        harness.spawn({ leaseMs: 60_000 }),
      ]);
      await one.work("one", 2);
      await two.work("two", 2);
      await queue.enqueue(aRun({ id: "a", lane: "a", pool: "one" }));
      await queue.enqueue(aRun({ id: "b", lane: "b", pool: "two" }));
      await one.event({ type: "started", id: "a" });
      await two.event({ type: "started", id: "b" });
      await one.enqueue(aRun({ id: "a>b", lane: "b", pool: "two" }), "a");
      const back = aRun({ id: "b>a", lane: "a", pool: "one" });
      await expect(two.enqueue(back, "b")).rejects.toMatchObject({ code: "WAIT_CYCLE" });
      expect(await queue.get("b>a")).toBeUndefined();
      await one.kill("SIGKILL");
      expect(await two.enqueue(back, "b")).toBe("accepted");
    });

    it("M01: one process owns a resource at a time, and each new owner has a higher epoch", async () => {
      const harness = await fresh();
      const { owners } = (await harness.open({ leaseMs: 60_000 })).engine;
      const other = await harness.spawn({ leaseMs: 60_000 });
      expect(await other.acquire("bot")).toEqual({ epoch: 1 });
      expect(await owners.acquire("bot")).toEqual({ heldBy: expect.stringContaining(String(other.pid)) });
      await other.release("bot");
      const mine = await owners.acquire("bot");
      if ("heldBy" in mine) throw new Error("it was released");
      expect(mine.epoch).toBe(2);
      expect(await other.acquire("bot")).toEqual({ heldBy: expect.stringContaining(String(process.pid)) });
      await mine.release();
      expect(await other.acquire("bot")).toEqual({ epoch: 3 });
      await other.kill("SIGKILL");
      expect(await owners.acquire("bot")).toMatchObject({ epoch: 4 });
    });

    it("M01: an owner that stood still beyond its lease is told that it lost it", async () => {
      const harness = await fresh();
      const { owners } = (await harness.open()).engine;
      const other = await harness.spawn();
      await other.acquire("bot");
      await other.kill("SIGSTOP");
      await vi.waitFor(
        async () => expect(await owners.acquire("bot")).toMatchObject({ epoch: 2 }),
        patiently,
      );
      await other.kill("SIGCONT");
      await vi.waitFor(async () => expect(await other.lost()).toEqual(["bot"]), patiently);
    });

    it("RUN-2: four processes whose workers are killed at random: no run is lost, doubled, overlapping or out of order", async () => {
      const harness = await fresh();
      const { engine, written } = await harness.open({ leaseMs: 30_000 });
      const log = logFile();
      let workers = await Promise.all([1, 2, 3, 4].map(() => startWorker(harness)));
      const dead = new Set<number>();
      const ids: string[] = [];
      for (let n = 0; n < 720; n += 1) {
        const lane = `lane ${n % 24}`;
        ids.push(`${String(n).padStart(3, "0")}`);
        await engine.queue.enqueue(aRun({ id: ids[n] ?? "", lane, payload: { log: log.file } }));
      }
      for (const share of [0.1, 0.25, 0.4, 0.6]) {
        await vi.waitFor(() => expect(log.lines().length).toBeGreaterThan(720 * 2 * share), patiently);
        const victim = workers[Math.floor(Math.random() * workers.length)];
        await victim?.kill("SIGKILL");
        dead.add(victim?.pid ?? 0);
        const successor = await startWorker(harness);
        workers = workers.map((worker) => (worker === victim ? successor : worker));
      }
      for (const id of ids) expect(await engine.queue.wait(id, 30_000)).toMatchObject({ state: "done" });

      expect([...written()].sort()).toEqual(ids);
      expect(disorder(log.lines(), dead)).toEqual([]);
      log.remove();
    });
  });
}

const ok: RunSettlement = { done: null };
const patiently = { timeout: 20_000, interval: 10 };

async function startWorker(harness: QueueHarness): Promise<QueueProcess> {
  const worker = await harness.spawn({ leaseMs: 30_000 });
  await worker.work("p", 16);
  return worker;
}

function logFile() {
  const folder = mkdtempSync(join(tmpdir(), "queue-log-"));
  const file = join(folder, "log");
  writeFileSync(file, "");
  return {
    file,
    lines: () => readFileSync(file, "utf8").split("\n").filter(Boolean),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** Handlers of one lane may follow each other only when the one before has ended or its process was killed, and never backwards. */
function disorder(lines: readonly string[], killed: ReadonlySet<number>): readonly string[] {
  const lanes = new Map<string, { id: string; pid: number; running: boolean }>();
  const wrong: string[] = [];
  for (const line of lines) {
    const [, what, lane = "", id = "", pid] = /^(start|end) (lane \d+) (\d+) \d+ (\d+)$/.exec(line) ?? [];
    const last = lanes.get(lane);
    if (what === "start") {
      if (last && id < last.id) wrong.push(`backwards: ${line}`);
      if (last?.running && !killed.has(last.pid)) wrong.push(`overlapping ${last.id}: ${line}`);
      if (last?.id === id && !killed.has(last.pid)) wrong.push(`again: ${line}`);
      lanes.set(lane, { id, pid: Number(pid), running: true });
    } else if (last?.id !== id || last.pid !== Number(pid))
      wrong.push(`ended after its successor began: ${line}`);
    else last.running = false;
  }
  return wrong;
}
