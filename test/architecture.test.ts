import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const src = join(root, "src");
const MAX_LINES = 250;

/** Lowest first. A file belongs to the first pattern that fits; imports go to the own layer or below. */
const layers: readonly { readonly name: string; readonly files: RegExp }[] = [
  { name: "ground", files: /^core\/(ports\/|errors\.ts|given\.ts)/ },
  {
    name: "rules",
    files:
      /^core\/(config(-\w+)?\.ts|(limits|message-text)\.ts|policy\/|text\/|transcript\/(sanitize|redact|limits|match-from|prompt|window|history-view)|announce\/(wording|silence|steps)|children\/(child-id|attempts|family|origin|audience|announcement|thread-bindings|stats-line|wording|child-runs|task-view)\.ts|delivery\/(?!outbox|deliveries|typing|send-check|undelivered|unserved)|runs\/(run-id|job|ending|turn|batch|bounds)\.ts|session\/(key|opaque-id|describe|resolve|binding|freshness|person|row|patch|arrival|status))/,
  },
  {
    name: "services",
    files: /^core\/(storage|engine|runs|delivery|transcript|session)\/|^core\/(clock|logger)\.ts/,
  },
  { name: "flows", files: /^core\/(inbound|announce|children)\// },
  { name: "doors", files: /^(core\/(tools|gateway)|commands|adapters|agents|operator)/ },
  { name: "root", files: /^(switchboard|wiring|options|manifest|index)\.ts$/ },
];

const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const layerOf = (file: string) => layers.findIndex((layer) => layer.files.test(file));

/** Doors may not know each other: the first folder below src, or below core, is the door. */
const doorOf = (file: string) =>
  file.match(/^(core\/\w+|commands|adapters\/\w+|agents\/[\w-]+|operator)/)?.[0] ?? file;

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(src, file), "utf8");
  return [...text.matchAll(/\bfrom "(\.[^"]+)"/g)].map((match) =>
    relative(src, join(dirname(join(src, file)), match[1] ?? "")),
  );
}

describe("the architecture", () => {
  it.each(files)("%s has a layer, imports downwards, knows no other door and is short", (file) => {
    const layer = layerOf(file);
    expect(layer, "a home in the layer table").toBeGreaterThanOrEqual(0);
    expect(readFileSync(join(src, file), "utf8").split("\n").length - 1).toBeLessThanOrEqual(MAX_LINES);
    for (const imported of importsOf(file)) {
      expect(existsSync(join(src, imported)), `${imported} exists`).toBe(true);
      expect(layerOf(imported), `${file} imports ${imported}`).toBeLessThanOrEqual(layer);
      if (layers[layer]?.name === "doors" && layers[layerOf(imported)]?.name === "doors") {
        expect(sameDoor(file, imported), `${file} may not know ${imported}`).toBe(true);
      }
    }
  });

  it("rules are pure: they read no clock, await nothing and draw no ids", () => {
    const rules = files.filter((file) => layers[layerOf(file)]?.name === "rules");
    expect(rules.length).toBeGreaterThan(10);
    for (const file of rules) {
      expect(readFileSync(join(src, file), "utf8"), file).not.toMatch(
        /\bawait\b|\basync\b|Date\.now|randomUUID|setTimeout/,
      );
    }
  });

  it("SQL lives in the engine and the Keyv adapter only", () => {
    const elsewhere = files.filter(
      (file) => !/^core\/engine\/sqlite\/|^core\/storage\/sqlite-keyv\.ts$/.test(file),
    );
    for (const file of elsewhere) {
      expect(readFileSync(join(src, file), "utf8"), file).not.toMatch(
        /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|PRAGMA)\b/,
      );
    }
  });

  it("the core imports no platform, model or transport library at run time", () => {
    const banned =
      /^import (?!type\b)[^;]*?"(discord\.js|grammy|@whiskeysockets\/baileys|@agentclientprotocol\/sdk|ai)";/m;
    for (const file of files) expect(readFileSync(join(src, file), "utf8"), file).not.toMatch(banned);
  });
});

function sameDoor(file: string, imported: string): boolean {
  return doorOf(file) === doorOf(imported) || isToolingOf(file, imported) || isShared(file, imported);
}

/** What lies beside the adapters' folders is there for all of them. */
function isShared(file: string, imported: string): boolean {
  return file.startsWith("adapters/") && dirname(imported) === "adapters";
}

/** A small agent may be built from another one in the same folder. */
function isToolingOf(file: string, imported: string): boolean {
  return dirname(file) === dirname(imported) && file.startsWith("agents/");
}
