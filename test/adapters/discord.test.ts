import { GatewayIntentBits, type Message, Options } from "discord.js";
import { describe, expect, it } from "vitest";
import type { Address } from "../../src/core/ports/chat.ts";
import type { AdapterHarness, Author, Breakage } from "../contracts/adapter-harness.ts";
import { channelAdapterContract } from "../contracts/channel-adapter.contract.ts";
import type { Fault } from "../standins/discord/faults.ts";
import { aBot, type Bot, logIn, makeBot, placeOf, startedWith } from "./discord/bot.ts";

channelAdapterContract("discord", makeHarness, { rateLimit: "waitedOut" });

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
  const { discord, client, adapter } = bot;
  const other = discord.addChannel("other");
  const thread = discord.addThread(discord.general, "a topic");
  const colleague = discord.world.addBot("Other Bot");
  const authors = { person: discord.owner, bot: discord.bot.user, otherBot: colleague.user };
  const roomAt = (at: Address) => discord.world.channel(at.threadId ?? at.chatId);
  return {
    adapter,
    chat: placeOf(discord.general.id),
    otherChat: placeOf(other.id),
    thread: placeOf(discord.general.id, thread.id),
    mentionBait: `@everyone @here <@&${discord.world.addRole("crew")}> <@${discord.owner.id}>`,
    sent: () =>
      discord.sent.map(({ channelId, content, pings }) => ({
        ...(channelId === thread.id
          ? { chatId: discord.general.id, threadId: thread.id }
          : { chatId: channelId }),
        text: content,
        pings,
      })),
    platformSays: (author: Author, text: string, at = placeOf(discord.general.id)) => {
      const said = discord.say(text, { in: roomAt(at), by: authors[author] });
      return emitted(bot, said.id);
    },
    breakNextSend: (kind: Breakage, spared = 0) => {
      discord.faults.next("POST", /^\/channels\/\d+\/messages$/, faults[kind], { spared });
    },
    listeners: () => countListeners(client) + countListeners(client.rest),
    close: bot.close,
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
