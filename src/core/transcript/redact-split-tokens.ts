import { matchesIn, matchFrom } from "./match-from.ts";
import { type Mask, maskOf } from "./redact-mask.ts";
import { TOKEN_HINT, TOKEN_PATTERNS, TOKEN_START } from "./redact-patterns.ts";

interface Piece {
  /** Where it stands in the text, and in the pieces put together. */
  readonly start: number;
  readonly offset: number;
  readonly text: string;
}

/** A line break with token characters on both sides; the next line may be marked as quoted. */
const BREAK =
  /(?=\r?\n)(?<=(?<![\w.:+/=-])([\w.:+/=-]{4}[\w.:+/=-]*))\r?\n[ \t>]*([\w.:+/=-]{4}[\w.:+/=-]*)/g;
const NEXT_LINE = /\r?\n[ \t>]*([\w.:+/=-]{4}[\w.:+/=-]*)/y;
const SHORTEST_TOKEN = 20;
const MOST_PIECES = 64;
/** The rest of a token even if the line before could end one: digits, upper and lower case. */
const SURE_REST = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])(?=[\w-]{8})[\w-]+(?:\.[\w-]{10,})*={0,2}$/;

/** Tokens with line breaks in them: a terminal wrapped them, or they came in two messages. */
export function findSplitTokens(text: string): readonly Mask[] {
  const masks: Mask[] = [];
  let at = 0;
  for (let match = matchFrom(BREAK, text, at); match; match = matchFrom(BREAK, text, at)) {
    const pieces = piecesFrom(text, match);
    const last = pieces.at(-1);
    at = Math.max(match.index + match[0].length, last ? last.start + last.text.length : 0);
    for (const mask of masksIn(pieces)) masks.push(mask);
  }
  return masks;
}

/** The end of a line and the beginnings of the next that may continue it; only the last of them may be doubtful. */
function piecesFrom(text: string, match: RegExpExecArray): readonly Piece[] {
  const [all, head = "", first = ""] = match;
  const pieces = [{ start: match.index - head.length, offset: 0, text: head }];
  let at = match.index + all.length;
  let offset = head.length;
  for (let rest = first; mayContinue(rest) && pieces.length < MOST_PIECES; ) {
    pieces.push({ start: at - rest.length, offset, text: rest });
    offset += rest.length;
    const next = SURE_REST.test(rest) ? matchFrom(NEXT_LINE, text, at) : null;
    rest = next?.[1] ?? "";
    at += next?.[0].length ?? 0;
  }
  return pieces;
}

function mayContinue(rest: string): boolean {
  const looksRandom = /[a-z][A-Z]/.test(rest) || (/\d/.test(rest) && /[A-Za-z]/.test(rest));
  return looksRandom && !TOKEN_START.test(rest);
}

function masksIn(pieces: readonly Piece[]): readonly Mask[] {
  const whole = pieces.reduce((text, piece) => text + piece.text, "");
  if (pieces.length < 2 || whole.length < SHORTEST_TOKEN || !TOKEN_HINT.test(whole)) return [];
  const masks: Mask[] = [];
  for (const { pattern } of TOKEN_PATTERNS) {
    for (const found of matchesIn(pattern, whole)) {
      const mask = maskOver(pieces, whole, found, pattern);
      if (mask) masks.push(mask);
    }
  }
  return masks;
}

/** The mask of a token in the joined pieces, if it reaches over a line break. */
function maskOver(
  pieces: readonly Piece[],
  whole: string,
  found: RegExpExecArray,
  pattern: RegExp,
): Mask | undefined {
  const [, before = "", secret = ""] = found;
  const from = found.index + before.length;
  let to = from + secret.length;
  const last = pieces.at(-1);
  if (last && to > last.offset && !SURE_REST.test(last.text)) {
    const isWholeWithout = matchFrom(pattern, whole.slice(0, last.offset), found.index) !== null;
    if (isWholeWithout) to = last.offset;
  }
  const first = pieces.findLast((piece) => piece.offset <= from);
  const end = pieces.findLast((piece) => piece.offset < to);
  if (!first || !end || first === end) return undefined;
  return {
    start: first.start + from - first.offset,
    end: end.start + to - end.offset,
    replacement: maskOf(whole.slice(from, to)),
  };
}
