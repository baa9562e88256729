import { Api, GrammyError } from "grammy";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ANN } from "./telegram/people.ts";
import { TelegramStandIn } from "./telegram/telegram-stand-in.ts";

let telegram: TelegramStandIn;

beforeEach(async () => {
  telegram = await TelegramStandIn.start();
  telegram.opened(ANN);
});

afterEach(() => telegram.close());

const send = (rich_message: object) =>
  new Api(telegram.token, { apiRoot: telegram.apiRoot }).raw.sendRichMessage({
    chat_id: ANN.id,
    rich_message,
  });

const refusalOf = (sending: Promise<unknown>) =>
  sending.then(
    () => "taken",
    (error: unknown) => (error instanceof GrammyError ? `${error.error_code} ${error.description}` : error),
  );

describe("the Telegram stand-in: rich messages", () => {
  it("TG-2: are stored as blocks, without a text, and recorded as people read them", async () => {
    const html =
      '<h2>H</h2>a <b>b</b>&amp;<br>c<ol start="3"><li><input type="checkbox" checked>x</li></ol><table><tr><th align="right">t</th><td></td></tr></table>';
    const message = await send({ html, skip_entity_detection: true });
    expect(message).not.toHaveProperty("text");
    expect(message.rich_message.blocks).toEqual([
      { type: "heading", text: ["H"], size: 2 },
      { type: "paragraph", text: ["a ", { type: "bold", text: ["b"] }, "&", "\n", "c"] },
      {
        type: "list",
        items: [
          { label: "3.", has_checkbox: true, is_checked: true, blocks: [{ type: "paragraph", text: ["x"] }] },
        ],
      },
      {
        type: "table",
        cells: [
          [
            { text: ["t"], is_header: true, align: "right", valign: "top" },
            { align: "left", valign: "top" },
          ],
        ],
      },
    ]);
    expect(telegram.sent).toMatchObject([
      { method: "sendRichMessage", text: "H\na b&\nc\n3. [x] x\nt\t\t\n", entities: [] },
    ]);
  });

  it("TG-2: names ping in them unless the sender says no, and tg://user always does", async () => {
    const html = '<p>@ann_example <a href="tg://user?id=1001">Ann</a></p>';
    for (const skip_entity_detection of [true, false]) await send({ html, skip_entity_detection });
    expect(telegram.sent.map(({ entities }) => entities.map(({ type }) => type))).toEqual([
      ["text_mention"],
      ["text_mention", "mention"],
    ]);
  });

  it.each([
    ["an unknown tag", "<p>a<script></p>", 'unsupported tag "script"'],
    ["media", '<img src="https://x.example/i.png"/>', 'unsupported tag "img"'],
    ["buttons", "<tg-button>x</tg-button>", 'unsupported tag "tg-button"'],
    ["an unknown attribute", '<p onclick="x">a</p>', 'unsupported attribute "onclick"'],
    ["tags that cross", "<b><i>a</b></i>", 'unexpected "b"'],
    ["a tag without an end", "<p>a", `can't find the end of "p"`],
    ["an end without a tag", "a</p>", 'unexpected "p"'],
    ["a bare <", "a < b", "unexpected"],
    ["a bare &", "a & b", "unknown entity"],
    ["blocks in a cell", "<table><tr><td><p>a</p></td></tr></table>", `"p" can't stand in "td"`],
    ["text between rows", "<table>a<tr><td>b</td></tr></table>", 'text in "table"'],
    ["a checkbox in the middle", '<ul><li>a<input type="checkbox"></li></ul>', "a checkbox begins an item"],
    ["21 columns", `<table><tr>${"<td>a</td>".repeat(21)}</tr></table>`, "too many columns"],
    ["501 blocks", "<p>a</p>".repeat(501), "too many blocks"],
    ["17 levels", `${"<b>".repeat(17)}a${"</b>".repeat(17)}`, "too many levels"],
    ["32,769 characters", "a".repeat(32_769), "the text is too long"],
  ])("TG-2: %s: refused", async (_, html, reason) => {
    const refusal = await refusalOf(send({ html }));
    expect(refusal).toContain("400 Bad Request: can't parse rich message: ");
    expect(refusal).toContain(reason);
    expect(telegram.sent).toEqual([]);
  });

  it("TG-2: what is just within the limits is taken", async () => {
    for (const html of [
      `<table><tr>${"<td>a</td>".repeat(20)}</tr></table>`,
      "<p>a</p>".repeat(500),
      `${"<b>".repeat(16)}a${"</b>".repeat(16)}`,
      "a".repeat(32_768),
    ]) {
      expect(await refusalOf(send({ html }))).toBe("taken");
    }
  });

  it("TG-2: one form at a time, and one that says something", async () => {
    const rich = "can't parse rich message";
    expect(await refusalOf(send({}))).toContain(rich);
    expect(await refusalOf(send({ html: "a", markdown: "a" }))).toContain(rich);
    expect(await refusalOf(send({ html: "<p> </p>" }))).toContain("message text is empty");
  });

  it("TG-2: an older server knows no such method", async () => {
    telegram.forget("sendRichMessage");
    expect(await refusalOf(send({ html: "a" }))).toBe("404 Not Found: method not found");
  });
});
