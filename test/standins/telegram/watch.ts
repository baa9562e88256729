/** Waits for what somebody else brings about. */
export class Watch {
  readonly #checks = new Set<() => void>();

  /** Something may have changed. */
  check(): void {
    for (const check of [...this.#checks]) check();
  }

  /** Resolves as soon as `condition` holds; rejects when nothing makes it true for five seconds. */
  until(condition: () => boolean, what: string): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.#checks.delete(check);
        settle();
      };
      const check = () => condition() && end(resolve);
      const timer = setTimeout(() => end(() => reject(new Error(`It did not happen that ${what}.`))), 5000);
      this.#checks.add(check);
    });
  }
}
