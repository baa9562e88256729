import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { intents } from "./discord/gateway.ts";
import { channelTypes } from "./discord/world.ts";
import { type DiscordStandin, startDiscord } from "./discord.ts";

// No Discord library here: the stand-in has to be right for any client.
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const everything = intents.guilds | intents.guildMessages | intents.directMessages | intents.messageContent;

describe("the Discord stand-in, REST", () => {
  it.each([
    ["2001 characters", { content: "x".repeat(2001) }, 400, 50035],
    ["no content", {}, 400, 50006],
    ["white space", { content: " \n " }, 400, 50006],
    ["a nonce of 26 characters", { content: "hi", nonce: "n".repeat(26) }, 400, 50035],
    ["both parse users and users", { content: "hi", allowed_mentions: usersTwice() }, 400, 50035],
    ["six rows of buttons", { content: "hi", components: rows(6, 1) }, 400, 50035],
    ["six buttons in a row", { content: "hi", components: rows(1, 6) }, 400, 50035],
    ["one button twice", { content: "hi", components: [...rows(1, 1), ...rows(1, 1)] }, 400, 50035],
    ["an id of 101 characters", { content: "hi", components: rows(1, 1, "x".repeat(100)) }, 400, 50035],
    ["a reply to nothing", { content: "hi", message_reference: { message_id: "1".repeat(18) } }, 400, 50035],
  ])("DISC-2: a message with %s is refused and not stored", async (_, body, status, code) => {
    const discord = await standin();
    expect(await post(discord, body)).toMatchObject({ status, body: { code } });
    expect(discord.sent).toEqual([]);
  });

  it("DISC-2: an unknown channel is 10003, a forum 50008, a locked thread 160005 or, when archived, 50083", async () => {
    const discord = await standin();
    const archived = discord.addThread(discord.general, "closed");
    discord.archive(archived, { locked: true });
    const locked = discord.addThread(discord.general, "locked");
    Object.assign(locked.thread_metadata ?? {}, { locked: true });
    const forum = discord.addChannel("help", channelTypes.forum);
    const media = discord.addChannel("pictures", channelTypes.media);
    const codes = [];
    for (const id of ["123456789012345678", forum.id, media.id, locked.id, archived.id]) {
      codes.push((await post(discord, { content: "hi" }, id)).body.code);
    }
    expect(codes).toEqual([10003, 50008, 50008, 160_005, 50083]);
  });

  it("DISC-1: a wrong token is 401 and cannot identify", async () => {
    const discord = await standin();
    const wrong = { ...discord.bot, token: "wrong" };
    expect(await post(discord, { content: "hi" }, discord.general.id, wrong)).toMatchObject({ status: 401 });
    const gateway = await connect(discord, everything, "wrong");
    expect(await gateway.closed).toBe(4004);
  });

  it("DISC-2: the same enforced nonce gives the same message, an unenforced one a second", async () => {
    const discord = await standin();
    const first = await post(discord, { content: "once", nonce: "n-1", enforce_nonce: true });
    const second = await post(discord, { content: "once", nonce: "n-1", enforce_nonce: true });
    expect(second.body.id).toBe(first.body.id);
    await post(discord, { content: "once", nonce: "n-1" });
    expect(discord.sent.map(({ content }) => content)).toEqual(["once", "once"]);
  });

  it("K06: it works out whom a message would notify", async () => {
    const discord = await standin();
    const text = "@everyone <@&1> <@2>";
    await post(discord, { content: text });
    await post(discord, { content: text, allowed_mentions: { parse: ["roles"] } });
    await post(discord, { content: text, allowed_mentions: { parse: [] } });
    expect(discord.sent.map(({ pings }) => pings)).toEqual([["everyone", "<@&1>", "<@2>"], ["<@&1>"], []]);
  });

  it("M01 M02: it limits, fails and drops on demand, and a dropped message is stored or not as ordered", async () => {
    const discord = await standin();
    const messages = /\/messages$/;
    discord.faults.next("POST", messages, { kind: "rateLimit", retryAfterSeconds: 2, scope: "global" });
    discord.faults.next("POST", messages, { kind: "status", status: 502 });
    const limited = await post(discord, { content: "a" });
    expect(limited).toMatchObject({ status: 429, body: { retry_after: 2, global: true } });
    expect(await post(discord, { content: "b" })).toMatchObject({ status: 502 });
    discord.faults.next("POST", messages, { kind: "drop", when: "before" });
    discord.faults.next("POST", messages, { kind: "drop", when: "after" });
    await expect(post(discord, { content: "c" })).rejects.toThrow();
    await expect(post(discord, { content: "d" })).rejects.toThrow();
    expect(discord.sent.map(({ content }) => content)).toEqual(["d"]);
  });

  it("CMD: POST overwrites by name and keeps the rest, PUT replaces everything, bad definitions are 50035", async () => {
    const discord = await standin();
    const path = `/applications/${discord.bot.applicationId}/commands`;
    const ping = { name: "ping", description: "Ping." };
    await call(discord, "POST", path, ping);
    const pong = await call(discord, "POST", path, { name: "pong", description: "Pong." });
    const again = await call(discord, "POST", path, { ...ping, description: "Ping again." });
    expect([pong.status, again.status]).toEqual([201, 200]);
    expect(
      discord
        .commands()
        .list()
        .map(({ description }) => description),
    ).toEqual(["Ping again.", "Pong."]);
    const bad = await call(discord, "POST", path, { name: "Not Valid", description: "x" });
    expect(bad).toMatchObject({ status: 400, body: { code: 50035 } });
    await call(discord, "PUT", path, [{ name: "pong", description: "Pong." }]);
    expect(
      discord
        .commands()
        .list()
        .map(({ id }) => id),
    ).toEqual([pong.body.id]);
  });

  it("CMD-4: names in other languages are lower-case words of their script, each of one command, option or choice; what is as without them is not kept", async () => {
    const discord = await standin();
    const path = `/applications/${discord.bot.applicationId}/commands`;
    const named = (name: string, names: object, more: object = {}) => ({
      name,
      description: "x",
      name_localizations: names,
      ...more,
    });
    const option = (name: string, names: object, choices?: object) => ({
      ...named(name, names),
      type: 3,
      choices,
    });
    const kept = await call(discord, "POST", path, named("help", { "es-ES": "ayuda", "pt-BR": "help" }));
    expect(kept.body.name_localizations).toEqual({ "es-ES": "ayuda" });
    const refused = [
      named("other", { "es-ES": "ayuda" }),
      named("other", { hi: "help" }),
      named("ayuda", {}),
      named("other", { "es-ES": "Ayuda" }),
      named("other", { "es-ES": "ayuda por favor" }),
      named("other", { "es-ES": "a".repeat(33) }),
      named("other", { es: "ayuda" }),
      named("other", {}, { options: [option("a", { hi: "c" }), option("b", { hi: "c" })] }),
      named("other", {}, { options: [option("a", { hi: "b" }), option("b", {})] }),
      named(
        "other",
        {},
        {
          options: [
            option("a", {}, [
              { ...named("x", { hi: "y" }), value: "x" },
              { ...named("y", {}), value: "y" },
            ]),
          ],
        },
      ),
    ];
    for (const form of refused) {
      const answer = await call(discord, "POST", path, form);
      expect(answer, JSON.stringify(form)).toMatchObject({ status: 400, body: { code: 50035 } });
    }
    expect((await call(discord, "POST", path, named("other", { hi: "मदद" }))).status).toBe(201);
    expect(discord.commands().find("मदद", "hi")?.name).toBe("other");
    expect(discord.commands().find("मदद", "es-ES")).toBeUndefined();
    const both = [named("one", { hi: "दो" }), named("two", { hi: "दो" })];
    expect((await call(discord, "PUT", path, both)).status).toBe(400);
    expect(discord.commands().list()).toHaveLength(2);
  });

  it("CMD: a call is acknowledged once, and only its caller sees an ephemeral answer", async () => {
    const discord = await standin();
    const commands = `/applications/${discord.bot.applicationId}/commands`;
    await call(discord, "POST", commands, { name: "ping", description: "Ping." });
    const slash = discord.slash("ping");
    const callback = `/interactions/${slash.id}/${slash.token}/callback`;
    const original = `/webhooks/${discord.bot.applicationId}/${slash.token}/messages/@original`;
    expect(await call(discord, "PATCH", original, { content: "early" })).toMatchObject({
      body: { code: 10015 },
    });
    expect((await call(discord, "POST", callback, { type: 5, data: { flags: 64 } })).status).toBe(204);
    expect(await call(discord, "POST", callback, { type: 5 })).toMatchObject({ body: { code: 40060 } });
    expect(slash.state).toBe("thinking");
    await call(discord, "PATCH", original, { content: "pong" });
    expect(slash).toMatchObject({ state: "answered", answers: [{ content: "pong", ephemeral: true }] });
    expect(() => discord.slash("unregistered")).toThrow(/nobody can call/);
  });

  it("CMD: suggestions are at most 25 of 1 to 100 characters, for options that have them, and the only answer", async () => {
    const discord = await standin();
    const commands = `/applications/${discord.bot.applicationId}/commands`;
    const option = (name: string, autocomplete: boolean) => ({
      type: 3,
      name,
      description: "x",
      autocomplete,
    });
    const options = [option("open", true), option("closed", false)];
    await call(discord, "POST", commands, { name: "ping", description: "Ping.", options });
    expect(() => discord.type("ping", "closed", "a")).toThrow(/no autocomplete/);
    const typing = discord.type("ping", "open", "a");
    const callback = `/interactions/${typing.id}/${typing.token}/callback`;
    const answer = (choices: readonly object[]) =>
      call(discord, "POST", callback, { type: 8, data: { choices } });
    const many = Array.from({ length: 26 }, (_, index) => ({ name: `n${index}`, value: `v${index}` }));
    expect(await call(discord, "POST", callback, { type: 5 })).toMatchObject({ body: { code: 50035 } });
    expect(await answer(many)).toMatchObject({ body: { code: 50035 } });
    expect(await answer([{ name: "", value: "v" }])).toMatchObject({ body: { code: 50035 } });
    expect(await answer([{ name: "n", value: "v".repeat(101) }])).toMatchObject({ body: { code: 50035 } });
    expect((await answer(many.slice(1))).status).toBe(204);
    expect(typing.suggestions).toHaveLength(25);
  });

  it("CMD: a press changes the message with the button, or is answered beside it; a button that nobody sees cannot be pressed", async () => {
    const discord = await standin();
    const posted = await post(discord, { content: "choose", components: rows(1, 2) });
    const message = { id: String(posted.body.id) };
    expect(() => discord.press(message, "gone")).toThrow(/no button/);
    const change = discord.press(message, "0-1");
    const beside = discord.press(message, "0-0");
    const acknowledge = ({ id, token }: typeof change, type: number) =>
      call(discord, "POST", `/interactions/${id}/${token}/callback`, { type, data: { flags: 64 } });
    await acknowledge(change, 6);
    await acknowledge(beside, 5);
    for (const { token } of [change, beside]) {
      const original = `/webhooks/${discord.bot.applicationId}/${token}/messages/@original`;
      await call(discord, "PATCH", original, { content: `by ${token}` });
    }
    expect(change).toMatchObject({ state: "answered", answers: [] });
    expect(beside).toMatchObject({ answers: [{ content: `by ${beside.token}`, ephemeral: true }] });
    const shown = await fetch(
      `${discord.restUrl}/v10/channels/${discord.general.id}/messages/${message.id}`,
      {
        headers: { authorization: `Bot ${discord.bot.token}` },
      },
    );
    expect(await shown.json()).toMatchObject({ content: `by ${change.token}` });
  });
});

describe("the Discord stand-in, gateway", () => {
  it("DISC-1: without the MessageContent intent text is blank unless it is direct, mentions the bot, or is its own", async () => {
    const discord = await standin();
    const gateway = await connect(discord, everything & ~intents.messageContent);
    await gateway.got("GUILD_CREATE");
    discord.say("secret");
    discord.say(`<@${discord.bot.user.id}> hello`);
    discord.say("in private", { in: discord.direct });
    await post(discord, { content: "own" });
    const texts = await gateway.got("MESSAGE_CREATE", 4);
    expect(texts.map(({ content }) => content)).toEqual([
      "",
      `<@${discord.bot.user.id}> hello`,
      "in private",
      "own",
    ]);
  });

  it("DISC-1: messages of rooms without an intent are not sent, and a disallowed intent closes with 4014", async () => {
    const discord = await standin();
    const gateway = await connect(discord, intents.directMessages);
    await gateway.got("READY");
    discord.say("in the server");
    discord.say("in private", { in: discord.direct });
    expect((await gateway.got("MESSAGE_CREATE")).map(({ content }) => content)).toEqual(["in private"]);
    discord.gateway.allowMessageContent = false;
    expect(await (await connect(discord, everything)).closed).toBe(4014);
  });

  it("DISC-1: RESUME repeats in order what came after the last sequence number, then says RESUMED", async () => {
    const discord = await standin();
    const first = await connect(discord, everything);
    const [ready] = await first.got("READY");
    await first.got("GUILD_CREATE");
    discord.say("seen");
    await first.got("MESSAGE_CREATE");
    discord.gateway.drop(4000);
    expect(await first.closed).toBe(4000);
    discord.say("missed 1");
    discord.say("missed 2");
    const second = await connect(discord, undefined);
    second.resume({ session_id: ready?.session_id, seq: 3 });
    await second.got("RESUMED");
    expect(second.log.map(({ t, d }) => [t, d.content])).toEqual([
      ["MESSAGE_CREATE", "missed 1"],
      ["MESSAGE_CREATE", "missed 2"],
      ["RESUMED", undefined],
    ]);
  });

  it("DISC-1: a room's events go to one shard, direct ones to the first; a shard that does not exist is 4010", async () => {
    const discord = await standin();
    const shards = await Promise.all(
      [0, 1].map((id) => connect(discord, everything, discord.bot.token, [id, 2])),
    );
    await Promise.all(shards.map((shard) => shard.got("READY")));
    discord.say("in the server");
    discord.say("in private", { in: discord.direct });
    discord.remove(discord.say("gone"), discord.say("gone too"));
    const carrier = Number((BigInt(discord.world.guildId) >> 22n) % 2n);
    await shards[0]?.got("MESSAGE_CREATE");
    await shards[carrier]?.got("MESSAGE_DELETE_BULK");
    const heard = shards.map(({ log }) =>
      log.filter(({ t }) => t === "MESSAGE_CREATE").map(({ d }) => d.content),
    );
    const inServer = ["in the server", "gone", "gone too"];
    const isFirst = carrier === 0;
    expect(heard[carrier]?.filter((text) => text !== "in private")).toEqual(inServer);
    expect(heard[0]).toContain("in private");
    expect(heard[1 - carrier]).toEqual(isFirst ? [] : ["in private"]);
    expect(await (await connect(discord, everything, discord.bot.token, [2, 2])).closed).toBe(4010);
  });

  it("DISC-1: a forgotten session must identify again", async () => {
    const discord = await standin();
    const first = await connect(discord, everything);
    const [ready] = await first.got("READY");
    discord.gateway.forgetSessions();
    const second = await connect(discord, undefined);
    second.resume({ session_id: ready?.session_id, seq: 1 });
    expect(await second.invalid).toBe(false);
  });
});

async function standin(): Promise<DiscordStandin> {
  const discord = await startDiscord();
  closers.push(() => discord.close());
  return discord;
}

async function call(discord: DiscordStandin, method: string, path: string, body: unknown, bot = discord.bot) {
  const headers = { "content-type": "application/json", authorization: `Bot ${bot.token}` };
  const url = `${discord.restUrl}/v10${path}`;
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  const text = await response.text();
  const answer: Record<string, unknown> = text === "" ? {} : JSON.parse(text);
  return { status: response.status, body: answer };
}

function post(discord: DiscordStandin, body: unknown, channelId = discord.general.id, bot = discord.bot) {
  return call(discord, "POST", `/channels/${channelId}/messages`, body, bot);
}

function rows(count: number, buttons: number, prefix = ""): readonly object[] {
  return Array.from({ length: count }, (_, row) => ({
    type: 1,
    components: Array.from({ length: buttons }, (_, at) => {
      const label = `${row}-${at}`;
      return { type: 2, style: 2, label, custom_id: prefix + label };
    }),
  }));
}

function usersTwice() {
  return { parse: ["users"], users: ["1".repeat(18)] };
}

interface Dispatch {
  readonly t: string;
  readonly d: Readonly<Record<string, unknown>>;
}

/** A bare gateway client: it identifies with the wanted intents, or with none waits for `resume`. */
async function connect(
  discord: DiscordStandin,
  wanted: number | undefined,
  token = discord.bot.token,
  shard?: readonly [number, number],
) {
  const socket = new WebSocket(`${discord.gateway.url}?v=10&encoding=json`);
  closers.push(() => socket.terminate());
  const log: Dispatch[] = [];
  const closed = once(socket, "close").then(([code]) => code);
  let refuse: (mayResume: unknown) => void = () => {};
  const invalid = new Promise<unknown>((resolve) => {
    refuse = resolve;
  });
  const send = (op: number, d: object) => socket.send(JSON.stringify({ op, d: { token, ...d } }));
  socket.on("message", (raw) => {
    const { op, t, d } = JSON.parse(String(raw));
    if (op === 9) refuse(d);
    if (op === 0) log.push({ t, d });
    socket.emit("dispatch");
  });
  await once(socket, "message");
  if (wanted !== undefined) send(2, { intents: wanted, ...(shard ? { shard } : {}) });
  const got = async (type: string, count = 1) => {
    const found = () => log.filter(({ t }) => t === type).map(({ d }) => d);
    while (found().length < count) await once(socket, "dispatch");
    return found();
  };
  return { log, got, closed, invalid, resume: (d: object) => send(6, d) };
}
