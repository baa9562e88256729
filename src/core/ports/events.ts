import type { ErrorCode } from "../errors.ts";
import type { Acceptance, Address } from "./chat.ts";
import type { RunTrigger } from "./run.ts";
import type { SessionKey } from "./session.ts";

/** What happens inside, for logs, spans, metrics and tests. Facts and ids only, never message text. Times are Unix ms. */
export interface SwitchboardEvents {
  "message.accepted": {
    readonly from: Address;
    readonly messageId: string;
    readonly acceptance: Acceptance;
    /** Why it was ignored. */
    readonly reason?: string;
    readonly atMs: number;
  };
  /** Too many messages between one of our accounts and another bot in one room: the bot is ignored there for a while. */
  "bot.paused": {
    readonly from: Address;
    readonly botId: string;
    readonly untilMs: number;
    readonly atMs: number;
  };
  /** A stranger was told a code; `/pair approve <code>` lets them in. */
  "pairing.requested": {
    readonly from: Address;
    readonly personId: string;
    readonly code: string;
    readonly expiresAtMs: number;
    readonly atMs: number;
  };
  /** An owner let somebody in. `from`: where the person had asked. */
  "pairing.approved": { readonly from: Address; readonly personId: string; readonly atMs: number };
  "run.started": {
    readonly runId: string;
    readonly sessionKey: SessionKey;
    readonly trigger: RunTrigger;
    readonly atMs: number;
  };
  "run.finished": {
    readonly runId: string;
    readonly sessionKey: SessionKey;
    readonly trigger: RunTrigger;
    readonly status: "ok" | "yielded" | "failed" | "timeout" | "killed" | "interrupted";
    readonly error?: string;
    readonly durationMs: number;
  };
  "tool.called": {
    readonly runId?: string;
    readonly sessionKey: SessionKey;
    readonly tool: string;
    readonly status: string;
  };
  /** An agent's sessions_send that a limit stopped: a ring, too many hops, a circle of waits, or its hour is spent. */
  "send.refused": { readonly sessionKey: SessionKey; readonly target: SessionKey; readonly code: ErrorCode };
  "child.spawned": {
    readonly childId: string;
    readonly sessionKey: SessionKey;
    readonly requester: SessionKey;
  };
  "child.ended": { readonly childId: string; readonly sessionKey: SessionKey; readonly status: string };
  "child.told": { readonly childId: string; readonly requester: SessionKey; readonly how: string };
  "exchange.settled": { readonly exchangeId: string; readonly state: string };
  "delivery.settled": {
    readonly deliveryId: string;
    readonly to: Address;
    readonly state: "delivered" | "suppressed" | "failed" | "uncertain";
    readonly reason?: string;
  };
}

export type EventName = keyof SwitchboardEvents;

export interface Events {
  emit<N extends EventName>(name: N, event: SwitchboardEvents[N]): void;
  /** The returned function ends the subscription. A listener that throws is logged and harms nobody. */
  on<N extends EventName>(name: N, listener: (event: SwitchboardEvents[N]) => void): () => void;
}
