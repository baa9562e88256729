import { GatewayIntentBits } from "discord.js";
import { describe, expect, it } from "vitest";
import type { InboundMessage } from "../../../src/core/ports/chat.ts";
import { channelTypes } from "../../standins/discord/world.ts";
import type { DiscordStandin } from "../../standins/discord.ts";
import { aBot, logIn, placeOf, startedWith } from "./bot.ts";

type Row = readonly [what: string, say: (discord: DiscordStandin) => Expected | "nothing"];
interface Expected {
  readonly text: string;
  readonly addressed: boolean;
  readonly from?: InboundMessage["from"];
  readonly more?: object;
}

const handedOver: readonly Row[] = [
  [
    "DISC-1: plain text in a server channel",
    (discord) => {
      discord.say("hello all");
      const more = { guildId: discord.world.guildId, chatTitle: "Lab #general" };
      return { text: "hello all", addressed: false, from: placeOf(discord.general.id), more };
    },
  ],
  [
    "DISC-1: a mention in front is for the bot and is taken off",
    (discord) => {
      discord.say(`<@${discord.bot.user.id}> <@!${discord.bot.user.id}>, what now?`);
      return { text: "what now?", addressed: true };
    },
  ],
  [
    "DISC-1: a mention further on is for the bot and stays",
    (discord) => {
      discord.say(`ask <@${discord.bot.user.id}> about it`);
      return { text: `ask <@${discord.bot.user.id}> about it`, addressed: true };
    },
  ],
  [
    "DISC-1: a mention and nothing else still arrives",
    (discord) => {
      discord.say(`<@${discord.bot.user.id}>`);
      return { text: `<@${discord.bot.user.id}>`, addressed: true };
    },
  ],
  [
    "DISC-1: the role that Discord made for the bot stands for the bot",
    (discord) => {
      discord.say(`<@&${discord.bot.roleId}> wake up`);
      return { text: "wake up", addressed: true };
    },
  ],
  [
    "DISC-1: mentions of others and @everyone are not for the bot",
    (discord) => {
      const ana = discord.addUser("Ana");
      discord.say(`@everyone <@${ana.id}> look`);
      return { text: `@everyone <@${ana.id}> look`, addressed: false };
    },
  ],
  [
    "DISC-1: a reply to the bot is for the bot, also with the ping switched off, and quotes it",
    (discord) => {
      const question = discord.say("Which one?", { by: discord.bot.user });
      discord.say("the second", { replyTo: question, mentionReplied: false });
      const quoted = { text: "Which one?", senderName: "agentbot", forwarded: false };
      return { text: "the second", addressed: true, more: { replyToId: question.id, quoted } };
    },
  ],
  [
    "DISC-1: a reply to somebody else is not for the bot",
    (discord) => {
      const ana = discord.addUser("Ana");
      const first = discord.say("I like it", { by: ana, fields: { webhook_id: "1".repeat(18) } });
      discord.say("me too", { replyTo: first });
      return { text: "me too", addressed: false, more: { replyToId: first.id } };
    },
  ],
  [
    "DISC-1: a mention alone in a reply points the bot to somebody's words",
    (discord) => {
      const ana = discord.addUser("Ana");
      const claim = discord.say("the earth is flat", { by: ana, fields: { webhook_id: "1".repeat(18) } });
      discord.say(`<@${discord.bot.user.id}>`, { replyTo: claim });
      const quoted = { text: "the earth is flat", forwarded: false };
      return { text: `<@${discord.bot.user.id}>`, addressed: true, more: { quoted } };
    },
  ],
  [
    "DISC-1 I08: a thread belongs to its parent and has its own id",
    (discord) => {
      const thread = discord.addThread(discord.general, "a topic");
      discord.say("in here", { in: thread });
      return { text: "in here", addressed: false, from: placeOf(discord.general.id, thread.id) };
    },
  ],
  [
    "DISC-1: a private thread that the client has never heard of is looked up",
    (discord) => {
      const type = channelTypes.privateThread;
      const thread = discord.addThread(discord.general, "hidden", { type, announced: false });
      discord.say("psst", { in: thread });
      return { text: "psst", addressed: false, from: placeOf(discord.general.id, thread.id) };
    },
  ],
  [
    "DISC-1: a forum post is a thread of its forum",
    (discord) => {
      const forum = discord.addChannel("help", channelTypes.forum);
      const post = discord.addThread(forum, "My printer burns");
      discord.say("what do I do?", { in: post });
      const from = placeOf(forum.id, post.id);
      return { text: "what do I do?", addressed: false, from, more: { chatTitle: "Lab #My printer burns" } };
    },
  ],
  [
    "DISC-1: the chat of a voice channel and an announcement channel are channels",
    (discord) => {
      const news = discord.addChannel("news", channelTypes.announcement);
      discord.say("big news", { in: news });
      return { text: "big news", addressed: false, from: placeOf(news.id) };
    },
  ],
  [
    "DISC-1: a direct message is for the bot",
    (discord) => {
      discord.say("between us", { in: discord.direct });
      const from = { ...placeOf(discord.direct.id), chatType: "direct" as const };
      return { text: "between us", addressed: true, from };
    },
  ],
  [
    "DISC-1: a file without words arrives with what is known of it",
    (discord) => {
      const file = { id: "2".repeat(18), filename: "plan.pdf", size: 1234, content_type: "application/pdf" };
      discord.say("", { in: discord.direct, fields: { attachments: [{ ...file, url: "", proxy_url: "" }] } });
      const attachments = [{ mediaType: "application/pdf", sizeBytes: 1234, name: "plan.pdf" }];
      return { text: "", addressed: true, more: { attachments } };
    },
  ],
  [
    "DISC-1: forwarded words are somebody else's, never the sender's",
    (discord) => {
      const snapshot = {
        type: 0,
        content: "/send off",
        timestamp: new Date().toISOString(),
        ...emptyMessage,
      };
      const reference = { type: 1, channel_id: discord.general.id, message_id: "3".repeat(18) };
      const fields = { message_reference: reference, message_snapshots: [{ message: snapshot }] };
      discord.say("", { in: discord.direct, fields });
      return { text: "", addressed: true, more: { quoted: { text: "/send off", forwarded: true } } };
    },
  ],
];

const ignored: readonly Row[] = [
  ["DISC-1 N09: another bot", (discord) => said(discord, { by: discord.world.addBot("Rival").user })],
  [
    "DISC-1 N09: another bot of the same installation that mentions this one",
    (discord) => {
      const rival = discord.world.addBot("Rival");
      discord.say(`<@${discord.bot.user.id}> done`, { by: rival.user });
      return "nothing";
    },
  ],
  [
    "DISC-1: a group direct chat",
    (discord) => {
      const ana = discord.addUser("Ana");
      return said(discord, { in: discord.world.addDirect(discord.bot, discord.owner, ana), by: ana });
    },
  ],
  ["DISC-1: a webhook", (discord) => said(discord, { fields: { webhook_id: "4".repeat(18) } })],
  ["DISC-1: a system notice, somebody joined", (discord) => said(discord, { fields: { type: 7 } })],
  [
    "DISC-1: the first line of a thread made from a message",
    (discord) => said(discord, { fields: { type: 21 } }),
  ],
  [
    "DISC-1: an edit",
    (discord) => {
      const message = discord.say("secret", { by: discord.bot.user });
      discord.edit(message, "edited");
      return "nothing";
    },
  ],
  [
    "DISC-1: a sticker alone",
    (discord) => {
      const sticker = { id: "5".repeat(18), name: "wave", format_type: 1 };
      discord.say("", { fields: { sticker_items: [sticker] } });
      return "nothing";
    },
  ],
];

describe("discord: what is handed over", () => {
  it.each(handedOver)("%s", async (_, say) => {
    const bot = await aBot();
    const host = await startedWith(bot);
    const expected = say(bot.discord);
    if (expected === "nothing") throw new Error("This row belongs to the other table.");
    const { text, addressed, from = expect.anything(), more = {} } = expected;
    await host.until(() => host.messages.length === 1, "a message was handed over");
    const sender = { id: bot.discord.owner.id, name: "Olga", isBot: false };
    expect(host.messages[0]).toMatchObject({ text, addressed, from, sender, ...more });
  });

  it.each(ignored)("%s is not handed over", async (_, say) => {
    const bot = await aBot();
    const host = await startedWith(bot);
    say(bot.discord);
    bot.discord.say("the next one");
    expect(await host.texts(1)).toEqual(["the next one"]);
  });

  it("DISC-1: without the MessageContent intent the blank messages of a server are not handed over", async () => {
    const { Guilds, GuildMessages } = GatewayIntentBits;
    const bot = await aBot({ client: { intents: [Guilds, GuildMessages] } });
    const host = await startedWith(bot);
    bot.discord.say("unreadable");
    bot.discord.say(`<@${bot.discord.bot.user.id}> readable`);
    expect(await host.texts(1)).toEqual(["readable"]);
  });

  it("DISC-1: the sender's roles are known, without the one that everybody has", async () => {
    const bot = await aBot({ login: false });
    const roleId = bot.discord.world.addRole("crew", bot.discord.owner);
    const host = await startedWith(bot);
    await logIn(bot.client, bot.discord);
    bot.discord.say("hi");
    await host.texts(1);
    expect(host.messages[0]?.sender.roleIds).toEqual([roleId]);
  });

  it("DISC-1: threads and their parent do not wait for each other", async () => {
    const bot = await aBot();
    const host = await startedWith(bot);
    const release = host.hold();
    const thread = bot.discord.addThread(bot.discord.general, "a topic");
    bot.discord.say("held");
    bot.discord.say("also held");
    bot.discord.say("free", { in: thread });
    expect(await host.texts(2)).toEqual(["held", "free"]);
    release();
    expect(await host.texts(3)).toContain("also held");
  });
});

const emptyMessage = {
  edited_timestamp: null,
  flags: 0,
  mentions: [],
  mention_roles: [],
  attachments: [],
  embeds: [],
};

function said(discord: DiscordStandin, options: Parameters<DiscordStandin["say"]>[1]): "nothing" {
  discord.say("not for you", options);
  return "nothing";
}
