import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderWhatsApp } from "../../src/adapters/whatsapp/outbound.ts";
import { codeLines, plainProse, wildMarkdown, withoutSpace } from "../core/delivery/arbitrary-markdown.ts";

describe("WA-2: Markdown in WhatsApp's marks", () => {
  it.each([
    ["**b** *i* ***bi*** ~~s~~ `code`", "*b* _i_ *_bi_* ~s~ `code`"],
    ["__b__ _i_ **b *i***", "*b* _i_ *b _i_*"],
    ["[t](https://example.org/u)", "t (https://example.org/u)"],
    [
      "[https://example.org](https://example.org/) <https://example.org>",
      "https://example.org/ https://example.org",
    ],
    ["![alt](https://example.org/i.png)", "alt (https://example.org/i.png)"],
    ["# H", "*H*"],
    ["### H **b** *i*", "*H b _i_*"],
    ["H\n===\ntext", "*H*\ntext"],
    ["| a | b |\n|---|---|\n| 1 | *2* |", "*a | b*\n1 | _2_"],
    ["```ts\nconst a = '**x**';\n```", "```\nconst a = '**x**';\n```"],
    ["`**x** [a](b)`", "`**x** [a](b)`"],
    ["2*3*4", "2*3*4"],
    ["snake_case_name", "snake_case_name"],
    ["- a\n- b\n  1. c", "- a\n- b\n  1. c"],
    ["> a\n> **b**", "> a\n> *b*"],
    ["**two\nlines**", "*two*\n*lines*"],
    ["<u>under</u> ||shown||", "under ||shown||"],
    ["a\\*b", "a*b"],
    ["``a ` b``", "```a ` b```"],
    ["a\n\n\nb", "a\n\n\nb"],
  ])("L06: %j", (markdown, shown) => {
    expect(renderWhatsApp(markdown)).toEqual([shown]);
  });

  it("K06: numbers after an at sign stay readable; a text lists nobody, so it mentions nobody", () => {
    expect(renderWhatsApp("@222 and @15550002222")).toEqual(["@222 and @15550002222"]);
  });
});

describe("WA-2: long texts", () => {
  it.each([
    ["4,000 characters", "x".repeat(4000), 1],
    ["4,001 characters", "x".repeat(4001), 2],
    ["nothing", "", 0],
    ["white space", " \n".repeat(3000), 0],
  ])("L04: %s", (_, source, count) => {
    const parts = renderWhatsApp(source);
    expect(parts).toHaveLength(count);
    expect(parts.join("")).toBe(source.trim());
  });

  it("L01: code comes back exactly, in complete blocks", () => {
    fc.assert(
      fc.property(codeLines, fc.integer({ min: 50, max: 200 }), (lines, limit) => {
        fc.pre(lines.join("").trim() !== "");
        const parts = renderWhatsApp(`\`\`\`ts\n${lines.join("\n")}\n\`\`\``, limit);
        for (const part of parts) expect(part).toMatch(/^```\n[\s\S]+\n```$/);
        const content = parts.map((part) => part.slice(4, -4)).join("\n");
        expect(content.trimEnd()).toBe(lines.join("\n").trimEnd());
      }),
    );
  });

  it("L04: prose loses nothing but white space at the cuts", () => {
    fc.assert(
      fc.property(plainProse, fc.integer({ min: 30, max: 200 }), (source, limit) => {
        expect(withoutSpace(renderWhatsApp(source, limit).join(""))).toBe(withoutSpace(source));
      }),
    );
  });

  it("L04 L05: any text: parts within the limit, not blank, no half characters", () => {
    fc.assert(
      fc.property(wildMarkdown, fc.integer({ min: 2, max: 120 }), (markdown, limit) => {
        for (const part of renderWhatsApp(markdown, limit)) {
          expect(part.length).toBeLessThanOrEqual(limit);
          expect(part.trim()).not.toBe("");
          expect(part).not.toMatch(/\p{Surrogate}/u);
        }
      }),
    );
  });
});
