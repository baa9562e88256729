import type { Block, TranscriptEntry } from "../ports/run.ts";

/**
 * The newest rows within both limits, oldest first. A tool result is kept only with its call, so the window never begins between the two.
 * Bytes are counted as UTF-16 units of text plus a fixed share for each row, a close and cheap measure.
 */
export function historyWindow(
  entries: readonly TranscriptEntry[],
  limits: { readonly maxEntries: number; readonly maxBytes: number },
): readonly TranscriptEntry[] {
  let bytes = 0;
  let from = entries.length;
  while (from > 0 && entries.length - from < limits.maxEntries) {
    const entry = entries[from - 1];
    bytes += entry === undefined ? 0 : sizeOf(entry);
    if (bytes > limits.maxBytes) break;
    from--;
  }
  return withoutLoneResults(entries.slice(from));
}

/** Where people talked among themselves, only their last words before each turn are left: `most(channel)` rows. */
export function withoutOldTalk(
  entries: readonly TranscriptEntry[],
  most: (channel: string) => number,
): readonly TranscriptEntry[] {
  let heard = 0;
  const newestFirst = entries.toReversed().filter(({ overheard, provenance }) => {
    heard = overheard === true ? heard + 1 : 0;
    return heard === 0 || heard <= most(provenance?.sourceChannel ?? "");
  });
  return newestFirst.reverse();
}

const ROW_SIZE = 300;

function sizeOf(entry: TranscriptEntry): number {
  return entry.content.reduce((sum, block) => sum + blockSize(block), ROW_SIZE);
}

function blockSize(block: Block): number {
  if (block.type === "toolCall") return JSON.stringify(block.arguments ?? null).length;
  return "text" in block ? block.text.length : 0;
}

function withoutLoneResults(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const calls = new Set<string>();
  return entries.filter((entry) => {
    for (const block of entry.content) if (block.type === "toolCall") calls.add(block.id);
    return (
      entry.role !== "toolResult" ||
      entry.content.every((block) => block.type !== "toolResult" || calls.has(block.id))
    );
  });
}
