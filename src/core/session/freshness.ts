import type { Config } from "../config.ts";
import type { Session } from "../ports/session.ts";

/**
 * Whether the next real message begins a new session id: the day turned at `atHour` of the host's local time since
 * this one began, or nobody has spoken for `idleMinutes`. Internal runs do not keep a session fresh.
 */
export function isStale(session: Session, config: Config, nowMs: number): boolean {
  const { mode, atHour, idleMinutes } = config.session.reset;
  // A child ends with its task and its archiving.
  if (mode === "none" || session.spawnedBy !== undefined) return false;
  if (mode === "daily" && session.sessionStartedAtMs < lastTurnOfDay(atHour, nowMs)) return true;
  const idleLimit = idleMinutes ?? (mode === "idle" ? 60 : Number.POSITIVE_INFINITY);
  const spokenAtMs = Math.max(session.lastInteractionAtMs ?? 0, session.sessionStartedAtMs);
  return nowMs - spokenAtMs >= idleLimit * 60_000;
}

/** The same session with nothing said yet: what was counted or happened is gone, what people chose stays. */
export function afterReset(session: Session, newSessionId: string, nowMs: number): Session {
  const {
    usage: _usage,
    systemSent: _systemSent,
    abortedLastRun: _aborted,
    status: _status,
    startedAtMs: _started,
    endedAtMs: _ended,
    yielded: _yielded,
    ...kept
  } = session;
  return {
    ...kept,
    sessionId: newSessionId,
    sessionStartedAtMs: nowMs,
    updatedAtMs: Math.max(session.updatedAtMs, nowMs),
  };
}

function lastTurnOfDay(hour: number, nowMs: number): number {
  const turn = new Date(nowMs);
  turn.setHours(hour, 0, 0, 0);
  if (turn.getTime() > nowMs) turn.setDate(turn.getDate() - 1);
  return turn.getTime();
}
