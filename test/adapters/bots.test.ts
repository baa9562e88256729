import { describe, expect, it, onTestFinished } from "vitest";
import { isMarked, messageIdOf } from "../../src/adapters/whatsapp/message-id.ts";
import { createOwnTexts } from "../../src/adapters/whatsapp/own-texts.ts";
import { fakeClock } from "../fakes/fake-clock.ts";
import { gate } from "../fakes/gate.ts";
import { at } from "../fakes/memory-adapter.ts";
import { aBot as aDiscordBot, startedWith } from "./discord/bot.ts";
import { aRunningBot, CHANNEL, FORUM } from "./telegram/bot.ts";
import { Bot as WhatsAppBot } from "./whatsapp/bot.ts";

describe("discord: messages of bots", () => {
  it("IN-1 N09: another bot is handed over as a bot, a webhook as one that is nobody in particular", async () => {
    const bot = await aDiscordBot();
    const host = await startedWith(bot);
    const rival = bot.discord.world.addBot("Rival").user;
    bot.discord.say(`<@${bot.discord.bot.user.id}> done`, { by: rival });
    bot.discord.say("build failed", { fields: { webhook_id: "4".repeat(18) } });
    bot.discord.say("the bot's own words", { by: bot.discord.bot.user });
    bot.discord.say("a person's");
    expect(await host.texts(3)).toEqual(["done", "build failed", "a person's"]);
    expect(host.messages.map(({ sender }) => [sender.isBot, sender.anonymous === true])).toEqual([
      [true, false],
      [true, true],
      [false, false],
    ]);
    expect(host.messages.map((heard) => bot.adapter.hasPosted?.(heard))).toEqual([false, false, false]);
  });
});

describe("telegram: messages of bots", () => {
  it("IN-1 N09: another bot is handed over as a bot; what this one posted is its own wherever it is heard", async () => {
    const { telegram, adapter, host } = await aRunningBot();
    telegram.say("beep", { chat: FORUM, from: { id: 77, is_bot: true, first_name: "Rival" } });
    telegram.say("hello", { chat: FORUM });
    expect(await host.texts(2)).toEqual(["beep", "hello"]);
    expect(host.messages.map(({ sender }) => sender.isBot)).toEqual([true, false]);
    const [heard] = host.messages;
    if (heard === undefined) throw new Error("Nothing was heard.");
    expect(await adapter.hasPosted?.(heard)).toBe(false);
    expect(
      await adapter.hasPosted?.({ ...heard, sender: { id: String(telegram.bot.id), isBot: true } }),
    ).toBe(true);
  });

  it("IN-1 N09: a channel's post, which does not tell its author, is known although it is heard before the send is answered", async () => {
    const { telegram, bot, adapter, host } = await aRunningBot();
    telegram.say("somebody else's post", { chat: CHANNEL });
    await host.texts(1);
    const [heard] = host.messages;
    if (heard === undefined) throw new Error("Nothing was heard.");
    const answer = gate();
    bot.api.config.use(async (prev, method, payload, signal) => {
      const result = await prev(method, payload, signal);
      if (method === "sendMessage") await answer.pass(new AbortController().signal);
      return result;
    });
    const sending = adapter.send(
      { ...heard.from },
      { deliveryId: "d", markdown: "news" },
      new AbortController().signal,
    );
    await answer.reached;
    const posted = telegram.sent.at(-1);
    const asked = adapter.hasPosted?.({ ...heard, id: String(posted?.messageId), text: "news" });
    answer.open();
    expect(await asked).toBe(true);
    await sending;
    expect(await adapter.hasPosted?.(heard)).toBe(false);
    expect(
      await adapter.hasPosted?.({
        ...heard,
        id: String(posted?.messageId),
        from: at("telegram", "channel", "-1009"),
      }),
    ).toBe(false);
  });
});

describe("whatsapp: messages of bots", () => {
  it("IN-1 N09: what a switchboard posted is a bot's, what a person types on the same phone is a person's", async () => {
    const bot = await started();
    const ops = bot.group("Ops");
    await bot.server.say(bot.alice, "posted", { in: ops, id: messageIdOf("in:1>announce", 0) });
    await bot.server.say(bot.alice, "typed", { in: ops });
    await bot.host.texts(2);
    expect(bot.host.messages.map(({ text, sender }) => [text, sender.isBot])).toEqual([
      ["posted", true],
      ["typed", false],
    ]);
  });

  it("IN-1 N09: every part of what the account posts is its own, before and after it is stored", async () => {
    const bot = await started();
    const ops = bot.addressOf(bot.group("Ops"));
    await bot.server.say(bot.alice, "typed", { in: bot.group("Ops") });
    await bot.host.texts(1);
    const [heard] = bot.host.messages;
    if (heard === undefined) throw new Error("Nothing was heard.");
    const early: unknown[] = [];
    const { messageIds } = await bot.send(ops, "word ".repeat(1500), {
      onPart: async (step: { state: string; messageId?: string }) => {
        if (step.state === "sent")
          early.push(bot.adapter.hasPosted?.({ ...heard, id: step.messageId ?? "" }));
      },
    });
    expect(messageIds.length).toBeGreaterThan(1);
    expect(early).toEqual(messageIds.map(() => true));
    expect(bot.adapter.hasPosted?.(heard)).toBe(false);
  });

  it("N03: an echo is the bot's own also after a restart, which forgets what was sent", async () => {
    const bot = await started();
    await bot.server.typeOnPhone("an answer from before", bot.server.owner, {
      id: messageIdOf("in:1>reply", 0),
    });
    await bot.server.typeOnPhone("my own note");
    expect(await bot.host.texts(1)).toEqual(["my own note"]);
  });

  it("N03: announces, notices and command replies are echoes in the form in which they were sent, part by part", async () => {
    const bot = await started();
    const self = bot.addressOf(bot.server.owner);
    for (const markdown of [
      "**Status:** done\n\n- one\n- two",
      "| a | b |\n|---|---|\n| 1 | 2 |",
      "`/send off` [x](https://e.org)",
    ]) {
      await bot.send(self, markdown);
    }
    await bot.send(self, "line\n".repeat(1500));
    for (const [index, { text }] of bot.server.sent.entries()) {
      await bot.server.typeOnPhone(text ?? "", bot.server.owner, { id: `3AECHO${index}` });
    }
    await bot.server.typeOnPhone("mine");
    expect(await bot.host.texts(1)).toEqual(["mine"]);
  });

  it("N03: the same words typed by the owner a minute later are the owner's", () => {
    const clock = fakeClock();
    const own = createOwnTexts(clock);
    own.add("3EB01", "ok");
    own.add("3EB02", "yes");
    expect(own.isOwn("3A01", "ok")).toBe(true);
    expect(own.isOwn("3A01", "ok")).toBe(true);
    expect(own.isOwn("3A02", "ok")).toBe(false);
    clock.skip(60_001);
    expect(own.isOwn("3A03", "yes")).toBe(false);
  });

  it("N03: an echo that came back under its own id has used its text up", () => {
    const own = createOwnTexts(fakeClock());
    own.add("3EB01", "ok");
    own.add("3EB02", "ok");
    expect(own.isOwn("3EB01", "ok")).toBe(true);
    expect([own.isOwn("3A01", "ok"), own.isOwn("3A02", "ok")]).toEqual([true, false]);
  });

  it("N03: the owner may say what the bot has just said", async () => {
    const bot = await started();
    await bot.send(bot.addressOf(bot.server.owner), "ok");
    const [sent] = bot.server.sent;
    await bot.server.typeOnPhone(sent?.text ?? "", bot.server.owner, { id: sent?.id ?? "" });
    await bot.server.typeOnPhone("ok");
    expect(await bot.host.texts(1)).toEqual(["ok"]);
  });

  it("IN-1 N09: an id carries the mark, and one from elsewhere does not", () => {
    const ours = Array.from({ length: 200 }, (_, part) => messageIdOf("in:whatsapp:1>reply", part));
    expect(new Set(ours).size).toBe(200);
    expect(ours.every(isMarked)).toBe(true);
    const changed = ours.map((id) => `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`);
    expect(changed.some(isMarked)).toBe(false);
    expect(
      ["", "3EB0", "3A0123456789ABCDEF01", `${ours[0]}0`, ours[0]?.toLowerCase() ?? ""].some(isMarked),
    ).toBe(false);
  });
});

async function started(): Promise<WhatsAppBot> {
  const bot = await new WhatsAppBot().run();
  onTestFinished(() => bot.close());
  await bot.connected;
  await bot.adapter.start(bot.host);
  return bot;
}
