import { denseText } from "../text/dense.ts";
import { UNSEEN } from "../text/invisible.ts";
import { matchesIn } from "./match-from.ts";
import { findSecretFields } from "./redact-fields.ts";
import { HIDDEN, isMask, type Mask, maskOf } from "./redact-mask.ts";
import { CONTEXT_PATTERNS, type SecretPattern, TOKEN_PATTERNS } from "./redact-patterns.ts";
import { findSplitTokens } from "./redact-split-tokens.ts";

const PATTERNS = [...TOKEN_PATTERNS, ...CONTEXT_PATTERNS];

/** What has the shape, the name or the surroundings of a secret, as an eye reads the text. */
export function findSecretShapes(whole: string): readonly Mask[] {
  const { text, place } = denseText(whole, UNSEEN);
  const masks = findInSeen(text);
  if (text.length === whole.length) return masks;
  return masks.map((mask) => ({ ...mask, start: place(mask.start), end: place(mask.end - 1) + 1 }));
}

function findInSeen(text: string): readonly Mask[] {
  const masks = [...findSecretFields(text), ...findSplitTokens(text)];
  for (const secretPattern of PATTERNS) {
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
