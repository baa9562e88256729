import { join } from "node:path";
import { onTestFinished } from "vitest";
import { scriptedAgent } from "../../src/agents/scripted-agent.ts";
import { type Database, openDatabase } from "../../src/core/engine/sqlite/database.ts";
import type { NewEntry, TranscriptEntry } from "../../src/core/ports/run.ts";
import type { Session } from "../../src/core/ports/session.ts";
import type { Write } from "../../src/core/ports/storage.ts";
import { createBasics, type SwitchboardOptions } from "../../src/options.ts";
import { openStore } from "../../src/wiring.ts";
import { aSession } from "../core/session/a-session.ts";

/** What an earlier process of ours left in a folder. Open the board on it afterwards. */
export async function leaveBehind(
  dataDir: string,
  writes: readonly Write[],
  options: Omit<SwitchboardOptions, "agents" | "dataDir"> = {},
): Promise<void> {
  const all = { agents: { main: scriptedAgent(() => "ok") }, ...options, dataDir };
  const store = await openStore(all, createBasics(all));
  await store.storage.apply(writes);
  await store.engine.close();
  await store.storage.flush();
  store.database.close();
}

/** A session as it is stored; its session id ends in `n`, and larger ones are newer. */
export function storedSession(n: number, key: string, over: Partial<Session> = {}): Session {
  const updatedAtMs = 1_790_000_000_000 + n * 1000;
  return aSession(key, { sessionId: sessionIdOf(n), updatedAtMs, sessionStartedAtMs: updatedAtMs, ...over });
}

export function sessionIdOf(n: number): string {
  return `5e550000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

export function sessionWrite(session: Session): Write {
  return { type: "record", table: "session", key: session.key, change: () => session };
}

/** Turns of these rows, numbered without gaps. */
export function turnWrites(session: Session, turns: readonly (readonly NewEntry[])[]): readonly Write[] {
  let seq = 0;
  return turns.map((rows, index): Write => {
    const runId = `earlier-${index + 1}`;
    const entries = rows.map((row): TranscriptEntry => {
      seq += 1;
      return { ...row, id: `${runId}:${seq}`, seq };
    });
    const { key: sessionKey, sessionId } = session;
    return { type: "turn", sessionId, sessionKey, turn: index + 1, runId, entries };
  });
}

export function said(role: NewEntry["role"], text: string, over: Partial<NewEntry> = {}): NewEntry {
  return { role, content: [{ type: "text", text }], atMs: 1_700_000_000_000, ...over };
}

/** A call of a tool and its result, as two rows. */
export function toolRows(id: string, result: string): readonly NewEntry[] {
  const call = { type: "toolCall", id, name: "lookup", arguments: { of: id } } as const;
  const answer = { type: "toolResult", id, name: "lookup", text: result, isError: false } as const;
  return [
    { role: "assistant", content: [call], atMs: 1_700_000_000_000 },
    { role: "toolResult", content: [answer], atMs: 1_700_000_000_000 },
  ];
}

/** The SQLite file of a board, opened beside it. */
export function fileOf(dataDir: string): Database {
  const database = openDatabase(join(dataDir, "switchboard.sqlite"));
  onTestFinished(() => database.close());
  return database;
}

/** Every row of every table. */
export function dumpOf(database: Database): string {
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  const rowsOf = (name: string) => database.prepare(`SELECT * FROM ${name} ORDER BY 1`).all();
  return tables
    .all<{ name: string }>()
    .map(({ name }) => `${name} ${JSON.stringify(rowsOf(name))}`)
    .join("\n");
}
