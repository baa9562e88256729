import { Client, Events, GatewayIntentBits } from "discord.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { discordAdapter } from "../../src/adapters/discord/index.ts";
import type { SwitchboardEvents } from "../../src/core/ports/events.ts";
import { aBoard, type Board, type BoardOptions } from "../fakes/a-board.ts";
import { at, memoryAdapter } from "../fakes/memory-adapter.ts";
import { startDiscord } from "../standins/discord.ts";

const ROOM = at("discord", "channel", "222");
const RIVAL = { id: "77", name: "Rival", isBot: true };
const BETA = { id: "502", name: "Beta", isBot: true };
const allowed = (more: object = {}) => ({ channels: { discord: { bots: "allow" as const, ...more } } });

/** A board with two accounts on one platform, which hear each other. */
async function twoAccounts(options: BoardOptions = {}) {
  const alpha = memoryAdapter("discord", { accountId: "alpha", botId: "501" });
  const beta = memoryAdapter("discord", { accountId: "beta", botId: BETA.id });
  const board = await aBoard({ ...options, adapters: [alpha, beta] });
  const heard: SwitchboardEvents["message.accepted"][] = [];
  const paused: SwitchboardEvents["bot.paused"][] = [];
  board.on("message.accepted", (event) => heard.push(event));
  board.on("bot.paused", (event) => paused.push(event));
  return { board, alpha, beta, heard, paused };
}

const inRoom = (accountId: string, chatId = ROOM.chatId) => ({ ...ROOM, accountId, chatId });

async function rowCount(board: Board): Promise<number> {
  const { sessions } = await board.gateway.call("sessions.list", {});
  // Rows of a list.
  return (sessions as readonly unknown[]).length;
}

describe("messages of other bots", () => {
  it("IN-1 N09: they make no session, no context and no answer by default, and the event says why", async () => {
    const { board, alpha, heard } = await twoAccounts();
    const from = inRoom("alpha");
    expect(await alpha.says("@alpha hi", { from, sender: RIVAL })).toBe("ignored");
    await board.quiet();
    expect(await rowCount(board)).toBe(0);
    await alpha.says("@alpha what was said?", { from });
    await alpha.says("overhear me", { from, sender: RIVAL, addressed: false });
    await alpha.says("@alpha and now?", { from });
    await board.quiet();
    expect(JSON.stringify(board.agents.main?.turns.at(-1)?.input)).not.toContain("overhear");
    expect(heard.map(({ acceptance, reason }) => [acceptance, reason])).toEqual([
      ["ignored", 'channels.discord.bots is "ignore"'],
      ["run", undefined],
      ["ignored", 'channels.discord.bots is "ignore"'],
      ["run", undefined],
    ]);
  });

  it("IN-1: every message that is ignored has a reason", async () => {
    const { board, alpha, heard } = await twoAccounts({
      config: { channels: { discord: { groupContext: 0 } } },
    });
    const stranger = { id: "9", isBot: false };
    await alpha.says("hi", { from: { ...inRoom("alpha"), chatType: "direct" }, sender: stranger });
    await alpha.says("to nobody", { from: inRoom("alpha"), addressed: false });
    await alpha.says("/status", { from: inRoom("alpha"), replay: true });
    await board.quiet();
    expect(heard.map(({ acceptance, reason }) => [acceptance, reason])).toEqual([
      ["ignored", 'session.dmScope is "main", so only owners and linked people may write directly'],
      ["ignored", "it is not for the bot, and channels.discord.groupContext is 0"],
      ["ignored", "a command from before the bot was there"],
    ]);
  });
});

describe("what accounts of one installation post", () => {
  it("IN-1 N09: it is input for none of them, though other bots are allowed, and nobody has to be mentioned", async () => {
    const { board, alpha, heard } = await twoAccounts({ config: allowed({ requireMention: false }) });
    const from = inRoom("alpha");
    await alpha.says("hi", { from });
    await board.quiet();
    expect(await alpha.says("@alpha Status: done", { from, sender: BETA })).toBe("ignored");
    expect(await alpha.says("@alpha Status: done", { from, sender: RIVAL })).toBe("run");
    await board.quiet();
    expect(heard[1]?.reason).toBe("an account of this installation posted it");
    expect(board.agents.main?.turns).toHaveLength(2);
  });

  it("IN-1 N09: it starts no counting, so that the limit is there for others", async () => {
    const { board, alpha, paused } = await twoAccounts({ config: allowed({ botLoop: { maxMessages: 1 } }) });
    for (let n = 0; n < 30; n++) await alpha.says("again", { from: inRoom("alpha"), sender: BETA });
    await board.quiet();
    expect(paused).toEqual([]);
  });

  it("IN-1 N09 N11: two real bots that greet each other in one channel answer a person once each, and then nobody", async () => {
    const discord = await startDiscord();
    const second = discord.world.addBot("Second Bot");
    const clients = [discord.bot.token, second.token].map(() => aClient(discord.restUrl));
    const adapters = clients.map((client, n) =>
      discordAdapter({ client, accountId: ["one", "two"][n] ?? "" }),
    );
    const board = await aBoard({
      adapters,
      config: {
        ...allowed({ requireMention: false }),
        bindings: [
          { agentId: "left", match: { channel: "discord", accountId: "one" } },
          { agentId: "right", match: { channel: "discord", accountId: "two" } },
        ],
      },
      agents: {
        left: () => `<@${second.user.id}> hello from the left`,
        right: () => `<@${discord.bot.user.id}> hello from the right`,
      },
    });
    const heard: string[] = [];
    board.on("message.accepted", ({ acceptance, reason }) => heard.push(reason ?? acceptance));
    onTestFinished(async () => {
      await board.close({ graceMs: 0 });
      await Promise.all(clients.map((client) => client.destroy()));
      await discord.close();
    });
    await Promise.all(clients.map((client, n) => logIn(client, [discord.bot.token, second.token][n] ?? "")));
    discord.say("good morning");
    await discord.until(() => discord.sent.length === 2, "both bots have answered");
    await expect.poll(() => heard.length).toBe(4);
    await board.quiet();
    expect(discord.sent.map(({ content }) => content).sort()).toEqual(
      [`<@${discord.bot.user.id}> hello from the right`, `<@${second.user.id}> hello from the left`].sort(),
    );
    expect([...heard].sort()).toEqual([
      "an account of this installation posted it",
      "an account of this installation posted it",
      "run",
      "run",
    ]);
  });
});

describe("bots that answer each other", () => {
  /** Another bot that answers whatever it is answered, until nobody answers it any more. */
  async function pingPong({ board, alpha }: Awaited<ReturnType<typeof twoAccounts>>, most: number) {
    for (let n = 0; n < most; n++) {
      const acceptance = await alpha.says(`ping ${n}`, { from: inRoom("alpha"), sender: RIVAL });
      if (acceptance !== "run") return n;
      await board.quiet();
    }
    return most;
  }

  it("IN-1 N09: after twenty messages in a minute, both counted, the other bot is ignored for a minute, told once", async () => {
    const setting = await twoAccounts({ config: allowed() });
    const { board, alpha, heard, paused } = setting;
    expect(await pingPong(setting, 40)).toBe(10);
    expect(alpha.sent).toHaveLength(10);
    const from = inRoom("alpha");
    await alpha.says("ping", { from, sender: RIVAL });
    await board.quiet();
    expect(heard.at(-1)?.reason).toBe("too many messages between two bots, see channels.discord.botLoop");
    expect(paused).toEqual([
      { from, botId: RIVAL.id, untilMs: board.clock.now() + 60_000, atMs: board.clock.now() },
    ]);
    expect(board.complaints.filter((line) => line.includes("two bots"))).toHaveLength(1);
    await board.clock.advance(59_999);
    expect(await alpha.says("ping", { from, sender: RIVAL })).toBe("ignored");
    await board.clock.advance(1);
    expect(await alpha.says("ping", { from, sender: RIVAL })).toBe("run");
  });

  it("IN-1 N09: other rooms, threads, bots, accounts and people are heard meanwhile", async () => {
    const setting = await twoAccounts({ config: allowed({ botLoop: { maxMessages: 2, pauseSeconds: 5 } }) });
    const { alpha, beta, board } = setting;
    expect(await pingPong(setting, 40)).toBe(1);
    const from = inRoom("alpha");
    expect(await alpha.says("hi", { from, sender: { ...RIVAL, id: "78" } })).toBe("run");
    expect(await alpha.says("hi", { from: inRoom("alpha", "333"), sender: RIVAL })).toBe("run");
    expect(await alpha.says("hi", { from: { ...from, threadId: "4" }, sender: RIVAL })).toBe("run");
    expect(await beta.says("hi", { from: inRoom("beta"), sender: RIVAL })).toBe("run");
    for (let n = 0; n < 30; n++) expect(await alpha.says("hi", { from })).toBe("run");
    expect(await alpha.says("hi", { from, sender: RIVAL })).toBe("ignored");
    await board.clock.advance(5000);
    expect(await alpha.says("hi", { from, sender: RIVAL })).toBe("run");
  });

  it("IN-1 N09: what is said slowly goes on for ever", async () => {
    const setting = await twoAccounts({ config: allowed() });
    for (let n = 0; n < 40; n++) {
      expect(await pingPong(setting, 1)).toBe(1);
      await setting.board.clock.advance(6001);
    }
    expect(setting.paused).toEqual([]);
  });

  it("IN-1 N09: what is handed over again counts once, and is never what a bot is paused for", async () => {
    const { alpha, board, paused } = await twoAccounts({ config: allowed({ botLoop: { maxMessages: 2 } }) });
    const ping = { from: inRoom("alpha"), sender: RIVAL, id: "ping" };
    expect(await alpha.says("ping", ping)).toBe("run");
    await board.quiet();
    for (let n = 0; n < 30; n++) expect(await alpha.says("ping", ping)).toBe("duplicate");
    expect(paused).toEqual([]);
    expect(await alpha.says("pong", { from: inRoom("alpha"), sender: RIVAL })).toBe("ignored");
    expect(paused).toHaveLength(1);
  });

  it("IN-1 N09: a feed that nobody answers is context, however much it says", async () => {
    const { alpha, heard, paused } = await twoAccounts({ config: allowed() });
    for (let n = 0; n < 40; n++) {
      await alpha.says(`news ${n}`, { from: inRoom("alpha"), sender: RIVAL, addressed: false });
    }
    expect(heard.map(({ acceptance }) => acceptance)).toEqual(Array(40).fill("context"));
    expect(paused).toEqual([]);
  });
});

function aClient(api: string): Client {
  const { Guilds, GuildMessages, MessageContent } = GatewayIntentBits;
  return new Client({ intents: [Guilds, GuildMessages, MessageContent], rest: { api, version: "10" } });
}

async function logIn(client: Client, token: string): Promise<void> {
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(token);
  await ready;
}
