import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configJsonSchema, parseConfig } from "../../src/core/config.ts";
import { SwitchboardError } from "../../src/core/errors.ts";
import { createBasics } from "../../src/options.ts";
import { anyJson, cases, nastyNumber, nastyText, nearly, PATIENCE_MS, shaped } from "./arbitraries.ts";

/** Every name of a key and every allowed word, from the schema that editors use. */
function wordsIn(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(wordsIn);
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([name, value]) => {
    if (name === "properties") return [...Object.keys(value), ...Object.values(value).flatMap(wordsIn)];
    if (name === "enum") return value;
    return wordsIn(value);
  });
}

const WORDS = [...new Set(wordsIn(configJsonSchema()))].sort();
const text = fc.oneof(
  fc.constantFrom(...WORDS),
  nearly(...WORDS),
  nastyText,
  fc.constantFrom("*", "main", "discord", "123", "~"),
);

/** Sections by themselves, or most cases would end at their first problem somewhere else. */
function sections(): fc.Arbitrary<unknown> {
  const { properties } = configJsonSchema() as { properties: Readonly<Record<string, unknown>> };
  const one = Object.entries(properties).map(([name, schema]) =>
    shaped(schema, WORDS, text).map((value) => ({ [name]: value })),
  );
  return fc.oneof(
    ...one,
    fc.tuple(fc.oneof(...one), fc.oneof(...one)).map(([a, b]) => ({ ...a, ...b })),
  );
}

const input = fc.oneof({ weight: 4, arbitrary: sections() }, { weight: 1, arbitrary: anyJson(WORDS, text) });

function problemsOf(error: unknown): readonly string[] {
  expect(error).toBeInstanceOf(SwitchboardError);
  // Just checked.
  const { code, details } = error as SwitchboardError;
  expect(code).toBe("CONFIG_INVALID");
  expect(details.problems).toEqual(expect.arrayContaining([expect.any(String)]));
  return details.problems as readonly string[];
}

/** Everything that was written is in the config as it was written: nothing is dropped, and no default took its place. */
function expectKept(written: unknown, read: unknown, path: string): void {
  if (written === undefined) return;
  if (Array.isArray(written)) {
    expect(read, path).toHaveLength(written.length);
    for (const [index, item] of written.entries())
      expectKept(item, (read as unknown[])[index], `${path}[${index}]`);
    return;
  }
  if (typeof written === "object" && written !== null) {
    expect(typeof read, path).toBe("object");
    for (const name of Object.keys(written)) {
      const value = (written as Record<string, unknown>)[name];
      const found = Object.entries(read as object).find(([key]) => key === name || key === name.trim());
      if (value !== undefined) expect(found, `${path}.${name} is kept`).toBeDefined();
      expectKept(value, found?.[1], `${path}.${name}`);
    }
    return;
  }
  expect(typeof read === "string" ? read.trim() : read, path).toBe(
    typeof written === "string" ? written.trim() : written,
  );
}

describe("fuzz: configs", () => {
  it(
    "POL-1: any JSON is a config that keeps all that was written, or an error that names the place of every problem",
    () => {
      let accepted = 0;
      const sections = Object.keys((configJsonSchema() as { properties: object }).properties);
      fc.assert(
        fc.property(input, (written) => {
          let config: unknown;
          try {
            config = parseConfig(written, ["main", "ops"]);
          } catch (error) {
            for (const problem of problemsOf(error)) {
              const named = Object.keys(written ?? {}).filter((name) => name !== "");
              const roots = [...sections, ...named, "config", "["];
              const rest = roots
                .filter((name) => problem.startsWith(name))
                .map((name) => problem.slice(name.length));
              expect(
                rest.some((one) => /^(: |\.|\[|\d+\])/.test(one)) && problem.includes(": "),
                problem,
              ).toBe(true);
            }
            return;
          }
          accepted += 1;
          // An empty file is null, and says nothing.
          expectKept(written ?? undefined, config, "config");
          expect(parseConfig(config, ["main", "ops"])).toEqual(config);
        }),
        cases(2),
      );
      expect(accepted).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );

  it(
    "CMD-2: any options are basics or CONFIG_INVALID, and no strange entry makes an owner",
    () => {
      const names = [
        "agents",
        "adapters",
        "owners",
        "config",
        "dataDir",
        "store",
        "discord",
        "telegram",
        "whatsapp",
        "main",
      ];
      const owners = fc.dictionary(
        nearly("discord", "telegram", "whatsapp"),
        fc.array(fc.oneof(text, nastyNumber), { maxLength: 3 }),
      );
      const agents = { main: { run: async () => ({ status: "ok" as const, reply: "" }) } };
      const options = fc.oneof(
        anyJson(names, text),
        fc.record({ agents: fc.constant(agents), owners }),
        fc.record({ agents: fc.constant(agents), more: anyJson(names, text) }),
      );
      fc.assert(
        fc.property(options, (given) => {
          try {
            // What somebody without a type checker may pass.
            const basics = createBasics(given as never);
            for (const owner of basics.owners) {
              const [channel = "", ...rest] = owner.split(":");
              if (["discord", "telegram"].includes(channel)) expect(rest.join(":")).toMatch(/^\d+$/);
              if (channel === "whatsapp") expect(rest.join(":")).toMatch(/^(\+\d+|\d+@lid)$/);
              expect(rest.join(":")).not.toMatch(/^(\*|\s*|@.*)$/);
            }
          } catch (error) {
            expect(problemsOf(error).length).toBeGreaterThan(0);
          }
        }),
        cases(2),
      );
    },
    PATIENCE_MS,
  );

  it.each([
    [
      "a name that every object has",
      { config: { channels: { discord: { groups: JSON.parse('{"__proto__":{}}') } } } },
    ],
    ["one text for all owners", { owners: "80351110224678912" }],
  ])("CMD-2: found before: %s is a problem that has a name", (_, more) => {
    const agents = { main: { run: async () => ({ status: "ok" as const, reply: "" }) } };
    const attempt = () => createBasics({ agents, ...more } as never);
    expect(attempt).toThrow(/channels\.discord\.groups: "__proto__"|owners: give lists/);
  });
});
