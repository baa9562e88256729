import type { TranscriptEntry } from "../ports/run.ts";
import type { TurnWrite } from "../ports/storage.ts";
import type { MirrorFile } from "./mirror-file.ts";
import { entryLine, headerLine } from "./pi-session.ts";

/** A file whose newest turn can still be replaced: how the file was before it, if that is known. */
export interface GrowingFile extends MirrorFile {
  readonly beforeNewest?: { readonly turn: number; readonly file: MirrorFile };
}

/** Append `text`, after cutting the file back to `cutTo` bytes when that is given: it is `grown` afterwards. */
export interface MirrorStep {
  readonly text: string;
  readonly cutTo?: number;
  readonly grown: GrowingFile;
}

/** The step that brings a turn into the file; undefined when only making the file anew does. */
export function stepFor(file: GrowingFile, { turn, entries }: TurnWrite): MirrorStep | undefined {
  const older = file.beforeNewest?.turn === turn ? file.beforeNewest.file : undefined;
  const { size, rows, lastId } = older ?? file;
  if (entries.length > 0 && entries[0]?.seq !== rows + 1) return undefined;
  const text = linesOf(entries, lastId);
  const grown = {
    size: size + Buffer.byteLength(text),
    rows: rows + entries.length,
    lastId: entries.at(-1)?.id ?? lastId,
    beforeNewest: { turn, file: { size, rows, lastId } },
  };
  return { text, grown, ...(older && { cutTo: size }) };
}

/** The file of a transcript that begins with this turn. */
export function firstStep(write: TurnWrite, cwd: string): MirrorStep | undefined {
  const [first] = write.entries;
  if (first?.seq !== 1) return undefined;
  const header = headerLine(write.sessionId, first.atMs, cwd);
  const step = stepFor({ size: Buffer.byteLength(header), rows: 0, lastId: null }, write);
  return step && { ...step, text: header + step.text };
}

export function linesOf(entries: readonly TranscriptEntry[], parentId: string | null): string {
  return entries.map((entry, i) => entryLine(entry, entries[i - 1]?.id ?? parentId)).join("");
}
