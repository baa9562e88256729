import type { CommandArgument, CommandSpec } from "../core/ports/command.ts";
import { denseText } from "../core/text/dense.ts";
import { INVISIBLE } from "../core/text/invisible.ts";
import { meaningOf } from "./argument-words.ts";

/** What stands behind a command's name. */
export type Reading =
  /** In the order of the spec, as many as were given: choices as the spec writes them where the word means one, other words as they were written. */
  | { readonly as: "arguments"; readonly args: readonly string[] }
  /** So too, and it could as well be said to an agent: all of it is whatever follows. */
  | { readonly as: "sentence"; readonly args: readonly string[] }
  /** A single word behind a command that takes none: `/stop now`. A single number where a word is to say what is done: `/sessions #1`. */
  | { readonly as: "slip" }
  /** Words for an agent. */
  | { readonly as: "words" };

/** One of a few words, perhaps misspelt; or what names something: a number, a label, a key. */
const LETTERS = /^[\p{L}\p{M}]{1,40}$/u;
const NUMBER = /^#?\p{Nd}{1,9}$/u;
const NAME = /^[\p{L}\p{M}\p{N}_#.:@/+%-]{1,200}$/u;
/** With the quotation marks that phones put in. */
const QUOTED = /^(?:"([^"\r\n]{0,600})"|[“„]([^”“\r\n]{0,600})[”“]|«([^»\r\n]{0,600})»)(?=\s|$)/;
const BLANKS = /^[^\S\r\n\u2028\u2029]*/;

/**
 * Phones and keyboards put invisible characters around words; they count in what is said to an agent alone. In a menu the last argument holds what was
 * entered for it, blanks too. Total.
 */
export function readArguments(
  written: string,
  { args: wanted }: CommandSpec,
  how: "typed" | "native",
): Reading {
  const { text, place } = denseText(written, INVISIBLE);
  const read = wordsFor(text, wanted, how);
  if (read === undefined) return { as: isNumberForAction(text.trim(), wanted) ? "slip" : "words" };
  const { args, at } = read;
  const left = text.slice(at).replace(BLANKS, "").trimEnd();
  if (left === "") return { as: "arguments", args };
  if (hasRest(wanted, args)) {
    const as = wanted.at(-1)?.rest === true ? "sentence" : "arguments";
    return { as, args: [...args, written.slice(place(at)).trim()] };
  }
  return { as: wanted.length === 0 && LETTERS.test(left) ? "slip" : "words" };
}

function isNumberForAction(text: string, [first, second]: readonly CommandArgument[]): boolean {
  return first?.choices !== undefined && second !== undefined && NUMBER.test(text);
}

/** Whether the last argument takes whatever follows, after these. */
function hasRest(wanted: readonly CommandArgument[], [first = ""]: readonly string[]): boolean {
  const rest = wanted.at(-1)?.rest;
  return rest === true || rest?.includes(first) === true;
}

/** A word for each argument, until the text ends, and where what follows begins; undefined: one of them cannot be its argument. */
function wordsFor(text: string, wanted: readonly CommandArgument[], how: "typed" | "native") {
  const single = wanted.filter(({ rest }) => rest === undefined);
  const args: string[] = [];
  let at = 0;
  for (const arg of single) {
    at += BLANKS.exec(text.slice(at))?.[0].length ?? 0;
    const left = text.slice(at);
    if (left.trim() === "") break;
    const takesAll = how === "native" && arg === single.at(-1) && !hasRest(wanted, args);
    const word = arg.choices === undefined ? nameIn(left, takesAll) : choiceIn(left, arg.choices);
    if (word === undefined) return undefined;
    args.push(word.value);
    at += word.length;
  }
  return { args, at };
}

/** What the left text begins with, and how much of it that takes. */
interface Word {
  readonly value: string;
  readonly length: number;
}

function nameIn(left: string, takesAll: boolean): Word | undefined {
  const quoted = QUOTED.exec(left);
  const whole = takesAll ? left : (quoted?.[0] ?? /^\S*/.exec(left)?.[0] ?? "");
  const value = takesAll || quoted !== null ? unquoted(whole.trim()) : whole;
  const isName = takesAll || quoted !== null ? value.trim() !== "" : NAME.test(value);
  return isName ? { value, length: whole.length } : undefined;
}

function choiceIn(left: string, choices: readonly string[]): Word | undefined {
  const [word = ""] = /^\S*/.exec(left) ?? [];
  if (!LETTERS.test(word)) return undefined;
  return { value: meaningOf(word, choices) ?? word.toLowerCase(), length: word.length };
}

/** A text without the quotation marks around all of it. */
export function unquoted(text: string): string {
  const [whole = "", ...ways] = QUOTED.exec(text) ?? [];
  return whole.length === text.length ? (ways.find((inside) => inside !== undefined) ?? text) : text;
}
