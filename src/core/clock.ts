import { randomUUID } from "node:crypto";
import type { Clock } from "./ports/host.ts";

/** The clock of the machine. Its timers never keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  uuid: () => randomUUID(),
};
