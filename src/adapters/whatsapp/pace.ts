import type { Clock } from "../../core/ports/host.ts";

/** So many messages in a row leave at once. */
const FREE = 5;
const SHORTEST_GAP_MS = 500;
const LONGEST_GAP_MS = 1000;

/**
 * Holds a burst back to one message per 0.5–1 s, at random; conversations never feel it. WhatsApp closes accounts for writing
 * faster and more regularly than people do, and gives no warning and no rate limit that a bot could keep to.
 */
export interface Pace {
  /** Resolves when the account may send its next message, or at once when the signal is raised. */
  turn(signal: AbortSignal): Promise<void>;
}

/** `random`: 0 to 1. */
export function createPace(clock: Clock, random: () => number): Pace {
  const slackMs = FREE * ((SHORTEST_GAP_MS + LONGEST_GAP_MS) / 2);
  /** When the messages so far would all have left, had each taken its gap. */
  let evenMs = 0;
  let lastMs = 0;
  return {
    async turn(signal) {
      const now = clock.now();
      // A clock that was set back has told no time since.
      evenMs -= Math.max(0, lastMs - now);
      lastMs = now;
      const dueMs = Math.max(now, evenMs);
      evenMs = dueMs + SHORTEST_GAP_MS + random() * (LONGEST_GAP_MS - SHORTEST_GAP_MS);
      const waitMs = evenMs - slackMs - now;
      if (waitMs > 0 && !signal.aborted) await pause(clock, waitMs, signal);
    },
  };
}

export const noPace: Pace = { turn: async () => undefined };

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener("abort", done);
  });
}
