export const SILENCE_TOKENS = ["REPLY_SKIP", "ANNOUNCE_SKIP", "NO_REPLY"] as const;

type SilenceToken = (typeof SILENCE_TOKENS)[number];

type Heard =
  | { readonly kind: "silent"; readonly token: SilenceToken | undefined }
  | { readonly kind: "text"; readonly text: string; readonly stripped?: SilenceToken };

/** Longer than any wrapped token. */
const MAX_WRAPPED = 500;
/** Longer than any decorated token. */
const TAIL = 100;
/** What models put around a token: quotes, brackets, emphasis, code marks, full stops, invisible characters. */
const DECORATION = new Set("\"'“”‘’„«»「」`*_~()[]{}<>#:;,.…。।!-\u200b\u2060\ufeff");
const TEXT_FIELDS = ["text", "reply", "message", "content", "response", "output"];
const REASONING = "(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad|antthinking)";
const REASONING_BEGIN = new RegExp(`^<${REASONING}\\b[^<>]*>`, "i");
const REASONING_INSIDE = new RegExp(`<${REASONING}\\b`, "i");
const REASONING_END = new RegExp(`</${REASONING}\\s*>`, "i");
/** At the end of a line that says more: after the end of a sentence, or glued to a word. */
const AFTER_TEXT = new RegExp(
  "(?<=[.!?…。！？।\\p{Extended_Pictographic}\\ufe0f]\\s*|[\\p{Ll}\\p{Lo}\\p{M})\\]}])(?<!\\b(?:e\\.g|i\\.e)\\.\\s*)" +
    `(\\*{0,3})(${SILENCE_TOKENS.join("|")})\\1[.!]?$`,
  "u",
);

/**
 * Whether a reply is a way to say nothing. Silent is a token alone, however decorated or wrapped in JSON, also after nothing but
 * reasoning; blank text or reasoning alone is silent without a token. A token after real text, on a last line of its own or glued
 * to the end, is taken off, and `stripped` tells which, for the log. Inside a sentence it is text. Idempotent, linear.
 */
export function silence(text: string): Heard {
  const alone = tokenAlone(afterReasoning(text));
  if (alone) return { kind: "silent", token: alone };

  const { rest, token } = withoutTrailingTokens(text);
  if (!token) {
    const isBlank = withoutReasoning(text).trim() === "";
    return isBlank ? { kind: "silent", token } : { kind: "text", text };
  }
  const said = afterReasoning(rest);
  const saysNothing = undecorated(said) === "" || tokenAlone(said);
  return saysNothing ? { kind: "silent", token } : { kind: "text", text: rest, stripped: token };
}

function tokenAlone(text: string): SilenceToken | undefined {
  const trimmed = text.trim();
  if (trimmed.length > MAX_WRAPPED) return undefined;
  const unfenced = /^```\w*\n([\s\S]*)```$/.exec(trimmed)?.[1]?.trim() ?? trimmed;
  return (
    asToken(undecorated(unfenced).toUpperCase()) ?? asToken(undecorated(textInJson(unfenced)).toUpperCase())
  );
}

function asToken(text: string): SilenceToken | undefined {
  return SILENCE_TOKENS.find((token) => token === text);
}

function textInJson(text: string): string {
  if (!/^[{["]/.test(text)) return "";
  try {
    return textIn(JSON.parse(text));
  } catch {
    return "";
  }
}

function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const entries = Object.entries(value);
  const [, only] = entries.length === 1 ? (entries[0] ?? []) : (entries.find(isText) ?? []);
  return textIn(only);
}

function isText([name]: [string, unknown]): boolean {
  return TEXT_FIELDS.includes(name);
}

function undecorated(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isDecoration(text[start])) start++;
  while (end > start && isDecoration(text[end - 1])) end--;
  return text.slice(start, end);
}

function isDecoration(character = ""): boolean {
  return DECORATION.has(character) || /\s/.test(character);
}

/** Text that begins with closed reasoning, without it. */
function withoutReasoning(text: string): string {
  let rest = text.trimStart();
  for (let begin = REASONING_BEGIN.exec(rest); begin; begin = REASONING_BEGIN.exec(rest)) {
    const inner = rest.slice(begin[0].length);
    const end = REASONING_END.exec(inner);
    if (!end) return rest;
    rest = inner.slice(end.index + end[0].length).trimStart();
  }
  return rest;
}

/** Also without reasoning that was never closed, or never opened. Only for texts with a token: people write about such tags. */
function afterReasoning(text: string): string {
  const rest = withoutReasoning(text);
  if (REASONING_BEGIN.test(rest)) return "";
  const end = REASONING_END.exec(rest);
  const isUnopened = end !== null && !REASONING_INSIDE.test(rest.slice(0, end.index));
  return isUnopened ? rest.slice(end.index + end[0].length) : rest;
}

/** `token` is the last of those taken off. */
function withoutTrailingTokens(text: string): { rest: string; token: SilenceToken | undefined } {
  let rest = text.trimEnd();
  let token: SilenceToken | undefined;
  for (let found = trailingToken(rest); found; found = trailingToken(rest)) {
    token ??= found.token;
    rest = rest.slice(0, found.start).trimEnd();
  }
  return { rest, token };
}

function trailingToken(text: string): { token: SilenceToken; start: number } | undefined {
  const tailStart = Math.max(0, text.length - TAIL);
  const tail = text.slice(tailStart);
  const lineStart = tail.lastIndexOf("\n") + 1;
  const line = tail.slice(lineStart);
  const isWholeLine = lineStart > 0 || tailStart === 0;
  const alone = isWholeLine ? asToken(undecorated(line)) : undefined;
  if (alone) return { token: alone, start: tailStart + lineStart };
  const glued = AFTER_TEXT.exec(line);
  const token = asToken(glued?.[2] ?? "");
  return glued && token ? { token, start: tailStart + lineStart + glued.index } : undefined;
}
