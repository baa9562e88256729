import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AuthenticationCreds,
  BufferJSON,
  makeWASocket,
  useMultiFileAuthState,
  type WASocket,
} from "@whiskeysockets/baileys";
import { Client, Events, GatewayIntentBits, Partials } from "discord.js";
import { Bot } from "grammy";
import pino from "pino";
import { discordAdapter } from "../../src/adapters/discord/index.ts";
import { telegramAdapter } from "../../src/adapters/telegram/index.ts";
import { whatsappAdapter } from "../../src/adapters/whatsapp/index.ts";
import type { ChannelAdapter } from "../../src/core/ports/chat.ts";

/** Where the platforms are, and what the bots log in with. */
export interface Platforms {
  readonly discord: { readonly restUrl: string; readonly token: string };
  readonly telegram: { readonly apiRoot: string; readonly token: string };
  /** The folder holds the device's credentials; another process may go on with them. */
  readonly whatsapp: {
    readonly url: string;
    readonly authFolder: string;
    /** See WhatsAppOptions. */
    readonly gentle?: boolean;
  };
}

/** Three bots as a host would have them, with real clients, and an adapter on each. */
export interface Bots {
  readonly adapters: readonly ChannelAdapter[];
  /** Logs in; resolves when all three can receive. Call after the board has started. */
  connect(): Promise<void>;
  disconnect(): Promise<void>;
}

const RECONNECT_MS = 50;

export async function makeBots(platforms: Platforms): Promise<Bots> {
  const client = new Client({
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.DirectMessages,
      GatewayIntentBits.MessageContent,
    ],
    partials: [Partials.Channel],
    rest: { api: platforms.discord.restUrl, version: "10" },
  });
  const bot = new Bot(platforms.telegram.token, { client: { apiRoot: platforms.telegram.apiRoot } });
  const { gentle = true } = platforms.whatsapp;
  const whatsapp = whatsappAdapter({ gentle });
  let socket: WASocket | undefined;
  let leaving = false;

  async function connectDiscord(): Promise<void> {
    const ready = new Promise<void>((resolve) => client.once(Events.ClientReady, () => resolve()));
    await client.login(platforms.discord.token);
    await ready;
  }

  function connectTelegram(): Promise<void> {
    return new Promise((resolve, reject) => {
      bot.start({ onStart: () => resolve() }).catch(reject);
    });
  }

  /** Resolves when it is open for the first time; a connection that breaks is made anew, as Baileys leaves to its host. */
  async function connectWhatsApp(): Promise<void> {
    const { state } = await useMultiFileAuthState(platforms.whatsapp.authFolder);
    await new Promise<void>((resolve) => {
      function open(): void {
        if (leaving) return;
        const opened = makeWASocket({
          auth: state,
          waWebSocketUrl: platforms.whatsapp.url,
          logger: pino({ level: "silent" }),
        });
        socket = opened;
        whatsapp.attach(opened);
        opened.ev.on("creds.update", () => saveWhole(platforms.whatsapp.authFolder, state.creds));
        opened.ev.on("connection.update", ({ connection }) => {
          if (connection === "open") resolve();
          if (connection === "close") setTimeout(open, RECONNECT_MS);
        });
      }
      open();
    });
  }

  return {
    adapters: [discordAdapter({ client }), telegramAdapter({ bot }), whatsapp],
    connect: async () => {
      await Promise.all([connectDiscord(), connectTelegram(), connectWhatsApp()]);
    },
    disconnect: async () => {
      leaving = true;
      await Promise.all([client.destroy(), bot.stop()]);
      socket?.end(undefined);
    },
  };
}

/** Baileys' own saving truncates first: a kill in that moment would unlink the device. */
function saveWhole(folder: string, creds: AuthenticationCreds): void {
  const file = join(folder, "creds.json");
  writeFileSync(`${file}.new`, JSON.stringify(creds, BufferJSON.replacer));
  renameSync(`${file}.new`, file);
}
