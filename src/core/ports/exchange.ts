import type { SessionKey } from "./session.ts";

/**
 * One agent-to-agent exchange that a sessions_send began: the durable state between its runs.
 * Turn 0 is the target's first run; turns 1… alternate requester, target; then the target's announce step.
 */
export interface Exchange {
  readonly id: string;
  readonly requester: SessionKey;
  readonly target: SessionKey;
  readonly request: string;
  readonly maxTurns: number;
  /** Sessions that the originating message visited before the target, oldest first. */
  readonly chain: readonly SessionKey[];
  /** Number of the turn that runs or waits; -1 = the announce step. */
  readonly turn: number;
  /** Runs of it that yielded instead of answering. Absent = 0. */
  readonly yields?: number;
  readonly roundOneReply?: string;
  readonly latestReply?: string;
  /** The requester's tool call: still waiting, has the reply in its result, or has returned without it. */
  readonly caller: "waiting" | "answered" | "gone";
  readonly state: "open" | "announced" | "silent" | "no_route" | "suppressed" | "failed";
  readonly reason?: string;
  readonly deliveryId?: string;
  readonly startedAtMs: number;
  readonly updatedAtMs: number;
}
