/** A text without its gaps, and where its characters stand in the whole one. */
export interface DenseText {
  readonly text: string;
  /** Of a character by its index in `text`. */
  place(index: number): number;
}

/** `gaps`: a global expression for what is left out. */
export function denseText(whole: string, gaps: RegExp): DenseText {
  const text = whole.replace(gaps, "");
  if (text.length === whole.length) return { text, place: (index) => index };
  let places: Uint32Array | undefined;
  return {
    text,
    place(index) {
      places ??= placesIn(whole, gaps, text.length);
      return places[index] ?? whole.length;
    },
  };
}

function placesIn(whole: string, gaps: RegExp, length: number): Uint32Array {
  const places = new Uint32Array(length);
  let next = 0;
  let at = 0;
  const keep = (end: number) => {
    while (at < end) places[next++] = at++;
  };
  for (const gap of whole.matchAll(gaps)) {
    keep(gap.index);
    at = gap.index + gap[0].length;
  }
  keep(whole.length);
  return places;
}
