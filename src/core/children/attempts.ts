import type { Job } from "../runs/job.ts";

/** A turn that tells of an ended child is held so often at most, whether it failed or a crash cut it off. */
export const ATTEMPTS = 3;
/** After such a pause it is held again; after twice as long the next time. */
export const RETRY_MS = 5000;

/** From 1 to ATTEMPTS, in each lane anew. */
export function attemptOf({ child }: Job): number {
  return (((child?.attempt ?? 1) - 1) % ATTEMPTS) + 1;
}

/** Whether the claimed run may begin once more. `claims`: how often it was claimed. */
export function mayRepeat(job: Job, claims: number): boolean {
  return attemptOf(job) + claims <= ATTEMPTS + 1;
}

/** The attempt that follows one that failed, and the pause before it; undefined: there is none. */
export function nextAttempt(
  job: Job,
  claims: number,
): { readonly attempt: number; readonly delayMs: number } | undefined {
  const held = attemptOf(job) + claims - 1;
  if (held >= ATTEMPTS) return undefined;
  return { attempt: (job.child?.attempt ?? 1) + claims, delayMs: RETRY_MS * 2 ** (held - 1) };
}
