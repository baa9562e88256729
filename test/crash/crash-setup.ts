import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigInput } from "../../src/core/config.ts";
import { openDatabase } from "../../src/core/engine/sqlite/database.ts";
import type { Platforms } from "../stage/bots.ts";
import { type DiscordStandin, startDiscord } from "../standins/discord.ts";
import { ANN } from "../standins/telegram/people.ts";
import { TelegramStandIn } from "../standins/telegram/telegram-stand-in.ts";
import { folderAuth } from "../standins/whatsapp/creds.ts";
import type { Group } from "../standins/whatsapp/directory.ts";
import type { Person } from "../standins/whatsapp/person.ts";
import { WhatsAppServer } from "../standins/whatsapp/server.ts";

/** What a killed and restarted process needs to go on. */
export interface CrashSetup {
  readonly platforms: Platforms;
  readonly dataDir: string;
  readonly owners: Readonly<Record<string, readonly string[]>>;
  readonly config: ConfigInput;
  /** Sessions that agents send to. */
  readonly targets: { readonly ops: string; readonly field: string };
}

/** Platforms that outlive the bots. */
export interface World {
  readonly discord: DiscordStandin;
  readonly telegram: TelegramStandIn;
  readonly whatsapp: WhatsAppServer;
  readonly group: Group;
  readonly olivia: Person;
  readonly setup: CrashSetup;
  close(): Promise<void>;
}

export async function makeWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "switchboard-crash-"));
  const [discord, telegram, whatsapp] = [
    await startDiscord(),
    await TelegramStandIn.start(),
    await new WhatsAppServer().start(),
  ];
  const olivia = whatsapp.addPerson({ phone: "15550002222", lid: "990000000000002", name: "Olivia" });
  const group = whatsapp.addGroup({
    id: "120363000000000001",
    subject: "Field team",
    members: [olivia],
    addressing: "lid",
  });
  const authFolder = join(folder, "whatsapp");
  const { creds } = await folderAuth(whatsapp.device, authFolder);
  whatsapp.linkDevice(creds);
  return {
    discord,
    telegram,
    whatsapp,
    group,
    olivia,
    setup: {
      dataDir: join(folder, "data"),
      platforms: {
        discord: { restUrl: discord.restUrl, token: discord.bot.token },
        telegram: { apiRoot: telegram.apiRoot, token: telegram.token },
        whatsapp: { url: whatsapp.url, authFolder },
      },
      owners: { discord: [discord.owner.id], telegram: [String(ANN.id)], whatsapp: ["+15550002222"] },
      config: {
        bindings: [
          { agentId: "concierge", match: { channel: "telegram" } },
          { agentId: "ops", match: { channel: "discord" } },
          { agentId: "field", match: { channel: "whatsapp" } },
        ],
        tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true, allow: ["*"] } },
        agents: {
          defaults: {
            subagents: { allowAgents: ["*"], maxChildrenPerAgent: 20, maxSpawnsPerHour: 100_000 },
          },
        },
      },
      targets: {
        ops: `agent:ops:discord:channel:${discord.general.id}`,
        field: `agent:field:whatsapp:group:${group.jid}`,
      },
    },
    close: async () => {
      await Promise.all([discord.close(), telegram.close(), whatsapp.stop()]);
    },
  };
}

/** Opens the store of a process that has ended. */
export function openStore(setup: CrashSetup) {
  return openDatabase(join(setup.dataDir, "switchboard.sqlite"));
}
