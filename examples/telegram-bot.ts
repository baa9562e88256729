import { createSwitchboard, functionAgent } from "bot-switchboard";
import { telegramAdapter } from "bot-switchboard/telegram";
import type { Bot } from "grammy";

/** Into a grammY bot: `bot` is the one that your bot already has, before its own handlers are added. */
export async function addSwitchboard(bot: Bot) {
  // #region readme
  const board = await createSwitchboard({
    agents: { main: functionAgent(({ text }) => `You said: ${text}`) },
    adapters: [telegramAdapter({ bot })], // before your own handlers
    owners: { telegram: ["1001"] },
  });
  await board.start(); // then bot.start() or your webhook, as ever
  // #endregion
  return board;
}
