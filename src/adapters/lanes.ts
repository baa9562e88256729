/** Work that follows one another within a lane and runs side by side in different ones. */
export class Lanes {
  /** The last work of each lane: the next one waits for it. */
  readonly #lastOf = new Map<string, Promise<unknown>>();

  /** Work that rejects is over for its lane like any other. */
  run<T>(lane: string, work: () => Promise<T>): Promise<T> {
    const before = this.#lastOf.get(lane);
    const turn = before === undefined ? work() : before.then(work);
    const forget = () => {
      if (this.#lastOf.get(lane) === over) this.#lastOf.delete(lane);
    };
    const over = turn.then(forget, forget);
    this.#lastOf.set(lane, over);
    return turn;
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#lastOf.size > 0) await Promise.all(this.#lastOf.values());
  }
}
