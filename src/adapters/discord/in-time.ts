import type { REST } from "discord.js";
import { within } from "../within.ts";

/** A person who has waited this long has called again; and stop waits for what is under way. */
const IN_TIME_MS = 15_000;

/** What Discord answers; rejects when that takes too long, as discord.js waits out every rate limit. A late answer is ignored. */
export function inTime<T>(answer: Promise<T>): Promise<T> {
  return within(AbortSignal.timeout(IN_TIME_MS), answer);
}

/** So too for a request that must not be carried out late: what still waits then is never sent. */
export function postInTime(rest: REST, path: `/${string}`, body?: object): Promise<unknown> {
  const signal = AbortSignal.timeout(IN_TIME_MS);
  return within(signal, rest.post(path, { signal, ...(body === undefined ? {} : { body }) }));
}
