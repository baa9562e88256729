import { LRUCache } from "lru-cache";
import type { TurnWrite } from "../ports/storage.ts";
import { append, inspect, removeFile, replace, sizeOf } from "./mirror-file.ts";
import { firstStep, type GrowingFile, linesOf, stepFor } from "./mirror-steps.ts";
import { headerLine } from "./pi-session.ts";
import type { StoredTranscripts } from "./transcripts.ts";

/** Brings a file up to the store: appends these turns or, where that is not enough, makes it anew. Not twice at once for one file. */
export type MirrorWriter = (sessionId: string, path: string, writes: readonly TurnWrite[]) => Promise<void>;

const rememberedFiles = 1000;
const turnsPerStep = 64;

/** `cwd` stands in the head of each file. */
export function createMirrorWriter(transcripts: StoredTranscripts, cwd: string): MirrorWriter {
  const known = new LRUCache<string, GrowingFile>({ max: rememberedFiles });

  /** "damaged", or what is there; undefined = nothing. */
  const fileAt = async (path: string): Promise<GrowingFile | "damaged" | undefined> => {
    const size = sizeOf(path);
    if (size === undefined) return undefined;
    const remembered = known.get(path);
    if (remembered?.size === size) return remembered;
    return (await inspect(path)) ?? "damaged";
  };

  /** undefined when the file has to be made anew. */
  const extended = (path: string, found: GrowingFile | undefined, writes: readonly TurnWrite[]) => {
    let file = found;
    for (const write of writes) {
      const step = file ? stepFor(file, write) : firstStep(write, cwd);
      if (!step) return undefined;
      append(path, step.text, step.cutTo);
      file = step.grown;
    }
    // Another process that wrote in between shows in the size.
    return file?.size === sizeOf(path) ? file : undefined;
  };

  const remake = async (sessionId: string, path: string): Promise<void> => {
    const info = await transcripts.info(sessionId);
    if (!info || info.lastSeq === 0) return removeFile(path);
    const whole = wholeText(sessionId, info.turns);
    const size = await replace(path, whole.texts());
    known.set(path, { size, rows: info.lastSeq, lastId: whole.lastId() });
  };

  const wholeText = (sessionId: string, turns: number) => {
    let lastId: string | null = null;
    async function* texts(): AsyncGenerator<string> {
      for (let from = 1; from <= turns; from += turnsPerStep) {
        const found = await transcripts.turns(sessionId, from, Math.min(turns, from + turnsPerStep - 1));
        const entries = found.flatMap((turn) => turn?.entries ?? []);
        const [first] = entries;
        if (first && lastId === null) yield headerLine(sessionId, first.atMs, cwd);
        yield linesOf(entries, lastId);
        lastId = entries.at(-1)?.id ?? lastId;
      }
    }
    return { texts, lastId: () => lastId };
  };

  return async (sessionId, path, writes) => {
    const found = await fileAt(path);
    const isCheck = writes.length === 0;
    const rows = isCheck ? ((await transcripts.info(sessionId))?.lastSeq ?? 0) : undefined;
    const file = found === "damaged" ? undefined : extended(path, found, writes);
    known.delete(path);
    if (file && (!isCheck || file.rows === rows)) known.set(path, file);
    else await remake(sessionId, path);
  };
}
