import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cutText,
  HISTORY_BYTES,
  LIST_BYTES,
  MESSAGE_BYTES,
  OMITTED_MESSAGE,
  replaceDataUrls,
  stripControl,
  TEXT_UNITS,
  utf8Bytes,
} from "../../../src/core/transcript/limits.ts";

const MARKER = "\n…(truncated)…";
const ESC = "\u001b";

describe("cutText", () => {
  it("HIST-6: keeps 4,000 units and says that it cut", () => {
    expect(cutText("x".repeat(9_000))).toEqual({ text: "x".repeat(4_000) + MARKER, cut: true });
    expect(cutText("x".repeat(4_000))).toEqual({ text: "x".repeat(4_000), cut: false });
    expect(cutText("", 0)).toEqual({ text: "", cut: false });
    expect(cutText("abc", 0)).toEqual({ text: MARKER, cut: true });
  });

  it.each([
    ["an emoji", "😀"],
    ["a flag", "🇪🇸"],
    ["a family", "👨‍👩‍👧‍👦"],
    ["a skin tone", "👍🏽"],
    ["a letter with accents", "e\u0301\u0302"],
    ["a Hindi conjunct", "क्षि"],
    ["a Korean syllable of parts", "\u1112\u1161\u11ab"],
    ["a line end", "\r\n"],
  ])("L05: never cuts within %s, wherever the limit falls", (_name, grapheme) => {
    for (let before = 0; before <= grapheme.length; before++) {
      const prefix = "x".repeat(before);
      const kept = cutText(prefix + grapheme.repeat(300), 400).text.slice(0, -MARKER.length);
      expect(kept).toBe(prefix + grapheme.repeat(Math.floor((400 - before) / grapheme.length)));
    }
  });

  it("L05: splits a grapheme that is longer than any real one, but no surrogate pair", () => {
    const letter = `x${"\u{1D165}".repeat(1_000)}`;
    const kept = cutText(letter, 600).text.slice(0, -MARKER.length);
    expect(kept).toBe(letter.slice(0, 599));
  });

  it("L05: leaves no lone surrogate and never more than was asked for, in any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.nat(40), (text, limit) => {
        const { text: kept, cut } = cutText(text, limit);
        expect(kept).not.toMatch(/\p{Surrogate}/u);
        expect(cut).toBe(text.length > limit);
        expect(text.startsWith(cut ? kept.slice(0, -MARKER.length) : kept)).toBe(true);
        expect(kept.length).toBeLessThanOrEqual(limit + MARKER.length);
      }),
    );
  });
});

describe("stripControl", () => {
  it.each([
    ["colours", `${ESC}[1;31mred${ESC}[0m`, "red"],
    ["cursor movement", `${ESC}[2J${ESC}[10;5Hat${ESC}[?25l`, "at"],
    ["a title", `${ESC}]0;title\u0007text`, "text"],
    ["a link", `${ESC}]8;;https://example.com${ESC}\\label${ESC}]8;;${ESC}\\`, "label"],
    ["a picture", `a${ESC}P1;2q#0;data\nmore${ESC}\\b`, "ab"],
    ["character sets and single escapes", `${ESC}(Ba${ESC}=b${ESC}7`, "ab"],
    ["C1 forms", "\u009b31mred\u009d0;t\u009cx", "redx"],
    ["an unfinished sequence", `a${ESC}[12`, "a"],
    ["an unfinished title, but not what follows it", `${ESC}]a title\nreal text`, "a title\nreal text"],
    ["bells, returns and NUL, but not line feed and tab", "a\u0000\u0007\r\n\tb\u007f\u0085", "a\n\tb"],
  ])("HIST-6, G07: removes %s", (_name, text, plain) => {
    expect(stripControl(text)).toBe(plain);
  });

  it("HIST-6, G07: leaves no control character in any text", () => {
    const pieces = [
      ESC,
      "[",
      "]",
      "m",
      "\u0007",
      "\\",
      "\u009b",
      "\u009d",
      "\u0090",
      "P",
      "1;",
      "a",
      "\n",
      "\r",
      "\t",
    ];
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: "binary", maxLength: 3 }))),
        (parts) => {
          const plain = stripControl(parts.join(""));
          expect(plain.replace(/[\n\t]/g, "")).not.toMatch(/\p{Cc}/u);
          expect(stripControl(plain)).toBe(plain);
        },
      ),
    );
  });

  it("HIST-6: leaves ordinary text alone", () => {
    expect(stripControl("a [31m b\n\tc é 😀 [x](y)")).toBe("a [31m b\n\tc é 😀 [x](y)");
  });
});

describe("replaceDataUrls", () => {
  const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString("base64");

  it.each([
    [`![x](data:image/png;base64,${base64(1_200_000)})`, "![x]([image/png omitted, 1.2 MB])"],
    [`a data:application/pdf;name=x.pdf;base64,${base64(45_600)} b`, "a [application/pdf omitted, 46 kB] b"],
    [`"data:;base64,${base64(500)}"`, '"[text/plain omitted, 500 B]"'],
    [`DATA:image/svg+xml;charset=utf-8;base64,${base64(100)}.`, "[image/svg+xml omitted, 100 B]."],
  ])("HIST-6, G02: base64 data gives way to its type and size (%#)", (text, replaced) => {
    expect(replaceDataUrls(text)).toBe(replaced);
    expect(replaceDataUrls(replaced)).toBe(replaced);
  });

  it.each([
    "data:image/gif;base64,R0lGODlhAQABAAAAACw=",
    "data:text/plain,hello",
    "the data: a;base64, b",
    "see metadata: x",
  ])("HIST-6, G02: stays: %s", (text) => {
    expect(replaceDataUrls(text)).toBe(text);
  });
});

describe("bytes", () => {
  it("HIST-6: are counted as UTF-8 JSON", () => {
    expect(utf8Bytes("é😀")).toBe(8);
    expect(utf8Bytes({ a: ["\n"], b: undefined })).toBe('{"a":["\\n"]}'.length);
    expect(utf8Bytes(undefined)).toBe(0);
  });

  it("HIST-6: have the limits of the answers", () => {
    expect({ HISTORY_BYTES, LIST_BYTES, MESSAGE_BYTES, TEXT_UNITS, OMITTED_MESSAGE }).toEqual({
      HISTORY_BYTES: 80 * 1024,
      LIST_BYTES: 160 * 1024,
      MESSAGE_BYTES: 128 * 1024,
      TEXT_UNITS: 4_000,
      OMITTED_MESSAGE: "[sessions_history omitted: message too large]",
    });
  });
});
