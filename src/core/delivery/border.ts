import { graphemeBorder } from "../text/grapheme-border.ts";
import { type Cut, type Piece, type Position, startIn, type TextPiece } from "./piece.ts";

interface Reach {
  readonly from: Position;
  /** Before it no part ends for the sake of a paragraph or line. */
  readonly quarter: Position;
  /** What follows does not fit. */
  readonly end: Cut;
}

interface Stretch {
  readonly piece: TextPiece;
  readonly low: number;
  readonly high: number;
}

/** The best place to end a part: always after `from`, and never after `end` unless not even one character fits. */
export function border(pieces: readonly Piece[], { from, quarter, end }: Reach): Cut {
  return (
    lastWhere(pieces, from, { low: quarter, high: end }, paragraphEnd) ??
    lastWhere(pieces, from, { low: quarter, high: end }, lineEnd) ??
    lastWhere(pieces, from, { low: from, high: end }, wordEnd) ??
    withinWord(from, end)
  );
}

function lastWhere(
  pieces: readonly Piece[],
  from: Position,
  { low, high }: { low: Position; high: Position },
  find: (stretch: Stretch) => number,
): Cut | undefined {
  for (let index = high.index; index >= low.index; index--) {
    const piece = pieces[index];
    if (piece === undefined || !("text" in piece)) continue;
    const stretch = {
      piece,
      low: index === low.index ? low.offset : 0,
      high: index === high.index ? high.offset : piece.text.length,
    };
    const offset = find(stretch);
    const isProgress = index > from.index || offset > from.offset;
    if (offset >= stretch.low && isProgress) return { piece, index, offset };
  }
  return undefined;
}

function paragraphEnd(stretch: Stretch): number {
  return stretch.piece.kind === "code" ? -1 : textEnd(stretch.piece.text, lastOf("\n\n", stretch));
}

function lineEnd(stretch: Stretch): number {
  const at = lastOf("\n", stretch);
  return stretch.piece.kind === "code" ? at : textEnd(stretch.piece.text, at);
}

/** May begin at `high`: what is dropped at a cut need not fit. */
function lastOf(lineBreaks: string, { piece, low, high }: Stretch): number {
  const at = piece.text.slice(low, high + lineBreaks.length).lastIndexOf(lineBreaks);
  return at < 0 ? at : low + at;
}

function wordEnd({ piece: { kind, text }, low, high }: Stretch): number {
  for (let at = high; at >= low; at--) {
    if (!isSpace(text.charCodeAt(at))) continue;
    if (kind === "text") return textEnd(text, at);
    if (text[at] === "\n") return at;
    if (at < high) return at + 1;
  }
  return -1;
}

/** Where the text before the white space at `at` ends. */
function textEnd(text: string, at: number): number {
  let end = at;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  return end;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x09 || unit === 0x3000;
}

function withinWord(from: Position, { piece, index, offset }: Cut): Cut {
  const low = startIn(index, from);
  const border = graphemeBorder(piece.text, offset, low);
  const cut = Math.max(low, piece.kind === "text" ? beforeEscape(piece.text, low, border) : border);
  if (cut > low || index > from.index) return { piece, index, offset: cut };
  const first = piece.text.codePointAt(low) ?? 0;
  return { piece, index, offset: low + (first > 0xffff ? 2 : 1) };
}

/** A backslash stays with the character that it escapes. */
function beforeEscape(text: string, low: number, offset: number): number {
  let start = offset;
  while (start > low && text[start - 1] === "\\") start--;
  return (offset - start) % 2 === 1 ? offset - 1 : offset;
}
