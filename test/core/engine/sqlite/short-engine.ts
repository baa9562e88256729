import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../../src/core/clock.ts";
import { type Database, openDatabase } from "../../../../src/core/engine/sqlite/database.ts";
import { createSqliteEngine, type SqliteEngineOptions } from "../../../../src/core/engine/sqlite/engine.ts";
import type { Engine } from "../../../../src/core/ports/engine.ts";
import type { HarnessTiming } from "../../../contracts/queue-harness.ts";
import { silentLogger } from "./silent-logger.ts";

interface Location extends HarnessTiming {
  readonly file: string;
}

export function temporaryFolder(): { readonly file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "queue-"));
  return { file: join(folder, "store.db"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Writes nothing but the run ids of turns, in the same transaction; a turn of the run "broken" cannot be written. */
export function turnLog(database: Database): SqliteEngineOptions["writer"] {
  database.exec("CREATE TABLE IF NOT EXISTS written (run TEXT)");
  const insert = database.prepare("INSERT INTO written VALUES (?)");
  return {
    applyNow(writes) {
      for (const write of writes) {
        if (write.type !== "turn") continue;
        insert.run(write.runId);
        if (write.runId === "broken") throw new Error("this turn cannot be written");
      }
    },
    committed() {},
  };
}

export function sqliteEngine(
  database: Database,
  options: Partial<SqliteEngineOptions> = {},
): Promise<Engine> {
  const clock = systemClock;
  const logger = silentLogger;
  return createSqliteEngine({ database, clock, logger, writer: turnLog(database), ...options });
}

/** The entry for other processes, which import it by name. @public */
export function openEngine({ file, leaseMs = 1_000 }: Location): Promise<Engine> {
  return sqliteEngine(openDatabase(file), { timing: shortTiming(leaseMs) });
}

/** Everything faster than in earnest, so that a lease runs out within a test. */
export function shortTiming(leaseMs: number) {
  return { heartbeatMs: 100, leaseMs, pollMs: 5, idlePollMs: 10, abandonMs: 500 };
}
