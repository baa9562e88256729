import type { SpentHour } from "../ports/session.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/**
 * The hour with one more, or, when `most` are spent, how many those are and when the first of them is an hour old. It slides: within no hour there are
 * more. A clock that is set back gives nothing back, unless by more than an hour, which would shut everybody out for as long.
 */
export function oneMoreIn(
  hour: SpentHour,
  nowMs: number,
  most: number,
): { readonly hour: SpentHour } | { readonly count: number; readonly freeAtMs: number } {
  const counting = hour.filter(({ atMs }) => Math.abs(nowMs - atMs) < HOUR_MS);
  const count = counting.reduce((sum, minute) => sum + minute.count, 0);
  const [first] = counting;
  if (first !== undefined && count >= most) return { count, freeAtMs: first.atMs + HOUR_MS };
  const last = counting.at(-1);
  const atMs = Math.max(nowMs, last?.atMs ?? nowMs);
  if (last === undefined || minuteOf(last.atMs) !== minuteOf(atMs)) {
    return { hour: [...counting, { atMs, count: 1 }] };
  }
  return { hour: [...counting.slice(0, -1), { atMs, count: last.count + 1 }] };
}

/** As if the last one had not been. */
export function oneLessIn(hour: SpentHour): SpentHour {
  const last = hour.at(-1);
  if (last === undefined) return hour;
  const before = hour.slice(0, -1);
  return last.count > 1 ? [...before, { ...last, count: last.count - 1 }] : before;
}

function minuteOf(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS);
}
