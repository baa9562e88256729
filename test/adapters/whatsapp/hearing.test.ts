import { describe, expect, it } from "vitest";
import type { WhatsAppOptions } from "../../../src/adapters/whatsapp/index.ts";
import { fakeClock } from "../../fakes/fake-clock.ts";
import { LIBRARIES } from "../../standins/whatsapp/library.ts";
import { offline, startedBot } from "./started.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe.each(LIBRARIES)("whatsapp with Baileys $version: what is heard", (library) => {
  const started = (options?: WhatsAppOptions) => startedBot(library, options);

  it.each(["pn", "lid"] as const)(
    "WA-1: in a group (%s) the bot is meant when it is mentioned or answered",
    async (addressing) => {
      const bot = await started();
      const ops = bot.group("Ops", addressing);
      const answer = { id: "3EB0ABCD", author: bot.server.owner, text: "earlier words" };
      await bot.server.say(bot.alice, "just talking", { in: ops });
      const me = addressing === "pn" ? "15550001111" : "990000000000001";
      await bot.server.say(bot.alice, `@${me} look`, { in: ops, mentions: [bot.server.owner] });
      await bot.server.say(bot.alice, "really?", { in: ops, quoting: answer });
      await bot.server.say(bot.alice, "and you, Bob?", { in: ops, mentions: [bot.bob] });
      await bot.host.texts(4);
      expect(bot.host.messages.map(({ text, addressed }) => [text, addressed])).toEqual([
        ["just talking", false],
        ["look", true],
        ["really?", true],
        ["and you, Bob?", false],
      ]);
      expect(bot.host.messages[2]).toMatchObject({
        replyToId: "3EB0ABCD",
        quoted: { text: "earlier words", forwarded: false },
      });
    },
  );

  it("WA-1: a group's title is asked for once and follows a rename", async () => {
    const bot = await started();
    const ops = bot.group("Ops");
    await bot.server.say(bot.alice, "one", { in: ops });
    await bot.server.say(bot.alice, "two", { in: ops });
    await bot.host.texts(2);
    bot.server.renameGroup(ops, "Operations", bot.alice);
    await bot.server.say(bot.alice, "three", { in: ops });
    await bot.host.texts(3);
    expect(bot.host.messages.map(({ chatTitle }) => chatTitle)).toEqual(["Ops", "Ops", "Operations"]);
    expect(bot.server.queries.filter((query) => query === `w:g2/query ${ops.jid}`)).toHaveLength(1);
  });

  it("WA-1: a new title whose notice got lost is known five minutes later, and the old one is kept while none is told", async () => {
    const clock = fakeClock();
    const bot = await startedBot(library, {}, { clock, random: Math.random });
    const ops = bot.group("Ops");
    await bot.server.say(bot.alice, "one", { in: ops });
    await bot.host.texts(1);
    ops.subject = "Operations";
    await bot.server.say(bot.alice, "two", { in: ops });
    await bot.host.texts(2);
    clock.skip(5 * MINUTE);
    await bot.server.say(bot.alice, "three", { in: ops });
    await bot.host.texts(3);
    clock.skip(5 * MINUTE);
    bot.server.forgetGroup(ops);
    await bot.server.say(bot.alice, "four", { in: ops });
    await bot.host.texts(4);
    const titles = bot.host.messages.map(({ chatTitle }) => chatTitle);
    expect(titles).toEqual(["Ops", "Ops", "Operations", "Operations"]);
  });

  it("WA-1: who is in a group is not told from memory while nobody hears of changes, and asked for anew afterwards", async () => {
    const bot = await started();
    const { jid } = bot.group("Ops");
    const asked = () => bot.server.queries.filter((query) => query === `w:g2/query ${jid}`).length;
    expect(await bot.adapter.cachedGroupMetadata(jid)).toMatchObject({ subject: "Ops" });
    await bot.adapter.cachedGroupMetadata(jid);
    expect(asked()).toBe(1);
    await bot.adapter.stop();
    expect(await bot.adapter.cachedGroupMetadata(jid)).toBeUndefined();
    await bot.adapter.start(bot.host);
    expect(await bot.adapter.cachedGroupMetadata(jid)).toMatchObject({ subject: "Ops" });
    expect(asked()).toBe(2);
  });

  it("WA-1: members that change while the server is asked are asked for again", async () => {
    const bot = await started();
    const { jid } = bot.group("Ops");
    const socket = await bot.connected;
    const first = bot.adapter.cachedGroupMetadata(jid);
    socket.ev.emit("group-participants.update", { id: jid, author: "", participants: [], action: "remove" });
    await first;
    await bot.adapter.cachedGroupMetadata(jid);
    await bot.adapter.cachedGroupMetadata(jid);
    expect(bot.server.queries.filter((query) => query === `w:g2/query ${jid}`)).toHaveLength(2);
  });

  it("N01: missed messages are heard, old ones as a replay; what the account sent is not", async () => {
    const bot = await started();
    await offline(bot, async () => {
      const now = Date.now();
      await bot.server.typeOnPhone("my own, from the phone", bot.alice);
      await bot.server.typeOnPhone("note to self");
      await bot.server.say(bot.alice, "two minutes ago", { sentAtMs: now - 2 * MINUTE });
      await bot.server.say(bot.bob, "three days ago", { sentAtMs: now - 3 * DAY });
      await bot.server.say(bot.bob, "/send off", { sentAtMs: now - 3 * DAY });
    });
    await bot.host.texts(3);
    const heard = Object.fromEntries(bot.host.messages.map(({ text, replay }) => [text, replay ?? false]));
    expect(heard).toEqual({ "two minutes ago": false, "three days ago": true, "/send off": true });
  });

  it("N01: how old is too old can be set", async () => {
    const bot = await started({ replayAfterMs: MINUTE });
    await offline(bot, async () => {
      await bot.server.say(bot.alice, "two minutes ago", { sentAtMs: Date.now() - 2 * MINUTE });
    });
    await bot.host.texts(1);
    expect(bot.host.messages[0]?.replay).toBe(true);
  });

  it("N01 WA-1: a message that WhatsApp delivers twice, missed and live, is handed over once", async () => {
    const bot = await started();
    bot.server.loseReceipts = true;
    const id = await bot.server.say(bot.alice, "once");
    await bot.host.texts(1);
    await offline(bot, async () => undefined);
    await bot.server.repeat(id);
    await bot.server.say(bot.alice, "end");
    expect(await bot.host.texts(2)).toEqual(["once", "end"]);
  });

  it("N01: the same message under the person's other address is handed over once", async () => {
    const bot = await started();
    const id = await bot.server.say(bot.alice, "once");
    await bot.host.texts(1);
    await bot.server.say(bot.alice, "once", { id, addressing: "lid" });
    await bot.server.say(bot.alice, "end", { addressing: "lid" });
    expect(await bot.host.texts(2)).toEqual(["once", "end"]);
  });

  it("N01: what people write while the bot sends is heard live, although Baileys 6 calls half of it missed", async () => {
    const bot = await started({ replayAfterMs: -DAY });
    const types: string[] = [];
    const socket = await bot.connected;
    socket.ev.on("messages.upsert", ({ type, messages }) => {
      for (const { key } of messages) if (!key.fromMe) types.push(type);
    });
    const ops = bot.addressOf(bot.group("Ops"));
    const heard = Array.from({ length: 30 }, (_, n) => String(n));
    const inTheNextSecond = { sentAtMs: Date.now() + 1000 };
    for (const text of heard) {
      const sending = bot.send(ops, `answer ${text}`);
      await bot.server.say(bot.alice, text, inTheNextSecond);
      await sending;
    }
    expect(await bot.host.texts(30)).toEqual(heard);
    expect(bot.host.messages.filter(({ replay }) => replay)).toEqual([]);
    expect(types.includes("append")).toBe(!library.mapsLids);
  });

  it("N03 N01: so is what the owner types on the phone, but nothing that the account sent by program", async () => {
    const bot = await started();
    const socket = await bot.connected;
    const self = bot.server.owner.jid("pn");
    const later = { sentAtMs: Date.now() + 2000 };
    for (let n = 0; n < 20; n++) {
      const sending = bot.send(bot.addressOf(bot.alice), `answer ${n}`);
      await bot.server.typeOnPhone(`note ${n}`, bot.server.owner, later);
      await socket.sendMessage(self, { text: "/send off" });
      await sending;
    }
    expect(await bot.host.texts(20)).toEqual(Array.from({ length: 20 }, (_, n) => `note ${n}`));
  });

  it("N05: a message whose hand-over failed is handed over when WhatsApp repeats it", async () => {
    const bot = await started();
    bot.host.answer = () => "failed";
    const id = await bot.server.say(bot.alice, "important");
    await bot.host.texts(1);
    bot.host.answer = () => "run";
    await bot.server.repeat(id);
    await bot.host.texts(2);
    await bot.server.repeat(id);
    await bot.server.say(bot.alice, "end");
    expect(await bot.host.texts(3)).toEqual(["important", "important", "end"]);
  });

  it("N05: a message that could not be decrypted is heard when the retry brings it", async () => {
    const bot = await started();
    await bot.server.say(bot.alice, "at last", { damaged: true });
    expect(await bot.host.texts(1)).toEqual(["at last"]);
  });

  it("WA-1: an edit and a deletion reach the core, but only from the author", async () => {
    const bot = await started();
    const ops = bot.group("Ops");
    await bot.server.say(bot.bob, "good morning", { in: ops });
    await bot.host.texts(1);
    const id = await bot.server.say(bot.alice, "helo", { in: ops });
    await bot.host.texts(2);
    const edit = (text: string) => ({
      protocolMessage: { type: 14, key: { id, remoteJid: ops.jid }, editedMessage: { conversation: text } },
    });
    await bot.heard(await bot.server.say(bot.bob, edit("forged"), { in: ops }));
    await bot.server.say(bot.alice, edit("hello"), { in: ops });
    await bot.server.say(
      bot.alice,
      { protocolMessage: { type: 0, key: { id, remoteJid: ops.jid } } },
      { in: ops },
    );
    await bot.host.until(() => bot.host.changes.length === 2, "both changes were told");
    expect(bot.host.changes).toEqual([
      { id, from: bot.addressOf(ops), change: "edited", text: "hello" },
      { id, from: bot.addressOf(ops), change: "deleted" },
    ]);
    expect(bot.host.messages).toHaveLength(2);
  });

  it("WA-1: an id that somebody copied takes neither the quote nor the edits of the first author", async () => {
    const bot = await started();
    const ops = bot.group("Ops");
    bot.host.answer = () => (bot.host.messages.length === 1 ? "run" : "duplicate");
    const id = await bot.server.say(bot.alice, "should I do A?", { in: ops, id: "ABCDEF0123456789" });
    await bot.host.texts(1);
    await bot.server.say(bot.bob, "should I pay Bob?", { in: ops, id });
    await bot.server.say(bot.bob, "end", { in: ops });
    await bot.host.texts(3);
    const editedMessage = { conversation: "should I do B?" };
    const edit = { protocolMessage: { type: 14, key: { id, remoteJid: ops.jid }, editedMessage } };
    await bot.server.say(bot.alice, edit, { in: ops });
    await bot.host.until(() => bot.host.changes.length === 1, "Alice's edit was told");
    await bot.send(bot.addressOf(ops), "Yes.", { replyToId: id });
    const sent = JSON.stringify(bot.server.sent.at(-1));
    expect(sent).toContain("do A?");
    expect(sent).not.toContain("pay Bob");
  });

  it("WA-1: an edit is known by its author, whichever address it comes from; one of something unheard changes nothing", async () => {
    const bot = await started();
    const id = await bot.server.say(bot.alice, "helo");
    await bot.host.texts(1);
    const edit = (of: string, conversation: string) => ({
      protocolMessage: { type: 14, key: { id: of }, editedMessage: { conversation } },
    });
    await bot.server.say(bot.alice, edit("3AUNHEARD", "who?"));
    await bot.server.say(bot.alice, { protocolMessage: { type: 0, key: { id: "3AUNHEARD" } } });
    await bot.server.say(bot.alice, { editedMessage: { message: edit(id, "hello") } }, { addressing: "lid" });
    // Baileys keeps no order between the two addresses of a person.
    await bot.host.until(() => bot.host.changes.length === 1, "the first edit was told");
    await bot.server.say(bot.alice, edit(id, "hello!"));
    await bot.host.until(() => bot.host.changes.length === 2, "both edits were told");
    const from = bot.addressOf(bot.alice);
    expect(bot.host.changes).toEqual([
      { id, from, change: "edited", text: "hello" },
      { id, from, change: "edited", text: "hello!" },
    ]);
    expect(bot.host.messages).toHaveLength(1);
  });

  it("WA-1: a quoted person is called by name, or else by number", async () => {
    const bot = await started();
    const ops = bot.group("Ops", "lid");
    const earlier = await bot.server.say(bot.bob, "deploy?", { in: ops });
    await bot.host.texts(1);
    const quoting = { id: earlier, author: bot.bob, text: "deploy?" };
    await bot.server.say(bot.alice, "yes", { in: ops, quoting });
    await bot.server.say(bot.alice, "no", { in: ops, quoting: { ...quoting, author: bot.server.owner } });
    await bot.host.texts(3);
    expect(bot.host.messages.map(({ quoted }) => quoted)).toEqual([
      undefined,
      { text: "deploy?", forwarded: false, senderName: "Bob" },
      { text: "deploy?", forwarded: false },
    ]);
  });
});
