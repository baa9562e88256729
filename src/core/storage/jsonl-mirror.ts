import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { messageOf } from "../errors.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { TurnWrite } from "../ports/storage.ts";
import { createMirrorWriter } from "./mirror-writer.ts";
import type { StoredTranscripts } from "./transcripts.ts";

/**
 * A JSONL file beside the store for each session id that is a UUID, for people and other tools. It follows the store and is
 * never read back as truth: one that is missing, damaged or behind is made anew from the store when its session is written next.
 */
export interface JsonlMirror {
  /** undefined for an id that cannot be a file name. */
  path(sessionId: string): string | undefined;
  /** To be called after the commit. Returns at once; the file follows within milliseconds. */
  written(write: TurnWrite): void;
  /** Compares with the store: makes a missing file, removes one without a transcript. Returns at once. */
  check(sessionId: string): void;
  /** Resolves when the files have everything that was written before the call. */
  flush(): Promise<void>;
}

export interface JsonlMirrorOptions {
  readonly folder: string;
  readonly transcripts: StoredTranscripts;
  readonly clock: Pick<Clock, "after">;
  readonly logger: Pick<Logger, "warn">;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Files between two looks at the event loop. */
const filesPerRound = 16;

export function createJsonlMirror({ folder, transcripts, clock, logger }: JsonlMirrorOptions): JsonlMirror {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const write = createMirrorWriter(transcripts, dirname(folder));
  const due = new Map<string, TurnWrite[]>();
  let isScheduled = false;
  let working: Promise<void> | undefined;

  const path = (sessionId: string) => (uuid.test(sessionId) ? join(folder, `${sessionId}.jsonl`) : undefined);

  const add = (sessionId: string, ...writes: readonly TurnWrite[]): void => {
    const waiting = due.get(sessionId);
    if (waiting) waiting.push(...writes);
    else due.set(sessionId, [...writes]);
    schedule();
  };
  const schedule = (): void => {
    if (isScheduled || working || due.size === 0) return;
    isScheduled = true;
    clock.after(0, () => void flush());
  };
  const flush = (): Promise<void> => {
    isScheduled = false;
    working ??= drain().finally(() => {
      working = undefined;
      schedule();
    });
    return working;
  };

  const drain = async (): Promise<void> => {
    let done = 0;
    for (const [sessionId, writes] of due) {
      due.delete(sessionId);
      await follow(sessionId, writes);
      if (++done % filesPerRound === 0) await setImmediate();
    }
  };
  const follow = async (sessionId: string, writes: readonly TurnWrite[]): Promise<void> => {
    const file = path(sessionId);
    if (file === undefined) return;
    try {
      await write(sessionId, file, writes);
    } catch (error) {
      logger.warn(
        { sessionId, error: messageOf(error) },
        "A transcript mirror was not written; the transcript is safe.",
      );
    }
  };

  return { path, flush, written: (turn) => add(turn.sessionId, turn), check: (sessionId) => add(sessionId) };
}
