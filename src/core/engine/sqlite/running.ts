import type { AbortCause } from "../../ports/engine.ts";

/** The claims that handlers of this process are working on, by claim token, with the signal of each. */
export interface Running {
  start(claim: string): AbortSignal;
  /** The handler has ended. */
  end(claim: string): void;
  has(claim: string): boolean;
  abort(claim: string, cause: AbortCause): void;
  abortAll(cause: AbortCause): void;
  /** The lease is lost: aborts every handler, and knows none of the claims any more. */
  loseAll(): void;
}

export function createRunning(): Running {
  let controllers = new Map<string, AbortController>();
  return {
    start(claim) {
      const controller = new AbortController();
      controllers.set(claim, controller);
      return controller.signal;
    },
    end: (claim) => void controllers.delete(claim),
    has: (claim) => controllers.has(claim),
    abort: (claim, cause) => controllers.get(claim)?.abort(cause),
    abortAll(cause) {
      for (const controller of [...controllers.values()]) controller.abort(cause);
    },
    loseAll() {
      const lost = controllers;
      controllers = new Map();
      const cause: AbortCause = "lease lost";
      for (const controller of lost.values()) controller.abort(cause);
    },
  };
}
