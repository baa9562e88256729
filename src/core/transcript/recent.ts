import type { TranscriptEntry } from "../ports/run.ts";
import type { Transcripts } from "../ports/storage.ts";

/** A room where people talk a lot among themselves costs a bounded read. */
const READ_AHEAD = 5;

/** The newest `limit` rows before `beforeSeq` of those that `choose` leaves, oldest first. Looks behind what it takes away, and never far. */
export async function readRecent(
  transcripts: Transcripts,
  sessionId: string,
  at: { readonly beforeSeq: number; readonly limit: number },
  choose: (entries: readonly TranscriptEntry[]) => readonly TranscriptEntry[],
): Promise<readonly TranscriptEntry[]> {
  const most = at.limit * READ_AHEAD;
  let entries: readonly TranscriptEntry[] = [];
  let { beforeSeq } = at;
  for (;;) {
    const page = await transcripts.page(sessionId, {
      beforeSeq,
      limit: Math.min(Math.max(at.limit, entries.length), most - entries.length),
    });
    entries = [...page.entries, ...entries];
    beforeSeq = page.entries[0]?.seq ?? 1;
    const chosen = choose(entries);
    if (chosen.length >= at.limit || beforeSeq <= 1 || entries.length >= most) {
      return chosen.slice(Math.max(0, chosen.length - at.limit));
    }
  }
}
