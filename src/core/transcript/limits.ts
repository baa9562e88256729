import { graphemeBorder } from "../text/grapheme-border.ts";

/** Bytes of UTF-8 JSON that one sessions_history answer may hold. */
export const HISTORY_BYTES = 81_920;
/** Bytes of UTF-8 JSON that one sessions_list answer may hold. */
export const LIST_BYTES = 163_840;
/** Bytes of UTF-8 JSON of one message; a larger one becomes `OMITTED_MESSAGE`. */
export const MESSAGE_BYTES = 131_072;
/** UTF-16 units of one text block. */
export const TEXT_UNITS = 4_000;
export const OMITTED_MESSAGE = "[sessions_history omitted: message too large]";

const CUT_MARKER = "\n…(truncated)…";
/** String sequences with their end (OSC, then DCS and its kin), control sequences (CSI), other escapes, lone controls. */
const CONTROL = new RegExp(
  [
    "(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x80-\\x9f]*(?:\\x07|\\x1b\\\\|\\x9c)",
    "(?:\\x1b[PX^_]|[\\x90\\x98\\x9e\\x9f])[^\\x1b\\x80-\\x9f]*(?:\\x1b\\\\|\\x9c)",
    "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?",
    "\\x1b[ -/]*[0-~]?",
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]",
  ].join("|"),
  "g",
);
const SHORTEST_DATA = 128;
const DATA_URL = new RegExp(
  `data:([\\w.+-]{1,80}/[\\w.+-]{1,80})?(?:;[\\w.+-]{1,40}=[\\w.+-]{0,80}){0,4};base64,([\\w+/%-]{${SHORTEST_DATA}}[\\w+/%-]*)={0,2}`,
  "gi",
);

/**
 * At most `maxUnits` UTF-16 units of `text`, plus a marker when something was cut off. Cuts between graphemes, so
 * never within a surrogate pair, an emoji or a letter with its accents.
 */
export function cutText(text: string, maxUnits = TEXT_UNITS): { text: string; cut: boolean } {
  if (text.length <= maxUnits) return { text, cut: false };
  return { text: text.slice(0, graphemeBorder(text, Math.max(0, maxUnits))) + CUT_MARKER, cut: true };
}

/** Removes ANSI escape sequences and all C0 and C1 control characters except line feed and tab. */
export function stripControl(text: string): string {
  return text.replace(CONTROL, "");
}

/** Replaces base64 `data:` URLs by a note with media type and size, such as `[image/png omitted, 1.2 MB]`. */
export function replaceDataUrls(text: string): string {
  if (!text.includes("base64,")) return text;
  return text.replace(DATA_URL, (_url, type: string | undefined, base64: string) => {
    const bytes = Math.floor((base64.length * 3) / 4);
    return `[${type ?? "text/plain"} omitted, ${size(bytes)}]`;
  });
}

/** Bytes of `value` as UTF-8 JSON; 0 for what JSON leaves out. */
export function utf8Bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}

function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 999_500) return `${Math.round(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
