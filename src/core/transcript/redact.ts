import { matchesIn } from "./match-from.ts";
import { findSecretFields } from "./redact-fields.ts";
import { HIDDEN, isMask, type Mask, maskOf } from "./redact-mask.ts";
import { CONTEXT_PATTERNS, type SecretPattern, TOKEN_PATTERNS } from "./redact-patterns.ts";
import { findSplitTokens } from "./redact-split-tokens.ts";

/**
 * Masks secrets in text that leaves the switchboard; what is stored is never masked. Registered values go first and
 * are found even with blanks or line breaks in them; then what has the shape, the name or the surroundings of a
 * secret. Ids, hashes, phone numbers and JIDs stay. Redacting twice changes nothing more; linear on any text.
 */
export interface Redactor {
  redact(text: string): { readonly text: string; readonly redacted: boolean };
  /** Masks this exact value from now on; one of fewer than 8 characters, blanks not counted, is ignored. */
  register(value: string): void;
  /** How many values are registered; text that was masked with fewer may have to be masked anew. */
  size(): number;
  /** What `redact` would mask, in order and not overlapping. */
  find(text: string): readonly Mask[];
}

const SHORTEST_VALUE = 8;
/** The first pass masks, the second finds nothing; a mask next to an odd text may need one more. */
const MAX_PASSES = 4;

/** `patterns: false`: registered values alone, for text that people read, where an example of a key must stay what it is. */
export function createRedactor(
  options: { readonly registered?: readonly string[]; readonly patterns?: boolean } = {},
): Redactor {
  const { patterns = true } = options;
  const registered = new Set<string>();
  const redactor: Redactor = {
    redact(text) {
      const { texts, redacted } = redactBlocks(redactor, [text]);
      return { text: texts[0] ?? "", redacted };
    },
    register(value) {
      const dense = value.replace(/\s+/g, "");
      if (dense.length >= SHORTEST_VALUE) registered.add(dense);
    },
    size: () => registered.size,
    find: (text) => merge([...findRegistered(text, registered), ...(patterns ? findPatterns(text) : [])]),
  };
  for (const value of options.registered ?? []) redactor.register(value);
  return redactor;
}

/**
 * The texts of one message, or of neighbouring messages, masked together: a secret that is split between two of them
 * is masked where it begins and removed where it goes on. As many texts come back as went in.
 */
export function redactBlocks(
  redactor: Pick<Redactor, "find">,
  texts: readonly string[],
): { readonly texts: readonly string[]; readonly redacted: boolean } {
  let current = texts;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const masks = redactor.find(current.join("\n"));
    if (masks.length === 0) return { texts: current, redacted: pass > 0 };
    current = applyMasks(current, masks);
  }
  return { texts: current, redacted: true };
}

function findPatterns(text: string): readonly Mask[] {
  const masks = [...findSecretFields(text), ...findSplitTokens(text)];
  for (const secretPattern of [...TOKEN_PATTERNS, ...CONTEXT_PATTERNS]) {
    for (const match of matchesIn(secretPattern.pattern, text)) {
      const mask = maskOfMatch(match, secretPattern);
      if (mask) masks.push(mask);
    }
  }
  return masks;
}

function maskOfMatch(match: RegExpExecArray, { whole }: SecretPattern): Mask | undefined {
  const [, before = "", secret = ""] = match;
  const start = match.index + before.length;
  if (isMask(secret)) return undefined;
  return { start, end: start + secret.length, replacement: whole ? HIDDEN : maskOf(secret) };
}

/** Compares without any blanks, so that a value that was wrapped or spaced out is found. */
function findRegistered(text: string, registered: ReadonlySet<string>): readonly Mask[] {
  if (registered.size === 0) return [];
  const dense = text.replace(/\s+/g, "");
  const masks: Mask[] = [];
  let positions: Uint32Array | undefined;
  for (const value of registered) {
    for (let at = dense.indexOf(value); at >= 0; at = dense.indexOf(value, at + value.length)) {
      positions ??= densePositions(text, dense.length);
      const start = positions[at] ?? 0;
      const end = (positions[at + value.length - 1] ?? 0) + 1;
      masks.push({ start, end, replacement: maskOf(value) });
    }
  }
  return masks;
}

/** For every character of a text without its blanks, where it stands in the text. */
function densePositions(text: string, length: number): Uint32Array {
  const positions = new Uint32Array(length);
  let next = 0;
  for (const word of text.matchAll(/\S+/g)) {
    for (let at = word.index; at < word.index + word[0].length; at++) positions[next++] = at;
  }
  return positions;
}

/** Of masks that overlap, one that covers the others stays; else all of their range is hidden. */
function merge(masks: Mask[]): readonly Mask[] {
  masks.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Mask[] = [];
  for (const mask of masks) {
    const last = merged.at(-1);
    if (!last || mask.start >= last.end) merged.push(mask);
    else if (mask.end > last.end)
      merged[merged.length - 1] = { start: last.start, end: mask.end, replacement: HIDDEN };
  }
  return merged;
}

/** `masks` count in the texts joined by line feeds; what reaches over an end is written in the text where it begins. */
function applyMasks(texts: readonly string[], masks: readonly Mask[]): readonly string[] {
  let offset = 0;
  let next = 0;
  return texts.map((text) => {
    const end = offset + text.length;
    let result = "";
    let at = offset;
    for (let mask = masks[next]; mask && mask.start <= end; mask = masks[next]) {
      if (mask.start >= offset) result += text.slice(at - offset, mask.start - offset) + mask.replacement;
      at = Math.min(mask.end, end);
      if (mask.end > end) break;
      next++;
    }
    result += text.slice(at - offset);
    offset = end + 1;
    return result;
  });
}
