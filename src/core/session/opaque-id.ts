/** Printable ASCII without `:` and `%` stands for itself, so an id can neither end early nor hide a control character. */
const unsafe = /[^!-~]|[%:]/gu;
const unsafeButPercent = /[^!-~]/gu;
const escaped = /%u[0-9A-Fa-f]{4}|(?:%[0-9A-Fa-f]{2})+/g;

/** An id as one part of a key: different ids give different parts. Blank ids, which no platform has, become "unknown". */
export function encodeId(id: string): string {
  return id === "" ? "unknown" : id.replace(unsafe, escapeCharacter);
}

/** The id that `encodeId` was given; text that is no valid escape stands for itself. */
export function decodeId(part: string): string {
  return part.replace(escaped, (run) => {
    if (run.startsWith("%u")) return String.fromCharCode(Number.parseInt(run.slice(2), 16));
    try {
      return decodeURIComponent(run);
    } catch {
      // Not UTF-8: a percent sign that somebody typed.
      return run;
    }
  });
}

/** Text whose escapes stay as they are; only what may not stand in a key at all is escaped. */
export function encodeVerbatim(text: string): string {
  return text.replace(unsafeButPercent, escapeCharacter);
}

/** The same part (ASCII), written so that it is not taken for the word it spells; decodeId gives the word back. */
export function disguise(word: string): string {
  return `%${word.charCodeAt(0).toString(16).toUpperCase()}${word.slice(1)}`;
}

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  // Half of a surrogate pair has no UTF-8 form.
  if (character.length === 1 && code >= 0xd800 && code <= 0xdfff)
    return `%u${code.toString(16).toUpperCase()}`;
  return encodeURIComponent(character);
}
