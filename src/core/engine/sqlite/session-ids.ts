import type { SessionKey } from "../../ports/session.ts";
import type { Database } from "./database.ts";

/** Whose transcript it is: [session id, session key]. */
export type TranscriptOwner = readonly [sessionId: string, key: SessionKey];

/** Every session id that has a transcript, by the session that it belongs to. Synchronous, to be called inside the transaction of the change. */
export interface SessionIds {
  of(key: SessionKey): readonly string[];
  add(sessionId: string, key: SessionKey): void;
  /** A chat that moved takes its transcripts along. */
  move(from: SessionKey, to: SessionKey): void;
  remove(sessionId: string): void;
  /** Replaces all. */
  rebuild(owners: Iterable<TranscriptOwner>): void;
}

const schema = `
CREATE TABLE IF NOT EXISTS session_ids (session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS session_ids_key ON session_ids (session_key);
`;

export function createSessionIds(database: Database): SessionIds {
  database.exec(schema);
  const of = database.prepare("SELECT session_id FROM session_ids WHERE session_key = ? ORDER BY session_id");
  const add = database.prepare("INSERT OR REPLACE INTO session_ids (session_id, session_key) VALUES (?, ?)");
  const move = database.prepare("UPDATE session_ids SET session_key = ? WHERE session_key = ?");
  const remove = database.prepare("DELETE FROM session_ids WHERE session_id = ?");
  return {
    of: (key) => of.all<{ session_id: string }>(key).map((row) => row.session_id),
    add: (sessionId, key) => void add.run(sessionId, key),
    move: (from, to) => void move.run(to, from),
    remove: (sessionId) => void remove.run(sessionId),
    rebuild(owners) {
      database.exec("DELETE FROM session_ids");
      for (const [sessionId, key] of owners) add.run(sessionId, key);
    },
  };
}
