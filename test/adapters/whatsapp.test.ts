import { describe, expect, it, onTestFinished } from "vitest";
import { type WhatsAppOptions, whatsappAdapter } from "../../src/adapters/whatsapp/index.ts";
import { deliveryFailureOf } from "../../src/core/errors.ts";
import type { Address, ChannelAdapter } from "../../src/core/ports/chat.ts";
import type { AdapterHarness, Author, Breakage } from "../contracts/adapter-harness.ts";
import { channelAdapterContract } from "../contracts/channel-adapter.contract.ts";
import { Bot } from "./whatsapp/bot.ts";

channelAdapterContract("whatsapp", makeHarness, { rateLimit: "none" });

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe("whatsapp: who is speaking", () => {
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

  it("J08: a mapping that Baileys learned before the start names the sender", async () => {
    const bot = await started();
    const socket = await bot.connected;
    const [lid, pn] = [bot.bob.jid("lid"), bot.bob.jid("pn")];
    await socket.signalRepository.lidMapping.storeLIDPNMappings([{ lid, pn }]);
    await bot.server.say(bot.bob, "it is me", { addressing: "lid", alternative: false });
    await bot.host.texts(1);
    expect(bot.host.messages[0]?.sender).toMatchObject({ id: "+15550003333", altIds: [lid] });
  });

  it("I03: a mapping that arrives by itself joins the two ids", async () => {
    const { connected, host } = await started();
    const socket = await connected;
    socket.ev.emit("lid-mapping.update", { lid: "990000000000009@lid", pn: "15550009999@s.whatsapp.net" });
    await host.until(() => host.samePersons.length === 1, "the core was told");
    expect(host.samePersons[0]).toMatchObject({ id: "+15550009999", altId: "990000000000009@lid" });
  });

  it("I06: an answer goes to the address that the person used last, or else to the known LID", async () => {
    const bot = await started();
    const stored = bot.addressOf(bot.alice, "pn");
    const socket = await bot.connected;
    const mapping = { lid: bot.alice.jid("lid"), pn: bot.alice.jid("pn") };
    await socket.signalRepository.lidMapping.storeLIDPNMappings([mapping]);
    await bot.send(stored, "to the known LID");
    await bot.server.say(bot.alice, "back on the number");
    await bot.host.texts(1);
    await bot.send(stored, "to the number");
    await bot.server.say(bot.alice, "on the LID again", { addressing: "lid" });
    await bot.host.texts(2);
    await bot.send(stored, "to the LID");
    expect(bot.server.sent.map(({ to }) => to)).toEqual([mapping.lid, mapping.pn, mapping.lid]);
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

describe("whatsapp: what is heard", () => {
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
});

describe("whatsapp: the account's chat with itself", () => {
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

describe("whatsapp: sending", () => {
  it("L06 WA-2: Markdown arrives in WhatsApp's own marks, links as text", async () => {
    const bot = await started();
    await bot.send(
      bot.addressOf(bot.group("Ops")),
      "**bold** and *italic*, see [docs](https://example.com/a_b)",
    );
    const [sent] = bot.server.sent;
    expect(sent?.text?.trim()).toBe("*bold* and _italic_, see docs (https://example.com/a_b)");
  });

  it("K06: numbers and names in a text mention nobody", async () => {
    const bot = await started();
    await bot.send(bot.addressOf(bot.group("Ops")), "@15550002222 @990000000000003 @all done");
    const [sent] = bot.server.sent;
    expect(sent).toMatchObject({ mentions: [] });
    expect(sent?.message.extendedTextMessage?.contextInfo?.nonJidMentions ?? 0).toBe(0);
  });

  it("WA-2: the same delivery sent twice is one message; ids look like those of WhatsApp Web", async () => {
    const bot = await started();
    const ops = bot.addressOf(bot.group("Ops"));
    const first = await bot.send(ops, "once");
    const again = await bot.send(ops, "once");
    expect(again).toEqual(first);
    expect(first.messageIds).toEqual([expect.stringMatching(/^3EB0[0-9A-F]{18}$/)]);
    expect(bot.server.sent).toHaveLength(1);
    expect(bot.server.repeated).toEqual(first.messageIds);
  });

  it("WA-2: a reply quotes the message it answers, in the first part only", async () => {
    const bot = await started();
    const ops = bot.group("Ops", "lid");
    const id = await bot.server.say(bot.alice, "a question", { in: ops });
    await bot.host.texts(1);
    await bot.send(bot.addressOf(ops), "word ".repeat(1500), { replyToId: id });
    await bot.send(bot.addressOf(ops), "to something unknown", { replyToId: "3AUNKNOWN" });
    expect(bot.server.sent.map(({ quotedId }) => quotedId)).toEqual([id, undefined, undefined]);
    expect(bot.server.sent[0]?.message.extendedTextMessage?.contextInfo).toMatchObject({
      participant: bot.alice.jid("lid"),
      quotedMessage: { conversation: "a question" },
    });
  });

  it.each([
    ["463", false],
    ["404", false],
    ["479", true],
    ["500", true],
  ])("M02: error %s in the server's answer may be tried again: %s", async (code, retryable) => {
    const bot = await started();
    bot.server.refuseNext(code);
    const failure = await failureOf(bot.send(bot.addressOf(bot.alice), "hello"));
    expect(failure).toEqual({ retryable, partsSent: 0 });
  });

  it("M02: nobody at that address, or no such group, is final", async () => {
    const bot = await started();
    const nobody = { ...bot.addressOf(bot.alice), chatId: "15550009999@s.whatsapp.net" };
    const noGroup: Address = { ...nobody, chatType: "group", chatId: "120363999999999999@g.us" };
    expect(await failureOf(bot.send(nobody, "hello?"))).toMatchObject({ retryable: false });
    expect(await failureOf(bot.send(noGroup, "hello?"))).toMatchObject({ retryable: false });
  });

  it("WA-2: typing is shown while connected and costs nothing while not", async () => {
    const bot = await started();
    const ops = bot.group("Ops");
    await bot.adapter.setTyping?.(bot.addressOf(ops));
    await bot.server.until(() => bot.server.typing.length === 1);
    expect(bot.server.typing).toEqual([ops.jid]);
    await offline(bot, async () => bot.adapter.setTyping?.(bot.addressOf(ops)));
    expect(bot.server.typing).toHaveLength(1);
  });
});

describe("whatsapp: when the socket goes and comes", () => {
  it("M04 DELIV-2: during a gap a send fails at once and may be tried again; the core learns when it can be", async () => {
    const bot = await started();
    const to = bot.addressOf(bot.group("Ops"));
    const readyBefore = bot.host.readyCalls;
    await offline(bot, async () => {
      expect(await failureOf(bot.send(to, "announce"))).toEqual({ retryable: true, partsSent: 0 });
      expect(bot.host.readyCalls).toBe(readyBefore);
    });
    await bot.host.until(() => bot.host.readyCalls > readyBefore, "the core was told");
    await bot.send(to, "announce");
    expect(bot.server.sent.map(({ text }) => text?.trim())).toEqual(["announce"]);
    expect(bot.server.repeated).toEqual([]);
  });

  it("M04: after a reconnect everything runs over the new socket and the old one has no listeners left", async () => {
    const bot = await started();
    const before = bot.listeners;
    const newlyConnected = reconnected(bot);
    bot.server.disconnect(515);
    await newlyConnected;
    await bot.server.say(bot.alice, "still there?");
    expect(await bot.host.texts(1)).toEqual(["still there?"]);
    await bot.send(bot.addressOf(bot.alice), "yes");
    expect(bot.server.sent).toHaveLength(1);
    expect(bot.listeners).toBe(2 * (before - adapterListeners) + adapterListeners);
  });

  it("M04: a connection that breaks before the server stored the message loses nothing", async () => {
    const bot = await started();
    const to = bot.addressOf(bot.group("Ops"));
    bot.server.dropAtNext("before storing");
    const newlyConnected = reconnected(bot);
    expect(await failureOf(bot.send(to, "kept"))).toEqual({ retryable: true, partsSent: 0 });
    await newlyConnected;
    await bot.send(to, "kept");
    expect(bot.server.sent.map(({ text }) => text?.trim())).toEqual(["kept"]);
  });

  it("M04: attaching the same socket again changes nothing; its detach ends it, once", async () => {
    const bot = await started();
    bot.reconnects = false;
    const socket = await bot.connected;
    const before = bot.listeners;
    const detach = bot.adapter.attach(socket);
    expect(bot.adapter.attach(socket)).toBeTypeOf("function");
    expect(bot.listeners).toBe(before);
    detach();
    detach();
    expect(bot.listeners).toBe(before - adapterListeners);
    expect(await failureOf(bot.send(bot.addressOf(bot.alice), "no socket"))).toMatchObject({
      retryable: true,
    });
    bot.adapter.attach(socket);
    await bot.server.say(bot.alice, "attached late");
    expect(await bot.host.texts(1)).toEqual(["attached late"]);
    await bot.send(bot.addressOf(bot.alice), "and answering");
    expect(bot.server.sent).toHaveLength(1);
  });

  it("M04: the detach function of a replaced socket does not touch the new one", async () => {
    const bot = await started();
    const detachOld = bot.adapter.attach(await bot.connected);
    const newlyConnected = reconnected(bot);
    bot.server.disconnect("lost");
    await newlyConnected;
    detachOld();
    await bot.server.say(bot.alice, "hello");
    expect(await bot.host.texts(1)).toEqual(["hello"]);
  });
});

/** What the adapter keeps on a socket while started. */
const adapterListeners = 6;

async function started(options?: WhatsAppOptions): Promise<Bot> {
  const bot = await new Bot(options).run();
  onTestFinished(() => bot.close());
  await bot.adapter.start(bot.host);
  return bot;
}

/** Resolves when the bot has lost its socket and is connected again. */
async function reconnected(bot: Bot): Promise<void> {
  await bot.server.until(() => !bot.server.online);
  await bot.server.until(() => bot.server.online);
  await bot.connected;
}

/** Does something while the bot has no connection, then brings it back. */
async function offline(bot: Bot, work: () => Promise<unknown>): Promise<void> {
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

async function failureOf(sending: Promise<unknown>) {
  return sending.then(() => Promise.reject(new Error("the send worked")), deliveryFailureOf);
}

async function makeHarness(): Promise<AdapterHarness> {
  const bot = await new Bot().run();
  const { server, adapter } = bot;
  const places = [bot.group("Ops"), bot.group("Others", "lid")] as const;
  const [chat, otherChat] = [bot.addressOf(places[0]), bot.addressOf(places[1])];

  /** Waits for the connection before a send, as the core's outbox does. */
  const patient: ChannelAdapter = {
    channel: adapter.channel,
    accountId: adapter.accountId,
    maxTextLength: adapter.maxTextLength,
    repeatableForMs: adapter.repeatableForMs,
    start: (host) => adapter.start(host),
    stop: () => adapter.stop(),
    send: async (...args) => {
      await bot.connected;
      return adapter.send(...args);
    },
  };

  async function platformSays(author: Author, text: string, at: Address = chat): Promise<void> {
    const group = places.find(({ jid }) => jid === at.chatId) ?? places[0];
    const says: Readonly<Record<Author, () => Promise<string>>> = {
      person: () => server.say(bot.alice, text, { in: group }),
      bot: () => server.typeOnPhone(text, group),
      otherBot: () => server.say(bot.bob, text, { in: group, participant: "13135550002@bot" }),
    };
    await bot.heard(await says[author]());
    // The adapter asks for a new group's title first; this question is answered after that one.
    await new Promise((resolve) => setImmediate(resolve));
    await (await bot.connected).groupMetadata(group.jid);
  }

  function breakNextSend(kind: Breakage, afterParts = 0): void {
    if (kind === "drop") server.dropAtNext("after storing", afterParts);
    else server.refuseNext({ permanent: "403", transient: "503", rateLimit: "429" }[kind], afterParts);
  }

  return {
    adapter: patient,
    chat,
    otherChat,
    mentionBait: "@15550002222 @990000000000003 @all",
    sent: () =>
      server.sent.map(({ to, text, mentions }) => ({ chatId: to, text: text ?? "", pings: mentions })),
    platformSays,
    breakNextSend,
    listeners: () => bot.listeners,
    close: () => bot.close(),
  };
}
