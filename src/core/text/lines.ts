import { withoutInvisible } from "./invisible.ts";

/** Whatever ends a line for somebody: a terminal, an editor, a model. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;
const BLANKS_AND_CONTROLS = /[\p{Cc}\s]+/gu;

export function linesOf(text: string): readonly string[] {
  return text.split(LINE_BREAK);
}

/** Every line of it begins with the mark. */
export function markedLines(text: string, mark: string): string {
  return linesOf(text)
    .map((line) => mark + line)
    .join("\n");
}

/** What somebody chose as a name, with single blanks where it has white space or control characters: it begins no line. */
export function oneLine(text: string): string {
  return text.replace(BLANKS_AND_CONTROLS, " ").trim();
}

/** Without what nobody sees, all white space single blanks, and letters with their accents in one form (NFC): what looks the same is the same. */
export function cleanLine(text: string): string {
  return withoutInvisible(text).normalize("NFC").replace(/\s+/gu, " ").trim();
}
