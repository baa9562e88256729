import { graphemeBorder } from "./grapheme-border.ts";

/** At most `longest` UTF-16 units, with no character torn apart. `mark` ends what was cut. */
export function shorten(text: string, longest: number, mark = ""): string {
  if (text.length <= longest) return text;
  return text.slice(0, graphemeBorder(text, longest - mark.length)) + mark;
}
