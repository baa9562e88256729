import { Client, type ClientOptions, Events, GatewayIntentBits, Partials } from "discord.js";
import { onTestFinished } from "vitest";
import { type DiscordAdapterOptions, discordAdapter } from "../../../src/adapters/discord/index.ts";
import type { Address, ChannelAdapter } from "../../../src/core/ports/chat.ts";
import type { CommandSpec } from "../../../src/core/ports/command.ts";
import { RecordingHost } from "../../contracts/adapter-harness.ts";
import { type DiscordStandin, startDiscord } from "../../standins/discord.ts";

/** A real discord.js client on its own local Discord, and the adapter under test on it. */
export interface Bot {
  readonly discord: DiscordStandin;
  readonly client: Client;
  readonly adapter: ChannelAdapter;
  close(): Promise<void>;
}

interface BotOptions {
  readonly client?: Partial<ClientOptions>;
  readonly login?: boolean;
  readonly adapter?: Omit<DiscordAdapterOptions, "client">;
}

export async function makeBot({ client: more = {}, login = true, adapter }: BotOptions = {}): Promise<Bot> {
  const discord = await startDiscord();
  const client = makeClient(discord, more);
  if (login) await logIn(client, discord);
  const close = async () => {
    await client.destroy();
    await discord.close();
  };
  return { discord, client, adapter: discordAdapter({ client, ...adapter }), close };
}

export function makeClient(discord: DiscordStandin, more: Partial<ClientOptions> = {}): Client {
  return new Client({
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.DirectMessages,
      GatewayIntentBits.MessageContent,
    ],
    partials: [Partials.Channel],
    rest: { api: discord.restUrl, version: "10" },
    ...more,
  });
}

/** A bot that is stopped and closed when the test ends. */
export async function aBot(options?: BotOptions): Promise<Bot> {
  const bot = await makeBot(options);
  onTestFinished(async () => {
    await bot.adapter.stop();
    await bot.close();
  });
  return bot;
}

export async function logIn(
  client: Client,
  discord: DiscordStandin,
  token = discord.bot.token,
): Promise<void> {
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(token);
  await ready;
}

export async function startedWith(bot: Bot, commands: readonly CommandSpec[] = []): Promise<RecordingHost> {
  const host = new RecordingHost(commands);
  await bot.adapter.start(host);
  return host;
}

/** The address of a room of the server. */
export function placeOf(chatId: string, threadId?: string): Address {
  const place = { channel: "discord", accountId: "default", chatType: "channel", chatId } as const;
  return threadId === undefined ? place : { ...place, threadId };
}
