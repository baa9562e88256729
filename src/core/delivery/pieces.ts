import type { MarkedToken, Tokens } from "marked";
import type { Dialect } from "./dialect.ts";
import { known } from "./markdown.ts";
import type { Piece } from "./piece.ts";
import { SpanWriter } from "./span-writer.ts";
import { tableText } from "./table-text.ts";

/** What a text becomes in a dialect, ready to be cut into parts. Line breaks between blocks are those of the source. */
export function toPieces(tokens: readonly MarkedToken[], dialect: Dialect): readonly Piece[] {
  const out = new SpanWriter(dialect);
  new BlockWriter(out, dialect).blocks(tokens);
  return out.pieces;
}

class BlockWriter {
  readonly #out: SpanWriter;
  readonly #dialect: Dialect;
  #isQuote = false;

  constructor(out: SpanWriter, dialect: Dialect) {
    this.#out = out;
    this.#dialect = dialect;
  }

  blocks(tokens: readonly MarkedToken[]): void {
    let lineBreaks = 0;
    let joins = true;
    for (const token of tokens) {
      if (token.type !== "space") {
        if (!joins) this.#out.text("\n".repeat(Math.max(lineBreaks, 1)));
        joins = token.type === "checkbox";
        lineBreaks = 0;
        this.#block(token);
      }
      lineBreaks += lineBreaksAtEnd(token.raw);
    }
  }

  #block(token: MarkedToken) {
    switch (token.type) {
      case "heading":
        return this.#out.orLiterally(token.raw, () => this.#heading(token));
      case "blockquote":
        return this.#out.orLiterally(token.raw, () => this.#quote(token));
      case "list":
        return this.#list(token);
      case "code":
        return this.#fence(token.text, /^\S*/.exec(token.lang ?? "")?.[0] ?? "");
      case "table":
        return this.#table(token);
      case "hr":
        return this.#out.text("---");
      case "def":
        return this.#out.text(token.raw.trim());
      case "paragraph":
        return this.#out.inline(known(token.tokens));
      default:
        return this.#out.inline([token]);
    }
  }

  #heading({ depth, tokens }: Tokens.Heading): void {
    const frame = this.#dialect.heading?.(depth);
    if (frame) this.#out.framed(frame, () => this.#out.inline(known(tokens)));
    else this.#out.styled("bold", "**", () => this.#out.inline(known(tokens)));
  }

  /** No platform shows a quote within a quote. */
  #quote({ tokens }: Tokens.Blockquote) {
    if (this.#isQuote) return this.blocks(known(tokens));
    this.#isQuote = true;
    this.#out.framed(this.#dialect.quote, () => this.blocks(known(tokens)));
    this.#isQuote = false;
  }

  #list({ items, ordered, start }: Tokens.List): void {
    items.forEach((item, index) => {
      const before = items[index - 1];
      if (before) this.#out.text("\n".repeat(Math.max(lineBreaksAtEnd(before.raw), 1)));
      const marker = ordered ? `${Number(start) + index}${delimiterOf(item)} ` : this.#dialect.bullet;
      const frame = { open: marker, close: "", reopen: "", indent: " ".repeat(marker.length) };
      this.#out.orLiterally(item.raw, () => this.#out.framed(frame, () => this.blocks(known(item.tokens))));
    });
  }

  #fence(code: string, language: string): void {
    if (code.trim() === "") return;
    const text = this.#dialect.fenced?.(code) ?? code;
    this.#out.framed(this.#dialect.fence(language), () => this.#out.code(text));
  }

  #table(table: Tokens.Table) {
    if (this.#dialect.tables === "fence") return this.#fence(tableText(table), "");
    this.#out.styled("bold", "**", () => this.#row(table.header));
    for (const row of table.rows) {
      this.#out.text("\n");
      this.#row(row);
    }
  }

  #row(cells: readonly Tokens.TableCell[]): void {
    cells.forEach(({ tokens }, column) => {
      if (column > 0) this.#out.text(" | ");
      this.#out.inline(known(tokens));
    });
  }
}

function delimiterOf({ raw }: Tokens.ListItem): string {
  return /^\s*\d+([.)])/.exec(raw)?.[1] ?? ".";
}

function lineBreaksAtEnd(raw: string): number {
  let count = 0;
  for (let at = raw.length - 1; at >= 0; at--) {
    const character = raw[at];
    if (character === "\n") count++;
    else if (character !== " " && character !== "\t") break;
  }
  return count;
}
