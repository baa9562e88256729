import { Keyv } from "keyv";
import type { TranscriptOwner } from "../engine/sqlite/session-ids.ts";
import { createSessionIndex, type SessionIndexOptions } from "../engine/sqlite/session-index.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Change, Tables, TurnWrite, Write } from "../ports/storage.ts";
import {
  changeOf,
  followMove,
  foundBy,
  type How,
  movedOf,
  recordKey,
  recordOf,
  sessionOf,
} from "./records.ts";
import { createSqliteKeyv, type SqliteKeyv } from "./sqlite-keyv.ts";
import { type CarryingStorage, createStorage, type MirrorOptions } from "./storage.ts";
import { infoKey, infoOf, ownerOf, planTurn, turnKey, turnOf } from "./turns.ts";
import { createDecoder, createValues, decode, type Stored, storageKey } from "./values.ts";

export type EmbeddedStorageOptions = SessionIndexOptions & MirrorOptions;

/** The default: values, index and queue in one SQLite file, changed in one transaction. Closing the database closes it. */
export function createEmbeddedStorage(options: EmbeddedStorageOptions): CarryingStorage {
  const { database } = options;
  const store = createSqliteKeyv(database);
  const index = createSessionIndex(options);
  if (!index.isComplete()) database.transaction(() => index.rebuild(sessionsIn(store), ownersIn(store)));

  const decoder = createDecoder();
  const read = (key: string): Stored => {
    const place = storageKey(key);
    return decoder(place, store.readNow(place));
  };

  const changeNow = <T extends keyof Tables>(table: T, key: string, change: Change<Tables[T]>, how?: How) => {
    const place = recordKey(table, key);
    const current = recordOf(table, key, foundBy(how, read(place)));
    const next = change(current);
    if (next === current) return current;
    if (next === undefined) {
      store.deleteNow(storageKey(place));
      if (table === "session") index.remove(key as SessionKey);
      return undefined;
    }
    const json = JSON.stringify(next);
    store.writeNow(storageKey(place), json);
    if (table === "session") index.touch(next as Session, json);
    if (table === "moved") followMove(index.ids, key as SessionKey, next as Tables["moved"]);
    return next;
  };

  const turnNow = (write: TurnWrite): void => {
    const info = infoOf(write.sessionId, read(infoKey(write.sessionId)));
    const place = turnKey(write.sessionId, write.turn);
    const older = info && write.turn < info.turns ? turnOf(read(place)) : undefined;
    const planned = planTurn(write, info, older);
    if (info === undefined) index.ids.add(write.sessionId, write.sessionKey);
    store.writeNow(storageKey(place), JSON.stringify(planned.turn));
    store.writeNow(storageKey(infoKey(write.sessionId)), JSON.stringify(planned.info));
  };

  const applyNow = (writes: readonly Write[]): void => {
    for (const write of writes) {
      if (write.type === "turn") turnNow(write);
      else changeNow(write.table, write.key, changeOf(write), write);
    }
  };

  const changes = {
    update: async <T extends keyof Tables>(table: T, key: string, change: Change<Tables[T]>) =>
      database.transaction(() => changeNow(table, key, change)),
    apply: async (writes: readonly Write[]) => database.transaction(() => applyNow(writes)),
  };
  return {
    ...createStorage({ values: createValues(keyvOf(store), "", decoder), index, changes }, options),
    applyNow,
  };
}

/** Keys and texts go through as they are: there is one writer of this table, and it keeps its own names apart. */
function keyvOf(store: SqliteKeyv): Keyv<string> {
  return new Keyv<string>(store, {
    throwOnErrors: true,
    useKeyPrefix: false,
    namespace: "",
    // Every value is a text: see createValues.
    serialize: ({ value }) => value as string,
    deserialize: <V>(text: string) => ({ value: text as V }),
  });
}

/** A session whose record is damaged has no row; reading the record reports it. */
function* sessionsIn(store: SqliteKeyv): Iterable<Session> {
  for (const [, text] of store.entriesNow(recordKey("session", ""))) {
    const session = sessionOf(decode(text));
    if (session) yield session;
  }
}

/** Whose the transcripts are, those of chats that moved too. */
function* ownersIn(store: SqliteKeyv): Iterable<TranscriptOwner> {
  for (const [place, text] of store.entriesNow(infoKey(""))) {
    for (const [sessionId, key] of ownerOf(place, decode(text))) {
      const moved = decode(store.readNow(storageKey(recordKey("moved", key))));
      yield [sessionId, movedOf(moved) ?? key];
    }
  }
}
