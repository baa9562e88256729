import type { APIRequest, RateLimitData, REST, ResponseLike } from "discord.js";

/** How long Discord asks to wait, and with what. */
export interface RateLimit {
  readonly waitMs: number;
  /** Absent: for this room alone. */
  readonly scope?: "account";
}

/** The client library waits out a rate limit by itself; a longer wait goes back to the outbox, which survives restarts. */
const patienceMs = 5000;
/** Where Discord, or what stands before it, does not say how long. */
const unnamedWaitMs = 60_000;

/** A refusal with status 429. What has no JSON comes from Discord's wall: it bars the address, whatever is sent where. */
export function limitIn({ headers }: Pick<ResponseLike, "headers">): RateLimit {
  const namedMs = Number(headers.get("retry-after") ?? Number.NaN) * 1000;
  const waitMs = namedMs >= 0 ? namedMs : unnamedWaitMs;
  const isGlobal = headers.has("x-ratelimit-global") || headers.get("x-ratelimit-scope") === "global";
  return isGlobal || isFromWall(headers) ? { waitMs, scope: "account" } : { waitMs };
}

function isFromWall(headers: ResponseLike["headers"]): boolean {
  return !/\bjson\b/i.test(headers.get("content-type") ?? "");
}

interface LimitWatch {
  readonly signal: AbortSignal;
  limit(): RateLimit | undefined;
  stop(): void;
}

/**
 * Aborts when Discord asks for a longer wait than a send has patience for; then `limit` is what it asked for. At once where the library would not keep
 * still: it knocks on at a wall that names no time, and with other rooms at any wall.
 */
export function watchLimits(rest: REST, path: string): LimitWatch {
  const controller = new AbortController();
  let limit: RateLimit | undefined;
  const giveUp = (asked: RateLimit) => {
    limit ??= asked;
    controller.abort();
  };
  const onWait = ({ method, url, retryAfter, global }: RateLimitData) => {
    if (method !== "POST" || !url.endsWith(path) || !(retryAfter > patienceMs)) return;
    giveUp(global ? { waitMs: retryAfter, scope: "account" } : { waitMs: retryAfter });
  };
  const onResponse = (request: APIRequest, response: ResponseLike) => {
    if (response.status !== 429 || request.method !== "POST" || request.path !== path) return;
    const asked = limitIn(response);
    if (asked.waitMs > patienceMs || isFromWall(response.headers)) giveUp(asked);
  };
  rest.on("rateLimited", onWait);
  rest.on("response", onResponse);
  const stop = () => {
    rest.off("rateLimited", onWait);
    rest.off("response", onResponse);
  };
  return { signal: controller.signal, limit: () => limit, stop };
}
