import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type FamilyLimits,
  joined,
  withEnded,
  withOpened,
  withoutOpen,
  withoutPlace,
  withTold,
} from "../../../src/core/children/family.ts";
import { SwitchboardError } from "../../../src/core/errors.ts";
import type { Family } from "../../../src/core/ports/child.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const T0 = Date.UTC(2026, 10, 30, 10, 0, 0);

function limits(over: Partial<FamilyLimits> = {}): FamilyLimits {
  return {
    maxOpen: 3,
    maxPerHour: 100,
    whose: "This session has",
    openSetting: "open.setting",
    hourSetting: "hour.setting",
    ...over,
  };
}

function opened(family: Family | undefined, id: string, atMs = T0, over: Partial<FamilyLimits> = {}): Family {
  return withOpened(family, { id, nowMs: atMs }, limits(over));
}

function reserved(family: Family | undefined, id: string, atMs = T0): Family {
  return withOpened(family, { id, nowMs: atMs, reserved: true }, limits());
}

const ids = (family: Family | undefined) => family?.open.map(({ id }) => id);
const refusal = (work: () => unknown): SwitchboardError => {
  try {
    work();
  } catch (error) {
    if (error instanceof SwitchboardError) return error;
    throw error;
  }
  throw new Error("It was accepted.");
};

const ABC = ["a", "b", "c"].reduce<Family | undefined>((family, id) => opened(family, id), undefined);

describe("places of a family", () => {
  it("SPAWN-6: the task that is one too many is refused in the words of the limit, and changes nothing", () => {
    const before = structuredClone(ABC);
    expect(refusal(() => opened(ABC, "d"))).toMatchObject({
      code: "SPAWN_LIMIT",
      message: expect.stringMatching(/^This session has 3 of at most 3 .*\(open\.setting\)/),
    });
    expect(ABC).toEqual(before);
  });

  it("SPAWN-6: an end gives the place back, and is remembered, the newest first", () => {
    const ended = withEnded(withEnded(ABC, "b"), "a");
    expect(ids(ended)).toEqual(["c"]);
    expect(ended.recent).toEqual(["a", "b"]);
    expect(ids(opened(ended, "d"))).toEqual(["c", "d"]);
  });

  it("SPAWN-6: an end that is told twice is one end", () => {
    expect(withEnded(withEnded(ABC, "b"), "b")).toEqual(withEnded(ABC, "b"));
    expect(withEnded(undefined, "x").recent).toEqual(["x"]);
  });

  it("SPAWN-6: at most 100 ended ones are remembered, and whoever has not been told yet is not forgotten with them", () => {
    let family: Family | undefined;
    for (let n = 0; n < 110; n++) {
      family = withEnded(opened(family, `task-${n}`, T0, { maxPerHour: 200 }), `task-${n}`);
    }
    expect(family?.recent).toHaveLength(100);
    expect(family?.recent.at(0)).toBe("task-109");
    expect(family?.recent.at(-1)).toBe("task-10");
    expect(family?.untold).toHaveLength(110);
    expect(family?.untold.at(0)).toBe("task-0");
  });

  it("ANN-4: those that are to be told stand in the order of their ends, until they are told", () => {
    const ended = withEnded(withEnded(ABC, "b"), "a");
    expect(ended.untold).toEqual(["b", "a"]);
    expect(withEnded(ended, "b").untold).toEqual(["b", "a"]);
    const told = withTold(ended, ["b", "unknown"]);
    expect(told?.untold).toEqual(["a"]);
    expect(withEnded(told, "b").untold).toEqual(["a"]);
    expect(withTold(undefined, ["b"])).toBeUndefined();
  });

  it("SPAWN-6: the family of everybody counts who is at work, and remembers nobody", () => {
    const left = withoutOpen(ABC, "b");
    expect(ids(left)).toEqual(["a", "c"]);
    expect([left?.recent, left?.untold]).toEqual([[], []]);
    expect(withoutOpen(undefined, "b")).toBeUndefined();
  });

  it("SUB-1: numbers are given in the order of the spawns, stay with their task, and are never given twice", () => {
    const numbers = (family: Family | undefined) => family?.open.map(({ id, number }) => `${number} ${id}`);
    expect(numbers(ABC)).toEqual(["1 a", "2 b", "3 c"]);
    const next = opened(withEnded(withEnded(ABC, "a"), "c"), "d");
    expect(numbers(next)).toEqual(["2 b", "4 d"]);
    expect(numbers(opened(next, "b", T0 + 1))).toEqual(["4 d", "2 b"]);
    const held = reserved(undefined, "a");
    expect(numbers(opened(opened(held, "b"), "a"))).toEqual(["2 b", "1 a"]);
    expect(numbers(opened(withoutPlace(held, "a"), "b"))).toEqual(["2 b"]);
  });

  it("D17: a task that has its place keeps it without a second one, in a full house and with the budget spent", () => {
    const again = opened(ABC, "b", T0 + 1, { maxPerHour: 3 });
    expect(ids(again)?.toSorted()).toEqual(["a", "b", "c"]);
    expect(again.hour).toEqual(ABC?.hour);
  });

  it("SPAWN-6: tasks that are over although they stand here do not count", () => {
    const healed = withOpened(ABC, { id: "d", nowMs: T0 }, limits(), new Set(["a", "c"]));
    expect(ids(healed)).toEqual(["b", "d"]);
  });
});

describe("places that are only reserved", () => {
  it("D08: the task that comes takes its reserved place, and is a reservation no more", () => {
    const family = opened(reserved(undefined, "a"), "a", T0 + 1);
    expect(family.open).toEqual([{ id: "a", sinceMs: T0 + 1, number: 1 }]);
    expect(family.hour).toEqual([{ atMs: T0, count: 1 }]);
  });

  it("D08: a place that was given up is free, and the try is not counted", () => {
    const family = reserved(reserved(undefined, "a"), "b");
    const left = withoutPlace(family, "a");
    expect(left).toMatchObject({ open: [{ id: "b", reserved: true }], hour: [{ atMs: T0, count: 1 }] });
    expect(left?.open).toHaveLength(1);
    expect(withoutPlace(family, "unknown")).toBe(family);
    expect(withoutPlace(undefined, "a")).toBeUndefined();
  });

  it("D08: a reserved place counts for five minutes; whoever died with it gives it back then", () => {
    const full = ["a", "b", "c"].reduce<Family | undefined>((family, id) => reserved(family, id), undefined);
    expect(refusal(() => opened(full, "d", T0 + 5 * MINUTE_MS)).code).toBe("SPAWN_LIMIT");
    expect(ids(opened(full, "d", T0 + 5 * MINUTE_MS + 1))).toEqual(["d"]);
  });

  it("D08: a place of a task at work does not get old", () => {
    expect(refusal(() => opened(ABC, "d", T0 + 48 * HOUR_MS)).code).toBe("SPAWN_LIMIT");
  });

  it("D17: a task at work that is asked for once more is no reservation", () => {
    const family = reserved(opened(undefined, "a"), "a", T0 + 1);
    expect(family.open).toEqual([{ id: "a", sinceMs: T0, number: 1 }]);
  });

  it("D08: whoever comes back for a place that others have got meanwhile is refused", () => {
    let family = reserved(undefined, "late");
    const lateMs = T0 + 5 * MINUTE_MS + 1;
    for (const id of ["a", "b", "c"]) family = opened(family, id, lateMs);
    expect(refusal(() => opened(family, "late", lateMs)).code).toBe("SPAWN_LIMIT");
  });
});

describe("the budget of an hour", () => {
  const spend = (family: Family | undefined, id: string, atMs: number): Family =>
    withEnded(opened(family, id, atMs, { maxPerHour: 2 }), id);
  const spent = spend(spend(undefined, "a", T0), "b", T0 + 10);

  it("D10: spawns are counted although each has ended, and the refusal names the setting", () => {
    expect(ids(spent)).toEqual([]);
    expect(refusal(() => spend(spent, "c", T0 + HOUR_MS - 1))).toMatchObject({
      code: "SPAWN_BUDGET",
      message: expect.stringMatching(/2 .*\(hour\.setting\)/),
    });
  });

  it("D10: a spawn is free again an hour after it was made or, within one minute, the last of it, and no earlier", () => {
    expect(refusal(() => spend(spent, "c", T0 + HOUR_MS)).code).toBe("SPAWN_BUDGET");
    const two = spend(spend(undefined, "a", T0), "b", T0 + MINUTE_MS);
    const later = spend(two, "c", T0 + HOUR_MS);
    expect(refusal(() => spend(later, "d", T0 + HOUR_MS)).code).toBe("SPAWN_BUDGET");
    expect(spend(later, "d", T0 + HOUR_MS + MINUTE_MS).hour).toHaveLength(2);
  });

  it("D10: a clock that is set back by more than an hour begins a new one, so that it shuts nobody out for years; by less gives nothing back", () => {
    const tenYearsMs = 10 * 365 * 24 * HOUR_MS;
    const ahead = spend(spend(undefined, "a", T0 + tenYearsMs), "b", T0 + tenYearsMs);
    const back = spend(ahead, "c", T0);
    expect(back.hour).toEqual([{ atMs: T0, count: 1 }]);
    expect(refusal(() => spend(spent, "c", T0 - HOUR_MS / 2)).code).toBe("SPAWN_BUDGET");
    expect(refusal(() => spend(spend(back, "d", T0), "e", T0)).code).toBe("SPAWN_BUDGET");
  });

  it("D10: refused spawns do not count", () => {
    expect(refusal(() => opened(ABC, "d")).code).toBe("SPAWN_LIMIT");
    expect(ABC?.hour).toEqual([{ atMs: T0, count: 3 }]);
  });
});

it("SPAWN-6: the families of a session that moved are one: every place once, the newer hour", () => {
  const other = withEnded(opened(opened(undefined, "c", T0 + HOUR_MS), "z", T0 + HOUR_MS), "z");
  const both = joined(withEnded(ABC, "a"), other);
  expect(ids(both)?.toSorted()).toEqual(["b", "c"]);
  expect([...both.recent].sort()).toEqual(["a", "z"]);
  expect(both.hour).toEqual(other.hour);
  expect([...(both?.untold ?? [])].sort()).toEqual(["a", "z"]);
  expect(both?.spawned).toBe(3);
  expect(joined(other, undefined)).toBe(other);
});

/** What happens to a family, of ten tasks at most. */
const task = fc.integer({ min: 0, max: 9 }).map((n) => `task-${n}`);
const happening = fc.oneof(
  fc.record({ what: fc.constantFrom("open", "reserve", "end", "give up"), id: task }),
  fc.record({ what: fc.constant("wait"), ms: fc.constantFrom(1, 30_000, MINUTE_MS, HOUR_MS / 2, HOUR_MS) }),
);

it("SPAWN-6 D08: whatever the order of opens, ends and waits, never more than the limit are open", () => {
  fc.assert(
    fc.property(
      fc.array(happening, { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 8 }),
      (story, maxOpen, maxPerHour) => {
        let family: Family | undefined;
        let nowMs = T0;
        let spawned = 0;
        /** The right answer: who is in, since when, and whether for good. */
        const right = new Map<string, { sinceMs: number; forGood: boolean }>();
        for (const step of story) {
          if ("ms" in step) {
            nowMs += step.ms;
            continue;
          }
          const { what, id } = step;
          if (what === "end" || what === "give up") {
            family = what === "end" ? withEnded(family, id) : withoutPlace(family, id);
            right.delete(id);
            continue;
          }
          const isIn = right.has(id);
          // Whoever comes in takes over what was forsaken; a refusal changes nothing.
          const forsaken = [...right].filter(
            ([one, { sinceMs, forGood }]) => one !== id && !forGood && nowMs - sinceMs > 5 * MINUTE_MS,
          );
          const place = { id, nowMs, ...(what === "reserve" ? { reserved: true as const } : {}) };
          const open = () => withOpened(family, place, limits({ maxOpen, maxPerHour }));
          const young = (family?.hour ?? []).filter(({ atMs }) => atMs + HOUR_MS > nowMs);
          const isSpent = young.reduce((sum, { count }) => sum + count, 0) >= maxPerHour;
          if (!isIn && right.size - forsaken.length >= maxOpen)
            expect(refusal(open).code).toBe("SPAWN_LIMIT");
          else if (!isIn && isSpent) expect(refusal(open).code).toBe("SPAWN_BUDGET");
          else {
            family = open();
            for (const [one] of forsaken) right.delete(one);
            right.set(id, { sinceMs: nowMs, forGood: what === "open" || right.get(id)?.forGood === true });
            expect(ids(family)?.toSorted()).toEqual([...right.keys()].sort());
            if (!isIn) spawned += 1;
            expect(family?.spawned).toBe(spawned);
            expect(new Set(family?.open.map(({ number }) => number)).size).toBe(right.size);
          }
          expect(family?.open.length ?? 0).toBeLessThanOrEqual(maxOpen);
          expect(new Set(family?.recent).size).toBe(family?.recent.length ?? 0);
        }
      },
    ),
    { numRuns: 500 },
  );
});
