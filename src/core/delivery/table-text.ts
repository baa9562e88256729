import type { Tokens } from "marked";
import { known } from "./markdown.ts";
import { plainText } from "./plain-text.ts";

/** Columns are aligned up to this width; one long cell must not widen every row. */
const MAX_WIDTH = 40;
/** UTF-16 units. */
const MAX_LENGTH = 400;

/** Two columns wide in a fixed-width font. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;
const graphemes = new Intl.Segmenter();

/** A table for a fixed-width font: a line per row, a ruled line below the header; columns of numbers stand to the right where the source says so. */
export function tableText({ header, rows, align }: Tokens.Table): string {
  const lines = [header, ...rows].map((cells) =>
    cells.map(({ tokens }) => cellOf(plainText(known(tokens)).trim())),
  );
  const columns = header.map((_, column) => ({
    width: widthOf(lines, column),
    align: align[column] ?? null,
  }));
  const [top = "", ...body] = lines.map((cells) => aligned(cells, columns));
  const rule = columns.map(({ width }) => "-".repeat(width)).join("-+-");
  return [top, rule, ...body].join("\n");
}

interface Cell {
  readonly text: string;
  /** Columns of the font. */
  readonly width: number;
}

interface Column {
  readonly width: number;
  readonly align: "left" | "right" | "center" | null;
}

/** What is longer than any column is not worth counting. */
function cellOf(text: string): Cell {
  if (text.length > MAX_LENGTH) return { text, width: Number.POSITIVE_INFINITY };
  if (/^[\x20-\x7e]*$/.test(text)) return { text, width: text.length };
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return { text, width };
}

function widthOf(lines: readonly (readonly Cell[])[], column: number): number {
  return lines.reduce((widest, cells) => {
    const width = cells[column]?.width ?? 0;
    return width > MAX_WIDTH ? widest : Math.max(widest, width);
  }, 1);
}

function aligned(cells: readonly Cell[], columns: readonly Column[]): string {
  return cells
    .map(({ text, width }, at) =>
      padded(text, Math.max(0, (columns[at]?.width ?? 0) - width), columns[at]?.align),
    )
    .join(" | ")
    .trimEnd();
}

function padded(text: string, missing: number, align: Column["align"] | undefined): string {
  const left = align === "right" ? missing : align === "center" ? Math.floor(missing / 2) : 0;
  return " ".repeat(left) + text + " ".repeat(missing - left);
}
