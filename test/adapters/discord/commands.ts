import type { CommandSpec } from "../../../src/core/ports/command.ts";
import type { RecordingHost } from "../../contracts/adapter-harness.ts";
import type { DiscordStandin } from "../../standins/discord.ts";
import { type Bot, startedWith } from "./bot.ts";

export const describedAs = (en: string) => ({
  en,
  es: `${en} (es)`,
  "pt-BR": `${en} (pt)`,
  hi: `${en} (hi)`,
});

export const sendCommand: CommandSpec = {
  name: "send",
  names: { en: "send", es: "enviar", "pt-BR": "enviar", hi: "भेजना" },
  description: describedAs("Whether this chat gets messages."),
  access: "owner",
  args: [
    {
      name: "mode",
      names: { en: "mode", es: "modo", "pt-BR": "modo", hi: "मोड" },
      description: describedAs("What to do."),
      required: true,
      choices: ["on", "off", "inherit"],
      choiceNames: [
        { en: "on", es: "activado", "pt-BR": "ligado", hi: "चालू" },
        { en: "off", es: "desactivado", "pt-BR": "desligado", hi: "बंद" },
        { en: "inherit", es: "heredar", "pt-BR": "inherit", hi: "डिफ़ॉल्ट" },
      ],
    },
    { name: "note", description: describedAs("Why."), required: false },
  ],
};
export const statusCommand: CommandSpec = {
  name: "status",
  // As Brazilians say it.
  names: { en: "status", es: "estado", "pt-BR": "status", hi: "स्थिति" },
  description: describedAs(`How things are. ${"Very long. ".repeat(20)}`),
  access: "anyone",
  args: [{ name: "session", description: describedAs("Which one."), required: false, completes: "sessions" }],
};
export const ours = [sendCommand, statusCommand];

/** Started, and our commands are in the menu. */
export async function readyWith(bot: Bot): Promise<RecordingHost> {
  const host = await startedWith(bot, ours);
  await menuOf(bot.discord, ours.length);
  return host;
}

export function menuOf(discord: DiscordStandin, size: number): Promise<void> {
  return discord.until(() => discord.commands().list().length === size, `${size} commands are in the menu`);
}
