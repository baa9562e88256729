import { proto } from "@whiskeysockets/baileys";
import { proto as proto6 } from "baileys6";
import { describe, expect, it } from "vitest";
import { type InboundContext, routeOf, toInbound } from "../../../src/adapters/whatsapp/inbound.ts";
import type { WhatsAppContent, WhatsAppKey } from "../../../src/adapters/whatsapp/socket.ts";

const ME = "15550001111@s.whatsapp.net";
const MY_LID = "990000000000001@lid";
const BOB = "15550003333@s.whatsapp.net";
const BOB_LID = "990000000000003@lid";
const OPS = "120363000000000001@g.us";

/** Keys as the two lines of Baileys make them: of a direct message, and of one in a group. */
const KEYS = {
  direct7: { remoteJid: "990000000000002@lid", remoteJidAlt: "15550002222@s.whatsapp.net", participant: "" },
  direct6: { remoteJid: "15550002222:12@s.whatsapp.net", senderLid: "990000000000002@lid" },
  group7: {
    remoteJid: OPS,
    participant: "990000000000002:3@lid",
    participantAlt: "15550002222@s.whatsapp.net",
  },
  group6: { remoteJid: OPS, participant: "990000000000002@lid", participantPn: "15550002222@s.whatsapp.net" },
  /** The owner, on the phone, in the chat with oneself. */
  self: { remoteJid: ME, fromMe: true, participant: "" },
  /** The owner, on the phone, to somebody else. */
  elsewhere: { remoteJid: BOB, fromMe: true, participant: "" },
  status: { remoteJid: "status@broadcast", participant: "15550002222@s.whatsapp.net" },
  list: { remoteJid: "1700000000@broadcast", participant: "15550002222@s.whatsapp.net" },
  newsletter: { remoteJid: "120363000000000009@newsletter" },
  metaAi: { remoteJid: "867051314767696@bot", participant: "" },
} satisfies Readonly<Record<string, Partial<WhatsAppKey>>>;

interface Heard {
  readonly from?: "+15550002222" | "+15550001111";
  readonly text?: string;
  readonly addressed?: boolean;
  readonly [more: string]: unknown;
}

const CONTEXT: InboundContext = {
  accountId: "default",
  me: [ME, MY_LID],
  type: "notify",
  answerSinceMs: 0,
  nameOf: (jid) => (jid === BOB_LID || jid === BOB ? "Bob" : undefined),
};

const text = (words: string, contextInfo: object = {}) => ({
  extendedTextMessage: { text: words, contextInfo },
});
const quoting = (participant: string, quotedMessage: object) => ({
  stanzaId: "3EB0F00D",
  participant,
  quotedMessage,
});
const photo = { imageMessage: { caption: "see here", mimetype: "image/jpeg", fileLength: 34_567 } };
const pdf = { mimetype: "application/pdf", fileName: "bill.pdf", fileLength: 120, caption: "the bill" };
const jpeg = { mediaType: "image/jpeg", sizeBytes: 34_567 };

/** What arrives, and what becomes of it; undefined: nothing, by rule. */
const ROWS: readonly (readonly [string, keyof typeof KEYS, object, Heard | undefined])[] = [
  ["words", "direct7", { conversation: "hello" }, { text: "hello" }],
  ["words, Baileys 6", "direct6", { conversation: "hello" }, { text: "hello" }],
  ["words with a link", "direct7", text("see https://example.org"), { text: "see https://example.org" }],
  ["words in a group", "group7", { conversation: "hi all" }, { text: "hi all", addressed: false }],
  ["words in a group, Baileys 6", "group6", { conversation: "hi all" }, { text: "hi all", addressed: false }],
  ["a mention by LID", "group7", text("@990000000000001 go", { mentionedJid: [MY_LID] }), { text: "go" }],
  ["a mention by number", "group6", text("@15550001111 go", { mentionedJid: [ME] }), { text: "go" }],
  [
    "a mention of somebody else",
    "group7",
    text("@990000000000003 go", { mentionedJid: [BOB_LID] }),
    { text: "@990000000000003 go", addressed: false },
  ],
  [
    "a mention of everybody",
    "group7",
    text("@all lunch", { nonJidMentions: 1 }),
    { text: "@all lunch", addressed: false },
  ],
  [
    "an answer to the bot, by LID",
    "group7",
    text("why?", quoting("990000000000001:5@lid", { conversation: "no" })),
    { text: "why?", replyToId: "3EB0F00D", quoted: { text: "no", forwarded: false } },
  ],
  [
    "an answer to somebody else",
    "group6",
    text("why?", quoting(BOB, photo)),
    { text: "why?", addressed: false, quoted: { text: "see here", forwarded: false, senderName: "Bob" } },
  ],
  [
    "forwarded words",
    "direct7",
    text("/send off", { isForwarded: true }),
    { text: "", quoted: { text: "/send off", forwarded: true } },
  ],
  [
    "a forwarded photo",
    "direct7",
    { imageMessage: { ...photo.imageMessage, contextInfo: { isForwarded: true } } },
    { text: "", attachments: [jpeg], quoted: { text: "see here", forwarded: true } },
  ],
  ["a photo", "direct7", photo, { text: "see here", attachments: [jpeg] }],
  [
    "a video note",
    "direct7",
    { ptvMessage: { mimetype: "video/mp4" } },
    { text: "", attachments: [{ mediaType: "video/mp4" }] },
  ],
  [
    "a voice note",
    "direct6",
    { audioMessage: { mimetype: "audio/ogg; codecs=opus", ptt: true } },
    { text: "", attachments: [{ mediaType: "audio/ogg; codecs=opus" }] },
  ],
  ["a sticker", "group7", { stickerMessage: { mimetype: "image/webp" } }, { text: "", addressed: false }],
  [
    "an animated sticker",
    "direct7",
    { lottieStickerMessage: { message: { stickerMessage: { mimetype: "application/was" } } } },
    { text: "", attachments: [{ mediaType: "application/was" }] },
  ],
  [
    "a document with a caption",
    "direct7",
    { documentWithCaptionMessage: { message: { documentMessage: pdf } } },
    { text: "the bill", attachments: [{ mediaType: "application/pdf", sizeBytes: 120, name: "bill.pdf" }] },
  ],
  [
    "disappearing words",
    "direct7",
    { ephemeralMessage: { message: { conversation: "soon gone" } } },
    { text: "soon gone" },
  ],
  [
    "view once",
    "direct6",
    { viewOnceMessageV2: { message: photo } },
    { text: "see here", attachments: [jpeg] },
  ],
  [
    "one photo of an album",
    "direct7",
    { associatedChildMessage: { message: photo } },
    { text: "see here", attachments: [jpeg] },
  ],
  [
    "a mention of the whole group",
    "group7",
    { groupMentionedMessage: { message: text("@Ops hi") } },
    { text: "@Ops hi", addressed: false },
  ],
  [
    "a tapped button",
    "direct6",
    { buttonsResponseMessage: { selectedButtonId: "b1", selectedDisplayText: "Yes", type: 1 } },
    { text: "Yes" },
  ],
  [
    "a tapped template button",
    "direct7",
    { templateButtonReplyMessage: { selectedId: "t1", selectedDisplayText: "Call me" } },
    { text: "Call me" },
  ],
  [
    "a chosen row",
    "direct7",
    { listResponseMessage: { title: "Large", singleSelectReply: { selectedRowId: "r3" } } },
    { text: "Large" },
  ],
  [
    "an answered form",
    "direct7",
    { interactiveResponseMessage: { body: { text: "Sent" } } },
    { text: "Sent" },
  ],
  [
    "a tapped button below a message of the bot, in a group",
    "group7",
    { buttonsResponseMessage: { selectedDisplayText: "Yes", type: 1, contextInfo: quoting(ME, {}) } },
    { text: "Yes", replyToId: "3EB0F00D" },
  ],
  [
    "buttons of a business",
    "direct7",
    { buttonsMessage: { contentText: "Confirm?", buttons: [{ buttonId: "1" }] } },
    { text: "Confirm?" },
  ],
  [
    "a list of a business",
    "direct7",
    { listMessage: { title: "Menu", description: "Pick one" } },
    { text: "Pick one" },
  ],
  [
    "a template of a business",
    "direct6",
    { templateMessage: { hydratedTemplate: { hydratedContentText: "Your code" } } },
    { text: "Your code" },
  ],
  [
    "a form of a business",
    "direct7",
    { interactiveMessage: { body: { text: "Book a table" } } },
    { text: "Book a table" },
  ],
  [
    "a poll",
    "group7",
    { pollCreationMessageV3: { name: "Lunch?", options: [{ optionName: "Yes" }, { optionName: "No" }] } },
    { text: "Lunch?\n- Yes\n- No", addressed: false },
  ],
  ["an event", "direct7", { eventMessage: { name: "Release party" } }, { text: "Release party" }],
  [
    "a place",
    "direct7",
    { locationMessage: { degreesLatitude: 52.5, degreesLongitude: 13.4, name: "Office" } },
    { text: "", attachments: [{ mediaType: "application/geo+json", name: "Office, 52.5,13.4" }] },
  ],
  [
    "a contact",
    "direct6",
    { contactMessage: { displayName: "Bob", vcard: "BEGIN:VCARD" } },
    { text: "", attachments: [{ mediaType: "text/vcard", name: "Bob" }] },
  ],
  [
    "contacts",
    "direct7",
    {
      contactsArrayMessage: {
        displayName: "2 contacts",
        contacts: [{ displayName: "Bob" }, { displayName: "Cy" }],
      },
    },
    {
      text: "",
      attachments: [
        { mediaType: "text/vcard", name: "Bob" },
        { mediaType: "text/vcard", name: "Cy" },
      ],
    },
  ],
  ["a note to oneself", "self", { conversation: "buy milk" }, { from: "+15550001111", text: "buy milk" }],
  ["the owner to somebody else", "elsewhere", { conversation: "see you" }, undefined],
  ["a reaction", "direct7", { reactionMessage: { text: "👍", key: { id: "3EB0F00D" } } }, undefined],
  ["a vote", "group7", { pollUpdateMessage: { pollCreationMessageKey: { id: "3A01" } } }, undefined],
  [
    "a live position",
    "direct7",
    { liveLocationMessage: { degreesLatitude: 52.5, degreesLongitude: 13.4 } },
    undefined,
  ],
  ["a pin", "group7", { pinInChatMessage: { type: 1, key: { id: "3A01" } } }, undefined],
  ["a call", "direct7", { call: { callKey: new Uint8Array([1]) } }, undefined],
  [
    "an invitation to a group",
    "direct7",
    { groupInviteMessage: { groupJid: OPS, inviteCode: "abc" } },
    undefined,
  ],
  [
    "a timer of disappearing messages",
    "direct7",
    { protocolMessage: { type: 3, ephemeralExpiration: 86_400 } },
    undefined,
  ],
  ["keys of a group alone", "group6", { senderKeyDistributionMessage: { groupId: OPS } }, undefined],
  ["a status", "status", { conversation: "on holiday" }, undefined],
  ["a broadcast list", "list", { conversation: "to all my customers" }, undefined],
  ["a newsletter", "newsletter", { conversation: "news" }, undefined],
  ["Meta AI", "metaAi", { conversation: "how can I help?" }, undefined],
];

/** As it comes out of Baileys: through the wire format of its own proto files. */
const decoders: readonly (readonly [string, (content: object) => WhatsAppContent])[] = [
  [
    "7.0.0-rc14",
    (content) => proto.Message.decode(proto.Message.encode(proto.Message.fromObject(content)).finish()),
  ],
  [
    "6.7.24",
    (content) => proto6.Message.decode(proto6.Message.encode(proto6.Message.fromObject(content)).finish()),
  ],
];

describe.each(decoders)("whatsapp: what arrives with Baileys %s", (_, decoded) => {
  it.each(ROWS)("WA-1: %s (%s)", (_what, kind, content, expected) => {
    const key: WhatsAppKey = { id: "3A0102030405060708", ...KEYS[kind] };
    const route = routeOf(key, CONTEXT);
    const heard =
      route && toInbound({ key, message: decoded(content), messageTimestamp: 1_760_000_000 }, route, CONTEXT);
    if (!expected) return expect(heard).toBeUndefined();
    const { from = "+15550002222", addressed = true, ...rest } = expected;
    expect(heard).toMatchObject({ addressed, ...rest });
    expect(heard?.sender.id).toBe(from);
    expect(heard?.from.chatId).toMatch(kind.startsWith("group") ? /@g\.us$/ : /@(s\.whatsapp\.net|lid)$/);
    expect(heard?.quoted !== undefined).toBe("quoted" in rest);
  });
});
