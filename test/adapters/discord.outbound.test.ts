import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderDiscord } from "../../src/adapters/discord/outbound.ts";
import { codeLines, plainProse, wildMarkdown, withoutSpace } from "../core/delivery/arbitrary-markdown.ts";

const block = (lines: readonly string[], language = "ts") => `\`\`\`${language}\n${lines.join("\n")}\n\`\`\``;
const contentOf = (part: string) => part.replace(/^```\w*\n/, "").replace(/\n```$/, "");

describe("DISC-2: Markdown as Discord shows it", () => {
  it.each([
    ["**b** *i* _i_ ***bi*** ~~s~~ `c` ||hidden||", "**b** *i* _i_ ***bi*** ~~s~~ `c` ||hidden||"],
    ["# One\n## Two\n### Three", "# One\n## Two\n### Three"],
    ["#### Four **x**", "**Four x**"],
    ["- a\n  - b\n1. c\n2. d", "- a\n  - b\n1. c\n2. d"],
    ["- [x] done\n- [ ] open", "- [x] done\n- [ ] open"],
    ["> a\n> b\n\nc", "> a\n> b\n\nc"],
    ["> a\n>\n> b", "> a\n> \n> b"],
    ["> a\n> > b", "> a\n> b"],
    ["| a | b |\n|---|---|\n| long | **2** |", "```\na    | b\n-----+--\nlong | 2\n```"],
    ["[t](https://example.org/a_(b))", "[t](https://example.org/a_%28b%29)"],
    ["[t][r]\n\n[r]: https://example.org", "[t](https://example.org)\n\n[r]: https://example.org"],
    ["[file](docs/a.md)", "file (docs/a.md)"],
    ["![alt](https://example.org/i.png)", "[alt](https://example.org/i.png)"],
    ["<https://example.org> https://example.org/a_b", "<https://example.org> https://example.org/a_b"],
    ["<u>under</u> a<br>b <custom>", "__under__ a\nb <custom>"],
    ["a\\*b \\# c", "a\\*b \\# c"],
    ["    indented", "```\nindented\n```"],
    ["``a ` b``", "`` a ` b ``"],
    ["a\n\n\nb", "a\n\n\nb"],
  ])("DISC-2: %j", (markdown, shown) => {
    expect(renderDiscord(markdown)).toEqual([shown]);
  });

  it.each([
    ["2*3*4", "2\\*3\\*4"],
    ["5 * 3 * 2", "5 * 3 * 2"],
    ["*open", "\\*open"],
    ["a `b", "a \\`b"],
    ["snake_case_name", "snake_case_name"],
    ["#", "#"],
    ["-", "-"],
  ])("L03: marks that mean nothing stay visible: %j", (markdown, shown) => {
    expect(renderDiscord(markdown)).toEqual([shown]);
  });

  it("K06: mentions, emoji and timestamps stay readable as they are", () => {
    const text = "@everyone done <@&55> <@9> <#7> <:my_emoji:12> <t:1700000000:R> </status:5>";
    expect(renderDiscord(text)).toEqual([text]);
  });

  it("L01: three backticks inside a code block do not end it", () => {
    const [part = ""] = renderDiscord("~~~\n```ts\nx\n```\n~~~");
    expect(part.split("```")).toHaveLength(3);
    expect(part.replaceAll("\u200b", "")).toBe("```\n```ts\nx\n```\n```");
  });

  it.each([["```\n```"], ["```ts"], [""], ["  \n "]])("L01 L04: %j sends nothing", (markdown) => {
    expect(renderDiscord(markdown)).toEqual([]);
  });
});

describe("DISC-2: long texts", () => {
  it("L02: one long cell does not widen every row of its table", () => {
    const rows = Array.from({ length: 200 }, (_, index) => `| ${index} | x |\n`).join("");
    const table = `| a | b |\n|---|---|\n| ${"y".repeat(1500)} | x |\n${rows}`;
    expect(renderDiscord(table).join("").length).toBeLessThan(2 * table.length);
  });

  it.each([2000, 200, 60])("L01: 300 lines of code at %i: complete blocks with their language", (limit) => {
    const lines = Array.from({ length: 300 }, (_, index) => `  const value${index} = "<&>";`);
    const parts = renderDiscord(block(lines), limit);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(limit);
      expect(part).toMatch(/^```ts\n[\s\S]+\n```$/);
    }
    expect(parts.map(contentOf).join("\n")).toBe(lines.join("\n"));
  });

  it("L01: an info string of 300 characters stays where it fits, else the fence is bare", () => {
    const language = "x".repeat(300);
    const lines = Array.from({ length: 60 }, () => "y".repeat(50));
    for (const part of renderDiscord(block(lines, language), 2000))
      expect(part).toContain(`\`\`\`${language}\n`);
    for (const part of renderDiscord(block(lines, language), 400)) expect(part).toMatch(/^```\ny/);
  });

  it("L01: an unclosed block is closed in every part", () => {
    const parts = renderDiscord(`Before\n\`\`\`ts\n${"code\n".repeat(20)}`, 60);
    expect(parts.join("").split("```").length % 2).toBe(1);
    for (const part of parts.slice(1)) expect(part).toMatch(/^```ts\n[\s\S]+\n```$/);
  });

  it("L01: code comes back exactly, whatever is in it", () => {
    fc.assert(
      fc.property(codeLines, fc.integer({ min: 50, max: 200 }), (lines, limit) => {
        const parts = renderDiscord(block(lines), limit);
        const isBlank = lines.every((line) => line.trim() === "");
        const content = parts.map(contentOf).join("\n");
        // Blank lines at the end may make a part of their own, which is not sent.
        expect(content.trimEnd()).toBe(isBlank ? "" : lines.join("\n").trimEnd());
      }),
    );
  });

  it("L04: prose loses nothing but white space at the cuts", () => {
    fc.assert(
      fc.property(plainProse, fc.integer({ min: 30, max: 200 }), (source, limit) => {
        expect(withoutSpace(renderDiscord(source, limit).join(""))).toBe(withoutSpace(source));
      }),
    );
  });

  it("L04: a style goes on in the next part", () => {
    expect(renderDiscord("**one two three four**", 14)).toEqual(["**one two**", "**three four**"]);
    expect(renderDiscord("## one two three", 10)).toEqual(["## one two", "## three"]);
  });

  it("L02: a link that no part can hold is text", () => {
    const url = `https://example.org/${"p".repeat(2000)}`;
    const parts = renderDiscord(`See [label](${url}) there.`);
    expect(withoutSpace(parts.join(""))).toBe(`Seelabel(${url})there.`);
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(2000);
  });

  it.each([4, 8, 20, 2000])("L01: backticks inside a code span open no fence, at a limit of %i", (limit) => {
    for (const part of renderDiscord("``*```*``", limit)) expect(part).not.toContain("```");
  });

  it("L01 L04 L05: any text: parts within the limit, not blank, no half characters, fences in pairs", () => {
    fc.assert(
      fc.property(wildMarkdown, fc.integer({ min: 2, max: 120 }), (markdown, limit) => {
        for (const part of renderDiscord(markdown, limit)) {
          expect(part.length).toBeLessThanOrEqual(limit);
          expect(part.trim()).not.toBe("");
          expect(part).not.toMatch(/\p{Surrogate}/u);
          expect((part.match(/(?<![\\`])```(?!`)/g) ?? []).length % 2).toBe(0);
        }
      }),
    );
  });
});
