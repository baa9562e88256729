import type { AbortCause, OwnerLease } from "../../ports/engine.ts";
import type { Changes } from "./changes.ts";
import type { Database } from "./database.ts";
import type { Processes } from "./processes.ts";
import type { Recovery } from "./recovery.ts";

export interface Owners extends OwnerLease {
  /** This process holds nothing any more: tells every holder. */
  loseAll(cause: AbortCause): void;
}

type Outcome = { readonly heldBy: string } | { readonly holder: string; readonly epoch: number };

export function createOwners({
  database,
  changes,
  processes,
  recovery,
  join,
}: {
  readonly database: Database;
  readonly changes: Changes;
  readonly processes: Processes;
  readonly recovery: Recovery;
  /** Registers this process again when its lease was lost. */
  readonly join: () => void;
}): Owners {
  const find = database.prepare(
    "SELECT processes.pid, processes.host FROM owners LEFT JOIN processes ON processes.id = owners.holder WHERE resource = ?",
  );
  const take = database.prepare(
    "INSERT INTO owners (resource, epoch, holder) VALUES (?, 1, ?) " +
      "ON CONFLICT (resource) DO UPDATE SET epoch = epoch + 1, holder = excluded.holder RETURNING epoch",
  );
  const free = database.prepare(
    "UPDATE owners SET holder = NULL WHERE resource = ? AND epoch = ? AND holder = ?",
  );
  const held = new Set<AbortController>();

  const attempt = (resource: string): Outcome | undefined =>
    changes.write(() => {
      const holder = processes.verify();
      if (holder === undefined) return undefined;
      recovery.recoverDead({ observe: false });
      const row = find.get<{ pid: number | null; host: string | null }>(resource);
      if (row?.pid) return { heldBy: `process ${row.pid} on ${row.host}` };
      return { holder, epoch: take.get<{ epoch: number }>(resource, holder)?.epoch ?? 1 };
    });

  const acquire = (resource: string): Outcome => {
    const outcome = attempt(resource);
    if (outcome) return outcome;
    join();
    return acquire(resource);
  };

  return {
    async acquire(resource) {
      const outcome = acquire(resource);
      if ("heldBy" in outcome) return outcome;
      const { epoch, holder } = outcome;
      const controller = new AbortController();
      held.add(controller);
      return {
        epoch,
        lost: controller.signal,
        async release() {
          if (held.delete(controller)) changes.write(() => free.run(resource, epoch, holder));
        },
      };
    },
    loseAll(cause) {
      const lost = [...held];
      held.clear();
      for (const controller of lost) controller.abort(cause);
    },
  };
}
