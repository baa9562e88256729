import { afterEach } from "vitest";
import { type Database, openDatabase } from "../../../../src/core/engine/sqlite/database.ts";
import type { SqliteEngineOptions } from "../../../../src/core/engine/sqlite/engine.ts";
import type { ClaimedRun, Engine, RunSettlement } from "../../../../src/core/ports/engine.ts";
import type { Logger } from "../../../../src/core/ports/host.ts";
import { sqliteEngine, temporaryFolder } from "./short-engine.ts";
import { silentLogger } from "./silent-logger.ts";

export interface OpenedStore {
  /** A connection of its own, to look at the tables or to damage them. */
  readonly database: Database;
  connect(): Database;
  /** One engine on a connection of its own, as another process would have. */
  engine(options?: Partial<SqliteEngineOptions>): Promise<Engine>;
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A fresh store; everything is closed and removed after the test. */
export function openStore(): OpenedStore {
  const { file, remove } = temporaryFolder();
  cleanups.push(remove);
  const connect = (): Database => {
    const database = openDatabase(file);
    cleanups.push(() => database.close());
    return database;
  };
  return {
    database: connect(),
    connect,
    async engine(options = {}) {
      const engine = await sqliteEngine(options.database ?? connect(), options);
      cleanups.push(() => engine.close());
      return engine;
    },
  };
}

export interface HeldRuns {
  readonly claims: readonly ClaimedRun[];
  settle(id: string, settlement: RunSettlement): void;
  readonly handler: (run: ClaimedRun) => Promise<RunSettlement>;
}

/** A handler that holds every run until the test settles it, or until its signal is aborted. */
export function holdRuns(): HeldRuns {
  const claims: ClaimedRun[] = [];
  const ends = new Map<string, (settlement: RunSettlement) => void>();
  return {
    claims,
    settle: (id, settlement) => ends.get(id)?.(settlement),
    handler: (run) =>
      new Promise((resolve) => {
        claims.push(run);
        ends.set(run.id, resolve);
        const giveUp = () => resolve({ failed: String(run.signal.reason) });
        if (run.signal.aborted) giveUp();
        else run.signal.addEventListener("abort", giveUp);
      }),
  };
}

/** Keeps the sentences of warnings and errors. */
export function rememberingLogger(): Logger & { readonly said: readonly string[] } {
  const said: string[] = [];
  const say = (_: object, message: string): void => void said.push(message);
  return { ...silentLogger, said, warn: say, error: say };
}
