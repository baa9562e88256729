import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sourceBlocks } from "../../../src/core/delivery/source-blocks.ts";
import { wildMarkdown } from "./arbitrary-markdown.ts";

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join("");

describe("P14: blocks that are parsed one by one", () => {
  it("P14: are the source, cut between lines", () => {
    fc.assert(
      fc.property(fc.array(wildMarkdown, { maxLength: 20 }), (texts) => {
        const source = texts.join("\n");
        const blocks = sourceBlocks(source);
        expect(blocks.join("")).toBe(source);
        for (const block of blocks.slice(0, -1)) expect(block.endsWith("\n")).toBe(true);
      }),
    );
  });

  it.each([
    ["lines of text", lines(2000, () => "a")],
    ["nested lists", lines(2000, (index) => `${"  ".repeat(index % 40)}- a`)],
    ["quotes", lines(2000, (index) => `${">".repeat(index % 20)} a`)],
    ["lines that could be tables", lines(2000, (index) => (index % 2 ? "-|-" : "a"))],
    ["indented lines", lines(2000, () => "    a")],
  ])("P14: %s: at most 128 lines", (_, source) => {
    const counts = sourceBlocks(source).map((block) => block.split("\n").length - 1);
    expect(Math.max(...counts)).toBeLessThanOrEqual(128);
  });

  it.each([
    ["a fenced block", `\`\`\`ts\n${lines(1000, (index) => `code ${index}`)}\`\`\`\n`],
    ["a fenced block that shows a fence", `~~~\n${lines(100, () => "    ```\n\n> ~~~")}~~~\n`],
    ["a table", `| a | b |\n|---|---|\n${lines(300, (index) => `| ${index} | x |`)}`],
    ["a fence in a list item", `- a\n  \`\`\`\n${lines(150, () => "  code\n")}  \`\`\`\n`],
  ])("L01: %s stays whole", (_, block) => {
    const blocks = sourceBlocks(`Before.\n\n${block}\nAfter.\n`);
    expect(blocks.some((found) => found.includes(block))).toBe(true);
  });

  it("P14: a long list ends between items of the first level", () => {
    const source = lines(100, (index) => `- item ${index}\n  - inner`);
    for (const block of sourceBlocks(source)) expect(block).toMatch(/^- item/);
  });
});
