import { SwitchboardError } from "../errors.ts";
import { given } from "../given.ts";
import { oneLessIn, oneMoreIn } from "../policy/spent-hour.ts";
import type { Family, Place } from "../ports/child.ts";

/** Under this key the family of all requesters together is counted. */
export const EVERYBODY = "*";

/** A place that was taken for a task which never came (the process ended in between) is free again after this. */
export const RESERVED_MS = 300_000;
const MAX_RECENT = 100;

const NOBODY: Family = { open: [], spawned: 0, untold: [], recent: [], hour: [] };

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
  const { open, hour, spawned, ...ended } = current ?? NOBODY;
  const { id, nowMs, reserved } = place;
  const held = open.find((one) => one.id === id);
  const others = open.filter((one) => one.id !== id && !over.has(one.id) && !isForsaken(one, nowMs));
  const number = held?.number ?? spawned + 1;
  const entry = given({ id, sinceMs: nowMs, number, reserved });
  // Whoever has its place already only confirms it; one that it has for good stays so.
  if (held !== undefined) {
    const isForGood = held.reserved !== true && reserved === true;
    return { ...ended, open: [...others, isForGood ? held : entry], spawned, hour };
  }
  if (others.length >= limits.maxOpen) throw full(others.length, limits);
  const counted = oneMoreIn(hour, nowMs, limits.maxPerHour);
  if (!("hour" in counted)) throw spent(counted.count, limits);
  return { ...ended, open: [...others, entry], spawned: number, hour: counted.hour };
}

/** The task has ended and gives its place back; its requester has still to hear of it. An end that is written twice changes nothing. */
export function withEnded(current: Family | undefined, id: string): Family {
  const family = current ?? NOBODY;
  const { untold, recent } = family;
  const open = family.open.filter((one) => one.id !== id);
  if (recent.includes(id)) return { ...family, open };
  return { ...family, open, untold: [...untold, id], recent: [id, ...recent].slice(0, MAX_RECENT) };
}

/** The same for the family of everybody, which is only counted. */
export function withoutOpen(current: Family | undefined, id: string): Family | undefined {
  return current && { ...current, open: current.open.filter((one) => one.id !== id) };
}

/** The requester has been told of these. */
export function withTold(current: Family | undefined, ids: readonly string[]): Family | undefined {
  return current && { ...current, untold: current.untold.filter((one) => !ids.includes(one)) };
}

/** The task never began: as if it had not been asked for. */
export function withoutPlace(current: Family | undefined, id: string): Family | undefined {
  if (current?.open.some((one) => one.id === id) !== true) return current;
  const open = current.open.filter((one) => one.id !== id);
  return { ...current, open, hour: oneLessIn(current.hour) };
}

/** Two families of one requester whose session moved. */
export function joined(one: Family, other: Family | undefined): Family {
  if (other === undefined) return one;
  const open = [...other.open, ...one.open.filter(({ id }) => !other.open.some((o) => o.id === id))];
  const recent = [...new Set([...other.recent, ...one.recent])].slice(0, MAX_RECENT);
  const untold = [...new Set([...other.untold, ...one.untold])];
  const spawned = Math.max(one.spawned, other.spawned);
  return {
    open,
    spawned,
    untold,
    recent,
    hour: lastOf(one) > lastOf(other) ? one.hour : other.hour,
  };
}

function lastOf({ hour }: Family): number {
  return hour.at(-1)?.atMs ?? 0;
}

function isForsaken({ sinceMs, reserved }: Place, nowMs: number): boolean {
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
