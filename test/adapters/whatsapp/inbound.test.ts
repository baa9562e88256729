import { describe, expect, it } from "vitest";
import { type InboundContext, routeOf, toChange, toInbound } from "../../../src/adapters/whatsapp/inbound.ts";
import type { WhatsAppContent, WhatsAppKey, WhatsAppMessage } from "../../../src/adapters/whatsapp/socket.ts";
import type { InboundMessage } from "../../../src/core/ports/chat.ts";

const ME = "15550001111@s.whatsapp.net";
const MY_LID = "990000000000001@lid";
const ALICE = "15550002222@s.whatsapp.net";
const ALICE_LID = "990000000000002@lid";
const GROUP = "120363000000000001@g.us";

const live: InboundContext = { accountId: "x", me: [ME, MY_LID], type: "notify", answerSinceMs: 0 };
const hello: WhatsAppContent = { conversation: "hello" };

/** What becomes of an event of Baileys, as in the adapter. */
function heard(message: WhatsAppMessage, context = live): InboundMessage | undefined {
  const route = routeOf(message.key, context);
  return route && toInbound(message, route, context);
}

const inGroup = (message: WhatsAppContent, key: Partial<WhatsAppKey> = {}): WhatsAppMessage => ({
  key: { id: "3A01", remoteJid: GROUP, participant: ALICE, ...key },
  message,
  messageTimestamp: 1_760_000_000,
});

const direct = (message: WhatsAppContent, key: Partial<WhatsAppKey> = {}): WhatsAppMessage =>
  inGroup(message, { remoteJid: ALICE, participant: "", ...key });

describe("whatsapp: from an event to chat, sender and text", () => {
  it.each<[string, Partial<WhatsAppKey>, { chat: string; sender: string; alt?: string }]>([
    [
      "phone address, LID beside it",
      { remoteJid: ALICE, participant: "", remoteJidAlt: ALICE_LID },
      { chat: ALICE, sender: "+15550002222", alt: ALICE_LID },
    ],
    [
      "LID, phone beside it",
      { remoteJid: ALICE_LID, participant: "", remoteJidAlt: ALICE },
      { chat: ALICE_LID, sender: "+15550002222", alt: ALICE_LID },
    ],
    ["LID alone", { remoteJid: ALICE_LID, participant: "" }, { chat: ALICE_LID, sender: ALICE_LID }],
    [
      "Baileys 6.7: senderPn",
      { remoteJid: ALICE_LID, participant: null, senderPn: ALICE },
      { chat: ALICE_LID, sender: "+15550002222", alt: ALICE_LID },
    ],
    [
      "Baileys 6.7: senderLid",
      { remoteJid: ALICE, senderLid: ALICE_LID },
      { chat: ALICE, sender: "+15550002222", alt: ALICE_LID },
    ],
    [
      "another device",
      { remoteJid: "15550002222:12@s.whatsapp.net" },
      { chat: ALICE, sender: "+15550002222" },
    ],
    ["hosted account", { remoteJid: "15550002222:99@hosted" }, { chat: ALICE, sender: "+15550002222" }],
    [
      "group by phone",
      { participant: "15550002222:3@s.whatsapp.net", participantAlt: ALICE_LID },
      { chat: GROUP, sender: "+15550002222", alt: ALICE_LID },
    ],
    [
      "group by LID",
      { participant: ALICE_LID, participantAlt: ALICE },
      { chat: GROUP, sender: "+15550002222", alt: ALICE_LID },
    ],
    [
      "group by LID, Baileys 6.7",
      { participant: ALICE_LID, participantPn: ALICE },
      { chat: GROUP, sender: "+15550002222", alt: ALICE_LID },
    ],
    ["group by LID alone", { participant: "990000000000002:7@lid" }, { chat: GROUP, sender: ALICE_LID }],
    [
      "old group id",
      { remoteJid: "15550002222-1400000000@g.us" },
      { chat: "15550002222-1400000000@g.us", sender: "+15550002222" },
    ],
    [
      "an alternative that is no other kind of address",
      { remoteJid: ALICE, remoteJidAlt: "15550009999@s.whatsapp.net" },
      { chat: ALICE, sender: "+15550002222" },
    ],
    [
      "the account's own chat",
      { remoteJid: MY_LID, fromMe: true },
      { chat: MY_LID, sender: "+15550001111", alt: MY_LID },
    ],
  ])("WA-1 I03 I05 CMD-2: %s", (_, key, { chat, sender, alt }) => {
    const message = heard(inGroup(hello, key));
    expect(message?.from).toEqual({
      channel: "whatsapp",
      accountId: "x",
      chatType: chat.endsWith("@g.us") ? "group" : "direct",
      chatId: chat,
    });
    expect(message?.sender).toEqual({ id: sender, isBot: false, ...(alt ? { altIds: [alt] } : {}) });
  });

  it.each<[string, WhatsAppMessage]>([
    ["status", inGroup(hello, { remoteJid: "status@broadcast" })],
    ["broadcast list", inGroup(hello, { remoteJid: "1400000000@broadcast" })],
    ["newsletter", inGroup(hello, { remoteJid: "120363000000000002@newsletter" })],
    ["call", inGroup(hello, { remoteJid: "15550002222@call" })],
    ["Meta AI", direct(hello, { remoteJid: "867051314767696@bot" })],
    ["Meta AI in its old form", direct(hello, { remoteJid: "13135550002@c.us" })],
    ["Meta AI in a group", inGroup(hello, { participant: "867051314767696@bot" })],
    ["WhatsApp's announcements", direct(hello, { remoteJid: "0@s.whatsapp.net" })],
    ["a group message without author", inGroup(hello, { participant: "" })],
    ["no chat", direct(hello, { remoteJid: null })],
    ["no id", direct(hello, { id: null })],
    ["the owner to somebody else", direct(hello, { fromMe: true })],
    ["the owner in a group", inGroup(hello, { fromMe: true, participant: ME })],
    ["the account in a group, not marked", inGroup(hello, { participant: MY_LID })],
    ["nothing inside", direct({})],
    ["an empty wrapper", direct({ ephemeralMessage: {} })],
    ["an empty text", direct({ conversation: "  " })],
  ])("WA-1: not a message for the bot: %s", (_, message) => {
    expect(heard(message)).toBeUndefined();
  });

  it("N01: what the account itself sent comes back as append and is never heard", () => {
    const own = direct(hello, { fromMe: true, remoteJid: ME });
    expect(heard(own, { ...live, type: "append" })).toBeUndefined();
    expect(heard(own)?.text).toBe("hello");
  });

  it("N01: missed messages are replays from before the limit, live ones never", () => {
    const at = 1_760_000_000_000;
    const since = (answerSinceMs: number, type: "notify" | "append") =>
      heard(direct(hello), { ...live, type, answerSinceMs })?.replay;
    expect(since(at, "append")).toBeUndefined();
    expect(since(at + 1, "append")).toBe(true);
    expect(since(at + 1, "notify")).toBeUndefined();
  });

  it("WA-1: seconds of any number type become milliseconds", () => {
    expect(heard(direct(hello))?.sentAtMs).toBe(1_760_000_000_000);
    const long = { ...direct(hello), messageTimestamp: { toNumber: () => 1_760_000_001 } };
    expect(heard(long)?.sentAtMs).toBe(1_760_000_001_000);
  });
});

describe("whatsapp: what a message says", () => {
  const photo = { caption: "look at this", mimetype: "image/jpeg", fileLength: 2048 };
  const file = {
    caption: "the report",
    mimetype: "application/pdf",
    fileName: "q3.pdf",
    fileLength: { toNumber: () => 9 },
  };

  it.each<[string, WhatsAppContent, string]>([
    ["plain", hello, "hello"],
    ["with context", { extendedTextMessage: { text: " hello " } }, "hello"],
    ["a caption", { imageMessage: photo }, "look at this"],
    ["disappearing", { ephemeralMessage: { message: hello } }, "hello"],
    ["view once", { viewOnceMessage: { message: { imageMessage: photo } } }, "look at this"],
    ["view once 2", { viewOnceMessageV2: { message: { imageMessage: photo } } }, "look at this"],
    [
      "view once 2 extension",
      { viewOnceMessageV2Extension: { message: { imageMessage: photo } } },
      "look at this",
    ],
    [
      "document with caption",
      { documentWithCaptionMessage: { message: { documentMessage: file } } },
      "the report",
    ],
    [
      "disappearing view once",
      { ephemeralMessage: { message: { viewOnceMessage: { message: { imageMessage: photo } } } } },
      "look at this",
    ],
    ["a group mention", { groupMentionedMessage: { message: hello } }, "hello"],
    ["a button", { buttonsResponseMessage: { selectedDisplayText: "Yes" } }, "Yes"],
    ["a template button", { templateButtonReplyMessage: { selectedDisplayText: "Yes" } }, "Yes"],
    ["a list choice", { listResponseMessage: { title: "Second" } }, "Second"],
    ["an interactive answer", { interactiveResponseMessage: { body: { text: "Done" } } }, "Done"],
  ])("WA-1: text of %s", (_, content, text) => {
    expect(heard(direct(content))?.text).toBe(text);
  });

  it("WA-1: wrappers around wrappers without end are nothing", () => {
    let content: WhatsAppContent = hello;
    for (let depth = 0; depth < 50; depth++) content = { ephemeralMessage: { message: content } };
    expect(heard(direct(content))).toBeUndefined();
  });

  it("WA-1: files are named with type, size and name, also without a text", () => {
    expect(heard(direct({ imageMessage: photo }))?.attachments).toEqual([
      { mediaType: "image/jpeg", sizeBytes: 2048 },
    ]);
    expect(heard(direct({ documentMessage: file }))?.attachments).toEqual([
      { mediaType: "application/pdf", sizeBytes: 9, name: "q3.pdf" },
    ]);
    expect(heard(direct({ audioMessage: {} }))).toMatchObject({
      text: "",
      attachments: [{ mediaType: "application/octet-stream" }],
    });
  });

  it("WA-1 K09: forwarded words are quoted, never the sender's own, and mention nobody", () => {
    const contextInfo = { isForwarded: true, mentionedJid: [ME] };
    const message = heard(inGroup({ extendedTextMessage: { text: "/send off", contextInfo } }));
    expect(message).toMatchObject({
      text: "",
      quoted: { text: "/send off", forwarded: true },
      addressed: false,
    });
  });

  const saying = (text: string, contextInfo: object) =>
    heard(inGroup({ extendedTextMessage: { text, contextInfo } }));

  it.each([
    ["by phone number", ME, "@15550001111 /status"],
    ["by LID", MY_LID, "@990000000000001 /status"],
    ["by one of its devices, with a comma", "990000000000001:5@lid", "@990000000000001, /status"],
  ])("WA-1: a mention of the bot %s addresses it and is taken off the front", (_, jid, text) => {
    expect(saying(text, { mentionedJid: [jid] })).toMatchObject({ addressed: true, text: "/status" });
  });

  it("WA-1: a mention alone, or in the middle, stays; a number that is only typed is no mention", () => {
    expect(saying("@15550001111", { mentionedJid: [ME] })?.text).toBe("@15550001111");
    expect(saying("ask @15550001111 now", { mentionedJid: [ME] })?.text).toBe("ask @15550001111 now");
    expect(saying("@15550001111 hi", {})).toMatchObject({ addressed: false, text: "@15550001111 hi" });
    expect(saying("@155500011119 hi", { mentionedJid: [ME] })?.text).toBe("@155500011119 hi");
  });

  it("WA-1: a reply to the bot addresses it and quotes its words; a reply to somebody else does not", () => {
    const quote = { stanzaId: "3EB0AA", quotedMessage: { imageMessage: { caption: "chart" } } };
    const toBot = saying("why?", { ...quote, participant: "15550001111:5@s.whatsapp.net" });
    expect(toBot).toMatchObject({
      addressed: true,
      replyToId: "3EB0AA",
      quoted: { text: "chart", forwarded: false },
    });
    expect(saying("why?", { ...quote, participant: ALICE })).toMatchObject({
      addressed: false,
      replyToId: "3EB0AA",
    });
  });
});

describe("whatsapp: changes of earlier messages", () => {
  const change = (message: WhatsAppContent) => toChange(direct(message), { chat: ALICE, author: ALICE }, "x");
  const from = { channel: "whatsapp", accountId: "x", chatType: "direct", chatId: ALICE };

  it("WA-1: edits, wrapped or not, and deletions are changes and no messages", () => {
    const edit = {
      protocolMessage: { type: 14, key: { id: "3A07" }, editedMessage: { conversation: "hello!" } },
    };
    const edited = { id: "3A07", from, change: "edited", text: "hello!" };
    expect(change(edit)).toEqual(edited);
    expect(change({ editedMessage: { message: edit } })).toEqual(edited);
    expect(change({ protocolMessage: { type: 0, key: { id: "3A07" } } })).toEqual({
      id: "3A07",
      from,
      change: "deleted",
    });
    expect(heard(direct(edit))).toBeUndefined();
  });

  it("WA-1: other protocol messages and plain texts change nothing", () => {
    expect(change({ protocolMessage: { type: 3, key: { id: "3A07" } } })).toBeUndefined();
    expect(change({ protocolMessage: { type: 0 } })).toBeUndefined();
    expect(change(hello)).toBeUndefined();
  });
});
