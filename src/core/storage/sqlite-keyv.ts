import type { KeyvStoreAdapter } from "keyv";
import type { Database } from "../engine/sqlite/database.ts";
import { SwitchboardError } from "../errors.ts";

/** A Keyv store on a table of the SQLite file. What ends in `Now` is synchronous and may be called inside a transaction. */
export interface SqliteKeyv extends KeyvStoreAdapter {
  readNow(key: string): string | undefined;
  writeNow(key: string, text: string): void;
  /** false = there was nothing. */
  deleteNow(key: string): boolean;
  /** Entries whose key begins with `prefix`, by key, read in steps. */
  entriesNow(prefix: string): Iterable<readonly [key: string, text: string]>;
}

const schema =
  "CREATE TABLE IF NOT EXISTS kv (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL)";
const rowsPerStep = 500;

/**
 * Every Keyv needs a store of its own: Keyv writes its namespace on the store object, and the last one would win.
 * Times to live are inside Keyv's texts; there is no `has`, so that Keyv reads the text and sees whether it has expired.
 */
export function createSqliteKeyv(database: Database): SqliteKeyv {
  database.exec(schema);
  const read = database.prepare("SELECT value FROM kv WHERE key = ?");
  const readMany = database.prepare(
    "SELECT kv.value FROM json_each(?) AS wanted LEFT JOIN kv ON kv.key = wanted.value ORDER BY wanted.key",
  );
  const write = database.prepare(
    "INSERT INTO kv (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  const remove = database.prepare("DELETE FROM kv WHERE key = ?");
  const removeRange = database.prepare("DELETE FROM kv WHERE key >= ? AND key < ?");
  const step = database.prepare(
    `SELECT key, value FROM kv WHERE key > ? AND key < ? ORDER BY key LIMIT ${rowsPerStep}`,
  );

  const readNow = (key: string) => read.get<{ value: string }>(key)?.value;
  const deleteNow = (key: string) => remove.run(key) > 0;
  const writeNow = (key: string, text: string) => {
    refuseNul(key, text);
    write.run(key, text);
  };
  function* entriesNow(prefix: string): Iterable<[string, string]> {
    for (let after = prefix; ; ) {
      const rows = step.all<{ key: string; value: string }>(after, endOf(prefix));
      for (const { key, value } of rows) yield [key, value];
      const last = rows.at(-1);
      if (!last || rows.length < rowsPerStep) return;
      after = last.key;
    }
  }

  // Keyv gives and takes serialised texts here; its types speak of the values inside, hence `any`.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  type Text = any;
  return {
    readNow,
    writeNow,
    deleteNow,
    entriesNow,
    // The name under which Keyv offers iteration.
    opts: { dialect: "sqlite" },
    namespace: undefined,
    get: async (key): Promise<Text> => readNow(key),
    async getMany(keys): Promise<Text> {
      const rows = readMany.all<{ value: string | null }>(JSON.stringify(keys));
      return rows.map((row) => row.value ?? undefined);
    },
    set: async (key, text: string) => writeNow(key, text),
    async setMany(entries) {
      database.transaction(() => {
        for (const { key, value } of entries) writeNow(key, value);
      });
    },
    delete: async (key) => deleteNow(key),
    deleteMany: async (keys) => database.transaction(() => keys.map(deleteNow).some((wasThere) => wasThere)),
    async clear() {
      const prefix = prefixOf(this.namespace);
      removeRange.run(prefix, endOf(prefix));
    },
    async *iterator(namespace): AsyncGenerator<Text> {
      yield* entriesNow(prefixOf(namespace));
    },
    /** Errors are thrown, never emitted. */
    on() {
      return this;
    },
  };
}

/** Keyv puts its namespace before the key itself. */
function prefixOf(namespace: string | undefined): string {
  return namespace ? `${namespace}:` : "";
}

/** Above every key that begins with `prefix`: U+10FFFF is the highest character there is, and no one's key has it. */
function endOf(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}

/** The driver cuts texts at NUL when it reads them back. */
function refuseNul(key: string, text: string): void {
  if (!key.includes("\0") && !text.includes("\0")) return;
  throw new SwitchboardError(
    "INPUT_INVALID",
    "A key or value with a NUL character cannot be stored. Remove it.",
  );
}
