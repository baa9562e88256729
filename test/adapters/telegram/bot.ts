import { Bot } from "grammy";
import type { Chat } from "grammy/types";
import { onTestFinished } from "vitest";
import { type TelegramAdapterOptions, telegramAdapter } from "../../../src/adapters/telegram/index.ts";
import type { Address, ChannelAdapter, OutboundMessage } from "../../../src/core/ports/chat.ts";
import type { CommandSpec } from "../../../src/core/ports/command.ts";
import { RecordingHost } from "../../contracts/adapter-harness.ts";
import { TelegramStandIn } from "../../standins/telegram/telegram-stand-in.ts";

export const FORUM: Chat = { id: -1001110001, type: "supergroup", title: "Ops", is_forum: true };
export const GROUP: Chat = { id: -4001, type: "group", title: "Friends" };
export const CHANNEL: Chat = { id: -1005550001, type: "channel", title: "News" };

/** A grammY bot of the host, our adapter on it, and the Telegram it talks to. */
export interface TestBot {
  readonly telegram: TelegramStandIn;
  readonly bot: Bot;
  readonly adapter: ChannelAdapter;
  /** Starts long polling; what the bot's own loop ends with. */
  poll(): Promise<void>;
  close(): Promise<void>;
}

type Options = Omit<TelegramAdapterOptions<never>, "bot">;

/** `install`: plugins that the host puts on its bot before it makes the adapter. */
export async function makeBot(options: Options = {}, install?: (api: Bot["api"]) => void): Promise<TestBot> {
  const telegram = await TelegramStandIn.start();
  for (const chat of [FORUM, GROUP, CHANNEL]) telegram.room(chat);
  const bot = new Bot(telegram.token, { client: { apiRoot: telegram.apiRoot } });
  install?.(bot.api);
  const adapter = telegramAdapter({ bot, ...options });
  const polling: Promise<void>[] = [];
  return {
    telegram,
    bot,
    adapter,
    poll: async () => {
      const loop = bot.start();
      polling.push(loop);
      await telegram.until(() => telegram.isPolled, "the bot polls");
    },
    close: async () => {
      await bot.stop();
      await Promise.all(polling);
      await telegram.close();
    },
  };
}

/** A bot that is stopped and closed when the test ends. */
export async function aBot(options?: Options, install?: (api: Bot["api"]) => void): Promise<TestBot> {
  const made = await makeBot(options, install);
  onTestFinished(async () => {
    await made.adapter.stop();
    await made.close();
  });
  return made;
}

export interface RunningBot extends TestBot {
  readonly host: RecordingHost;
}

/** A bot whose adapter is started and which polls. */
export async function aRunningBot(options?: Options, commands?: readonly CommandSpec[]): Promise<RunningBot> {
  const made = await aBot(options);
  const host = await startedWith(made, commands);
  await made.poll();
  return { ...made, host };
}

export async function startedWith({ adapter }: TestBot, commands: readonly CommandSpec[] = []) {
  const host = new RecordingHost(commands);
  await adapter.start(host);
  return host;
}

export function placeOf(chat: Chat, threadId?: string): Address {
  const chatType = chat.type === "private" ? "direct" : chat.type === "channel" ? "channel" : "group";
  const place = { channel: "telegram", accountId: "default", chatType, chatId: String(chat.id) } as const;
  return threadId === undefined ? place : { ...place, threadId };
}

export function sendTo(
  { adapter }: Pick<TestBot, "adapter">,
  to: Address,
  markdown: string,
  more: Partial<OutboundMessage> = {},
) {
  return adapter.send(to, { deliveryId: "d-1", markdown, ...more }, new AbortController().signal);
}

/** A command in the four languages, for menus and routing. */
export function aCommand(name: string): CommandSpec {
  const description = {
    en: `${name} in English`,
    es: `${name} en español`,
    "pt-BR": `${name} em português`,
    hi: `${name} हिन्दी में`,
  };
  return { name, description, args: [], access: "owner" };
}
