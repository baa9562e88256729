/** Enough for any grapheme that is meant to be one; segmenting whole texts takes seconds. */
const WINDOW = 128;
const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * The last border between graphemes in `text` at or before `at`, which lies inside the text; `low` is known to be one. Within a
 * grapheme longer than 128 units: between code points. Never inside a surrogate pair, never below `low`.
 */
export function graphemeBorder(text: string, at: number, low = 0): number {
  if (at <= low) return low;
  if (isPlain(text, at - 1) && isPlain(text, at)) return at;
  const start = windowStart(text, at, low);
  const segments = GRAPHEMES.segment(text.slice(start, at + WINDOW));
  const border = start + (segments.containing(at - start)?.index ?? 0);
  const isTrusted = border > start || start === low || isPlain(text, start);
  return isTrusted ? border : Math.max(low, codePointBorder(text, at));
}

/** A place before `at` where a grapheme begins for certain, or nearly so when there is none close by. */
function windowStart(text: string, at: number, low: number): number {
  const farthest = Math.max(low, at - WINDOW);
  for (let start = at - 1; start > farthest; start--) if (isPlain(text, start)) return start;
  const start = Math.max(low, codePointBorder(text, farthest));
  // Flags are pairs of letters: the window must not begin in the middle of one.
  let run = start;
  while (run - 2 >= low && isFlagLetter(text, run - 2)) run -= 2;
  return start - ((start - run) % 4);
}

/** Printable ASCII always begins a grapheme. */
function isPlain(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0x20 && unit <= 0x7e;
}

function codePointBorder(text: string, at: number): number {
  return isLowSurrogate(text, at) && !isLowSurrogate(text, at - 1) ? at - 1 : at;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function isFlagLetter(text: string, at: number): boolean {
  const code = text.codePointAt(at) ?? 0;
  return code >= 0x1f1e6 && code <= 0x1f1ff;
}
