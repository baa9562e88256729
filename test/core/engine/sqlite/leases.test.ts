import { describe, expect, it } from "vitest";
import { aRun } from "../../../contracts/run-queue.contract.ts";
import { manualClock, settle } from "./manual-clock.ts";
import { holdRuns, openStore } from "./opened-store.ts";

const [heartbeatMs, leaseMs] = [2_000, 10_000];

/** Two engines, each with a clock of its own: a clock that is not advanced is a process that stands still. */
async function twoProcesses() {
  const store = openStore();
  const [mine, theirs] = [manualClock(), manualClock()];
  const [one, two] = [await store.engine({ clock: mine }), await store.engine({ clock: theirs })];
  const held = holdRuns();
  await one.queue.work("p", 1, held.handler);
  await one.queue.enqueue(aRun({ id: "r" }));
  await settle();
  return { store, mine, theirs, one, two, held };
}

describe("leases", () => {
  it("N06: a process keeps its claims while it beats, however long the handler runs", async () => {
    const { mine, theirs, two } = await twoProcesses();
    for (let beat = 0; beat < 50; beat += 1) {
      await mine.advance(heartbeatMs);
      await theirs.advance(heartbeatMs);
    }
    expect(await two.queue.get("r")).toMatchObject({ state: "running", attempt: 1 });
  });

  it("RUN-2: a process that stands still loses its claims after the lease, not before", async () => {
    const { theirs, two, held } = await twoProcesses();
    await theirs.advance(leaseMs - heartbeatMs);
    expect(await two.queue.get("r")).toMatchObject({ state: "running" });
    await theirs.advance(2 * heartbeatMs);
    expect(await two.queue.get("r")).toMatchObject({ state: "queued" });
    expect(held.claims).toHaveLength(1);
  });

  it("RUN-2: it notices at its next beat, drops what its handler made, and claims as a new process", async () => {
    const { mine, theirs, two, held } = await twoProcesses();
    await theirs.advance(leaseMs + heartbeatMs);
    await mine.advance(heartbeatMs);
    expect(held.claims[0]?.signal.reason).toBe("lease lost");
    await expect(held.claims[0]?.checkpoint("late")).rejects.toMatchObject({ code: "CLOSED" });
    await mine.advance(heartbeatMs);
    expect(held.claims).toMatchObject([{ attempt: 1 }, { attempt: 2, interrupted: true, payload: {} }]);
    held.settle("r", { done: "second" });
    await settle();
    expect(await two.queue.get("r")).toMatchObject({ state: "done", result: "second" });
  });

  it("RUN-2: its handlers are told within a look at the others, before the next beat", async () => {
    const { mine, theirs, held } = await twoProcesses();
    await mine.advance(heartbeatMs);
    await theirs.advance(leaseMs + 2 * heartbeatMs);
    await mine.advance(25);
    expect(held.claims[0]?.signal.reason).toBe("lease lost");
  });

  it("RUN-2: a checkpoint, a settlement or a wait before the next beat is refused as well", async () => {
    const { theirs, one, two, held } = await twoProcesses();
    await theirs.advance(leaseMs + heartbeatMs);
    await expect(one.queue.enqueue(aRun({ id: "child", lane: "c" }), { waiter: "r" })).rejects.toMatchObject({
      code: "CLOSED",
    });
    held.settle("r", { done: "stale", effects: [aRun({ id: "effect", lane: "e" })] });
    await settle();
    expect(await two.queue.get("r")).toMatchObject({ state: "queued" });
    expect([await two.queue.get("effect"), await two.queue.get("child")]).toEqual([undefined, undefined]);
    expect(held.claims[0]?.signal.reason).toBe("lease lost");
  });

  it("RUN-2: a stale handler cannot wait in the name of its successor", async () => {
    const { theirs, one, two } = await twoProcesses();
    await theirs.advance(leaseMs + heartbeatMs);
    const successor = holdRuns();
    await two.queue.work("p", 1, successor.handler);
    await settle();
    expect(successor.claims).toMatchObject([{ id: "r", attempt: 2 }]);
    const child = aRun({ id: "child", lane: "c" });
    await expect(one.queue.enqueue(child, { waiter: "r" })).rejects.toMatchObject({ code: "CLOSED" });
    expect(await two.queue.enqueue(child, { waiter: "r" })).toBe("accepted");
  });

  it("RUN-2: a claim that was lost before its handler began is not begun", async () => {
    const { store, mine, one, held } = await twoProcesses();
    held.settle("r", { done: null });
    await settle();
    await one.queue.enqueue(aRun({ id: "next" }));
    while ((await one.queue.get("next"))?.state !== "running") await Promise.resolve();
    store.database.exec("DELETE FROM processes");
    await one.owners.acquire("bot");
    await settle();
    expect(held.claims).toHaveLength(1);
    await mine.advance(heartbeatMs);
    expect(held.claims.slice(1)).toMatchObject([{ id: "next", attempt: 2, interrupted: true }]);
  });

  it("RUN-1: a wish to cancel outlives the worker: the next one finds its signal aborted", async () => {
    const { theirs, two } = await twoProcesses();
    await two.queue.cancel("r");
    await theirs.advance(leaseMs + heartbeatMs);
    const successor = holdRuns();
    await two.queue.work("p", 1, successor.handler);
    await settle();
    expect(successor.claims[0]?.signal.reason).toBe("cancelled");
  });

  it("RUN-2: close hands back at once what a handler that ignored its signal still holds", async () => {
    const store = openStore();
    const clock = manualClock();
    const closing = await store.engine({ clock });
    await closing.queue.work("p", 1, () => new Promise(() => {}));
    await closing.queue.enqueue(aRun({ id: "r" }));
    await settle();
    const closed = closing.close();
    await clock.advance(10_000);
    await closed;
    expect(store.database.prepare("SELECT state, interrupted FROM runs").get()).toMatchObject({
      state: "queued",
      interrupted: 1,
    });
  });

  it("RUN: processes whose clocks draw the same ids are not taken for each other", async () => {
    const store = openStore();
    const sameIds = () => {
      let drawn = 0;
      return { ...manualClock(), uuid: () => `id ${++drawn}` };
    };
    await store.engine({ clock: sameIds() });
    await store.engine({ clock: sameIds() });
    const ids = store.database.prepare("SELECT id FROM processes ORDER BY id").all<{ id: string }>();
    expect(ids.map((row) => row.id)).toEqual(["id 1", "id 2"]);
  });

  it("RUN-2: only beats count: asking for an owner lease often does not shorten another's lease", async () => {
    const { theirs, two } = await twoProcesses();
    await theirs.advance(heartbeatMs);
    for (let n = 0; n < 20; n += 1) await two.owners.acquire(`bot ${n}`);
    expect(await two.queue.get("r")).toMatchObject({ state: "running" });
  });

  it("RUN-2: neither a jump of the clock nor a machine that slept takes a claim from a process that lives", async () => {
    const { mine, theirs, two } = await twoProcesses();
    const anHour = 3_600_000;
    // Both clocks jump, as after a sleep, and both processes go on: one beat each.
    theirs.jump(anHour);
    await theirs.advance(heartbeatMs);
    mine.jump(-anHour);
    await mine.advance(heartbeatMs);
    await theirs.advance(heartbeatMs);
    expect(await two.queue.get("r")).toMatchObject({ state: "running", attempt: 1 });
  });
});

describe("a process that is alone", () => {
  it("RUN-2: it keeps its claims when it stood still: nobody else could have begun them", async () => {
    const store = openStore();
    const clock = manualClock();
    const { queue } = await store.engine({ clock });
    const held = holdRuns();
    await queue.work("p", 1, held.handler);
    await queue.enqueue(aRun({ id: "r" }));
    await settle();
    clock.jump(3_600_000);
    await clock.advance(heartbeatMs);
    held.settle("r", { done: "slept well" });
    await settle();
    expect(await queue.get("r")).toMatchObject({ state: "done", result: "slept well", attempt: 1 });
  });
});
