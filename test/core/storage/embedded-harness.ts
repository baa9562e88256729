import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { type Database, openDatabase, type SqliteDriver } from "../../../src/core/engine/sqlite/database.ts";
import { createEmbeddedStorage, type EmbeddedStorageOptions } from "../../../src/core/storage/embedded.ts";
import type { CarryingStorage } from "../../../src/core/storage/storage.ts";
import { fakeLogger } from "../../contracts/fake-logger.ts";
import type { StorageHarness } from "../../contracts/storage-harness.ts";
import { describeSession } from "../../contracts/storage-samples.ts";

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "storage-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function embedded(database: Database, options: Partial<EmbeddedStorageOptions> = {}): CarryingStorage {
  return createEmbeddedStorage({
    database,
    clock: systemClock,
    logger: fakeLogger(),
    describe: describeSession,
    ...options,
  });
}

export const embeddedHarness: StorageHarness = {
  exempt: {},
  async open() {
    const file = join(temporaryFolder(), "store.sqlite");
    const failing = failingDriver();
    let database = openDatabase(file, { driver: failing.driver });
    onTestFinished(() => {
      failing.mend();
      database.close();
    });
    return {
      storage: embedded(database),
      async reopen() {
        database.close();
        database = openDatabase(file);
        return embedded(database);
      },
      close: () => database.close(),
      damage: (key) => damageValue(database, key),
      breakStore: failing.fail,
      contents: () => contentsOf(database),
    };
  },
};

export function damageValue(database: Database, key: string): void {
  const changed = database.prepare(`UPDATE kv SET value = '{"half' WHERE key LIKE '%' || ?`).run(key);
  if (changed !== 1) throw new Error(`no value ends in ${key}`);
}

/** Values and rows; revisions are random and left out. */
export function contentsOf(database: Database): string {
  const values = database.prepare("SELECT key, value FROM kv ORDER BY key").all();
  const rows = database
    .prepare("SELECT key, label, session_id, search, json FROM session_index ORDER BY key")
    .all();
  return JSON.stringify([values, rows]);
}

/** libsql until `fail` is called; then a disk that cannot be read or written. */
function failingDriver(): { readonly driver: SqliteDriver; fail(): void; mend(): void } {
  const Real: SqliteDriver = createRequire(import.meta.url)("libsql");
  let isBroken = false;
  const attempt = <T>(work: () => T): T => {
    if (isBroken) throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_READ" });
    return work();
  };
  class Failing extends Real {
    override prepare(sql: string) {
      const statement = super.prepare(sql);
      return {
        get: (values: never) => attempt(() => statement.get(values)),
        all: (values: never) => attempt(() => statement.all(values)),
        run: (values: never) => attempt(() => statement.run(values)),
      };
    }
    override exec(sql: string) {
      return attempt(() => super.exec(sql));
    }
  }
  return {
    driver: Failing,
    fail: () => {
      isBroken = true;
    },
    mend: () => {
      isBroken = false;
    },
  };
}
