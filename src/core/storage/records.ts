import type { SessionIds } from "../engine/sqlite/session-ids.ts";
import { SwitchboardError } from "../errors.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Change, Records, RecordWrite, Tables } from "../ports/storage.ts";
import { type Stored, storageKey, type Values } from "./values.ts";

/** One table of records on any Keyv; `update` comes from whoever knows how its store changes a value atomically. */
export function createRecords<T extends keyof Tables>(
  table: T,
  values: Values,
  update: Records<Tables[T]>["update"],
): Records<Tables[T]> {
  const getMany = async (keys: readonly string[]) => {
    const found = await values.read(keys.map((key) => recordKey(table, key)));
    return found.map((stored, i) => recordOf(table, keys[i] ?? "", stored));
  };
  return { get: async (key) => (await getMany([key]))[0], getMany, update };
}

export function recordKey(table: keyof Tables, key: string): string {
  return `${table}/${key}`;
}

/** STORE_CORRUPT with the place when it is damaged. */
export function recordOf<T extends keyof Tables>(
  table: T,
  key: string,
  stored: Stored,
): Tables[T] | undefined {
  if (stored === "absent") return undefined;
  if (stored === "damaged" || typeof stored.value !== "object" || stored.value === null) {
    throw new SwitchboardError(
      "STORE_CORRUPT",
      `The ${table} record "${key}" (stored as "${storageKey(recordKey(table, key))}") cannot be read. ` +
        "Nothing was changed. Restore it from a backup, or delete it to begin anew.",
      { details: { table, key } },
    );
  }
  // Only this package writes under this key, and only values of this table.
  return stored.value as Tables[T];
}

export type How = Pick<RecordWrite, "evenDamaged">;

/** What such a write finds there. */
export function foundBy(how: How | undefined, stored: Stored): Stored {
  return how?.evenDamaged === true && stored === "damaged" ? "absent" : stored;
}

/** What an index row is made of; undefined when the record cannot be read as a session. */
export function sessionOf(stored: Stored): Session | undefined {
  if (typeof stored !== "object") return undefined;
  // Checked in the next lines, as far as an index needs it.
  const session = (stored.value ?? {}) as Partial<Session>;
  const names = [session.key, session.agentId, session.sessionId];
  const isSession = names.every((name) => typeof name === "string") && Number.isFinite(session.updatedAtMs);
  return isSession ? (session as Session) : undefined;
}

/** Where the session moved; undefined too when it has yet to come, or when the record cannot be read. */
export function movedOf(stored: Stored): SessionKey | undefined {
  // Checked in the next line.
  const record = typeof stored === "object" ? (stored.value as Partial<Tables["moved"]> | null) : null;
  return typeof record?.to === "string" && record.awaited === undefined ? record.to : undefined;
}

/** What was said follows a session that has moved. */
export function followMove(
  ids: Pick<SessionIds, "move">,
  from: SessionKey,
  { to, awaited }: Tables["moved"],
): void {
  if (awaited === undefined) ids.move(from, to);
}

/** The change fits the table beside it, which TypeScript does not see across a union. */
export function changeOf({ change }: RecordWrite): Change<Tables[keyof Tables]> {
  return change as Change<Tables[keyof Tables]>;
}
