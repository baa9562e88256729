import { SwitchboardError } from "../errors.ts";
import type { Family } from "../ports/child.ts";

/** Under this key the family of all requesters together is counted. */
export const EVERYBODY = "*";

const HOUR_MS = 3_600_000;
/** A place that was taken for a task which never came (the process ended in between) is free again after this. */
export const RESERVED_MS = 60_000;
const MAX_RECENT = 50;

const NOBODY: Family = { open: [], recent: [], hour: { sinceMs: 0, count: 0 } };

export interface FamilyLimits {
  readonly maxOpen: number;
  readonly maxPerHour: number;
  /** In the words of the refusal: whose limit it is, and the setting that holds it. */
  readonly whose: string;
  readonly openSetting: string;
  readonly hourSetting: string;
}

/**
 * The family with one more open task. The check and the entry are one write, so no two spawns take the last place. SPAWN_LIMIT or SPAWN_BUDGET when
 * there is none. `over`: tasks that have ended although they still stand here.
 */
export function withOpened(
  current: Family | undefined,
  place: { readonly id: string; readonly nowMs: number; readonly reserved?: true },
  limits: FamilyLimits,
  over: ReadonlySet<string> = new Set(),
): Family {
  const { open, recent, hour } = current ?? NOBODY;
  const { id, nowMs, reserved } = place;
  const held = open.find((one) => one.id === id);
  const others = open.filter((one) => one.id !== id && !over.has(one.id) && !isForsaken(one, nowMs));
  const entry = reserved === undefined ? { id, sinceMs: nowMs } : { id, sinceMs: nowMs, reserved };
  // Whoever has its place already only confirms it; one that it has for good stays so.
  if (held !== undefined) {
    const isForGood = held.reserved !== true && reserved === true;
    return { open: [...others, isForGood ? held : entry], recent, hour };
  }
  if (others.length >= limits.maxOpen) throw full(others.length, limits);
  const counted = nowMs - hour.sinceMs < HOUR_MS ? hour : { sinceMs: nowMs, count: 0 };
  if (counted.count >= limits.maxPerHour) throw spent(counted.count, limits);
  return { open: [...others, entry], recent, hour: { ...counted, count: counted.count + 1 } };
}

/** The task has ended and gives its place back. */
export function withEnded(current: Family | undefined, id: string): Family {
  const { open, recent, hour } = current ?? NOBODY;
  const others = recent.filter((one) => one !== id);
  return { open: open.filter((one) => one.id !== id), recent: [id, ...others].slice(0, MAX_RECENT), hour };
}

/** The task never began: as if it had not been asked for. */
export function withoutPlace(current: Family | undefined, id: string): Family | undefined {
  if (current?.open.some((one) => one.id === id) !== true) return current;
  const { hour } = current;
  const open = current.open.filter((one) => one.id !== id);
  return { ...current, open, hour: { ...hour, count: Math.max(0, hour.count - 1) } };
}

/** Two families of one requester whose session moved. */
export function joined(one: Family, other: Family | undefined): Family {
  if (other === undefined) return one;
  const open = [...other.open, ...one.open.filter(({ id }) => !other.open.some((o) => o.id === id))];
  const recent = [...new Set([...other.recent, ...one.recent])].slice(0, MAX_RECENT);
  return { open, recent, hour: one.hour.sinceMs > other.hour.sinceMs ? one.hour : other.hour };
}

function isForsaken(
  { sinceMs, reserved }: { readonly sinceMs: number; readonly reserved?: true },
  nowMs: number,
): boolean {
  return reserved === true && nowMs - sinceMs > RESERVED_MS;
}

function full(count: number, { maxOpen, whose, openSetting }: FamilyLimits): SwitchboardError {
  const message = `${whose} ${count} of at most ${maxOpen} subagents at work (${openSetting}). Wait for one to end, or cancel one with subagents.`;
  return new SwitchboardError("SPAWN_LIMIT", message);
}

function spent(count: number, { maxPerHour, whose, hourSetting }: FamilyLimits): SwitchboardError {
  const message = `${whose} spawned ${count} subagents within an hour, and ${maxPerHour} is the limit (${hourSetting}). Do the work yourself, or go on later.`;
  return new SwitchboardError("SPAWN_BUDGET", message);
}
