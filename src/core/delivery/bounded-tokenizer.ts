import { type Links, Tokenizer, type Tokens } from "marked";
import { decodeReferences } from "./character-references.ts";

const MAX_CONTAINERS = 6;
const MAX_SPANS = 8;
/** Units that openers without a closer may scan in one stretch of text before the rest of it is taken literally. */
const FRUITLESS_UNITS = 8_000;
/** And in the whole text, besides once its length. Texts that mean what they say need a fifth of it. */
const FRUITLESS_UNITS_OF_TEXT = 100_000;
/** Blocks, list items, cells and spans that a text may have, besides one in so many units. Half of it is more than dense texts have. */
const MAX_CONSTRUCTS = 5_000;
const UNITS_PER_CONSTRUCT = 16;
/** Longer addresses exist, but are no use to a reader. */
const WEB_ADDRESS = /^(?:https?:\/\/|www\.)[^\s`]{1,2048}/i;
/** A line that could underline a heading, in whatever it is nested. */
const UNDERLINE = /^[ \t>]*(?:=+|-+)[ \t]*$/m;

/**
 * marked's tokenizer, so bounded that hostile text costs about what honest text costs: nesting has a depth, openers that find
 * no closer share a budget, and so does all that is found. What lies beyond a bound is text. Differs from GFM on purpose in three places: HTML blocks
 * are paragraphs, `2*3*4` is arithmetic, and bare mail addresses are text.
 */
export class BoundedTokenizer extends Tokenizer {
  /** Where something other than text may begin. An underscore inside a word is text. */
  readonly #notText = /[\\`*~]|!?\[|<(?=[\w.!#$%&'*+/=?^`{|}~-])|(?<![\p{L}\p{N}])(?:_|https?:\/\/|www\.)/giu;
  /** The same where a bound is reached. */
  readonly #notLiteral = /\\|<(?=[\w.!#$%&'*+/=?^`{|}~-])|(?<![\p{L}\p{N}])(?:https?:\/\/|www\.)/giu;
  #constructs: number;
  #fruitlessInText: number;
  #containers = 0;
  #mayHoldTable = true;
  #mayHoldUnderline = true;
  #spans = 0;
  #fruitless = 0;
  /** How many characters the text that follows has at least. */
  #literalMarks = 1;

  /** `length`: of the whole text. */
  constructor(length: number) {
    super();
    this.#constructs = MAX_CONSTRUCTS + length / UNITS_PER_CONSTRUCT;
    this.#fruitlessInText = FRUITLESS_UNITS_OF_TEXT + length;
  }

  /** Whether all that follows is to be text. */
  get isSpent(): boolean {
    return this.#constructs <= 0;
  }

  /** Counts constructs that were read without this tokenizer's knowledge. */
  spend(constructs: number): void {
    this.#constructs -= constructs;
  }

  /** Call before each block of the source. */
  enterBlock(source: string): void {
    this.#mayHoldTable = source.includes("|") || source.includes(":");
    this.#mayHoldUnderline = UNDERLINE.test(source);
  }

  /** Call before each stretch of inline text. */
  enterStretch(source: string): void {
    this.#fruitless = FRUITLESS_UNITS;
    // Unless these two are marked's own, it masks code and links for them, also where no emphasis can begin.
    const { emStrong, del } = /[*_~]/.test(source) ? BoundedTokenizer.prototype : Tokenizer.prototype;
    this.emStrong = emStrong;
    this.del = del;
  }

  override table(source: string): Tokens.Table | undefined {
    if (!this.#mayHoldTable) return undefined;
    const table = super.table(source);
    if (table) this.#constructs -= table.header.length * (table.rows.length + 1);
    return table;
  }

  override lheading(source: string): Tokens.Heading | undefined {
    return this.#mayHoldUnderline ? super.lheading(source) : undefined;
  }

  override blockquote(source: string): Tokens.Blockquote | undefined {
    if (this.#containers >= MAX_CONTAINERS) return undefined;
    this.#containers++;
    const quote = super.blockquote(source);
    this.#containers--;
    if (quote) this.#constructs--;
    return quote;
  }

  override list(source: string): Tokens.List | undefined {
    if (this.#containers >= MAX_CONTAINERS) return undefined;
    this.#containers++;
    const list = super.list(source);
    this.#containers--;
    this.#constructs -= list?.items.length ?? 0;
    return list;
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
    if (!this.#mayTry()) return undefined;
    return this.#tried(source, super.emStrong(source, masked, before));
  }

  override del(source: string, masked: string, before = ""): Tokens.Del | undefined {
    if (!source.startsWith("~") || !this.#mayTry()) return undefined;
    return this.#tried(source, super.del(source, masked, before));
  }

  override codespan(source: string): Tokens.Codespan | undefined {
    if (!source.startsWith("`") || !this.#mayTry()) return undefined;
    return this.#tried(source, super.codespan(source));
  }

  override link(source: string): Tokens.Link | Tokens.Image | undefined {
    if (!source.startsWith("[") && !source.startsWith("![")) return undefined;
    if (!this.#mayTry()) return undefined;
    return this.#tried(source, super.link(source));
  }

  override reflink(source: string, links: Links): Tokens.Link | Tokens.Image | undefined {
    if (!source.startsWith("[") && !source.startsWith("![")) return undefined;
    if (isEmpty(links) || !this.#mayTry()) return undefined;
    return this.#tried(source, asLink(super.reflink(source, links)));
  }

  override url(source: string): Tokens.Link | undefined {
    const address = WEB_ADDRESS.exec(source)?.[0];
    return address === undefined ? undefined : super.url(address);
  }

  override inlineText(source: string): Tokens.Text | undefined {
    const notText = this.#isLiteral ? this.#notLiteral : this.#notText;
    notText.lastIndex = source.startsWith("`") ? endOfBackticks(source) : this.#literalMarks;
    this.#literalMarks = 1;
    const next = notText.exec(source);
    const raw = next === null ? source : source.slice(0, next.index);
    return { type: "text", raw, text: decodeReferences(raw), escaped: false };
  }

  /** Begins a try, which `#tried` ends. */
  #mayTry(): boolean {
    if (this.#isLiteral) return false;
    this.#spans++;
    return true;
  }

  #tried<T>(source: string, token: T | undefined): T | undefined {
    this.#spans--;
    if (token === undefined) {
      this.#fruitless -= source.length;
      this.#fruitlessInText -= source.length;
    } else this.#constructs--;
    return token;
  }

  get #isLiteral(): boolean {
    return (
      this.#fruitless <= 0 || this.#fruitlessInText <= 0 || this.#constructs <= 0 || this.#spans >= MAX_SPANS
    );
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
