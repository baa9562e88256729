import type { Changes } from "./changes.ts";
import type { Database } from "./database.ts";
import { isSurelyDead, type ProcessIdentity } from "./process-identity.ts";

/**
 * The processes that have the file open. One is dead when its pid is gone or is another process now; or, seen from a living one,
 * when its beat has stood still for `beatsToDeath` of the observer's own beats. No clock is compared, so neither a jump of the
 * time nor a sleeping machine takes a run from a process that lives.
 * Everything here is called inside a transaction, except `id`, `count` and `isListed`.
 */
export interface Processes {
  /** undefined: the lease was lost and not yet renewed. */
  id(): string | undefined;
  /** As of the last beat. */
  count(): number;
  /** `draw` is asked until it gives an id that no process has. */
  register(draw: () => string): void;
  /** The id, when nobody has taken over what this process held; otherwise notes that the lease is lost. */
  verify(): string | undefined;
  /** Whether nobody has taken over what this process held; outside a transaction. */
  isListed(): boolean;
  /** Says that this process lives: its id, or undefined when another has declared it dead. */
  beat(): string | undefined;
  /** Removes the rows of the dead. `observe`: counts this look as a beat of this process. */
  removeDead(observe: boolean): readonly string[];
  unregister(): void;
}

interface ProcessRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly start_token: string | null;
  readonly beat: number;
}

/** A beat, and for how many of the observer's own beats it has stood still. */
interface Watched {
  readonly beat: number;
  readonly still: number;
}

export function createProcesses({
  database,
  changes,
  self,
  beatsToDeath,
}: {
  readonly database: Database;
  readonly changes: Changes;
  readonly self: ProcessIdentity;
  readonly beatsToDeath: number;
}): Processes {
  const insert = database.prepare("INSERT INTO processes (id, host, pid, start_token) VALUES (?, ?, ?, ?)");
  const exists = database.prepare("SELECT 1 AS found FROM processes WHERE id = ?");
  const beat = database.prepare("UPDATE processes SET beat = beat + 1 WHERE id = ?");
  const others = database.prepare("SELECT id, host, pid, start_token, beat FROM processes WHERE id <> ?");
  const remove = database.prepare("DELETE FROM processes WHERE id = ?");

  let own: string | undefined;
  let watched: ReadonlyMap<string, Watched> = new Map();

  const watch = (row: ProcessRow, observe: boolean): Watched => {
    const before = watched.get(row.id);
    if (before?.beat !== row.beat) return { beat: row.beat, still: 0 };
    return { beat: row.beat, still: before.still + (observe ? 1 : 0) };
  };

  const lose = (): undefined => {
    if (own === undefined) return;
    changes.afterCommit(() => {
      own = undefined;
    });
    changes.leaseLost();
  };

  const isListed = (): boolean => own !== undefined && exists.get(own) !== undefined;

  return {
    id: () => own,
    count: () => watched.size + 1,
    register(draw) {
      let id = draw();
      while (exists.get(id)) id = draw();
      insert.run(id, self.host, self.pid, self.startToken);
      changes.afterCommit(() => {
        own = id;
      });
    },
    verify: () => (isListed() ? own : lose()),
    isListed,
    beat: () => (own !== undefined && beat.run(own) > 0 ? own : lose()),
    removeDead(observe) {
      const dead: string[] = [];
      const alive = new Map<string, Watched>();
      for (const row of others.all<ProcessRow>(own ?? "")) {
        const now = watch(row, observe);
        if (now.still < beatsToDeath && !isSurelyDead(identityOf(row), self)) alive.set(row.id, now);
        else dead.push(row.id);
      }
      for (const id of dead) remove.run(id);
      watched = alive;
      return dead;
    },
    unregister() {
      if (own !== undefined) remove.run(own);
      own = undefined;
    },
  };
}

function identityOf(row: ProcessRow): ProcessIdentity {
  return { host: row.host, pid: row.pid, startToken: row.start_token };
}
