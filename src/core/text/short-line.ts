import { cleanLine } from "./lines.ts";

/** Of a text that somebody wrote; only its beginning is ever shown. */
const LOOKED_AT = 8000;

const LONGEST_REASON = 300;

/**
 * One clean, masked line of at most `longest` characters. Masked before anything is cut off, as half a secret is not recognised, and once more when
 * it is clean, as one may have been taken apart by characters that nobody sees.
 */
export function shortLine(text: string, longest: number, mask: (text: string) => string): string {
  const letters = [...mask(cleanLine(mask(text.slice(0, LOOKED_AT))))];
  return letters.length <= longest ? letters.join("") : `${letters.slice(0, longest - 1).join("")}…`;
}

/** Why something went wrong, as far as it is kept: platforms and providers answer with pages of JSON or HTML, and repeat credentials in them. */
export function shortReason(text: string, mask: (text: string) => string): string {
  return shortLine(text, LONGEST_REASON, mask);
}
