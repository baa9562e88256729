import { SwitchboardError } from "../errors.ts";
import type { Session } from "../ports/session.ts";
import { oneMoreIn } from "./spent-hour.ts";

const MINUTE_MS = 60_000;

/** The session with one more message sent to others. SEND_BUDGET when its hour is spent; check and count are one write, so no two sends take the last one. */
export function withSend(session: Session, nowMs: number, maxPerHour: number): Session {
  const counted = oneMoreIn(session.sends ?? [], nowMs, maxPerHour);
  if ("hour" in counted) return { ...session, sends: counted.hour };
  const { count, freeAtMs } = counted;
  const minutes = Math.ceil((freeAtMs - nowMs) / MINUTE_MS);
  const message = `This session sent ${count} messages within an hour, and ${maxPerHour} is the limit (tools.agentToAgent.maxSendsPerHour). It may send again in ${minutes} min, at ${new Date(freeAtMs).toISOString()}. Do the work yourself, or say what you have.`;
  throw new SwitchboardError("SEND_BUDGET", message, { details: { freeAtMs } });
}
