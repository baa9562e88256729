import { within } from "../within.ts";

/** A person who has waited this long has called again; and stop waits for what is under way. */
const IN_TIME_MS = 15_000;

/** What Discord answers; rejects when that takes too long, as discord.js waits out every rate limit. A late answer is ignored. */
export function inTime<T>(answer: Promise<T>): Promise<T> {
  return within(AbortSignal.timeout(IN_TIME_MS), answer);
}
