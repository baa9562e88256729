import { describe, expect, it } from "vitest";
import { aRun } from "../../../contracts/run-queue.contract.ts";
import { countedDatabase } from "./counted-database.ts";
import { manualClock, settle } from "./manual-clock.ts";
import { holdRuns, openStore } from "./opened-store.ts";

describe("RUN: looking for the work of other processes", () => {
  it("RUN: alone, an idle engine has no timer but its heartbeat and asks nothing between two beats", async () => {
    const store = openStore();
    const clock = manualClock();
    const database = countedDatabase(store.connect());
    const { queue } = await store.engine({ clock, database });
    await queue.work("p", 4, async () => ({ done: null }));
    await queue.enqueue(aRun({ id: "r" }));
    await settle();
    expect(await queue.get("r")).toMatchObject({ state: "done" });
    expect(clock.timers()).toEqual([2_000]);

    database.asked.length = 0;
    await clock.advance(1_999);
    expect(database.asked).toEqual([]);
    await clock.advance(1);
    expect(database.asked.filter((sql) => sql === "BEGIN")).toHaveLength(1);
    expect(database.asked.length).toBeLessThan(20);
    expect(clock.timers()).toEqual([2_000]);
  });

  it("RUN: with another process it looks every 10 ms, later every 25, and ends when it is alone again", async () => {
    const store = openStore();
    const clock = manualClock();
    const database = countedDatabase(store.connect());
    const { queue } = await store.engine({ clock, database });
    await queue.work("p", 4, async () => ({ done: null }));
    const other = await store.engine({ clock: manualClock() });
    const looks = async (ms: number): Promise<number> => {
      database.asked.length = 0;
      await clock.advance(ms);
      return database.asked.filter((sql) => sql.includes("data_version")).length;
    };
    await clock.advance(2_000);
    expect(await looks(400)).toBe(40);
    await clock.advance(500);
    expect(await looks(1_000)).toBe(40);
    await other.close();
    await clock.advance(2_100);
    expect(await looks(1_900)).toBe(0);
  });

  it("RUN: a process that neither works nor waits does not look", async () => {
    const store = openStore();
    const clock = manualClock();
    const { queue } = await store.engine({ clock });
    await store.engine();
    await clock.advance(2_000);
    expect(clock.timers()).toEqual([2_000]);
    await queue.enqueue(aRun({ id: "r" }));
    const wait = queue.wait("r", 60_000);
    expect(clock.timers()).toEqual([10, 2_000, 60_000]);
    await clock.advance(60_000);
    expect(await wait).toBeUndefined();
  });

  it("RUN: a delayed run of another process is started when it is due, long before the next beat", async () => {
    const store = openStore();
    const [mine, theirs] = [manualClock(), manualClock()];
    const { queue } = await store.engine({ clock: mine });
    const other = await store.engine({ clock: theirs });
    const held = holdRuns();
    await queue.work("p", 4, held.handler);
    await mine.advance(2_000);
    await other.queue.enqueue(aRun({ id: "r", notBeforeMs: mine.now() + 300 }));
    await mine.advance(299);
    expect(held.claims).toEqual([]);
    await mine.advance(1);
    expect(held.claims).toMatchObject([{ id: "r" }]);
  });

  it("RUN: what another process did while this one did not look is found at the next beat", async () => {
    const store = openStore();
    const clock = manualClock();
    const { queue } = await store.engine({ clock });
    const held = holdRuns();
    await queue.work("p", 4, held.handler);
    await queue.enqueue(aRun({ id: "waited for", pool: "nobody" }));
    const wait = queue.wait("waited for", 60_000);
    const passing = await store.engine({ clock: manualClock() });
    await passing.queue.cancel("waited for");
    await passing.queue.enqueue(aRun({ id: "r" }));
    await passing.queue.enqueue(aRun({ id: "soon", notBeforeMs: clock.now() + 3_000, lane: "other" }));
    await passing.close();
    await clock.advance(2_000);
    expect(held.claims.map((claim) => claim.id)).toEqual(["r"]);
    expect(await wait).toMatchObject({ state: "cancelled" });
    await clock.advance(1_000);
    expect(held.claims.map((claim) => claim.id)).toEqual(["r", "soon"]);
  });
});
