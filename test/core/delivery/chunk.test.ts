import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunk } from "../../../src/core/delivery/chunk.ts";
import type { Frame, Piece } from "../../../src/core/delivery/piece.ts";
import { plainProse, withoutSpace } from "./arbitrary-markdown.ts";

const text = (value: string): Piece => ({ kind: "text", text: value });
const code = (value: string): Piece => ({ kind: "code", text: value });
const framed = (frame: Frame, ...inside: Piece[]): Piece[] => [
  { kind: "open", frame },
  ...inside,
  { kind: "close" },
];

const BOLD: Frame = { open: "**", close: "**" };
const FENCE: Frame = {
  open: "```ts\n",
  close: "\n```",
  bare: { open: "```\n", close: "\n```" },
};

describe("where a part ends", () => {
  it.each([
    ["after a paragraph", "one two\n\nthree four", 16, ["one two", "three four"]],
    ["after a line, when no paragraph ends", "one two\nthree four", 16, ["one two", "three four"]],
    ["after a word, when no line ends", "one two three four", 16, ["one two three", "four"]],
    ["inside a word, when it is too long", "onetwothreefour", 8, ["onetwoth", "reefour"]],
    [
      "not after a paragraph that leaves it nearly empty",
      "a\n\nthree four five six seven",
      20,
      ["a\n\nthree four five", "six seven"],
    ],
    ["at the limit, not before it", "12345678", 8, ["12345678"]],
    ["one unit after the limit", "123456789", 8, ["12345678", "9"]],
  ])("L04: %s", (_, source, limit, parts) => {
    expect(chunk([text(source)], { limit })).toEqual(parts);
  });

  it("L04: an address is not cut when it fits into a part of its own", () => {
    const url = `https://example.org/${"p".repeat(60)}`;
    expect(chunk([text(`see there: ${url} soon`)], { limit: 90 })).toEqual(["see there:", `${url} soon`]);
  });

  it("L05: a backslash stays with the character that it escapes", () => {
    expect(chunk([text("abc\\*def")], { limit: 4 })).toEqual(["abc", "\\*de", "f"]);
  });

  it.each(["", " \n\t ", "\n".repeat(50)])("L04: blank text (%j) gives no part", (source) => {
    expect(chunk([text(source)], { limit: 10 })).toEqual([]);
    expect(chunk(framed(FENCE, code(source)), { limit: 20 })).toEqual([]);
  });

  it("L04: nothing but white space at the cuts is lost, and no part is longer than the limit", () => {
    fc.assert(
      fc.property(plainProse, fc.integer({ min: 2, max: 60 }), (source, limit) => {
        const parts = chunk([text(source)], { limit });
        expect(withoutSpace(parts.join(""))).toBe(withoutSpace(source));
        for (const part of parts) expect(part.length).toBeLessThanOrEqual(limit);
        for (const part of parts) expect(part.trim()).not.toBe("");
      }),
    );
  });
});

describe("L05: what a cut leaves whole", () => {
  const graphemes = ["😀", "👩‍👩‍👧‍👦", "🇩🇪", "e\u0301", "क्षि", "👍🏽", "각"];

  it.each(graphemes)("L05: %s at every cut point", (grapheme) => {
    for (let limit = grapheme.length; limit < 40; limit++) {
      for (const before of ["", "a", "ab"]) {
        const parts = chunk([text(before + grapheme.repeat(30))], { limit });
        for (const part of parts) expect(part.replaceAll(grapheme, "")).toMatch(/^a?b?$/);
      }
    }
  });

  it.each([400, 401, 402, 403])(
    "L05: flags stay pairs in a run longer than the window that is looked at (%i)",
    (limit) => {
      const parts = chunk([text("🇩🇪".repeat(500))], { limit });
      expect(parts.map((part) => part.replaceAll("🇩🇪", ""))).toEqual(parts.map(() => ""));
    },
  );

  it("L05: a surrogate pair, even in one grapheme that no part can hold", () => {
    const parts = chunk([text(`😀${"\u0301".repeat(300)}😀`)], { limit: 7 });
    expect(parts.join("")).toHaveLength(304);
    expect(parts.filter((part) => /\p{Surrogate}/u.test(part))).toEqual([]);
  });

  it("L05: a limit below one character is exceeded by that character, and the rest follows", () => {
    expect(chunk([text("😀a😀")], { limit: 1 })).toEqual(["😀", "a", "😀"]);
  });
});

describe("L01: frames", () => {
  it("L01: a fence is closed and opened again with its language, and one line break is all that goes", () => {
    const source = "line 1\n\n  line 2\nline 3";
    expect(chunk(framed(FENCE, code(source)), { limit: 20 })).toEqual([
      "```ts\nline 1\n\n```",
      "```ts\n  line 2\n```",
      "```ts\nline 3\n```",
    ]);
  });

  it("L01: a line of code ends at its line break also in a part that is nearly empty", () => {
    expect(chunk(framed(FENCE, code(`a\n${"b".repeat(35)}`)), { limit: 40 })).toEqual([
      "```ts\na\n```",
      `\`\`\`ts\n${"b".repeat(30)}\n\`\`\``,
      "```ts\nbbbbb\n```",
    ]);
  });

  it("L01: a language that would take half of a part is left out", () => {
    const long: Frame = { ...FENCE, open: `\`\`\`${"x".repeat(30)}\n` };
    expect(chunk(framed(long, code("a\nb")), { limit: 40 })).toEqual(["```\na\nb\n```"]);
  });

  it.each([
    [10, ["```\nab\n```", "```\ncd\n```", "```\nef\n```"]],
    [9, ["abcdef"]],
    [3, ["abc", "def"]],
  ])("L01: with a limit of %i there is progress", (limit, parts) => {
    expect(chunk(framed(FENCE, code("abcdef")), { limit })).toEqual(parts);
  });

  it("L01: a part never ends with a frame that holds nothing", () => {
    expect(chunk([text("one two "), ...framed(BOLD, text("three")), text(" four")], { limit: 10 })).toEqual([
      "one two",
      "**three**",
      "four",
    ]);
  });

  it("L01: a quote marks every line of every part, a list indents all but code and blank lines", () => {
    const quote: Frame = { open: "> ", close: "", linePrefix: "> " };
    const item: Frame = { open: "- ", close: "", reopen: "", indent: "  " };
    const inside = [text("a\n\nb\n"), ...framed(FENCE, code("c\n\nd"))];
    expect(chunk(framed(quote, ...framed(item, ...inside)), { limit: 100 })).toEqual([
      "> - a\n> \n>   b\n>   ```ts\n> c\n> \n> d\n> ```",
    ]);
    expect(chunk(framed(quote, text("one\ntwo\nthree")), { limit: 12 })).toEqual(["> one\n> two", "> three"]);
    expect(chunk(framed(item, text("one two three")), { limit: 9 })).toEqual(["- one two", "three"]);
  });

  it("L02: what escaping adds is counted, and a cut never falls into it", () => {
    const toHtml = (value: string) => value.replaceAll("&", "&amp;");
    const weigh = (value: string) => toHtml(value).length;
    const parts = chunk([text("a&".repeat(20))], { limit: 16, escape: toHtml, weigh });
    expect(parts.join("")).toBe("a&amp;".repeat(20));
    for (const part of parts) expect(part).toMatch(/^(?:a|&amp;)+$/);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(16);
  });

  it("L02 L04: a part of one long word is as full as it can be, whatever its characters count", () => {
    const toHtml = (value: string) => value.replaceAll("&", "&amp;");
    const weigh = (value: string) => toHtml(value).length;
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "b", "&", "&&&"), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 5, max: 40 }),
        (bits, limit) => {
          const parts = chunk([text(bits.join(""))], { limit, escape: toHtml, weigh });
          expect(parts.join("")).toBe(toHtml(bits.join("")));
          parts.forEach((part, index) => {
            expect(part.length).toBeLessThanOrEqual(limit);
            const next = /^&amp;|^./.exec(parts[index + 1] ?? "")?.[0];
            if (next !== undefined) expect(part.length + next.length).toBeGreaterThan(limit);
          });
        },
      ),
    );
  });

  it("L01 L02: the marks of a quote's further lines are counted, so that each part is as full as it can be", () => {
    const quote: Frame = { open: "> ", close: "", linePrefix: "> " };
    const parts = chunk(framed(quote, code("a\nb\nc\nd\ne\nf")), { limit: 11 });
    expect(parts).toEqual(["> a\n> b\n> c", "> d\n> e\n> f"]);
  });
});
