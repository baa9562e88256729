import type { BotCommand, LanguageCode } from "grammy/types";
import { describe, expect, it } from "vitest";
import { telegramCommands } from "../../../src/adapters/telegram/index.ts";
import { refused } from "../../standins/telegram/failures.ts";
import { aBot, aCommand, startedWith, type TestBot } from "./bot.ts";

const commands = [aCommand("send"), aCommand("status")];
const WEATHER: BotCommand = { command: "weather", description: "Tells the weather" };
const OURS = { command: "send", description: "send in English" };

/** Starts the adapter and waits until its menus are done: stop does, and cuts nothing off that is needed here. */
async function mergedMenus(made: TestBot): Promise<void> {
  const asked = () => made.telegram.calls.filter(({ method }) => method === "getMyCommands").length;
  const before = asked();
  await startedWith(made, commands);
  await made.telegram.until(() => asked() === before + 16, "every menu was read");
  await made.adapter.stop();
}

const names = (list: readonly BotCommand[]) => list.map(({ command }) => command);

const changes = (made: TestBot) =>
  made.telegram.calls.filter(({ method }) => method === "setMyCommands").length;

describe("CMD: the command menu", () => {
  it("CMD: shows our commands in four languages", async () => {
    const made = await aBot();
    await mergedMenus(made);
    const shown = ["de", "es", "pt", "hi"].map(
      (language) => made.telegram.menus.seenBy(language)[0]?.description,
    );
    expect(shown).toEqual(["send in English", "send en español", "send em português", "send हिन्दी में"]);
  });

  it("CMD: keeps the host's commands, first and unchanged, in every language", async () => {
    const made = await aBot();
    await made.bot.api.setMyCommands([WEATHER]);
    await made.bot.api.setMyCommands([{ ...WEATHER, description: "El tiempo" }], { language_code: "es" });
    await mergedMenus(made);
    expect(made.telegram.menus.seenBy("de").slice(0, 2)).toEqual([WEATHER, OURS]);
    expect(made.telegram.menus.seenBy("hi")[0]).toEqual(WEATHER);
    expect(made.telegram.menus.seenBy("es").map(({ description }) => description)).toEqual([
      "El tiempo",
      "send en español",
      "status en español",
    ]);
  });

  it("CMD: completes a narrower menu of the host, and makes none that the host has not", async () => {
    const made = await aBot();
    const scope = { type: "all_private_chats" } as const;
    await made.bot.api.setMyCommands([WEATHER], { scope });
    await mergedMenus(made);
    expect(names(await made.bot.api.getMyCommands({ scope }))).toEqual(["weather", "send", "status"]);
    expect(await made.bot.api.getMyCommands({ scope: { type: "all_group_chats" } })).toEqual([]);
  });

  it("CMD: a command of the host with one of our names stays the host's, and the log says so", async () => {
    const made = await aBot();
    const theirs = { command: "status", description: "State of the server" };
    await made.bot.api.setMyCommands([theirs]);
    const host = await startedWith(made, commands);
    await host.until(() => host.log.length > 0, "the clash was logged");
    expect(made.telegram.menus.seenBy("hi")).toEqual([
      theirs,
      { command: "send", description: "send हिन्दी में" },
    ]);
    expect(host.log).toMatchObject([{ level: "warn", details: { command: "status" } }]);
  });

  it("CMD: a second start changes nothing; a new command of the host is added to every language", async () => {
    const made = await aBot();
    await mergedMenus(made);
    const before = changes(made);
    await mergedMenus(made);
    expect(changes(made)).toBe(before);
    await made.bot.api.setMyCommands([WEATHER]);
    await mergedMenus(made);
    for (const language of ["", "es"] as const) {
      const options = language ? { language_code: language satisfies LanguageCode } : {};
      expect(names(await made.bot.api.getMyCommands(options))).toEqual(["weather", "send", "status"]);
    }
  });

  it("CMD: a full menu of the host stays whole", async () => {
    const made = await aBot();
    const full = Array.from({ length: 100 }, (_, index) => ({ command: `c${index}`, description: "x" }));
    await made.bot.api.setMyCommands(full);
    await mergedMenus(made);
    expect(await made.bot.api.getMyCommands()).toEqual(full);
  });

  it("CMD-4: of ours no more come than Telegram takes beside the host's, which all stay", async () => {
    const made = await aBot();
    const long = Array.from({ length: 22 }, (_, index) => ({
      command: `c${index}`,
      description: "x".repeat(255),
    }));
    await made.bot.api.setMyCommands(long);
    await mergedMenus(made);
    expect(names(await made.bot.api.getMyCommands()).slice(20)).toEqual(["c20", "c21", "send"]);
    const nearlyFull = Array.from({ length: 99 }, (_, index) => ({ command: `c${index}`, description: "x" }));
    await made.bot.api.setMyCommands(nearlyFull);
    await mergedMenus(made);
    expect(names(await made.bot.api.getMyCommands()).slice(98)).toEqual(["c98", "send"]);
  });

  it("CMD-4: an entry of the host keeps all that Telegram knows of it", async () => {
    const made = await aBot();
    const secret = { ...WEATHER, is_ephemeral: true };
    await made.bot.api.setMyCommands([secret]);
    await mergedMenus(made);
    expect((await made.bot.api.getMyCommands())[0]).toEqual(secret);
    expect((await made.bot.api.getMyCommands({ language_code: "es" }))[0]).toEqual(secret);
  });

  it("CMD-4: ours stay hidden from others where the host has said so, and are in its group menu only", async () => {
    const made = await aBot();
    const inGroups = { scope: { type: "all_group_chats" } } as const;
    await made.bot.api.setMyCommands(telegramCommands(commands, "en", { ephemeral: true }), inGroups);
    await mergedMenus(made);
    const hidden = (await made.bot.api.getMyCommands(inGroups)).map(({ is_ephemeral }) => is_ephemeral);
    expect(hidden).toEqual([true, true]);
    expect((await made.bot.api.getMyCommands()).some(({ is_ephemeral }) => is_ephemeral)).toBe(false);
  });

  it("CMD-4: what could not be done is done by the next start", async () => {
    const made = await aBot();
    made.telegram.failNext("setMyCommands", refused(429, "Too Many Requests: retry after 30"));
    const host = await startedWith(made, commands);
    await host.until(() => host.log.length > 0, "the refusal was logged");
    await made.adapter.stop();
    expect(await made.bot.api.getMyCommands()).toEqual([]);
    await mergedMenus(made);
    expect(names(await made.bot.api.getMyCommands())).toEqual(["send", "status"]);
  });

  it("CMD-4: a host that sets its menu itself can put ours into it, and then nothing is left to change", async () => {
    const made = await aBot();
    await made.bot.api.setMyCommands([WEATHER, ...telegramCommands(commands)]);
    for (const [language_code, locale] of [
      ["es", "es"],
      ["pt", "pt-BR"],
      ["hi", "hi"],
    ] as const)
      await made.bot.api.setMyCommands([WEATHER, ...telegramCommands(commands, locale)], { language_code });
    const before = changes(made);
    await mergedMenus(made);
    expect(changes(made)).toBe(before);
    expect(made.telegram.menus.seenBy("pt")[1]?.description).toBe("send em português");
  });

  it("CMD: when Telegram refuses the menu, the adapter works all the same", async () => {
    const made = await aBot();
    made.telegram.failNext("setMyCommands", refused(400, "Bad Request: BOT_COMMANDS_TOO_MUCH"));
    const host = await startedWith(made, commands);
    await made.poll();
    await host.until(() => host.log.length > 0, "the refusal was logged");
    made.telegram.say("hello");
    expect(await host.texts(1)).toEqual(["hello"]);
    expect(host.log[0]?.message).toContain("typed commands work all the same");
  });
});
