import { setImmediate } from "node:timers/promises";
import type { TranscriptEntry } from "../ports/run.ts";
import type { TranscriptInfo, TranscriptPage, Transcripts } from "../ports/storage.ts";
import { infoKey, infoOf, type StoredTurn, turnKey, turnOf } from "./turns.ts";
import type { Values } from "./values.ts";

/** Transcripts on any Keyv: one key per turn, and a small one per session id that counts them. */
export interface StoredTranscripts extends Transcripts {
  /** Turns `from` to `to`; undefined where one cannot be read. */
  turns(sessionId: string, from: number, to: number): Promise<readonly (StoredTurn | undefined)[]>;
}

const largestStep = 256;
/** A page gives up after so many turns that cannot be read: with more, the transcript is lost. */
const damageLimit = 100;

export function createTranscripts(values: Values): StoredTranscripts {
  const info = async (sessionId: string) => {
    const [stored = "absent"] = await values.read([infoKey(sessionId)]);
    return infoOf(sessionId, stored);
  };
  const turns: StoredTranscripts["turns"] = async (sessionId, from, to) => {
    const keys = Array.from({ length: to - from + 1 }, (_, i) => turnKey(sessionId, from + i));
    return (await values.read(keys)).map(turnOf);
  };
  return {
    info,
    turns,
    async page(sessionId, { beforeSeq = Number.POSITIVE_INFINITY, limit }): Promise<TranscriptPage> {
      const known = await info(sessionId);
      const totalEntries = known?.lastSeq ?? 0;
      const endSeq = Math.min(beforeSeq, totalEntries + 1);
      if (!known || endSeq <= 1 || limit < 1) return { entries: [], totalEntries, damaged: [] };
      const read = (from: number, to: number) => turns(sessionId, from, to);
      const newest = endSeq > totalEntries ? known.turns : await turnHolding(endSeq - 1, known, read);
      const rowsPerTurn = totalEntries / known.turns;
      return { totalEntries, ...(await collect({ newest, endSeq, limit, rowsPerTurn }, read)) };
    },
    async delete(sessionId) {
      const known = await info(sessionId);
      if (!known) return;
      // One more than counted: a crash between a turn and its count leaves that. The head goes last, so that a crash here can be repeated.
      const keys = Array.from({ length: known.turns + 1 }, (_, i) => turnKey(sessionId, i + 1));
      for (let i = 0; i < keys.length; i += largestStep) {
        await values.delete(keys.slice(i, i + largestStep));
        await setImmediate();
      }
      await values.delete([infoKey(sessionId)]);
    },
  };
}

type ReadTurns = (from: number, to: number) => Promise<readonly (StoredTurn | undefined)[]>;

interface PageStart {
  readonly newest: number;
  readonly endSeq: number;
  readonly limit: number;
  readonly rowsPerTurn: number;
}

/** Backwards from turn `newest`, until `limit` rows with seq < endSeq are there. */
async function collect(
  { newest, endSeq, limit, rowsPerTurn }: PageStart,
  read: ReadTurns,
): Promise<Pick<TranscriptPage, "entries" | "damaged">> {
  const parts: (readonly TranscriptEntry[])[] = [];
  const damaged: string[] = [];
  let missing = limit;
  let step = Math.ceil(limit / rowsPerTurn) + 1;
  for (let to = newest; to >= 1 && missing > 0 && damaged.length < damageLimit; ) {
    const from = Math.max(1, to - Math.min(step, largestStep) + 1);
    const turns = await read(from, to);
    for (let i = turns.length - 1; i >= 0 && missing > 0; i--) {
      const turn = turns[i];
      if (!turn) damaged.push(`turn ${from + i}`);
      const rows = turn?.entries.filter((entry) => entry.seq < endSeq).slice(-missing) ?? [];
      parts.push(rows);
      missing -= rows.length;
    }
    to = from - 1;
    step *= 2;
  }
  return { entries: parts.reverse().flat(), damaged: damaged.reverse() };
}

interface Position {
  readonly turn: number;
  readonly firstSeq: number;
}

/**
 * The turn with row `seq`, by halving and by guessing in turn: few reads when turns are alike, at most 2 log n when they are not.
 * Among turns that cannot be read the answer may be too high, never too low.
 */
async function turnHolding(seq: number, info: TranscriptInfo, read: ReadTurns): Promise<number> {
  let low: Position = { turn: 1, firstSeq: 1 };
  let high: Position = { turn: info.turns + 1, firstSeq: info.lastSeq + 1 };
  for (let round = 0; high.turn - low.turn > 1; round++) {
    const gap = high.turn - low.turn;
    const share = round % 2 === 0 ? (seq - low.firstSeq) / (high.firstSeq - low.firstSeq) : 0.5;
    const probe = low.turn + Math.min(Math.max(1, Math.floor(gap * share)), gap - 1);
    const found = await readableAtOrBelow(probe, low.turn, read);
    if (!found) low = { turn: probe, firstSeq: low.firstSeq };
    else if (found.firstSeq <= seq) low = found;
    else high = found;
  }
  return low.turn;
}

async function readableAtOrBelow(
  probe: number,
  above: number,
  read: ReadTurns,
): Promise<Position | undefined> {
  for (let turn = probe; turn > above; turn--) {
    const [found] = await read(turn, turn);
    if (found) return { turn, firstSeq: found.firstSeq };
  }
  return undefined;
}
