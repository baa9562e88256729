import { messageOf } from "../../errors.ts";
import type { RunId } from "../../ports/engine.ts";
import type { Clock, Logger } from "../../ports/host.ts";
import type { Write } from "../../ports/storage.ts";
import type { Changes } from "./changes.ts";
import type { EngineTiming } from "./engine-timing.ts";
import type { RunRows } from "./run-rows.ts";
import { carry, type WriteCarrier } from "./write-carrier.ts";

export interface ForgettingParts {
  readonly rows: RunRows;
  readonly changes: Changes;
  readonly writer: WriteCarrier;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timing: EngineTiming;
  /** What goes with runs that are forgotten. */
  readonly forgetWith: (ids: readonly RunId[]) => readonly Write[];
}

const forgottenAtOnce = 250;

/**
 * Forgets some of the runs that ended long ago, with all that goes with them. Never rejects: what a damaged record keeps from
 * going is left behind, what the store keeps from it is tried again at the next call.
 */
export function createForgetting(parts: ForgettingParts): () => Promise<void> {
  const { rows, changes, writer, clock, logger, timing, forgetWith } = parts;
  const forget = (ids: readonly RunId[], writes: readonly Write[]) =>
    changes.write(() => {
      carry(writes, writer, changes);
      rows.forget(ids);
    });
  return async () => {
    try {
      const ids = rows.endedBefore(clock.now() - timing.keepMs, forgottenAtOnce);
      if (ids.length === 0) return;
      const writes = forgetWith(ids);
      if (writer.before) await writer.before(writes);
      forget(ids, writes);
    } catch (error) {
      logger.warn({ error: messageOf(error) }, "could not forget old runs; it is tried again");
    }
  };
}
