import { onTestFinished, vi } from "vitest";

/** From now on the limits of `AbortSignal.timeout` pass when the test says so. */
export function limitsInHand() {
  const set: { readonly ms: number; readonly limit: AbortController }[] = [];
  const passed = new Set<number>();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    const limit = new AbortController();
    if (passed.has(ms)) limit.abort();
    set.push({ ms, limit });
    return limit.signal;
  });
  onTestFinished(() => timeout.mockRestore());
  return {
    /** Every limit of so many milliseconds is over, also one that is set later. */
    pass(ms: number): void {
      passed.add(ms);
      for (const one of set) if (one.ms === ms) one.limit.abort(new Error(`${ms} ms are over`));
    },
  };
}
