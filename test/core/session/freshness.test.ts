import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/core/config.ts";
import { afterReset, isStale } from "../../../src/core/session/freshness.ts";
import { aSession, at, configOf } from "./a-session.ts";

const local = (day: number, hour: number, minute = 0) => new Date(2026, 4, day, hour, minute).getTime();
const minutes = (count: number) => count * 60_000;

function stale(
  reset: NonNullable<NonNullable<ConfigInput["session"]>["reset"]>,
  times: { startedAtMs: number; spokenAtMs?: number; touchedAtMs?: number },
  nowMs: number,
): boolean {
  const session = aSession("main", {
    sessionStartedAtMs: times.startedAtMs,
    updatedAtMs: times.touchedAtMs ?? times.startedAtMs,
    ...(times.spokenAtMs === undefined ? {} : { lastInteractionAtMs: times.spokenAtMs }),
  });
  return isStale(session, configOf({ session: { reset } }), nowMs);
}

describe("the day turns", () => {
  it.each([
    ["the evening before, read after four", local(9, 23), local(10, 4, 1), true],
    ["the evening before, read at four sharp", local(9, 23), local(10, 4), true],
    ["the evening before, read before four", local(9, 23), local(10, 3, 59), false],
    ["five past four, read the same night", local(10, 4, 5), local(10, 23, 59), false],
    ["five past four, read before four the next day", local(10, 4, 5), local(11, 3), false],
    ["weeks ago", local(1, 12), local(28, 1), true],
    ["in the future, after the clock was set back", local(12, 0), local(10, 5), false],
  ])("STORE-6: by default a session that began %s: %#", (_, startedAtMs, nowMs, expected) => {
    expect(stale({}, { startedAtMs, spokenAtMs: nowMs }, nowMs)).toBe(expected);
  });

  it("STORE-6: atHour is configurable, midnight included", () => {
    expect(stale({ atHour: 0 }, { startedAtMs: local(9, 23, 59) }, local(10, 0, 1))).toBe(true);
    expect(stale({ atHour: 23 }, { startedAtMs: local(9, 23, 1) }, local(10, 22))).toBe(false);
  });
});

describe("nobody speaks", () => {
  const startedAtMs = local(10, 12);

  it("STORE-6: idle mode counts 60 minutes from the last real message unless told otherwise", () => {
    const spokenAtMs = startedAtMs + minutes(30);
    expect(stale({ mode: "idle" }, { startedAtMs, spokenAtMs }, spokenAtMs + minutes(59))).toBe(false);
    expect(stale({ mode: "idle" }, { startedAtMs, spokenAtMs }, spokenAtMs + minutes(60))).toBe(true);
    expect(
      stale({ mode: "idle", idleMinutes: 5 }, { startedAtMs, spokenAtMs }, spokenAtMs + minutes(5)),
    ).toBe(true);
  });

  it("STORE-6: internal runs do not keep a session fresh", () => {
    const nowMs = startedAtMs + minutes(61);
    expect(
      stale({ mode: "idle" }, { startedAtMs, spokenAtMs: startedAtMs, touchedAtMs: nowMs - 1 }, nowMs),
    ).toBe(true);
    expect(stale({ mode: "idle" }, { startedAtMs, touchedAtMs: nowMs - 1 }, nowMs)).toBe(true);
  });

  it("STORE-6: with daily and idle whichever comes first, with none neither", () => {
    const spokenAtMs = startedAtMs;
    const both = { mode: "daily", idleMinutes: 10 } as const;
    expect(stale(both, { startedAtMs, spokenAtMs }, startedAtMs + minutes(10))).toBe(true);
    expect(stale(both, { startedAtMs, spokenAtMs: local(11, 4) }, local(11, 4, 1))).toBe(true);
    expect(stale({ mode: "none", idleMinutes: 10 }, { startedAtMs, spokenAtMs }, local(28, 12))).toBe(false);
  });

  it("STORE-6: a session that was just reset is fresh although nobody has spoken since", () => {
    const session = aSession("main", { sessionStartedAtMs: local(9, 1), lastInteractionAtMs: local(9, 1) });
    const nowMs = local(10, 12);
    const config = configOf({ session: { reset: { mode: "idle" } } });
    expect(isStale(session, config, nowMs)).toBe(true);
    expect(isStale(afterReset(session, "new", nowMs), config, nowMs + minutes(59))).toBe(false);
  });
});

it("STORE-6: a reset keeps what people chose and forgets what was counted", () => {
  const chosen = {
    label: "ops",
    title: "Lab",
    origin: at("discord"),
    route: at("telegram"),
    sendPolicy: "deny",
    modelOverride: "m",
    thinkingLevel: "high",
    verboseLevel: "on",
    pinnedAtMs: 5,
    lastInteractionAtMs: 7,
  } as const;
  const counted = {
    usage: { totalTokens: 9 },
    systemSent: true,
    abortedLastRun: true,
    status: "failed",
    startedAtMs: 1,
    endedAtMs: 2,
  } as const;
  const fresh = afterReset(aSession("main", { ...chosen, ...counted, updatedAtMs: 50 }), "new-id", 100);
  expect(fresh).toMatchObject({ ...chosen, key: "agent:main:main", sessionId: "new-id", createdAtMs: 0 });
  expect(fresh).toMatchObject({ sessionStartedAtMs: 100, updatedAtMs: 100 });
  for (const name of Object.keys(counted)) expect(fresh).not.toHaveProperty(name);
});
