import { describe, expect, it } from "vitest";
import { limitIn, type RateLimit } from "../../../src/adapters/discord/rate-limit.ts";
import { deliveryFailureOf, messageOf, SwitchboardError } from "../../../src/core/errors.ts";
import { given } from "../../../src/core/given.ts";
import type { Address, OutboundMessage } from "../../../src/core/ports/chat.ts";
import { limitsInHand } from "../../fakes/limits-in-hand.ts";
import { labels } from "../../standins/discord/components.ts";
import type { Fault } from "../../standins/discord/faults.ts";
import { channelTypes } from "../../standins/discord/world.ts";
import { aBot, type Bot, placeOf } from "./bot.ts";

const messagesPath = /^\/channels\/\d+\/messages$/;
const long = Array.from({ length: 500 }, (_, index) => `word${index}`).join(" ");

describe("discord: where a text goes", () => {
  it("B02: a thread's text goes to the thread, a forum post's to the post", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const thread = discord.addThread(discord.general, "a topic");
    const forum = discord.addChannel("help", channelTypes.forum);
    const post = discord.addThread(forum, "a question");
    await send(bot, "one", { to: placeOf(discord.general.id, thread.id) });
    await send(bot, "two", { to: placeOf(forum.id, post.id) });
    expect(discord.sent.map(({ channelId }) => channelId)).toEqual([thread.id, post.id]);
  });

  it("DISC-2: an archived thread is opened again by the text; a locked one is a final failure", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const thread = discord.addThread(discord.general, "old topic");
    discord.archive(thread);
    await send(bot, "still here?", { to: placeOf(discord.general.id, thread.id) });
    expect(thread.thread_metadata?.archived).toBe(false);
    discord.archive(thread, { locked: true });
    const failure = await failureOf(send(bot, "again", { to: placeOf(discord.general.id, thread.id) }));
    expect(failure).toMatchObject({ retryable: false });
  });

  it("DISC-2: direct chats and rooms that the client has never seen are reached by their id", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const type = channelTypes.privateThread;
    const hidden = discord.addThread(discord.general, "hidden", { type, announced: false });
    await send(bot, "psst", { to: placeOf(discord.general.id, hidden.id) });
    await send(bot, "hello", { to: { ...placeOf(discord.direct.id), chatType: "direct" } });
    expect(discord.sent.map(({ channelId }) => channelId)).toEqual([hidden.id, discord.direct.id]);
  });

  it("DISC-2: a forum holds no messages itself: that is final and says where to write", async () => {
    const bot = await aBot();
    const forum = bot.discord.addChannel("help", channelTypes.forum);
    const error = await send(bot, "hello", { to: placeOf(forum.id) }).catch((reason: unknown) => reason);
    expect(deliveryFailureOf(error)).toEqual({ retryable: false, partsSent: 0 });
    expect(messageOf(error)).toMatch(/threads or posts/);
  });

  it("DISC-2: a locked thread that is still open is a final failure too", async () => {
    const bot = await aBot();
    const thread = bot.discord.addThread(bot.discord.general, "closed topic");
    Object.assign(thread.thread_metadata ?? {}, { locked: true });
    const failure = await failureOf(send(bot, "again", { to: placeOf(bot.discord.general.id, thread.id) }));
    expect(failure).toMatchObject({ retryable: false });
  });

  it.each([
    ["the bot may not read what came before", { code: 160_002 }],
    [
      "it is a notice of Discord",
      { code: 50_035, errors: { message_reference: { _errors: [{ code: "X" }] } } },
    ],
  ])(
    "DISC-2: a message that cannot be replied to (%s) does not keep the text from arriving",
    async (_, refusal) => {
      const bot = await aBot();
      const question = bot.discord.say("question?");
      bot.discord.faults.next("POST", messagesPath, { kind: "status", status: 400, ...refusal });
      await send(bot, long, { replyToId: question.id });
      expect(bot.discord.sent.map(({ reference }) => reference)).toEqual([undefined, undefined]);
      const text = bot.discord.sent.map(({ content }) => content).join(" ");
      expect(text).toBe(long);
    },
  );

  it("DISC-2: another refusal of a reply is not tried a second way", async () => {
    const bot = await aBot();
    const question = bot.discord.say("question?");
    bot.discord.faults.next("POST", messagesPath, { kind: "status", status: 403, code: 50_013 });
    await failureOf(send(bot, "hello", { replyToId: question.id }));
    expect(bot.discord.requests.filter(({ path }) => messagesPath.test(path))).toHaveLength(1);
  });

  it("DISC-2: only the first part answers the message replied to, and a vanished one is no obstacle", async () => {
    const bot = await aBot();
    const question = bot.discord.say("question?");
    await send(bot, long, { replyToId: question.id });
    await send(bot, "to nobody", { replyToId: "123456789012345678" });
    const references = bot.discord.sent.map(({ reference }) => reference);
    expect(references).toEqual([question.id, undefined, undefined]);
  });
});

describe("discord: nothing is doubled, nobody is notified", () => {
  it("K06: every request forbids all mentions, the author replied to included", async () => {
    const bot = await aBot();
    const question = bot.discord.say("question?");
    await send(bot, `@everyone <@${bot.discord.owner.id}> ${long}`, { replyToId: question.id });
    expect(bot.discord.sent).toHaveLength(2);
    for (const { allowedMentions, pings } of bot.discord.sent) {
      expect(allowedMentions).toEqual({ parse: [], replied_user: false });
      expect(pings).toEqual([]);
    }
  });

  it("DISC-2 CMD: choices are buttons below the last part, also when a broken send goes on with it", async () => {
    const bot = await aBot();
    const choices = [{ label: "Silence", command: "/send off" }];
    await send(bot, long, { choices });
    await send(bot, `${long} again`, { choices, fromPart: 1 });
    expect(bot.discord.sent.map(({ components }) => labels(components))).toEqual([
      [],
      ["Silence"],
      ["Silence"],
    ]);
  });

  it("DISC-2: parts carry short nonces of their own, the same again for the same delivery", async () => {
    const bot = await aBot();
    await send(bot, long, { deliveryId: "delivery-1" });
    const first = await send(bot, long, { deliveryId: "delivery-2" });
    const repeated = await send(bot, long, { deliveryId: "delivery-2" });
    expect(repeated.messageIds).toEqual(first.messageIds);
    const nonces = bot.discord.sent.map(({ nonce }) => String(nonce));
    expect(new Set(nonces).size).toBe(4);
    expect(Math.max(...nonces.map(({ length }) => length))).toBeLessThanOrEqual(25);
  });

  it("M03: a server error after the message was stored does not make the client library post it twice", async () => {
    const bot = await aBot();
    bot.discord.faults.next("POST", messagesPath, { kind: "drop", when: "after" }, { times: 3 });
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await failureOf(send(bot, "once"))).toMatchObject({ retryable: true, partsSent: 0 });
    }
    await send(bot, "once");
    expect(bot.discord.sent.map(({ content }) => content)).toEqual(["once"]);
  });

  it("L04: white space is not posted, and neither are parts that an earlier call has sent", async () => {
    const bot = await aBot();
    expect(await send(bot, " \n ")).toEqual({ messageIds: [] });
    await send(bot, long, { fromPart: 1 });
    expect(bot.discord.sent).toHaveLength(1);
    expect(await send(bot, long, { fromPart: 2 })).toEqual({ messageIds: [] });
  });
});

describe("discord: what a failure means", () => {
  it.each([
    [10003, 404, /channel does not exist/],
    [10004, 404, /server does not exist/],
    [20009, 403, /takes no such content/],
    [40005, 413, /larger than Discord takes/],
    [50001, 403, /View Channel/],
    [50007, 403, /no direct messages/],
    [50009, 403, /verification level/],
    [50278, 403, /share no server/],
    [160_005, 403, /locked/],
    [200_000, 400, /AutoMod/],
    [50013, 403, /Send Messages/],
    [50083, 400, /locked/],
    [50035, 400, /code 50035/],
    [0, 401, /HTTP 401/],
  ])("M02: Discord's code %i (HTTP %i) is final and says what to do", async (code, status, words) => {
    const bot = await aBot();
    bot.discord.faults.next("POST", messagesPath, { kind: "status", status, code });
    const error = await send(bot, "hello").catch((reason: unknown) => reason);
    expect(deliveryFailureOf(error)).toEqual({ retryable: false, partsSent: 0 });
    expect(messageOf(error)).toMatch(words);
  });

  it.each<[string, Fault]>([
    ["a server error that outlasts the client's own retries", { kind: "status", status: 503 }],
    ["a broken connection", { kind: "drop", when: "before" }],
    ["slow mode", { kind: "status", status: 400, code: 20_016 }],
    ["a limit on writing", { kind: "status", status: 403, code: 20_028 }],
    ["an overloaded resource", { kind: "status", status: 400, code: 130_000 }],
  ])("M02: %s may be tried again, and then works", async (_, fault) => {
    const bot = await aBot();
    bot.discord.faults.next("POST", messagesPath, fault, { times: isServerError(fault) ? 4 : 1 });
    // Whether a request arrived whose answer was lost, nobody knows: the nonce decides at the repeat.
    const doubt = fault.kind === "drop" ? { uncertain: true } : {};
    expect(await failureOf(send(bot, "hello"))).toEqual({ retryable: true, partsSent: 0, ...doubt });
    await send(bot, "hello");
    expect(bot.discord.sent).toHaveLength(1);
  });

  it.each(["text/html", "application/json"] as const)(
    "M03: a proxy's page in place of Discord's answer (%s) leaves it uncertain whether the text arrived",
    async (type) => {
      const bot = await aBot();
      bot.discord.faults.next("POST", messagesPath, { kind: "page", type });
      expect(await failureOf(send(bot, "hello"))).toEqual({ retryable: true, partsSent: 0, uncertain: true });
    },
  );

  it("M02: before the login and without a server a send may be tried again", async () => {
    const early = await aBot({ login: false });
    expect(await failureOf(send(early, "too early"))).toEqual({ retryable: true, partsSent: 0 });
    const late = await aBot();
    await late.discord.close();
    expect(await failureOf(send(late, "too late"))).toMatchObject({ retryable: true });
  });

  it.each(["user", "shared", "global"] as const)(
    "M01: a long rate limit (%s) goes back to the outbox in full, and holds only where it applies",
    async (scope) => {
      const bot = await aBot();
      const other = bot.discord.addChannel("other");
      const watchers = () => bot.client.rest.eventNames().length;
      const before = watchers();
      const limit = { kind: "rateLimit", retryAfterSeconds: 6775, scope } as const;
      bot.discord.faults.next("POST", messagesPath, limit);
      const failure = await failureOf(send(bot, "hello"));
      expect(failure).toMatchObject({ retryable: true, partsSent: 0 });
      expect(failure.scope).toBe(scope === "global" ? "account" : undefined);
      expect(failure.retryAfterMs).toBeGreaterThanOrEqual(6_775_000);

      const requests = bot.discord.requests.length;
      const elsewhere = await send(bot, "elsewhere", { to: placeOf(other.id) }).catch(deliveryFailureOf);
      expect(elsewhere).toEqual(
        scope === "global"
          ? {
              retryable: true,
              partsSent: 0,
              retryAfterMs: expect.closeTo(6_775_000, -5),
              scope: "account",
            }
          : { messageIds: [expect.any(String)] },
      );
      expect(bot.discord.requests.length - requests).toBe(scope === "global" ? 0 : 1);
      expect(watchers()).toBe(before);
    },
  );

  it.each([
    ["user", undefined],
    ["global", "account"],
  ] as const)(
    "M01: a client that rejects rate limits itself passes on the waiting time (%s), and for whom it is",
    async (scope, whom) => {
      const bot = await aBot();
      bot.client.rest.options.rejectOnRateLimit = () => true;
      const limit = { kind: "rateLimit", retryAfterSeconds: 3, scope } as const;
      bot.discord.faults.next("POST", messagesPath, limit);
      const { retryable, retryAfterMs = 0, scope: told } = await failureOf(send(bot, "hello"));
      expect({ retryable, atLeast3s: retryAfterMs >= 3000, told }).toEqual({
        retryable: true,
        atLeast3s: true,
        told: whom,
      });
    },
  );

  it.each([
    [undefined, 60_000],
    [2, 2000],
    [3600, 3_600_000],
  ])(
    "M01: at Discord's outer wall, which bars the address (for %s s), the client knocks once; the whole account is told to wait",
    async (retryAfterSeconds, retryAfterMs) => {
      const bot = await aBot();
      const wall = { kind: "wall", ...given({ retryAfterSeconds }) } as const;
      bot.discord.faults.next("POST", messagesPath, wall, { times: 20 });
      const failure = await failureOf(send(bot, "hello"));
      expect(failure).toEqual({ retryable: true, partsSent: 0, retryAfterMs, scope: "account" });
      // Whatever the client asks of Discord after that is asked by now.
      await bot.client.rest.get("/users/@me");
      expect(bot.discord.requests.filter(({ path }) => messagesPath.test(path))).toHaveLength(1);
    },
  );

  it.each<[string, Readonly<Record<string, string>>, RateLimit]>([
    ["of a room", { "retry-after": "7", "x-ratelimit-scope": "user" }, { waitMs: 7000 }],
    ["of a room that others share", { "retry-after": "7", "x-ratelimit-scope": "shared" }, { waitMs: 7000 }],
    ["of all", { "retry-after": "7", "x-ratelimit-global": "true" }, { waitMs: 7000, scope: "account" }],
    ["of all", { "retry-after": "7", "x-ratelimit-scope": "global" }, { waitMs: 7000, scope: "account" }],
    ["that names no time", {}, { waitMs: 60_000 }],
    ["that names a date", { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }, { waitMs: 60_000 }],
    [
      "that is no JSON",
      { "retry-after": "7", "content-type": "text/plain" },
      { waitMs: 7000, scope: "account" },
    ],
  ])("M01: a refusal %s (%j) says how long and who has to wait", (_, headers, limit) => {
    expect(limitIn({ headers: new Headers({ "content-type": "application/json", ...headers }) })).toEqual(
      limit,
    );
  });

  it("M01: a limit of the whole account that lasts a moment is waited out by the client", async () => {
    const bot = await aBot();
    const other = bot.discord.addChannel("other");
    const limit = { kind: "rateLimit", retryAfterSeconds: 0.2, scope: "global" } as const;
    bot.discord.faults.next("POST", messagesPath, limit);
    await send(bot, "hello");
    await send(bot, "elsewhere", { to: placeOf(other.id) });
    expect(bot.discord.sent.map(({ content }) => content)).toEqual(["hello", "elsewhere"]);
  });

  it("DELIV-1: a send that is aborted before it begins announces no part", async () => {
    const bot = await aBot();
    const parts: number[] = [];
    const onPart = async ({ part }: { part: number }) => {
      parts.push(part);
    };
    await failureOf(send(bot, "never", { onPart }, AbortSignal.abort()));
    expect(parts).toEqual([]);
  });

  it("DELIV-1: an aborted signal ends a send that hangs, at once", async () => {
    const bot = await aBot();
    let release: () => void = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    bot.discord.faults.next("POST", messagesPath, { kind: "hold", until });
    const controller = new AbortController();
    const sending = failureOf(send(bot, "hanging", {}, controller.signal));
    await bot.discord.until(
      () => bot.discord.requests.some(({ path }) => messagesPath.test(path)),
      "the request",
    );
    controller.abort();
    expect(await sending).toEqual({ retryable: true, partsSent: 0 });
    release();
  });
});

describe("discord: typing and threads", () => {
  it("DISC-2: typing is shown in the thread, and a refusal is DELIVERY_FAILED", async () => {
    const { adapter, discord } = await aBot();
    const thread = discord.addThread(discord.general, "a topic");
    await adapter.setTyping?.(placeOf(discord.general.id, thread.id));
    expect(discord.typing).toEqual([thread.id]);
    const refused = adapter.setTyping?.(placeOf("123456789012345678"));
    await expect(refused).rejects.toMatchObject({ code: "DELIVERY_FAILED" });
  });

  it("M02: where typing was refused for good it is not tried again until the bot could write there, or connects anew", async () => {
    const { adapter, discord } = await aBot();
    const here = placeOf(discord.general.id);
    const asked = () => discord.requests.filter(({ path }) => path.endsWith("/typing")).length;
    discord.faults.next("POST", /typing$/, { kind: "status", status: 403, code: 50_013 }, { times: 2 });
    await adapter.setTyping?.(here).catch(() => "refused");
    await adapter.setTyping?.(here);
    expect(asked()).toBe(1);
    await send({ adapter, discord }, "hello");
    await adapter.setTyping?.(here).catch(() => "refused");
    expect(asked()).toBe(2);
  });

  it("M01: while a limit holds the whole account, typing and a new thread wait fifteen seconds, and are not made up for later", async () => {
    const bot = await aBot();
    const { adapter, discord } = bot;
    const here = placeOf(discord.general.id);
    const limits = limitsInHand();
    const hold = new Promise((resolve) => bot.client.rest.once("rateLimited", resolve));
    const limit = { kind: "rateLimit", retryAfterSeconds: 0.3, scope: "global" } as const;
    discord.faults.next("POST", messagesPath, limit);
    const sending = send(bot, "hello");
    await hold;
    const others = [adapter.setTyping?.(here), adapter.createThread?.(here, "a topic")];
    limits.pass(15_000);
    const ends = await Promise.all(others.map((one) => one?.catch(deliveryFailureOf)));
    expect(ends).toMatchObject([{ retryable: true }, { retryable: true }]);
    await sending;
    await send(bot, "again");
    expect(discord.requests.filter(({ path }) => /typing|threads/.test(path))).toEqual([]);
  });

  it.each([
    ["a text channel", channelTypes.text, channelTypes.publicThread],
    ["an announcement channel", channelTypes.announcement, channelTypes.announcementThread],
    ["a forum", channelTypes.forum, channelTypes.publicThread],
  ])("DISC-2: a thread is opened in %s and can be written to", async (_, parentType, threadType) => {
    const bot = await aBot();
    const parent = bot.discord.addChannel("parent", parentType);
    const at = await bot.adapter.createThread?.(placeOf(parent.id), ` A ${"long ".repeat(30)}\n title `);
    const thread = bot.discord.world.channel(at?.threadId ?? "");
    expect(at).toEqual(placeOf(parent.id, thread.id));
    expect(thread).toMatchObject({ type: threadType, parent_id: parent.id });
    await send(bot, "first words", { to: placeOf(parent.id, thread.id) });
    expect(bot.discord.sent.at(-1)).toMatchObject({ channelId: thread.id, content: "first words" });
  });

  it("DISC-2: asked for in a thread it opens beside it; direct chats have none", async () => {
    const { adapter, discord } = await aBot();
    const thread = discord.addThread(discord.general, "a topic");
    const at = await adapter.createThread?.(placeOf(discord.general.id, thread.id), "another");
    expect(discord.world.channel(at?.threadId ?? "").parent_id).toBe(discord.general.id);
    const direct = { ...placeOf(discord.direct.id), chatType: "direct" as const };
    await expect(adapter.createThread?.(direct, "x")).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

function send(
  { adapter, discord }: Pick<Bot, "adapter" | "discord">,
  markdown: string,
  more: Partial<OutboundMessage> & { readonly to?: Address } = {},
  signal: AbortSignal = new AbortController().signal,
) {
  const { to = placeOf(discord.general.id), ...message } = more;
  return adapter.send(to, { deliveryId: `delivery of ${markdown}`, markdown, ...message }, signal);
}

const isServerError = (fault: Fault) => fault.kind === "status" && fault.status >= 500;

async function failureOf(sending: Promise<unknown>) {
  const error: unknown = await sending.then(
    () => "it worked",
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SwitchboardError);
  return deliveryFailureOf(error);
}
