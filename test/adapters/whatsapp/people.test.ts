import { describe, expect, it } from "vitest";
import type { WhatsAppOptions } from "../../../src/adapters/whatsapp/index.ts";
import { LIBRARIES } from "../../standins/whatsapp/library.ts";
import { failureOf, startedBot } from "./started.ts";

describe.each(LIBRARIES)("whatsapp with Baileys $version: who is speaking", (library) => {
  const started = (options?: WhatsAppOptions) => startedBot(library, options);

  it("I03 CMD-2: phone number, LID and both together are one person, and the core is told once", async () => {
    const { server, alice, host } = await started();
    await server.say(alice, "from the LID, with the number", { addressing: "lid" });
    await server.say(alice, "from the number", { alternative: false, device: 12 });
    await server.say(alice, "from the LID alone", { addressing: "lid", alternative: false });
    await host.texts(3);
    expect(host.messages.map(({ sender }) => sender)).toEqual(
      Array(3).fill({ id: "+15550002222", altIds: ["990000000000002@lid"], name: "Alice", isBot: false }),
    );
    expect(host.samePersons).toEqual([
      { channel: "whatsapp", id: "+15550002222", altId: "990000000000002@lid" },
    ]);
  });

  it("I05: a chat that has only a LID is heard and answered at the LID; its digits are never a phone number", async () => {
    const bot = await started();
    await bot.server.say(bot.alice, "who am I?", { addressing: "lid", alternative: false });
    await bot.host.texts(1);
    const [message] = bot.host.messages;
    expect(message?.sender).toEqual({ id: "990000000000002@lid", name: "Alice", isBot: false });
    await bot.send(message?.from ?? bot.addressOf(bot.bob), "somebody");
    expect(bot.server.sent[0]).toMatchObject({ to: "990000000000002@lid", text: "somebody" });
    expect(bot.host.samePersons).toEqual([]);
  });

  it("J08 CMD-2: the owner in a LID group is known by the number in the message, then by the mapping, else only by LID", async () => {
    const bot = await started();
    const ops = bot.group("Ops", "lid");
    await bot.server.say(bot.alice, "with the number", { in: ops });
    await bot.host.texts(1);
    await bot.server.say(bot.alice, "from memory", { in: ops, alternative: false });
    await bot.host.texts(2);
    await bot.server.say(bot.bob, "without either", { in: ops, alternative: false });
    await bot.host.texts(3);
    expect(bot.host.messages.map(({ sender }) => sender.id)).toEqual([
      "+15550002222",
      "+15550002222",
      "990000000000003@lid",
    ]);
    const hints = bot.host.log.filter(({ message }) => message.includes("phone number of this LID"));
    expect(hints).toMatchObject([{ details: { lid: "990000000000003@lid" } }]);
  });

  it.runIf(library.mapsLids)(
    "J08: a mapping that Baileys learned before the start names the sender",
    async () => {
      const bot = await started();
      const socket = await bot.connected;
      const [lid, pn] = [bot.bob.jid("lid"), bot.bob.jid("pn")];
      await socket.signalRepository.lidMapping.storeLIDPNMappings([{ lid, pn }]);
      await bot.server.say(bot.bob, "it is me", { addressing: "lid", alternative: false });
      await bot.host.texts(1);
      expect(bot.host.messages[0]?.sender).toMatchObject({ id: "+15550003333", altIds: [lid] });
    },
  );

  it("I03: a mapping that arrives by itself joins the two ids", async () => {
    const { connected, host } = await started();
    const socket = await connected;
    socket.ev.emit("lid-mapping.update", { lid: "990000000000009@lid", pn: "15550009999@s.whatsapp.net" });
    await host.until(() => host.samePersons.length === 1, "the core was told");
    expect(host.samePersons[0]).toMatchObject({ id: "+15550009999", altId: "990000000000009@lid" });
  });

  it("CMD-2 I03: a number that goes to another LID is no longer the first one's, for the core neither, and answers part ways", async () => {
    const bot = await started();
    const socket = await bot.connected;
    await bot.server.say(bot.alice, "from the number");
    await bot.host.texts(1);
    const recycled = { lid: bot.bob.jid("lid"), pn: bot.alice.jid("pn") };
    await socket.signalRepository.lidMapping?.storeLIDPNMappings([recycled]);
    socket.ev.emit("lid-mapping.update", recycled);
    await bot.host.until(() => bot.host.samePersons.length === 2, "the core was told");
    await bot.server.say(bot.alice, "from the LID", { addressing: "lid", alternative: false });
    await bot.server.say(bot.bob, "from Bob's LID", { addressing: "lid", alternative: false });
    await bot.host.texts(3);
    const heard = Object.fromEntries(bot.host.messages.map(({ text, sender }) => [text, sender]));
    expect(heard["from the LID"]).toMatchObject({ id: bot.alice.jid("lid") });
    expect(heard["from the LID"]?.altIds).toBeUndefined();
    expect(heard["from Bob's LID"]).toMatchObject({ id: "+15550002222", altIds: [bot.bob.jid("lid")] });
    await bot.send(bot.addressOf(bot.alice, "lid"), "to Alice");
    expect(bot.server.sent.map(({ to }) => to)).toEqual([bot.alice.jid("lid")]);
  });

  it.runIf(library.mapsLids)("I03: the LID to which a refused number leads is told to the core", async () => {
    const bot = await started();
    const socket = await bot.connected;
    const mapping = { lid: bot.alice.jid("lid"), pn: bot.alice.jid("pn") };
    const stored = bot.addressOf(bot.alice, "pn");
    await bot.server.say(bot.alice, "by the number alone", { alternative: false });
    await bot.host.texts(1);
    await socket.signalRepository.lidMapping.storeLIDPNMappings([mapping]);
    bot.server.refuseNext("463");
    await failureOf(bot.send(stored, "hello"));
    expect(bot.host.samePersons).toEqual([
      { channel: "whatsapp", id: "+15550002222", altId: bot.alice.jid("lid") },
    ]);
  });

  it("I06: an answer goes to the address that the person used last", async () => {
    const bot = await started();
    const stored = bot.addressOf(bot.alice, "pn");
    await bot.server.say(bot.alice, "on the LID", { addressing: "lid" });
    await bot.host.texts(1);
    await bot.send(stored, "to the LID");
    await bot.server.say(bot.alice, "back on the number");
    await bot.host.texts(2);
    await bot.send(stored, "to the number");
    expect(bot.server.sent.map(({ to }) => to)).toEqual([bot.alice.jid("lid"), bot.alice.jid("pn")]);
  });

  it.runIf(library.mapsLids)("I06: whoever has not written goes by the LID that Baileys knows", async () => {
    const bot = await started();
    const socket = await bot.connected;
    const mapping = { lid: bot.alice.jid("lid"), pn: bot.alice.jid("pn") };
    await socket.signalRepository.lidMapping.storeLIDPNMappings([mapping]);
    await bot.send(bot.addressOf(bot.alice, "pn"), "to the known LID");
    expect(bot.server.sent.map(({ to }) => to)).toEqual([mapping.lid]);
  });

  it("I06: a number that WhatsApp takes no messages for any more is left for the LID, and the text arrives once", async () => {
    const bot = await started();
    const stored = bot.addressOf(bot.alice, "pn");
    await bot.server.say(bot.alice, "on the number, before it moved");
    await bot.host.texts(1);
    bot.server.refuseNext("463");
    expect(await failureOf(bot.send(stored, "hello"))).toEqual({ retryable: true, partsSent: 0 });
    await bot.send(stored, "hello");
    expect(bot.server.sent.map(({ to, text }) => [to, text?.trim()])).toEqual([
      [bot.alice.jid("lid"), "hello"],
    ]);
  });

  it("I06: speaking in a group does not move a person's direct chat", async () => {
    const bot = await started();
    const ops = bot.group("Ops", "pn");
    await bot.server.say(bot.alice, "direct", { addressing: "lid" });
    await bot.host.texts(1);
    await bot.server.say(bot.alice, "in the group", { in: ops });
    await bot.host.texts(2);
    await bot.send(bot.addressOf(bot.alice, "lid"), "direct answer");
    expect(bot.server.sent[0]?.to).toBe(bot.alice.jid("lid"));
  });
});
