import fc from "fast-check";
import { expect, it } from "vitest";
import { oneLessIn, oneMoreIn } from "../../../src/core/policy/spent-hour.ts";
import type { SpentHour } from "../../../src/core/ports/session.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const T0 = Date.UTC(2026, 10, 30, 10, 0, 0);

const gaps = fc.array(
  fc.constantFrom(0, 1, 999, MINUTE_MS, 7 * MINUTE_MS, HOUR_MS / 2, HOUR_MS - 1, HOUR_MS),
  {
    maxLength: 80,
  },
);

it("D10: whatever the times, within no hour there are more than the limit, and who waits until the named time is let in", () => {
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 6 }), (story, most) => {
      let hour: SpentHour = [];
      let nowMs = T0;
      const made: number[] = [];
      for (const gap of story) {
        nowMs += gap;
        const next = oneMoreIn(hour, nowMs, most);
        const young = made.filter((atMs) => nowMs - atMs < HOUR_MS).length;
        if (!("hour" in next)) {
          // A minute is counted as one: nobody waits longer than that for nothing.
          expect(made.filter((atMs) => nowMs - atMs < HOUR_MS + MINUTE_MS).length).toBeGreaterThanOrEqual(
            most,
          );
          expect(oneMoreIn(hour, next.freeAtMs, most)).toHaveProperty("hour");
          continue;
        }
        expect(young).toBeLessThan(most);
        hour = next.hour;
        made.push(nowMs);
        expect(hour.length).toBeLessThanOrEqual(61);
      }
    }),
  );
});

it("D10: a clock that is set back by less than an hour gives nothing back, however often", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -5000, max: 5000 }), { maxLength: 60 }), (steps) => {
      let hour: SpentHour = [];
      let nowMs = T0;
      let made = 0;
      for (const step of steps) {
        nowMs += step;
        const next = oneMoreIn(hour, nowMs, 3);
        if (!("hour" in next)) continue;
        hour = next.hour;
        made += 1;
      }
      expect(made).toBeLessThanOrEqual(3);
    }),
  );
});

it("D10: what was taken back is not counted", () => {
  const take = (hour: SpentHour, atMs: number) => {
    const next = oneMoreIn(hour, atMs, 9);
    return "hour" in next ? next.hour : hour;
  };
  const two = take(take([], T0), T0 + 1);
  expect(oneLessIn(two)).toEqual([{ atMs: T0 + 1, count: 1 }]);
  expect(oneLessIn(take([], T0))).toEqual([]);
  expect(oneLessIn([])).toEqual([]);
});
