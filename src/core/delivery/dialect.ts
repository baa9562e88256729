import type { Frame } from "./piece.ts";

export type Style = "bold" | "italic" | "underline" | "strike" | "spoiler";

/** How one platform writes what Markdown says. */
export interface Dialect {
  /** Marks around styled text; undefined where the platform has none. `written`: the marks in the source. */
  style(style: Style, written: string): Frame | undefined;
  /** undefined: bold. */
  heading?(depth: number): Frame | undefined;
  readonly quote: Frame;
  readonly bullet: string;
  codeSpan(text: string): Frame;
  /** `language` is one word or empty. */
  fence(language: string): Frame;
  /** What code becomes, in a fence or in a span. */
  fenced?(code: string): string;
  /** A frame around the label, or text that follows it. */
  link(url: string): Frame | string;
  /** What `<https://…>` becomes; the address without it. */
  autolink?(raw: string): string;
  /** Around an address that stands as text, where the platform finds none by itself. */
  address?(url: string): Frame | undefined;
  /** What text becomes that Markdown takes literally. */
  text?(literal: string): string;
  /** What `\*` becomes; the character without it. */
  escaped?(raw: string): string;
  readonly tables: "fence" | "lines";
  /** A style ends before a line break and begins again after it. */
  readonly stylesWithinLine?: boolean;
}

/** Where three backticks end a fence of any length: code with invisible spaces between the backticks of such a run. */
export function withoutFences(code: string): string {
  return code.replace(/`{3,}/g, (run) => Array.from(run).join("\u200b"));
}
