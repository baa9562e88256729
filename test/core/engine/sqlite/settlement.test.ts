import { describe, expect, it } from "vitest";
import type { WriteCarrier } from "../../../../src/core/engine/sqlite/write-carrier.ts";
import { SwitchboardError } from "../../../../src/core/errors.ts";
import type { Write } from "../../../../src/core/ports/storage.ts";
import { aRun, turnOf } from "../../../contracts/run-queue.contract.ts";
import { manualClock, settle } from "./manual-clock.ts";
import { holdRuns, openStore } from "./opened-store.ts";

describe("settling", () => {
  it("RUN-2: while the store cannot be reached a run waits with its result, then settles it", async () => {
    const store = openStore();
    const clock = manualClock();
    let unreachable = true;
    const writer: WriteCarrier = {
      applyNow() {
        if (unreachable) throw new SwitchboardError("STORE_UNREACHABLE", "The disk is full.");
      },
      committed() {},
    };
    const { queue } = await store.engine({ clock, writer });
    let handled = 0;
    await queue.work("p", 1, async () => {
      handled += 1;
      return { done: "kept", writes: [turnOf("r")] };
    });
    await queue.enqueue(aRun({ id: "r" }));
    await clock.advance(6_000);
    expect(await queue.get("r")).toMatchObject({ state: "running" });
    unreachable = false;
    await clock.advance(2_000);
    expect(await queue.get("r")).toMatchObject({ state: "done", result: "kept", attempt: 1 });
    expect(handled).toBe(1);
  });

  it("RUN-2: values that live elsewhere are written before the transaction, and committed is told after it", async () => {
    const store = openStore();
    const steps: string[] = [];
    const idsOf = (writes: readonly Write[]) =>
      writes.map((write) => (write.type === "turn" ? write.runId : "")).join();
    const { queue } = await store.engine({
      writer: {
        before: async (writes) => void steps.push(`before ${idsOf(writes)}`),
        applyNow: (writes) => void steps.push(`now ${idsOf(writes)}`),
        committed: (writes) => void steps.push(`committed ${idsOf(writes)}`),
      },
    });
    await queue.work("p", 1, async () => ({ done: null, writes: [turnOf("settled")] }));
    await queue.enqueue(aRun({ id: "r" }), { writes: [turnOf("accepted")] });
    await queue.wait("r", 5_000);
    await queue.enqueue(aRun({ id: "r" }), { writes: [turnOf("duplicate")] });
    expect(steps).toEqual([
      ...["before accepted", "now accepted", "committed accepted"],
      ...["before settled", "now settled", "committed settled"],
    ]);
  });

  it("SEND-7: a wait that is refused writes nothing elsewhere either", async () => {
    const steps: string[] = [];
    const writer: WriteCarrier = {
      before: async () => void steps.push("before"),
      applyNow() {},
      committed() {},
    };
    const { queue } = await openStore().engine({ writer });
    const held = holdRuns();
    await queue.work("p", 1, held.handler);
    await queue.enqueue(aRun({ id: "r" }));
    await settle();
    const toItself = queue.enqueue(aRun({ id: "x" }), { waiter: "r", writes: [turnOf("x")] });
    await expect(toItself).rejects.toMatchObject({ code: "WAIT_CYCLE" });
    expect(steps).toEqual([]);
  });

  it("RUN-2: a worker that lost its claim writes nothing elsewhere either", async () => {
    const store = openStore();
    const [mine, theirs] = [manualClock(), manualClock()];
    const steps: string[] = [];
    const writer: WriteCarrier = {
      before: async () => void steps.push("before"),
      applyNow() {},
      committed() {},
    };
    const one = await store.engine({ clock: mine, writer });
    await store.engine({ clock: theirs });
    const held = holdRuns();
    await one.queue.work("p", 1, held.handler);
    await one.queue.enqueue(aRun({ id: "r" }));
    await settle();
    await theirs.advance(14_000);
    held.settle("r", { done: null, writes: [turnOf("stale")] });
    await settle();
    expect(steps).toEqual([]);
  });

  it("RUN-2: a claimed run that stop finds before its handler has begun is as if it had never been claimed", async () => {
    const { queue } = await openStore().engine();
    await queue.enqueue(aRun({ id: "r" }));
    const begun: string[] = [];
    const worker = await queue.work("p", 1, async ({ id }) => {
      begun.push(id);
      return { done: null };
    });
    while ((await queue.get("r"))?.state !== "running") await Promise.resolve();
    await worker.stop(0);
    expect(begun).toEqual([]);
    expect(await queue.get("r")).toMatchObject({ state: "queued", attempt: 0 });
  });

  it("SEND-7: no wait is remembered when its waiter has ended, in whichever way", async () => {
    const store = openStore();
    const [mine, theirs] = [manualClock(), manualClock()];
    const one = await store.engine({ clock: mine });
    await store.engine({ clock: theirs });
    const held = holdRuns();
    await one.queue.work("p", 2, held.handler);
    for (const id of ["settles", "is interrupted"]) await one.queue.enqueue(aRun({ id, lane: id }));
    await settle();
    for (const { id } of held.claims) {
      await one.queue.enqueue(aRun({ id: `${id}>`, lane: "other", pool: "q" }), { waiter: id });
    }
    const waits = () => store.database.prepare("SELECT count(*) AS n FROM waits").get<{ n: number }>()?.n;
    expect(waits()).toBe(2);
    held.settle("settles", { done: null });
    await settle();
    expect(waits()).toBe(1);
    await theirs.advance(14_000);
    expect(waits()).toBe(0);
  });

  it("SEND-5: finished runs are kept for a day, then forgotten in batches; pending ones stay", async () => {
    const store = openStore();
    const clock = manualClock();
    const { queue } = await store.engine({ clock });
    const worker = await queue.work("p", 4, async () => ({ done: null }));
    for (let n = 0; n < 300; n += 1) await queue.enqueue(aRun({ id: `${n}`, lane: `${n % 4}` }));
    await expect.poll(() => queue.pending("3")).toEqual([]);
    await worker.stop(0);
    await queue.enqueue(aRun({ id: "pending" }));
    const count = () => store.database.prepare("SELECT count(*) AS n FROM runs").get<{ n: number }>()?.n;
    clock.jump(24 * 3_600_000 - 4_000);
    await clock.advance(2_000);
    expect(count()).toBe(301);
    clock.jump(4_000);
    await clock.advance(2_000);
    expect(count()).toBe(51);
    await clock.advance(2_000);
    expect([count(), (await queue.get("pending"))?.state]).toEqual([1, "queued"]);
  });

  it("RUN-2: a record that cannot be read keeps no old run from being forgotten, a store that is down keeps all of them", async () => {
    const store = openStore();
    const clock = manualClock();
    let code: "STORE_UNREACHABLE" | "STORE_CORRUPT" = "STORE_UNREACHABLE";
    const asked: (readonly string[])[] = [];
    const { queue } = await store.engine({
      clock,
      writer: {
        applyNow() {
          throw new SwitchboardError(code, "Not now.");
        },
        committed() {},
      },
      forgetWith(ids) {
        asked.push(ids);
        return [turnOf("with it")];
      },
    });
    await queue.work("p", 1, async () => ({ done: null }));
    await queue.enqueue(aRun({ id: "r" }));
    await queue.wait("r", 5_000);
    clock.jump(24 * 3_600_000);
    await clock.advance(4_000);
    expect(asked).toEqual([["r"], ["r"]]);
    expect(await queue.get("r")).toMatchObject({ state: "done" });
    code = "STORE_CORRUPT";
    await clock.advance(2_000);
    expect(await queue.get("r")).toBeUndefined();
  });

  it("O08: a delay longer than any timer is kept", async () => {
    const clock = manualClock();
    const { queue } = await openStore().engine({ clock, timing: { heartbeatMs: 3_600_000 } });
    const held = holdRuns();
    await queue.work("p", 1, held.handler);
    const days = 24 * 3_600_000;
    await queue.enqueue(aRun({ id: "r", notBeforeMs: clock.now() + 40 * days }));
    await clock.advance(40 * days - 1);
    expect(held.claims).toEqual([]);
    await clock.advance(1);
    expect(held.claims).toMatchObject([{ id: "r" }]);
  });

  it("O08: what became due earlier stands before what is accepted later, even when its timer is late", async () => {
    const clock = manualClock();
    const { queue } = await openStore().engine({ clock });
    const due = clock.now() + 1_000;
    await queue.enqueue(aRun({ id: "delayed 2", notBeforeMs: due + 1 }));
    await queue.enqueue(aRun({ id: "delayed 1", notBeforeMs: due }));
    clock.jump(5_000);
    await queue.enqueue(aRun({ id: "now" }));
    expect((await queue.pending("lane")).map((run) => run.id)).toEqual(["delayed 1", "delayed 2", "now"]);
  });
});
