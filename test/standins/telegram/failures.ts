import { ApiError } from "./api-error.ts";

/**
 * How the next call of a method goes wrong.
 * - dropBefore: the connection breaks before anything happened. dropAfter: it happened, the answer is lost.
 * - badGateway: a proxy's HTML page instead of an answer. silence: no answer until the client gives up; nothing happens.
 */
export type Failure =
  | { readonly kind: "error"; readonly error: ApiError }
  | { readonly kind: "dropBefore" | "dropAfter" | "badGateway" | "silence" };

export const rateLimited = (seconds: number): Failure => ({
  kind: "error",
  error: new ApiError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds }),
});

export const serverError: Failure = { kind: "error", error: new ApiError(500, "Internal Server Error") };

export const refused = (code: number, description: string): Failure => ({
  kind: "error",
  error: new ApiError(code, description),
});

/** Failures in waiting: each hits one call of its method, after `skip` calls that still work. */
export class FailurePlan {
  readonly #planned: { method: string; failure: Failure; skip: number }[] = [];

  add(method: string, failure: Failure, skip = 0): void {
    this.#planned.push({ method, failure, skip });
  }

  take(method: string): Failure | undefined {
    const next = this.#planned.find((planned) => planned.method === method);
    if (!next || next.skip-- > 0) return undefined;
    this.#planned.splice(this.#planned.indexOf(next), 1);
    return next.failure;
  }
}
