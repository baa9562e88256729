import type { TranscriptEntry } from "../ports/run.ts";
import type { Transcripts } from "../ports/storage.ts";
import { isShown } from "./history-view.ts";

export interface Tail {
  /** Oldest first, consecutive; at most `limit` of them are shown. */
  readonly entries: readonly TranscriptEntry[];
  readonly totalEntries: number;
  readonly damaged: readonly string[];
}

/** Rows to read at most for each row that is shown, so that a transcript of tool results alone costs a bounded read. */
const READ_AHEAD = 5;

/** The newest rows before `beforeSeq` until `limit` of them are to be shown. Costs what it reads, never the whole transcript. */
export async function readTail(
  transcripts: Transcripts,
  sessionId: string,
  at: { readonly beforeSeq?: number; readonly limit: number; readonly includeTools: boolean },
): Promise<Tail> {
  let entries: readonly TranscriptEntry[] = [];
  let damaged: readonly string[] = [];
  let beforeSeq = at.beforeSeq;
  for (let budget = at.limit * READ_AHEAD; ; ) {
    const missing = at.limit - entries.filter((entry) => isShown(entry, at.includeTools)).length;
    const page = await transcripts.page(sessionId, {
      limit: missing,
      ...(beforeSeq === undefined ? {} : { beforeSeq }),
    });
    entries = [...page.entries, ...entries];
    damaged = [...page.damaged, ...damaged];
    budget -= Math.max(1, page.entries.length);
    const oldest = page.entries[0]?.seq ?? 1;
    beforeSeq = oldest;
    const shown = entries.filter((entry) => isShown(entry, at.includeTools)).length;
    if (shown >= at.limit || oldest <= 1 || page.entries.length === 0 || budget <= 0) {
      return { entries, totalEntries: page.totalEntries, damaged };
    }
  }
}
