/** From this size on a block ends at the next good border. */
const FULL_LINES = 32;
const FULL_UNITS = 2_000;
const OUTER_FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;
const INNER_FENCE = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)]))*[ \t]*(`{3,}|~{3,})/;

/**
 * Cuts Markdown into blocks that can be parsed one after the other, because the parser's time grows with the square of a
 * hostile block's size. Joined, the blocks are the source. A fenced block at the margin is one block whatever its size; tables
 * and fences inside lists stay whole up to about 400 lines, and other blocks end between paragraphs, items or lines.
 */
export function sourceBlocks(source: string): readonly string[] {
  const splitter = new BlockSplitter(source);
  for (let at = 0; at < source.length; ) {
    const lineBreak = source.indexOf("\n", at);
    const end = lineBreak < 0 ? source.length : lineBreak + 1;
    splitter.read(at, end);
    at = end;
  }
  return splitter.finish();
}

class BlockSplitter {
  readonly #source: string;
  readonly #blocks: string[] = [];
  #start = 0;
  #lines = 0;
  #isAfterBlank = true;
  #outerFence = "";
  #innerFence = "";
  #isTable = false;
  #cellsAbove = 0;

  constructor(source: string) {
    this.#source = source;
  }

  finish(): readonly string[] {
    this.#cut(this.#source.length);
    return this.#blocks;
  }

  read(at: number, end: number): void {
    const line = this.#source.slice(at, end).trimEnd();
    if (this.#outerFence) {
      if (closes(line.replace(/^ {1,3}/, ""), this.#outerFence)) {
        this.#outerFence = "";
        this.#cut(end);
      }
      return;
    }
    const fence = OUTER_FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      this.#cut(at);
      this.#outerFence = fence;
      return;
    }
    if (line !== "" && this.#isFull(at, line)) this.#cut(at);
    this.#follow(line);
  }

  /** Keeps track of what the line stands in. */
  #follow(line: string): void {
    const cells = line.includes("|") ? countCells(line) : 0;
    const isDelimiter = cells > 0 && cells === this.#cellsAbove && /^[\s:|-]+$/.test(line);
    this.#isTable = cells > 0 && (this.#isTable || isDelimiter);
    this.#cellsAbove = cells;
    this.#innerFence = this.#nextInnerFence(line);
    this.#isAfterBlank = line === "";
    this.#lines++;
  }

  #nextInnerFence(line: string): string {
    if (this.#innerFence) {
      const hasLeft = /^[^\s>]/.test(line);
      return hasLeft || closes(line.replace(/^[\s>]+/, ""), this.#innerFence) ? "" : this.#innerFence;
    }
    if (!line.includes("```") && !line.includes("~~~")) return "";
    return INNER_FENCE.exec(line)?.[1] ?? "";
  }

  #isFull(at: number, line: string): boolean {
    const fullness = Math.max(this.#lines / FULL_LINES, (at - this.#start) / FULL_UNITS);
    if (fullness < 1) return false;
    if (this.#isTable || this.#innerFence) return fullness >= 12;
    const isAtMargin = /^\S/.test(line);
    return (isAtMargin && (this.#isAfterBlank || fullness >= 2)) || fullness >= 4;
  }

  #cut(at: number): void {
    if (at > this.#start) this.#blocks.push(this.#source.slice(this.#start, at));
    this.#start = at;
    this.#lines = 0;
    this.#isAfterBlank = true;
    this.#innerFence = "";
    this.#isTable = false;
    this.#cellsAbove = 0;
  }
}

function closes(marks: string, fence: string): boolean {
  return marks.startsWith(fence) && marks === (fence[0] ?? "").repeat(marks.length);
}

function countCells(line: string): number {
  const bars = line.split("|").length - 1;
  return bars + 1 - Number(/^\s*\|/.test(line)) - Number(line.endsWith("|"));
}
