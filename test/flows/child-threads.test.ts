import { Client, Events, GatewayIntentBits } from "discord.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { discordAdapter } from "../../src/adapters/discord/index.ts";
import type { Address } from "../../src/core/ports/chat.ts";
import { aBot as aDiscordBot, logIn } from "../adapters/discord/bot.ts";
import { aBot as aTelegramBot, FORUM, GROUP } from "../adapters/telegram/bot.ts";
import { aBoard, type Board, type BoardOptions, LEASE_MS, type Script, use } from "../fakes/a-board.ts";
import { childrenOf, eventsIn, pass } from "../fakes/a-family.ts";
import { hangs } from "../fakes/a-spawner.ts";
import type { Answer } from "../fakes/asking.ts";
import { fakeClock } from "../fakes/fake-clock.ts";
import { gate } from "../fakes/gate.ts";
import { at, type MemoryAdapter, memoryAdapter } from "../fakes/memory-adapter.ts";
import { type BotAccount, type Channel, channelTypes } from "../standins/discord/world.ts";
import type { DiscordStandin } from "../standins/discord.ts";
import type { TelegramStandIn } from "../standins/telegram/telegram-stand-in.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const ROOM = at("discord", "channel", "100");
const ROOM_KEY = "agent:main:discord:channel:100";
const THREAD = at("discord", "channel", "100", "thread-1");
const THREAD_KEY = `${ROOM_KEY}:thread:thread-1`;
const SECRET = "tok-AAAABBBBCCCCDDDDEEEEFFFF11112222";
const GUEST = { id: "2002", name: "Gus", isBot: false };
const ANY_CHILD = expect.stringMatching(/^agent:main:subagent:[0-9a-f-]{36}$/);

/** Carries out the sessions_spawn that somebody writes as JSON; children give back the last line of what they are told. */
function spawning(child: Script = ({ text }) => `child: ${lastLine(text)}`) {
  const answers: Answer[] = [];
  const script: Script = async (turn) => {
    if (turn.request.depth > 0) return child(turn);
    if (!turn.text.includes("{")) return `main: ${lastLine(turn.text)}`;
    answers.push(await turn.call("sessions_spawn", JSON.parse(turn.text.slice(turn.text.indexOf("{")))));
    return "asked";
  };
  return { script, answers };
}

/** Without the speaker's name, which rooms put in front. */
function lastLine(text: string): string {
  return (text.split("\n").at(-1) ?? "").replace(/^\w+: /, "");
}

/** A board on platforms in memory. Somebody asks for a child in the room. */
async function inMemory(options: BoardOptions & { readonly child?: Script } = {}) {
  const { child, ...rest } = options;
  const { script, answers } = spawning(child);
  const board = await aBoard({ agents: { main: script }, ...rest });
  return { board, answers, asks: (input: object, from = ROOM) => asks(board, input, from) };
}

async function asks(board: Board, input: object, from: Address): Promise<void> {
  const platform =
    from.channel === "whatsapp" ? board.whatsapp : board[from.channel === "discord" ? "discord" : "telegram"];
  await platform.says(JSON.stringify({ task: "Look", thread: true, ...input }), { from });
  await board.quiet();
}

/** A board on a real discord.js client. */
async function onDiscord(options: BoardOptions & { readonly child?: Script } = {}) {
  const bot = await aDiscordBot();
  const { discord } = bot;
  const { child, ...rest } = options;
  const { script, answers } = spawning(child);
  const board = await aBoard({
    adapters: [bot.adapter],
    owners: { discord: [discord.owner.id] },
    agents: { main: script },
    ...rest,
  });
  const ask = (input: object, room = discord.general) =>
    discord.say(`<@${discord.bot.user.id}> ${JSON.stringify({ task: "Look", thread: true, ...input })}`, {
      in: room,
    });
  return { ...bot, board, answers, ask };
}

/** A board on a real grammY bot. */
async function onTelegram(options: BoardOptions = {}) {
  const { telegram, adapter, poll } = await aTelegramBot();
  const { script, answers } = spawning();
  const board = await aBoard({
    adapters: [adapter],
    owners: { telegram: [1001] },
    agents: { main: script },
    ...options,
  });
  await poll();
  const ask = (input: object, chat = FORUM, threadId?: number) =>
    telegram.say(`@agent_test_bot ${JSON.stringify({ task: "Look", thread: true, ...input })}`, {
      chat,
      ...(threadId === undefined ? {} : { threadId }),
    });
  return { telegram, board, answers, ask };
}

/** The thread that the first answered spawn has. */
function threadOf(answers: readonly Answer[]): string {
  // The shape that sessions_spawn documents.
  const thread = answers[0]?.thread as { readonly threadId: string } | undefined;
  return thread?.threadId ?? "none";
}

function saidIn(discord: DiscordStandin, channelId: string): readonly string[] {
  return discord.sent.filter((one) => one.channelId === channelId).map(({ content }) => content);
}

function inThread(discord: DiscordStandin, answers: readonly Answer[]): Channel {
  return discord.world.channel(threadOf(answers));
}

function saidInTopic(telegram: TelegramStandIn, threadId: number | undefined): readonly string[] {
  return telegram.sent.filter((one) => one.threadId === threadId).map(({ text }) => text);
}

/** Time in which nobody looks at the clock: far quicker than to let every timer of it fire. */
async function later(board: Board, ms: number): Promise<void> {
  board.clock.skip(ms - MINUTE_MS);
  await board.clock.advance(MINUTE_MS);
  await board.quiet();
}

function sentTo(board: Board, threadId: string | undefined): readonly string[] {
  return board.discord.sent.filter(({ to }) => to.threadId === threadId).map(({ text }) => text);
}

interface Row {
  readonly role: string;
  readonly content: readonly { readonly text?: string }[];
  readonly provenance?: { readonly sourceTool?: string };
}

async function rowsOf(board: Board, sessionKey: string): Promise<readonly Row[]> {
  const { messages } = await board.gateway.call("chat.history", { sessionKey });
  // The shape that sessions_history documents.
  return messages as readonly Row[];
}

async function textsOf(board: Board, sessionKey: string): Promise<readonly string[]> {
  return (await rowsOf(board, sessionKey)).map(({ content }) => content[0]?.text ?? "");
}

async function keysOf(board: Board): Promise<readonly unknown[]> {
  const { sessions } = await board.gateway.call("sessions.list", {});
  // The shape that sessions_list documents.
  return (sessions as readonly { readonly key: string }[]).map(({ key }) => key);
}

describe("a child with a Discord thread", () => {
  it("SPAWN-7: answers there, hears whoever writes there without a mention, and its requester has one event and no second post", async () => {
    const { discord, board, answers, ask } = await onDiscord();
    const told = board.next("child.told");
    ask({ task: "Fix the door", label: "Door" });
    await told;
    const thread = inThread(discord, answers);
    await discord.until(() => saidIn(discord, thread.id).length === 1, "the child answered in its thread");
    expect(answers).toEqual([
      expect.objectContaining({
        status: "accepted",
        childSessionKey: ANY_CHILD,
        thread: { channel: "discord", threadId: thread.id },
      }),
    ]);
    expect(thread).toMatchObject({
      type: channelTypes.publicThread,
      parent_id: discord.general.id,
      name: "Door",
    });
    discord.say("And the window?", { in: thread, by: discord.addUser("Gus") });
    await discord.until(() => saidIn(discord, thread.id).length === 2, "the child answered a person");
    await board.quiet();
    expect(saidIn(discord, thread.id)).toEqual(["child: Fix the door", "child: And the window?"]);
    expect(saidIn(discord, discord.general.id)).toEqual(["asked"]);
    const events = (await rowsOf(board, `agent:main:discord:channel:${discord.general.id}`)).filter(
      ({ provenance }) => provenance?.sourceTool === "sessions_spawn",
    );
    expect(events).toHaveLength(1);
    expect(events[0]?.content[0]?.text).toContain("Fix the door");
  });

  it("SPAWN-7: is found by the thread's key, by its bare id and in the list, with what was said in the thread", async () => {
    const { discord, board, answers, ask } = await onDiscord();
    ask({ task: "Fix the door" });
    await discord.until(() => discord.sent.length === 2, "the child answered");
    const { id } = inThread(discord, answers);
    discord.say("And the window?", { in: inThread(discord, answers) });
    await discord.until(() => saidIn(discord, id).length === 2, "the child answered a person");
    await board.quiet();
    const room = `agent:main:discord:channel:${discord.general.id}`;
    const child = String(answers[0]?.childSessionKey);
    expect(await keysOf(board)).toEqual(expect.arrayContaining([room, child]));
    const asked = async (sessionKey: string) => use(board, room, "sessions_history", { sessionKey });
    const byChild = await asked(child);
    expect(JSON.stringify(byChild)).toContain("And the window?");
    expect(await asked(`${room}:thread:${id}`)).toEqual(byChild);
    expect(await asked(`discord:channel:${id}`)).toEqual(byChild);
  });

  it("SPAWN-7: opens beside the thread in which it is asked for, and as a post in a forum", async () => {
    const { discord, answers, ask } = await onDiscord();
    const inside = discord.addThread(discord.general, "a talk");
    ask({ task: "Look   into\nthis" }, inside);
    await discord.until(() => discord.sent.length === 2, "the first child answered");
    const beside = inThread(discord, answers);
    expect(beside).toMatchObject({ parent_id: discord.general.id, name: "Look into this" });
    expect(beside.id).not.toBe(inside.id);
    expect(saidIn(discord, inside.id)).toEqual(["asked"]);

    const forum = discord.addChannel("ideas", channelTypes.forum);
    ask({ task: "Again", label: "An idea" }, discord.addThread(forum, "a post"));
    await discord.until(() => discord.sent.length === 5, "the second child answered");
    const post = inThread(discord, answers.slice(1));
    expect(post).toMatchObject({ parent_id: forum.id, type: channelTypes.publicThread, name: "An idea" });
    // The post begins with its title; Discord wants some words there.
    expect(saidIn(discord, post.id)).toEqual(["An idea", "child: Again"]);
    discord.say("go on", { in: post });
    await discord.until(() => discord.sent.length === 6, "the second child answered a person");
    expect(saidIn(discord, post.id).at(-1)).toBe("child: go on");
  });

  it("SPAWN-7: a refusal of Discord leaves no session and no place behind, and says which permission is missing", async () => {
    const { discord, board, answers, ask } = await onDiscord({
      config: { agents: { defaults: { subagents: { maxChildrenPerAgent: 1, maxSpawnsPerHour: 1 } } } },
    });
    const refusal = { kind: "status", status: 403, code: 50013, message: "Missing Permissions" } as const;
    discord.faults.next("POST", /\/threads$/, refusal);
    ask({});
    await discord.until(() => discord.sent.length === 1, "the requester answered");
    expect(answers[0]).toMatchObject({
      status: "error",
      code: "THREAD_UNAVAILABLE",
      error: expect.stringContaining("Create Public Threads"),
    });
    expect(await keysOf(board)).toEqual([`agent:main:discord:channel:${discord.general.id}`]);
    ask({});
    await discord.until(() => discord.sent.length === 3, "the second try works");
    expect(answers[1]).toMatchObject({ status: "accepted" });
  });

  it("SPAWN-7: belongs to its child whichever agent the roles of a person would choose", async () => {
    const { script, answers } = spawning();
    const bot = await aDiscordBot({ login: false });
    const { discord } = bot;
    const mo = discord.addUser("Mo");
    const role = discord.world.addRole("Helpers", mo);
    await logIn(bot.client, discord);
    const other: Script = ({ text }) => `helper: ${lastLine(text)}`;
    const board = await aBoard({
      adapters: [bot.adapter],
      agents: { main: script, helper: other },
      config: {
        agents: { list: [{ id: "main", default: true }, { id: "helper" }] },
        bindings: [
          { agentId: "helper", match: { channel: "discord", guildId: discord.world.guildId, roles: [role] } },
        ],
      },
    });
    discord.say(`<@${discord.bot.user.id}> ${JSON.stringify({ task: "Look", thread: true })}`);
    await discord.until(() => discord.sent.length === 2, "the child answered");
    const thread = inThread(discord, answers);
    discord.say(`<@${discord.bot.user.id}> who is there?`, { by: mo });
    await discord.until(
      () => saidIn(discord, discord.general.id).length === 2,
      "the helper answered in the room",
    );
    discord.say("who is here?", { in: thread, by: mo });
    await discord.until(() => saidIn(discord, thread.id).length === 2, "somebody answered in the thread");
    await board.quiet();
    expect(saidIn(discord, discord.general.id).at(-1)).toBe("helper: who is there?");
    expect(saidIn(discord, thread.id)).toEqual(["child: Look", "child: who is here?"]);
  });

  it("SPAWN-7: is answered once where two bots of one board read the same thread", async () => {
    const bot = await aDiscordBot();
    const { discord } = bot;
    const second = discord.world.addBot("Second Bot");
    const client = await loggedIn(discord, second);
    const { script, answers } = spawning();
    const board = await aBoard({
      adapters: [bot.adapter, discordAdapter({ client, accountId: "second" })],
      owners: { discord: [discord.owner.id] },
      agents: { main: script, helper: () => "helper" },
      config: {
        agents: { list: [{ id: "main", default: true }, { id: "helper" }] },
        bindings: [{ agentId: "helper", match: { channel: "discord", accountId: "second" } }],
      },
    });
    discord.say(`<@${discord.bot.user.id}> ${JSON.stringify({ task: "Look", thread: true })}`);
    await discord.until(() => discord.sent.length === 2, "the child answered");
    const thread = inThread(discord, answers);
    const [one, other] = [
      board.next("message.accepted", ({ from }) => from.accountId === "default"),
      board.next("message.accepted", ({ from }) => from.accountId === "second"),
    ];
    discord.say(`<@${second.user.id}> and you?`, { in: thread });
    expect([(await one).acceptance, (await other).acceptance]).toEqual(["run", "ignored"]);
    await discord.until(() => saidIn(discord, thread.id).length === 2, "the child answered a person");
    await board.quiet();
    expect(saidIn(discord, thread.id)).toHaveLength(2);
    const heard = await textsOf(board, String(answers[0]?.childSessionKey));
    expect(heard.filter((text) => text.startsWith("<@"))).toHaveLength(1);
  });

  it("SPAWN-7: an owner's /send off in the thread silences the thread alone; a guest's does nothing", async () => {
    const { discord, board, answers, ask } = await onDiscord();
    ask({});
    await discord.until(() => discord.sent.length === 2, "the child answered");
    const thread = inThread(discord, answers);
    const guest = board.next("message.accepted");
    discord.say("/send off", { in: thread, by: discord.addUser("Gus") });
    expect((await guest).acceptance).toBe("command");
    discord.say("still there?", { in: thread });
    await discord.until(() => saidIn(discord, thread.id).length === 2, "the child goes on");

    discord.say("/send off", { in: thread });
    await discord.until(() => saidIn(discord, thread.id).length === 3, "the command was answered");
    const silenced = board.next("delivery.settled", ({ state }) => state === "suppressed");
    discord.say("and now?", { in: thread });
    await silenced;
    discord.say(`<@${discord.bot.user.id}> you?`);
    await discord.until(() => saidIn(discord, discord.general.id).length === 2, "the room goes on");
    expect(saidIn(discord, thread.id).at(-2)).toBe("child: still there?");
    expect(saidIn(discord, discord.general.id).at(-1)).toBe("main: you?");
    const child = String(answers[0]?.childSessionKey);
    const { sessions } = await board.gateway.call("sessions.list", {});
    expect(sessions).toEqual(
      expect.arrayContaining([expect.objectContaining({ key: child, sendPolicy: "deny" })]),
    );
    expect(await textsOf(board, child)).toContain("child: and now?");

    await discord.until(() => discord.commands().find("send") !== undefined, "the bot registered /send");
    const call = discord.slash("send", { options: { mode: "on" }, in: thread });
    await discord.until(() => call.answers.length > 0, "the native command was answered");
    discord.say("and again?", { in: thread });
    await discord.until(() => saidIn(discord, thread.id).at(-1) === "child: and again?", "the thread speaks");
  });
});

async function loggedIn(discord: DiscordStandin, { token }: BotAccount): Promise<Client> {
  const { Guilds, GuildMessages, MessageContent } = GatewayIntentBits;
  const client = new Client({
    intents: [Guilds, GuildMessages, MessageContent],
    rest: { api: discord.restUrl, version: "10" },
  });
  onTestFinished(() => client.destroy());
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(token);
  await ready;
  return client;
}

describe("a child with a Telegram topic", () => {
  it.each([
    ["in General", undefined],
    ["in another topic", 7],
  ])(
    "SPAWN-7: asked for %s, it has a topic of its own, answers there and hears whoever writes there",
    async (_, threadId) => {
      const { telegram, board, answers, ask } = await onTelegram();
      const told = board.next("child.told");
      ask({ task: "Fix the door", label: "Door" }, FORUM, threadId);
      await told;
      await telegram.until(() => telegram.sent.length === 2, "the child answered");
      const topic = Number(threadOf(answers));
      expect(telegram.calls.filter(({ method }) => method === "createForumTopic")).toEqual([
        { method: "createForumTopic", payload: { chat_id: FORUM.id, name: "Door" } },
      ]);
      telegram.say("And the window?", {
        chat: FORUM,
        threadId: topic,
        from: { id: 2002, is_bot: false, first_name: "Gus" },
      });
      await telegram.until(() => telegram.sent.length === 3, "the child answered a person");
      await board.quiet();
      expect(saidInTopic(telegram, topic)).toEqual(["child: Fix the door", "child: And the window?"]);
      expect(saidInTopic(telegram, threadId)).toEqual(["asked"]);
      const room = `agent:main:telegram:group:${FORUM.id}:topic:${threadId ?? 1}`;
      const events = (await rowsOf(board, room)).filter(
        ({ provenance }) => provenance?.sourceTool === "sessions_spawn",
      );
      expect(events).toHaveLength(1);
      const byTopic = await textsOf(board, `agent:main:telegram:group:${FORUM.id}:topic:${topic}`);
      expect(byTopic).toEqual(await textsOf(board, String(answers[0]?.childSessionKey)));
      expect(byTopic.at(-1)).toBe("child: And the window?");
    },
  );

  it.each([
    ["the bot may not manage topics", FORUM, false, "Manage Topics"],
    ["the group is no forum", GROUP, true, "turn on topics"],
  ])(
    "SPAWN-7: where %s nothing is left behind, and the answer says what to do",
    async (_, chat, mayManageTopics, words) => {
      const { telegram, board, answers, ask } = await onTelegram({
        config: { agents: { defaults: { subagents: { maxChildrenPerAgent: 1, maxSpawnsPerHour: 1 } } } },
      });
      telegram.room(chat).mayManageTopics = mayManageTopics;
      ask({}, chat);
      await telegram.until(() => telegram.sent.length === 1, "the requester answered");
      expect(answers[0]).toMatchObject({
        status: "error",
        code: "THREAD_UNAVAILABLE",
        error: expect.stringContaining(words),
      });
      expect(await keysOf(board)).toHaveLength(1);
      ask({ thread: false }, chat);
      await telegram.until(() => telegram.sent.length >= 2, "the requester answered again");
      expect(answers[1]).toMatchObject({ status: "accepted" });
    },
  );
});

describe("where a child can have no thread", () => {
  const OFF = { session: { threadBindings: { enabled: false } } };
  const GLOBAL = { session: { scope: "global" as const } };
  it.each([
    ["a direct chat", at("discord", "direct", "1001"), {}, "Direct chats have no threads."],
    ["a private Telegram chat", at("telegram", "direct", "1001"), {}, "Direct chats have no threads."],
    ["a WhatsApp group", at("whatsapp", "group", "7@g.us"), {}, "whatsapp has no threads."],
    ["session.scope global", ROOM, GLOBAL, 'session.scope "global"'],
    ["threadBindings.enabled false", ROOM, OFF, "session.threadBindings.enabled"],
  ])("SPAWN-7: %s is refused in a clear sentence, and nothing is made", async (_, from, config, words) => {
    const { board, answers, asks } = await inMemory({
      config: {
        ...config,
        agents: { defaults: { subagents: { maxChildrenPerAgent: 1, maxSpawnsPerHour: 1 } } },
      },
    });
    await asks({}, from);
    expect(answers).toEqual([
      { status: "error", code: "THREAD_UNAVAILABLE", error: expect.stringContaining(words) },
    ]);
    expect(answers[0]?.error).toMatch(/ Spawn without thread: true\.$/);
    expect((await keysOf(board)).length).toBeLessThanOrEqual(1);
    expect([...board.discord.threads, ...board.telegram.threads]).toEqual([]);
    await asks({ thread: false }, from);
    expect(answers[1]).toMatchObject({ status: "accepted" });
  });

  it("SPAWN-7: a session without a chat is refused", async () => {
    const { board, answers } = await inMemory();
    await board.gateway.call("agent", { agentId: "main", message: '{"task":"Look","thread":true}' });
    await board.quiet();
    expect(answers).toEqual([
      {
        status: "error",
        code: "THREAD_UNAVAILABLE",
        error: "This session has no chat. Spawn without thread: true.",
      },
    ]);
  });

  it("SPAWN-7 POL-3: a silenced chat gets no thread, as nothing may leave", async () => {
    const { board, answers, asks } = await inMemory();
    await board.discord.says("/send off", { from: ROOM });
    await board.quiet();
    await asks({});
    expect(answers).toMatchObject([
      { code: "THREAD_UNAVAILABLE", error: expect.stringContaining("/send off") },
    ]);
    expect(board.discord.threads).toEqual([]);
  });

  it("SPAWN-7 SPAWN-6: where all places are taken no thread is opened", async () => {
    const slow = gate();
    const { board, answers, asks } = await inMemory({
      config: { agents: { defaults: { subagents: { maxChildrenPerAgent: 1 } } } },
      child: ({ signal }) => slow.pass(signal).then(() => "done"),
    });
    await asks({});
    await asks({});
    expect(answers).toMatchObject([{ status: "accepted" }, { status: "forbidden", code: "SPAWN_LIMIT" }]);
    expect(board.discord.threads).toEqual(["Look"]);
    slow.open();
  });

  it("SPAWN-7 SPAWN-2: a label that is in use is refused before a thread is opened", async () => {
    const { board, answers, asks } = await inMemory();
    await asks({ thread: false });
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "Door" });
    await asks({ label: "Door" });
    expect(answers[1]).toMatchObject({ status: "error", code: "LABEL_IN_USE" });
    expect(board.discord.threads).toEqual([]);
  });
});

it("POL-2 SPAWN-7: an owner who silences the room has silenced the threads of its children, unless one is switched on itself", async () => {
  const { board, asks } = await inMemory();
  await asks({});
  const before = board.discord.sent.length;
  await board.discord.says("/send off", { from: ROOM });
  await board.discord.says("still there?", { from: THREAD });
  await board.quiet();
  expect(board.discord.sent.slice(before).map(({ text }) => text)).toEqual([
    expect.stringContaining("Sending is off"),
  ]);
  await board.discord.says("/send on", { from: THREAD });
  await board.discord.says("and now?", { from: THREAD });
  await board.quiet();
  expect(board.discord.sent.at(-1)).toMatchObject({ to: THREAD, text: "child: and now?" });
});

it("SPAWN-7 RUN-1: what people write while the child is at work waits for it, in order, and is no second task", async () => {
  const slow = gate();
  const child: Script = async ({ text, request, signal }) => {
    if (request.trigger === "spawn") await slow.pass(signal);
    return `${request.trigger}: ${lastLine(text)}`;
  };
  const { board, asks } = await inMemory({ child });
  await asks({});
  await slow.reached;
  for (const text of ["one", "two"]) {
    await board.discord.says(text, { from: THREAD, sender: GUEST, addressed: false });
  }
  await board.quiet();
  expect(sentTo(board, "thread-1")).toEqual([]);
  slow.open();
  await board.quiet();
  expect(sentTo(board, "thread-1")).toEqual(["spawn: Look", "user: one", "user: two"]);
  const rows = await rowsOf(board, ROOM_KEY);
  expect(rows.filter(({ provenance }) => provenance?.sourceTool === "sessions_spawn")).toHaveLength(1);
});

it("SPAWN-7: a message from the thread, of which the room is not known at the moment, is for the child, and later for the thread's session", async () => {
  const bare = at("discord", "channel", "thread-1");
  const { board, answers, asks } = await inMemory();
  await asks({});
  await board.discord.says("one", { from: bare, addressed: false });
  await board.quiet();
  expect((await textsOf(board, THREAD_KEY)).at(-1)).toBe("child: one");
  await board.gateway.call("sessions.patch", {
    sessionKey: String(answers[0]?.childSessionKey),
    archived: true,
  });
  await board.discord.says("two", { from: THREAD });
  await board.discord.says("three", { from: bare });
  await board.quiet();
  expect(await textsOf(board, THREAD_KEY)).toEqual(["two", "main: two", "three", "main: three"]);
});

describe("what a child with a thread knows", () => {
  const said = (board: Board) => JSON.stringify(board.agents.main?.turns.at(-1)?.history ?? []);

  it("SPAWN-8: its requester's talk up to the spawn, by default", async () => {
    const { board, asks } = await inMemory();
    await board.discord.says("the secret is 42", { from: ROOM });
    await board.quiet();
    await asks({});
    expect(said(board)).toContain("the secret is 42");
    expect(said(board)).toContain('\\"task\\":\\"Look\\"');
    const own = await textsOf(board, THREAD_KEY);
    expect(own.slice(0, 2)).toEqual(["the secret is 42", "main: the secret is 42"]);
    expect(own.at(-1)).toBe("child: Look");
    // A copy: what is said in the thread is not said in the room.
    await board.discord.says("only here", { from: THREAD, addressed: false });
    await board.quiet();
    expect(await textsOf(board, ROOM_KEY)).not.toContain("only here");
  });

  it.each([
    ["the call says isolated", {}, { context: "isolated" }],
    [
      "the config says isolated",
      { session: { threadBindings: { defaultSpawnContext: "isolated" as const } } },
      {},
    ],
    [
      "it is another agent",
      {
        agents: {
          list: [{ id: "main", default: true, subagents: { allowAgents: ["helper"] } }, { id: "helper" }],
        },
      },
      { agentId: "helper" },
    ],
  ])("SPAWN-8: its task alone where %s", async (_, config, input) => {
    const { script } = spawning();
    const board = await aBoard({ config, agents: { main: script, helper: () => "helper" } });
    await board.discord.says("the secret is 42", { from: ROOM });
    await board.quiet();
    await asks(board, input, ROOM);
    expect(await textsOf(board, THREAD_KEY)).toEqual(["Look", expect.any(String)]);
    expect(JSON.stringify(board.agents.helper?.turns.at(-1)?.history ?? [])).toBe("[]");
  });

  it("SPAWN-8: fork where the config says isolated and the call asks for it", async () => {
    const config = { session: { threadBindings: { defaultSpawnContext: "isolated" as const } } };
    const { board, asks } = await inMemory({ config });
    await board.discord.says("the secret is 42", { from: ROOM });
    await board.quiet();
    await asks({ context: "fork" });
    expect(said(board)).toContain("the secret is 42");
  });
});

describe("how a child's thread ends", () => {
  it.each([
    ["fails", { runTimeoutSeconds: 0 }, "Status: error\nNotes: no tools here"],
    ["takes too long", { runTimeoutSeconds: 5 }, "Status: timeout\nNotes: timed out after 5 s"],
  ])("SPAWN-7: a child that %s says so in its thread, once", async (_, input, words) => {
    const hanging = gate();
    const child: Script = ({ signal }) => {
      if (input.runTimeoutSeconds === 0) throw new Error("no tools here");
      return hanging.pass(signal).then(() => "never");
    };
    const { board, asks } = await inMemory({ child });
    await asks(input);
    await board.clock.advance(6000);
    await board.quiet();
    expect(sentTo(board, "thread-1")).toEqual([words]);
    expect(sentTo(board, undefined)).toEqual(["asked"]);
  });

  it("SPAWN-7 SPAWN-10: after idleHours of silence the next message begins an ordinary session, and its words wait for a mention", async () => {
    const { board, answers, asks } = await inMemory();
    await asks({});
    const child = String(answers[0]?.childSessionKey);
    await later(board, 23 * HOUR_MS);
    await board.discord.says("one", { from: THREAD, addressed: false });
    await board.quiet();
    // Speaking made it young again.
    await later(board, 23 * HOUR_MS);
    await board.discord.says("two", { from: THREAD, addressed: false });
    await board.quiet();
    expect(sentTo(board, "thread-1")).toEqual(["child: Look", "child: one", "child: two"]);
    expect(await keysOf(board)).toContain(child);

    await later(board, 24 * HOUR_MS + 1000);
    expect(await keysOf(board)).not.toContain(child);
    expect(await board.discord.says("three", { from: THREAD, addressed: false })).toBe("context");
    expect(await board.discord.says("four", { from: THREAD })).toBe("run");
    await board.quiet();
    expect(sentTo(board, "thread-1").at(-1)).toBe("main: four");
    expect(await keysOf(board)).toEqual(expect.arrayContaining([THREAD_KEY]));
    expect(await textsOf(board, THREAD_KEY)).toEqual(["three", "four", "main: four"]);
    expect(await textsOf(board, child)).not.toContain("four");
  });

  it("SPAWN-7 SPAWN-10: after maxAgeHours the thread is given back, however much was said in it", async () => {
    const { board, asks } = await inMemory({ config: { session: { threadBindings: { maxAgeHours: 2 } } } });
    await asks({});
    await later(board, 1.9 * HOUR_MS);
    await board.discord.says("one", { from: THREAD, addressed: false });
    await board.quiet();
    await later(board, 0.2 * HOUR_MS);
    await board.discord.says("two", { from: THREAD });
    await board.quiet();
    expect(sentTo(board, "thread-1")).toEqual(["child: Look", "child: one", "main: two"]);
  });

  it("SPAWN-7 SPAWN-10: with idleHours 0 it never ends", async () => {
    const { board, asks } = await inMemory({ config: { session: { threadBindings: { idleHours: 0 } } } });
    await asks({});
    await later(board, 72 * HOUR_MS);
    await board.discord.says("one", { from: THREAD, addressed: false });
    await board.quiet();
    expect(sentTo(board, "thread-1")).toEqual(["child: Look", "child: one"]);
  });

  it.each([
    ["archives", "sessions.patch", { archived: true }],
    ["deletes", "sessions.delete", {}],
  ] as const)("SPAWN-7: an owner who %s the child gives its thread back", async (_, method, more) => {
    const { board, answers, asks } = await inMemory();
    await asks({});
    const done = board.gateway.call(method, { sessionKey: String(answers[0]?.childSessionKey), ...more });
    await board.clock.advance(MINUTE_MS);
    await done;
    expect(await board.discord.says("one", { from: THREAD, addressed: false })).toBe("context");
    await board.discord.says("two", { from: THREAD });
    await board.quiet();
    expect(sentTo(board, "thread-1")).toEqual(["child: Look", "main: two"]);
  });

  it("SPAWN-7: a restart keeps the thread with its child, also one that is killed before the child has answered", async () => {
    const slow = gate();
    const first = await inMemory({
      child: async ({ signal }) => {
        await slow.pass(signal);
        return "too late";
      },
    });
    await first.asks({});
    await slow.reached;
    const dataDir = first.board.snapshot();
    const { script } = spawning();
    const second = await aBoard({ agents: { main: script }, dataDir, clock: first.board.clock });
    await second.clock.advance(LEASE_MS);
    await second.quiet();
    expect(sentTo(second, "thread-1")).toEqual([
      expect.stringMatching(/^Status: error\nNotes: .*interrupted/),
    ]);
    expect(await second.discord.says("one", { from: THREAD, sender: GUEST, addressed: false })).toBe("run");
    await second.quiet();
    expect(sentTo(second, "thread-1").at(-1)).toBe("child: one");
  });
});

describe("SPAWN-7: the title of a thread", () => {
  it.each([
    ["L05: is not cut within a character", `${"x".repeat(79)}😀 and more`, {}],
    [
      "HIST-5: does not begin a registered secret that it cannot end",
      `${"x".repeat(50)} ${SECRET}`,
      { redaction: { values: [SECRET] } },
    ],
  ])("%s", async (_, task, config) => {
    const { board, asks } = await inMemory({ config });
    await asks({ task });
    const [title = ""] = board.discord.threads;
    expect(title).toMatch(/^x{50}/);
    expect(title).not.toMatch(/\p{Cs}/u);
    expect(title).not.toContain(SECRET.slice(0, 8));
  });
});

it("SPAWN-6 SPAWN-7: while a platform takes its time to open a thread, nobody else gets the place of its child", async () => {
  const clock = fakeClock();
  const discord = memoryAdapter("discord");
  const opened: string[] = [];
  const slow: MemoryAdapter = Object.assign(Object.create(discord), {
    async createThread(room: Address, title: string) {
      await new Promise<void>((resolve) => clock.after(90_000, resolve));
      opened.push(title);
      return { ...room, threadId: "thread-1" };
    },
  });
  const board = await aBoard({
    clock,
    adapters: [slow],
    agents: { main: ({ request, signal }) => (request.depth > 0 ? hangs(signal) : "hi") },
    config: { agents: { defaults: { subagents: { maxChildrenPerAgent: 1 } } } },
  });
  await discord.says("hi", { from: ROOM });
  await board.quiet();
  const first = use(board, ROOM_KEY, "sessions_spawn", { task: "threaded", thread: true });
  await clock.advance(70_000);
  const second = await use(board, ROOM_KEY, "sessions_spawn", { task: "plain" });
  expect(second).toMatchObject({ code: "SPAWN_LIMIT" });
  await clock.advance(30_000);
  expect(await first).toMatchObject({ status: "accepted" });
  expect(opened).toEqual(["threaded"]);
});

describe("YIELD-1: in the thread of a child whose task is over", () => {
  /** Somebody asks there for more, as the last word of the message says. */
  async function asksForMore(how: string) {
    const script: Script = async ({ request, call, text }) => {
      const { depth, trigger } = request;
      if (trigger === "announce") return "announced";
      if (depth === 2) return "grandchild";
      if (trigger === "completion") return depth === 1 ? "woken" : "NO_REPLY";
      if (depth === 1 && trigger === "spawn") return "first done";
      if (depth === 0 && trigger !== "user") return "NO_REPLY";
      const announce = text.endsWith("channel") ? { announce: "channel" } : {};
      await call(
        "sessions_spawn",
        depth === 0 ? { task: "look", thread: true } : { task: "more", ...announce },
      );
      if (depth === 1 && text.endsWith("yield")) await call("sessions_yield");
      return "spawned";
    };
    const config = { agents: { defaults: { subagents: { maxSpawnDepth: 2 } } } };
    const board = await aBoard({ agents: { main: script }, config });
    await board.discord.says("go", { from: ROOM });
    await board.quiet();
    await board.discord.says(`more, and ${how}`, { from: THREAD });
    await pass(board, 30_000);
    const heard = board.discord.sent.filter(({ to }) => to.threadId === "thread-1").map(({ text }) => text);
    return { board, heard };
  }

  it.each(["auto", "channel"])("ANN-5: what it spawned announces there (%s)", async (how) => {
    const { board, heard } = await asksForMore(how);
    expect(heard).toEqual([
      "first done",
      "spawned",
      expect.stringMatching(/^Status: success\nResult: announced\n/),
    ]);
    expect(childrenOf(board)[1]).toMatchObject({ told: "row", post: { state: "delivered" } });
    expect(await eventsIn(board, childrenOf(board)[0]?.key ?? "")).toHaveLength(1);
  });

  it("E01: it is woken by what it yielded for, and answers there", async () => {
    const { board, heard } = await asksForMore("yield");
    expect(heard).toEqual(["first done", "woken"]);
    expect(childrenOf(board)[1]).toMatchObject({ told: "turn" });
  });
});
