import type { Exchange } from "../ports/exchange.ts";
import type { SessionKey } from "../ports/session.ts";

/** How one run of an exchange ended, in the words of what was said and not of what was written. */
export type Ended =
  | { readonly kind: "reply"; readonly text: string }
  | { readonly kind: "silent" }
  | { readonly kind: "failed"; readonly error: string };

export type NextStep =
  | { readonly kind: "turn"; readonly turn: number; readonly speaker: SessionKey }
  | { readonly kind: "announce" }
  | { readonly kind: "end" };

/** Number of the announce step in `Exchange.turn`. */
export const ANNOUNCE_TURN = -1;

/**
 * What follows when the current step of an exchange has ended.
 * Turn 0: no reply ends everything. Turns 1…: silence, failure or the last turn lead to the announce step with the latest reply.
 */
export function advance(
  exchange: Exchange,
  ended: Ended,
): { readonly exchange: Exchange; readonly next: NextStep } {
  if (exchange.turn === ANNOUNCE_TURN) return finish(exchange, ended);
  if (exchange.turn === 0) {
    if (ended.kind !== "reply") return finish(exchange, ended);
    return follow({ ...exchange, roundOneReply: ended.text, latestReply: ended.text });
  }
  if (ended.kind !== "reply")
    return { exchange: { ...exchange, turn: ANNOUNCE_TURN }, next: { kind: "announce" } };
  return follow({ ...exchange, latestReply: ended.text });
}

/** Turn 0 and even turns belong to the target, odd ones to the requester. */
export function speakerOf(exchange: Exchange, turn: number): SessionKey {
  return turn > 0 && turn % 2 === 1 ? exchange.requester : exchange.target;
}

function follow(exchange: Exchange): { readonly exchange: Exchange; readonly next: NextStep } {
  const turn = exchange.turn + 1;
  if (turn > exchange.maxTurns) {
    return { exchange: { ...exchange, turn: ANNOUNCE_TURN }, next: { kind: "announce" } };
  }
  return {
    exchange: { ...exchange, turn },
    next: { kind: "turn", turn, speaker: speakerOf(exchange, turn) },
  };
}

function finish(exchange: Exchange, ended: Ended): { readonly exchange: Exchange; readonly next: NextStep } {
  const next = { kind: "end" } as const;
  switch (ended.kind) {
    case "reply":
      return { exchange: { ...exchange, state: "announced" }, next };
    case "silent":
      return { exchange: { ...exchange, state: "silent" }, next };
    case "failed":
      return { exchange: { ...exchange, state: "failed", reason: ended.error }, next };
    default:
      return ended satisfies never;
  }
}
