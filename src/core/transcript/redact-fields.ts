import { matchFrom } from "./match-from.ts";
import { HIDDEN, isMask, type Mask, maskOf } from "./redact-mask.ts";

/** What the name of a secret ends in; `_KEY` counts in environment variables only. */
const NAMES = [
  "(?:api|access|secret|private|auth|client|signing|encryption|master|account|license|webhook)[-_. ]?key|_key",
  "token|secret|passw(?:or)?d|passphrase|pwd|contrase[nñ]a|senha|पासवर्ड|card[-_]?number|cvc|cvv",
  "noisekey|signedidentitykey|signedprekey|pairingephemeralkeypair|privkey|rootkey|chainkey|keydata|pairingcode", // WhatsApp
].join("|");
const FIELD = new RegExp(`(${NAMES})(\\\\{0,7}["'])?([ \\t]{0,4}(?::=?|=)(?![:=>~])[ \\t]{0,4})`, "gi");
const LONGEST_NAME = 40;
const NOT_SECRET =
  /(?:page|next|sync|continuation|cursor|cancel|cancellation)[-_.]?token$|(?:public|primary|foreign|session|sort|partition|cache|idempotency|routing)_key$|^(?:old)?pwd$/i;
const PASSWORD = /(?:passw(?:or)?d|passphrase|pwd|contrase[nñ]a|senha|पासवर्ड)$|^x-/i;
/** `Password: at least …` is a sentence. */
const SHORTEST_PASSWORD = 4;

const QUOTE = /\\{0,7}["'`]/y;
/** No part of a value without quotes; beyond U+0900, the dots of a mask aside, words go on without a blank between. */
const BETWEEN = "\\s\"'`,;&|<>(){}[\\]\\\\«»\\u0900-\\u2025\\u2027-\\uffff";
/** What ends a sentence or a word in bold is not its last character. */
const BARE = new RegExp(`[^${BETWEEN}]*[^${BETWEEN}.!?:*_~]`, "y");
/** A type, a constant, or a place where a value is to go: `string`, `null`, `${TOKEN}`, `<token>`. */
const NO_VALUE =
  /^(?:[Ss]tring|str|number|int|[Bb]oolean|bool|bytes|Buffer|Uint8Array|null|undefined|[Nn]one|nil|[Tt]rue|[Ff]alse|required|optional|any|unknown|\$\{.*\}|\{\{.*\}\}|<.*>|%\w+%|\$[A-Z_][A-Z0-9_]*)$/s;
/** A variable or property in code, such as `config.apiKey` or `process.env.TOKEN`. */
const REFERENCE =
  /^(?:process|import|os|Deno|Bun|this|self|config|options|env)\.[\w.]+$|^[a-z_$][\w$.?]*(?:key|token|secret|password)$/i;
/** What follows a quote that ends a string in code. */
const STRING_ENDED = /[,;)\]}+\s]/;
/** A value of that many characters that may begin with the `+` which joins strings in code. */
const BASE64 = /^\+(?=[^=]*\d|.*=$)[\w+/-]{15,}={0,2}$/;
const DOTTED_NAME = /^[\w$?]+(?:\.[\w$?]+)+$/;
const KEY_PAIR =
  /(?:noisekey|signedidentitykey|signedprekey|pairingephemeralkeypair|privkey|rootkey|chainkey|keydata)$/i;
/** How Node.js prints bytes. */
const BYTES = /<Buffer [a-f0-9 .]*(?:more bytes)?>?/y;

interface Field {
  readonly name: string;
  /** The part of the name that gives it away. */
  readonly ending: string;
  /** What stands before the name. */
  readonly before: string;
  /** The quote after the name, as in JSON, with its escapes. */
  readonly quote: string | undefined;
  /** `name=value` without blanks: an assignment, no sentence. */
  readonly isTight: boolean;
  readonly valueStart: number;
}

/** The values of fields whose name says secret: JSON, environment, form bodies, headers, `password: x`. */
export function findSecretFields(text: string): readonly Mask[] {
  const masks: Mask[] = [];
  let at = 0;
  for (let match = matchFrom(FIELD, text, at); match; match = matchFrom(FIELD, text, at)) {
    at = match.index + match[0].length;
    const field = readField(text, match);
    const mask = field && maskValue(text, field);
    if (!mask) continue;
    masks.push(mask);
    at = mask.end;
  }
  return masks;
}

function readField(text: string, match: RegExpExecArray): Field | undefined {
  const [all, ending = "", quote, separator] = match;
  let start = match.index;
  while (start > match.index - LONGEST_NAME && isNameUnit(text.charCodeAt(start - 1))) start--;
  const name = (text.slice(start, match.index) + ending).replace(/^_+(?=.)/, "");
  const before = text[start - 1] ?? "";
  const isLowerCaseKey = ending !== "_KEY" && ending.toLowerCase() === "_key";
  const isPackageName = quote !== undefined && before === "/";
  if (isLowerCaseKey || isPackageName || NOT_SECRET.test(name)) return undefined;
  return { name, ending, before, quote, isTight: separator === "=", valueStart: match.index + all.length };
}

/** `[\w.-]`; NaN before the text is none. */
function isNameUnit(unit: number): boolean {
  if (unit < 0x30) return unit === 0x2d || unit === 0x2e;
  return unit <= 0x39 || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f || (unit >= 0x61 && unit <= 0x7a);
}

function maskValue(text: string, field: Field): Mask | undefined {
  const bytes = matchFrom(BYTES, text, field.valueStart)?.[0];
  if (bytes !== undefined)
    return { start: field.valueStart, end: field.valueStart + bytes.length, replacement: HIDDEN };
  return maskKeyPair(text, field) ?? maskQuoted(text, field) ?? maskBare(text, field);
}

/** Keys that are objects of buffers, in WhatsApp credentials. */
function maskKeyPair(text: string, { name, quote = '"', valueStart }: Field): Mask | undefined {
  if (text[valueStart] !== "{" || !KEY_PAIR.test(name)) return undefined;
  let depth = 0;
  let end = valueStart;
  do {
    if (text[end] === "{") depth++;
    if (text[end] === "}") depth--;
    end++;
  } while (depth > 0 && end < text.length);
  return { start: valueStart, end, replacement: `${quote}${HIDDEN}${quote}` };
}

function maskQuoted(text: string, { before, quote: nameQuote, valueStart }: Field): Mask | undefined {
  const quote = matchFrom(QUOTE, text, valueStart)?.[0];
  if (!quote) return undefined;
  const start = valueStart + quote.length;
  let end = start;
  while (end < text.length && text[end] !== "\n" && !text.startsWith(quote, end))
    end += text[end] === "\\" ? 2 : 1;
  const value = text.slice(start, end);
  const isCode = !nameQuote && !BASE64.test(value) && endsString(quote, before, text[start] ?? "");
  if (isCode) return undefined;
  if (value === "" || isMask(value) || NO_VALUE.test(value)) return undefined;
  return { start, end: Math.min(end, text.length), replacement: nameQuote ? HIDDEN : maskOf(value) };
}

/** The quote ends a string in code, as in `ask("Password: ")`, and begins no value. */
function endsString(quote: string, before: string, after: string): boolean {
  const mayClose = before !== "" && quote.endsWith(before);
  return mayClose ? !/\w/.test(after) : STRING_ENDED.test(after);
}

function maskBare(text: string, field: Field): Mask | undefined {
  const { valueStart: start, name, ending } = field;
  const value = matchFrom(BARE, text, start)?.[0] ?? "";
  const end = start + value.length;
  if (!isSaid(value, field) || isMask(value) || NO_VALUE.test(value)) return undefined;
  const isReference =
    value === name || value === ending || (REFERENCE.test(value) && name !== name.toUpperCase());
  const isCode = isReference || "([{".includes(text[end] ?? " ");
  return isCode ? undefined : { start, end, replacement: maskOf(value) };
}

/** Without quotes much of what follows a name is the next word of a sentence, or a type. */
function isSaid(value: string, { name, isTight }: Field): boolean {
  if (isTight) return value !== "";
  if (PASSWORD.test(name)) return value.length >= SHORTEST_PASSWORD;
  return (value.length >= 20 && !DOTTED_NAME.test(value)) || (value.length >= 8 && /\d/.test(value));
}
