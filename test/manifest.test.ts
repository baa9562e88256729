import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseConfig } from "../src/core/config.ts";
import { createManifest } from "../src/manifest.ts";

const root = join(import.meta.dirname, "..");
const read = (name: string) => JSON.parse(readFileSync(join(root, name), "utf8"));

it("MAN-1: plugin.manifest.json is what the code says; `npm run manifest` writes it", () => {
  const manifest = JSON.parse(JSON.stringify(createManifest(read("package.json"))));
  expect(read("plugin.manifest.json")).toEqual(manifest);
});

it("MAN-1: the manifest names every tool, command, channel, entry point and config key", () => {
  const manifest = read("plugin.manifest.json");
  expect(manifest.tools.map((tool: { name: string }) => tool.name)).toEqual([
    "sessions_list",
    "sessions_history",
    "sessions_send",
    "sessions_spawn",
    "sessions_yield",
    "subagents",
    "session_status",
    "agents_list",
  ]);
  expect(manifest.commands.map((command: { usage: string }) => command.usage)).toEqual([
    "/send [on|off|inherit]",
    "/status",
    "/sessions [list|archived|history|label|archive|unarchive] [which] [text]",
    "/agents",
    "/tools",
    "/subagents [list|info|log|stop|tree] [which]",
    "/stop",
    "/new [text]",
    "/reset [text]",
    "/deliveries [list|retry|dismiss] [which]",
    "/pair [list|approve|deny|remove] [which]",
    "/whoami",
    "/help",
  ]);
  expect(Object.keys(manifest.channels)).toEqual(["discord", "telegram", "whatsapp", "webchat"]);
  expect(manifest.entryPoints).toEqual(Object.keys(read("package.json").exports));
  expect(Object.keys(manifest.configSchema.properties)).toContain("session");
});

it("MAN-1: a bot that configures nothing fits the config schema, which has every setting", () => {
  const { configSchema } = read("plugin.manifest.json");
  expect(configSchema).not.toHaveProperty("required");
  expect(Object.keys(configSchema.properties)).toEqual(Object.keys(parseConfig({}, ["main"])));
});

interface Schema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Every key of a schema at any depth, with its schema. */
function keysOf(schema: Schema, path = ""): readonly (readonly [path: string, schema: Schema])[] {
  const { properties = {}, ...keywords } = schema;
  const own = Object.entries(properties).flatMap(([name, inner]) => [
    [`${path}.${name}`, inner] as const,
    ...keysOf(inner, `${path}.${name}`),
  ]);
  const nested = Object.values(keywords).filter((value) => typeof value === "object" && value !== null);
  // Whatever is an object in a JSON schema is a schema, or holds some.
  return [...own, ...nested.flatMap((inner) => keysOf(inner as Schema, `${path}[]`))];
}

it("MAN-1: every config key says in a sentence what it is for", () => {
  const keys = keysOf(read("plugin.manifest.json").configSchema);
  const bare = keys.filter(([, { description }]) => typeof description !== "string");
  expect(bare.map(([path]) => path)).toEqual([]);
  const odd = keys.filter(
    ([, { description }]) => !/^["\p{Lu}\p{Ll}].{10,400}\.$/u.test(String(description)),
  );
  expect(odd.map(([path, { description }]) => `${path}: ${description}`)).toEqual([]);
  const found = keys.map(([path]) => path.replaceAll("[]", ""));
  for (const path of [
    ".session.sendPolicy.rules.match.keyPrefix",
    ".channels.groups.requireMention",
    ".tools.agentToAgent.allow.from",
    ".agents.list.subagents.model",
    ".bindings.match.peer.id",
  ]) {
    expect(found).toContain(path);
  }
  expect(keys.length).toBeGreaterThan(120);
});

it("MAN-1: the client that a channel asks for is one that the package supports", () => {
  const { peerDependencies } = read("package.json");
  const channels: Readonly<Record<string, { readonly client?: string }>> =
    read("plugin.manifest.json").channels;
  for (const { client } of Object.values(channels)) {
    if (client === undefined) continue;
    const [name = "", ...range] = client.split(" ");
    expect(peerDependencies[name], client).toBe(range.join(" "));
  }
});
