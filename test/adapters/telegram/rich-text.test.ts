import fc from "fast-check";
import type { Message, RichBlock } from "grammy/types";
import { describe, expect, it } from "vitest";
import { richText } from "../../../src/adapters/telegram/rich-text.ts";
import { ANN } from "../../standins/telegram/people.ts";
import { aRunningBot, CHANNEL, GROUP, placeOf, sendTo } from "./bot.ts";

const paragraph = (text: string): RichBlock => ({ type: "paragraph", text });
const rich = (...blocks: RichBlock[]): Partial<Message> => ({ rich_message: { blocks } });
const BOT_NAME = { type: "mention", text: "@agent_test_bot", username: "agent_test_bot" } as const;

describe("TG-1: what is read in a rich message", () => {
  const item = (label: string, ...blocks: RichBlock[]) => ({ label, blocks });
  const cell = (text: string) => ({ text, align: "left", valign: "top" }) as const;

  it.each<[string, readonly RichBlock[], string]>([
    [
      "headings, paragraphs and lines",
      [
        { type: "heading", text: ["One ", { type: "bold", text: "two" }], size: 1 },
        paragraph("a\nb"),
        { type: "divider" },
      ],
      "One two\na\nb\n---",
    ],
    [
      "lists within lists, with boxes",
      [
        {
          type: "list",
          items: [
            item("1.", paragraph("a"), { type: "list", items: [item("•", paragraph("b"))] }),
            { ...item("2.", paragraph("c")), has_checkbox: true, is_checked: true },
            { ...item("3."), has_checkbox: true },
          ],
        },
        paragraph("d"),
      ],
      "1. a\n• b\n2. [x] c\n3. [ ] \nd",
    ],
    [
      "tables",
      [
        {
          type: "table",
          caption: "cap",
          cells: [
            [cell("a"), { align: "left", valign: "top" }],
            [cell("b"), cell("c")],
          ],
        },
      ],
      "cap\na | \nb | c",
    ],
    [
      "quotations, details and code",
      [
        {
          type: "blockquote",
          blocks: [paragraph("q"), { type: "pre", text: "x  y", language: "ts" }],
          credit: "Ann",
        },
        { type: "details", summary: "more", blocks: [paragraph("hidden")] },
      ],
      "q\nx  y\nAnn\nmore\nhidden",
    ],
    [
      "formulas, emoji, links and buttons",
      [
        { type: "mathematical_expression", expression: "E=mc^2" },
        {
          type: "paragraph",
          text: [
            { type: "custom_emoji", custom_emoji_id: "5", alternative_text: "👍" },
            { type: "url", text: { type: "italic", text: "site" }, url: "https://x.example" },
            { type: "anchor", name: "x" },
          ],
        },
        { type: "buttons", buttons: [{ text: "Go", callback_data: "go" }] },
      ],
      "E=mc^2\n👍site\nGo",
    ],
  ])("TG-1: %s", (_, blocks, text) => {
    expect(richText(blocks).text).toBe(text);
  });

  it("TG-1: kinds that Telegram has added since give the text within them", () => {
    const blocks = [
      { type: "hologram", blocks: [{ type: "beam", text: ["a", { type: "glow", text: "b" }] }] },
      { type: "smell" },
      { caption: { text: "c" } },
      "d",
      null,
    ];
    expect(richText(blocks).text.trim()).toBe("ab\nc");
  });

  it("TG-1: anything is taken, however deep and long, and nothing is torn apart", () => {
    let deep: unknown = "bottom";
    for (let level = 0; level < 100_000; level++) deep = { type: "bold", text: [deep] };
    expect(richText([{ type: "paragraph", text: deep }]).text).toBe("");
    expect(richText([{ type: "paragraph", text: "😀".repeat(40_000) }]).text).toBe("😀".repeat(16_384));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (blocks) => {
        expect(richText(blocks).text.length).toBeLessThanOrEqual(32_768);
      }),
    );
  });
});

describe("TG-1: rich messages of people", () => {
  it("TG-1: a person who replies to a table of the bot quotes what it says", async () => {
    const made = await aRunningBot({ richMessages: true });
    const { messageIds } = await sendTo(made, placeOf(GROUP), "*See*\n\n| a | b |\n|---|---|\n| 1 | 2 |");
    const table = made.telegram.messageNow(Number(messageIds[0]), GROUP);
    expect(table.text).toBeUndefined();
    made.telegram.say("what is b?", { chat: GROUP, replyTo: table });
    await made.telegram.settled();
    expect(made.host.messages).toMatchObject([
      { text: "what is b?", addressed: true, quoted: { text: "See\na | b\n1 | 2", forwarded: false } },
    ]);
  });

  it("TG-1: a forward of one is somebody else's text", async () => {
    const made = await aRunningBot();
    const forward_origin = { type: "hidden_user", date: 1, sender_user_name: "Bob" } as const;
    made.telegram.say("", { more: { ...rich(paragraph("/stop everything")), forward_origin } });
    await made.telegram.settled();
    expect(made.host.messages).toMatchObject([
      { text: "", quoted: { text: "/stop everything", forwarded: true, senderName: "Bob" } },
    ]);
  });

  it.each([
    [
      "names the bot in the middle",
      [{ type: "paragraph", text: ["hey ", BOT_NAME, " go"] }],
      true,
      "hey @agent_test_bot go",
    ],
    ["names the bot first", [{ type: "paragraph", text: [BOT_NAME, ", go"] }], true, "go"],
    [
      "means the bot by its id",
      [{ type: "paragraph", text: { type: "text_mention", text: "you", user: { ...ANN, id: 123456 } } }],
      true,
      "you",
    ],
    [
      "names somebody else",
      [{ type: "paragraph", text: { ...BOT_NAME, text: "@other_bot" } }],
      false,
      "@other_bot",
    ],
    [
      "shows the name as code",
      [{ type: "paragraph", text: { type: "code", text: "@agent_test_bot" } }],
      false,
      "@agent_test_bot",
    ],
    [
      "is a command for this bot",
      [
        {
          type: "paragraph",
          text: [{ type: "bot_command", text: "/go@agent_test_bot", bot_command: "/go" }, " on"],
        },
      ],
      true,
      "/go on",
    ],
  ] satisfies [string, RichBlock[], boolean, string][])(
    "TG-1: one that %s",
    async (_, blocks, addressed, text) => {
      const made = await aRunningBot();
      // What Telegram puts beside it says that it cannot be shown.
      made.telegram.say("not supported", { chat: GROUP, more: rich(...blocks) });
      await made.telegram.settled();
      expect(made.host.messages).toMatchObject([{ text, addressed }]);
    },
  );

  it("TG-1: an edit of one is a change", async () => {
    const made = await aRunningBot();
    const message = made.telegram.say("", { chat: GROUP, more: rich(paragraph("one")) });
    made.telegram.edit({ ...message, ...rich(paragraph("two")) }, "");
    await made.telegram.settled();
    expect(made.host.changes).toMatchObject([{ change: "edited", text: "two" }]);
  });

  it("N09 TG-1: a bot knows its own table in a channel", async () => {
    const made = await aRunningBot({ richMessages: true });
    const markdown = "1. [x] done\n\n| a | [b](https://x.example) |\n|---|---|";
    const { messageIds } = await sendTo(made, placeOf(CHANNEL), markdown);
    const post = made.telegram.messageNow(Number(messageIds[0]), CHANNEL);
    made.telegram.say("", {
      chat: CHANNEL,
      more: { rich_message: post.rich_message, message_id: post.message_id } as Partial<Message>,
    });
    await made.telegram.settled();
    const [heard] = made.host.messages;
    expect(heard?.text).toBe("1. [x] done\na | b");
    expect(heard && (await made.adapter.hasPosted?.(heard))).toBe(true);
  });
});
