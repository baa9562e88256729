import { border } from "./border.ts";
import { type Added, emptyPart, type Measure, type Part, textOf, withMark, withText } from "./part.ts";
import { type Cut, type Piece, type Position, startIn } from "./piece.ts";

interface Filled {
  readonly part: Part;
  /** Where the next part begins. */
  readonly next: Position;
}

/**
 * Splits rendered pieces into parts within the limit. Each part is complete by itself: frames are closed at its end and opened
 * again in the next. A part ends after a paragraph, else a line, else a word, else a grapheme; after the first two only once it
 * is a quarter full. No part is blank; pieces without text give no part. A limit too small for a frame leaves the frame out; one
 * too small for a single character is exceeded by that character.
 */
export function chunk(pieces: readonly Piece[], measure: Measure): readonly string[] {
  const texts: string[] = [];
  let part = emptyPart(measure);
  for (let at: Position = { index: 0, offset: 0 }; at.index < pieces.length; ) {
    const filled = fill(part, pieces, at);
    if (!filled.part.isBlank) texts.push(textOf(filled.part));
    part = emptyPart(measure, filled.part);
    at = filled.next;
  }
  return texts;
}

function fill(empty: Part, pieces: readonly Piece[], from: Position): Filled {
  /** The part before each piece. */
  const states: Part[] = [];
  let quarter: Position | undefined;
  let part = empty;
  for (let index = from.index; index < pieces.length; index++) {
    const piece = pieces[index];
    if (piece === undefined) break;
    states.push(part);
    if (!("text" in piece)) {
      part = withMark(part, piece);
      continue;
    }
    const offset = startIn(index, from);
    const added = withText(part, piece, { from: offset, to: piece.text.length });
    quarter ??= quarterAt(part, added, { index, offset });
    part = added.part;
    if (added.end === piece.text.length) continue;
    const end = { piece, index, offset: added.end };
    const cut = border(pieces, { from, quarter: quarter ?? end, end });
    return cutBack(states[cut.index - from.index] ?? empty, from, cut);
  }
  return { part, next: { index: pieces.length, offset: 0 } };
}

/** Where the part becomes a quarter full, if that is in the text just added. */
function quarterAt(before: Part, { part, end }: Added, start: Position): Position | undefined {
  const quarter = part.measure.limit / 4;
  if (part.used < quarter) return undefined;
  const missing = Math.max(0, Math.ceil(quarter - before.used));
  return { index: start.index, offset: Math.min(end, start.offset + missing) };
}

function cutBack(before: Part, start: Position, { piece, index, offset }: Cut): Filled {
  const from = startIn(index, start);
  const { part } = withText(before, piece, { from, to: offset, room: Number.POSITIVE_INFINITY });
  const isLineOfCode = piece.kind === "code" && piece.text[offset] === "\n";
  return { part, next: { index, offset: offset + Number(isLineOfCode) } };
}
