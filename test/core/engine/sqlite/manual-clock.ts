import { randomUUID } from "node:crypto";
import type { Clock } from "../../../../src/core/ports/host.ts";

export interface ManualClock extends Clock {
  /** Runs what is due on the way, in order, and lets promises settle before and after each. */
  advance(ms: number): Promise<void>;
  /** The time changes without time passing: the clock was set, or the machine slept. */
  jump(ms: number): void;
  /** In how many ms each timer fires, the next one first. */
  timers(): readonly number[];
}

export function manualClock(startMs = Date.UTC(2030, 0, 1)): ManualClock {
  let now = startMs;
  let ids = 0;
  const timers = new Map<number, { atMs: number; readonly callback: () => void }>();
  const next = () => [...timers].sort(([a, x], [b, y]) => x.atMs - y.atMs || a - b)[0];
  return {
    now: () => now,
    after(ms, callback) {
      if (ms > 2 ** 31 - 1) throw new RangeError("no timer can be that long");
      ids += 1;
      const id = ids;
      timers.set(id, { atMs: now + ms, callback });
      return () => timers.delete(id);
    },
    uuid: () => randomUUID(),
    async advance(ms) {
      const end = now + ms;
      await settle();
      for (let due = next(); due && due[1].atMs <= end; due = next()) {
        now = Math.max(now, due[1].atMs);
        timers.delete(due[0]);
        due[1].callback();
        await settle();
      }
      now = end;
    },
    jump(ms) {
      now += ms;
      for (const timer of timers.values()) timer.atMs += ms;
    },
    timers: () => [...timers.values()].map(({ atMs }) => atMs - now).sort((a, b) => a - b),
  };
}

/** A few turns of the event loop: handlers that do not wait have ended afterwards. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
