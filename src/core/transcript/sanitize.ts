import { codeSpans, type Span } from "./sanitize-code-spans.ts";
import { type Cut, findCuts } from "./sanitize-cuts.ts";
import { findMarks } from "./sanitize-marks.ts";

/** One pass removes, the next finds nothing; what a removal uncovers takes one more. */
const MAX_PASSES = 3;
/** More than one for every 30 characters of the longest text. */
const MOST_MARKS = 30_000;
const FENCE = /```|~~~/;
/** Some character or word of every mark. */
const SUSPICIOUS = /[<＜[📊🛠📖📝🔍🔎⚙⚠]|tool[-_]?call|tool[-_]?result|function[-_]?call|commentary/iu;

/**
 * Assistant prose without the markup that models leak into it: reasoning, memory scaffolding, tool calls written as
 * text, control tokens; `MARKUP_RULES` is the list. Text in Markdown code stays, unless it is part of a block that
 * goes. Total, linear, idempotent, never longer than its input.
 */
export function sanitize(text: string): string {
  let current = trimProse(text);
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const next = removeMarkup(current);
    if (next === current) return current;
    current = next;
  }
  // Built so that every removal forms a new mark: what stands before the first bracket can hold none.
  return sanitize(current.slice(0, current.search(/[<＜[]/)));
}

function removeMarkup(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const marks = findMarks(text, codeSpans(text), MOST_MARKS);
  // A trap rather than a text: only what stands before it can be prose.
  if (marks.length >= MOST_MARKS) return trimProse(text.slice(0, marks[0]?.start));
  return trimProse(withoutCuts(text, findCuts(text, marks)));
}

function withoutCuts(text: string, cuts: readonly Cut[]): string {
  let result = "";
  let lastKept = "";
  let separates = false;
  const keep = ({ start, end }: Span) => {
    if (start >= end) return;
    const piece = text.slice(start, end);
    if (separates && /[\p{L}\p{M}\p{N}]$/u.test(lastKept) && /^[\p{L}\p{N}]/u.test(piece)) result += " ";
    result += piece;
    lastKept = piece.slice(-2);
    separates = false;
  };
  let at = 0;
  for (const cut of cuts) {
    keep({ start: at, end: cut.start });
    separates ||= cut.separates;
    at = cut.end;
  }
  keep({ start: at, end: text.length });
  return result;
}

/** Blank edges go, except those of a fenced block: no other code begins or ends with blanks. */
function trimProse(text: string): string {
  const leading = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  if (leading === 0 && end === text.length) return text;
  if (!FENCE.test(text)) return text.trim();
  const code = codeSpans(text);
  return text.slice(Math.min(leading, code[0]?.start ?? leading), Math.max(end, code.at(-1)?.end ?? end));
}
