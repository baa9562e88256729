import { appendFileSync, createReadStream, statSync, truncateSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";

/** What a mirror file holds. `rows` = seq of its last row. */
export interface MirrorFile {
  readonly size: number;
  readonly rows: number;
  readonly lastId: string | null;
}

const ownerOnly = 0o600;
const newline = 10;

/** undefined when there is none. */
export function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** The only blocking step: one append, after cutting the file back to `cutTo` bytes when that is given. */
export function append(path: string, text: string, cutTo?: number): void {
  if (cutTo !== undefined) truncateSync(path, cutTo);
  appendFileSync(path, text, { mode: ownerOnly });
}

/** Replaces the file at once, so that a reader finds the old one or the new one. Resolves with its size. */
export async function replace(path: string, texts: AsyncIterable<string>): Promise<number> {
  const fresh = `${path}.${process.pid}.new`;
  const file = await open(fresh, "w", ownerOnly);
  let size = 0;
  try {
    for await (const text of texts) {
      // Writes all of it or throws; a single write may stop where the disk is full.
      await file.appendFile(text);
      size += Buffer.byteLength(text);
    }
  } catch (error) {
    await file.close();
    await removeFile(fresh);
    throw error;
  }
  await file.close();
  await rename(fresh, path);
  return size;
}

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** Reads the whole file in pieces; undefined when it is missing, has half a line or not as many lines as its last one says. */
export async function inspect(path: string): Promise<MirrorFile | undefined> {
  if (sizeOf(path) === undefined) return undefined;
  let size = 0;
  let lines = 0;
  let lastLine: Buffer = Buffer.alloc(0);
  for await (const piece of createReadStream(path)) {
    // A stream without an encoding hands out buffers.
    const bytes = piece as Buffer;
    size += bytes.length;
    lines += countNewlines(bytes);
    const lastStart = bytes.lastIndexOf(newline, -2) + 1;
    const continues = lastStart === 0 && lastLine.at(-1) !== newline;
    lastLine = continues ? Buffer.concat([lastLine, bytes]) : bytes.subarray(lastStart);
  }
  const last = parse(lastLine);
  const rows = last?.type === "session" ? 0 : last?.seq;
  if (rows === undefined || lines !== rows + 1) return undefined;
  return { size, rows, lastId: rows === 0 ? null : (last?.id ?? null) };
}

function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) count++;
  return count;
}

function parse(
  line: Buffer,
): { readonly type?: string; readonly seq?: number; readonly id?: string } | undefined {
  try {
    return JSON.parse(line.toString());
  } catch {
    // Half a line: reported as a damaged file by the caller.
    return undefined;
  }
}
