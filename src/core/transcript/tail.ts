import type { TranscriptEntry } from "../ports/run.ts";
import type { Transcripts } from "../ports/storage.ts";
import { isShown } from "./history-view.ts";

export interface Tail {
  /** Oldest first, consecutive; at most `limit` of them are shown. */
  readonly entries: readonly TranscriptEntry[];
  readonly totalEntries: number;
  readonly damaged: readonly string[];
}

/** Rows to read at most: a transcript of tool results alone costs a bounded read, and behind a usual run of them the message is found. */
const READ_AHEAD = 5;
const ALWAYS_READ = 250;

/** The newest rows before `beforeSeq` until `limit` of them are to be shown. Costs what it reads, never the whole transcript. */
export async function readTail(
  transcripts: Transcripts,
  sessionId: string,
  at: { readonly beforeSeq?: number; readonly limit: number; readonly includeTools: boolean },
): Promise<Tail> {
  const most = Math.max(at.limit * READ_AHEAD, ALWAYS_READ);
  let entries: readonly TranscriptEntry[] = [];
  let damaged: readonly string[] = [];
  let beforeSeq = at.beforeSeq;
  for (;;) {
    const page = await transcripts.page(sessionId, {
      // As much again as there is: few steps, however many rows are hidden.
      limit: Math.min(Math.max(at.limit, entries.length), most - entries.length),
      ...(beforeSeq === undefined ? {} : { beforeSeq }),
    });
    entries = [...page.entries, ...entries];
    damaged = [...page.damaged, ...damaged];
    beforeSeq = page.entries[0]?.seq ?? 1;
    const wanted = newestShown(entries, at);
    if (wanted !== undefined || beforeSeq <= 1 || entries.length >= most) {
      return { entries: wanted ?? entries, totalEntries: page.totalEntries, damaged };
    }
  }
}

/** From the end, until `limit` rows are to be shown; undefined: there are not so many. */
export function newestShown(
  entries: readonly TranscriptEntry[],
  { limit, includeTools }: { readonly limit: number; readonly includeTools: boolean },
): readonly TranscriptEntry[] | undefined {
  let shown = 0;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (entry !== undefined && isShown(entry, includeTools)) shown += 1;
    if (shown === limit) return entries.slice(at);
  }
  return undefined;
}
