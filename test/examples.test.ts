import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client, Events, GatewayIntentBits, Partials } from "discord.js";
import { Bot } from "grammy";
import { expect, it, onTestFinished } from "vitest";
import { addSwitchboard as addToDiscord } from "../examples/discord-bot.ts";
import { addSwitchboard as addToTelegram } from "../examples/telegram-bot.ts";
import { startWebchat } from "../examples/webchat.ts";
import { addSwitchboard as addToWhatsApp } from "../examples/whatsapp-bot.ts";
import { withExamples } from "../scripts/readme-examples.ts";
import type { Switchboard } from "../src/switchboard.ts";
import { aFolder } from "./fakes/a-board.ts";
import { startDiscord } from "./standins/discord.ts";
import { TelegramStandIn } from "./standins/telegram/telegram-stand-in.ts";
import { connectWhatsApp } from "./standins/whatsapp/connect.ts";
import { WhatsAppServer } from "./standins/whatsapp/server.ts";

const root = join(import.meta.dirname, "..");

it("the README shows the examples as they are, in at most 150 lines; `npm run readme` writes them", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  expect(withExamples(readme, join(root, "examples"))).toBe(readme);
  expect(readme.split("\n").length).toBeLessThanOrEqual(151);
});

it("the Discord example answers in a discord.js bot", async () => {
  inFolderOfItsOwn();
  const discord = await startDiscord();
  onTestFinished(() => discord.close());
  const client = new Client({
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.DirectMessages,
      GatewayIntentBits.MessageContent,
    ],
    partials: [Partials.Channel],
    rest: { api: discord.restUrl },
  });
  closed(await addToDiscord(client));
  onTestFinished(() => client.destroy());
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(discord.bot.token);
  await ready;
  discord.say(`<@${discord.bot.user.id}> hello`);
  await discord.until(() => discord.sent.length > 0, "the bot answered");
  expect(discord.sent[0]?.content).toContain("You said: ");
});

it("the Telegram example answers its owner in a grammY bot", async () => {
  inFolderOfItsOwn();
  const telegram = await TelegramStandIn.start();
  onTestFinished(() => telegram.close());
  const bot = new Bot(telegram.token, { client: { apiRoot: telegram.apiRoot } });
  closed(await addToTelegram(bot));
  const polling = bot.start();
  onTestFinished(async () => {
    await bot.stop();
    await polling;
  });
  telegram.say("hello");
  await telegram.until(() => telegram.sent.length > 0, "the bot answered");
  expect(telegram.sent[0]?.text).toBe("You said: hello");
});

it("the WhatsApp example answers its owner in a Baileys bot", async () => {
  inFolderOfItsOwn();
  const whatsapp = await new WhatsAppServer().start();
  onTestFinished(() => whatsapp.stop());
  const olivia = whatsapp.addPerson({ phone: "15550002222", lid: "990000000000002", name: "Olivia" });
  closed(
    await addToWhatsApp(async (onSocket) => {
      const socket = await connectWhatsApp(whatsapp, { attach: onSocket });
      onTestFinished(() => socket.end(undefined));
    }),
  );
  await whatsapp.say(olivia, "hello");
  await whatsapp.until(() => whatsapp.sent.length > 0);
  expect(whatsapp.sent[0]?.text).toBe("You said: hello");
});

it("the web page example shows a person the answer, also one that came while the page was closed", async () => {
  inFolderOfItsOwn();
  const { board, server } = await startWebchat((cookie) => /person=(\w+)/.exec(cookie ?? "")?.[1]);
  closed(board);
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const as = (person: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}`, { ...init, headers: { cookie: `person=${person}` } });
  const answered = new Promise((resolve) => board.on("delivery.settled", resolve));
  const body = JSON.stringify({ id: "1", text: "hello" });
  expect((await as("", { method: "POST", body })).status).toBe(401);
  expect((await as("ann", { method: "POST", body })).status).toBe(202);
  await answered;
  const leaving = new AbortController();
  const page = await as("ann", { signal: leaving.signal });
  const { value } = (await page.body?.getReader().read()) ?? {};
  expect(new TextDecoder().decode(value)).toContain("You said: hello");
  leaving.abort();
});

/** Examples keep their data in ./.switchboard, as a host without options does. */
function inFolderOfItsOwn(): void {
  const before = process.cwd();
  process.chdir(aFolder());
  onTestFinished(() => process.chdir(before));
}

function closed(board: Switchboard): void {
  onTestFinished(() => board.close({ graceMs: 0 }));
}
