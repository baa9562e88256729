/** Enough for any grapheme that is meant to be one; segmenting whole texts takes seconds. */
const WINDOW = 64;
const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * The last border between graphemes in `text` at or before `at`, which lies inside the text; `low` is known to be one. Within a
 * grapheme longer than 64 units: between code points. Never inside a surrogate pair, never below `low`.
 */
export function graphemeBorder(text: string, low: number, at: number): number {
  if (at <= low) return low;
  const start = windowStart(text, low, at);
  const segments = GRAPHEMES.segment(text.slice(start, at + WINDOW));
  const border = start + (segments.containing(at - start)?.index ?? 0);
  return border > start ? border : Math.max(low, codePointBorder(text, at));
}

function codePointBorder(text: string, at: number): number {
  return isLowSurrogate(text, at) && !isLowSurrogate(text, at - 1) ? at - 1 : at;
}

/** Flags are pairs of letters: the window must not begin in the middle of one. */
function windowStart(text: string, low: number, at: number): number {
  const start = codePointBorder(text, Math.max(low, at - WINDOW));
  let run = start;
  while (run - 2 >= low && isFlagLetter(text, run - 2)) run -= 2;
  return start - ((start - run) % 4);
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function isFlagLetter(text: string, at: number): boolean {
  const code = text.codePointAt(at) ?? 0;
  return code >= 0x1f1e6 && code <= 0x1f1ff;
}
