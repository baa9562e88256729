import { expect } from "vitest";

const MEGABYTE = 1_000_000;
/** Takes under 100 ms where nothing else runs; the bound leaves room for a slow machine, none for a quadratic scan, which takes minutes. */
const MOST_MS = 400;

/** The piece, over and over. */
export function aMegabyteOf(piece: string, length = MEGABYTE): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

/** Processor time counts, so that a busy machine changes nothing. */
export function expectLinear(work: (text: string) => unknown, piece: string): void {
  const small = aMegabyteOf(piece, MEGABYTE / 4);
  const large = aMegabyteOf(piece);
  expect(
    cpuMs(() => work(large)),
    piece,
  ).toBeLessThan(Math.min(MOST_MS, 8 * cpuMs(() => work(small)) + 40));
}

function cpuMs(work: () => unknown): number {
  const times = [1, 2].map(() => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
