/** Milliseconds of one thing, over many repetitions. */
export interface Timing {
  readonly p50: number;
  readonly p95: number;
  readonly repetitions: number;
}

/** One row of the table: a measurement, what it is compared with in the same run, and the goal for the ratio. */
export interface Result {
  readonly name: string;
  readonly measured: string;
  readonly beside: string;
  readonly ratio?: number;
  readonly goal?: number;
}

/** Median and 95th percentile after a warm-up. */
export async function time(work: () => unknown, repetitions = 60): Promise<Timing> {
  for (let i = 0; i < Math.min(20, repetitions); i++) await work();
  const times: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const from = performance.now();
    await work();
    times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p50: at(0.5), p95: at(0.95), repetitions };
}

/** Two things measured in turns, so that a machine that slows down slows both. */
export async function timeBoth(
  one: () => unknown,
  other: () => unknown,
  rounds = 12,
): Promise<{ readonly one: Timing; readonly other: Timing }> {
  const ones: Timing[] = [];
  const others: Timing[] = [];
  for (let round = 0; round < rounds; round++) {
    ones.push(await time(one, 20));
    others.push(await time(other, 20));
  }
  return { one: middle(ones), other: middle(others) };
}

export function ms(value: number): string {
  return `${value.toFixed(value < 1 ? 3 : value < 100 ? 2 : 0)} ms`;
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MB`;
}

function middle(timings: readonly Timing[]): Timing {
  const sorted = [...timings].sort((a, b) => a.p50 - b.p50);
  return sorted[Math.floor(sorted.length / 2)] ?? { p50: 0, p95: 0, repetitions: 0 };
}
