import type { LanguageModel } from "ai";
import { createSwitchboard } from "bot-switchboard";
import { aiSdkAgent } from "bot-switchboard/ai-sdk";
import { discordAdapter } from "bot-switchboard/discord";
import { telegramAdapter } from "bot-switchboard/telegram";
import { whatsappAdapter } from "bot-switchboard/whatsapp";
import type { Client } from "discord.js";
import type { Bot } from "grammy";

/** Two agents on three platforms: `main` answers everywhere but in one Discord channel, where `research` lives, and may ask it. */
export async function addSwitchboard(client: Client, bot: Bot, model: LanguageModel) {
  const whatsapp = whatsappAdapter(); // whatsapp.attach(socket) inside your connect()
  const board = await createSwitchboard({
    agents: {
      main: aiSdkAgent({
        model,
        instructions: "You look after our chats. Ask research when you do not know.",
      }),
      research: aiSdkAgent({ model, instructions: "You look things up." }),
    },
    adapters: [discordAdapter({ client }), telegramAdapter({ bot }), whatsapp],
    owners: { discord: ["80351110224678912"], telegram: ["1001"], whatsapp: ["+15550002222"] },
    config: {
      bindings: [
        {
          agentId: "research",
          match: { channel: "discord", peer: { kind: "channel", id: "112233445566778899" } },
        },
      ],
      session: {
        dmScope: "per-channel-peer",
        sendPolicy: { rules: [{ match: { channel: "whatsapp", chatType: "group" }, action: "deny" }] },
      },
      tools: {
        agentToAgent: { enabled: true, allow: [{ from: "main", to: "research", read: false, send: true }] },
      },
    },
  });
  board.on("run.finished", ({ sessionKey, status, durationMs }) => {
    console.log(`${sessionKey}: ${status} after ${durationMs} ms`);
  });
  await board.start();
  return { board, whatsapp };
}
