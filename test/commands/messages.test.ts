import { readFileSync } from "node:fs";
import { join } from "node:path";
import { IntlMessageFormat } from "intl-messageformat";
import { describe, expect, it } from "vitest";
import { spellingOf } from "../../src/commands/argument-words.ts";
import { commandSpecs } from "../../src/commands/catalogue.ts";
import { en } from "../../src/commands/locales/en.ts";
import { es } from "../../src/commands/locales/es.ts";
import { hi } from "../../src/commands/locales/hi.ts";
import type { Messages } from "../../src/commands/locales/messages.ts";
import { ptBR } from "../../src/commands/locales/pt-BR.ts";
import { ARGUMENT_NAMES, COMMAND_NAMES } from "../../src/commands/menu-names.ts";
import { wordsFor } from "../../src/commands/words.ts";
import type { Locale, Localized } from "../../src/core/ports/command.ts";

const LOCALES: Readonly<Record<Locale, Messages>> = { en, es, "pt-BR": ptBR, hi };
const TABLE = Object.entries(LOCALES) as [Locale, Messages][];
const KEYS = Object.keys(en) as (keyof Messages)[];

interface Wanted {
  readonly name: string;
  readonly how: "plural" | "select" | "value";
}

/** What the comment above a message says that it is given: `{count, plural} {name}`. */
function wantedBy(): ReadonlyMap<string, readonly Wanted[]> {
  const folder = join(import.meta.dirname, "../../src/commands/locales");
  const files = ["messages.ts", "task-messages.ts"].map((name) => readFileSync(join(folder, name), "utf8"));
  const source = files.join("\n");
  const found = [...source.matchAll(/(?:\/\*\* ([^\n]*?) \*\/\n\s*)?readonly "([^"]+)": string;/g)];
  return new Map(
    found.map(([, comment = "", key = ""]) => [
      key,
      [...comment.matchAll(/\{(\w+)(?:, (plural|select))?\}/g)].map(([, name = "", how]) => ({
        name,
        // The expression lets no other words through.
        how: (how ?? "value") as Wanted["how"],
      })),
    ]),
  );
}

type Node = ReturnType<IntlMessageFormat["getAst"]>[number];
const ARGUMENT = 1;
const NUMBER = 2;
const SELECT = 5;
const PLURAL = 6;

/** Every place in a message where something is filled in, at any depth. */
function placesIn(nodes: readonly Node[]): readonly Node[] {
  return nodes.flatMap((node) => {
    const inner = "options" in node ? Object.values(node.options).flatMap(({ value }) => value) : [];
    const isPlace = [ARGUMENT, NUMBER, SELECT, PLURAL].includes(node.type);
    return [...(isPlace ? [node] : []), ...placesIn(inner)];
  });
}

const parsed = (text: string, locale: Locale) => new IntlMessageFormat(text, locale).getAst();

const nameOf = (node: Node) => ("value" in node ? String(node.value) : "");

/** By name and kind, the words of a select, or the forms of a plural. */
function optionsIn(nodes: readonly Node[], type: number): readonly (readonly [string, readonly string[]])[] {
  return placesIn(nodes)
    .filter((node) => node.type === type)
    .map((node) => [nameOf(node), "options" in node ? Object.keys(node.options).sort() : []] as const);
}

/** A value of each kind that any message can take. */
function samples(wanted: readonly Wanted[], count: number): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    wanted.map(({ name, how }) => {
      if (how === "plural") return [name, count];
      return [name, how === "select" ? "done" : NUMERIC.has(name) ? count : `<${name}>`];
    }),
  );
}

const NUMERIC = new Set([
  "total",
  "input",
  "output",
  "count",
  "used",
  "window",
  "share",
  "hours",
  "number",
  "failed",
  "uncertain",
]);

describe.each(TABLE)("the sentences in %s", (locale, messages) => {
  const wanted = wantedBy();

  it("CMD-5: fill in what their comments name, and nothing else", () => {
    expect([...wanted.keys()].sort()).toEqual([...KEYS].sort());
    for (const key of KEYS) {
      const names = new Set(placesIn(parsed(messages[key], locale)).map(nameOf));
      expect([...names].sort(), key).toEqual((wanted.get(key) ?? []).map(({ name }) => name).sort());
    }
  });

  it("CMD-5: can be said with any number, and say what they were given", () => {
    const words = wordsFor(locale);
    for (const key of KEYS) {
      for (const count of [0, 1, 2, 11, 1_000_000]) {
        const values = samples(wanted.get(key) ?? [], count);
        const text = words(key, values);
        expect(text.trim(), key).toBe(text);
        expect(text, key).not.toMatch(/[{}]|undefined|NaN/);
        for (const value of Object.values(values)) {
          if (typeof value === "string" && value.startsWith("<")) expect(text, key).toContain(value);
        }
      }
    }
  });

  it("CMD-5: have the forms of the language for one and for many", () => {
    const categories = new Intl.PluralRules(locale).resolvedOptions().pluralCategories;
    for (const key of KEYS) {
      for (const [name, forms] of optionsIn(parsed(messages[key], locale), PLURAL)) {
        expect(forms, `${key} ${name}`).toEqual(expect.arrayContaining(["one", "other"]));
        for (const form of forms) expect(categories, `${key} ${name}`).toContain(form);
      }
    }
  });

  it("CMD-5: choose among the same words as the English ones", () => {
    for (const key of KEYS) {
      const own = optionsIn(parsed(messages[key], locale), SELECT);
      expect(own, key).toEqual(optionsIn(parsed(en[key], "en"), SELECT));
      for (const [, words] of own) expect(words, key).toContain("other");
    }
  });

  it("CMD-5: fit into the menus of the platforms, and end as the English ones do", () => {
    for (const key of KEYS) {
      if (key.endsWith(".description") || /\.(action|which|text|argument|code)$/.test(key)) {
        expect(messages[key].length, key).toBeLessThanOrEqual(100);
      }
      const end = (text: string) => /[:?]$/.exec(text)?.[0] ?? "";
      expect(end(messages[key]), key).toBe(end(en[key]));
    }
  });
});

describe("the names in menus", () => {
  const OTHERS = ["es", "pt-BR", "hi"] as const;
  /** What the platform takes, at its strictest. */
  const TAKEN = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;
  interface Named {
    readonly name: string;
    readonly names?: Localized;
  }
  const groups: readonly (readonly [string, readonly Named[]])[] = [
    ["commands", commandSpecs],
    ...commandSpecs.map(({ name, args }) => [`arguments of /${name}`, args] as const),
  ];

  it("CMD-4 CMD-5: every command, argument and value has one in every language, in its script and in lower case, as the platform takes it", () => {
    for (const [where, some] of groups) {
      for (const { name, names } of some) {
        expect(names?.en, `${where}: ${name}`).toBe(name);
        for (const locale of OTHERS) {
          const called = names?.[locale] ?? "";
          expect(called, `${where}: ${name} in ${locale}`).toMatch(TAKEN);
          expect(called).toBe(called.toLowerCase().normalize("NFC"));
        }
        expect(names?.hi, `${where}: ${name}`).toMatch(/^[\p{sc=Deva}-]+$/u);
      }
    }
    for (const { name, choices = [], choiceNames = [] } of commandSpecs.flatMap(({ args }) => args)) {
      expect(
        choiceNames.map(({ en }) => en),
        name,
      ).toEqual(choices);
      for (const names of choiceNames) {
        for (const locale of OTHERS) expect(names[locale]).toBe(spellingOf(names.en, locale) ?? names.en);
      }
    }
  });

  it("CMD-4 CMD-5: none means two commands, or two arguments of one, nor another one's English name", () => {
    for (const [where, some] of groups) {
      for (const locale of OTHERS) {
        for (const { name, names } of some) {
          const others = some.filter((one) => one.name !== name);
          const words = others.flatMap((one) => [one.name, one.names?.[locale]]);
          expect(words, `${where} in ${locale}`).not.toContain(names?.[locale]);
        }
      }
    }
  });

  it("CMD-4: there is none for a command or an argument that does not exist", () => {
    const args = new Set(commandSpecs.flatMap((spec) => spec.args.map(({ name }) => name)));
    expect(Object.keys(COMMAND_NAMES)).toEqual(commandSpecs.map(({ name }) => name));
    expect(Object.keys(ARGUMENT_NAMES).sort()).toEqual([...args].sort());
  });
});

describe("the four languages", () => {
  /** Words that are the same in two languages, and signs. */
  const SHARED: ReadonlySet<string> = new Set(["status.tokens"]);

  it("CMD-5: no sentence was left in English", () => {
    for (const [locale, messages] of TABLE) {
      if (locale === "en") continue;
      const left = KEYS.filter((key) => messages[key] === en[key] && !SHARED.has(key));
      expect(left, locale).toEqual([]);
    }
  });

  it.each<[Locale, RegExp]>([
    ["pt-BR", /chat direto/],
    ["hi", /निजी चैट|मालिक|(?<![{\w])id(?![\w}])/],
  ])("CMD-5: %s has one word for one thing, never %s", (locale, second) => {
    expect(KEYS.filter((key) => second.test(LOCALES[locale][key]))).toEqual([]);
  });

  it("CMD-5: Hindi is written in Devanagari, and ends its sentences with its own stop", () => {
    for (const key of KEYS) {
      expect(hi[key], key).toMatch(/[\u0900-\u097f]/);
      expect(hi[key], key).not.toMatch(/[\u0900-\u097f}]\.(\s|$)/);
    }
  });

  it.each<[Locale, number, string]>([
    ["en", 0, "0 subagents at work:"],
    ["en", 1, "1 subagent at work:"],
    ["es", 1, "1 subagente trabajando:"],
    ["es", 2, "2 subagentes trabajando:"],
    ["pt-BR", 0, "0 subagente trabalhando:"],
    ["pt-BR", 2, "2 subagentes trabalhando:"],
    ["hi", 2, "2 सब-एजेंट काम पर:"],
  ])("CMD-5: %s says %i as its grammar does", (locale, count, text) => {
    expect(wordsFor(locale)("status.subagents", { count })).toBe(text);
  });
});
