import type { Client } from "discord.js";

/** Discord's and discord.js' numbers, spelled out here so that nothing of discord.js is loaded at run time. */
const channelPartial = 1;
const guildMessages = 1 << 9;
const directMessages = 1 << 12;
const messageContent = 1 << 15;

/** What the host left out when it made the client, and what will be missing therefore. */
export function adviceFor({ options: { intents, partials = [] } }: Client): readonly string[] {
  const advice: string[] = [];
  if (intents.has(guildMessages) && !intents.has(messageContent)) {
    advice.push(
      "Without the MessageContent intent, server messages that do not mention the bot arrive empty.",
    );
  }
  if (intents.has(directMessages) && !partials.includes(channelPartial)) {
    advice.push("Without Partials.Channel in the client's options, direct messages do not arrive.");
  }
  return advice;
}
