import { matchFrom } from "./match-from.ts";
import type { Span } from "./sanitize-code-spans.ts";
import type { Mark } from "./sanitize-marks.ts";
import type { MarkupRule } from "./sanitize-rules.ts";

/** A range to remove. `separates`: one space stays if words would run together. */
export interface Cut extends Span {
  readonly separates: boolean;
}

interface Scan {
  readonly text: string;
  readonly marks: readonly Mark[];
  readonly speaksMiniMax: boolean;
  /** Opening marks that stay because they are only mentioned; each keeps one end mark. */
  readonly mentioned: Map<MarkupRule, number>;
  /** Look-ahead left for JSON values; when it is spent they count as unfinished, which keeps the scan linear. */
  jsonSteps: number;
  /** Where the last cut ended. */
  at: number;
}

const ARGUMENTS = /[ \t]*(?:\r?\n)?[ \t]*arguments:?[ \t]*/iy;
const JSON_START = /\s*(?=[{["])/y;
const DEPTH = new Map([
  ["{", 1],
  ["[", 1],
  ["}", -1],
  ["]", -1],
]);
const LINE = /[^\n]*/y;
const LINE_END = /[ \t\r]*(?:\n|(?![\s\S]))/y;

/** What the rules remove from `text`, given its marks; in order, not overlapping. */
export function findCuts(text: string, marks: readonly Mark[]): readonly Cut[] {
  const speaksMiniMax = marks.some((mark) => mark.rule.marks.includes("<minimax:tool_call>"));
  const scan: Scan = { text, marks, speaksMiniMax, mentioned: new Map(), jsonSteps: 2 * text.length, at: 0 };
  const cuts: Cut[] = [];
  for (const [index, mark] of marks.entries()) {
    if (mark.inCode || mark.start < scan.at) continue;
    const end = cutEnd(scan, mark, index);
    if (end === undefined) continue;
    cuts.push({ start: mark.start, end, separates: mark.rule.separates ?? false });
    scan.at = end;
  }
  return cuts;
}

/** Where the removal that begins with `mark` ends; undefined when the mark stays. */
function cutEnd(scan: Scan, mark: Mark, index: number): number | undefined {
  if (mark.rule.removes === "mark") return withBelongings(scan, mark);
  if (mark.rule.removes === "up to the next [Tool")
    return nextToolMark(scan.marks, index)?.start ?? scan.text.length;
  if (mark.kind === "opens" && mark.rule.removes === "closed block") return mark.nextEnd?.end;
  if (mark.kind === "opens") return blockEnd(scan, mark);
  const mentioned = mark.kind === "closes" ? (scan.mentioned.get(mark.rule) ?? 0) : 0;
  if (mentioned === 0) return mark.end;
  scan.mentioned.set(mark.rule, mentioned - 1);
  return undefined;
}

function blockEnd(scan: Scan, mark: Mark): number | undefined {
  const { payload, otherwise } = mark.rule;
  const found = payload && matchFrom(payload, scan.text, mark.end);
  if (payload && !found && !removesWithoutPayload(scan, mark)) {
    if (otherwise === "remove the mark") return mark.end;
    scan.mentioned.set(mark.rule, (scan.mentioned.get(mark.rule) ?? 0) + 1);
    return undefined;
  }
  const json = found ? jsonEnd(scan, mark.end + found[0].length - 1) : undefined;
  return closeAfter(mark, json ?? mark.end)?.end ?? scan.text.length;
}

/** The end mark of an opening mark, no earlier than `from`: what stands in a JSON value ends nothing. */
function closeAfter(mark: Mark, from: number): Mark | undefined {
  let close = mark.partner ?? mark.nextEnd ?? mark.nextEndInCode;
  while (close && close.start < from) close = close.nextEnd ?? close.nextEndInCode;
  return close;
}

function removesWithoutPayload(scan: Scan, mark: Mark): boolean {
  switch (mark.rule.otherwise) {
    case "remove the block if the text speaks MiniMax":
      return scan.speaksMiniMax;
    case "remove the block if it is closed":
      return mark.nextEnd !== undefined;
    case "remove the block if it is closed and begins a line":
      return mark.nextEnd !== undefined && beginsLine(scan, mark);
    default:
      return false;
  }
}

function withBelongings(scan: Scan, mark: Mark): number {
  const { takes } = mark.rule;
  if (!takes) return mark.end;
  const end = takes === "call arguments" ? argumentsEnd(scan, mark.end) : mark.end;
  const lineEnd = beginsLine(scan, mark) ? matchFrom(LINE_END, scan.text, end) : null;
  return end + (lineEnd?.[0].length ?? 0);
}

/** After `Arguments:` goes a whole JSON value or the rest of the line; an unfinished value stays. */
function argumentsEnd(scan: Scan, from: number): number {
  const label = matchFrom(ARGUMENTS, scan.text, from);
  if (!label) return from;
  const at = from + label[0].length;
  const json = matchFrom(JSON_START, scan.text, at);
  if (json) return jsonEnd(scan, at + json[0].length) ?? from;
  return at + (matchFrom(LINE, scan.text, at)?.[0].length ?? 0);
}

function nextToolMark(marks: readonly Mark[], index: number): Mark | undefined {
  for (let at = index + 1; at < marks.length; at++) {
    const mark = marks[at];
    if (mark && !mark.inCode && mark.rule.marks[0]?.startsWith("[Tool ")) return mark;
  }
  return undefined;
}

/** Only blanks stand between the mark and the line's beginning or the last cut. */
function beginsLine(scan: Scan, mark: Mark): boolean {
  let at = mark.start;
  while (at > scan.at && (scan.text[at - 1] === " " || scan.text[at - 1] === "\t")) at--;
  return at === scan.at || scan.text[at - 1] === "\n";
}

/** The end of the object, array or string that begins at `start`; undefined when none does or it is not finished. */
function jsonEnd(scan: Scan, start: number): number | undefined {
  if (!/[[{"]/.test(scan.text[start] ?? "")) return undefined;
  let depth = 0;
  for (let at = start; at < scan.text.length && scan.jsonSteps > 0; at++, scan.jsonSteps--) {
    const char = scan.text[at] ?? "";
    if (char === '"') at = stringEnd(scan, at);
    else depth += DEPTH.get(char) ?? 0;
    if (depth === 0 && at < scan.text.length) return at + 1;
  }
  return undefined;
}

/** The closing quote of the string that begins at `start`, or the end of the text. */
function stringEnd(scan: Scan, start: number): number {
  for (let at = start + 1; at < scan.text.length && scan.jsonSteps > 0; at++, scan.jsonSteps--) {
    if (scan.text[at] === '"') return at;
    if (scan.text[at] === "\\") at++;
  }
  return scan.text.length;
}
