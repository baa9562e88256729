import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSlots } from "../../../../src/core/engine/sqlite/slots.ts";

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("slots", () => {
  it("RUN-1: however runs start, wait, come back and end, no more than `size` are at work and no slot is lost", async () => {
    const run = fc.record({
      startsAfter: fc.nat(6),
      waits: fc.array(fc.nat(4), { maxLength: 3 }),
      together: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(run, { maxLength: 8 }),
        async (size, runs) => {
          const slots = createSlots(size, () => {});
          const { signal } = new AbortController();
          let working = 0;
          const work = async (): Promise<void> => {
            working += 1;
            expect(working).toBeLessThanOrEqual(size);
            await tick();
            working -= 1;
          };
          const pause = async (ticks: number): Promise<void> => {
            for (let n = 0; n < ticks; n += 1) await tick();
          };
          const handlers = runs.map(async ({ startsAfter, waits, together }) => {
            await pause(startsAfter);
            while (slots.vacant() < 1) await tick();
            const slot = slots.take();
            await work();
            const away = (ticks: number) => slot.away(() => pause(ticks), signal);
            if (together) await Promise.all(waits.map(away));
            else
              for (const ticks of waits) {
                await away(ticks);
                await work();
              }
            await work();
            slot.free();
          });
          await Promise.all(handlers);
          expect(slots.vacant()).toBe(size);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("RUN-1: a run whose signal is aborted comes back at once, and the slot that it overdraws is paid back", async () => {
    const slots = createSlots(1, () => {});
    const controller = new AbortController();
    const waiting = slots.take();
    let comeBack = (): void => {};
    const away = waiting.away(() => new Promise<void>((resolve) => (comeBack = resolve)), controller.signal);
    const other = slots.take();
    comeBack();
    await tick();
    controller.abort();
    await away;
    expect(slots.vacant()).toBe(-1);
    other.free();
    expect(slots.vacant()).toBe(0);
    waiting.free();
    waiting.free();
    expect(slots.vacant()).toBe(1);
  });

  it("RUN-1: a run that leaves again while it waits for a slot takes one in the end, not two", async () => {
    const slots = createSlots(1, () => {});
    const { signal } = new AbortController();
    const slot = slots.take();
    const first = slot.away(tick, signal);
    const other = slots.take();
    await tick();
    await tick();
    const second = slot.away(tick, signal);
    await tick();
    await tick();
    other.free();
    await Promise.all([first, second]);
    expect(slots.vacant()).toBe(0);
    slot.free();
    expect(slots.vacant()).toBe(1);
  });

  it("RUN-1: a run that has left again when a slot is free for it does not occupy it", async () => {
    const slots = createSlots(1, () => {});
    const { signal } = new AbortController();
    const slot = slots.take();
    const first = slot.away(tick, signal);
    const other = slots.take();
    await tick();
    await tick();
    void slot.away(() => new Promise(() => {}), signal);
    other.free();
    await first;
    expect(slots.vacant()).toBe(1);
  });

  it("RUN-1: a run that ends while it is away frees nothing twice", async () => {
    const slots = createSlots(1, () => {});
    const slot = slots.take();
    let comeBack = (): void => {};
    const away = slot.away(
      () => new Promise<void>((resolve) => (comeBack = resolve)),
      new AbortController().signal,
    );
    slot.free();
    comeBack();
    await away;
    expect(slots.vacant()).toBe(1);
  });
});
