import { type Links, Tokenizer, type Tokens } from "marked";
import { decodeReferences } from "./character-references.ts";

const MAX_CONTAINERS = 6;
const MAX_SPANS = 8;
/** Units that openers without a closer may scan in one stretch of text before the rest of it is taken literally. */
const FRUITLESS_UNITS = 8_000;
/** Longer addresses exist, but are no use to a reader. */
const WEB_ADDRESS = /^(?:https?:\/\/|www\.)[^\s`]{1,2048}/i;

/**
 * marked's tokenizer, so bounded that hostile text costs about what honest text costs: nesting has a depth, and openers that
 * find no closer share a budget. What lies beyond a bound is text. Differs from GFM on purpose in three places: HTML blocks
 * are paragraphs, `2*3*4` is arithmetic, and bare mail addresses are text.
 */
export class BoundedTokenizer extends Tokenizer {
  /** Where something other than text may begin. An underscore inside a word is text. */
  readonly #notText = /[\\<`*~]|!?\[|(?<![\p{L}\p{N}])(?:_|https?:\/\/|www\.)/giu;
  #containers = 0;
  #spans = 0;
  #fruitless = 0;
  /** How many characters the text that follows has at least. */
  #literalMarks = 1;

  /** Call before each stretch of inline text. */
  refill(): void {
    this.#fruitless = FRUITLESS_UNITS;
  }

  override blockquote(source: string): Tokens.Blockquote | undefined {
    return this.#container(() => super.blockquote(source));
  }

  override list(source: string): Tokens.List | undefined {
    return this.#container(() => super.list(source));
  }

  override html(): undefined {
    return undefined;
  }

  override emStrong(source: string, masked: string, before = ""): Tokens.Em | Tokens.Strong | undefined {
    const isUnderscore = source.startsWith("_");
    if (!isUnderscore && !source.startsWith("*")) return undefined;
    if (isUnderscore && /[\p{L}\p{N}]$/u.test(before)) return undefined;
    if (isArithmetic(source, before)) {
      this.#literalMarks = source.startsWith("**") ? 2 : 1;
      return undefined;
    }
    return this.#span(source, () => super.emStrong(source, masked, before));
  }

  override del(source: string, masked: string, before = ""): Tokens.Del | undefined {
    if (!source.startsWith("~")) return undefined;
    return this.#span(source, () => super.del(source, masked, before));
  }

  override codespan(source: string): Tokens.Codespan | undefined {
    if (!source.startsWith("`")) return undefined;
    return this.#span(source, () => super.codespan(source));
  }

  override link(source: string): Tokens.Link | Tokens.Image | undefined {
    if (!source.startsWith("[") && !source.startsWith("![")) return undefined;
    return this.#span(source, () => super.link(source));
  }

  override reflink(source: string, links: Links): Tokens.Link | Tokens.Image | undefined {
    if (!source.startsWith("[") && !source.startsWith("![")) return undefined;
    if (isEmpty(links)) return undefined;
    return this.#span(source, () => asLink(super.reflink(source, links)));
  }

  override url(source: string): Tokens.Link | undefined {
    const address = WEB_ADDRESS.exec(source)?.[0];
    return address === undefined ? undefined : super.url(address);
  }

  override inlineText(source: string): Tokens.Text | undefined {
    this.#notText.lastIndex = source.startsWith("`") ? endOfBackticks(source) : this.#literalMarks;
    this.#literalMarks = 1;
    const next = this.#notText.exec(source);
    const raw = next === null ? source : source.slice(0, next.index);
    return { type: "text", raw, text: decodeReferences(raw), escaped: false };
  }

  #container<T>(read: () => T | undefined): T | undefined {
    if (this.#containers >= MAX_CONTAINERS) return undefined;
    this.#containers++;
    try {
      return read();
    } finally {
      this.#containers--;
    }
  }

  #span<T>(source: string, read: () => T | undefined): T | undefined {
    if (this.#fruitless <= 0 || this.#spans >= MAX_SPANS) return undefined;
    this.#spans++;
    try {
      const token = read();
      if (token === undefined) this.#fruitless -= source.length;
      return token;
    } finally {
      this.#spans--;
    }
  }
}

/** `2*3`, `a*b`, `2**8`: a star between two characters of a word or number. */
function isArithmetic(source: string, before: string): boolean {
  return source.startsWith("**")
    ? /\d$/.test(before) && /^\*\*\w/.test(source)
    : /[A-Za-z\d]$/.test(before) && /^\*\w/.test(source);
}

/** Without a definition for it, what looks like a reference is text. */
function asLink(token: Tokens.Link | Tokens.Image | Tokens.Text | undefined) {
  return token?.type === "text" ? undefined : token;
}

function isEmpty(links: Links): boolean {
  for (const _ in links) return false;
  return true;
}

function endOfBackticks(source: string): number {
  let end = 1;
  while (source[end] === "`") end++;
  return end;
}
