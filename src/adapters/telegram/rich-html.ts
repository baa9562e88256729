import type { MarkedToken, Tokens } from "marked";
import type { Dialect } from "../../core/delivery/dialect.ts";
import { known } from "../../core/delivery/markdown.ts";
import type { Frame } from "../../core/delivery/piece.ts";
import { SpanWriter } from "../../core/delivery/span-writer.ts";
import { telegramMarkup } from "./outbound.ts";
import { isRoomFor, toMarkup } from "./rich-markup.ts";

/**
 * Tokens as the HTML of a rich message; undefined where a rich message has no room for them. The words are those of `html` and `plain`, with the same rules for
 * links; addresses are links here, as the message has to be sent without detection, and nobody is pinged. Nothing of the source is markup but what Markdown
 * says: no tag, no picture, no button.
 */
export function toRichHtml(tokens: readonly MarkedToken[]): string | undefined {
  const out = new SpanWriter(RICH);
  new RichWriter(out).blocks(tokens, "message");
  const html = toMarkup(out.pieces);
  return isRoomFor(html) ? html : undefined;
}

const RICH: Dialect = {
  ...telegramMarkup.dialect,
  address(url) {
    const link = telegramMarkup.dialect.link(url);
    return typeof link === "string" ? undefined : link;
  },
};

class RichWriter {
  readonly #out: SpanWriter;

  constructor(out: SpanWriter) {
    this.#out = out;
  }

  /** In a container the text that comes first needs no paragraph. */
  blocks(tokens: readonly MarkedToken[], within: "message" | "container"): void {
    const shown = tokens.filter(({ type }) => type !== "space");
    for (const [at, token] of shown.entries()) this.#block(token, within === "container" && at === 0);
  }

  #block(token: MarkedToken, isBare: boolean) {
    switch (token.type) {
      case "heading":
        return this.#out.framed(tag(`h${token.depth}`), () =>
          this.#out.orLiterally(token.raw.trim(), () => this.#out.inline(known(token.tokens))),
        );
      case "blockquote":
        return this.#quote(token);
      case "list":
        return this.#list(token);
      case "code":
        return this.#fence(token);
      case "table":
        return this.#table(token);
      case "hr":
        return this.#out.framed({ open: "<hr/>", close: "" }, () => {});
      case "def":
        return this.#paragraph(isBare, () => this.#out.text(token.raw.trim()));
      case "paragraph":
        return this.#paragraph(isBare, () => this.#out.inline(known(token.tokens)));
      default:
        return this.#paragraph(isBare, () => this.#out.inline([token]));
    }
  }

  #paragraph(isBare: boolean, write: () => void) {
    if (isBare) write();
    else this.#out.framed(tag("p"), write);
  }

  #quote({ raw, tokens }: Tokens.Blockquote): void {
    const content = known(tokens);
    this.#out.framed(tag("blockquote"), () => {
      if (content.every(saysNothing)) this.#out.text(raw.trim());
      else this.blocks(content, "container");
    });
  }

  #list({ items, ordered, start }: Tokens.List): void {
    const first = ordered && start !== 1 ? ` start="${Number(start)}"` : "";
    const frame = ordered ? { open: `<ol${first}>`, close: "</ol>" } : tag("ul");
    this.#out.framed(frame, () => {
      for (const item of items) this.#out.framed(tag("li"), () => this.#item(item));
    });
  }

  #item({ raw, task, checked, tokens }: Tokens.ListItem) {
    const content = withoutCheckbox(known(tokens));
    if (task) {
      this.#out.framed({ open: `<input type="checkbox"${checked ? " checked" : ""}>`, close: "" }, () => {});
    }
    if (content.length > 0 && content.every(saysNothing)) this.#out.text(withoutMarker(raw));
    else this.blocks(content, "container");
  }

  #fence({ text, lang = "" }: Tokens.Code) {
    if (text.trim() === "") return;
    const language = /^\S*/.exec(lang)?.[0] ?? "";
    this.#out.framed(RICH.fence(language), () => this.#out.code(text));
  }

  #table({ header, rows }: Tokens.Table): void {
    this.#out.framed(tag("table"), () => {
      for (const cells of [header, ...rows]) this.#out.framed(tag("tr"), () => this.#row(cells));
    });
  }

  #row(cells: readonly Tokens.TableCell[]): void {
    for (const { header, align, tokens } of cells) {
      const name = header ? "th" : "td";
      const open = align ? `<${name} align="${align}">` : `<${name}>`;
      this.#out.framed({ open, close: `</${name}>` }, () => this.#out.inline(known(tokens)));
    }
  }
}

/** What has no content is no markup, but the text that it was written as. */
function saysNothing(token: MarkedToken): boolean {
  return token.type === "space" || (token.type === "code" && token.text.trim() === "");
}

function withoutMarker(item: string): string {
  return item.trim().replace(/^(?:[-*+]|\d{1,9}[.)])\s*/, "");
}

/** It stands before the text, or in its first paragraph. */
function withoutCheckbox(tokens: readonly MarkedToken[]): readonly MarkedToken[] {
  const [first, ...others] = tokens;
  if (first?.type === "checkbox") return others;
  if (first?.type !== "paragraph") return tokens;
  return [{ ...first, tokens: first.tokens.filter(({ type }) => type !== "checkbox") }, ...others];
}

function tag(name: string): Frame {
  return { open: `<${name}>`, close: `</${name}>` };
}
