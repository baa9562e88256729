import type { Tokens } from "marked";
import { known } from "./markdown.ts";
import { plainText } from "./plain-text.ts";

/** Columns are aligned up to this width; one long cell must not widen every row. */
const MAX_WIDTH = 40;

/** A table for a fixed-width font: a line per row, a ruled line below the header. */
export function tableText({ header, rows }: Tokens.Table): string {
  const lines = [header, ...rows].map((cells) => cells.map(({ tokens }) => plainText(known(tokens)).trim()));
  const widths = header.map((_, column) => widthOf(lines, column));
  const [top = "", ...body] = lines.map((cells) => aligned(cells, widths));
  const rule = widths.map((width) => "-".repeat(width)).join("-+-");
  return [top, rule, ...body].join("\n");
}

function widthOf(lines: readonly (readonly string[])[], column: number): number {
  return lines.reduce((widest, cells) => {
    const width = cells[column]?.length ?? 0;
    return width > MAX_WIDTH ? widest : Math.max(widest, width);
  }, 1);
}

function aligned(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join(" | ")
    .trimEnd();
}
