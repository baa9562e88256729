/** A place in a script where a run stops until the test lets it go on. */
export interface Gate {
  /** Resolves when a run has come to the gate. */
  readonly reached: Promise<void>;
  /** Lets everybody through, now and later. */
  open(): void;
  /** For scripts: waits until the gate is open; rejects when the run is aborted. */
  pass(signal: AbortSignal): Promise<void>;
}

export function gate(): Gate {
  const [reached, arrive] = signalling();
  const [opened, open] = signalling();
  return {
    reached,
    open,
    pass(signal) {
      arrive();
      return new Promise((resolve, reject) => {
        const abort = () => reject(new Error("aborted"));
        if (signal.aborted) abort();
        signal.addEventListener("abort", abort, { once: true });
        void opened.then(resolve);
      });
    },
  };
}

function signalling(): [Promise<void>, () => void] {
  let done = () => {};
  const promise = new Promise<void>((resolve) => {
    done = resolve;
  });
  return [promise, done];
}
