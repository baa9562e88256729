import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../src/core/clock.ts";
import { type Database, openDatabase } from "../src/core/engine/sqlite/database.ts";
import { quietLogger } from "../src/core/logger.ts";
import type { TranscriptEntry } from "../src/core/ports/run.ts";
import type { Session, SessionKey } from "../src/core/ports/session.ts";
import type { Write } from "../src/core/ports/storage.ts";
import { displayName, kindOf } from "../src/core/session/describe.ts";
import { canonicalKey, type KeyNames } from "../src/core/session/key.ts";
import { createEmbeddedStorage } from "../src/core/storage/embedded.ts";

export const NAMES: KeyNames = { defaultAgentId: "main", mainKey: "main", scope: "per-sender" };

/** The store of a data folder, as the switchboard opens it, without a mirror. */
export function openSeed(dataDir: string): {
  database: Database;
  apply(writes: readonly Write[]): Promise<void>;
} {
  const database = openDatabase(join(dataDir, "switchboard.sqlite"));
  const storage = createEmbeddedStorage({
    database,
    clock: systemClock,
    logger: quietLogger,
    describe: (session) => ({ kind: kindOf(session.key, NAMES, session), displayName: displayName(session) }),
    basis: JSON.stringify(NAMES),
  });
  return { database, apply: (writes) => storage.apply(writes) };
}

/** Group sessions of one agent, each with a route, a title and usage, as long-lived bots have them. */
export async function seedSessions(dataDir: string, from: number, to: number): Promise<void> {
  const { database, apply } = openSeed(dataDir);
  for (let at = from; at < to; at += 1000) {
    const writes = Array.from({ length: Math.min(1000, to - at) }, (_, i) => sessionWrite(aSession(at + i)));
    await apply(writes);
  }
  database.close();
}

/** A transcript of about `bytes`, in turns of a question and an answer of a kilobyte each. Resolves with the number of turns. */
export async function seedTranscript(dataDir: string, session: Session, bytes: number): Promise<number> {
  const { database, apply } = openSeed(dataDir);
  await apply([sessionWrite(session)]);
  const turns = Math.ceil(bytes / 2400);
  for (let at = 0; at < turns; at += 500) {
    await apply(Array.from({ length: Math.min(500, turns - at) }, (_, i) => turnWrite(session, at + i + 1)));
  }
  database.close();
  return turns;
}

export function aSession(number: number): Session {
  const chatId = String(10_000_000 + number);
  const route = {
    channel: "telegram",
    accountId: "default",
    chatType: "group" as const,
    chatId: `-100${chatId}`,
  };
  return {
    key: keyOf(`telegram:group:-100${chatId}`),
    agentId: "main",
    sessionId: randomUUID(),
    createdAtMs: 1_760_000_000_000,
    updatedAtMs: 1_760_000_000_000 + number,
    sessionStartedAtMs: 1_760_000_000_000,
    lastInteractionAtMs: 1_760_000_000_000 + number,
    channel: "telegram",
    chatType: "group",
    title: `Team ${number}`,
    ...(number % 100 === 0 ? { label: `label-${number}` } : {}),
    origin: route,
    route,
    model: "some-model",
    usage: { inputTokens: 1200, outputTokens: 300, totalTokens: 1500 },
    status: "done",
    startedAtMs: 1_760_000_000_000,
    endedAtMs: 1_760_000_001_000,
    systemSent: true,
    abortedLastRun: false,
  };
}

function keyOf(rest: string): SessionKey {
  const key = canonicalKey(rest, "main", NAMES);
  if (key === undefined) throw new Error(`${rest} makes no key.`);
  return key;
}

function sessionWrite(session: Session): Write {
  return { type: "record", table: "session", key: session.key, change: () => session };
}

const PROSE =
  "The release went out at nine and the checks were green; the team will look at the figures after lunch. ";

function turnWrite(session: Session, turn: number): Write {
  const runId = `in:${turn}`;
  const entry = (index: number, role: "user" | "assistant"): TranscriptEntry => ({
    id: `${runId}:${index}`,
    seq: (turn - 1) * 2 + index + 1,
    role,
    content: [{ type: "text", text: `${turn} ${PROSE.repeat(10)}` }],
    atMs: 1_760_000_000_000 + turn,
    runId,
  });
  return {
    type: "turn",
    sessionId: session.sessionId,
    sessionKey: session.key,
    turn,
    runId,
    entries: [entry(0, "user"), entry(1, "assistant")],
  };
}
