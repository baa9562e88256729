import { chunk } from "../../core/delivery/chunk.ts";
import { type Dialect, type Style, withoutFences } from "../../core/delivery/dialect.ts";
import { parseMarkdown } from "../../core/delivery/markdown.ts";
import type { Frame } from "../../core/delivery/piece.ts";
import { toPieces } from "../../core/delivery/pieces.ts";

/**
 * Markdown in WhatsApp's marks, in parts of at most `maxLength` UTF-16 units: `*bold*`, `_italic_`, `~strike~`, code without its
 * language, headings bold, a table's rows as lines, links as `text (url)`. WhatsApp knows no escapes and no underline.
 * `@digits` stays as it is: it is a mention only if the message lists that person, and a text lists nobody. Blank text gives no part.
 */
export function renderWhatsApp(markdown: string, maxLength = 4000): readonly string[] {
  return chunk(toPieces(parseMarkdown(markdown), WHATSAPP), { limit: maxLength });
}

const FENCE: Frame = { open: "```\n", close: "\n```" };
const CODE = same("`");
const WIDE_CODE = same("```");
const MARKS: Readonly<Record<Style, Frame | undefined>> = {
  bold: same("*"),
  italic: same("_"),
  underline: undefined,
  strike: same("~"),
  spoiler: same("||"),
};

const WHATSAPP: Dialect = {
  style: (style) => MARKS[style],
  quote: { open: "> ", close: "", linePrefix: "> " },
  bullet: "- ",
  codeSpan: (text) => (text.includes("`") ? WIDE_CODE : CODE),
  fence: () => FENCE,
  fenced: withoutFences,
  link: (url) => ` (${url})`,
  tables: "lines",
  stylesWithinLine: true,
};

function same(marks: string): Frame {
  return { open: marks, close: marks };
}
