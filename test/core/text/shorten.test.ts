import { describe, expect, it } from "vitest";
import { shorten } from "../../../src/core/text/shorten.ts";

const FAMILY = "👩‍👩‍👧‍👦";

describe("a text that is cut for a platform", () => {
  it.each([
    ["fits", 4, "", "fits"],
    ["too long", 3, "", "too"],
    ["too long", 4, "…", "too…"],
    [FAMILY.repeat(3), 30, "", FAMILY.repeat(2)],
    [FAMILY.repeat(3), 23, "…", `${FAMILY.repeat(2)}…`],
    [`a${FAMILY}`, 11, "", "a"],
  ])("L05: %s in %i units, marked %j, is %j", (text, longest, mark, cut) => {
    expect(shorten(text, longest, mark)).toBe(cut);
  });
});
