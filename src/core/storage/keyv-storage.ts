import { Keyv } from "keyv";
import type { Database } from "../engine/sqlite/database.ts";
import { createExpectedKeys } from "../engine/sqlite/expected-keys.ts";
import type { TranscriptOwner } from "../engine/sqlite/session-ids.ts";
import { createSessionIndex, type SessionIndexOptions } from "../engine/sqlite/session-index.ts";
import { SwitchboardError } from "../errors.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Change, Storage, Tables, TurnWrite, Write } from "../ports/storage.ts";
import { createKeyLock } from "./key-lock.ts";
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
import { type CarryingStorage, createStorage, type MirrorOptions } from "./storage.ts";
import { infoKey, infoOf, ownerOf, planTurn, turnKey, turnOf } from "./turns.ts";
import { createValues, type Stored, type Values } from "./values.ts";

export interface KeyvStorageOptions extends SessionIndexOptions, MirrorOptions {
  readonly keyv: Keyv;
  /** Holds the index. */
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  /** In front of every key: instances with other prefixes may share the store. */
  readonly prefix?: string;
}

/**
 * Values in a store that the host chose, the index in SQLite. Keyv has no compare-and-swap and no transactions: changes are atomic
 * within this process only, so one process may write; writes follow one another, each can be repeated. Resolves when the index is
 * in step with the records.
 */
export async function createKeyvStorage(options: KeyvStorageOptions): Promise<CarryingStorage> {
  const { database, clock, logger } = options;
  const prefix = `${checkedPrefix(options.prefix ?? "bot-switchboard")}/`;
  const keyv = loud(options.keyv);
  const values = createValues(keyv, prefix);
  const basis = JSON.stringify([options.basis, await storeId(values, clock)]);
  const index = createSessionIndex({ ...options, basis });
  const expected = createExpectedKeys(database);
  const lock = createKeyLock();

  const read = async (key: string) => (await values.read([key]))[0] ?? "absent";

  const show = (key: SessionKey, session: Session | undefined): void =>
    session ? index.restore(session) : index.remove(key);

  const follow = (key: SessionKey, session: Session | undefined): void =>
    database.transaction(() => {
      show(key, session);
      expected.remove(key);
    });

  const put = (place: string, value: unknown): Promise<void> =>
    value === undefined ? values.delete([place]) : values.write(place, value);

  /** A label is taken in the index first: two sessions never have it at once, and a refusal changes nothing. */
  const putSession = async (place: string, key: SessionKey, next?: Session, current?: Session) => {
    const takesLabel = next?.label !== undefined && next.label !== current?.label;
    database.transaction(() => {
      if (takesLabel) index.touch(next);
      expected.add(key);
    });
    try {
      await put(place, next);
    } catch (error) {
      // Whether the record is the old or the new one shows at the next start: the key stays expected.
      show(key, current);
      throw error;
    }
    follow(key, next);
  };

  const update = <T extends keyof Tables>(table: T, key: string, change: Change<Tables[T]>, how?: How) => {
    const place = recordKey(table, key);
    return lock(place, async () => {
      const current = recordOf(table, key, foundBy(how, await read(place)));
      const next = change(current);
      if (next === current) return current;
      // The table says which type both values have.
      if (table !== "session") await put(place, next);
      else await putSession(place, key as SessionKey, next as Session, current as Session);
      if (table === "moved" && next) followMove(index.ids, key as SessionKey, next as Tables["moved"]);
      return next;
    });
  };

  /** The turn goes first: one that is not counted yet is written over by the next. */
  const putTurn = (write: TurnWrite): Promise<void> =>
    lock(infoKey(write.sessionId), async () => {
      const info = infoOf(write.sessionId, await read(infoKey(write.sessionId)));
      const place = turnKey(write.sessionId, write.turn);
      const older = info && write.turn < info.turns ? turnOf(await read(place)) : undefined;
      const planned = planTurn(write, info, older);
      if (info === undefined) index.ids.add(write.sessionId, write.sessionKey);
      await values.write(place, planned.turn);
      await values.write(infoKey(write.sessionId), planned.info);
    });

  const apply = async (writes: readonly Write[]): Promise<void> => {
    for (const write of writes) {
      if (write.type === "turn") await putTurn(write);
      else await update(write.table, write.key, changeOf(write), write);
    }
  };

  for (const key of expected.all()) {
    const stored = await read(recordKey("session", key));
    const session = sessionOf(stored);
    if (session || stored === "absent") follow(key, session);
    else logger.warn({ key }, notListed);
  }
  if (!index.isComplete()) {
    const all: FindStored = (start) => storedIn(keyv, values, prefix, start);
    const derived = [await sessionsIn(all, logger), await ownersIn(all, values)] as const;
    database.transaction(() => index.rebuild(...derived));
  }
  return withoutCarrying(createStorage({ values, index, changes: { update, apply } }, options), apply);
}

/** The values live elsewhere: they are written before a transaction, not in it. */
function withoutCarrying(
  storage: ReturnType<typeof createStorage>,
  before: Storage["apply"],
): CarryingStorage {
  return { ...storage, before, applyNow: () => undefined };
}

const keysPerStep = 200;
const notListed = "A damaged session record is not listed; reading it names the place.";

/** Tells this store's contents from those of another one, or of the same one after it was emptied. */
async function storeId(values: Values, clock: Clock): Promise<string> {
  const [stored] = await values.read(["store/id"]);
  if (typeof stored === "object" && typeof stored.value === "string") return stored.value;
  const id = clock.uuid();
  await values.write("store/id", id);
  return id;
}

/** Every session in the store. Read once, when there is no index yet; a store that cannot list its keys gives none. */
async function sessionsIn(all: FindStored, logger: Logger): Promise<Session[]> {
  const sessions: Session[] = [];
  for await (const [, stored] of all(recordKey("session", ""))) {
    const session = sessionOf(stored);
    if (session) sessions.push(session);
    else if (stored !== "absent") logger.warn({}, notListed);
  }
  return sessions;
}

/** Whose the transcripts are, those of chats that moved too. */
async function ownersIn(all: FindStored, values: Values): Promise<TranscriptOwner[]> {
  const owners: TranscriptOwner[] = [];
  for await (const [place, stored] of all(infoKey(""))) {
    for (const [sessionId, key] of ownerOf(place, stored)) {
      const [moved = "absent"] = await values.read([recordKey("moved", key)]);
      owners.push([sessionId, movedOf(moved) ?? key]);
    }
  }
  return owners;
}

type Found = readonly [key: string, stored: Stored];

type FindStored = (start: string) => AsyncIterable<Found>;

/** What lies under the keys that begin with `start`, whatever namespace is in front of them. */
async function* storedIn(
  keyv: Keyv<string>,
  values: Values,
  prefix: string,
  start: string,
): AsyncGenerator<Found> {
  const keys: string[] = [];
  for await (const place of placesIn(keyv)) {
    const at = place.lastIndexOf(prefix + start);
    if (at !== -1) keys.push(place.slice(at + prefix.length));
  }
  for (let i = 0; i < keys.length; i += keysPerStep) {
    const step = keys.slice(i, i + keysPerStep);
    const found = await values.read(step);
    for (const [n, key] of step.entries()) yield [key, found[n] ?? "absent"];
  }
}

async function* placesIn(keyv: Keyv<string>): AsyncGenerator<string> {
  const { store } = keyv;
  if (store instanceof Map) yield* store.keys();
  else if (typeof store.iterator === "function") {
    for await (const [place] of store.iterator(keyv.namespace)) yield place;
  }
}

/** The host's Keyv with the same store and settings, except that it throws when the store fails. The host's own stays as it is. */
function loud(keyv: Keyv): Keyv<string> {
  if (keyv.store.throwOnErrors === false) {
    throw new SwitchboardError(
      "CONFIG_INVALID",
      "The Keyv adapter hides errors, so a store that is down would look empty. Make it with { throwOnErrors: true }.",
    );
  }
  return new Keyv<string>({ ...keyv.opts, throwOnErrors: true });
}

function checkedPrefix(prefix: string): string {
  if (/^[\w.-]{1,40}$/.test(prefix)) return prefix;
  throw new SwitchboardError(
    "CONFIG_INVALID",
    `The store prefix "${prefix}" must be 1 to 40 letters, digits, dots, hyphens or underscores.`,
  );
}
