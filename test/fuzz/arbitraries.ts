import fc from "fast-check";

/** Cases of a property that takes microseconds. CI runs few; `FUZZ_RUNS=30000 npx vitest run test/fuzz` runs more than 100,000 in all. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 300);

/** Parameters of fc.assert; `cost`: how many cheap cases one of these takes the time of. FUZZ_SEED repeats a run. */
export function cases(cost = 1): { readonly numRuns: number; readonly seed?: number } {
  const { FUZZ_SEED: seed } = process.env;
  const numRuns = Math.max(3, Math.ceil(RUNS / cost));
  return seed === undefined ? { numRuns } : { numRuns, seed: Number(seed) };
}

/** Hours, for tests that are asked for many cases. */
export const PATIENCE_MS = 4 * 3_600_000;

const PROTOTYPE_NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "valueOf"];

const NASTY = [
  ...PROTOTYPE_NAMES,
  "",
  " ",
  "\u0000",
  "\u0000\n\u001b[31m",
  "\ud83d",
  "\ude00\ud83d",
  "a\u200bb\u200d\ufeff",
  "\u202Eevil\u202C",
  "\u2066x\u2069",
  "İıſK",
  "ẞß",
  "e\u0301\u0301\u0301",
  "👨‍👩‍👧‍👦",
  "../..",
  "%",
  "%3A",
  "%zz",
  "%00",
  "'; DROP TABLE runs; --",
  "\\",
  '"',
  "<@1001>",
  "@everyone",
  "null",
  "undefined",
  "NaN",
  "-0",
  "x".repeat(5000),
  "[".repeat(500),
  "`".repeat(99),
] as const;

/** Any text, mostly such as somebody would choose who means harm. */
export const nastyText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...NASTY), { maxLength: 4 }).map((parts) => parts.join("")),
  },
);

/** Numbers as they are and as they are written. */
export const nastyNumber = fc.oneof(
  fc.constantFrom(
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e308,
    -1e308,
    5e-324,
    -0,
    0,
    1,
    -1,
    1.5,
    2 ** 31,
    2 ** 53,
    2 ** 53 + 2,
  ),
  fc.double(),
  fc.integer(),
);

/** Texts that are nearly one of these words. */
export function nearly(...words: readonly string[]): fc.Arbitrary<string> {
  const bend = (word: string) =>
    fc.constantFrom(
      word,
      word.toUpperCase(),
      ` ${word} `,
      `${word}\u200b`,
      `${word}\u0000`,
      word.slice(1),
      `${word}${word}`,
      word.normalize("NFKD"),
      [...word]
        .map((letter) =>
          /[a-z]/.test(letter) ? String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0) : letter,
        )
        .join(""),
      word.replace(/:/g, "："),
      word.replace(/:/g, "::"),
    );
  return fc.constantFrom(...words).chain(bend);
}

/** Any value that JSON or a careless caller can make, with the names that matter and those that must not. */
export function anyJson(
  names: readonly string[],
  texts: fc.Arbitrary<string> = nastyText,
): fc.Arbitrary<unknown> {
  const name = fc.oneof(fc.constantFrom(...names), fc.constantFrom(...PROTOTYPE_NAMES), texts);
  const { value } = fc.letrec<{ value: unknown; leaf: unknown; deep: unknown }>((tie) => ({
    leaf: fc.oneof(texts, nastyNumber, fc.boolean(), fc.constantFrom(null, undefined, [], {})),
    deep: fc.integer({ min: 10, max: 300 }).map((depth) => {
      let made: unknown = "deep";
      for (let level = 0; level < depth; level++) made = level % 2 === 0 ? [made] : { deep: made };
      return made;
    }),
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { weight: 6, arbitrary: tie("leaf") },
      { weight: 1, arbitrary: tie("deep") },
      { weight: 2, arbitrary: fc.array(tie("value"), { maxLength: 4 }) },
      { weight: 4, arbitrary: fc.array(fc.tuple(name, tie("value")), { maxLength: 5 }).map(asParsed) },
    ),
  }));
  return value;
}

/** An object with members of any name, `__proto__` too, as JSON.parse makes it. */
function asParsed(members: readonly (readonly [string, unknown])[]): object {
  const made = {};
  for (const [name, value] of members) {
    Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return made;
}

/** Values that a JSON schema allows, with holes and mistakes in them. `texts` stands for every text, `names` for members by mistake. */
export function shaped(
  schema: unknown,
  names: readonly string[],
  texts: fc.Arbitrary<string>,
): fc.Arbitrary<unknown> {
  const inner = (one: unknown) => shaped(one, names, texts);
  // Schemas are JSON; each member is looked at before it is used.
  const {
    type,
    properties,
    items,
    enum: allowed,
    const: only,
    anyOf,
    additionalProperties: more,
    required,
  } = schema as {
    readonly [name: string]: unknown;
  };
  const wrong = anyJson(names, texts);
  const mostly = (right: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 40, arbitrary: right }, { weight: 1, arbitrary: wrong });
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(inner));
  if (Array.isArray(allowed)) return mostly(fc.constantFrom(...allowed));
  if (only !== undefined) return mostly(fc.constant(only));
  if (type === "array") return mostly(fc.array(inner(items ?? {}), { maxLength: 3 }));
  if (type === "boolean") return mostly(fc.boolean());
  if (type === "integer" || type === "number")
    return mostly(fc.oneof(fc.integer({ min: 0, max: 70 }), nastyNumber));
  if (type !== "object") return mostly(texts);
  const isNeeded = (name: string) => Array.isArray(required) && required.includes(name);
  const members = Object.entries(properties ?? {}).map(([name, value]) => {
    const named = fc.oneof(
      { weight: 60, arbitrary: fc.constant(name) },
      { weight: 1, arbitrary: nearly(name) },
    );
    const freq = isNeeded(name) ? 30 : 2;
    return fc.option(fc.tuple(named, inner(value)), { nil: undefined, freq });
  });
  const others =
    typeof more === "object" ? fc.array(fc.tuple(texts, inner(more)), { maxLength: 3 }) : fc.constant([]);
  return fc
    .tuple(fc.tuple(...members), others)
    .map(([known, open]) => asParsed([...known.filter((one) => one !== undefined), ...open]));
}
