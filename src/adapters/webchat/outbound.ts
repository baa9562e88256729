import { chunk } from "../../core/delivery/chunk.ts";
import type { Dialect, Style } from "../../core/delivery/dialect.ts";
import { parseMarkdown } from "../../core/delivery/markdown.ts";
import type { Frame } from "../../core/delivery/piece.ts";
import { toPieces } from "../../core/delivery/pieces.ts";

/**
 * Markdown for a page that renders GFM, in parts of at most `maxLength` UTF-16 units. A text that fits stays exactly as it was written; in a longer one each
 * part is Markdown by itself, and tables are code blocks. Blank text gives no part.
 */
export function renderWebchat(markdown: string, maxLength: number): readonly string[] {
  if (markdown.trim() === "") return [];
  if (markdown.length <= maxLength) return [markdown.trim()];
  return chunk(toPieces(parseMarkdown(markdown), GFM), { limit: maxLength });
}

const MARKS: Readonly<Partial<Record<Style, string>>> = { bold: "**", italic: "*", strike: "~~" };

const GFM: Dialect = {
  style(style, written) {
    const marks = written.startsWith("_") ? written : MARKS[style];
    return marks === undefined ? undefined : same(marks);
  },
  heading(depth) {
    const hashes = `${"#".repeat(depth)} `;
    return { open: hashes, close: "", linePrefix: hashes };
  },
  quote: { open: "> ", close: "", linePrefix: "> " },
  bullet: "- ",
  codeSpan(text) {
    const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
    const marks = "`".repeat(longest + 1);
    return longest === 0 ? same(marks) : { open: `${marks} `, close: ` ${marks}` };
  },
  fence(language) {
    const bare = { open: `${FENCE}\n`, close: `\n${FENCE}` };
    return /^[\w+#.-]+$/.test(language) ? { ...bare, open: `${FENCE}${language}\n`, bare } : bare;
  },
  // A run as long as ours would end the fence.
  fenced: (code) => code.replace(/`{6,}/g, (run) => Array.from(run).join("\u200b")),
  link: (url) => ({ open: "[", close: `](<${url.replace(/[<>\s]/g, encodeURIComponent)}>)` }),
  autolink: (raw) => raw,
  text: (literal) => literal.replace(/[`*]/g, "\\$&"),
  escaped: (raw) => raw,
  tables: "fence",
};

/** Longer than what code is likely to hold. */
const FENCE = "``````";

function same(marks: string): Frame {
  return { open: marks, close: marks };
}
