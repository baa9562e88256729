/**
 * What the work comes to, or the reason of the first signal that aborts. The work itself goes on; its outcome is then ignored. Nothing of ours stays
 * on a signal, however long it lives, so none need be joined with others by `AbortSignal.any`.
 */
export async function within<T>(signals: AbortSignal | readonly AbortSignal[], work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    for (const signal of [signals].flat()) {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true, signal: over.signal });
    }
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    over.abort();
  }
}
