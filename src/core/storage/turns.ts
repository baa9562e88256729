import type { TranscriptOwner } from "../engine/sqlite/session-ids.ts";
import { SwitchboardError } from "../errors.ts";
import type { TranscriptEntry } from "../ports/run.ts";
import type { TranscriptInfo, TurnWrite } from "../ports/storage.ts";
import type { Stored } from "./values.ts";

/** One turn as it is stored. A turn without rows has the seq that its first row would have. */
export interface StoredTurn {
  readonly runId: string;
  readonly firstSeq: number;
  readonly entries: readonly TranscriptEntry[];
}

export function turnKey(sessionId: string, turn: number): string {
  return `turn/${sessionId}/${turn}`;
}

export function infoKey(sessionId: string): string {
  return `transcript/${sessionId}`;
}

/** Whose the transcript is whose head lies under `infoKey`; nothing when it cannot be read, as reading the transcript reports that. */
export function ownerOf(key: string, stored: Stored): readonly TranscriptOwner[] {
  const sessionId = key.slice(infoKey("").length);
  // Checked in the next line.
  const sessionKey =
    typeof stored === "object" ? (stored.value as Partial<TranscriptInfo> | null)?.sessionKey : undefined;
  return typeof sessionKey === "string" ? [[sessionId, sessionKey]] : [];
}

/**
 * What a turn write stores. `older` is the turn of that number as it is, needed when later ones follow it. Throws INTERNAL
 * rather than spoil a transcript: a turn belongs to its run, turns and rows have no gaps, only the newest turn changes its length.
 */
export function planTurn(
  write: TurnWrite,
  info: TranscriptInfo | undefined,
  older: StoredTurn | undefined,
): { readonly turn: StoredTurn; readonly info: TranscriptInfo } {
  const { entries, runId } = write;
  const { owner, firstSeq, length } = placeOf(write, info, older);
  if (owner !== undefined && owner !== runId) throw refused(write, `it belongs to run ${owner}`);
  if (length !== undefined && length !== entries.length) throw refused(write, "later turns follow it");
  if (!isNumbered(entries, firstSeq)) throw refused(write, `its rows must be numbered from ${firstSeq}`);

  const turn = { runId, firstSeq, entries };
  if (info && write.turn < info.turns) return { turn, info: { ...info, sessionKey: write.sessionKey } };
  const newest = {
    turns: write.turn,
    lastSeq: firstSeq + entries.length - 1,
    lastRunId: runId,
    lastTurnSeq: firstSeq,
  };
  return { turn, info: { sessionKey: write.sessionKey, ...newest } };
}

/** Where the turn begins and, as far as it is there, whose it is and how long it must stay. */
function placeOf(
  write: TurnWrite,
  info: TranscriptInfo | undefined,
  older: StoredTurn | undefined,
): { readonly firstSeq: number; readonly owner?: string; readonly length?: number } {
  const turns = info?.turns ?? 0;
  if (write.turn < 1 || write.turn > turns + 1) throw refused(write, `the newest turn is ${turns}`);
  if (!info || write.turn > turns) return { firstSeq: (info?.lastSeq ?? 0) + 1 };
  if (write.turn === turns) return { firstSeq: info.lastTurnSeq, owner: info.lastRunId };
  if (older) return { firstSeq: older.firstSeq, owner: older.runId, length: older.entries.length };
  throw refused(write, "it is damaged and later turns follow it");
}

function isNumbered(entries: readonly TranscriptEntry[], firstSeq: number): boolean {
  return entries.every((entry, i) => entry?.seq === firstSeq + i);
}

function refused(write: TurnWrite, reason: string): SwitchboardError {
  const what = `Turn ${write.turn} of session id ${write.sessionId} was not written for run ${write.runId}: ${reason}.`;
  return new SwitchboardError("INTERNAL", what);
}

/** undefined: missing or not a turn that we wrote. */
export function turnOf(stored: Stored): StoredTurn | undefined {
  if (stored === "absent" || stored === "damaged") return undefined;
  // Checked below, field by field.
  const { runId, firstSeq, entries } = (stored.value ?? {}) as Partial<StoredTurn>;
  if (typeof runId !== "string" || typeof firstSeq !== "number" || !Array.isArray(entries)) return undefined;
  return isNumbered(entries, firstSeq) ? { runId, firstSeq, entries } : undefined;
}

/** STORE_CORRUPT with the place when it is there and cannot be read. */
export function infoOf(sessionId: string, stored: Stored): TranscriptInfo | undefined {
  if (stored === "absent") return undefined;
  // Checked below, field by field.
  const info = stored === "damaged" ? null : (stored.value as Partial<TranscriptInfo> | null);
  const numbers = [info?.turns, info?.lastSeq, info?.lastTurnSeq];
  if (info?.sessionKey && typeof info.lastRunId === "string" && numbers.every(Number.isInteger)) {
    return info as TranscriptInfo;
  }
  throw new SwitchboardError(
    "STORE_CORRUPT",
    `The head of transcript ${sessionId} (stored as "${infoKey(sessionId)}") cannot be read. ` +
      "Nothing was changed. Restore it from a backup.",
    { details: { sessionId } },
  );
}
