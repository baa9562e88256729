import { GatewayIntentBits, type Message, Options } from "discord.js";
import { describe, expect, it } from "vitest";
import { discordAdapter } from "../../src/adapters/discord/index.ts";
import type { Address } from "../../src/core/ports/chat.ts";
import type { AdapterHarness, Author, Breakage, PersonsDeeds } from "../contracts/adapter-harness.ts";
import { channelAdapterContract } from "../contracts/channel-adapter.contract.ts";
import { labels } from "../standins/discord/components.ts";
import type { Fault } from "../standins/discord/faults.ts";
import type { Channel, User } from "../standins/discord/world.ts";
import { aBot, type Bot, logIn, makeBot, makeClient, placeOf, startedWith } from "./discord/bot.ts";
import { file, forwardedFields } from "./discord/payload.ts";

channelAdapterContract("discord", makeHarness, { rateLimit: "waitedOut", hearsAhead: true });

describe("discord: life with the host's client", () => {
  it("DISC-1: started before the login, it works once the host has logged in", async () => {
    const bot = await aBot({ login: false });
    const host = await startedWith(bot);
    await logIn(bot.client, bot.discord);
    bot.discord.say("hello");
    expect(await host.texts(1)).toEqual(["hello"]);
    expect(host.readyCalls).toBeGreaterThan(0);
  });

  it("DISC-1: after a dropped connection missed messages come once and in order, and the core learns that it is back", async () => {
    const bot = await aBot();
    const host = await startedWith(bot);
    bot.discord.say("before");
    await host.texts(1);
    const readyBefore = host.readyCalls;
    bot.discord.gateway.drop(4000);
    bot.discord.say("missed 1");
    bot.discord.say("missed 2");
    await bot.discord.until(() => bot.discord.gateway.connected === 1, "the client resumes");
    bot.discord.say("after");
    expect(await host.texts(4)).toEqual(["before", "missed 1", "missed 2", "after"]);
    expect(host.readyCalls).toBe(readyBefore + 1);
  });

  it("DISC-1: a message that the gateway repeats is handed over once, also by a client that caches nothing", async () => {
    const makeCache = Options.cacheWithLimits({ MessageManager: 0 });
    const bot = await aBot({ client: { makeCache } });
    const host = await startedWith(bot);
    const message = bot.discord.say("once");
    bot.discord.gateway.dispatchMessage("MESSAGE_CREATE", message);
    bot.discord.say("end");
    expect(await host.texts(2)).toEqual(["once", "end"]);
  });

  it("DISC-1 N05: a message that the core could not take is handed over again when the gateway repeats it", async () => {
    const makeCache = Options.cacheWithLimits({ MessageManager: 0 });
    const bot = await aBot({ client: { makeCache } });
    const host = await startedWith(bot);
    host.answer = () => (host.messages.length === 1 ? "failed" : "run");
    const message = bot.discord.say("keep this");
    bot.discord.gateway.dispatchMessage("MESSAGE_CREATE", message);
    bot.discord.say("end");
    expect(await host.texts(3)).toEqual(["keep this", "keep this", "end"]);
  });

  it("DISC-1: a second start adds no listener", async () => {
    const bot = await aBot();
    const host = await startedWith(bot);
    const before = countListeners(bot.client);
    await bot.adapter.start(host);
    expect(countListeners(bot.client)).toBe(before);
  });

  it("DISC-1: when Discord forgets the session, the client identifies again and messages go on", async () => {
    const bot = await aBot();
    const host = await startedWith(bot);
    bot.discord.gateway.forgetSessions();
    // discord.js itself lets five seconds pass between two identifies.
    await bot.discord.until(() => bot.discord.gateway.connected === 1, "a new identify", 15_000);
    bot.discord.say("hello again");
    expect(await host.texts(1)).toEqual(["hello again"]);
  });

  it("DISC-1: stop leaves the host's client logged in and able to write", async () => {
    const bot = await aBot();
    await startedWith(bot);
    await bot.adapter.stop();
    const channel = await bot.client.channels.fetch(bot.discord.general.id);
    if (channel?.isSendable()) await channel.send("from the host");
    expect(bot.discord.sent.map(({ content }) => content)).toEqual(["from the host"]);
  });

  it("DISC-1: it says what is missing when the client was made without a partial or an intent that it needs", async () => {
    const { Guilds, GuildMessages, DirectMessages } = GatewayIntentBits;
    const bot = await aBot({ client: { intents: [Guilds, GuildMessages, DirectMessages], partials: [] } });
    const host = await startedWith(bot);
    const warnings = host.log.map(({ message }) => message).join("\n");
    expect(warnings).toMatch(/MessageContent/);
    expect(warnings).toMatch(/Partials\.Channel/);
  });

  it("DISC-1: the token of the live bot is known as a secret", async () => {
    const bot = await aBot();
    expect(bot.adapter.secrets?.()).toEqual([bot.discord.bot.token]);
  });
});

async function makeHarness(): Promise<AdapterHarness> {
  const bot = await makeBot();
  const { discord } = bot;
  const other = discord.addChannel("other");
  const thread = discord.addThread(discord.general, "a topic");
  const rival = discord.world.addBot("Other Bot");
  const closers: (() => Promise<void>)[] = [];
  const harness = harnessOf(bot, { other, thread, rival: rival.user });
  return {
    ...harness,
    restarted: () => discordAdapter({ client: bot.client }),
    otherAccount: async () => {
      const client = makeClient(discord);
      await logIn(client, discord, rival.token);
      closers.push(() => client.destroy());
      const adapter = discordAdapter({ client, accountId: "second" });
      return harnessOf({ ...bot, client, adapter }, { other, thread, rival: discord.bot.user });
    },
    close: async () => {
      for (const close of [...closers, bot.close]) await close();
    },
  };
}

interface Surroundings {
  readonly other: Channel;
  readonly thread: Channel;
  readonly rival: User;
}

function harnessOf(bot: Bot, { other, thread, rival }: Surroundings): AdapterHarness {
  const { discord, client, adapter } = bot;
  const person = personsDeeds(bot);
  const authors = { person: discord.owner, bot: discord.bot.user, otherBot: rival };
  const roomAt = (at: Address) => discord.world.channel(at.threadId ?? at.chatId);
  return {
    adapter,
    person,
    chat: { ...placeOf(discord.general.id), accountId: adapter.accountId },
    otherChat: placeOf(other.id),
    thread: placeOf(discord.general.id, thread.id),
    mentionBait: `@everyone @here <@&${discord.world.addRole("crew")}> <@${discord.owner.id}>`,
    sent: () =>
      discord.sent.map(({ channelId, content, components, pings }) => ({
        ...(channelId === thread.id
          ? { chatId: discord.general.id, threadId: thread.id }
          : { chatId: channelId }),
        text: content,
        buttons: labels(components),
        pings,
      })),
    platformSays: (author: Author, text: string, at = placeOf(discord.general.id)) => {
      const said = discord.say(text, { in: roomAt(at), by: authors[author] });
      return emitted(bot, said.id);
    },
    breakNextSend: (kind: Breakage, spared = 0) => {
      discord.faults.next("POST", /^\/channels\/\d+\/messages$/, faults[kind], { spared });
    },
    hangNextSend: () => {
      discord.faults.next("POST", /^\/channels\/\d+\/messages$/, {
        kind: "hold",
        until: new Promise(() => {}),
      });
    },
    listeners: () => countListeners(client) + countListeners(client.rest),
    close: bot.close,
  };
}

function personsDeeds(bot: Bot): PersonsDeeds {
  const { discord } = bot;
  const says = async (text: string, options: Parameters<typeof discord.say>[1] = {}) => {
    const message = discord.say(text, options);
    await emitted(bot, message.id);
    return message;
  };
  return {
    attaches: async () => {
      await says("", { fields: { attachments: [file("plan.csv", 1234, { content_type: "text/csv" })] } });
      return { mediaType: "text/csv", sizeBytes: 1234, name: "plan.csv" };
    },
    replies: async (text, original) => void (await says(text, { replyTo: await says(original) })),
    forwards: async (text) => void (await says("", { fields: forwardedFields({ content: text }) })),
    edits: async (text, into) => void discord.edit(await says(text), into),
    removes: async (text) => discord.remove(await says(text)),
  };
}

const faults: Record<Breakage, Fault> = {
  permanent: { kind: "status", status: 403, code: 50013, message: "Missing Permissions" },
  transient: { kind: "drop", when: "before" },
  rateLimit: { kind: "rateLimit", retryAfterSeconds: 0.2 },
  drop: { kind: "drop", when: "after" },
};

/** Resolves when discord.js has called the listeners of a message. */
function emitted({ client }: Bot, id: string): Promise<void> {
  return new Promise((resolve) => {
    const listener = (message: Message) => {
      if (message.id !== id) return;
      client.off("messageCreate", listener);
      resolve();
    };
    client.on("messageCreate", listener);
  });
}

interface Emitter {
  eventNames(): (string | symbol)[];
  listenerCount(name: string | symbol): number;
}

function countListeners(emitter: Emitter): number {
  return emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
}
