import { GatewayIntentBits, Options, Partials } from "discord.js";
import { describe, expect, it } from "vitest";
import { channelTypes } from "../../standins/discord/world.ts";
import { aBot, logIn, placeOf, startedWith } from "./bot.ts";
import { statusCommand } from "./commands.ts";

const { Guilds, GuildMessages, DirectMessages, MessageContent } = GatewayIntentBits;

describe("discord: what the host's client is told", () => {
  it("DISC-1: without the MessageContent intent blank messages are not handed over, and that is said once", async () => {
    const bot = await aBot({ client: { intents: [Guilds, GuildMessages] } });
    const host = await startedWith(bot);
    const unreadable = bot.discord.say("unreadable");
    bot.discord.say("unreadable too");
    bot.discord.edit(unreadable, "still unreadable");
    bot.discord.say(`<@${bot.discord.bot.user.id}> readable`);
    expect(await host.texts(1)).toEqual(["readable"]);
    expect(host.changes).toEqual([]);
    expect(host.log.filter(({ message }) => /MessageContent/.test(message))).toHaveLength(1);
  });

  it("DISC-1: the place, its title and its server are known", async () => {
    const bot = await aBot();
    const host = await startedWith(bot);
    const forum = bot.discord.addChannel("help", channelTypes.forum);
    const post = bot.discord.addThread(forum, "My printer burns");
    bot.discord.say("hello");
    await host.texts(1);
    bot.discord.say("what do I do?", { in: post });
    await host.texts(2);
    const { guildId } = bot.discord.world;
    expect(host.messages).toMatchObject([
      { from: placeOf(bot.discord.general.id), guildId, chatTitle: "Lab #general" },
      { from: placeOf(forum.id, post.id), guildId, chatTitle: "Lab #My printer burns" },
    ]);
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

  it("J10 POL-3 DISC-1: nothing is handed over from a thread whose channel Discord does not tell: nobody knows whose rules hold there", async () => {
    const bot = await aBot();
    const host = await startedWith(bot);
    const thread = bot.discord.addThread(bot.discord.general, "side talk", { announced: false });
    const refused = { kind: "status", status: 403, code: 50001, message: "Missing Access" } as const;
    bot.discord.faults.next("GET", new RegExp(`/channels/${thread.id}$`), refused);
    bot.discord.say("unheard", { in: thread });
    await host.until(() => host.log.length > 0, "it was logged");
    expect(host.messages).toEqual([]);
    bot.discord.say("heard", { in: thread });
    expect(await host.texts(1)).toEqual(["heard"]);
    expect(host.messages[0]?.from).toMatchObject({ chatId: bot.discord.general.id, threadId: thread.id });
  });

  it("DISC-1: a client with every partial and no cache of messages hears all the same", async () => {
    const partials = [Partials.Channel, Partials.Message, Partials.User, Partials.GuildMember];
    const makeCache = Options.cacheWithLimits({ MessageManager: 0, UserManager: 0, GuildMemberManager: 0 });
    const bot = await aBot({ client: { partials, makeCache } });
    const host = await startedWith(bot);
    bot.discord.say("in the server");
    await host.texts(1);
    bot.discord.say("in private", { in: bot.discord.direct });
    await host.texts(2);
    expect(host.messages.map(({ sender, addressed }) => [sender.id, addressed])).toEqual([
      [bot.discord.owner.id, false],
      [bot.discord.owner.id, true],
    ]);
  });
});

describe("discord: several shards on one client", () => {
  it("DISC-1 CMD: every message comes once, the menu is made once, and each shard's connection is reported", async () => {
    const intents = [Guilds, GuildMessages, DirectMessages, MessageContent];
    const bot = await aBot({ login: false, client: { shards: [0, 1], shardCount: 2, intents } });
    const { discord } = bot;
    discord.gateway.maxConcurrency = 2;
    const host = await startedWith(bot, [statusCommand]);
    await logIn(bot.client, discord);
    expect(discord.gateway.connected).toBe(2);
    discord.say("in the server");
    await host.texts(1);
    discord.say("in private", { in: discord.direct });
    expect(await host.texts(2)).toEqual(["in the server", "in private"]);
    expect(host.readyCalls).toBe(2);
    await discord.until(() => discord.commands().list().length === 1, "the menu");
    const calls = [discord.slash("status"), discord.slash("status", { in: discord.direct })];
    await discord.until(() => calls.every(({ state }) => state === "answered"), "both were answered");
    expect(host.commandCalls).toHaveLength(2);
    const writes = discord.requests.filter(
      ({ method, path }) => method === "POST" && path.endsWith("/commands"),
    );
    expect(writes).toHaveLength(1);
  });
});

describe("discord: what becomes of a message later", () => {
  it("DISC-1: an edit and a removal are told after the message, each once", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const host = await startedWith(bot);
    const message = discord.say(`<@${discord.bot.user.id}> helo`);
    discord.edit(message, `<@${discord.bot.user.id}> hello`);
    discord.remove(message);
    await host.until(() => host.changes.length === 2, "both were told");
    const about = { id: message.id, from: placeOf(discord.general.id) };
    expect(host.messages).toHaveLength(1);
    expect(host.changes).toEqual([
      { ...about, change: "edited", text: "hello" },
      { ...about, change: "deleted" },
    ]);
  });

  it("DISC-1: what is edited while it waits for its turn is handed over as it was said: no command is slipped in", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const host = await startedWith(bot);
    const release = host.hold();
    discord.say("first");
    await host.texts(1);
    const waiting = discord.say("hello");
    const edited = new Promise((resolve) => bot.client.once("messageUpdate", resolve));
    discord.edit(waiting, "/send off");
    await edited;
    release();
    expect(await host.texts(2)).toEqual(["first", "hello"]);
    await host.until(() => host.changes.length === 1, "the edit was told");
    expect(host.changes).toMatchObject([{ id: waiting.id, change: "edited", text: "/send off" }]);
  });

  it("DISC-1: several messages that are removed at once are told one by one, in their thread", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const host = await startedWith(bot);
    const thread = discord.addThread(discord.general, "a topic");
    const first = discord.say("one", { in: thread });
    const second = discord.say("two", { in: thread });
    discord.remove(first, second);
    await host.until(() => host.changes.length === 2, "both were told");
    const about = { from: placeOf(discord.general.id, thread.id), change: "deleted" };
    expect(host.changes).toEqual([
      { ...about, id: first.id },
      { ...about, id: second.id },
    ]);
  });

  it("DISC-1: a preview, a pin and what the bot does to its own words are no change", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const host = await startedWith(bot);
    const link = discord.say("see https://example.org");
    discord.gateway.dispatchMessage("MESSAGE_UPDATE", {
      ...link,
      embeds: [{ type: "link", title: "Example" }],
    });
    discord.gateway.dispatchMessage("MESSAGE_UPDATE", { ...link, pinned: true });
    const edited = discord.say("see htps://example.org");
    const now = discord.edit(edited, "see https://example.org");
    discord.gateway.dispatchMessage("MESSAGE_UPDATE", {
      ...now,
      embeds: [{ type: "link", title: "Example" }],
    });
    const own = discord.say("thinking", { by: discord.bot.user });
    discord.edit(own, "thought");
    discord.remove(own);
    const last = discord.say("end");
    discord.remove(last);
    await host.until(() => host.changes.some(({ id }) => id === last.id), "the last one was told");
    expect(host.changes.map(({ id }) => id)).toEqual([edited.id, last.id]);
  });

  it("DISC-1: a message from before the start is told by its id, if the client was made with the partial", async () => {
    const bot = await aBot({ login: false, client: { partials: [Partials.Channel, Partials.Message] } });
    const { discord } = bot;
    const [edited, removed] = [discord.say("old words"), discord.say("old too")];
    const host = await startedWith(bot);
    await logIn(bot.client, discord);
    discord.gateway.dispatchMessage("MESSAGE_UPDATE", { ...edited, embeds: [{ type: "link", title: "x" }] });
    discord.edit(edited, "new words");
    discord.remove(removed);
    await host.until(() => host.changes.length === 2, "both were told");
    const from = placeOf(discord.general.id);
    expect(host.changes).toEqual([
      { id: edited.id, from, change: "edited", text: "new words" },
      { id: removed.id, from, change: "deleted" },
    ]);
  });
});
