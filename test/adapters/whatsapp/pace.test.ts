import { describe, expect, it } from "vitest";
import { createPace } from "../../../src/adapters/whatsapp/pace.ts";
import { fakeClock } from "../../fakes/fake-clock.ts";

const never = new AbortController().signal;

/** When each of so many messages may leave, all wanted at once, in milliseconds from now. */
async function leaving(count: number, random: () => number): Promise<readonly number[]> {
  const clock = fakeClock();
  const start = clock.now();
  const pace = createPace(clock, random);
  const turns = Array.from({ length: count }, () => pace.turn(never).then(() => clock.now() - start));
  await clock.advance(count * 1000);
  return Promise.all(turns);
}

describe("WA-2: how fast an account writes", () => {
  it("WA-2: five at once, then one every 0.5 to 1 s", async () => {
    expect(await leaving(8, () => 0.5)).toEqual([0, 0, 0, 0, 0, 750, 1500, 2250]);
  });

  it("WA-2: never two gaps alike, none shorter than half a second", async () => {
    let n = 0;
    const times = (await leaving(40, () => (n++ * 0.37) % 1)).filter((time) => time > 0);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1000);
    expect(new Set(gaps.map(Math.round)).size).toBeGreaterThan(20);
  });

  it("WA-2: a conversation never waits, and after a rest a burst is free again", async () => {
    const clock = fakeClock();
    const pace = createPace(clock, () => 0.5);
    for (let message = 0; message < 20; message++) {
      await pace.turn(never);
      await clock.advance(800);
    }
    await clock.advance(10_000);
    for (let message = 0; message < 5; message++) await pace.turn(never);
    expect(clock.pending()).toBe(0);
  });

  it("WA-2: a clock that is set back an hour makes nobody wait for an hour", async () => {
    const clock = fakeClock();
    const pace = createPace(clock, () => 0.5);
    for (let message = 0; message < 5; message++) await pace.turn(never);
    clock.skip(-3_600_000);
    const next = pace.turn(never);
    expect(clock.pending()).toBe(1);
    await clock.advance(1000);
    await next;
    expect(clock.pending()).toBe(0);
  });

  it("WA-2: a send that is stopped does not wait for its turn, and leaves no timer behind", async () => {
    const clock = fakeClock();
    const pace = createPace(clock, () => 1);
    const stop = new AbortController();
    const turns = Array.from({ length: 9 }, () => pace.turn(stop.signal));
    stop.abort();
    await Promise.all(turns);
    expect(clock.pending()).toBe(0);
  });
});
