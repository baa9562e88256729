import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSwitchboard, type Switchboard } from "../../src/switchboard.ts";
import { makeBots } from "../../test/stage/bots.ts";
import { type DiscordStandin, startDiscord } from "../../test/standins/discord.ts";
import { ANN } from "../../test/standins/telegram/people.ts";
import { TelegramStandIn } from "../../test/standins/telegram/telegram-stand-in.ts";
import { folderAuth } from "../../test/standins/whatsapp/creds.ts";
import type { Group } from "../../test/standins/whatsapp/directory.ts";
import type { Person } from "../../test/standins/whatsapp/person.ts";
import { WhatsAppServer } from "../../test/standins/whatsapp/server.ts";
import { storyAgents } from "./agents.ts";
import { AGENTS, type Step } from "./names.ts";

/** Three local platforms, three real bots on them, and the switchboard between. */
export interface Stage {
  readonly board: Switchboard;
  readonly discord: DiscordStandin;
  readonly telegram: TelegramStandIn;
  readonly whatsapp: WhatsAppServer;
  readonly group: Group;
  readonly olivia: Person;
  close(): Promise<void>;
}

/** The owner's numbers on the three platforms. */
const OLIVIA_PHONE = "15550002222";

export async function openStage(broken: Step | undefined): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "switchboard-story-"));
  const [discord, telegram] = [await startDiscord(), await TelegramStandIn.start()];
  const whatsapp = await new WhatsAppServer().start();
  const olivia = whatsapp.addPerson({ phone: OLIVIA_PHONE, lid: "990000000000002", name: "Olivia" });
  const group = whatsapp.addGroup({
    id: "120363000000000001",
    subject: "Field team",
    members: [olivia],
    addressing: "lid",
  });
  const authFolder = join(folder, "whatsapp");
  const auth = await folderAuth(whatsapp.device, authFolder);
  whatsapp.linkDevice(auth.creds);
  const bots = await makeBots({
    discord: { restUrl: discord.restUrl, token: discord.bot.token },
    telegram: { apiRoot: telegram.apiRoot, token: telegram.token },
    whatsapp: { url: whatsapp.url, authFolder },
  });
  const board = await createSwitchboard({
    dataDir: join(folder, "data"),
    agents: storyAgents(broken),
    adapters: bots.adapters,
    owners: { discord: [discord.owner.id], telegram: [ANN.id], whatsapp: [`+${OLIVIA_PHONE}`] },
    config: {
      agents: {
        list: [
          {
            id: AGENTS.telegram,
            default: true,
            subagents: { allowAgents: [AGENTS.discord, AGENTS.whatsapp] },
          },
        ],
      },
      bindings: Object.entries(AGENTS).map(([channel, agentId]) => ({ agentId, match: { channel } })),
      tools: {
        agentToAgent: {
          enabled: true,
          allow: [
            { from: AGENTS.telegram, to: AGENTS.discord, read: false, send: true },
            { from: AGENTS.discord, to: AGENTS.whatsapp, read: false, send: true },
          ],
        },
      },
    },
  });
  await board.start();
  await bots.connect();
  return {
    board,
    discord,
    telegram,
    whatsapp,
    group,
    olivia,
    async close() {
      await board.close();
      await bots.disconnect();
      await Promise.all([discord.close(), telegram.close(), whatsapp.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
