import { join } from "node:path";
import { Keyv } from "keyv";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { type Database, openDatabase } from "../../../src/core/engine/sqlite/database.ts";
import { createKeyvStorage, type KeyvStorageOptions } from "../../../src/core/storage/keyv-storage.ts";
import { createSqliteKeyv, type SqliteKeyv } from "../../../src/core/storage/sqlite-keyv.ts";
import type { CarryingStorage } from "../../../src/core/storage/storage.ts";
import { fakeLogger } from "../../contracts/fake-logger.ts";
import type { StorageHarness } from "../../contracts/storage-harness.ts";
import { describeSession } from "../../contracts/storage-samples.ts";
import { damageValue, temporaryFolder } from "./embedded-harness.ts";

export function keyvStorage(
  keyv: Keyv,
  database: Database,
  options: Partial<KeyvStorageOptions> = {},
): Promise<CarryingStorage> {
  return createKeyvStorage({
    keyv,
    database,
    clock: systemClock,
    logger: fakeLogger(),
    describe: describeSession,
    ...options,
  });
}

/** A database that is closed after the test. */
export function temporaryDatabase(): Database {
  const database = openDatabase(join(temporaryFolder(), "store.sqlite"));
  onTestFinished(() => database.close());
  return database;
}

const noTransactions = "Keyv has no transactions";

/** Keyv as people have it out of the box; its Map knows no getMany. */
export const memoryHarness: StorageHarness = {
  exempt: { survives: "a Map is memory", closed: "a Map has no end", "all or nothing": noTransactions },
  async open() {
    const store = new BreakableMap();
    const database = temporaryDatabase();
    const keyv = new Keyv({ store });
    return {
      storage: await keyvStorage(keyv, database),
      reopen: () => keyvStorage(keyv, database),
      close: () => undefined,
      damage: (key) => store.set(`keyv:bot-switchboard/${key}`, '{"value":"half'),
      breakStore: () => {
        store.isBroken = true;
      },
      contents: () => JSON.stringify([...store.entries()].sort()) + rowsOf(database),
    };
  },
};

/** Keyv on a store of its own with getMany and setMany, as the Redis and Postgres adapters have them. */
export const adapterHarness: StorageHarness = {
  exempt: { "all or nothing": noTransactions, closed: "whoever hands the Keyv in closes it" },
  async open() {
    const values = temporaryDatabase();
    const index = temporaryDatabase();
    const store = createSqliteKeyv(values);
    const keyv = new Keyv({ store, namespace: "host" });
    return {
      storage: await keyvStorage(keyv, index),
      reopen: () => keyvStorage(new Keyv({ store: createSqliteKeyv(values), namespace: "host" }), index),
      close: () => undefined,
      damage: (key) => damageValue(values, key),
      breakStore: () => breakAdapter(store),
      contents: () =>
        JSON.stringify(values.prepare("SELECT key, value FROM kv ORDER BY key").all()) + rowsOf(index),
    };
  },
};

function rowsOf(database: Database): string {
  return JSON.stringify(database.prepare("SELECT key, json FROM session_index ORDER BY key").all());
}

export class BreakableMap extends Map<string, string> {
  isBroken = false;

  override get(key: string): string | undefined {
    this.#answer();
    return super.get(key);
  }
  override set(key: string, value: string): this {
    this.#answer();
    return super.set(key, value);
  }
  override delete(key: string): boolean {
    this.#answer();
    return super.delete(key);
  }
  #answer(): void {
    if (this.isBroken) throw new Error("connection refused");
  }
}

function breakAdapter(store: SqliteKeyv): void {
  const refuse = async (): Promise<never> => {
    throw new Error("connection refused");
  };
  Object.assign(store, { get: refuse, getMany: refuse, set: refuse, delete: refuse, deleteMany: refuse });
}
