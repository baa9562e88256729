import type { NewEntry, TranscriptEntry } from "../ports/run.ts";
import type { Session } from "../ports/session.ts";
import type { TranscriptInfo, TurnWrite } from "../ports/storage.ts";

/** Where a run's rows go in its transcript. Runs of a session are serial, so the place is its own until it settles. */
export interface TurnPlace {
  readonly turn: number;
  readonly firstSeq: number;
}

/** The next turn; a run that is executed again (a store without transactions had already taken its turn) gets the same one. */
export function placeOf(info: TranscriptInfo | undefined, runId: string): TurnPlace {
  if (info === undefined) return { turn: 1, firstSeq: 1 };
  if (info.lastRunId === runId) return { turn: info.turns, firstSeq: info.lastTurnSeq };
  return { turn: info.turns + 1, firstSeq: info.lastSeq + 1 };
}

export function numbered(entry: NewEntry, place: TurnPlace, index: number, runId: string): TranscriptEntry {
  return { ...entry, id: `${runId}:${index}`, seq: place.firstSeq + index };
}

export function turnWrite(
  session: Session,
  place: TurnPlace,
  runId: string,
  entries: readonly NewEntry[],
): TurnWrite {
  return {
    type: "turn",
    sessionId: session.sessionId,
    sessionKey: session.key,
    turn: place.turn,
    runId,
    entries: entries.map((entry, index) => numbered(entry, place, index, runId)),
  };
}
