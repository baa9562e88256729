import type { Address } from "./chat.ts";
import type { RunId } from "./engine.ts";
import type { Json } from "./host.ts";
import type { SessionKey } from "./session.ts";

/** A delivery that was given up, or of which nobody knows whether it arrived. */
export interface DeadLetter {
  /** Of the delivery run. */
  readonly id: RunId;
  readonly sessionKey: SessionKey;
  readonly to: Address;
  readonly state: "failed" | "uncertain";
  /** Masked. */
  readonly reason: string;
  readonly atMs: number;
  /** Of the delivery run when it ended: the text, and how far it had come. */
  readonly payload: Json;
}

/** What the list of them says of one. `number` is never given twice, so that people may name it by that. */
export interface DeadLetterEntry extends Pick<DeadLetter, "id" | "sessionKey" | "to" | "state" | "atMs"> {
  readonly number: number;
}

/** Those that nobody has dismissed, oldest first. */
export interface DeadLetterList {
  readonly entries: readonly DeadLetterEntry[];
  /** How many there have ever been. */
  readonly numbered: number;
}

/** What has not arrived in one chat; what there is none of is absent. */
export interface ChatDeliveries {
  readonly waiting?: { readonly count: number; readonly sinceMs: number; readonly reason?: string };
  readonly dead?: { readonly failed: number; readonly uncertain: number; readonly lastReason: string };
}
