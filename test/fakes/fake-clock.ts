import type { Clock } from "../../src/core/ports/host.ts";

interface Timer {
  dueMs: number;
  readonly ms: number;
  readonly callback: () => void;
  /** How often it has set itself again, always for the same time. */
  readonly beats: number;
}

/** A timer that has set itself again so often is a heartbeat. */
const BEATS = 20;
/** For how long there is nothing else to do when a heartbeat is left out. */
const IDLE_MS = 60_000;

/** A clock that stands still until a test moves it. Ids are valid version-4 UUIDs in a fixed order. */
export interface FakeClock extends Clock {
  /**
   * Moves on in small steps, so that what timers start is finished before later timers fire. All fire when they are due, except that a
   * heartbeat is left out while nothing else is due for a while: a day has 43,200 of them.
   */
  advance(ms: number): Promise<void>;
  /**
   * The machine slept: the time is another one, and timers that were due meanwhile fire once, with the next `advance`. Less than 0: the clock is set
   * back, and timers go on as if it had not been.
   */
  skip(ms: number): void;
  /** Timers that have not fired. */
  pending(): number;
}

export function fakeClock(startMs = Date.UTC(2026, 10, 30, 10, 0, 0)): FakeClock {
  let nowMs = startMs;
  let drawn = 0;
  const timers = new Set<Timer>();
  let firing: Timer | undefined;

  async function advance(ms: number): Promise<void> {
    const untilMs = nowMs + ms;
    await settle();
    for (let next = earliest(untilMs); next !== undefined; next = earliest(untilMs)) {
      if (leapt(next, untilMs)) continue;
      timers.delete(next);
      nowMs = Math.max(nowMs, next.dueMs);
      firing = next;
      next.callback();
      firing = undefined;
      await settle();
    }
    nowMs = untilMs;
    await settle();
  }

  function earliest(untilMs: number): Timer | undefined {
    return [...timers].filter((timer) => timer.dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)[0];
  }

  /** Puts a lonely heartbeat off until something else is due soon; true when it did. */
  function leapt(timer: Timer, untilMs: number): boolean {
    if (timer.beats < BEATS) return false;
    const others = [...timers].filter((other) => other !== timer).map(({ dueMs }) => dueMs);
    const spareMs = Math.min(untilMs, ...others) - IDLE_MS - timer.dueMs;
    if (spareMs < timer.ms) return false;
    timer.dueMs += Math.floor(spareMs / timer.ms) * timer.ms;
    return true;
  }

  return {
    now: () => nowMs,
    advance,
    skip: (ms) => {
      nowMs += ms;
      if (ms < 0) for (const timer of timers) timer.dueMs += ms;
    },
    pending: () => timers.size,
    after(ms, callback) {
      if (ms <= 0) {
        // No time has to pass.
        const immediate = setImmediate(callback);
        return () => clearImmediate(immediate);
      }
      const beats = firing?.ms === ms ? firing.beats + 1 : 0;
      const timer = { dueMs: nowMs + ms, ms, callback, beats };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    uuid() {
      drawn += 1;
      return `00000000-0000-4000-8000-${String(drawn).padStart(12, "0")}`;
    },
  };
}

/** Lets everything that is ready happen: promise chains and the event loop's own queues. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
