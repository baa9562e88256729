import { messageOf } from "../../errors.ts";
import type { RunId } from "../../ports/engine.ts";
import type { Logger } from "../../ports/host.ts";
import type { Database } from "./database.ts";

/** The parts of this process that care about what a transaction changed. Called after the commit, never inside it. */
export interface ChangeListener {
  /** A lane of this pool waits for a worker. */
  ready(pool: string): void;
  ended(id: RunId): void;
  /** Something becomes due at this time. */
  due(atMs: number): void;
  /** Another process has taken over what this one held. */
  leaseLost(): void;
}

export interface Changes extends ChangeListener {
  /** One transaction. What `work` notes about it is told once it is committed, and forgotten when it is rolled back. */
  write<T>(work: () => T): T;
  afterCommit(task: () => void): void;
}

export function createChanges(database: Database, logger: Logger, listener: ChangeListener): Changes {
  let tasks: (() => void)[] = [];

  const tell = (task: () => void): void => {
    try {
      task();
    } catch (error) {
      logger.error({ error: messageOf(error) }, "after a commit of the run queue");
    }
  };

  return {
    write(work) {
      tasks = [];
      const result = database.transaction(work);
      const committed = tasks;
      tasks = [];
      committed.forEach(tell);
      return result;
    },
    afterCommit: (task) => void tasks.push(task),
    ready: (pool) => void tasks.push(() => listener.ready(pool)),
    ended: (id) => void tasks.push(() => listener.ended(id)),
    due: (atMs) => void tasks.push(() => listener.due(atMs)),
    leaseLost: () => void tasks.push(() => listener.leaseLost()),
  };
}
