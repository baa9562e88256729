import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { requirements } from "./requirements.ts";

const here = import.meta.dirname;
const ID = /\b[A-Z][A-Z0-9]*-\d+\b/g;
/** Any string literal of a test file; the ids of requirements stand in titles and in tables of titles. */
const LITERAL = /(["'`])((?:\\.|(?!\1).)*)\1/g;

/** Titles of tests and of contract sentences, in every test file but this one. */
function titles(): readonly string[] {
  const files = readdirSync(here, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.(test|contract)\.ts$/.test(file) && file !== "requirements.test.ts",
  );
  return files.flatMap((file) =>
    [...readFileSync(join(here, file), "utf8").matchAll(LITERAL)].map((match) => match[2] ?? ""),
  );
}

describe("the requirements", () => {
  const known = new Set(requirements.map((requirement) => requirement.id));
  const named = new Set(
    titles()
      .flatMap((title) => title.match(ID) ?? [])
      .filter((id) => known.has(id)),
  );

  it("have ids of their own", () => {
    expect(known.size).toBe(requirements.length);
  });

  it("no test names what is only planned", () => {
    const planned = requirements.filter((one) => one.state !== "proved").map((one) => one.id);
    expect(planned.filter((id) => named.has(id))).toEqual([]);
  });

  it.each(requirements.filter((one) => one.state === "proved"))(
    "$id is proved by a test that names it",
    ({ id }) => {
      expect(named).toContain(id);
    },
  );
});
