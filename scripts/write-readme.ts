import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withExamples } from "./readme-examples.ts";

/** Puts the examples into README.md; a test fails while it shows others than examples/ has. */
const root = join(import.meta.dirname, "..");
const file = join(root, "README.md");
writeFileSync(file, withExamples(readFileSync(file, "utf8"), join(root, "examples")));
