import { describe, expect, it } from "vitest";
import { aRun } from "../../../contracts/run-queue.contract.ts";
import { manualClock, settle } from "./manual-clock.ts";
import { holdRuns, openStore, rememberingLogger } from "./opened-store.ts";

async function watchedEngine() {
  const store = openStore();
  const clock = manualClock();
  const logger = rememberingLogger();
  const { queue } = await store.engine({ clock, logger });
  return { ...store, clock, logger, queue, held: holdRuns() };
}

describe("the watchdog", () => {
  it("O08: a lane with queued work that is neither ready nor busy is made ready, and reported", async () => {
    const { database, clock, logger, queue, held } = await watchedEngine();
    for (const lane of ["a", "b", "c"]) await queue.enqueue(aRun({ id: lane, lane }));
    database.exec("DELETE FROM lanes WHERE lane <> 'b'");
    await queue.work("p", 4, held.handler);
    await settle();
    expect(held.claims.map((claim) => claim.id)).toEqual(["b"]);
    await clock.advance(2_000);
    expect(held.claims.map((claim) => claim.id)).toEqual(["b", "a", "c"]);
    expect(logger.said).toEqual(["lanes had work that nobody was told of; they are ready again"]);
  });

  it("O08: among many lanes it looks at a part at each beat, and comes around", async () => {
    const { database, clock, queue, held } = await watchedEngine();
    const ids = Array.from({ length: 450 }, (_, n) => `lane ${String(n).padStart(3, "0")}`);
    for (const id of ids) await queue.enqueue(aRun({ id, lane: id }));
    database.exec("DELETE FROM lanes");
    await queue.work("p", 1_000, held.handler);
    for (const seen of [200, 400, 450]) {
      await clock.advance(2_000);
      expect(held.claims).toHaveLength(seen);
    }
    database.exec(
      "UPDATE runs SET state = 'queued' WHERE id = 'lane 000'; DELETE FROM lanes WHERE lane = 'lane 000'",
    );
    await clock.advance(2_000);
    expect(held.claims.at(-1)?.id).toBe("lane 000");
  });

  it.each([
    [
      "nobody here works on",
      "UPDATE lanes SET claim = 'another'",
      "lanes were busy without a handler; their runs are interrupted",
    ],
    [
      "an unknown process holds",
      "UPDATE lanes SET owner = 'nobody'",
      "lanes of an unknown process were busy; their runs are interrupted",
    ],
  ])("O08: a busy lane that %s is given out as interrupted, and reported", async (_, damage, report) => {
    const { database, clock, logger, queue, held } = await watchedEngine();
    await queue.work("p", 2, held.handler);
    await queue.enqueue(aRun({ id: "r" }));
    await settle();
    database.exec(damage);
    await clock.advance(2_000);
    expect(held.claims).toMatchObject([{ attempt: 1 }, { attempt: 2, interrupted: true }]);
    expect(logger.said).toEqual([report]);
  });

  it("O08: it says nothing about delayed, parked, ready and busy lanes", async () => {
    const { clock, logger, queue, held } = await watchedEngine();
    const later = clock.now() + 3_600_000;
    await queue.work("busy", 1, held.handler);
    await queue.work("parked", 1, async () => ({ retryAtMs: later }));
    await queue.enqueue(aRun({ id: "1", lane: "delayed", notBeforeMs: later }));
    await queue.enqueue(aRun({ id: "2", lane: "parked", pool: "parked" }));
    await queue.enqueue(aRun({ id: "3", lane: "ready" }));
    await queue.enqueue(aRun({ id: "4", lane: "busy", pool: "busy" }));
    await settle();
    await clock.advance(20_000);
    expect(logger.said).toEqual([]);
    expect(held.claims).toHaveLength(1);
  });
});
