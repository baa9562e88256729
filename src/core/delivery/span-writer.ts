import type { MarkedToken, Tokens } from "marked";
import { decodeReferences } from "./character-references.ts";
import type { Dialect, Style } from "./dialect.ts";
import { known } from "./markdown.ts";
import type { Frame, Mark, Piece } from "./piece.ts";
import { plainText, saysSame } from "./plain-text.ts";
import { type InlineToken, withStyleMarks } from "./style-marks.ts";

type WritablePiece = { kind: "text" | "code"; text: string } | Mark;

const CLOSE: Mark = { kind: "close" };

/** Writes inline tokens as pieces, in the order of the calls. */
export class SpanWriter {
  readonly #pieces: WritablePiece[] = [];
  readonly #dialect: Dialect;
  /** Without a frame: the platform has no such style, or it is on already. */
  readonly #styles: { readonly style: Style; readonly frame: Frame | undefined }[] = [];
  #isLink = false;
  #length = 0;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  get pieces(): readonly Piece[] {
    return this.#pieces;
  }

  inline(tokens: readonly MarkedToken[]): void {
    for (const token of withStyleMarks(tokens)) this.#span(token);
  }

  styled(style: Style, written: string, write: () => void): void {
    this.#openStyle(style, written);
    write();
    this.#closeStyle();
  }

  framed(frame: Frame, write: () => void): void {
    this.#pieces.push({ kind: "open", frame });
    write();
    this.#pieces.push(CLOSE);
  }

  /** What has no content is no markup: "#" alone is a number sign. */
  orLiterally(source: string, write: () => void): void {
    const before = this.#length;
    write();
    if (this.#length === before) this.#literal(source.trim());
  }

  code(text: string): void {
    this.#length += text.length;
    this.#pieces.push({ kind: "code", text });
  }

  text(text: string): void {
    const lines = this.#dialect.stylesWithinLine && text.includes("\n") ? text.split("\n") : [text];
    const frames = lines.length > 1 ? this.#styles.flatMap(({ frame }) => frame ?? []) : [];
    lines.forEach((line, index) => {
      if (index > 0) {
        for (const _ of frames) this.#pieces.push(CLOSE);
        this.#append("\n");
        for (const frame of frames) this.#pieces.push({ kind: "open", frame });
      }
      this.#append(line);
    });
  }

  #append(text: string): void {
    this.#length += text.length;
    const last = this.#pieces.at(-1);
    if (last?.kind === "text") last.text += text;
    else if (text !== "") this.#pieces.push({ kind: "text", text });
  }

  #span(token: InlineToken) {
    switch (token.type) {
      case "strong":
        return this.styled("bold", token.raw.slice(0, 2), () => this.inline(known(token.tokens)));
      case "em":
        return this.#emphasis(token);
      case "del":
        return this.styled("strike", "~~", () => this.inline(known(token.tokens)));
      case "styleMark":
        return token.isOpening ? this.#openStyle(token.style, token.raw) : this.#closeStyle();
      case "codespan":
        return this.#codeSpan(this.#dialect.fenced?.(token.text) ?? token.text);
      case "link":
        return token.autolink ? this.#autolink(token) : this.#link(token, known(token.tokens));
      case "image":
        return this.#link(token, [{ type: "text", raw: token.text, text: token.text }]);
      case "text":
        return token.tokens ? this.inline(known(token.tokens)) : this.#literal(token.text);
      case "escape":
        return this.text(this.#dialect.escaped?.(token.raw) ?? token.text);
      case "br":
        return this.text("\n");
      case "html":
        return /^<br\s*\/?>$/i.test(token.raw) ? this.text("\n") : this.#literal(token.raw);
      default:
        return this.text(token.raw);
    }
  }

  /** `***x***` is bold outside and italic inside on every platform. */
  #emphasis({ raw, tokens }: Tokens.Em) {
    const mark = raw.slice(0, 1);
    const [only, ...others] = known(tokens);
    if (only?.type !== "strong" || others.length > 0) {
      return this.styled("italic", mark, () => this.inline(known(tokens)));
    }
    this.styled("bold", only.raw.slice(0, 2), () =>
      this.styled("italic", mark, () => this.inline(known(only.tokens))),
    );
  }

  /** Addresses are not escaped: platforms find them in the text. */
  #autolink({ raw, text, href }: Tokens.Link): void {
    const isBracketed = raw.startsWith("<");
    if (isBracketed && href.startsWith("mailto:")) this.#literal(raw);
    else this.#address(href, (isBracketed && this.#dialect.autolink?.(raw)) || text);
  }

  #address(url: string, written = url): void {
    const frame = this.#isLink ? undefined : this.#dialect.address?.(url);
    if (frame) this.framed(frame, () => this.text(written));
    else this.text(written);
  }

  /** Where a limit leaves no room for its marks, code stands bare: then too it must not open a fence. */
  #codeSpan(code: string): void {
    this.framed(this.#dialect.codeSpan(code), () => this.code(code));
  }

  #link({ href }: { readonly href: string }, label: readonly MarkedToken[]) {
    if (this.#isLink) return this.inline(label);
    const url = decodeReferences(href);
    if (saysSame(plainText(label), url)) return this.#address(url);
    const link = this.#dialect.link(url);
    this.#isLink = true;
    if (typeof link === "string") this.inline(label);
    else this.framed(link, () => this.inline(label));
    this.#isLink = false;
    if (typeof link === "string") this.text(link);
  }

  #openStyle(style: Style, written: string): void {
    const isOn = this.#styles.some((open) => open.style === style);
    const frame = isOn ? undefined : this.#dialect.style(style, written);
    this.#styles.push({ style, frame });
    if (frame) this.#pieces.push({ kind: "open", frame });
  }

  #closeStyle(): void {
    if (this.#styles.pop()?.frame) this.#pieces.push(CLOSE);
  }

  #literal(text: string): void {
    this.text(this.#dialect.text?.(text) ?? text);
  }
}
