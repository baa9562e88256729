import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/core/config.ts";
import { resolveChat } from "../../../src/core/session/resolve.ts";
import { channelTypes } from "../../standins/discord/world.ts";
import type { DiscordStandin } from "../../standins/discord.ts";
import { aBot, logIn, startedWith } from "./bot.ts";
import {
  ANN,
  at,
  BEN,
  CREW_ROLE,
  embed,
  file,
  forwarded,
  inDirect,
  OTHER_ID,
  type Payload,
  poll,
  RADIO,
  replied,
  rooms,
  said,
  threads,
  voiceMessage,
} from "./payload.ts";

/** Everything that is not said is `undefined` in the message too. */
interface Expected {
  readonly key: string;
  readonly text: string;
  readonly addressed?: boolean;
  readonly sender?: object;
  readonly quoted?: object;
  readonly replyToId?: string;
  readonly attachments?: readonly object[];
}
type Row = readonly [what: string, payload: (discord: DiscordStandin) => Payload, expected: Expected];

const inText = `discord:channel:${rooms.text.id}`;
const parentOf = (parent: string, thread: string) => `discord:channel:${parent}:thread:${thread}`;
const direct = `discord:direct:${ANN.id}`;

const handedOver: readonly Row[] = [
  ["a text channel", () => said("hello"), { key: inText, text: "hello" }],
  [
    "an announcement channel",
    () => said("news", at("announcement")),
    { key: `discord:channel:${rooms.announcement.id}`, text: "news" },
  ],
  [
    "the chat of a voice channel",
    () => said("can you hear me", at("voice")),
    { key: `discord:channel:${rooms.voice.id}`, text: "can you hear me" },
  ],
  [
    "the chat of a stage",
    () => said("a question", at("stage")),
    { key: `discord:channel:${rooms.stage.id}`, text: "a question" },
  ],
  [
    "a public thread",
    () => said("in here", at("thread")),
    { key: parentOf(rooms.text.id, threads.thread.id), text: "in here" },
  ],
  [
    "a thread of an announcement channel",
    () => said("about this", at("announcementThread")),
    { key: parentOf(rooms.announcement.id, threads.announcementThread.id), text: "about this" },
  ],
  [
    "a private thread that the client has never heard of",
    () => said("psst", at("hiddenThread")),
    { key: parentOf(rooms.text.id, threads.hiddenThread.id), text: "psst" },
  ],
  [
    "an archived thread, which no client is told about",
    () => said("anyone?", at("archivedThread")),
    { key: parentOf(rooms.text.id, threads.archivedThread.id), text: "anyone?" },
  ],
  [
    "the opening of a forum post, which has the id of the post",
    () => said("my printer burns", { ...at("forumPost"), id: threads.forumPost.id, position: 0 }),
    { key: parentOf(rooms.forum.id, threads.forumPost.id), text: "my printer burns" },
  ],
  [
    "a comment below a media post",
    () => said("nice", at("mediaPost")),
    { key: parentOf(rooms.media.id, threads.mediaPost.id), text: "nice" },
  ],
  [
    "a direct message",
    () => said("between us", inDirect()),
    { key: direct, text: "between us", addressed: true },
  ],
  [
    "a mention in front, taken off with its comma",
    ({ bot }) => said(`<@${bot.user.id}>, what now?`, { mentions: [bot.user] }),
    { key: inText, text: "what now?", addressed: true },
  ],
  [
    "a mention in the old form for nicknames",
    ({ bot }) => said(`<@!${bot.user.id}> hi`, { mentions: [bot.user] }),
    { key: inText, text: "hi", addressed: true },
  ],
  [
    "a mention further on, which stays",
    ({ bot }) => said(`ask <@${bot.user.id}>`, { mentions: [bot.user] }),
    { key: inText, text: "ask <@BOT>", addressed: true },
  ],
  [
    "the role that Discord made for the bot",
    ({ bot }) => said(`<@&${bot.roleId}> wake up`, { mention_roles: [bot.roleId] }),
    { key: inText, text: "wake up", addressed: true },
  ],
  [
    "another role",
    () => said(`<@&${CREW_ROLE}> look`, { mention_roles: [CREW_ROLE] }),
    { key: inText, text: `<@&${CREW_ROLE}> look` },
  ],
  [
    "another person",
    () => said(`<@${BEN.id}> look`, { mentions: [BEN] }),
    { key: inText, text: `<@${BEN.id}> look` },
  ],
  [
    "everyone",
    () => said("@everyone look", { mention_everyone: true }),
    { key: inText, text: "@everyone look" },
  ],
  [
    "a reply to the bot with the ping switched off",
    ({ bot }) => replied("the second", said("Which one?", { author: bot.user })),
    {
      key: inText,
      text: "the second",
      addressed: true,
      replyToId: OTHER_ID,
      quoted: { text: "Which one?", senderName: "agentbot", forwarded: false },
    },
  ],
  [
    "a reply to somebody else",
    () => replied("me too", said("I like it", { author: BEN })),
    {
      key: inText,
      text: "me too",
      replyToId: OTHER_ID,
      quoted: { text: "I like it", senderName: "Ben", forwarded: false },
    },
  ],
  [
    "a reply to an app's message, which is in its embed",
    () =>
      replied("what is this?", said("", { author: RADIO, embeds: [embed("Build failed", "main, step 3")] })),
    {
      key: inText,
      text: "what is this?",
      replyToId: OTHER_ID,
      quoted: { text: "Build failed\nmain, step 3", senderName: "radio", forwarded: false },
    },
  ],
  [
    "a reply to a message that is gone",
    () => ({ ...replied("still true", said("")), referenced_message: null }),
    { key: inText, text: "still true", replyToId: OTHER_ID },
  ],
  [
    "a forwarded text, which is nobody's command",
    () => forwarded({ content: "/send off" }),
    { key: direct, text: "", addressed: true, quoted: { text: "/send off", forwarded: true } },
  ],
  [
    "a forwarded message of an app",
    () => forwarded({ embeds: [embed("Alarm", "disk full")] }),
    { key: direct, text: "", addressed: true, quoted: { text: "Alarm\ndisk full", forwarded: true } },
  ],
  [
    "a forwarded picture",
    () => forwarded({ attachments: [file("cat.png", 2048, { content_type: "image/png" })] }),
    {
      key: direct,
      text: "",
      addressed: true,
      attachments: [{ mediaType: "image/png", sizeBytes: 2048, name: "cat.png" }],
    },
  ],
  [
    "a file with words",
    () => said("the plan", { attachments: [file("plan.pdf", 1234, { content_type: "application/pdf" })] }),
    {
      key: inText,
      text: "the plan",
      attachments: [{ mediaType: "application/pdf", sizeBytes: 1234, name: "plan.pdf" }],
    },
  ],
  [
    "a file whose type nobody knows",
    () => said("", { attachments: [file("core", 9)] }),
    {
      key: inText,
      text: "",
      attachments: [{ mediaType: "application/octet-stream", sizeBytes: 9, name: "core" }],
    },
  ],
  [
    "a voice message",
    () => said("", { ...inDirect(), flags: 8192, attachments: [voiceMessage] }),
    {
      key: direct,
      text: "",
      addressed: true,
      attachments: [{ mediaType: "audio/ogg", sizeBytes: 4096, name: "voice-message.ogg" }],
    },
  ],
  [
    "a sticker",
    () => said("", { sticker_items: [{ id: "1500000000000000001", name: "Wave", format_type: 4 }] }),
    { key: inText, text: "", attachments: [{ mediaType: "image/gif", name: "sticker: Wave" }] },
  ],
  ["a poll", () => said("", { poll }), { key: inText, text: "Poll: Lunch?\n- Soup\n- 🍕" }],
  ["a silent message", () => said("shh", { flags: 4096 }), { key: inText, text: "shh" }],
  [
    "another bot",
    () => said("beep", { author: RADIO }),
    { key: inText, text: "beep", sender: { id: RADIO.id, name: "radio", isBot: true } },
  ],
  [
    "a message of a bot that shows an embed alone",
    () =>
      said("", {
        author: RADIO,
        embeds: [{ ...embed("Result", null), fields: [{ name: "Tests", value: "12", inline: true }] }],
      }),
    { key: inText, text: "Result\nTests: 12", sender: { id: RADIO.id, name: "radio", isBot: true } },
  ],
  [
    "a webhook, or what a followed channel posts through one",
    () =>
      said("v2 is out", {
        author: { ...RADIO, id: CREW_ROLE },
        webhook_id: CREW_ROLE,
        flags: 2,
        member: undefined,
      }),
    {
      key: inText,
      text: "v2 is out",
      sender: { id: CREW_ROLE, name: "radio", isBot: true, anonymous: true },
    },
  ],
];

const ignored: readonly (readonly [what: string, payload: (discord: DiscordStandin) => Payload])[] = [
  ["the bot's own words", ({ bot }) => said("mine", { author: bot.user })],
  ["a group direct chat", () => said("all of us", at("groupDirect"))],
  ["Discord itself", () => said("Update", { author: { ...ANN, id: "643945264868098049", system: true } })],
  ["a message that shows nothing", () => said("")],
  ["a link's preview without words", () => said("  ", { embeds: [] })],
  ...[
    [3, "a call"],
    [4, "a new name of a channel"],
    [6, "a pin"],
    [7, "somebody joined"],
    [8, "a boost"],
    [12, "a followed channel"],
    [18, "a thread was created"],
    [20, "the answer of an app to a command"],
    [21, "the message above a thread"],
    [23, "the answer of an app to a menu"],
    [24, "AutoMod"],
    [36, "raid protection"],
    [46, "the result of a poll"],
  ].map(([type, what]) => [String(what), () => said("notice", { type })] as const),
];

describe("discord: payloads of the gateway", () => {
  it.each(handedOver)("DISC-1 I08: %s", async (_, payload, expected) => {
    const { discord, host } = await inTheServer();
    arrive(discord, payload(discord));
    await host.texts(1);
    const [message] = host.messages;
    const { from, sender, guildId } = message ?? {};
    if (!message || !from || !sender) throw new Error("Nothing was handed over.");
    const { text, addressed, quoted, replyToId, attachments } = message;
    const place = { address: from, sender, ...(guildId ? { guildId } : {}) };
    const { key } = resolveChat(place, config, {
      agentIds: ["main"],
      defaultAgentId: "main",
      samePerson: () => [],
    });
    expect({ key, sender, text, addressed, quoted, replyToId, attachments }).toEqual({
      sender: { id: ANN.id, name: "Ann", isBot: false },
      addressed: false,
      ...expected,
      key: `agent:main:${expected.key}`,
      text: expected.text.replace("BOT", discord.bot.user.id),
    });
  });

  it.each(ignored)("DISC-1: %s is nothing for the bot", async (_, payload) => {
    const { discord, host } = await inTheServer();
    arrive(discord, payload(discord));
    arrive(discord, said("the next one"));
    expect(await host.texts(1)).toEqual(["the next one"]);
  });
});

const config = parseConfig({ session: { dmScope: "per-channel-peer" } }, ["main"]);
const parents: Readonly<Record<string, { readonly id: string }>> = {
  announcementThread: rooms.announcement,
  forumPost: rooms.forum,
  mediaPost: rooms.media,
};

async function inTheServer() {
  const bot = await aBot({ login: false });
  const { discord } = bot;
  for (const [name, { id, type }] of Object.entries(rooms)) discord.world.addChannel(name, type, id);
  for (const [name, { id, type }] of Object.entries(threads)) {
    const announced = name !== "hiddenThread" && name !== "archivedThread";
    const parent = parents[name] ?? rooms.text;
    discord.world.addThread(parent.id, name, discord.owner, { type, announced, id });
  }
  const host = await startedWith(bot);
  await logIn(bot.client, discord);
  return { discord, host };
}

function arrive(discord: DiscordStandin, payload: Payload): void {
  const isDirect =
    payload.channel_type === channelTypes.direct || payload.channel_type === channelTypes.groupDirect;
  const place = isDirect ? {} : { guild_id: discord.world.guildId };
  discord.gateway.dispatch("MESSAGE_CREATE", () => ({ ...payload, ...place }));
}
