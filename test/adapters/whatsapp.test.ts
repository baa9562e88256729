import type { proto } from "@whiskeysockets/baileys";
import type { Address, ChannelAdapter } from "../../src/core/ports/chat.ts";
import type { AdapterHarness, Author, Breakage, PersonsDeeds } from "../contracts/adapter-harness.ts";
import { channelAdapterContract } from "../contracts/channel-adapter.contract.ts";
import type { Content, SayOptions } from "../standins/whatsapp/inbound-stanza.ts";
import { LIBRARIES, type Library } from "../standins/whatsapp/library.ts";
import { Bot } from "./whatsapp/bot.ts";

for (const library of LIBRARIES) {
  channelAdapterContract(`whatsapp with Baileys ${library.version}`, () => makeHarness(library), {
    rateLimit: "none",
    hearsAhead: true,
  });
}

async function makeHarness(library: Library, accountId = "default"): Promise<AdapterHarness> {
  const bot = await new Bot(library, { accountId }).run();
  const closing = [() => bot.close()];
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
    await says[author]().then(handedOver);
  }

  async function handedOver(id: string): Promise<void> {
    await bot.heard(id);
    // The adapter asks for a new group's title first; this question is answered after that one.
    await new Promise((resolve) => setImmediate(resolve));
    await (await bot.connected).groupMetadata(places[0].jid);
  }

  /** Alice, in the room. */
  const says = (content: Content, more: SayOptions = {}) =>
    server.say(bot.alice, content, { in: places[0], ...more });
  const changes = (id: string, protocolMessage: proto.Message.IProtocolMessage) =>
    says({ protocolMessage: { ...protocolMessage, key: { id, remoteJid: places[0].jid } } });

  const person: PersonsDeeds = {
    async attaches() {
      await says({ imageMessage: { mimetype: "image/jpeg", fileLength: 34_567 } }).then(handedOver);
      return { mediaType: "image/jpeg", sizeBytes: 34_567 };
    },
    async replies(text, original) {
      const id = await says(original);
      await says(text, { quoting: { id, author: bot.alice, text: original } }).then(handedOver);
    },
    forwards: (text) =>
      says({ extendedTextMessage: { text, contextInfo: { isForwarded: true } } }).then(handedOver),
    async edits(text, into) {
      const id = await says(text);
      await changes(id, { type: 14, editedMessage: { conversation: into } }).then(handedOver);
    },
    async removes(text) {
      const id = await says(text);
      await changes(id, { type: 0 }).then(handedOver);
    },
  };

  /** The two accounts are members of one room: what is said there reaches both. */
  async function otherAccount(): Promise<AdapterHarness> {
    const other = await makeHarness(library, "work");
    closing.push(() => other.close());
    const both: AdapterHarness["platformSays"] = async (...said) => {
      await Promise.all([platformSays(...said), other.platformSays(...said)]);
    };
    return { ...other, platformSays: both };
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
    person,
    otherAccount,
    restarted: () => bot.restart(),
    close: async () => {
      for (const close of closing) await close();
    },
  };
}
