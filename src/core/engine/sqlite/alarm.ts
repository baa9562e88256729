import type { Clock } from "../../ports/host.ts";

/** One timer for the earliest of many times. */
export interface Alarm {
  /** Rings at `atMs` or earlier; a later time than the one already set changes nothing. */
  set(atMs: number): void;
  clear(): void;
}

const longestTimerMs = 2 ** 31 - 1;

export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let setFor = Number.POSITIVE_INFINITY;
  let cancel: (() => void) | undefined;

  const clear = (): void => {
    cancel?.();
    cancel = undefined;
    setFor = Number.POSITIVE_INFINITY;
  };

  return {
    set(atMs) {
      if (atMs >= setFor) return;
      clear();
      setFor = atMs;
      cancel = clock.after(Math.min(Math.max(atMs - clock.now(), 0), longestTimerMs), () => {
        clear();
        ring();
      });
    },
    clear,
  };
}
