import { describe, expect, it } from "vitest";
import { ARGUMENT_WORDS, meaningOf, spellingOf } from "../../src/commands/argument-words.ts";
import { commands } from "../../src/commands/catalogue.ts";

const LOCALES = ["en", "es", "pt-BR", "hi"] as const;

const everySpelling = Object.entries(ARGUMENT_WORDS).flatMap(([meaning, spellings]) =>
  LOCALES.flatMap((locale) => spellings[locale].map((spelling) => [spelling, meaning] as const)),
);

describe("the words of arguments", () => {
  it("CMD-5: no spelling means two of the values that one argument takes, in whatever language", () => {
    for (const { spec } of commands) {
      for (const { name, choices = [] } of spec.args) {
        for (const [spelling] of everySpelling) {
          const meant = choices.filter((value) => meaningOf(spelling, [value]) !== undefined);
          expect(meant.length, `/${spec.name} ${name}: ${spelling}: ${meant}`).toBeLessThanOrEqual(1);
        }
      }
    }
  });

  it.each(everySpelling)("CMD-5: %s is %s", (spelling, meaning) => {
    for (const written of [spelling, spelling.toUpperCase(), spelling.normalize("NFD")]) {
      expect(meaningOf(written, [meaning])).toBe(meaning);
    }
    // As one types it: a single word of letters.
    expect(spelling).toMatch(/^[\p{L}\p{M}]+$/u);
  });

  it("CMD-5: every value of every command can be typed in every language, and as the usage line writes it", () => {
    const values = commands.flatMap(({ spec }) => spec.args.flatMap(({ choices = [] }) => choices));
    for (const value of values) {
      expect(meaningOf(value, [value]), value).toBe(value);
      for (const locale of LOCALES) {
        expect(ARGUMENT_WORDS[value]?.[locale].length, `${value} in ${locale}`).toBeGreaterThan(0);
      }
    }
  });

  it("CMD-5: within one argument no value is typed like another one", () => {
    for (const { spec } of commands) {
      for (const { choices = [] } of spec.args) {
        const shown = LOCALES.map((locale) => choices.map((value) => spellingOf(value, locale) ?? value));
        for (const words of shown) expect(new Set(words).size).toBe(words.length);
      }
    }
  });

  it.each(["", "todo", "tudo", "constructor", "__proto__", "toString", "hello", "बद", "ofF ", "offf"])(
    "CMD-5: %j means nothing",
    (word) => {
      expect(meaningOf(word, Object.keys(ARGUMENT_WORDS))).toBeUndefined();
    },
  );
});
