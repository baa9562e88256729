import type { SessionKey } from "../../ports/session.ts";
import type { Database } from "./database.ts";

/** Sessions whose record, in another store, is being changed: after a crash their index rows have to be derived again. */
export interface ExpectedKeys {
  add(key: SessionKey): void;
  remove(key: SessionKey): void;
  all(): readonly SessionKey[];
}

export function createExpectedKeys(database: Database): ExpectedKeys {
  database.exec("CREATE TABLE IF NOT EXISTS session_index_expected (key TEXT NOT NULL UNIQUE)");
  const add = database.prepare("INSERT OR IGNORE INTO session_index_expected VALUES (?)");
  const remove = database.prepare("DELETE FROM session_index_expected WHERE key = ?");
  const all = database.prepare("SELECT key FROM session_index_expected");
  return {
    add: (key) => void add.run(key),
    remove: (key) => void remove.run(key),
    all: () => all.all<{ key: SessionKey }>().map(({ key }) => key),
  };
}
