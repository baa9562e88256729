import fc from "fast-check";
import { Lexer, Tokenizer } from "marked";
import { describe, expect, it, vi } from "vitest";
import { parseMarkdown } from "../../../src/core/delivery/markdown.ts";
import { wildMarkdown } from "./arbitrary-markdown.ts";

const DOCUMENT = `# Title

Some **bold**, *italic*, \`code\`, ~~struck~~ and [linked](https://example.org/a_b) text,
on two lines, with https://example.org/bare_link and a snake_case_name.

- first
- second
  - inner

1. one
2. two

> quoted

| a | b |
|---|---|
| 1 | 2 |

\`\`\`ts
const code = true;
\`\`\`

---

[ref] to a definition.

[ref]: https://example.org/ref
`;

/** The kinds of all tokens, outside to inside, blank lines left out. */
function kinds(tokens: readonly { type: string; tokens?: unknown }[]): unknown[] {
  const meaningful = tokens.filter(({ type }) => type !== "space");
  return meaningful.map((token) => {
    // Tokens hold others in `tokens`, lists in `items`.
    const inner = ((token as { items?: unknown }).items ?? token.tokens ?? []) as Parameters<typeof kinds>[0];
    return [token.type, kinds(inner)];
  });
}

const NOT_TEXT = /"(?!text")\w+"/g;

describe("DISC-2 TG-2 WA-2: reading Markdown", () => {
  it("DISC-2 TG-2 WA-2: an ordinary text is read as marked reads it, however long it is", () => {
    const long = DOCUMENT.repeat(40);
    expect(kinds(parseMarkdown(long))).toEqual(kinds(Lexer.lex(long.trimEnd(), { gfm: true })));
  });

  it("P14: any text is read, and the tokens hold all of it", () => {
    fc.assert(
      fc.property(wildMarkdown, (source) => {
        const raw = parseMarkdown(source).map((token) => token.raw);
        const read = raw.join("").replace(/\s+/g, "");
        expect(read).toBe(source.replace(/[\0\p{Surrogate}]/gu, "\ufffd").replace(/\s+/g, ""));
      }),
    );
  });

  it("P14: a text that holds nothing but markup loses none of it, and what is above a number remains text", () => {
    for (const piece of ["- a\n", "a\n\n", "`a`", "*a*_b_"]) {
      const source = piece.repeat(40_000 / piece.length);
      const tokens = parseMarkdown(source);
      const raw = tokens.map((token) => token.raw).join("");
      expect(raw.replace(/\s+/g, "") === source.replace(/\s+/g, ""), piece).toBe(true);
      expect(JSON.stringify(kinds(tokens)).match(NOT_TEXT)?.length, piece).toBeLessThan(10_000);
    }
  });

  it("P14: as much markup as the densest honest text has is read to its end", () => {
    const item = "- **name**: what its `flag` does\n";
    const source = item.repeat(80_000 / item.length);
    const found = JSON.stringify(kinds(parseMarkdown(source))).match(/"codespan"/g);
    expect(found).toHaveLength(source.split("\n").length - 1);
  });

  it.each(["_*~", "*a_", "**a ", "~~a ", "`` ` ", "![a](b", "[a](", "[[a] "])(
    "P14: openers without an end (%j) are tried until the text has cost four times its length",
    (piece) => {
      const openers = { emStrong: /^[*_]/, del: /^~/, codespan: /^`/, link: /^!?\[/ };
      let units = 0;
      for (const [name, opener] of Object.entries(openers)) {
        const read = Tokenizer.prototype[name as keyof typeof openers] as (...args: string[]) => unknown;
        vi.spyOn(Tokenizer.prototype, name as keyof typeof openers).mockImplementation(function (
          this: Tokenizer,
          ...args: string[]
        ) {
          const token = read.apply(this, args);
          if (!token && opener.test(args[0] ?? "")) units += args[0]?.length ?? 0;
          return token as undefined;
        });
      }
      parseMarkdown(piece.repeat(80_000 / piece.length));
      vi.restoreAllMocks();
      expect(units).toBeLessThan(4 * 80_000);
    },
  );

  it.each([
    ["quotes in quotes", ">".repeat(5_000)],
    ["lists in lists", "- ".repeat(5_000)],
    ["lists in quotes in lists", "- > ".repeat(5_000)],
    ["images in images", `${"![".repeat(5_000)}a${"](u)".repeat(5_000)}`],
    ["emphasis in emphasis", `${"*a _b ".repeat(2_000)}${"b_ a* ".repeat(2_000)}`],
  ])("P14: %s have a depth, beyond it they are text", (_, source) => {
    let depth = 0;
    const descend = (nested: unknown[], level: number) => {
      depth = Math.max(depth, level);
      for (const [, inner] of nested as [string, unknown[]][]) descend(inner, level + 1);
    };
    descend(kinds(parseMarkdown(source)), 0);
    expect(depth).toBeLessThan(40);
  });

  it.each(["2*3*4", "a*b*c", "2**3**4", "snake_case_name", "__dunder__x", "ann@example.org"])(
    "L06: %s is text",
    (source) => {
      expect(kinds(parseMarkdown(source))).toEqual([["paragraph", [["text", []]]]]);
    },
  );

  it.each([
    ["&lt;b&gt; &amp; &#39;&#x1F600;", "<b> & '😀"],
    ["&#xD800;&#0;", "\ufffd\ufffd"],
    ["&unknown; & &;", "&unknown; & &;"],
    ["\ud83da\udc00\0", "\ufffda\ufffd\ufffd"],
  ])("L05: %j is read as %j", (source, read) => {
    const [paragraph] = parseMarkdown(source);
    expect(paragraph?.type === "paragraph" && paragraph.tokens[0]).toMatchObject({
      type: "text",
      text: read,
    });
  });
});
