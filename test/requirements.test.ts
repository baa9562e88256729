import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { requirements } from "./requirements.ts";

const here = import.meta.dirname;
const ID = /\b[A-Z][A-Z0-9]*-\d+\b/g;
const TITLE =
  /\b(?:it|test|sentence|describe)(?:\.\w+(?:\([^)]*\))?)*\(\s*(["'`])((?:\\.|(?!\1).)*)\1|\btitle:\s*(["'`])((?:\\.|(?!\3).)*)\3/gs;

/** Titles of tests and of contract sentences, in every test file but this one. */
function titles(): readonly string[] {
  const files = readdirSync(here, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.(test|contract)\.ts$/.test(file) && file !== "requirements.test.ts",
  );
  return files.flatMap((file) =>
    [...readFileSync(join(here, file), "utf8").matchAll(TITLE)].map((match) => match[2] ?? match[4] ?? ""),
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
