import type { Write } from "../../ports/storage.ts";
import type { Changes } from "./changes.ts";

/** The store's side of a transaction of the queue. */
export interface WriteCarrier {
  /** Values that live elsewhere: awaited before the transaction, so the writes must be idempotent. */
  before?(writes: readonly Write[]): Promise<void>;
  /** Synchronous, inside the transaction; what it throws rolls everything back. */
  applyNow(writes: readonly Write[]): void;
  committed(writes: readonly Write[]): void;
}

/** Applies the writes as a part of the running transaction. */
export function carry(writes: readonly Write[] | undefined, writer: WriteCarrier, changes: Changes): void {
  if (!writes || writes.length === 0) return;
  writer.applyNow(writes);
  changes.afterCommit(() => writer.committed(writes));
}
