import type { TranscriptEntry } from "../ports/run.ts";

/**
 * The newest rows within both limits, oldest first. A tool result is kept only with its call, so the window never begins between the two.
 * The bytes are those of the rows' JSON in UTF-16 units, a close and cheap measure.
 */
export function historyWindow(
  entries: readonly TranscriptEntry[],
  limits: { readonly maxEntries: number; readonly maxBytes: number },
): readonly TranscriptEntry[] {
  let bytes = 0;
  let from = entries.length;
  while (from > 0 && entries.length - from < limits.maxEntries) {
    const entry = entries[from - 1];
    bytes += entry === undefined ? 0 : JSON.stringify(entry).length;
    if (bytes > limits.maxBytes) break;
    from--;
  }
  return withoutLoneResults(entries.slice(from));
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
