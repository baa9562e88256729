import type { Address } from "./chat.ts";

/** A stranger who wrote directly and was told a code. */
export interface PairingRequest {
  readonly code: string;
  /** Every id of the person that was known then. */
  readonly ids: readonly [string, ...string[]];
  /** Chosen by the person; cleaned. */
  readonly name?: string;
  /** Where the person wrote. */
  readonly from: Address;
  /** The delivery that tells the code. */
  readonly deliveryId: string;
  readonly atMs: number;
  /** Turned down: takes no place, and the person gets no other code before this one's time is over. */
  readonly denied?: true;
}

/** Somebody whom an owner has approved, and when. */
export type PairedPerson = Omit<PairingRequest, "deliveryId" | "denied">;

/** Who asked to write to one account of a channel directly, and who may. */
export interface Pairings {
  readonly pending: readonly PairingRequest[];
  readonly approved: readonly PairedPerson[];
}
