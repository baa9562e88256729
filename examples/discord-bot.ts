import { createSwitchboard, functionAgent } from "bot-switchboard";
import { discordAdapter } from "bot-switchboard/discord";
import type { Client } from "discord.js";

/** Into a discord.js bot: `client` is the one that your bot already has, before or after its login. */
export async function addSwitchboard(client: Client) {
  // #region readme
  const board = await createSwitchboard({
    agents: { main: functionAgent(({ text }) => `You said: ${text}`) },
    adapters: [discordAdapter({ client })],
    owners: { discord: ["80351110224678912"] }, // your user id: /whoami tells
  });
  await board.start();
  // #endregion
  return board;
}
