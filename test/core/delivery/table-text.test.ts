import { expect, it } from "vitest";
import { renderDiscord } from "../../../src/adapters/discord/outbound.ts";

const boxed = (table: string) => renderDiscord(table).join("\n").replaceAll("```", "").trim();

it("L02: columns stand as the source says: numbers to the right, titles in the middle", () => {
  const table = "| Item | Price | Mark |\n|:--|--:|:-:|\n| tea | 3.50 | x |\n| coffee | 12.00 | yes |";
  expect(boxed(table)).toBe(
    ["Item   | Price | Mark", "-------+-------+-----", "tea    |  3.50 |  x", "coffee | 12.00 | yes"].join(
      "\n",
    ),
  );
});

it.each([
  ["Devanagari with vowel signs and joined letters", "नमस्ते", 3],
  ["Chinese", "中文", 4],
  ["Korean", "한국어", 6],
  ["an emoji of several people", "👩‍👩‍👧‍👦", 2],
  ["a letter and its accents", "e\u0301\u0323", 1],
])("L02: columns are as wide as they look: %s", (_, cell, columns) => {
  const [, rule] = boxed(`| a |\n|---|\n| ${cell} |`).split("\n");
  expect(rule?.length).toBe(columns);
});
