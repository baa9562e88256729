import { LRUCache } from "lru-cache";
import { SwitchboardError } from "../../errors.ts";
import type { Session, SessionKey, SessionKind } from "../../ports/session.ts";
import type { Row, SessionIndex } from "../../ports/storage.ts";
import type { Database } from "./database.ts";
import { rowStatement, searchForm } from "./row-query.ts";
import { createSessionIds, type SessionIds, type TranscriptOwner } from "./session-ids.ts";

/** What a row says of its session besides the session itself. */
export interface SessionDescription {
  readonly kind: SessionKind;
  readonly displayName: string;
}

/** Synchronous changes, to be called inside the transaction that changes the record. */
export interface SqliteSessionIndex extends SessionIndex {
  /** `json`: the session as text, when the caller has it already. LABEL_IN_USE when it takes a label that another session of its agent has. */
  touch(session: Session, json?: string): void;
  /** Makes the row of a record that is there already; a label that another session has is left to that one. */
  restore(session: Session): void;
  remove(key: SessionKey): void;
  /** false: rows are missing, or were derived by other rules than `basis`. */
  isComplete(): boolean;
  /** Replaces all rows, and whose the transcripts are. */
  rebuild(sessions: Iterable<Session>, owners: Iterable<TranscriptOwner>): void;
  readonly ids: SessionIds;
}

export interface SessionIndexOptions {
  readonly database: Database;
  readonly describe: (session: Session) => SessionDescription;
  /** false: this session never has a row. Default: `unknown` and `global` have none. */
  readonly isListed?: (session: Session) => boolean;
  /** Names the settings that `describe` and `isListed` depend on: with others the rows have to be derived again. */
  readonly basis?: string;
}

/** Raised when a column means something else than before, or when there is something new to derive. */
const rules = 3;

// session_index_newest answers lists by itself: it holds every column that they filter by. It is read backwards: new entries
// at the end split fewer pages.
const schema = `
CREATE TABLE IF NOT EXISTS session_index (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, agent_id TEXT NOT NULL, kind TEXT NOT NULL, label TEXT,
  session_id TEXT NOT NULL, updated_at INTEGER NOT NULL, archived INTEGER NOT NULL, spawned_by TEXT,
  search TEXT NOT NULL, revision INTEGER NOT NULL, bytes INTEGER NOT NULL, json TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS session_index_key ON session_index (key);
CREATE INDEX IF NOT EXISTS session_index_newest
  ON session_index (archived, updated_at, key DESC, kind, agent_id, search, revision);
CREATE UNIQUE INDEX IF NOT EXISTS session_index_label ON session_index (label, agent_id) WHERE label IS NOT NULL;
CREATE INDEX IF NOT EXISTS session_index_session_id ON session_index (session_id);
CREATE INDEX IF NOT EXISTS session_index_spawned_by ON session_index (spawned_by) WHERE spawned_by IS NOT NULL;
CREATE TABLE IF NOT EXISTS session_index_basis (basis TEXT NOT NULL);
`;

/** Random, so that a row is never taken for another of the same id, also after a deletion. */
const newRevision = "random() & 9007199254740991";

const isNoWord = ({ key }: Session): boolean => key !== "unknown" && key !== "global";

const cachedRows = 2_000;

export function createSessionIndex(options: SessionIndexOptions): SqliteSessionIndex {
  const { database, basis = "" } = options;
  database.exec(schema);
  const rowsOf = createRowReader(database);
  const writer = createRowWriter(options);
  const ids = createSessionIds(database);
  const currentBasis = JSON.stringify([rules, basis]);
  const keysWhere = (condition: string) =>
    database.prepare(
      `SELECT key FROM session_index WHERE ${condition} ORDER BY updated_at DESC, key LIMIT ?`,
    );

  const someChildren = database.prepare(childrenOfSome);

  return {
    ...writer,
    ids,
    isComplete() {
      const found = database.prepare("SELECT basis FROM session_index_basis").get<{ basis: string }>();
      return found?.basis === currentBasis;
    },
    rebuild(sessions, owners) {
      database.exec("DELETE FROM session_index; DELETE FROM session_index_basis");
      for (const session of sessions) writer.restore(session);
      ids.rebuild(owners);
      database.prepare("INSERT INTO session_index_basis VALUES (?)").run(currentBasis);
    },
    async list(query) {
      const statement = rowStatement(query);
      if (!statement) return { rows: [], hasMore: false };
      const found = database.prepare(statement.sql).all<RowVersion>(...statement.values);
      return { rows: rowsOf(found.slice(0, query.limit)), hasMore: found.length > query.limit };
    },
    bySessionId: async (sessionId) => keysIn(keysWhere("session_id = ?").all(sessionId, -1)),
    sessionIds: async (key) => ids.of(key),
    byLabel: async (label, agentId, limit) =>
      agentId === undefined
        ? keysIn(keysWhere("label = ?").all(label, limit))
        : keysIn(keysWhere("label = ? AND agent_id = ?").all(label, agentId, limit)),
    children: async (key) => keysIn(keysWhere("spawned_by = ?").all(key, -1)),
    async childrenOf(keys, limit) {
      const found = new Map<SessionKey, SessionKey[]>();
      for (const { parent, key } of someChildren.all<Child>(JSON.stringify(keys), limit)) {
        found.set(parent, [...(found.get(parent) ?? []), key]);
      }
      return found;
    },
  };
}

const childrenOfSome = `
SELECT parent, key FROM (
  SELECT spawned_by AS parent, key, row_number() OVER (PARTITION BY spawned_by ORDER BY updated_at DESC, key) AS place
  FROM session_index WHERE spawned_by IN (SELECT value FROM json_each(?))
) WHERE place <= ? ORDER BY parent, place
`;

interface Child {
  readonly parent: SessionKey;
  readonly key: SessionKey;
}

/** The three changes of single rows. */
function createRowWriter({
  database,
  describe,
  isListed = isNoWord,
}: SessionIndexOptions): Pick<SqliteSessionIndex, "touch" | "restore" | "remove"> {
  // Most changes leave these three as they are, and their indexes alone.
  const update = database.prepare(
    `UPDATE session_index SET agent_id = ?, kind = ?, updated_at = ?, archived = ?, search = ?, bytes = ?, json = ?,
     revision = ${newRevision} WHERE key = ? AND label IS ? AND session_id = ? AND spawned_by IS ?`,
  );
  const upsert = database.prepare(
    `INSERT INTO session_index
       (agent_id, kind, updated_at, archived, search, bytes, json, key, label, session_id, spawned_by, revision)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${newRevision})
     ON CONFLICT (key) DO UPDATE SET agent_id = excluded.agent_id, kind = excluded.kind, updated_at = excluded.updated_at,
       archived = excluded.archived, search = excluded.search, bytes = excluded.bytes, json = excluded.json,
       label = excluded.label, session_id = excluded.session_id, spawned_by = excluded.spawned_by, revision = excluded.revision`,
  );

  const remove = database.prepare("DELETE FROM session_index WHERE key = ?");
  const holder = database.prepare(
    "SELECT key FROM session_index WHERE label = ? AND agent_id = ? AND key <> ?",
  );
  const labelBefore = database.prepare(
    "SELECT json_extract(json, '$.label') AS label FROM session_index WHERE key = ?",
  );

  const isTaken = ({ label, agentId, key }: Session): boolean =>
    label !== undefined && holder.get(label.normalize("NFC"), agentId, key) !== undefined;

  const columnsOf = (session: Session, json: string, label: string | undefined) => {
    const { kind, displayName } = describe(session);
    return [
      session.agentId,
      kind,
      session.updatedAtMs,
      session.archivedAtMs === undefined ? 0 : 1,
      searchable(session, displayName),
      Buffer.byteLength(json),
      json,
      session.key,
      label?.normalize("NFC") ?? null,
      session.sessionId,
      session.spawnedBy ?? null,
    ];
  };

  const restore = (session: Session, json = JSON.stringify(session)): void => {
    if (!isListed(session)) return;
    upsert.run(...columnsOf(session, json, isTaken(session) ? undefined : session.label));
  };
  return {
    restore,
    touch(session, json = JSON.stringify(session)) {
      if (!isListed(session)) return;
      if (update.run(...columnsOf(session, json, session.label)) > 0) return;
      const takesLabel = labelBefore.get<{ label: string }>(session.key)?.label !== session.label;
      if (takesLabel && isTaken(session)) throw labelInUse(session);
      restore(session, json);
    },
    remove: (key) => void remove.run(key),
  };
}

interface RowVersion {
  readonly id: number;
  readonly revision: number;
}

interface StoredRow extends RowVersion {
  readonly kind: SessionKind;
  readonly bytes: number;
  readonly json: string;
}

/** Rows by id, in the order given. Parses only what has changed since it was read last, by whichever process. */
function createRowReader(database: Database): (versions: readonly RowVersion[]) => Row[] {
  const cache = new LRUCache<number, { readonly revision: number; readonly row: Row }>({ max: cachedRows });
  const read = database.prepare(
    "SELECT id, revision, kind, bytes, json FROM session_index WHERE id IN (SELECT value FROM json_each(?))",
  );
  return (versions) => {
    const rows = new Map<number, Row>();
    const stale: number[] = [];
    for (const { id, revision } of versions) {
      const known = cache.get(id);
      if (known?.revision === revision) rows.set(id, known.row);
      else stale.push(id);
    }
    const found = stale.length === 0 ? [] : read.all<StoredRow>(JSON.stringify(stale));
    for (const { id, revision, kind, bytes, json } of found) {
      const row = { session: JSON.parse(json), kind, bytes };
      rows.set(id, row);
      cache.set(id, { revision, row });
    }
    // A row that is gone since its version was read is left out.
    return versions.flatMap(({ id }) => rows.get(id) ?? []);
  };
}

function labelInUse({ label, agentId }: Session): SwitchboardError {
  return new SwitchboardError(
    "LABEL_IN_USE",
    `Another session of agent "${agentId}" has the label ${JSON.stringify(label)}. Choose another one, or clear it there first.`,
  );
}

function keysIn(rows: readonly { readonly key: SessionKey }[]): SessionKey[] {
  return rows.map(({ key }) => key);
}

function searchable({ label, title, sessionId, key }: Session, displayName: string): string {
  return searchForm(
    [displayName, label, title, sessionId, key].filter((text) => text !== undefined).join("\n"),
  );
}
