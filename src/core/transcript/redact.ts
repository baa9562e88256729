import { HIDDEN, type Mask } from "./redact-mask.ts";
import { createRegisteredValues } from "./redact-registered.ts";
import { findSecretShapes } from "./redact-shapes.ts";

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
  /** Whether a registered value stands in this JSON in one piece; fast enough for every answer. */
  registeredIn(json: string): boolean;
}

/** The first pass masks, the second finds nothing; a mask next to an odd text may need one more. */
const MAX_PASSES = 4;
/** Of a text longer than any row that is looked into: a hostile one must not cost four times as much. */
const MAX_PASSES_OF_LONG = 2;
const LONG = 262_144;
/** More secrets than any text has are hidden as one. */
const MOST_MASKS = 10_000;

/** `patterns: false`: registered values alone, for text that people read, where an example of a key must stay what it is. */
export function createRedactor(
  options: { readonly registered?: readonly string[]; readonly patterns?: boolean } = {},
): Redactor {
  const { patterns = true } = options;
  const values = createRegisteredValues();
  const redactor: Redactor = {
    redact(text) {
      const { texts, redacted } = redactBlocks(redactor, [text]);
      return { text: texts[0] ?? "", redacted };
    },
    register: values.add,
    size: values.size,
    registeredIn: values.standIn,
    find: (text) => merge([...values.find(text), ...(patterns ? findSecretShapes(text) : [])]),
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
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const maxPasses = length > LONG ? MAX_PASSES_OF_LONG : MAX_PASSES;
  for (let pass = 0; pass < maxPasses; pass++) {
    const masks = redactor.find(current.join("\n"));
    if (masks.length === 0) return { texts: current, redacted: pass > 0 };
    current = applyMasks(current, masks);
  }
  return { texts: current, redacted: true };
}

/** Of masks that overlap, one that covers the others stays; else all of their range is hidden. */
function merge(masks: Mask[]): readonly Mask[] {
  if (masks.length > MOST_MASKS) return [over(masks)];
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

function over(masks: readonly Mask[]): Mask {
  let { start, end } = masks[0] ?? { start: 0, end: 0 };
  for (const mask of masks) {
    if (mask.start < start) start = mask.start;
    if (mask.end > end) end = mask.end;
  }
  return { start, end, replacement: HIDDEN };
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
