import { describe, expect, it } from "vitest";
import { aRun } from "../../../contracts/run-queue.contract.ts";
import { manualClock } from "./manual-clock.ts";
import { holdRuns, openStore } from "./opened-store.ts";

const DAY_MS = 86_400_000;
const beat = { heartbeatMs: 1_000 };

describe("a clock that is set back", () => {
  it("O08 C07: does not prolong the wait of a delayed run, and brings it no earlier", async () => {
    const clock = manualClock();
    const { queue } = await openStore().engine({ clock, timing: beat });
    const held = holdRuns();
    await queue.work("p", 1, held.handler);
    await queue.enqueue(aRun({ id: "before", lane: "a", notBeforeMs: clock.now() + 20_000 }));
    await clock.advance(10_000);
    clock.jump(-DAY_MS);
    await queue.enqueue(aRun({ id: "after", lane: "b", notBeforeMs: clock.now() + 20_000 }));
    await clock.advance(9_999);
    expect(held.claims).toEqual([]);
    await clock.advance(1);
    expect(held.claims.map(({ id }) => id)).toEqual(["before"]);
    held.settle("before", { done: null });
    await clock.advance(9_999);
    expect(held.claims).toHaveLength(1);
    await clock.advance(1);
    expect(held.claims.map(({ id }) => id)).toEqual(["before", "after"]);
  });

  it("O08: counts once, however many processes notice it, and late by a beat at most", async () => {
    const store = openStore();
    const clock = manualClock();
    const [one, two] = [
      await store.engine({ clock, timing: beat }),
      await store.engine({ clock, timing: beat }),
    ];
    await one.queue.enqueue(aRun({ id: "r", notBeforeMs: clock.now() + 60_000 }));
    clock.jump(-20_000);
    await clock.advance(2_000);
    const held = holdRuns();
    await two.queue.work("p", 1, held.handler);
    await clock.advance(57_999);
    expect(held.claims).toEqual([]);
    await clock.advance(2 * beat.heartbeatMs);
    expect(held.claims).toMatchObject([{ id: "r" }]);
  });

  it("O08 C07: while nobody had the store open is noticed by whoever opens it", async () => {
    const store = openStore();
    const clock = manualClock();
    const first = await store.engine({ clock, timing: beat });
    await first.queue.enqueue(aRun({ id: "r", notBeforeMs: clock.now() + 5_000 }));
    await first.close();
    clock.jump(-DAY_MS);
    const { queue } = await store.engine({ clock, timing: beat });
    const held = holdRuns();
    await queue.work("p", 1, held.handler);
    await clock.advance(5_000);
    expect(held.claims).toMatchObject([{ id: "r" }]);
  });
});
