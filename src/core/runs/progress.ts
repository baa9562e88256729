import { messageOf } from "../errors.ts";
import type { NewEntry, RunRequest } from "../ports/run.ts";
import { boundedEntry } from "./bounds.ts";
import type { ExecutorParts, RunPlace } from "./executor-parts.ts";
import { toPayload } from "./job.ts";
import { turnWrite } from "./turn.ts";

/** Reports are written at most so often; the last one in between is the one that is written. */
const WRITE_EVERY_MS = 1000;

/** What a running run reports, written into its turn as it comes. The settlement writes the same turn once more, so a report only ever runs ahead. */
export function reportProgress(
  { run, job, session, turn, batched }: RunPlace,
  input: NewEntry,
  { storage, clock, logger }: Pick<ExecutorParts, "storage" | "clock" | "logger">,
): { readonly report: RunRequest["report"]; end(): Promise<void> } {
  let latest: (() => readonly NewEntry[]) | undefined;
  let cancelTimer: (() => void) | undefined;
  let writing = Promise.resolve();
  let over = false;

  async function write(): Promise<void> {
    const entries = latest;
    latest = undefined;
    if (entries === undefined || run.signal.aborted) return;
    try {
      // Fails when the claim is lost: the turn is another worker's by then.
      await run.checkpoint(toPayload(job));
      const rows = [...batched, input, ...entries().map(boundedEntry)];
      await storage.apply([turnWrite(session, turn, run.id, rows)]);
    } catch (error) {
      logger.warn({ runId: run.id, error: messageOf(error) }, "The progress of a run could not be written");
    }
  }

  return {
    report(entries) {
      if (over) return;
      latest = entries;
      cancelTimer ??= clock.after(WRITE_EVERY_MS, () => {
        cancelTimer = undefined;
        writing = writing.then(write);
      });
    },
    async end() {
      over = true;
      cancelTimer?.();
      await writing;
    },
  };
}
