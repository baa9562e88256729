import { messageOf, SwitchboardError } from "../../errors.ts";
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

/** The end of what is remembered: runs that ended long ago go, and with them what belongs to them. */
export interface Forgetting {
  /** Begins to forget some of them, unless that is still going on. What fails is logged and tried again the next time. */
  begin(): void;
  /** Resolves when nothing is going on. */
  ended(): Promise<void>;
}

const forgottenAtOnce = 250;

export function createForgetting(parts: ForgettingParts): Forgetting {
  let working: Promise<void> | undefined;
  return {
    begin() {
      working ??= forgetSome(parts).finally(() => {
        working = undefined;
      });
    },
    ended: () => working ?? Promise.resolve(),
  };
}

async function forgetSome(parts: ForgettingParts): Promise<void> {
  const { rows, writer, clock, logger, timing, forgetWith } = parts;
  try {
    const ids = rows.endedBefore(clock.now() - timing.keepMs, forgottenAtOnce);
    if (ids.length === 0) return;
    const writes = forgetWith(ids);
    try {
      await writer.before?.(writes);
      forget(ids, writes, parts);
    } catch (error) {
      if (!isDamage(error)) throw error;
      // A record that cannot be read stays, and keeps no run.
      logger.warn({ error: messageOf(error) }, "what belongs to old runs could not be removed");
      forget(ids, [], parts);
    }
  } catch (error) {
    logger.warn({ error: messageOf(error) }, "could not forget old runs; it is tried again");
  }
}

function forget(
  ids: readonly RunId[],
  writes: readonly Write[],
  { rows, changes, writer }: ForgettingParts,
): void {
  changes.write(() => {
    carry(writes, writer, changes);
    rows.forget(ids);
  });
}

function isDamage(error: unknown): boolean {
  return error instanceof SwitchboardError && error.code === "STORE_CORRUPT";
}
