import { denseText } from "../text/dense.ts";
import { UNSEEN_OR_BLANK } from "../text/invisible.ts";
import { type Mask, maskOf } from "./redact-mask.ts";

const SHORTEST_VALUE = 8;

/** Exact values, found as they are, in JSON and in a URL, also with blanks, line breaks or invisible characters in them. */
export interface RegisteredValues {
  /** One of fewer than 8 characters, blanks not counted, is ignored: it would be found in ordinary words. */
  add(value: string): void;
  /** Grows with every new value. */
  size(): number;
  find(text: string): readonly Mask[];
  /** Whether one stands in this JSON in one piece: much faster than `find`. */
  standIn(json: string): boolean;
}

export function createRegisteredValues(): RegisteredValues {
  const forms = new Set<string>();
  return {
    add(value) {
      for (const form of [value, inJson(value), inJson(inJson(value)), inUrl(value)]) {
        const dense = form.replace(UNSEEN_OR_BLANK, "");
        if (dense.length >= SHORTEST_VALUE) forms.add(dense);
      }
    },
    size: () => forms.size,
    find: (text) => (forms.size === 0 ? [] : findForms(text, forms)),
    standIn: (json) => [...forms].some((form) => json.includes(form)),
  };
}

function findForms(whole: string, forms: ReadonlySet<string>): readonly Mask[] {
  const { text, place } = denseText(whole, UNSEEN_OR_BLANK);
  const masks: Mask[] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
      masks.push({ start: place(at), end: place(at + form.length - 1) + 1, replacement: maskOf(form) });
    }
  }
  return masks;
}

function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** A half of a surrogate pair has no form in a URL. */
function inUrl(value: string): string {
  return /\p{Cs}/u.test(value) ? value : encodeURIComponent(value);
}
