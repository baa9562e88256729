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
