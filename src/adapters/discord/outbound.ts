import { chunk } from "../../core/delivery/chunk.ts";
import { type Dialect, type Style, withoutFences } from "../../core/delivery/dialect.ts";
import { parseMarkdown } from "../../core/delivery/markdown.ts";
import type { Frame } from "../../core/delivery/piece.ts";
import { toPieces } from "../../core/delivery/pieces.ts";

/** Above this a link's address is text, because a part could not hold it as a mark. */
const MAX_LINK_LENGTH = 500;

/**
 * Markdown in the subset that Discord shows, in parts of at most `maxLength` UTF-16 units: tables are code blocks, headings
 * below the third level bold, images links. Stars and backticks that mean nothing are escaped, so that Discord does not pair
 * them. Mentions stay as they are; what keeps them from firing is `allowed_mentions`. Blank text gives no part.
 */
export function renderDiscord(markdown: string, maxLength = 2000): readonly string[] {
  return chunk(toPieces(parseMarkdown(markdown), DISCORD), { limit: maxLength });
}

const MARKS: Readonly<Record<Style, string>> = {
  bold: "**",
  italic: "*",
  underline: "__",
  strike: "~~",
  spoiler: "||",
};

const CODE = same("`");

const DISCORD: Dialect = {
  style(style, written) {
    const isUnderscore = written.startsWith("_");
    return isUnderscore ? same(written) : same(MARKS[style]);
  },
  heading(depth) {
    const hashes = `${"#".repeat(depth)} `;
    return depth > 3 ? undefined : { open: hashes, close: "", linePrefix: hashes };
  },
  quote: { open: "> ", close: "", linePrefix: "> " },
  bullet: "- ",
  codeSpan: (text) => codeMarks(text),
  fence(language) {
    const bare = { open: "```\n", close: "\n```" };
    return /^[\w+#.-]+$/.test(language) ? { open: `\`\`\`${language}\n`, close: "\n```", bare } : bare;
  },
  fenced: withoutFences,
  link(url) {
    const isMaskable = /^https?:\/\//i.test(url) && url.length <= MAX_LINK_LENGTH;
    return isMaskable ? { open: "[", close: `](${url.replace(/[\s()<>]/g, percentEncoded)})` } : ` (${url})`;
  },
  autolink: (raw) => raw,
  text: (literal) => literal.replace(/`|\*(?!\s)|(?<!\s)\*/g, "\\$&"),
  escaped: (raw) => raw,
  tables: "fence",
};

function same(marks: string): Frame {
  return { open: marks, close: marks };
}

/** Code is enclosed in more backticks than it holds in a row. */
function codeMarks(text: string): Frame {
  let marks = "`";
  while (text.includes(marks)) marks += "`";
  return marks === "`" ? CODE : { open: `${marks} `, close: ` ${marks}` };
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`;
}
