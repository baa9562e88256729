import { createRequire } from "node:module";
import { resolve } from "node:path";
import { SwitchboardError } from "../../errors.ts";
import { databaseError, isBusy } from "./database-errors.ts";
import { prepareDatabaseFile, refuseTruncated } from "./database-file.ts";

/** No booleans and no undefined: the driver ends the process on the one and stores null for the other. */
export type SqlValue = string | number | null;

/** Rows are plain objects by column name; what else a driver hangs on them is not part of the row. */
export interface Statement {
  get<R>(...values: readonly SqlValue[]): R | undefined;
  all<R>(...values: readonly SqlValue[]): R[];
  /** How many rows were inserted, changed or deleted. */
  run(...values: readonly SqlValue[]): number;
}

/**
 * One SQLite file, one connection per process, all calls synchronous.
 * Everything rejects with STORE_CORRUPT or STORE_UNREACHABLE and the path, CLOSED after close, INTERNAL for a wrong statement.
 */
export interface Database {
  readonly file: string;
  /** Prepared once per text and kept: values go into parameters, never into the text. */
  prepare(sql: string): Statement;
  exec(sql: string): void;
  /** BEGIN IMMEDIATE, `work` (synchronous, no transaction inside), COMMIT; what it throws rolls back and is thrown on. */
  transaction<T>(work: () => T): T;
  /** A second call does nothing. */
  close(): void;
}

interface NativeStatement {
  get(values: readonly SqlValue[]): unknown;
  all(values: readonly SqlValue[]): unknown[];
  run(values: readonly SqlValue[]): { readonly changes: number };
}

interface NativeDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): NativeStatement;
  exec(sql: string): unknown;
  close(): unknown;
}

/** The part of better-sqlite3's class that is used; `libsql` has the same. */
export type SqliteDriver = new (file: string, options: { timeout: number }) => NativeDatabase;

/** "bsw1": marks the file as ours, so that another program's database is never taken over. */
const applicationId = 0x62737731;
const schemaVersion = 1;
const busyTimeoutMs = 5_000;
/** 32 MB of log: a checkpoint waits for the disk, so it should be rare. */
const pagesPerCheckpoint = 8000;
const beginAttempts = 3;

/**
 * Opens the store, making it when there is none. `durable`: every commit reaches the disk before it returns, so that it survives
 * a power cut too; without it a commit survives the death of the process. One driver per file and process: SQLite libraries
 * that do not know of each other ignore each other's locks.
 */
export function openDatabase(
  file: string,
  { durable = false, driver }: { readonly durable?: boolean; readonly driver?: SqliteDriver } = {},
): Database {
  const path = resolve(file);
  try {
    const Driver = driver ?? defaultDriver();
    prepareDatabaseFile(path, (emptyPath) => initialise(new Driver(emptyPath, { timeout: busyTimeoutMs })));
    const native = new Driver(path, { timeout: busyTimeoutMs });
    try {
      refuseForeign(native, path);
      refuseTruncated(path, pragma(native, "page_count"), pragma(native, "page_size"));
      native.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${durable ? "FULL" : "NORMAL"}; ` +
          `PRAGMA wal_autocheckpoint = ${pagesPerCheckpoint}`,
      );
    } catch (error) {
      native.close();
      throw error;
    }
    return connection(native, path);
  } catch (error) {
    throw databaseError(error, path);
  }
}

/** Loaded on first use: whoever hands in a driver does not need libsql's binary. */
function defaultDriver(): SqliteDriver {
  const require = createRequire(import.meta.url);
  try {
    return require("libsql");
  } catch (cause) {
    throw new SwitchboardError(
      "STORE_UNREACHABLE",
      "libsql's binary for this platform is missing. Run npm install without --omit=optional; it has binaries for Linux, macOS and Windows.",
      { cause },
    );
  }
}

/** No journal beside it: nobody knows the file yet. */
function initialise(native: NativeDatabase): void {
  native.exec(
    `PRAGMA journal_mode = MEMORY; BEGIN; PRAGMA application_id = ${applicationId}; ` +
      `PRAGMA user_version = ${schemaVersion}; COMMIT; PRAGMA journal_mode = WAL`,
  );
  native.close();
}

function refuseForeign(native: NativeDatabase, file: string): void {
  const id = pragma(native, "application_id");
  const version = pragma(native, "user_version");
  if (id !== applicationId) {
    throw new SwitchboardError(
      "STORE_CORRUPT",
      `${file} is not a store of bot-switchboard. Choose another dataDir or move the file away.`,
    );
  }
  if (version > schemaVersion) {
    throw new SwitchboardError(
      "STORE_CORRUPT",
      `The store ${file} was made by a newer bot-switchboard (schema ${version}, this one knows ${schemaVersion}). ` +
        "Update the package, or choose another dataDir.",
    );
  }
}

type NumberPragma = "application_id" | "user_version" | "page_count" | "page_size";

function pragma(native: NativeDatabase, name: NumberPragma): number {
  // A pragma's row is the driver's, untyped.
  return (native.prepare(`PRAGMA ${name}`).get([]) as Record<string, number>)[name] ?? 0;
}

function connection(native: NativeDatabase, file: string): Database {
  const statements = new Map<string, Statement>();
  let closed = false;

  const guarded = <T>(work: () => T): T => {
    if (closed)
      throw new SwitchboardError("CLOSED", "The store is closed. Nothing more can be read or written.");
    try {
      return work();
    } catch (error) {
      throw databaseError(error, file);
    }
  };

  // The casts to R: the caller names the shape of the row that its own SQL selects.
  const statement = (sql: string): Statement => {
    const prepared = guarded(() => native.prepare(sql));
    return {
      get: <R>(...values: readonly SqlValue[]) => guarded(() => prepared.get(values)) as R | undefined,
      all: <R>(...values: readonly SqlValue[]) => guarded(() => prepared.all(values)) as R[],
      run: (...values) => guarded(() => prepared.run(values)).changes,
    };
  };

  // Prepared: they are the most frequent statements of all.
  const beginImmediate = native.prepare("BEGIN IMMEDIATE");
  const commit = native.prepare("COMMIT");

  const begin = (attempt = 1): void => {
    try {
      beginImmediate.run([]);
    } catch (error) {
      if (!isBusy(error) || attempt === beginAttempts) throw error;
      begin(attempt + 1);
    }
  };

  return {
    file,
    prepare(sql) {
      const known = statements.get(sql);
      if (known) return known;
      const made = statement(sql);
      statements.set(sql, made);
      return made;
    },
    exec: (sql) => guarded(() => void native.exec(sql)),
    transaction(work) {
      if (!closed && native.inTransaction) {
        throw new SwitchboardError(
          "INTERNAL",
          "A transaction inside a transaction: do the work in the outer one.",
        );
      }
      guarded(begin);
      try {
        const result = work();
        guarded(() => commit.run([]));
        return result;
      } catch (error) {
        if (native.inTransaction) guarded(() => native.exec("ROLLBACK"));
        throw error;
      }
    },
    close() {
      if (closed) return;
      try {
        // Leaves one tidy file behind, unless another process still reads it.
        guarded(() => native.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)"));
      } finally {
        closed = true;
        statements.clear();
        native.close();
      }
    },
  };
}
