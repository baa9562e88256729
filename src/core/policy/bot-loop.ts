/** How much one of our accounts and one other bot may say to each other in one room: `channels.<name>.botLoop`. */
export interface BotLoopLimit {
  readonly maxMessages: number;
  readonly windowSeconds: number;
  readonly pauseSeconds: number;
}

/** What has lately passed between the two, in either direction. */
export interface Traffic {
  readonly timesMs: readonly number[];
  readonly pausedUntilMs: number;
}

export const NO_TRAFFIC: Traffic = { timesMs: [], pausedUntilMs: Number.NEGATIVE_INFINITY };

export function isPaused({ pausedUntilMs }: Traffic, nowMs: number): boolean {
  return nowMs < pausedUntilMs;
}

/** One more message. The one that goes beyond the limit begins a pause, after which the counting starts anew. */
export function withMessage(
  { timesMs, pausedUntilMs }: Traffic,
  nowMs: number,
  limit: BotLoopLimit,
): Traffic {
  const since = nowMs - limit.windowSeconds * 1000;
  const recent = [...timesMs.filter((timeMs) => timeMs > since), nowMs];
  if (recent.length <= limit.maxMessages) return { timesMs: recent, pausedUntilMs };
  return { timesMs: [], pausedUntilMs: nowMs + limit.pauseSeconds * 1000 };
}
