import { commands } from "./commands/catalogue.ts";
import { usageOf } from "./commands/usage.ts";
import { configJsonSchema } from "./core/config.ts";
import { quietLogger } from "./core/logger.ts";
import { type CatalogueParts, createTools } from "./core/tools/catalogue.ts";

/** What a bot needs on each platform, in the platform's own words. */
const CHANNELS = {
  discord: {
    client: "discord.js",
    intents: ["Guilds", "GuildMessages", "DirectMessages", "MessageContent"],
    partials: ["Channel"],
    permissions: [
      "ViewChannel",
      "SendMessages",
      "SendMessagesInThreads",
      "CreatePublicThreads",
      "ReadMessageHistory",
    ],
  },
  telegram: {
    client: "grammy",
    permissions: ["privacy mode off, or the bot an administrator, to see messages that do not mention it"],
  },
  whatsapp: {
    client: "@whiskeysockets/baileys",
    permissions: [],
  },
  webchat: {
    permissions: ["a server of yours that knows who its visitors are"],
  },
} as const;

/** Contents of plugin.manifest.json, made from the code: tools, commands and config schema are the real ones. */
export function createManifest(pkg: {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly exports: object;
  readonly peerDependencies: Readonly<Record<string, string>>;
}) {
  // Definitions use the logger alone; everything else is needed by calls.
  const tools = createTools({ logger: quietLogger } as CatalogueParts);
  return {
    id: pkg.name,
    version: pkg.version,
    description: pkg.description,
    entryPoints: Object.keys(pkg.exports),
    tools: tools.map(({ name, description, inputJsonSchema }) => ({ name, description, inputJsonSchema })),
    commands: commands.map(({ spec }) => ({
      name: spec.name,
      usage: usageOf(spec),
      description: spec.description.en,
      access: spec.access,
    })),
    channels: Object.fromEntries(
      Object.entries(CHANNELS).map(([name, needs]) => [
        name,
        "client" in needs
          ? { ...needs, client: `${needs.client} ${pkg.peerDependencies[needs.client]}` }
          : needs,
      ]),
    ),
    permissions: {
      files: "one folder (dataDir, default ./.switchboard), created with mode 0700",
      network: "none of its own: everything goes through the host's clients",
      environment: "none",
    },
    configSchema: configJsonSchema(),
  };
}
