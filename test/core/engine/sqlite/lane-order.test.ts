import fc from "fast-check";
import { expect, it } from "vitest";
import { aRun } from "../../../contracts/run-queue.contract.ts";
import { manualClock, settle } from "./manual-clock.ts";
import { openStore } from "./opened-store.ts";

interface Accepted {
  readonly id: string;
  readonly lane: string;
  readonly placedAtMs: number;
  readonly delayed: boolean;
}

const step = fc.oneof(
  fc.record({
    type: fc.constant("enqueue" as const),
    lane: fc.constantFrom("a", "b"),
    delayMs: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
    parks: fc.nat(2),
    throws: fc.boolean(),
  }),
  fc.record({ type: fc.constant("cancel" as const), nth: fc.nat(5) }),
  fc.record({ type: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ type: fc.constant("wake" as const) }),
);

it("RUN-1 / O08: whatever is delayed, parked, cancelled or fails, every run ends, in the order of the places in its lane", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 20 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, slots) => {
        const store = openStore();
        const clock = manualClock();
        const { queue } = await store.engine({ clock });
        const running = new Set<string>();
        const begun: string[] = [];
        const overlapping: string[] = [];
        await queue.work("p", slots, async ({ id, lane, attempt, payload }) => {
          if (running.has(lane)) overlapping.push(id);
          running.add(lane);
          if (attempt === 1) begun.push(id);
          await new Promise((resolve) => setImmediate(resolve));
          running.delete(lane);
          const [parks, throws] = payload as [number, boolean];
          if (attempt <= parks) return { retryAtMs: clock.now() + 7 * attempt };
          if (throws) throw new Error("as asked");
          return { done: null };
        });

        const accepted: Accepted[] = [];
        for (const [n, one] of steps.entries()) {
          if (one.type === "pass") await clock.advance(one.ms);
          else if (one.type === "wake") await queue.wake("p");
          else if (one.type === "cancel") await queue.cancel(accepted[one.nth]?.id ?? "none");
          else {
            const placedAtMs = clock.now() + (one.delayMs ?? 0);
            const run = aRun({ id: `${n}`, lane: one.lane, payload: [one.parks, one.throws] });
            await queue.enqueue(one.delayMs === undefined ? run : { ...run, notBeforeMs: placedAtMs });
            accepted.push({ id: run.id, lane: one.lane, placedAtMs, delayed: one.delayMs !== undefined });
          }
        }
        for (let turn = 0; turn < 100; turn += 1) await clock.advance(20);
        await settle();

        expect(overlapping).toEqual([]);
        for (const { id } of accepted) expect((await queue.get(id))?.endedAtMs).toBeDefined();
        const places = [...accepted].sort(
          (a, b) => a.placedAtMs - b.placedAtMs || Number(b.delayed) - Number(a.delayed),
        );
        for (const lane of ["a", "b"]) {
          const order = places
            .filter((run) => run.lane === lane && begun.includes(run.id))
            .map((run) => run.id);
          expect(begun.filter((id) => order.includes(id))).toEqual(order);
        }
        expect(store.database.prepare("SELECT count(*) AS n FROM lanes").get()).toMatchObject({ n: 0 });
      },
    ),
    { numRuns: 40 },
  );
});
