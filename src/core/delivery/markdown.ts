import { Lexer, type MarkedToken, type Token } from "marked";
import { BoundedTokenizer } from "./bounded-tokenizer.ts";
import { sourceBlocks } from "./source-blocks.ts";

/** Inline text is read in stretches of about this length: emphasis that spans more is not worth its price. */
const STRETCH = 2_000;
const STRETCH_WITH_DEFINITIONS = 500;

/** Without any of it a text is one text token. */
const MAY_BE_MARKUP = /[\\<`*~[_&]|^ |:\/\/|www\./i;
/** What `clean` replaces. */
const UNCLEAN = /[\r\0\ud800-\udfff]/;

/**
 * Reads Markdown (GFM) into marked's tokens, in time proportional to its length, whatever it holds. Line ends become `\n`,
 * blank lines before and white space after the text go, characters that no platform takes become U+FFFD.
 */
export function parseMarkdown(source: string): readonly MarkedToken[] {
  const text = clean(source);
  const tokenizer = new BoundedTokenizer(text.length);
  const lexer = new QuickLexer({ gfm: true, tokenizer });
  for (const block of sourceBlocks(text)) {
    if (tokenizer.isSpent) {
      lexer.tokens.push({
        type: "paragraph",
        raw: block,
        text: block,
        tokens: lexer.inline(block.trimEnd()),
      });
      continue;
    }
    const before = lexer.tokens.length;
    tokenizer.enterBlock(block);
    lexer.blockTokens(block, lexer.tokens);
    tokenizer.spend(lexer.tokens.length - before);
  }

  const hasDefinitions = Object.keys(lexer.tokens.links).length > 0;
  // Where there are no definitions marked would look for references to them all the same, and slowly.
  if (!hasDefinitions) Reflect.deleteProperty(lexer.tokens, "links");
  const length = hasDefinitions ? STRETCH_WITH_DEFINITIONS : STRETCH;
  for (const { src, tokens } of lexer.inlineQueue) {
    for (const stretch of stretches(src, length)) {
      tokenizer.enterStretch(stretch);
      lexer.state.inLink = false;
      lexer.inlineTokens(stretch, tokens);
    }
  }
  return known(lexer.tokens);
}

/** marked's lexer, but with few words about text that cannot hold markup. */
class QuickLexer extends Lexer {
  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (source === "" || MAY_BE_MARKUP.test(source)) return super.inlineTokens(source, tokens);
    const last = tokens.at(-1);
    if (last?.type === "text") {
      last.raw += source;
      last.text += source;
    } else tokens.push({ type: "text", raw: source, text: source });
    return tokens;
  }
}

/** marked types its tokens for extensions too; no extension is registered here, so only its own occur. */
export function known(tokens: readonly Token[] | undefined): readonly MarkedToken[] {
  return (tokens ?? []) as readonly MarkedToken[];
}

function clean(source: string): string {
  const text = UNCLEAN.test(source)
    ? source.replace(/\r\n?/g, "\n").replace(/[\0\p{Surrogate}]/gu, "\ufffd")
    : source;
  return text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}

function stretches(text: string, length: number): readonly string[] {
  if (text.length <= length) return [text];
  const all: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const end = stretchEnd(rest, length);
    all.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return all;
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
