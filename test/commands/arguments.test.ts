import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Reading, readArguments, unquoted } from "../../src/commands/arguments.ts";
import type { CommandArgument, CommandSpec } from "../../src/core/ports/command.ts";

const words = { en: "", es: "", "pt-BR": "", hi: "" };
const arg = (more: Partial<CommandArgument>): CommandArgument => ({
  name: "x",
  description: words,
  required: false,
  ...more,
});
const spec = (...args: readonly CommandArgument[]): CommandSpec => ({
  name: "test",
  description: words,
  args,
  access: "owner",
});

const NONE = spec();
const MODE = spec(arg({ choices: ["on", "off"] }));
const NAMED = spec(arg({ choices: ["list", "label", "archive"] }), arg({}), arg({ rest: ["label"] }));
const SAID = spec(arg({ rest: true }));

const WORDS: Reading = { as: "words" };
const args = (...read: readonly string[]): Reading => ({ as: "arguments", args: read });
const sentence = (...read: readonly string[]): Reading => ({ as: "sentence", args: read });

describe("readArguments", () => {
  it.each<[CommandSpec, string, Reading]>([
    [NONE, "", args()],
    [NONE, " \u200b\n ", args()],
    [NONE, " now", { as: "slip" }],
    [NONE, " अभी", { as: "slip" }],
    [NONE, " right now", WORDS],
    [NONE, " now!", WORDS],
    [NONE, " 7", WORDS],
    [MODE, "", args()],
    [MODE, " on", args("on")],
    [MODE, " ON ", args("on")],
    [MODE, " apagado", args("off")],
    [MODE, " list", args("list")],
    [MODE, " whatever", args("whatever")],
    [MODE, " on off", WORDS],
    [MODE, ' "on"', WORDS],
    [MODE, "\non", WORDS],
    [MODE, " on\n", args("on")],
    [NAMED, " label #2", args("label", "#2")],
    [NAMED, " label #2 My long label", args("label", "#2", "My long label")],
    [NAMED, " etiqueta #2 My label", args("label", "#2", "My label")],
    [NAMED, ' label "My old one" My new one', args("label", "My old one", "My new one")],
    [NAMED, ' label “My old one” "x"', args("label", "My old one", '"x"')],
    [NAMED, ' archive "My old one"', args("archive", "My old one")],
    [NAMED, " archive My old one", WORDS],
    [NAMED, " archive #2 please", WORDS],
    [NAMED, ' archive "My old', WORDS],
    [NAMED, ' archive "a"b', WORDS],
    [NAMED, ' archive " "', WORDS],
    [NAMED, " archive +1555:x%3A@y.z/w-1_2", args("archive", "+1555:x%3A@y.z/w-1_2")],
    [NAMED, " archive a,b", WORDS],
    [NAMED, " label\n#2", WORDS],
    [NAMED, " label #2\nover two\nlines", args("label", "#2", "over two\nlines")],
    [NAMED, " are a strange thing", WORDS],
    [SAID, "", args()],
    [SAID, "  what I\u200d want\nto say ", sentence("what I\u200d want\nto say")],
    [SAID, "\u200b \u200b", args()],
  ])("CMD-5: typed, %# %j is read", (one, written, reading) => {
    expect(readArguments(written, one, "typed")).toEqual(reading);
  });

  it.each<[CommandSpec, string, Reading]>([
    [NAMED, "archive My old one", args("archive", "My old one")],
    [NAMED, 'archive "My old one"', args("archive", "My old one")],
    [NAMED, "archive what? (this)", args("archive", "what? (this)")],
    [NAMED, 'label "My old one" My new one', args("label", "My old one", "My new one")],
    [NAMED, "label #2", args("label", "#2")],
    [SAID, "anything at all", sentence("anything at all")],
  ])("CMD-5: from a menu, %# %j is read", (one, written, reading) => {
    expect(readArguments(written, one, "native")).toEqual(reading);
  });

  it("CMD-5: whatever is typed is read, and what is said to an agent is a part of it", () => {
    const piece = fc.oneof(
      fc.constantFrom("label", "archive", "on", "#2", '"', "“", "”", " ", "\n", "\u200b", "a b", "«x y»"),
      fc.string({ unit: "grapheme", maxLength: 8 }),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        fc.constantFrom(NONE, MODE, NAMED, SAID),
        fc.constantFrom("typed" as const, "native" as const),
        (pieces, one, how) => {
          const written = pieces.join("");
          const reading = readArguments(written, one, how);
          if (reading.as === "words" || reading.as === "slip") return;
          expect(reading.args.length).toBeLessThanOrEqual(one.args.length);
          for (const read of reading.args) expect(read.trim()).not.toBe("");
          if (reading.as === "sentence") expect(written).toContain(reading.args.at(-1));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("CMD-5: reads the longest message in no time", () => {
    for (const written of [
      ' "'.repeat(30_000),
      "label ".repeat(10_000),
      "\u200b".repeat(60_000),
      "«".repeat(60_000),
    ]) {
      const started = performance.now();
      readArguments(written, NAMED, "typed");
      expect(performance.now() - started).toBeLessThan(500);
    }
  });

  it("CMD-5: quotation marks go only when they are around all of it", () => {
    expect(["“a b”", '"a"', "«a»", '"a" b', '"a', 'a "b"', ""].map(unquoted)).toEqual([
      "a b",
      "a",
      "a",
      '"a" b',
      '"a',
      'a "b"',
      "",
    ]);
  });
});
