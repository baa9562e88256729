import { once } from "node:events";
import { createServer } from "node:http";
import { Bot, GrammyError, HttpError, webhookCallback } from "grammy";
import type { Chat, ForumTopic, Message, Update, UserFromGetMe } from "grammy/types";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rateLimited, refused, serverError } from "./telegram/failures.ts";
import { ANN } from "./telegram/people.ts";
import { TelegramStandIn } from "./telegram/telegram-stand-in.ts";

const FORUM: Chat = { id: -1009876543210, type: "supergroup", title: "Ops", is_forum: true };
const GROUP: Chat = { id: -4001, type: "group", title: "Old group" };
const CHANNEL: Chat = { id: -1005550001, type: "channel", title: "News", username: "example_news" };

let telegram: TelegramStandIn;
let bots: Bot[];

beforeEach(async () => {
  telegram = await TelegramStandIn.start();
  bots = [];
});

afterEach(async () => {
  for (const bot of bots) await bot.stop().catch((error: unknown) => expect(error).toBeInstanceOf(Error));
  await telegram.close();
});

function connect(): Bot {
  const bot = new Bot(telegram.token, { client: { apiRoot: telegram.apiRoot } });
  bots.push(bot);
  return bot;
}

interface Answer<Result> {
  readonly ok: boolean;
  readonly result: Result;
  readonly description?: string;
  readonly parameters?: object;
}

/** A call without any client library. */
async function raw<Result>(method: string, payload: object = {}, token = telegram.token) {
  const answer = await fetch(`${telegram.apiRoot}/bot${token}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(payload),
  });
  // What an answer holds depends on the method; the caller names it.
  const body = (await answer.json()) as Answer<Result>;
  return { status: answer.status, body };
}

const description = async (call: Promise<{ body: Answer<unknown> }>) => (await call).body.description;

describe("TG-1: updates reach a bot as Telegram hands them out", () => {
  it("TG-1: long polling hands over what people write in private, groups, topics and channels", async () => {
    const bot = connect();
    const seen: string[] = [];
    bot.use((ctx) => {
      seen.push(
        `${ctx.chat?.type} ${ctx.msg?.message_thread_id ?? "-"} ${ctx.msg?.text ?? ctx.msg?.caption}`,
      );
    });
    const polling = bot.start();
    telegram.say("hello");
    telegram.say("in a group", { chat: GROUP });
    telegram.say("in a topic", { chat: FORUM, threadId: 42 });
    telegram.say("in General", { chat: FORUM });
    telegram.say("a post", { chat: CHANNEL });
    telegram.say("a picture", { caption: true });
    await telegram.settled();
    await bot.stop();
    await polling;
    expect(seen).toEqual([
      "private - hello",
      "group - in a group",
      "supergroup 42 in a topic",
      "supergroup - in General",
      "channel - a post",
      "private - a picture",
    ]);
  });

  it("TG-1: an update that was not confirmed is handed out again, a confirmed one is not", async () => {
    telegram.say("first");
    telegram.say("second");
    const first = await raw<Update[]>("getUpdates");
    const again = await raw<Update[]>("getUpdates");
    expect(again.body.result).toEqual(first.body.result);
    const offset = first.body.result[1]?.update_id;
    expect((await raw<Update[]>("getUpdates", { offset })).body.result).toHaveLength(1);
    expect(telegram.pending).toHaveLength(1);
  });

  it("TG-1: a waiting poll is answered as soon as somebody writes, and after its timeout with nothing", async () => {
    const waiting = raw<Update[]>("getUpdates", { timeout: 30 });
    telegram.say("now");
    expect((await waiting).body.result).toHaveLength(1);
    const offset = (await raw<Update[]>("getUpdates")).body.result[0]?.update_id ?? 0;
    expect((await raw<Update[]>("getUpdates", { offset: offset + 1, timeout: 0.05 })).body.result).toEqual(
      [],
    );
  });

  it("TG-1: of two pollers the earlier one is sent away with 409", async () => {
    const first = connect();
    const polling = first.start();
    await telegram.until(() => telegram.isPolled, "the first bot polls");
    const second = raw<Update[]>("getUpdates", { timeout: 5 });
    await expect(polling).rejects.toMatchObject({ error_code: 409 });
    telegram.say("for the second");
    expect((await second).body.result).toHaveLength(1);
  });

  it("TG-1: update types that the bot did not ask for are not stored", async () => {
    await raw<Update[]>("getUpdates", { allowed_updates: ["message"] });
    const message = telegram.say("a message");
    telegram.edit(message, "an edit");
    telegram.say("a post", { chat: CHANNEL });
    expect(telegram.pending).toHaveLength(1);
  });

  it("TG-1: in privacy mode small talk of a group stays away from the bot", () => {
    telegram.bot.can_read_all_group_messages = false;
    telegram.say("small talk", { chat: GROUP });
    telegram.say("@agent_test_bot hello", { chat: GROUP });
    telegram.say("/send off", { chat: GROUP });
    telegram.say("in private");
    expect(telegram.pending.map(({ message }) => message?.text)).toEqual([
      "@agent_test_bot hello",
      "/send off",
      "in private",
    ]);
  });

  it("TG-1: anonymous admins, edits and button presses look as they do on Telegram", async () => {
    const message = telegram.say("/send off", { chat: GROUP, inNameOf: "anonymous" });
    telegram.edit(message, "/send on");
    telegram.press("yes", message);
    expect(telegram.pending).toMatchObject([
      { message: { from: { username: "GroupAnonymousBot", is_bot: true }, sender_chat: { id: GROUP.id } } },
      { edited_message: { message_id: message.message_id, text: "/send on" } },
      { callback_query: { data: "yes", from: ANN } },
    ]);
    const query = telegram.pending[2]?.callback_query?.id;
    expect((await raw("answerCallbackQuery", { callback_query_id: query })).body.result).toBe(true);
    expect(await description(raw("answerCallbackQuery", { callback_query_id: query }))).toContain(
      "query is too old",
    );
  });

  it("TG-1: a webhook gets each update once, with its secret, and again after an error", async () => {
    const bot = connect();
    await bot.init();
    const texts: string[] = [];
    bot.on("message:text", (ctx) => {
      texts.push(ctx.msg.text);
      if (texts.length === 1) throw new Error("planted: the first delivery fails");
    });
    const callback = webhookCallback(bot, "http", { secretToken: "s3cret" });
    const server = createServer((request, response) => {
      callback(request, response).catch(() => response.writeHead(500).end());
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string")
      throw new Error("The test's own server is not listening.");
    await bot.api.setWebhook(`http://127.0.0.1:${address.port}/hook`, { secret_token: "s3cret" });
    expect((await raw<Update[]>("getUpdates")).status).toBe(409);
    telegram.say("once");
    await telegram.until(() => telegram.webhookError !== "", "the webhook failed");
    expect(telegram.pending).toHaveLength(1);
    telegram.retryWebhook();
    await telegram.settled();
    expect(texts).toEqual(["once", "once"]);
    await bot.api.setWebhook(`http://127.0.0.1:${address.port}/hook`, { secret_token: "wrong" });
    telegram.say("refused");
    await telegram.until(() => telegram.webhookError.includes("401"), "the wrong secret was refused");
    server.closeAllConnections();
    server.close();
  });
});

describe("TG-2: sendMessage refuses what Telegram refuses", () => {
  const to = { chat_id: ANN.id };

  beforeEach(() => {
    telegram.opened(ANN);
    telegram.room(FORUM).topics.set(42, { name: "Deploys", openedBy: ANN });
    telegram.room(GROUP);
  });

  it.each([
    ["an unknown chat", { chat_id: 42, text: "x" }, "chat not found"],
    ["an empty text", { ...to, text: "" }, "message text is empty"],
    [
      "a text that is empty without its markup",
      { ...to, text: "<b> </b>", parse_mode: "HTML" },
      "message text is empty",
    ],
    ["4097 characters", { ...to, text: "x".repeat(4097) }, "message is too long"],
    ["an unknown tag", { ...to, text: "write to <a@b.example>", parse_mode: "HTML" }, "can't parse entities"],
    ["an open tag", { ...to, text: "<b>bold", parse_mode: "HTML" }, "can't parse entities"],
    ["crossed tags", { ...to, text: "<b><i>x</b></i>", parse_mode: "HTML" }, "can't parse entities"],
    ["an end without a start", { ...to, text: "x</b>", parse_mode: "HTML" }, "can't parse entities"],
    ["an unknown topic", { chat_id: FORUM.id, message_thread_id: 7, text: "x" }, "message thread not found"],
    ["General by its id", { chat_id: FORUM.id, message_thread_id: 1, text: "x" }, "message thread not found"],
    [
      "a topic in a group without topics",
      { chat_id: GROUP.id, message_thread_id: 42, text: "x" },
      "message thread not found",
    ],
    [
      "a reply to nothing",
      { ...to, text: "x", reply_parameters: { message_id: 99 } },
      "message to be replied not found",
    ],
  ])("TG-2: %s is a 400", async (_, payload, reason) => {
    const { status, body } = await raw<Message>("sendMessage", payload);
    expect({ status, ok: body.ok }).toEqual({ status: 400, ok: false });
    expect(body.description).toContain(reason);
    expect(telegram.sent).toEqual([]);
  });

  it("L02: the limit counts the text without its markup, in UTF-16 units", async () => {
    const html = `<b>${"&lt;".repeat(4094)}😀</b>`;
    const { body } = await raw<Message>("sendMessage", { ...to, text: html, parse_mode: "HTML" });
    expect(body.result.text).toHaveLength(4096);
    expect(body.result.entities).toEqual([{ type: "bold", offset: 0, length: 4096 }]);
    expect(
      await description(raw<Message>("sendMessage", { ...to, text: `${html}!`, parse_mode: "HTML" })),
    ).toContain("too long");
  });

  it("TG-2: the recorder keeps text, entities, topic and preview of what was stored", async () => {
    const text =
      'see <a href="https://example.org">this</a>, <pre><code class="language-ts">a &lt; b</code></pre> @ann_example';
    await raw<Message>("sendMessage", { chat_id: FORUM.id, message_thread_id: 42, text, parse_mode: "HTML" });
    await raw<Message>("sendMessage", {
      ...to,
      text: " plain ",
      link_preview_options: { is_disabled: true },
    });
    expect(telegram.sent).toMatchObject([
      {
        chatId: FORUM.id,
        threadId: 42,
        text: "see this, a < b @ann_example",
        parseMode: "HTML",
        linkPreview: true,
        entities: [
          { type: "text_link", offset: 4, length: 4, url: "https://example.org" },
          { type: "pre", offset: 10, length: 5, language: "ts" },
          { type: "mention", offset: 16, length: 12 },
        ],
      },
      { chatId: ANN.id, text: "plain", entities: [], linkPreview: false },
    ]);
  });

  it("TG-2: a blocked bot gets 403, a migrated group tells its new id", async () => {
    telegram.opened(ANN).refusal = "bot was blocked by the user";
    expect(await raw<Message>("sendMessage", { ...to, text: "x" })).toMatchObject({
      status: 403,
      body: { description: "Forbidden: bot was blocked by the user" },
    });
    telegram.migrate(GROUP.id, -1004001);
    const { body } = await raw<Message>("sendMessage", { chat_id: GROUP.id, text: "x" });
    expect(body.parameters).toEqual({ migrate_to_chat_id: -1004001 });
    expect(telegram.pending).toMatchObject([
      { message: { chat: { id: GROUP.id }, migrate_to_chat_id: -1004001 } },
      { message: { chat: { id: -1004001 }, migrate_from_chat_id: GROUP.id } },
    ]);
  });

  it("TG-2: edits need an own message and a change", async () => {
    const { body } = await raw<Message>("sendMessage", { ...to, text: "one" });
    const target = { ...to, message_id: body.result.message_id };
    expect((await raw<Message>("editMessageText", { ...target, text: "two" })).body.result.text).toBe("two");
    expect(await description(raw("editMessageText", { ...target, text: "two" }))).toContain("not modified");
    expect(await description(raw("editMessageText", { ...target, message_id: 999, text: "x" }))).toContain(
      "not found",
    );
  });

  it("TG-2: topics are made in forums, and in private chats only when the bot has them switched on", async () => {
    const made = await raw<ForumTopic>("createForumTopic", { chat_id: FORUM.id, name: "Bugs" });
    const threadId = made.body.result.message_thread_id;
    expect(
      (await raw<Message>("sendMessage", { chat_id: FORUM.id, message_thread_id: threadId, text: "x" }))
        .status,
    ).toBe(200);
    expect(await description(raw("createForumTopic", { ...to, name: "Bugs" }))).toContain("not a forum");
    telegram.bot.has_topics_enabled = true;
    expect((await raw("createForumTopic", { ...to, name: "Bugs" })).status).toBe(200);
    expect((await raw<UserFromGetMe>("getMe")).body.result.has_topics_enabled).toBe(true);
  });

  it("TG-2: typing works in General by its id and nowhere in channels", async () => {
    telegram.room(CHANNEL);
    const typing = (chat_id: number | string, more = {}) =>
      raw("sendChatAction", { chat_id, action: "typing", ...more });
    expect((await typing(FORUM.id, { message_thread_id: 1 })).status).toBe(200);
    expect((await typing("@example_news")).status).toBe(400);
    expect((await typing(FORUM.id, { message_thread_id: 7 })).status).toBe(400);
  });
});

describe("TG-2: failures on demand", () => {
  it("M01 M02: each hits one call: limit, server error, refusal, proxy page, lost connection before and after storing", async () => {
    const bot = connect();
    telegram.opened(ANN);
    const send = () => bot.api.sendMessage(ANN.id, "x");
    telegram.failNext("sendMessage", rateLimited(7), 1);
    telegram.failNext("sendMessage", serverError);
    telegram.failNext("sendMessage", refused(403, "Forbidden: bot was kicked from the group chat"));
    telegram.failNext("sendMessage", { kind: "badGateway" });
    telegram.failNext("sendMessage", { kind: "dropBefore" });
    telegram.failNext("sendMessage", { kind: "dropAfter" });
    await send();
    await expect(send()).rejects.toMatchObject({ error_code: 429, parameters: { retry_after: 7 } });
    await expect(send()).rejects.toMatchObject({ error_code: 500 });
    await expect(send()).rejects.toBeInstanceOf(GrammyError);
    await expect(send()).rejects.toBeInstanceOf(HttpError);
    await expect(send()).rejects.toBeInstanceOf(HttpError);
    expect(telegram.sent).toHaveLength(1);
    await expect(send()).rejects.toBeInstanceOf(HttpError);
    expect(telegram.sent).toHaveLength(2);
    await send();
  });

  it("TG-1: a wrong token is 401, an unknown method 404", async () => {
    expect((await raw("getMe", {}, "1:wrong")).status).toBe(401);
    expect((await raw("sendRocket")).status).toBe(404);
  });
});

describe("CMD: command menus", () => {
  const list = [{ command: "weather", description: "Tells the weather" }];

  it.each([
    [
      "a name with capitals and a hyphen",
      { commands: [{ command: "Sub-Agents", description: "x" }] },
      "BOT_COMMAND_INVALID",
    ],
    [
      "a name that is too long",
      { commands: [{ command: "a".repeat(33), description: "x" }] },
      "BOT_COMMAND_INVALID",
    ],
    ["no description", { commands: [{ command: "a", description: "" }] }, "BOT_COMMAND_DESCRIPTION_INVALID"],
    [
      "101 commands",
      { commands: Array(101).fill({ command: "a", description: "x" }) },
      "BOT_COMMANDS_TOO_MUCH",
    ],
    ["a language that is not two letters", { commands: list, language_code: "pt-BR" }, "language code"],
    ["an unknown scope", { commands: list, scope: { type: "everybody" } }, "BotCommandScope"],
    [
      "a scope for an unknown chat",
      { commands: list, scope: { type: "chat", chat_id: 5 } },
      "chat not found",
    ],
  ])("CMD: %s is refused", async (_, payload, reason) => {
    expect(await description(raw("setMyCommands", payload))).toContain(reason);
  });

  it("CMD: each scope and language has its own list, and the narrowest one is seen", async () => {
    const scope = { type: "all_private_chats" };
    await raw("setMyCommands", { commands: list });
    await raw("setMyCommands", {
      commands: [{ command: "clima", description: "El tiempo" }],
      language_code: "es",
    });
    expect((await raw("getMyCommands", { scope })).body.result).toEqual([]);
    expect((await raw("getMyCommands")).body.result).toEqual(list);
    expect(telegram.menus.seenBy("es")).toMatchObject([{ command: "clima" }]);
    expect(telegram.menus.seenBy("de")).toEqual(list);
    await raw("setMyCommands", { commands: [{ command: "private", description: "x" }], scope });
    expect(telegram.menus.seenBy("es")).toMatchObject([{ command: "private" }]);
    await raw("deleteMyCommands", { scope });
    expect(telegram.menus.seenBy("de")).toEqual(list);
  });
});

describe("CMD-4: buttons are refused where Telegram refuses them", () => {
  const send = (buttons: readonly object[]) =>
    raw<Message>("sendMessage", { chat_id: ANN.id, text: "x", reply_markup: { inline_keyboard: [buttons] } });
  const button = (callback_data: string, text = "on") => ({ text, callback_data });

  it.each([
    ["data of 65 bytes", [button(`${"é".repeat(32)}x`)], "BUTTON_DATA_INVALID"],
    ["no data", [button("")], "BUTTON_DATA_INVALID"],
    ["no label", [button("x", " ")], "text buttons are unallowed"],
    ["101 buttons", Array.from({ length: 101 }, () => button("x")), "REPLY_MARKUP_TOO_LONG"],
  ])("CMD-4: %s", async (_, buttons, reason) => {
    telegram.opened(ANN);
    expect(await description(send(buttons))).toContain(reason);
    expect((await send([button("é".repeat(32))])).status).toBe(200);
  });

  it("CMD-4: a press shows the message as it is, takes one answer of 200 characters, and an edit takes the buttons off", async () => {
    telegram.opened(ANN);
    const { message_id } = (await send([button("x")])).body.result;
    const chat: Chat = { id: ANN.id, type: "private", first_name: "Ann" };
    telegram.tap("on", message_id, chat);
    telegram.tap("on", message_id, chat, ANN, "unseen");
    const [seen, unseen] = telegram.pending.map(({ callback_query }) => callback_query);
    expect(seen).toMatchObject({ data: "x", message: { text: "x", from: { is_bot: true } } });
    expect(unseen?.message).toEqual({ chat: telegram.room(chat).chat, message_id, date: 0 });
    const answer = { callback_query_id: seen?.id, text: "y".repeat(201) };
    expect(await description(raw("answerCallbackQuery", answer))).toContain("MESSAGE_TOO_LONG");
    await raw("answerCallbackQuery", { ...answer, text: "hi", show_alert: true });
    expect(telegram.callbackAnswers).toEqual([{ queryId: seen?.id, text: "hi", isAlert: true }]);
    const edit = { chat_id: ANN.id, message_id, text: "y" };
    await raw("editMessageText", edit);
    expect(await description(raw("editMessageText", edit))).toContain("message is not modified");
    expect(() => telegram.tap("on", message_id, chat)).toThrow("no button");
  });
});
