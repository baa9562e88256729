import type { MarkedToken } from "marked";
import { known, parseMarkdown } from "../../core/delivery/markdown.ts";
import { htmlParts, partsOf, shownBy, type TelegramPart } from "./outbound.ts";
import { toRichHtml } from "./rich-html.ts";

/**
 * The parts of renderTelegram, with `rich` in those that hold a table: everything else looks as good in HTML. A part is the same message in both forms, and rich
 * messages move no cut, so that whatever was sent up to some part goes on there in either form. A part has `rich` if it begins and ends between blocks;
 * a table that does not fit into one part has none.
 */
export function renderRichTelegram(markdown: string): readonly TelegramPart[] {
  const tokens = parseMarkdown(markdown);
  const parts = partsOf(tokens);
  if (!tokens.some(holdsTable)) return parts;
  const starts = startsOf(tokens);
  let from = 0;
  return parts.map((part) => {
    const start = starts.get(from);
    from += lengthOf(part.html);
    const end = starts.get(from);
    const own = start === undefined || end === undefined ? [] : tokens.slice(start, end);
    const rich = own.some(holdsTable) ? toRichHtml(own) : undefined;
    return rich === undefined ? part : { ...part, rich };
  });
}

function holdsTable(token: MarkedToken): boolean {
  switch (token.type) {
    case "table":
      return true;
    case "blockquote":
      return known(token.tokens).some(holdsTable);
    case "list":
      return token.items.some(({ tokens }) => known(tokens).some(holdsTable));
    default:
      return false;
  }
}

/** Which token begins after how much text; at the end, how many there are. */
function startsOf(tokens: readonly MarkedToken[]): ReadonlyMap<number, number> {
  const starts = new Map([[0, 0]]);
  let length = 0;
  tokens.forEach((token, index) => {
    const added = htmlParts([token], Number.POSITIVE_INFINITY).reduce((sum, html) => sum + lengthOf(html), 0);
    length += added;
    if (added > 0) starts.set(length, index + 1);
  });
  return starts;
}

/** Of what can be seen: white space at a cut is dropped. */
function lengthOf(html: string): number {
  return shownBy({ html }).replace(/[\s\p{C}]+/gu, "").length;
}
