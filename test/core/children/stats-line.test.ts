import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type StatsLevel, statsLine, summed } from "../../../src/core/children/stats-line.ts";
import type { Child } from "../../../src/core/ports/child.ts";
import type { Usage } from "../../../src/core/ports/session.ts";
import { duration } from "../../../src/core/text/duration.ts";
import { aChild } from "./a-child.ts";

const WHERE = {
  sessionKey: "agent:main:subagent:x",
  sessionId: "5e55",
  transcriptPath: "/data/transcripts/5e55.jsonl",
};
const USAGE: Usage = { inputTokens: 10_000, outputTokens: 2300, estimatedCostUsd: 0.04 };
const ran = (ms: number, over: Partial<Child> = {}) =>
  aChild({ startedAtMs: 1000, endedAtMs: 1000 + ms, ...over });

const runtime = (child: Child) => /runtime (\S+)/.exec(statsLine(child, "short"))?.[1];
const tokens = (usage: Usage) => /tokens (.*)$/.exec(statsLine(ran(0, { usage }), "short"))?.[1];
const cost = (estimatedCostUsd: number) =>
  /est (\S+)/.exec(statsLine(ran(0, { usage: { estimatedCostUsd } }), "full"))?.[1];

describe("ANN-3: the stats line", () => {
  it.each<[StatsLevel, string]>([
    ["off", ""],
    ["short", "Stats: runtime 5m12s • tokens 12.3k (in 10.0k / out 2.3k)"],
    [
      "full",
      "Stats: runtime 5m12s • tokens 12.3k (in 10.0k / out 2.3k) • est $0.04 • sessionKey agent:main:subagent:x • sessionId 5e55 • transcript /data/transcripts/5e55.jsonl",
    ],
  ])("shows at level %s what belongs there, in this order", (level, line) => {
    expect(statsLine(ran(312_000, { usage: USAGE }), level, WHERE)).toBe(line);
  });

  it("leaves out what is not known, and never a level's keys and paths by itself", () => {
    expect(statsLine(ran(0), "full", { sessionKey: "k" })).toBe(
      "Stats: runtime 0s • tokens n/a • sessionKey k",
    );
    expect(statsLine(ran(0), "full")).toBe("Stats: runtime 0s • tokens n/a");
  });

  it.each([
    [0, "0s"],
    [999, "0s"],
    [1000, "1s"],
    [59_999, "59s"],
    [60_000, "1m00s"],
    [312_000, "5m12s"],
    [3_599_999, "59m59s"],
    [3_600_000, "1h00m"],
    [3_720_000, "1h02m"],
    [359_999_000, "99h59m"],
    [-5, "0s"],
  ])("says %i ms as %s", (ms, text) => {
    expect(duration(ms)).toBe(text);
    expect(runtime(ran(ms))).toBe(text);
  });

  it("says n/a for the runtime of a task that never began or has no end", () => {
    expect(runtime(aChild({ endedAtMs: 5000 }))).toBe("n/a");
    expect(runtime(aChild({ startedAtMs: 5000 }))).toBe("n/a");
  });

  it.each<[Usage, string]>([
    [{ inputTokens: 0, outputTokens: 0 }, "0 (in 0 / out 0)"],
    [{ inputTokens: 998, outputTokens: 1 }, "999 (in 998 / out 1)"],
    [{ inputTokens: 999, outputTokens: 1 }, "1.0k (in 999 / out 1)"],
    [{ inputTokens: 1000, outputTokens: 49 }, "1.0k (in 1.0k / out 49)"],
    [{ totalTokens: 999_949 }, "999.9k"],
    [{ totalTokens: 999_950 }, "1.0m"],
    [{ totalTokens: 1_000_000 }, "1.0m"],
    [{ totalTokens: 12_345_678 }, "12.3m"],
    [{ totalTokens: 20, inputTokens: 10, outputTokens: 5 }, "20 (in 10 / out 5)"],
    [{ inputTokens: 10 }, "n/a"],
    [{ outputTokens: 10 }, "n/a"],
    [{ totalTokens: 30, inputTokens: 10 }, "30"],
    [{ cacheRead: 5 }, "n/a"],
    [{}, "n/a"],
  ])("says the tokens of %j as %s", (usage, text) => {
    expect(tokens(usage)).toBe(text);
  });

  it.each([
    [0.04, "$0.04"],
    [0.01, "$0.01"],
    [0.0099, "$0.0099"],
    [0.00004, "$0.0000"],
    [12.345, "$12.35"],
    [0, "$0.0000"],
  ])("says a cost of %d as %s, and only where all is shown", (usd, text) => {
    expect(cost(usd)).toBe(text);
    expect(statsLine(ran(0, { usage: { estimatedCostUsd: usd } }), "short")).not.toContain("$");
  });

  it("is one line of few words for any numbers", () => {
    const count = fc.option(fc.nat({ max: 2 ** 40 }), { nil: undefined });
    fc.assert(
      fc.property(count, count, count, fc.nat(), (inputTokens, outputTokens, totalTokens, ms) => {
        const usage = JSON.parse(JSON.stringify({ inputTokens, outputTokens, totalTokens })) as Usage;
        expect(statsLine(ran(ms, { usage }), "short")).toMatch(
          /^Stats: runtime (\d+h\d\dm|\d+m\d\ds|\d+s) • tokens (n\/a|[\d.]+[km]?( \(in [\d.]+[km]? \/ out [\d.]+[km]?\))?)$/,
        );
      }),
    );
  });
});

describe("ANN-3: counters of several runs of one task", () => {
  it("are added up, and what neither reported stays unknown", () => {
    expect(summed({ inputTokens: 1, outputTokens: 2 }, { inputTokens: 10, cacheRead: 5 })).toEqual({
      inputTokens: 11,
      outputTokens: 2,
      cacheRead: 5,
    });
    expect(summed(undefined, USAGE)).toBe(USAGE);
    expect(summed(USAGE, undefined)).toBe(USAGE);
    expect(summed(undefined, undefined)).toBeUndefined();
    expect(summed({ contextTokens: 200_000 }, { contextTokens: 100_000 })).toEqual({
      contextTokens: 100_000,
    });
  });

  it("agree with each other, though one run reports a total and the other its parts", () => {
    const both = summed({ totalTokens: 100 }, { inputTokens: 10, outputTokens: 5 }) ?? {};
    expect(tokens(both)).toMatch(/^115\b/);
    expect(tokens(summed(both, { inputTokens: 1, outputTokens: 1, totalTokens: 2 }) ?? {})).toMatch(/^117\b/);
  });
});
