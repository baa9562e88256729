import type { SessionDescription } from "../../src/core/engine/sqlite/session-index.ts";
import type { TranscriptEntry } from "../../src/core/ports/run.ts";
import type { Session, SessionKey } from "../../src/core/ports/session.ts";
import type { RecordWrite, RowQuery, TurnWrite } from "../../src/core/ports/storage.ts";

/** Keys are made by core/session/key.ts; these tests need only that they are texts. */
export function keyFor(text: string): SessionKey {
  return text as SessionKey;
}

/** A UUID that ends in `n`. */
export function idFor(n: number): string {
  return `5e550000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

export function aSession(n: number, overrides: Partial<Session> = {}): Session {
  return {
    key: keyFor(`agent:main:discord:channel:${n}`),
    agentId: "main",
    sessionId: idFor(n),
    createdAtMs: 1_000,
    updatedAtMs: 1_000 + n,
    sessionStartedAtMs: 1_000,
    channel: "discord",
    chatType: "channel",
    title: `Room ${n}`,
    ...overrides,
  };
}

/** As core/session/describe.ts would, in the simplest way that tells the kinds apart. */
export function describeSession({ key, title, chatType }: Session): SessionDescription {
  const kind = key.endsWith(":main")
    ? "main"
    : key.includes(":cron:")
      ? "cron"
      : chatType === "direct"
        ? "other"
        : "group";
  return { kind, displayName: `discord:lab#${title ?? "untitled"}` };
}

/** Stores the session as it is, whatever was there. */
export function sessionWrite(session: Session): RecordWrite {
  return { type: "record", table: "session", key: session.key, change: () => session };
}

export function anEntry(seq: number, text = `row ${seq}`): TranscriptEntry {
  const role = seq % 2 === 1 ? "user" : "assistant";
  return { id: `row-${seq}`, seq, role, content: [{ type: "text", text }], atMs: 1_700_000_000_000 + seq };
}

export function entriesFrom(firstSeq: number, count: number): TranscriptEntry[] {
  return Array.from({ length: count }, (_, i) => anEntry(firstSeq + i));
}

export function turnWrite(
  turn: number,
  entries: readonly TranscriptEntry[],
  overrides: Partial<TurnWrite> = {},
): TurnWrite {
  const sessionKey = keyFor("agent:main:discord:channel:1");
  return { type: "turn", sessionId: idFor(1), sessionKey, turn, runId: `run-${turn}`, entries, ...overrides };
}

/** Turns of these lengths, numbered without gaps. */
export function turnsOf(lengths: readonly number[], overrides: Partial<TurnWrite> = {}): TurnWrite[] {
  let seq = 1;
  return lengths.map((length, i) => {
    const write = turnWrite(i + 1, entriesFrom(seq, length), overrides);
    seq += length;
    return write;
  });
}

export function aQuery(overrides: Partial<RowQuery> = {}): RowQuery {
  return { scope: { agentIds: "all", keys: [] }, archived: false, offset: 0, limit: 50, ...overrides };
}
