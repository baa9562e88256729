import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Bot } from "grammy";
import type { Update } from "grammy/types";
import { telegramAdapter } from "../src/adapters/telegram/index.ts";
import { scriptedAgent } from "../src/agents/scripted-agent.ts";
import { createSwitchboard } from "../src/switchboard.ts";
import type { Result } from "./measure.ts";

const UPDATES = 2000;
const CHATS = 50;
const BOT = {
  id: 1,
  is_bot: true as const,
  first_name: "Bench",
  username: "bench_bot",
  can_join_groups: true,
  can_read_all_group_messages: true,
  supports_inline_queries: false,
  can_connect_to_business: false,
  has_main_web_app: false,
  has_topics_enabled: false,
  allows_users_to_create_topics: false,
  can_manage_bots: false,
  supports_join_request_queries: false,
};

/** Updates per second through the plugin to an instant agent and back out to a transport that answers at once, beside a bot that writes a line to a file. */
export async function benchTelegram(dataDir: string): Promise<readonly Result[]> {
  const bare = await bareBot(dataDir);
  const plugin = await pluginBot(dataDir);
  return [
    {
      name: "grammY updates answered per second",
      measured: `${Math.round(plugin)}/s`,
      beside: `bare bot that logs a line and replies ${Math.round(bare)}/s`,
      ratio: plugin / bare,
    },
  ];
}

async function bareBot(dataDir: string): Promise<number> {
  mkdirSync(dataDir, { recursive: true });
  const bot = aBot();
  let answered = 0;
  bot.on("message:text", async (ctx) => {
    appendFileSync(join(dataDir, "bare.log"), `${ctx.msg.text}\n`);
    await ctx.reply("yes");
    answered += 1;
  });
  return rate(bot, () => answered);
}

async function pluginBot(dataDir: string): Promise<number> {
  const bot = aBot();
  const board = await createSwitchboard({
    dataDir,
    agents: { main: scriptedAgent(() => "yes") },
    adapters: [telegramAdapter({ bot })],
    config: {
      agents: { defaults: { maxConcurrent: 16 } },
      channels: { telegram: { requireMention: false } },
    },
  });
  let answered = 0;
  board.on("delivery.settled", ({ state }) => {
    if (state === "delivered") answered += 1;
  });
  await board.start();
  const perSecond = await rate(bot, () => answered);
  await board.close();
  return perSecond;
}

async function rate(bot: Bot, answered: () => number): Promise<number> {
  await deliver(bot, 200, 0);
  while (answered() < 200) await new Promise((resolve) => setImmediate(resolve));
  const from = performance.now();
  await deliver(bot, UPDATES, 200);
  while (answered() < 200 + UPDATES) await new Promise((resolve) => setImmediate(resolve));
  return UPDATES / ((performance.now() - from) / 1000);
}

async function deliver(bot: Bot, count: number, from: number): Promise<void> {
  for (let i = 0; i < count; i++) await bot.handleUpdate(update(from + i + 1));
}

/** Every API call is answered at once, without a network. */
function aBot(): Bot {
  const bot = new Bot("1:bench", { botInfo: BOT });
  let messageId = 1_000_000;
  bot.api.config.use(async (_previous, method) => {
    messageId += 1;
    const result =
      method === "sendMessage" ? { message_id: messageId, date: 0, chat: { id: 1, type: "private" } } : true;
    // The transformer stands in for Telegram's answer to whatever is called.
    return { ok: true, result } as never;
  });
  return bot;
}

function update(id: number): Update {
  const chat = { id: -1_000_000 - (id % CHATS), type: "supergroup" as const, title: `Bench ${id % CHATS}` };
  const from = { id: 1001, is_bot: false, first_name: "Ann" };
  return {
    update_id: id,
    message: { message_id: id, date: 1_760_000_000, chat, from, text: `message ${id}` },
  };
}
