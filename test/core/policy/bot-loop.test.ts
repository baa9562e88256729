import { describe, expect, it } from "vitest";
import { isPaused, NO_TRAFFIC, withMessage } from "../../../src/core/policy/bot-loop.ts";

const LIMIT = { maxMessages: 3, windowSeconds: 10, pauseSeconds: 5 };
const trafficOf = (...timesMs: number[]) =>
  timesMs.reduce((traffic, timeMs) => withMessage(traffic, timeMs, LIMIT), NO_TRAFFIC);

describe("messages between two bots: three in ten seconds, then a pause of five", () => {
  it.each<[string, readonly number[], number, boolean]>([
    ["nothing was said", [], 0, false],
    ["as many as are allowed", [0, 1, 2], 2, false],
    ["one more within the window", [0, 1, 2, 9_999], 9_999, true],
    ["one more when the first has left the window", [0, 1, 2, 10_000], 10_000, false],
    ["the last moment of the pause", [0, 1, 2, 3], 5_002, true],
    ["the end of the pause", [0, 1, 2, 3], 5_003, false],
    ["after a pause the counting starts anew", [0, 1, 2, 3, 5_003, 5_004, 5_005], 5_005, false],
  ])("IN-1 N09: %s", (_, timesMs, nowMs, paused) => {
    expect(isPaused(trafficOf(...timesMs), nowMs)).toBe(paused);
  });

  it("IN-1 N09: what is remembered never grows beyond the limit", () => {
    expect(trafficOf(...Array(50).fill(0)).timesMs.length).toBeLessThanOrEqual(3);
  });
});
