import type { Chat, Message, MessageOrigin } from "grammy/types";
import { describe, expect, it } from "vitest";
import type { InboundMessage } from "../../../src/core/ports/chat.ts";
import { ANN, type SayOptions } from "../../standins/telegram/people.ts";
import type { TelegramStandIn } from "../../standins/telegram/telegram-stand-in.ts";
import { aBot, aRunningBot, CHANNEL, FORUM, GROUP, placeOf, startedWith } from "./bot.ts";

const ANNS_CHAT: Chat = { id: ANN.id, type: "private", first_name: "Ann" };
const BOB = { id: 2002, is_bot: false, first_name: "Bob", last_name: "Example" };

/** Says one thing, then a marker, and gives back what was handed over before the marker. */
async function handedOver(
  said: (telegram: TelegramStandIn) => void,
  prepare: (telegram: TelegramStandIn) => void = () => undefined,
): Promise<readonly InboundMessage[]> {
  const { telegram, host, bot } = await aRunningBot();
  prepare(telegram);
  // grammY learns once what the bot is able to do.
  bot.botInfo = { ...telegram.bot };
  said(telegram);
  telegram.say("the end", { from: BOB });
  await host.until(() => host.messages.some(({ text }) => text === "the end"), "the marker arrived");
  return host.messages.slice(0, -1);
}

const handedOverAfter = async (text: string, options: SayOptions) =>
  (await handedOver((telegram) => telegram.say(text, options)))[0];

describe("places", () => {
  it.each([
    ["TG-1: a private chat", {}, placeOf(ANNS_CHAT)],
    ["TG-1: a basic group", { chat: GROUP }, placeOf(GROUP)],
    ["TG-1 I08: a topic of a forum", { chat: FORUM, threadId: 42 }, placeOf(FORUM, "42")],
    ["TG-1 I08: General of a forum is topic 1", { chat: FORUM }, placeOf(FORUM, "1")],
    ["TG-1: a channel", { chat: CHANNEL }, placeOf(CHANNEL)],
    [
      "TG-1: a chain of replies in General is no topic",
      { chat: FORUM, more: { message_thread_id: 9 } },
      placeOf(FORUM, "1"),
    ],
    [
      "TG-1: a chain of replies in a group is no topic",
      { chat: GROUP, more: { message_thread_id: 9 } },
      placeOf(GROUP),
    ],
  ])("%s has its own address", async (_, options, address) => {
    const message = await handedOverAfter("hello", options);
    expect(message?.from).toEqual(address);
  });

  it.each([
    ["TG-1: topics of a private chat count when the bot has them switched on", true, placeOf(ANNS_CHAT, "7")],
    ["TG-1: without that a private chat is one place", false, placeOf(ANNS_CHAT)],
  ])("%s", async (_, hasTopics, address) => {
    const [message] = await handedOver(
      (telegram) => telegram.say("hello", { threadId: 7 }),
      (telegram) => {
        telegram.bot.has_topics_enabled = hasTopics;
      },
    );
    expect(message?.from).toEqual(address);
  });
});

describe("who speaks", () => {
  it("TG-1: a person is known by the user id, with name, language and the chat's title", async () => {
    const message = await handedOverAfter("hola", { chat: GROUP, from: { ...BOB, language_code: "es" } });
    expect(message).toMatchObject({
      sender: { id: "2002", name: "Bob Example", isBot: false },
      locale: "es",
      chatTitle: "Friends",
      text: "hola",
    });
    expect(message?.sender.anonymous).toBeUndefined();
  });

  it.each([
    ["an anonymous admin", { chat: GROUP, inNameOf: "anonymous" as const }, GROUP],
    ["somebody in the name of a channel", { chat: GROUP, inNameOf: CHANNEL }, CHANNEL],
    ["a channel post", { chat: CHANNEL }, CHANNEL],
  ])(
    "TG-1 CMD-2: %s is the chat that is named, and anonymous, so never an owner",
    async (_, options, named) => {
      const message = await handedOverAfter("/send off", options);
      expect(message?.sender).toMatchObject({ id: String(named.id), isBot: false, anonymous: true });
      expect(message?.locale).toBeUndefined();
    },
  );
});

const fromBot = (telegram: TelegramStandIn): Message => ({
  message_id: 5,
  date: 1,
  chat: GROUP,
  from: telegram.bot,
  text: "I can help",
});

describe("whether the bot is meant", () => {
  const textMention = { type: "text_mention", offset: 4, length: 3 } as const;
  const said: readonly (readonly [string, string, (telegram: TelegramStandIn) => SayOptions, boolean])[] = [
    ["small talk in a group", "hello all", () => ({}), false],
    ["its name, in any case", "ask @Agent_Test_Bot about it", () => ({}), true],
    ["another name", "ask @ann_example about it", () => ({}), false],
    ["a longer name that starts like its own", "ask @agent_test_bot2 about it", () => ({}), false],
    ["its name inside an address", "write to x@agent_test_bot.example", () => ({}), false],
    [
      "a mention without a name",
      "ask Bot now",
      ({ bot }) => ({ entities: [{ ...textMention, user: bot }] }),
      true,
    ],
    [
      "a mention of somebody without a name",
      "ask Bob now",
      () => ({ entities: [{ ...textMention, user: BOB }] }),
      false,
    ],
    ["a reply to it", "and now?", (telegram) => ({ replyTo: fromBot(telegram) }), true],
    [
      "a reply to somebody",
      "and now?",
      (telegram) => ({ replyTo: { ...fromBot(telegram), from: BOB } }),
      false,
    ],
    ["a command for it", "/weather@agent_test_bot Rome", () => ({}), true],
    ["its name in a caption", "what is this, @agent_test_bot", () => ({ caption: true }), true],
    ["an admin's command without a name", "/weather Rome", () => ({ inNameOf: "anonymous" }), false],
  ];

  it.each(said)("TG-1: %s", async (_, text, options, addressed) => {
    const { telegram, host } = await aRunningBot({ answers: (message) => message.addressed });
    telegram.say(text, { chat: GROUP, ...options(telegram) });
    await host.texts(1);
    expect(host.messages[0]?.addressed).toBe(addressed);
  });

  it("TG-1: in a topic that the bot itself opened, nobody replies to it by just writing", async () => {
    const { telegram, host, adapter } = await aRunningBot();
    const topic = await adapter.createThread?.(placeOf(FORUM), "Task 7");
    telegram.say("small talk", { chat: FORUM, threadId: Number(topic?.threadId) });
    await host.texts(1);
    expect(host.messages[0]).toMatchObject({ addressed: false, from: topic });
    expect(host.messages[0]?.replyToId).toBeUndefined();
  });
});

describe("words", () => {
  it.each([
    ["TG-1: the bot's name behind a command is taken off", "/weather@Agent_Test_Bot Rome", "/weather Rome"],
    ["TG-1: the bot's name in front is taken off", "@agent_test_bot, what now?", "what now?"],
    ["TG-1: the bot's name alone stays", "@agent_test_bot", "@agent_test_bot"],
    [
      "TG-1: a command further on is plain text",
      "try /weather@other_bot then",
      "try /weather@other_bot then",
    ],
  ])("%s", async (_, said, text) => {
    expect((await handedOverAfter(said, { chat: GROUP }))?.text).toBe(text);
  });

  it("TG-1: a command for another bot is not handed over", async () => {
    expect(await handedOver((telegram) => telegram.say("/send@other_test_bot off", { chat: GROUP }))).toEqual(
      [],
    );
  });

  it("TG-1: a caption is the text, a file is described", async () => {
    const message = await handedOverAfter("look", { caption: true });
    expect(message).toMatchObject({
      text: "look",
      attachments: [{ mediaType: "image/jpeg", sizeBytes: 2048 }],
    });
  });

  it("TG-1: a document keeps its type, size and name; an animation counts once", async () => {
    const file = {
      file_id: "f",
      file_unique_id: "u",
      mime_type: "application/pdf",
      file_size: 7,
      file_name: "a.pdf",
    };
    const gif = { ...file, width: 1, height: 1, duration: 1, mime_type: "video/mp4", file_name: "a.gif" };
    const messages = await handedOver((telegram) => {
      telegram.say("", { more: { document: file } });
      telegram.say("", { more: { animation: gif, document: file } });
    });
    expect(messages.map(({ attachments }) => attachments)).toEqual([
      [{ mediaType: "application/pdf", sizeBytes: 7, name: "a.pdf" }],
      [{ mediaType: "video/mp4", sizeBytes: 7, name: "a.gif" }],
    ]);
  });

  it("K09: a forwarded command is somebody else's text, and the sender is who forwarded it", async () => {
    const forward_origin = { type: "user", date: 1, sender_user: BOB } as const;
    const message = await handedOverAfter("/send off", { more: { forward_origin } });
    expect(message).toMatchObject({
      text: "",
      sender: { id: String(ANN.id) },
      quoted: { text: "/send off", senderName: "Bob Example", forwarded: true },
    });
  });

  it("TG-1: a forward of a kind that Telegram has added since arrives, from nobody that can be named", async () => {
    // What today's types do not know.
    const forward_origin = { type: "story", date: 1, story: { id: 3 } } as unknown as MessageOrigin;
    const message = await handedOverAfter("look", { more: { forward_origin } });
    expect(message).toMatchObject({ text: "", quoted: { text: "look", forwarded: true } });
    expect(message?.quoted).not.toHaveProperty("senderName");
  });

  it("K09: forwarding a text that names the bot does not address it", async () => {
    const forward_origin = { type: "hidden_user", date: 1, sender_user_name: "Somebody" } as const;
    const message = await handedOverAfter("@agent_test_bot do it", { chat: GROUP, more: { forward_origin } });
    expect(message).toMatchObject({ addressed: false, quoted: { senderName: "Somebody" } });
  });

  it("K09: a reply quotes the original, or the part of it that was picked", async () => {
    const replyTo: Message = { message_id: 3, date: 1, chat: GROUP, from: BOB, text: "long story" };
    const messages = await handedOver((telegram) => {
      telegram.say("why?", { chat: GROUP, replyTo });
      telegram.say("why?", { chat: GROUP, replyTo, more: { quote: { text: "story", position: 5 } } });
    });
    expect(messages.map(({ quoted, replyToId }) => ({ quoted, replyToId }))).toEqual([
      { quoted: { text: "long story", senderName: "Bob Example", forwarded: false }, replyToId: "3" },
      { quoted: { text: "story", senderName: "Bob Example", forwarded: false }, replyToId: "3" },
    ]);
  });
});

describe("what is not a message for the bot", () => {
  const from = ANN;
  const asMessage = (more: object): Message => ({
    message_id: 1,
    date: 1,
    chat: ANNS_CHAT,
    from,
    text: "x",
    ...more,
  });
  const updates: readonly (readonly [string, object])[] = [
    ["an inline query", { inline_query: { id: "1", from, query: "x", offset: "" } }],
    [
      "a button of an inline message",
      { callback_query: { id: "1", from, chat_instance: "1", inline_message_id: "i", data: "x" } },
    ],
    ["a poll answer", { poll_answer: { poll_id: "1", user: from, option_ids: [0] } }],
    ["a business message", { business_message: asMessage({ business_connection_id: "b" }) }],
    ["a guest message", { guest_message: asMessage({ guest_query_id: "g" }) }],
    ["an edit", { edited_message: asMessage({ edit_date: 2 }) }],
    [
      "what the bot wrote through inline mode",
      { message: asMessage({ via_bot: { id: 123456, is_bot: true, first_name: "A" } }) },
    ],
    [
      "the copy of a channel's post in its discussion group",
      { message: asMessage({ is_automatic_forward: true, sender_chat: CHANNEL }) },
    ],
    [
      "a private talk with a channel",
      { message: asMessage({ chat: { ...FORUM, is_direct_messages: true } }) },
    ],
    ["an ephemeral message", { message: asMessage({ message_id: 0, ephemeral_message_id: 4 }) }],
    ["a service notice", { message: { ...asMessage({ new_chat_title: "New" }), text: undefined } }],
  ];

  it.each(updates)("I17: %s is not handed over, and the host's own handlers see it", async (_, update) => {
    const made = await aBot();
    const { telegram } = made;
    const seen: number[] = [];
    made.bot.use((ctx) => {
      seen.push(ctx.update.update_id);
    });
    const host = await startedWith(made);
    await made.poll();
    telegram.push(update);
    await telegram.settled();
    expect(seen).toHaveLength(1);
    expect(host.messages).toEqual([]);
    expect(host.log).toEqual([]);
  });

  it("I17: an edit is reported as a change, not as a second message", async () => {
    const { telegram, host } = await aRunningBot();
    const message = telegram.say("firts", { chat: FORUM, threadId: 42 });
    telegram.edit(message, "first");
    await host.until(() => host.changes.length > 0, "the change was reported");
    expect(host.messages).toHaveLength(1);
    expect(host.changes).toEqual([
      { id: String(message.message_id), from: placeOf(FORUM, "42"), change: "edited", text: "first" },
    ]);
  });
});
