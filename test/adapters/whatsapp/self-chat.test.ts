import { describe, expect, it } from "vitest";
import { type WhatsAppOptions, whatsappAdapter } from "../../../src/adapters/whatsapp/index.ts";
import { LIBRARIES } from "../../standins/whatsapp/library.ts";
import { startedBot } from "./started.ts";

describe.each(LIBRARIES)("whatsapp with Baileys $version: the account's chat with itself", (library) => {
  const started = (options?: WhatsAppOptions) => startedBot(library, options);

  it("N03: the owner's own words are heard there, in no other chat, and an echo of the bot's words never", async () => {
    const bot = await started();
    const self = bot.addressOf(bot.server.owner);
    await bot.send(self, "**hi**\n\nsecond paragraph");
    const [stored] = bot.server.sent;
    await bot.server.typeOnPhone(stored?.text ?? "", bot.server.owner, { id: "3AECHO0001" });
    await bot.server.typeOnPhone(stored?.text ?? "", bot.server.owner, { id: stored?.id ?? "" });
    await bot.server.typeOnPhone("to Alice", bot.alice);
    await bot.server.typeOnPhone("my own note");
    expect(await bot.host.texts(1)).toEqual(["my own note"]);
    expect(bot.host.messages[0]).toMatchObject({
      from: self,
      sender: { id: "+15550001111", altIds: ["990000000000001@lid"] },
      addressed: true,
    });
  });

  it("CMD-2: the account's own number and LID are known once a socket is attached", async () => {
    const bot = await started();
    expect(bot.adapter.ownIds?.()).toEqual(["+15550001111", "990000000000001@lid"]);
    expect(whatsappAdapter().ownIds?.()).toEqual([]);
  });

  it("N03: every part of a long text is known as the bot's own, also when the chat is addressed by LID", async () => {
    const bot = await started();
    await bot.send(bot.addressOf(bot.server.owner, "lid"), "word ".repeat(1500));
    expect(bot.server.sent.length).toBeGreaterThan(1);
    for (const { text } of bot.server.sent)
      await bot.server.typeOnPhone(text ?? "", bot.server.owner, { addressing: "lid" });
    await bot.server.typeOnPhone("mine", bot.server.owner, { addressing: "lid" });
    expect(await bot.host.texts(1)).toEqual(["mine"]);
  });
});
