import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** After a build: every entry point loads by itself, and package.json names no file that is not there. */
const root = join(import.meta.dirname, "..");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
for (const [entry, target] of Object.entries<string | { types: string; default: string }>(exports)) {
  if (typeof target === "string") {
    readFileSync(join(root, target));
    continue;
  }
  readFileSync(join(root, target.types));
  const names = Object.keys(await import(pathToFileURL(join(root, target.default)).href));
  if (names.length === 0) throw new Error(`"${entry}" exports nothing.`);
  console.log(`${entry}: ${names.join(", ")}`);
}
