import type { MarkedToken } from "marked";
import { chunk } from "../../core/delivery/chunk.ts";
import type { Dialect, Style } from "../../core/delivery/dialect.ts";
import { parseMarkdown } from "../../core/delivery/markdown.ts";
import type { Frame } from "../../core/delivery/piece.ts";
import { toPieces } from "../../core/delivery/pieces.ts";

/** One message: `html` for parse_mode HTML, and `plain` to send instead, once, if Telegram cannot parse it. */
export interface TelegramPart {
  readonly html: string;
  readonly plain: string;
  /** The same as Rich HTML, for sendRichMessage: see rich-parts.ts. */
  readonly rich?: string;
}

/**
 * Telegram counts the text that is left when the markup has become entities. Here the markup counts too: what stands before
 * Telegram (proxies, own Bot API servers) may not know the difference, and both `html` and `plain` are never longer than this.
 */
const LIMIT = 4_096;
/** Above this a link's address is text, because a part could not hold it as a mark. */
const MAX_LINK_LENGTH = 1_000;
const WORD_JOINER = "\u2060";
const NAMES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
]);
const CHARACTERS: ReadonlyMap<string, string> = new Map(
  [...NAMES].map(([character, name]) => [name, character]),
);

/**
 * Markdown as Telegram's HTML, in parts that are valid one by one: at most 4096 UTF-16 units after entity parsing, in `plain`
 * and in `html` itself. Telegram turns `@name` into a mention that pings, in any text, so an invisible word joiner follows the
 * at sign of whatever could be a user name; outside code it looks the same, and the name cannot be tapped. Links to
 * `tg://user` would ping too and are plain text. Blank text gives no part.
 */
export function renderTelegram(markdown: string): readonly TelegramPart[] {
  return partsOf(parseMarkdown(markdown));
}

/** The same for a text that has been read already. */
export function partsOf(tokens: readonly MarkedToken[]): readonly TelegramPart[] {
  return htmlParts(tokens).map((html) => ({ html, plain: withoutMentions(toPlain(html)) }));
}

/** The `html` of these parts. `limit`: of each. */
export function htmlParts(tokens: readonly MarkedToken[], limit = LIMIT): readonly string[] {
  return chunk(toPieces(tokens, TELEGRAM), { limit, escape: toHtml, weigh });
}

/** What people read once Telegram has taken the markup for its own. */
export function shownBy({ html }: Pick<TelegramPart, "html">): string {
  return html.replace(/<[^>]*>|&[a-z]+;/g, (mark) => CHARACTERS.get(mark) ?? "");
}

const CODE = tag("code");
const STYLES: Readonly<Record<Style, Frame>> = {
  bold: tag("b"),
  italic: tag("i"),
  underline: tag("u"),
  strike: tag("s"),
  spoiler: tag("tg-spoiler"),
};

const TELEGRAM: Dialect = {
  style: (style) => STYLES[style],
  quote: tag("blockquote"),
  bullet: "• ",
  codeSpan: () => CODE,
  fence(language) {
    const bare = tag("pre");
    const opening = `<pre><code class="language-${quoted(language)}">`;
    return language ? { open: opening, close: "</code></pre>", bare } : bare;
  },
  link(url) {
    if (/^tg:(?:\/\/)?user\b/i.test(url)) return "";
    const isLinkable = /^(?:https?:\/\/|tg:|mailto:|tel:)/i.test(url) && url.length <= MAX_LINK_LENGTH;
    return isLinkable ? { open: `<a href="${quoted(url)}">`, close: "</a>" } : ` (${url})`;
  },
  tables: "fence",
};

/** How HTML for Telegram is written, for Rich HTML too. */
export const telegramMarkup = { dialect: TELEGRAM, escape: toHtml };

function tag(name: string): Frame {
  return { open: `<${name}>`, close: `</${name}>` };
}

function toHtml(text: string, isCode: boolean): string {
  const safe = isCode ? text : withoutMentions(text);
  return /[&<>]/.test(safe) ? safe.replace(/[&<>]/g, nameOf) : safe;
}

function quoted(value: string): string {
  return value.replace(/[&<>"]/g, nameOf);
}

function nameOf(character: string): string {
  return NAMES.get(character) ?? character;
}

function weigh(text: string): number {
  if (!/[&<>@]/.test(text)) return text.length;
  let weight = 0;
  for (let at = 0; at < text.length; at++) weight += weightOf(text.charCodeAt(at));
  return weight;
}

function weightOf(unit: number): number {
  switch (unit) {
    case 0x26:
      return 5;
    case 0x3c:
    case 0x3e:
      return 4;
    case 0x40:
      return 2;
    default:
      return 1;
  }
}

/** In the path of an address; what only looks like one may be a name to Telegram. */
const AT_IN_ADDRESS = /https?:\/\/[a-z\d-]+(?:\.[a-z\d-]+)+(?::\d+)?\/[^\s,;@)\]"'<>]*@/;
/** A name has at least four characters. One that reaches the end of the text may go on in another style. */
const AT_OF_NAME = /(?<![\p{L}\p{N}_])@(?=[a-z]\w{3}|(?:[a-z]\w{0,2})?$)/u;
const AT_SIGN = new RegExp(`${AT_IN_ADDRESS.source}|${AT_OF_NAME.source}`, "giu");

/** An at sign inside a word is a mail address. */
function withoutMentions(text: string): string {
  if (!text.includes("@")) return text;
  return text.replace(AT_SIGN, (found) => (found === "@" ? `@${WORD_JOINER}` : found));
}

/** The text of html that this file has written: every `<` in it begins a tag. */
function toPlain(html: string): string {
  return shownBy({ html: html.replace(/<a href="([^"]*)">(.*?)<\/a>/gs, "$2 ($1)") });
}
