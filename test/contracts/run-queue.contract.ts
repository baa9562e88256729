import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ClaimedRun, NewRun, RunQueue, RunRecord, RunSettlement } from "../../src/core/ports/engine.ts";
import type { Json } from "../../src/core/ports/host.ts";
import type { TurnWrite } from "../../src/core/ports/storage.ts";
import type { QueueHarness } from "./queue-harness.ts";

/** What every engine must do inside one process. The other half, with real processes, is run-queue-processes.contract.ts. */
export function runQueueContract(name: string, makeHarness: () => Promise<QueueHarness>): void {
  const opened: QueueHarness[] = [];
  const fresh = async () => {
    const harness = await makeHarness();
    opened.push(harness);
    return { harness, ...(await harness.open()) };
  };
  afterEach(async () => {
    for (const harness of opened.splice(0)) await harness.dispose();
  });

  describe(`RUN: the run queue contract, ${name}`, () => {
    describe("order", () => {
      it("RUN-1: runs of one lane are serial and in order, also when they are accepted while another runs", async () => {
        const { queue } = (await fresh()).engine;
        const log: string[] = [];
        await queue.work("p", 8, async ({ id }) => {
          log.push(`+${id}`);
          await setImmediate();
          if (id === "1") await queue.enqueue(aRun({ id: "4" }));
          log.push(`-${id}`);
          return ok;
        });
        for (const id of ["1", "2", "3"]) await queue.enqueue(aRun({ id }));
        for (const id of ["3", "4"]) await queue.wait(id, 5_000).then(settled);
        expect(log).toEqual(["+1", "-1", "+2", "-2", "+3", "-3", "+4", "-4"]);
      });

      it("RUN-1: lanes run in parallel, no more than the pool's slots allow", async () => {
        const { queue } = (await fresh()).engine;
        let running = 0;
        let most = 0;
        const gate = promise();
        await queue.work("p", 3, async () => {
          running += 1;
          most = Math.max(most, running);
          await gate.opened;
          running -= 1;
          return ok;
        });
        for (const id of ["1", "2", "3", "4", "5"]) await queue.enqueue(aRun({ id, lane: `lane ${id}` }));
        await vi.waitFor(() => expect(running).toBe(3), eagerly);
        gate.open();
        for (const id of ["1", "2", "3", "4", "5"]) await queue.wait(id, 5_000).then(settled);
        expect(most).toBe(3);
      });

      it("N06: a busy lane does not keep the others of its pool waiting, even with one slot", async () => {
        const { queue } = (await fresh()).engine;
        const order: string[] = [];
        for (const id of ["a1", "a2", "a3"]) await queue.enqueue(aRun({ id, lane: "a" }));
        await queue.enqueue(aRun({ id: "b1", lane: "b" }));
        await queue.work("p", 1, async ({ id }) => {
          order.push(id);
          return ok;
        });
        await queue.wait("a3", 5_000).then(settled);
        expect(order.indexOf("b1")).toBeLessThan(order.indexOf("a2"));
      });

      it("O08: a handler that throws fails its run, and the lane goes on", async () => {
        const { queue } = (await fresh()).engine;
        await queue.work("p", 1, async ({ id }) => {
          if (id === "bad") throw new Error("the model is gone");
          return ok;
        });
        await queue.enqueue(aRun({ id: "bad" }));
        await queue.enqueue(aRun({ id: "good" }));
        expect(await queue.wait("good", 5_000)).toMatchObject({ state: "done" });
        expect(await queue.get("bad")).toMatchObject({ state: "failed", error: "the model is gone" });
      });

      it("O08: two runs that are accepted while one is finishing both run, 1,000 times", async () => {
        const { queue } = (await fresh()).engine;
        let handled = 0;
        await queue.work("p", 4, async ({ payload }) => {
          for (let turn = 0; turn < Number(payload); turn += 1) await setImmediate();
          handled += 1;
          return ok;
        });
        for (let round = 0; round < 1_000; round += 1) {
          const lane = `lane ${round % 7}`;
          const [first, second, third] = [`${round} a`, `${round} b`, `${round} c`];
          await queue.enqueue(aRun({ id: first, lane, payload: round % 4 }));
          for (let turn = 0; turn < (round * 7) % 5; turn += 1) await setImmediate();
          await Promise.all([
            queue.enqueue(aRun({ id: second, lane, payload: round % 3 })),
            queue.enqueue(aRun({ id: third, lane, payload: round % 2 })),
          ]);
          if (round % 50 === 49) await queue.wait(third, 5_000).then(settled);
        }
        await vi.waitFor(() => expect(handled).toBe(3_000), eagerly);
        for (let lane = 0; lane < 7; lane += 1) {
          await vi.waitFor(async () => expect(await queue.pending(`lane ${lane}`)).toEqual([]), eagerly);
        }
      });
    });

    describe("acceptance", () => {
      it("SEND-7: the same id again is a duplicate: it runs once, and its writes are not applied", async () => {
        const { engine, written } = await fresh();
        const run = aRun({ id: "once" });
        expect(await engine.queue.enqueue(run, { writes: [turnOf("first")] })).toBe("accepted");
        expect(await engine.queue.enqueue(run, { writes: [turnOf("second")] })).toBe("duplicate");
        let handled = 0;
        await engine.queue.work("p", 4, async () => {
          handled += 1;
          return ok;
        });
        await engine.queue.wait("once", 5_000).then(settled);
        expect(await engine.queue.enqueue(run, { writes: [turnOf("third")] })).toBe("duplicate");
        await engine.queue.enqueue(aRun({ id: "after" }));
        await engine.queue.wait("after", 5_000).then(settled);
        expect([handled, written()]).toEqual([2, ["first"]]);
      });

      it("N05: a run whose writes fail is not accepted, and the same id can be accepted later", async () => {
        const { engine, written } = await fresh();
        const run = aRun({ id: "again" });
        await expect(engine.queue.enqueue(run, { writes: [turnOf("broken")] })).rejects.toThrow();
        expect(await engine.queue.get("again")).toBeUndefined();
        expect(await engine.queue.enqueue(run, { writes: [turnOf("whole")] })).toBe("accepted");
        expect(written()).toEqual(["whole"]);
      });

      it("RUN-2: what was accepted is there again when the store is opened anew", async () => {
        const { harness, engine } = await fresh();
        await engine.queue.enqueue(aRun({ id: "kept", payload: { text: "hello", n: [1, null] } }));
        await engine.close();
        const { queue } = (await harness.open()).engine;
        const payloads: Json[] = [];
        await queue.work("p", 1, async ({ payload }) => {
          payloads.push(payload);
          return ok;
        });
        await queue.wait("kept", 5_000).then(settled);
        expect(payloads).toEqual([{ text: "hello", n: [1, null] }]);
      });

      it("RUN-1: the pending runs of a lane are listed in order, delayed ones last", async () => {
        const { queue } = (await fresh()).engine;
        const later = Date.now() + 3_600_000;
        await queue.enqueue(aRun({ id: "late", notBeforeMs: later }));
        await queue.enqueue(aRun({ id: "1" }));
        await queue.enqueue(aRun({ id: "2" }));
        await queue.enqueue(aRun({ id: "elsewhere", lane: "other" }));
        expect((await queue.pending("lane")).map((run) => run.id)).toEqual(["1", "2", "late"]);
      });

      it("F09: of many lanes those are busy whose run is in hand, also while it waits for another, and no longer", async () => {
        const { queue } = (await fresh()).engine;
        const many = Array.from({ length: 200 }, (_, n) => `lane ${n}`);
        const [inHand, elsewhere] = [promise(), promise()];
        await queue.work("p", 2, async ({ id, whileWaiting }) => {
          if (id === "waits") await whileWaiting(() => elsewhere.opened);
          await inHand.opened;
          return ok;
        });
        await queue.enqueue(aRun({ id: "queued", lane: "lane 3", pool: "nobody's" }));
        await queue.enqueue(aRun({ id: "waits", lane: "lane 7" }));
        await queue.enqueue(aRun({ id: "runs", lane: "lane 9" }));
        await queue.enqueue(aRun({ id: "not asked for", lane: "other" }));
        await vi.waitFor(
          async () => expect([...(await queue.busy(many))].sort()).toEqual(["lane 7", "lane 9"]),
          eagerly,
        );
        expect(await queue.busy([])).toEqual(new Set());
        elsewhere.open();
        inHand.open();
        for (const id of ["waits", "runs"]) await queue.wait(id, 5_000).then(settled);
        expect(await queue.busy(many)).toEqual(new Set());
      });

      it("DELIV-1: of a lane is known what comes first and how much waits, of a family of lanes in which something does", async () => {
        const { queue } = (await fresh()).engine;
        for (const id of ["1", "2", "3"]) await queue.enqueue(aRun({ id, lane: "out:a" }));
        await queue.enqueue(aRun({ id: "other", lane: "out:b" }));
        await queue.enqueue(aRun({ id: "not asked for", lane: "outer" }));
        await queue.cancel("2");
        expect(await queue.backlog("out:a")).toMatchObject({ lane: "out:a", first: { id: "1" }, count: 2 });
        expect(await queue.backlog("out")).toBeUndefined();
        expect(await queue.openLanes("out:", 9)).toEqual({ lanes: ["out:a", "out:b"], total: 2 });
        expect(await queue.openLanes("out:", 1)).toEqual({ lanes: ["out:a"], total: 2 });
        await queue.work("p", 9, async () => ok);
        for (const id of ["3", "other"]) await queue.wait(id, 5_000).then(settled);
        expect(await queue.backlog("out:a")).toBeUndefined();
        expect(await queue.openLanes("out:", 9)).toEqual({ lanes: [], total: 0 });
      });

      it("DELIV-1: of many lanes those are named that have waited longest, whatever they are called", async () => {
        const { queue } = (await fresh()).engine;
        for (const lane of ["out:c", "out:b", "out:a"]) {
          await queue.enqueue(aRun({ id: lane, lane }));
          const { enqueuedAtMs = 0 } = (await queue.get(lane)) ?? {};
          await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(enqueuedAtMs), eagerly);
        }
        expect(await queue.openLanes("out:", 2)).toEqual({ lanes: ["out:c", "out:b"], total: 3 });
      });
    });

    describe("settlement", () => {
      it("RUN-2: result, writes and effects of a run are there together", async () => {
        const { engine, written } = await fresh();
        await engine.queue.work("p", 1, async () => ({
          done: { reply: "42" },
          writes: [turnOf("r")],
          effects: [aRun({ id: "effect", lane: "out", pool: "out" })],
        }));
        await engine.queue.enqueue(aRun({ id: "r" }));
        expect(await engine.queue.wait("r", 5_000)).toMatchObject({ state: "done", result: { reply: "42" } });
        expect(await engine.queue.get("effect")).toMatchObject({ state: "queued", lane: "out" });
        expect(written()).toEqual(["r"]);
      });

      it("RUN-2: writes that fail take effects and result with them: the run has failed", async () => {
        const { engine, written } = await fresh();
        await engine.queue.work("p", 1, async () => ({
          done: null,
          writes: [turnOf("whole"), turnOf("broken")],
          effects: [aRun({ id: "effect" })],
        }));
        await engine.queue.enqueue(aRun({ id: "r" }));
        expect(await engine.queue.wait("r", 5_000)).toMatchObject({ state: "failed" });
        expect(await engine.queue.get("effect")).toBeUndefined();
        expect(written()).toEqual([]);
      });

      it("RUN-2: an effect starts at once in the pool that it belongs to", async () => {
        const { queue } = (await fresh()).engine;
        await queue.work("p", 1, async ({ id }) => ({
          done: null,
          effects: [aRun({ id: `${id}:reply`, pool: "out" })],
        }));
        await queue.work("out", 1, async () => ok);
        await queue.enqueue(aRun({ id: "r" }));
        await queue.wait("r", 5_000).then(settled);
        expect(await queue.wait("r:reply", 5_000)).toMatchObject({ state: "done" });
      });

      it("SEND-4: a failed run keeps its error and what it made", async () => {
        const { queue } = (await fresh()).engine;
        await queue.work("p", 1, async () => ({ failed: "no credit", result: { partial: true } }));
        await queue.enqueue(aRun({ id: "r" }));
        expect(await queue.wait("r", 5_000)).toMatchObject({
          state: "failed",
          error: "no credit",
          result: { partial: true },
        });
      });

      it("M01: a checkpoint replaces the payload that a later attempt gets", async () => {
        const { queue } = (await fresh()).engine;
        const seen: Json[] = [];
        await queue.work("p", 1, async (run) => {
          seen.push([run.attempt, run.interrupted, run.payload]);
          if (run.attempt > 1) return ok;
          await run.checkpoint({ partsSent: 2 });
          return { retryAtMs: Date.now() };
        });
        await queue.enqueue(aRun({ id: "r", payload: { partsSent: 0 } }));
        await queue.wait("r", 5_000).then(settled);
        expect(seen).toEqual([
          [1, false, { partsSent: 0 }],
          [2, false, { partsSent: 2 }],
        ]);
      });
    });

    describe("time", () => {
      it("O08: an early delayed run neither starts early nor keeps its lane waiting", async () => {
        const { queue } = (await fresh()).engine;
        const startedAt = new Map<string, number>();
        await queue.work("p", 4, async ({ id }) => {
          startedAt.set(id, Date.now());
          return ok;
        });
        const due = Date.now() + 150;
        await queue.enqueue(aRun({ id: "delayed", notBeforeMs: due }));
        await queue.enqueue(aRun({ id: "now" }));
        await queue.wait("now", 5_000).then(settled);
        expect(startedAt.has("delayed")).toBe(false);
        await queue.wait("delayed", 5_000).then(settled);
        expect(startedAt.get("delayed")).toBeGreaterThanOrEqual(due);
      });

      it("M01: a run parked by retryAt keeps the head of its lane until it is due", async () => {
        const { queue } = (await fresh()).engine;
        const order: string[] = [];
        const retryAtMs = Date.now() + 100;
        await queue.work("p", 4, async ({ id, attempt }) => {
          order.push(`${id} ${attempt} ${Date.now() >= retryAtMs ? "late" : "early"}`);
          return id === "1" && attempt === 1 ? { retryAtMs, payload: "parked" } : ok;
        });
        await queue.enqueue(aRun({ id: "1" }));
        await queue.enqueue(aRun({ id: "2" }));
        await queue.wait("2", 5_000).then(settled);
        expect(order).toEqual(["1 1 early", "1 2 late", "2 1 late"]);
        expect(await queue.get("1")).toMatchObject({ payload: "parked", attempt: 2 });
      });

      it("M01: when a parked run is cancelled, the next one of its lane need not wait for its time", async () => {
        const { queue } = (await fresh()).engine;
        await queue.work("p", 1, async ({ id }) => (id === "1" ? { retryAtMs: Date.now() + 3_600_000 } : ok));
        await queue.enqueue(aRun({ id: "1" }));
        await queue.enqueue(aRun({ id: "2" }));
        await vi.waitFor(async () => {
          expect(await queue.get("1")).toMatchObject({ state: "queued", attempt: 1 });
        }, eagerly);
        await queue.cancel("1");
        expect(await queue.wait("2", 5_000)).toMatchObject({ state: "done" });
      });

      it("M01: wake makes the parked runs of its pool due now", async () => {
        const { queue } = (await fresh()).engine;
        const inAnHour = Date.now() + 3_600_000;
        for (const pool of ["p", "q"]) {
          await queue.work(pool, 2, async ({ attempt }) => (attempt === 1 ? { retryAtMs: inAnHour } : ok));
          await queue.enqueue(aRun({ id: pool, lane: pool, pool }));
          await vi.waitFor(
            async () => expect(await queue.get(pool)).toMatchObject({ state: "queued", attempt: 1 }),
            eagerly,
          );
        }
        await queue.wake("p");
        expect(await queue.wait("p", 5_000)).toMatchObject({ state: "done", attempt: 2 });
        expect(await queue.get("q")).toMatchObject({ state: "queued", attempt: 1 });
      });
    });

    describe("what comes behind", () => {
      const inAnHour = Date.now() + 3_600_000;
      const untilFollowed = { retryAtMs: inAnHour, orFollowed: { except: "note" } };
      const parkedOnce = (queue: RunQueue, id: string) =>
        vi.waitFor(
          async () => expect(await queue.get(id)).toMatchObject({ state: "queued", attempt: 1 }),
          eagerly,
        );

      it("RUN-1: is the next run of the lane that is of another kind", async () => {
        const { queue } = (await fresh()).engine;
        await queue.enqueue(aRun({ id: "1" }));
        await queue.enqueue(aRun({ id: "2", kind: "note" }));
        await queue.enqueue(aRun({ id: "elsewhere", lane: "other" }));
        await queue.enqueue(aRun({ id: "late", notBeforeMs: inAnHour }));
        expect(await queue.next("1", "note")).toBeUndefined();
        await queue.enqueue(aRun({ id: "3" }));
        expect(await queue.next("1", "note")).toMatchObject({ id: "3" });
        expect(await queue.next("1", "nothing")).toMatchObject({ id: "2" });
        expect(await queue.next("3", "note")).toBeUndefined();
        expect((await queue.pending("lane", 2)).map(({ id }) => id)).toEqual(["1", "2"]);
      });

      it("RUN-1: what was accepted before a run is known across lanes, also within one moment", async () => {
        const { queue } = (await fresh()).engine;
        for (const id of ["1", "2"]) await queue.enqueue(aRun({ id }));
        await queue.enqueue(aRun({ id: "command", lane: "other" }));
        await queue.enqueue(aRun({ id: "3" }));
        await queue.cancel("1");
        await queue.enqueue(aRun({ id: "4" }));
        const earlier = async (id: string) => (await queue.pendingBefore("lane", id)).map((run) => run.id);
        expect(await earlier("command")).toEqual(["2"]);
        expect(await earlier("4")).toEqual(["2", "3"]);
        expect(await earlier("nobody")).toEqual([]);
      });

      it("RUN-1: a run that is parked until it is followed is due when one is queued there, and not for a kind that it ignores", async () => {
        const { queue } = (await fresh()).engine;
        await queue.work("p", 4, async ({ id, attempt }) =>
          id.startsWith("waits") && attempt === 1 ? untilFollowed : ok,
        );
        for (const lane of ["a", "b"]) {
          await queue.enqueue(aRun({ id: `waits ${lane}`, lane }));
          await parkedOnce(queue, `waits ${lane}`);
          await queue.enqueue(aRun({ id: `note ${lane}`, lane, kind: "note" }));
        }
        await queue.enqueue(aRun({ id: "a behind", lane: "a" }));
        for (const id of ["waits a", "note a", "a behind"]) await queue.wait(id, 5_000).then(settled);
        expect(await queue.get("waits a")).toMatchObject({ attempt: 2 });
        expect(await queue.get("waits b")).toMatchObject({ state: "queued", attempt: 1 });
      });

      it("RUN-1: an effect and a delayed run that is due are followers, too", async () => {
        const { queue } = (await fresh()).engine;
        await queue.work("p", 4, async ({ id, attempt }) => {
          if (id.startsWith("waits")) return attempt === 1 ? untilFollowed : ok;
          return id === "maker" ? { done: null, effects: [aRun({ id: "made", lane: "a" })] } : ok;
        });
        for (const lane of ["a", "b"]) {
          await queue.enqueue(aRun({ id: `waits ${lane}`, lane }));
          await parkedOnce(queue, `waits ${lane}`);
        }
        await queue.enqueue(aRun({ id: "maker", lane: "elsewhere" }));
        await queue.enqueue(aRun({ id: "delayed", lane: "b", notBeforeMs: Date.now() + 20 }));
        for (const id of ["waits a", "waits b"]) await queue.wait(id, 5_000).then(settled);
      });

      it("O08: one that is followed before it is parked does not wait at all, and one that is not waits for its time", async () => {
        const { queue } = (await fresh()).engine;
        await queue.work("p", 4, async ({ id, attempt }) => {
          if (attempt > 1 || !id.startsWith("waits")) return ok;
          if (id === "waits 1") await queue.enqueue(aRun({ id: "behind", lane: "1" }));
          return id === "waits 1" ? untilFollowed : { ...untilFollowed, retryAtMs: Date.now() + 20 };
        });
        await queue.enqueue(aRun({ id: "waits 1", lane: "1" }));
        await queue.enqueue(aRun({ id: "waits 2", lane: "2" }));
        for (const id of ["waits 1", "behind", "waits 2"]) await queue.wait(id, 5_000).then(settled);
      });

      it("RUN-1 RUN-2: a run that goes over into one behind it has ended, and that one has the payload of both", async () => {
        const { queue } = (await fresh()).engine;
        const seen: Json[] = [];
        for (const id of ["1", "2"]) await queue.enqueue(aRun({ id, payload: id }));
        await queue.work("p", 4, async ({ id, payload }) => {
          seen.push(payload);
          return id === "1" ? { into: "2", payload: "1 and 2", done: "over" } : ok;
        });
        expect(await queue.wait("1", 5_000)).toMatchObject({ state: "done", result: "over" });
        await queue.wait("2", 5_000).then(settled);
        expect(seen).toEqual(["1", "1 and 2"]);
      });

      it.each(["is stopped", "stands in another lane", "is not known"])(
        "RUN-1 RUN-2: when that one %s meanwhile, it is due again and nothing is lost",
        async (what) => {
          const { queue } = (await fresh()).engine;
          await queue.work("p", 1, async ({ attempt }) => {
            if (attempt > 1) return ok;
            if (what === "is stopped") await queue.cancel("2");
            return { into: "2", payload: "1 and 2", done: "over" };
          });
          if (what !== "is not known") {
            const lane = what === "is stopped" ? "lane" : "other";
            await queue.enqueue(
              aRun({ id: "2", lane, pool: "nobody's", payload: "2", notBeforeMs: inAnHour }),
            );
          }
          await queue.enqueue(aRun({ id: "1" }));
          expect(await queue.wait("1", 5_000)).toMatchObject({ state: "done", attempt: 2, result: null });
          if (what !== "is not known") expect(await queue.get("2")).toMatchObject({ payload: "2" });
        },
      );

      it("M01: a run that is cancelled while it goes over is not lost, but with the one that it goes over into", async () => {
        const { queue } = (await fresh()).engine;
        for (const id of ["1", "2", "3", "4"]) {
          await queue.enqueue(aRun({ id, lane: id < "3" ? "a" : "b", payload: id }));
        }
        await queue.work("p", 1, async ({ id }) => {
          if (id === "2") return ok;
          if (id === "3") {
            for (const one of ["4", "3"]) await queue.cancel(one);
            return { into: "4", payload: "3 and 4", done: "over" };
          }
          await queue.cancel("1");
          return { into: "2", payload: "1 and 2", done: "over" };
        });
        expect(await queue.wait("1", 5_000)).toMatchObject({ state: "done" });
        expect(await queue.wait("2", 5_000)).toMatchObject({ payload: "1 and 2" });
        expect(await queue.wait("3", 5_000)).toMatchObject({ state: "cancelled" });
      });
    });

    describe("cancel", () => {
      it("RUN-1: a queued run ends as cancelled, and the next one of its lane takes its turn", async () => {
        const { queue } = (await fresh()).engine;
        for (const id of ["1", "2", "3"]) await queue.enqueue(aRun({ id }));
        expect(await queue.cancel("1")).toBe(true);
        expect(await queue.wait("1", 0)).toMatchObject({ state: "cancelled" });
        const handled: string[] = [];
        await queue.work("p", 1, async ({ id }) => {
          handled.push(id);
          return ok;
        });
        await queue.wait("3", 5_000).then(settled);
        expect(handled).toEqual(["2", "3"]);
      });

      it("RUN-1: a running run gets its signal aborted and settles as it decides", async () => {
        const { queue } = (await fresh()).engine;
        const started = promise();
        await queue.work("p", 1, async ({ signal }) => {
          started.open();
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          return { done: { cause: signal.reason } };
        });
        await queue.enqueue(aRun({ id: "r" }));
        await started.opened;
        expect(await queue.cancel("r")).toBe(true);
        expect(await queue.wait("r", 5_000)).toMatchObject({ state: "done", result: { cause: "cancelled" } });
      });

      it("M01: a cancelled run is not parked again, a delayed one never starts, and there is nothing else to cancel", async () => {
        const { queue } = (await fresh()).engine;
        await queue.work("p", 1, async (run) => {
          await queue.cancel(run.id);
          return { retryAtMs: Date.now() + 3_600_000 };
        });
        await queue.enqueue(aRun({ id: "r" }));
        expect(await queue.wait("r", 5_000)).toMatchObject({ state: "cancelled" });
        await queue.enqueue(aRun({ id: "delayed", notBeforeMs: Date.now() + 3_600_000 }));
        expect(await queue.cancel("delayed")).toBe(true);
        expect([await queue.cancel("r"), await queue.cancel("unknown")]).toEqual([false, false]);
      });
    });

    describe("waiting", () => {
      it("SEND-5: a late wait gets the kept result, also from an engine that is opened anew", async () => {
        const { harness, engine } = await fresh();
        await engine.queue.work("p", 1, async () => ({ done: "kept" }));
        await engine.queue.enqueue(aRun({ id: "r" }));
        await engine.queue.wait("r", 5_000).then(settled);
        await engine.close();
        const { queue } = (await harness.open()).engine;
        expect(await queue.wait("r", 0)).toMatchObject({ result: "kept" });
      });

      it("SEND-5: a wait that ends first answers undefined and harms nothing: the next one gets the result", async () => {
        const { queue } = (await fresh()).engine;
        const gate = promise();
        await queue.work("p", 1, async () => {
          await gate.opened;
          return ok;
        });
        await queue.enqueue(aRun({ id: "r" }));
        expect(await queue.wait("r", 20)).toBeUndefined();
        const waits = [queue.wait("r", 5_000), queue.wait("r", 5_000)];
        gate.open();
        expect((await Promise.all(waits)).map((run) => run?.state)).toEqual(["done", "done"]);
      });

      it("SEND-5: an aborted wait ends at once, and an unknown run is an error", async () => {
        const { queue } = (await fresh()).engine;
        await queue.enqueue(aRun({ id: "r" }));
        const controller = new AbortController();
        const wait = queue.wait("r", 3_600_000, { signal: controller.signal });
        controller.abort();
        expect(await wait).toBeUndefined();
        expect(await queue.wait("r", 3_600_000, { signal: controller.signal })).toBeUndefined();
        await expect(queue.wait("unknown", 10)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
      });

      it("RUN-1: a chain of four that wait for each other ends with one slot", async () => {
        const { queue } = (await fresh()).engine;
        await queue.work("p", 1, async (run) => {
          const depth = Number(run.payload);
          if (depth === 4) return { done: "bottom" };
          const id = `${depth + 1}`;
          await queue.enqueue(aRun({ id, lane: `lane ${id}`, payload: depth + 1 }), { waiter: run.id });
          const below = await run.whileWaiting(() => queue.wait(id, 10_000, { waiter: run.id }));
          return { done: [depth, below?.result ?? null] };
        });
        await queue.enqueue(aRun({ id: "1", lane: "lane 1", payload: 1 }));
        expect(await queue.wait("1", 10_000)).toMatchObject({ result: [1, [2, [3, "bottom"]]] });
      });

      it("RUN-1: whoever comes back from waiting goes before new runs", async () => {
        const { queue } = (await fresh()).engine;
        const order: string[] = [];
        const gate = promise();
        await queue.work("p", 1, async (run) => {
          order.push(`+${run.id}`);
          if (run.id === "waits") {
            await run.whileWaiting(() => gate.opened);
            for (let turn = 0; turn < 5; turn += 1) await setImmediate();
          }
          if (run.id === "first") {
            gate.open();
            await setImmediate();
          }
          order.push(`-${run.id}`);
          return ok;
        });
        for (const id of ["waits", "first", "second"]) await queue.enqueue(aRun({ id, lane: id }));
        await queue.wait("second", 5_000).then(settled);
        expect(order).toEqual(["+waits", "+first", "-first", "-waits", "+second", "-second"]);
      });
    });

    describe("wait cycles", () => {
      it.each([
        ["itself", ["a"]],
        ["a pair", ["a", "b"]],
        ["three", ["a", "b", "c"]],
      ])(
        "SEND-7 / A12: a wait that closes a ring of %s is refused with the lanes, and nothing is accepted",
        async (_, lanes) => {
          const { queue } = (await fresh()).engine;
          const refusals: unknown[] = [];
          await queue.work("p", 8, async (run) => {
            const at = lanes.indexOf(run.lane);
            const lane = lanes[(at + 1) % lanes.length] ?? "";
            const id = `${run.id}>`;
            const accepted = await queue.enqueue(aRun({ id, lane }), { waiter: run.id }).then(
              () => true,
              (error) => void refusals.push(error),
            );
            if (accepted) await run.whileWaiting(() => queue.wait(id, 10_000, { waiter: run.id }));
            return ok;
          });
          await queue.enqueue(aRun({ id: "r", lane: "a" }));
          await queue.wait("r", 5_000).then(settled);
          const last = lanes.at(-1);
          expect(refusals).toMatchObject([{ code: "WAIT_CYCLE", details: { chain: [last, ...lanes] } }]);
          expect(await queue.get(`r${">".repeat(lanes.length)}`)).toBeUndefined();
        },
      );

      it("SEND-7: a wait that is over does not count, and neither does sending without waiting", async () => {
        const { queue } = (await fresh()).engine;
        const [waitIsOver, answered] = [promise(), promise()];
        const answers: string[] = [];
        await queue.work("p", 8, async (run) => {
          if (run.id === "a") {
            await queue.enqueue(aRun({ id: "b", lane: "b" }), { waiter: "a" });
            await queue.wait("b", 10, { waiter: "a" });
            waitIsOver.open();
            await answered.opened;
          }
          if (run.id === "b") {
            answers.push(await queue.enqueue(aRun({ id: "note", lane: "a" })));
            await waitIsOver.opened;
            answers.push(await queue.enqueue(aRun({ id: "question", lane: "a" }), { waiter: "b" }));
            answered.open();
          }
          return ok;
        });
        await queue.enqueue(aRun({ id: "a", lane: "a" }));
        await answered.opened;
        await queue.wait("question", 5_000).then(settled);
        expect(answers).toEqual(["accepted", "accepted"]);
      });

      it("SEND-7: a wait whose run has settled does not count, although the waiter goes on", async () => {
        const { queue } = (await fresh()).engine;
        const answered = promise();
        await queue.work("p", 8, async (run) => {
          if (run.id === "a") {
            await queue.enqueue(aRun({ id: "b", lane: "b" }), { waiter: "a" });
            await queue.wait("b", 5_000, { waiter: "a" }).then(settled);
            await queue.enqueue(aRun({ id: "c", lane: "b" }));
            await answered.opened;
          }
          if (run.id === "c") {
            await queue.enqueue(aRun({ id: "question", lane: "a" }), { waiter: "c" }).finally(answered.open);
          }
          return ok;
        });
        await queue.enqueue(aRun({ id: "a", lane: "a" }));
        await answered.opened;
        expect(await queue.wait("question", 5_000)).toMatchObject({ state: "done" });
      });

      it("SEND-7: only a run that is running here can wait", async () => {
        const { queue } = (await fresh()).engine;
        await queue.enqueue(aRun({ id: "queued" }));
        for (const waiter of ["queued", "unknown"]) {
          await expect(queue.enqueue(aRun({ id: "r", lane: "b" }), { waiter })).rejects.toMatchObject({
            code: "CLOSED",
          });
        }
        expect(await queue.get("r")).toBeUndefined();
      });
    });

    describe("the end", () => {
      it("RUN-2: stop waits for the running handlers and claims nothing more", async () => {
        const { queue } = (await fresh()).engine;
        const started = promise();
        const gate = promise();
        const worker = await queue.work("p", 1, async () => {
          started.open();
          await gate.opened;
          return ok;
        });
        await queue.enqueue(aRun({ id: "1" }));
        await queue.enqueue(aRun({ id: "2" }));
        await started.opened;
        const stopped = worker.stop(10_000);
        gate.open();
        await stopped;
        expect([(await queue.get("1"))?.state, (await queue.get("2"))?.state]).toEqual(["done", "queued"]);
      });

      it("RUN-2: after the grace time the handlers are told to stop, and what they settle counts", async () => {
        const { queue } = (await fresh()).engine;
        const started = promise();
        const worker = await queue.work("p", 1, async ({ signal }) => {
          started.open();
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          return { failed: String(signal.reason) };
        });
        await queue.enqueue(aRun({ id: "r" }));
        await started.opened;
        await worker.stop(10);
        expect(await queue.get("r")).toMatchObject({ state: "failed", error: "stopping" });
      });

      it("RUN-2: a handler that ignores its signal does not keep close waiting; its run is interrupted", async () => {
        const { harness, engine } = await fresh();
        const started = promise();
        await engine.queue.work("p", 1, () => {
          started.open();
          return new Promise(() => {});
        });
        await engine.queue.enqueue(aRun({ id: "r" }));
        await started.opened;
        await engine.close();
        const claims: ClaimedRun[] = [];
        const { queue } = (await harness.open()).engine;
        await queue.work("p", 1, async (run) => {
          claims.push(run);
          return ok;
        });
        await queue.wait("r", 5_000).then(settled);
        expect(claims).toMatchObject([{ attempt: 2, interrupted: true }]);
      });

      it("RUN-2: after close everything rejects with CLOSED, waits too, and a second close does nothing", async () => {
        const { engine } = await fresh();
        const { queue, owners } = engine;
        await queue.enqueue(aRun({ id: "r" }));
        const wait = queue.wait("r", 3_600_000);
        const refused = expect(wait).rejects.toMatchObject({ code: "CLOSED" });
        await engine.close();
        await engine.close();
        await refused;
        const calls = [
          () => queue.enqueue(aRun({ id: "x" })),
          () => queue.get("r"),
          () => queue.pending("lane"),
          () => queue.wait("r", 0),
          () => queue.work("p", 1, async () => ok),
          () => queue.cancel("r"),
          () => queue.wake("p"),
          () => owners.acquire("bot"),
        ];
        for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "CLOSED" });
      });
    });
  });
}

const ok: RunSettlement = { done: null };
const eagerly = { timeout: 10_000, interval: 2 };

export function aRun({ id, ...overrides }: Partial<NewRun> & { id: string }): NewRun {
  return { id, lane: "lane", pool: "p", kind: "test", payload: {}, ...overrides };
}

export function turnOf(runId: string): TurnWrite {
  // A session key is opaque here: nothing reads it back.
  return { type: "turn", sessionId: "s", sessionKey: "k" as never, turn: 1, runId, entries: [] };
}

function promise(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Fails the test when a wait was over before the run was. */
function settled(record: RunRecord | undefined): RunRecord {
  if (!record) throw new Error("the run has not settled");
  return record;
}
