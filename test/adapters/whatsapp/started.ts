import { onTestFinished } from "vitest";
import type { Machine, WhatsAppOptions } from "../../../src/adapters/whatsapp/index.ts";
import { deliveryFailureOf } from "../../../src/core/errors.ts";
import type { Library } from "../../standins/whatsapp/library.ts";
import { Bot } from "./bot.ts";

/** What the adapter keeps on a socket while started. */
export const adapterListeners = 7;

/** A bot that is connected, with the adapter at work, until the test ends. */
export async function startedBot(
  library: Library,
  options?: WhatsAppOptions,
  machine?: Machine,
): Promise<Bot> {
  const bot = await new Bot(library, options, machine).run();
  onTestFinished(() => bot.close());
  await bot.adapter.start(bot.host);
  return bot;
}

/** Resolves when the bot has lost its socket and is connected again. */
export async function reconnected(bot: Bot): Promise<void> {
  await bot.server.until(() => !bot.server.online);
  await bot.server.until(() => bot.server.online);
  await bot.connected;
}

/** Does something while the bot has no connection, then brings it back. */
export async function offline(bot: Bot, work: () => Promise<unknown>): Promise<void> {
  bot.reconnects = false;
  const socket = await bot.connected;
  const closed = new Promise<void>((resolve) => {
    socket.ev.on("connection.update", ({ connection }) => {
      if (connection === "close") resolve();
    });
  });
  bot.server.disconnect("lost");
  await closed;
  await bot.server.until(() => !bot.server.online);
  await work();
  bot.reconnects = true;
  await bot.connect();
}

/** How a send failed; one that worked fails the test. */
export async function failureOf(sending: Promise<unknown>) {
  return sending.then(() => Promise.reject(new Error("the send worked")), deliveryFailureOf);
}
