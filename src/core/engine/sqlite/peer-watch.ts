import type { Clock } from "../../ports/host.ts";
import type { Database } from "./database.ts";

/** Whether another process has committed anything since the last call. SQLite does not call; it has a number that changes. */
export function createPeerNews(database: Database): () => boolean {
  const version = database.prepare("PRAGMA data_version");
  const read = (): number | undefined => version.get<{ data_version: number }>()?.data_version;
  let seen = read();
  return () => {
    const now = read();
    const isNew = now !== seen;
    seen = now;
    return isNew;
  };
}

/** Looks again and again while it is needed. */
export interface PeerWatch {
  /** Begins when it is needed now; ends by itself when it is needed no more. */
  poke(): void;
  stop(): void;
}

/** After so many looks that found nothing it looks less often. */
const looksUntilIdle = 50;

export function createPeerWatch({
  clock,
  isNeeded,
  look,
  busyMs,
  idleMs,
}: {
  readonly clock: Clock;
  readonly isNeeded: () => boolean;
  /** true: there was something to do. Never throws. */
  readonly look: () => boolean;
  readonly busyMs: number;
  readonly idleMs: number;
}): PeerWatch {
  let quietLooks = 0;
  let cancel: (() => void) | undefined;

  const poke = (): void => {
    if (cancel || !isNeeded()) return;
    cancel = clock.after(quietLooks < looksUntilIdle ? busyMs : idleMs, () => {
      cancel = undefined;
      if (!isNeeded()) return;
      quietLooks = look() ? 0 : quietLooks + 1;
      poke();
    });
  };

  return { poke, stop: () => cancel?.() };
}
