import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createManifest } from "../src/manifest.ts";

/** Writes plugin.manifest.json; a test fails while the file differs from the code. */
const root = join(import.meta.dirname, "..");
const pkg = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
writeFileSync(join(root, "plugin.manifest.json"), `${JSON.stringify(createManifest(pkg), null, 2)}\n`);
