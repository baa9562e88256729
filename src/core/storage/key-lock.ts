/** Runs `work` after everything that this process began earlier under the same key, whether that succeeded or not. */
export type KeyLock = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createKeyLock(): KeyLock {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    last.set(key, own);
    const forget = () => {
      if (last.get(key) === own) last.delete(key);
    };
    own.then(forget, forget);
    return own;
  };
}
