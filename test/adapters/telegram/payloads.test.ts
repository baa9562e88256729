import fc from "fast-check";
import type { Chat, Message, MessageEntity, Update, User, UserFromGetMe } from "grammy/types";
import { describe, expect, it } from "vitest";
import { toChange, toInbound, toMove } from "../../../src/adapters/telegram/inbound.ts";
import { toPress } from "../../../src/adapters/telegram/press.ts";
import { parseConfig } from "../../../src/core/config.ts";
import type { InboundMessage } from "../../../src/core/ports/chat.ts";
import { resolveChat } from "../../../src/core/session/resolve.ts";

const ME: UserFromGetMe = {
  id: 5550001,
  is_bot: true,
  first_name: "Helper",
  username: "Helper_Test_Bot",
  can_join_groups: true,
  can_read_all_group_messages: true,
  supports_inline_queries: false,
  can_connect_to_business: false,
  has_main_web_app: false,
  has_topics_enabled: true,
  allows_users_to_create_topics: false,
  can_manage_bots: false,
  supports_join_request_queries: false,
};
const ANN: User = {
  id: 700100,
  is_bot: false,
  first_name: "Ann",
  last_name: "Example",
  language_code: "pt-br",
};
const BOB: User = { id: 700200, is_bot: false, first_name: "Bob" };
const OTHER_BOT: User = { id: 5550002, is_bot: true, first_name: "Radio", username: "radio_test_bot" };
const GROUP_ANONYMOUS_BOT: User = {
  id: 1087968824,
  is_bot: true,
  first_name: "Group",
  username: "GroupAnonymousBot",
};
const CHANNEL_BOT: User = { id: 136817688, is_bot: true, first_name: "Channel", username: "Channel_Bot" };
const TELEGRAM: User = { id: 777000, is_bot: false, first_name: "Telegram" };

const PRIVATE: Chat.PrivateChat = { id: ANN.id, type: "private", first_name: "Ann" };
const BASIC: Chat.GroupChat = { id: -400100, type: "group", title: "Kitchen" };
const SUPER: Chat.SupergroupChat = {
  id: -1001400100,
  type: "supergroup",
  title: "Kitchen",
  username: "kitchen_x",
};
const FORUM: Chat.SupergroupChat = { id: -1001400200, type: "supergroup", title: "Ops", is_forum: true };
const CHANNEL: Chat.ChannelChat = { id: -1001400300, type: "channel", title: "News" };
const OTHER_CHANNEL: Chat.ChannelChat = { id: -1001400400, type: "channel", title: "Elsewhere" };

const DATE = 1_790_000_000;

function inChat(chat: Chat, more: Partial<Message> = {}): Message {
  return { message_id: 31, date: DATE, chat, from: ANN, ...more };
}

const said = (text: string, chat: Chat, more: Partial<Message> = {}) => inChat(chat, { text, ...more });
/** Channels do not say who wrote. */
const posted = (text: string, more: Partial<Message>): Message => ({
  message_id: 31,
  date: DATE,
  chat: CHANNEL,
  sender_chat: CHANNEL,
  text,
  ...more,
});
const entity = (type: "mention" | "bot_command" | "bold", offset: number, length: number): MessageEntity => ({
  type,
  offset,
  length,
});
const file = { file_id: "f", file_unique_id: "u", file_size: 9 };
const sized = { ...file, width: 4, height: 3 };
const asReply = (message: Message) => message as NonNullable<Message["reply_to_message"]>;
const botsOwn = asReply(said("I am here", SUPER, { from: ME }));
const opening = asReply(
  inChat(FORUM, { message_id: 8, from: ME, forum_topic_created: { name: "T", icon_color: 0 } }),
);
const inTopic = { message_thread_id: 8, is_topic_message: true } as const;

/** What the core gets to know of an update: key, sender, text, whether the bot is meant, and what else is worth a word. */
interface Row {
  readonly key: string;
  readonly sender: string;
  readonly text: string;
  readonly addressed: boolean;
  readonly more?: object;
}

const ann = (key: string, text: string, addressed: boolean, more?: object): Row => ({
  key,
  sender: "700100",
  text,
  addressed,
  ...(more ? { more } : {}),
});

const DIRECT = "agent:main:main";
const KITCHEN = "agent:main:telegram:group:-1001400100";
const OPS = "agent:main:telegram:group:-1001400200:topic:";
const NEWS = "agent:main:telegram:channel:-1001400300";

const messages: readonly (readonly [string, Message, Row | undefined])[] = [
  ["a private text", said("hi", PRIVATE), ann(DIRECT, "hi", true, { locale: "pt-br" })],
  ["a topic of a private chat", said("hi", PRIVATE, inTopic), ann("agent:main:main:thread:8", "hi", true)],
  ["a basic group", said("hi", BASIC), ann("agent:main:telegram:group:-400100", "hi", false)],
  ["a supergroup", said("hi", SUPER), ann(KITCHEN, "hi", false, { chatTitle: "Kitchen" })],
  [
    "a chain of replies, which is no topic",
    said("hi", SUPER, { message_thread_id: 8 }),
    ann(KITCHEN, "hi", false),
  ],
  ["General of a forum", said("hi", FORUM), ann(`${OPS}1`, "hi", false)],
  [
    "a chain of replies in General",
    said("hi", FORUM, { message_thread_id: 30 }),
    ann(`${OPS}1`, "hi", false),
  ],
  [
    "a topic that the bot opened",
    said("hi", FORUM, { ...inTopic, reply_to_message: opening }),
    ann(`${OPS}8`, "hi", false),
  ],
  [
    "a channel post",
    posted("hi", { author_signature: "Ann" }),
    { key: NEWS, sender: "-1001400300 anonymous", text: "hi", addressed: false },
  ],
  [
    "a channel post that names nobody at all",
    { message_id: 31, date: DATE, chat: CHANNEL, text: "hi" },
    { key: NEWS, sender: "-1001400300 anonymous", text: "hi", addressed: false },
  ],
  [
    "a channel post that names the bot",
    posted("@helper_test_bot sum up", { entities: [entity("mention", 0, 16)] }),
    { key: NEWS, sender: "-1001400300 anonymous", text: "sum up", addressed: true },
  ],
  [
    "an anonymous admin",
    said("/send off", SUPER, {
      from: GROUP_ANONYMOUS_BOT,
      sender_chat: SUPER,
      entities: [entity("bot_command", 0, 5)],
    }),
    { key: KITCHEN, sender: "-1001400100 anonymous", text: "/send off", addressed: false },
  ],
  [
    "somebody in the name of a channel",
    said("hi", SUPER, { from: CHANNEL_BOT, sender_chat: OTHER_CHANNEL }),
    { key: KITCHEN, sender: "-1001400400 anonymous", text: "hi", addressed: false },
  ],
  [
    "a channel's post in its discussion group: the bot may have written it",
    said("hi", SUPER, {
      from: TELEGRAM,
      sender_chat: CHANNEL,
      is_automatic_forward: true,
      forward_origin: { type: "channel", chat: CHANNEL, message_id: 4, date: DATE },
    }),
    undefined,
  ],
  [
    "a comment below such a post",
    said("what is this?", SUPER, {
      message_thread_id: 4,
      reply_to_message: asReply(said("News of today", SUPER, { from: TELEGRAM, sender_chat: CHANNEL })),
    }),
    ann(KITCHEN, "what is this?", false, {
      quoted: { text: "News of today", senderName: "News", forwarded: false },
    }),
  ],
  [
    "another bot",
    said("beep", SUPER, { from: OTHER_BOT }),
    { key: KITCHEN, sender: "5550002 bot", text: "beep", addressed: false },
  ],
  ["the bot itself", said("beep", SUPER, { from: ME }), undefined],
  [
    "a mention in any case",
    said("so, @HELPER_test_bot?", SUPER, { entities: [entity("mention", 4, 16)] }),
    ann(KITCHEN, "so, @HELPER_test_bot?", true),
  ],
  [
    "a mention behind characters of two units",
    said("👩‍👩‍👧🎉 @helper_test_bot", SUPER, { entities: [entity("mention", 11, 16)] }),
    ann(KITCHEN, "👩‍👩‍👧🎉 @helper_test_bot", true),
  ],
  [
    "a mention in front of them",
    said("@helper_test_bot: 🎉 now", SUPER, { entities: [entity("mention", 0, 16), entity("bold", 21, 3)] }),
    ann(KITCHEN, "🎉 now", true),
  ],
  [
    "another name that begins alike",
    said("@helper_test_bot_2 hi", SUPER, { entities: [entity("mention", 0, 18)] }),
    ann(KITCHEN, "@helper_test_bot_2 hi", false),
  ],
  [
    "a mention without a name",
    said("Helper, hi", SUPER, { entities: [{ type: "text_mention", offset: 0, length: 6, user: ME }] }),
    ann(KITCHEN, "hi", true),
  ],
  [
    "a mention of a person without a name",
    said("Bob, hi", SUPER, { entities: [{ type: "text_mention", offset: 0, length: 3, user: BOB }] }),
    ann(KITCHEN, "Bob, hi", false),
  ],
  [
    "our command by name",
    said("/send@helper_test_bot off", SUPER, { entities: [entity("bot_command", 0, 21)] }),
    ann(KITCHEN, "/send off", true),
  ],
  [
    "another bot's command",
    said("/send@radio_test_bot off", SUPER, { entities: [entity("bot_command", 0, 20)] }),
    undefined,
  ],
  [
    "a reply to the bot",
    said("and?", SUPER, { reply_to_message: botsOwn }),
    ann(KITCHEN, "and?", true, {
      replyToId: "31",
      quoted: { text: "I am here", senderName: "Helper", forwarded: false },
    }),
  ],
  [
    "a reply that quotes a part",
    said("why?", SUPER, {
      reply_to_message: asReply(said("long story", SUPER, { from: BOB })),
      quote: { text: "story", position: 5 },
    }),
    ann(KITCHEN, "why?", false, { quoted: { text: "story", senderName: "Bob", forwarded: false } }),
  ],
  [
    "a reply to a message of another chat",
    said("why?", SUPER, {
      external_reply: { origin: { type: "hidden_user", date: DATE, sender_user_name: "Someone" } },
      quote: { text: "/send off", position: 0 },
    }),
    ann(KITCHEN, "why?", false, { quoted: { text: "/send off", senderName: "Someone", forwarded: false } }),
  ],
  [
    "a forwarded command",
    said("/send off", PRIVATE, {
      entities: [entity("bot_command", 0, 5)],
      forward_origin: { type: "user", date: DATE, sender_user: BOB },
    }),
    ann(DIRECT, "", true, { quoted: { text: "/send off", senderName: "Bob", forwarded: true } }),
  ],
  [
    "a forwarded text that names the bot",
    said("@helper_test_bot hi", SUPER, {
      entities: [entity("mention", 0, 16)],
      forward_origin: { type: "chat", date: DATE, sender_chat: BASIC },
    }),
    ann(KITCHEN, "", false, {
      quoted: { text: "@helper_test_bot hi", senderName: "Kitchen", forwarded: true },
    }),
  ],
  [
    "what another bot worded in inline mode",
    said("/send off", PRIVATE, { via_bot: OTHER_BOT, entities: [entity("bot_command", 0, 5)] }),
    ann(DIRECT, "", true, { quoted: { text: "/send off", senderName: "Radio", forwarded: true } }),
  ],
  [
    "a picture from another bot's inline mode",
    inChat(PRIVATE, { via_bot: OTHER_BOT, photo: [sized] }),
    ann(DIRECT, "", true, { attachments: [{ mediaType: "image/jpeg", sizeBytes: 9 }] }),
  ],
  ["what the bot worded in inline mode", said("beep", SUPER, { via_bot: ME }), undefined],
  [
    "a photo with a caption that names the bot",
    inChat(SUPER, {
      photo: [{ ...sized, file_size: 3 }, sized],
      caption: "@helper_test_bot look",
      caption_entities: [entity("mention", 0, 16)],
    }),
    ann(KITCHEN, "look", true, { attachments: [{ mediaType: "image/jpeg", sizeBytes: 9 }] }),
  ],
  [
    "a document",
    inChat(PRIVATE, { document: { ...file, mime_type: "text/csv", file_name: "a.csv" } }),
    ann(DIRECT, "", true, { attachments: [{ mediaType: "text/csv", sizeBytes: 9, name: "a.csv" }] }),
  ],
  [
    "a voice message",
    inChat(PRIVATE, { voice: { ...file, duration: 2, mime_type: "audio/ogg" } }),
    ann(DIRECT, "", true, { attachments: [{ mediaType: "audio/ogg", sizeBytes: 9 }] }),
  ],
  [
    "a sticker",
    inChat(PRIVATE, {
      sticker: { ...sized, type: "regular", is_animated: false, is_video: false, emoji: "🎉" },
    }),
    ann(DIRECT, "", true, { attachments: [{ mediaType: "image/webp", sizeBytes: 9 }] }),
  ],
  ["a place on the map", inChat(PRIVATE, { location: { latitude: 1, longitude: 2 } }), undefined],
  [
    "a forwarded place on the map",
    inChat(PRIVATE, {
      location: { latitude: 1, longitude: 2 },
      forward_origin: { type: "user", date: DATE, sender_user: BOB },
    }),
    undefined,
  ],
  ["a new member", inChat(SUPER, { new_chat_members: [BOB] }), undefined],
  ["a pinned message", inChat(SUPER, { pinned_message: said("x", SUPER) }), undefined],
  ["a topic that was closed", inChat(FORUM, { ...inTopic, forum_topic_closed: {} }), undefined],
  ["a video chat", inChat(SUPER, { video_chat_started: {} }), undefined],
  ["a private talk with a channel", said("x", { ...SUPER, is_direct_messages: true }), undefined],
  [
    "a message that only the bot sees",
    said("/send", SUPER, { message_id: 0, ephemeral_message_id: 3 }),
    undefined,
  ],
];

const config = parseConfig({}, ["main"]);
const agents = { agentIds: ["main"], defaultAgentId: "main", samePerson: () => [] };
const keyOf = ({ from, sender }: InboundMessage) =>
  resolveChat({ address: from, sender }, config, agents).key;

describe("what a payload becomes", () => {
  it.each(messages)("TG-1 I17: %s", (_, message, row) => {
    // Which of the two it is depends on the chat; the types of grammY cannot follow.
    const field = message.chat.type === "channel" ? "channel_post" : "message";
    const event = { update: { update_id: 1, [field]: message } as Update, me: ME, accountId: "default" };
    const inbound = toInbound(event);
    expect(inbound && keyOf(inbound)).toBe(row?.key);
    if (!inbound || !row) return;
    const { sender, text, addressed } = inbound;
    const mark = sender.anonymous ? " anonymous" : sender.isBot ? " bot" : "";
    expect({ sender: `${sender.id}${mark}`, text, addressed }).toEqual({
      sender: row.sender,
      text: row.text,
      addressed: row.addressed,
    });
    expect(inbound).toMatchObject({ id: "31", sentAtMs: DATE * 1000, ...row.more });
  });

  it("TG-1 I17: whatever else is missing, nothing throws, and nobody is called undefined", () => {
    const samples = messages.map(([, message]) => message);
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.infiniteStream(fc.boolean()), (message, coins) => {
        const needed = new Set(["message_id", "date", "chat"]);
        const kept = Object.entries(message).filter(([name]) => needed.has(name) || coins.next().value);
        for (const field of ["message", "channel_post", "edited_message"]) {
          // Telegram leaves out what does not apply; the types say which belongs together.
          const update = { update_id: 1, [field]: Object.fromEntries(kept) } as unknown as Update;
          const event = { update, me: ME, accountId: "default" };
          const inbound = toInbound(event);
          expect([toChange(event)?.from.chatId, inbound?.sender.id, inbound?.from.chatId]).not.toContain(
            "undefined",
          );
          if (inbound) expect(keyOf(inbound)).not.toMatch(/undefined|NaN|null/);
        }
      }),
      { numRuns: 500 },
    );
  });

  const changes: readonly (readonly [string, Message, object | undefined])[] = [
    ["a text", said("new", FORUM, inTopic), { id: "31", change: "edited", text: "new" }],
    ["a caption", inChat(SUPER, { photo: [sized], caption: "new" }), { text: "new" }],
    ["a channel's post", posted("new", {}), { text: "new" }],
    ["a text that another bot wrote through ours", said("new", SUPER, { via_bot: ME }), undefined],
    ["a place on the map that moves", inChat(SUPER, { location: { latitude: 1, longitude: 2 } }), undefined],
  ];

  it.each(changes)("TG-1 I17: an edit of %s is a change, and never a message", (_, message, change) => {
    const field = message.chat.type === "channel" ? "edited_channel_post" : "edited_message";
    const edited = { ...message, edit_date: DATE + 1 };
    const event = { update: { update_id: 1, [field]: edited } as Update, me: ME, accountId: "default" };
    expect(toInbound(event)).toBeUndefined();
    if (change) expect(toChange(event)).toMatchObject(change);
    else expect(toChange(event)).toBeUndefined();
  });

  const inlineButton = {
    id: "1",
    from: ANN,
    chat_instance: "1",
    inline_message_id: "i",
    data: "sb/send off",
  };
  const member = { user: BOB, status: "member" } as const;
  const changed = { chat: SUPER, from: ANN, date: DATE, old_chat_member: member, new_chat_member: member };
  const rest: readonly (readonly [string, Omit<Update, "update_id">])[] = [
    ["an inline query", { inline_query: { id: "1", from: ANN, query: "x", offset: "" } }],
    ["a chosen result", { chosen_inline_result: { result_id: "1", from: ANN, query: "x" } }],
    ["a button of an inline message", { callback_query: inlineButton }],
    ["a game's button", { callback_query: { id: "1", from: ANN, chat_instance: "1", game_short_name: "g" } }],
    [
      "a poll answer",
      { poll_answer: { poll_id: "1", user: ANN, option_ids: [0], option_persistent_ids: [] } },
    ],
    ["a new member's state", { chat_member: changed }],
    ["the bot's own state", { my_chat_member: changed }],
    ["a request to join", { chat_join_request: { chat: SUPER, from: BOB, user_chat_id: 1, date: DATE } }],
    [
      "a reaction",
      {
        message_reaction: {
          chat: SUPER,
          message_id: 1,
          date: DATE,
          user: ANN,
          old_reaction: [],
          new_reaction: [],
        },
      },
    ],
    [
      "a count of reactions",
      { message_reaction_count: { chat: SUPER, message_id: 1, date: DATE, reactions: [] } },
    ],
    ["a business message", { business_message: { ...said("x", PRIVATE), chat: PRIVATE, from: ANN } }],
    [
      "an edited business message",
      { edited_business_message: { ...said("x", PRIVATE), chat: PRIVATE, from: ANN, edit_date: 1 } },
    ],
    ["a guest message", { guest_message: { ...said("x", SUPER), chat: SUPER, from: ANN } }],
    ["a kind of update that is not known yet", {}],
  ];

  it.each(rest)("I17: %s is nothing to the core", (_, update) => {
    const event = { update: { update_id: 1, ...update }, me: ME, accountId: "default" };
    expect([toInbound(event), toChange(event), toMove(event), toPress(event)]).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
  });
});
