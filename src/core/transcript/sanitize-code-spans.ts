import { matchFrom } from "./match-from.ts";

/** A half-open range of UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A fence that opens a line, a run of backticks anywhere, or the blank line that ends a paragraph. */
const EVENT = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?!`)(?![^\n]*`)|~{3,})[^\n]*|(`+)|\n\s*\n/gm;
const FENCE_END = /^[ \t>]*(`{3,}|~{3,})[ \t\r]*$/gm;
const TRIPLE = /(?<!`)```(?!`)/g;
/** Blocks and backticks of a text that somebody reads; from there on all of it counts as code. */
const MOST_EVENTS = 30_000;

/**
 * Where Markdown code stands in a text: fenced blocks (an unclosed one reaches to the end, as in Markdown), inline
 * code within one paragraph, and ``` … ``` in the middle of a line, which chat platforms show as a block.
 * In order, not overlapping, in linear time.
 */
export function codeSpans(text: string): readonly Span[] {
  const spans: Span[] = [];
  let runs: number[] = [];
  let at = 0;
  let events = 0;
  for (let event = matchFrom(EVENT, text, at); event; event = matchFrom(EVENT, text, at)) {
    const start = event.index;
    events += 1;
    if (events > MOST_EVENTS) {
      spans.push({ start, end: text.length });
      return spans;
    }
    const end = blockEnd(text, event);
    at = end ?? start + event[0].length;
    if (event[2] && !end) {
      runs.push(start, at);
      continue;
    }
    pairRuns(runs, spans);
    runs = [];
    if (end) spans.push({ start, end });
  }
  pairRuns(runs, spans);
  return spans;
}

/** Where the block of code ends that begins with this event; undefined when none does. */
function blockEnd(text: string, event: RegExpExecArray): number | undefined {
  const [, fence, run] = event;
  let at = event.index + event[0].length;
  const triple = run === "```" ? matchFrom(TRIPLE, text, at) : null;
  if (triple) return triple.index + triple[0].length;
  if (!fence) return undefined;
  for (let match = matchFrom(FENCE_END, text, at); match; match = matchFrom(FENCE_END, text, at)) {
    at = match.index + match[0].length;
    if (match[1]?.startsWith(fence)) return at;
  }
  return text.length;
}

/**
 * A run of backticks pairs with the next run of the same length; one without a partner is plain text. `runs`: start and end
 * of each, in turn.
 */
function pairRuns(runs: readonly number[], spans: Span[]): void {
  const toCome: number[] = [];
  for (let at = 0; at < runs.length; at += 2) {
    const length = lengthOf(runs, at);
    toCome[length] = (toCome[length] ?? 0) + 1;
  }
  let open = -1;
  for (let at = 0; at < runs.length; at += 2) {
    const length = lengthOf(runs, at);
    const later = (toCome[length] ?? 0) - 1;
    toCome[length] = later;
    if (open < 0 && later > 0) open = at;
    else if (open >= 0 && lengthOf(runs, open) === length) {
      spans.push({ start: runs[open] ?? 0, end: runs[at + 1] ?? 0 });
      open = -1;
    }
  }
}

function lengthOf(runs: readonly number[], at: number): number {
  return (runs[at + 1] ?? 0) - (runs[at] ?? 0);
}
