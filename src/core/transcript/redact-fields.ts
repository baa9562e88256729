import { matchFrom } from "./match-from.ts";
import { HIDDEN, isMask, type Mask, maskOf } from "./redact-mask.ts";

/** What the name of a secret ends in; `_KEY` counts in environment variables only. */
const NAMES = [
  "(?:api|access|secret|private|auth|client|signing|encryption|master|account|license|webhook)[-_. ]?key|_key",
  "token|secret|passw(?:or)?d|passphrase|pwd|card[-_]?number|cvc|cvv",
  "noisekey|signedidentitykey|signedprekey|pairingephemeralkeypair|keydata|pairingcode", // WhatsApp
].join("|");
const FIELD = new RegExp(`(${NAMES})(\\\\{0,3}["'])?([ \\t]{0,4}(?::=?|=)(?![:=>~])[ \\t]{0,4})`, "gi");
const NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
const NOT_SECRET =
  /(?:page|next|sync|continuation|cursor|cancel|cancellation)[-_.]?token$|(?:public|primary|foreign|session|sort|partition|cache|idempotency|routing)_key$|^(?:old)?pwd$/i;
const PASSWORD = /(?:passw(?:or)?d|passphrase|pwd)$|^x-/i;

const QUOTE = /\\{0,3}["'`]/y;
const BARE = /[^\s"'`,;&|<>(){}[\]\\]*[^\s"'`,;&|<>(){}[\]\\.!?:]/y;
/** A type, a constant, or a place where a value is to go: `string`, `null`, `${TOKEN}`, `<token>`. */
const NO_VALUE =
  /^(?:[Ss]tring|str|number|int|[Bb]oolean|bool|bytes|Buffer|Uint8Array|null|undefined|[Nn]one|nil|[Tt]rue|[Ff]alse|required|optional|any|unknown|\$\{.*\}|\{\{.*\}\}|<.*>|%\w+%|\$[A-Z_][A-Z0-9_]*)$/s;
/** A variable or property in code, such as `config.apiKey` or `process.env.TOKEN`. */
const REFERENCE =
  /^(?:process|import|os|Deno|Bun|this|self|config|options|env)\.[\w.]+$|^[a-z_$][\w$.?]*(?:key|token|secret|password)$/i;
/** What follows a quote that ends a string in code, as in `ask("Password: ")`. */
const STRING_ENDED = /[,;)\]}+\s]/;
const DOTTED_NAME = /^[\w$?]+(?:\.[\w$?]+)+$/;
const KEY_PAIR = /(?:noisekey|signedidentitykey|signedprekey|pairingephemeralkeypair|keydata)$/i;

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
    const mask = field && (maskKeyPair(text, field) ?? maskQuoted(text, field) ?? maskBare(text, field));
    if (!mask) continue;
    masks.push(mask);
    at = mask.end;
  }
  return masks;
}

function readField(text: string, match: RegExpExecArray): Field | undefined {
  const [all, ending = "", quote, separator] = match;
  let start = match.index;
  while (start > match.index - 40 && NAME_CHARACTERS.includes(text[start - 1] ?? " ")) start--;
  const name = text.slice(start, match.index) + ending;
  const before = text[start - 1] ?? "";
  const isLowerCaseKey = ending !== "_KEY" && ending.toLowerCase() === "_key";
  const isPackageName = quote !== undefined && before === "/";
  if (isLowerCaseKey || isPackageName || NOT_SECRET.test(name)) return undefined;
  return { name, ending, before, quote, isTight: separator === "=", valueStart: match.index + all.length };
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
  const endsString = !nameQuote && (quote === before || STRING_ENDED.test(text[valueStart + 1] ?? ""));
  if (!quote || endsString) return undefined;
  const start = valueStart + quote.length;
  let end = start;
  while (end < text.length && text[end] !== "\n" && !text.startsWith(quote, end))
    end += text[end] === "\\" ? 2 : 1;
  const value = text.slice(start, end);
  if (value === "" || isMask(value) || NO_VALUE.test(value)) return undefined;
  return { start, end: Math.min(end, text.length), replacement: nameQuote ? HIDDEN : maskOf(value) };
}

function maskBare(text: string, { name, ending, isTight, valueStart }: Field): Mask | undefined {
  const value = matchFrom(BARE, text, valueStart)?.[0] ?? "";
  const end = valueStart + value.length;
  const isLong = value.length >= 20 && !DOTTED_NAME.test(value);
  const isSaid = isTight || isLong || (value.length >= 8 && /\d/.test(value)) || PASSWORD.test(name);
  if (!isSaid || value === "" || isMask(value) || NO_VALUE.test(value)) return undefined;
  const isReference =
    value === name || value === ending || (REFERENCE.test(value) && name !== name.toUpperCase());
  const isCode = isReference || "([{".includes(text[end] ?? " ");
  return isCode ? undefined : { start: valueStart, end, replacement: maskOf(value) };
}
