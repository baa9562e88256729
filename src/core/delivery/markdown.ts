import { Lexer, type MarkedToken, type Token } from "marked";
import { BoundedTokenizer } from "./bounded-tokenizer.ts";
import { sourceBlocks } from "./source-blocks.ts";

/** Inline text is read in stretches of about this length: emphasis that spans more is not worth its price. */
const STRETCH = 2_000;
const STRETCH_WITH_DEFINITIONS = 500;

/**
 * Reads Markdown (GFM) into marked's tokens, in time proportional to its length, whatever it holds. Line ends become `\n`,
 * blank lines before and white space after the text go, characters that no platform takes become U+FFFD.
 */
export function parseMarkdown(source: string): readonly MarkedToken[] {
  const tokenizer = new BoundedTokenizer();
  const lexer = new Lexer({ gfm: true, tokenizer });
  for (const block of sourceBlocks(clean(source))) lexer.blockTokens(block, lexer.tokens);

  const hasDefinitions = Object.keys(lexer.tokens.links).length > 0;
  // Where there are no definitions marked would look for references to them all the same, and slowly.
  if (!hasDefinitions) Reflect.deleteProperty(lexer.tokens, "links");
  const length = hasDefinitions ? STRETCH_WITH_DEFINITIONS : STRETCH;
  for (const { src, tokens } of lexer.inlineQueue) {
    for (let rest = src; rest !== ""; ) {
      const end = stretchEnd(rest, length);
      tokenizer.refill();
      lexer.state.inLink = false;
      lexer.inlineTokens(rest.slice(0, end), tokens);
      rest = rest.slice(end);
    }
  }
  return known(lexer.tokens);
}

/** marked types its tokens for extensions too; no extension is registered here, so only its own occur. */
export function known(tokens: readonly Token[] | undefined): readonly MarkedToken[] {
  return (tokens ?? []) as readonly MarkedToken[];
}

function clean(source: string): string {
  return source
    .replace(/\r\n?/g, "\n")
    .replace(/[\0\p{Surrogate}]/gu, "\ufffd")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();
}

/** After a line or sentence if possible, because marks seldom reach beyond it; a long address stays whole up to twice the length. */
function stretchEnd(text: string, length: number): number {
  if (text.length <= length) return text.length;
  for (const border of ["\n", ". ", " "]) {
    const end = text.lastIndexOf(border, length - border.length) + border.length;
    if (end > length / 2) return end;
  }
  const overhang = text.slice(length, 2 * length).search(/\s/);
  if (overhang >= 0) return length + overhang;
  const isInsidePair = /^[\udc00-\udfff]/.test(text.slice(length, length + 1));
  return isInsidePair ? length - 1 : length;
}
