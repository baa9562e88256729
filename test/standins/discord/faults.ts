import { ApiError } from "./api-error.ts";

/** What goes wrong with a request. `drop` closes the connection before or after the service did the work. */
export type Fault =
  | {
      readonly kind: "rateLimit";
      readonly retryAfterSeconds: number;
      /** "shared": a limit of the room that all bots share; the bot's own bucket still has room. */
      readonly scope?: "user" | "global" | "shared";
    }
  | {
      readonly kind: "status";
      readonly status: number;
      readonly code?: number;
      readonly message?: string;
      /** The fields that a form was refused for. */
      readonly errors?: object;
    }
  /** The service's outer wall, which bars an address: a 429 without JSON and without the service's own headers. */
  | { readonly kind: "wall"; readonly retryAfterSeconds?: number }
  | { readonly kind: "drop"; readonly when: "before" | "after" }
  | { readonly kind: "hold"; readonly until: Promise<unknown> }
  /** A proxy's page in place of the answer, with status 200; nothing is stored. */
  | { readonly kind: "page"; readonly type: "text/html" | "application/json" };

interface Planned {
  readonly method: string;
  readonly path: RegExp;
  readonly fault: Fault;
  /** Matching requests that still go through before it happens. */
  spared: number;
  left: number;
}

/** The faults that a test has ordered. Each waits for requests that match it, oldest order first. */
export class Faults {
  readonly #planned: Planned[] = [];

  /** After `spared` matching requests the next `times` go wrong. */
  next(method: string, path: RegExp, fault: Fault, { times = 1, spared = 0 } = {}): void {
    this.#planned.push({ method, path, fault, spared, left: times });
  }

  take(method: string, path: string): Fault | undefined {
    const due = this.#planned.find((plan) => plan.left > 0 && plan.method === method && plan.path.test(path));
    if (!due) return undefined;
    if (due.spared > 0) {
      due.spared -= 1;
      return undefined;
    }
    due.left -= 1;
    return due.fault;
  }
}

export function errorOf(fault: Extract<Fault, { kind: "status" }>): ApiError {
  return new ApiError(
    fault.status,
    fault.code ?? 0,
    fault.message ?? `${fault.status}: on demand`,
    fault.errors,
  );
}

/** The 429 answer, with the headers that real clients plan by. */
export function rateLimitAnswer({
  retryAfterSeconds,
  scope = "user",
}: Extract<Fault, { kind: "rateLimit" }>) {
  const global = scope === "global";
  return {
    status: 429,
    body: { message: "You are being rate limited.", retry_after: retryAfterSeconds, global },
    headers: {
      "retry-after": String(retryAfterSeconds),
      "x-ratelimit-limit": "5",
      "x-ratelimit-remaining": scope === "shared" ? "4" : "0",
      "x-ratelimit-reset-after": String(retryAfterSeconds),
      "x-ratelimit-scope": scope,
      ...(global ? { "x-ratelimit-global": "true" } : {}),
    },
  };
}
