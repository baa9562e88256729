import { describe, expect, it } from "vitest";
import { deliveryFailureOf } from "../../../src/core/errors.ts";
import type { OutboundMessage, PartProgress } from "../../../src/core/ports/chat.ts";
import type { Choice } from "../../../src/core/ports/command.ts";
import { type Failure, rateLimited, refused, serverError } from "../../standins/telegram/failures.ts";
import { ANN } from "../../standins/telegram/people.ts";
import { aBot, CHANNEL, FORUM, GROUP, placeOf, sendTo, startedWith, type TestBot } from "./bot.ts";

const TABLE = "| who | what |\n|---|---|\n| @ann_example | <b> |";
const CHOICES: readonly Choice[] = [{ label: "Stop", command: "/stop" }];
const REFUSED = refused(400, "Bad Request: can't parse rich message: unsupported tag");

const aRichBot = () => aBot({ richMessages: true });

const methodsOf = ({ telegram }: TestBot) => telegram.calls.map(({ method }) => method);

const failureOf = (sending: Promise<unknown>) =>
  sending.then(
    () => undefined,
    (error: unknown) => deliveryFailureOf(error),
  );

/** Three parts, of which the second holds a table. */
function threeParts(): string {
  const [full, half, most] = [810, 400, 600].map((count) => "word ".repeat(count));
  return `${full}\n\n${TABLE}\n\n${half}\n\n${most}`;
}

describe("TG-2: tables as rich messages, where the host wants it", () => {
  it("TG-2 K06: a table is one rich message, in which Telegram looks for no names; everything else is as ever", async () => {
    const made = await aRichBot();
    const { messageIds } = await sendTo(made, placeOf(GROUP), `@ann_example **see**\n\n${TABLE}`);
    await sendTo(made, placeOf(GROUP), "**no table**");
    expect(made.telegram.calls[0]).toEqual({
      method: "sendRichMessage",
      payload: {
        chat_id: GROUP.id,
        rich_message: { html: expect.stringContaining("<th>who</th>"), skip_entity_detection: true },
      },
    });
    const [rich, html] = made.telegram.sent;
    expect(rich).toMatchObject({ method: "sendRichMessage", messageId: Number(messageIds[0]), entities: [] });
    expect(rich?.text).toContain("@\u2060ann_example see\nwho\twhat");
    expect(html).toMatchObject({ method: "sendMessage", text: "no table", parseMode: "HTML" });
    expect(made.telegram.sent).toHaveLength(2);
  });

  it("TG-2: nobody who did not ask for it gets one", async () => {
    const made = await aBot();
    await sendTo(made, placeOf(GROUP), TABLE);
    expect(methodsOf(made)).toEqual(["sendMessage"]);
  });

  it("TG-2 B02: in a topic, as a reply, with buttons, as any other message", async () => {
    const made = await aRichBot();
    made.telegram.room(FORUM).topics.set(42, { name: "Deploys", openedBy: ANN });
    const asked = made.telegram.say("which?", { chat: FORUM, threadId: 42 });
    const more = { replyToId: String(asked.message_id), choices: CHOICES };
    await sendTo(made, placeOf(FORUM, "42"), TABLE, more);
    await sendTo(made, placeOf(FORUM, "1"), TABLE);
    await sendTo(made, placeOf(CHANNEL), TABLE);
    const place = { chatId: FORUM.id, threadId: 42, replyToId: asked.message_id, buttons: [["Stop"]] };
    expect(made.telegram.sent).toMatchObject([place, { chatId: FORUM.id }, { chatId: CHANNEL.id }]);
    expect(made.telegram.sent.map(({ method }) => method)).toEqual(Array(3).fill("sendRichMessage"));
    expect(made.telegram.sent[1]?.threadId).toBeUndefined();
  });

  it("TG-2 DELIV-1: goes on at the part that it stopped at, and tells of each", async () => {
    const made = await aRichBot();
    const parts: PartProgress[] = [];
    const onPart: OutboundMessage["onPart"] = async (progress) => void parts.push(progress);
    const asked = made.telegram.say("all of it", { chat: GROUP });
    const more = { replyToId: String(asked.message_id), choices: CHOICES, onPart, fromPart: 1 };
    const { messageIds } = await sendTo(made, placeOf(GROUP), threeParts(), more);
    expect(made.telegram.sent.map(({ method }) => method)).toEqual(["sendRichMessage", "sendMessage"]);
    expect(made.telegram.sent.map(({ replyToId, buttons }) => [replyToId, buttons])).toEqual([
      [undefined, undefined],
      [undefined, [["Stop"]]],
    ]);
    expect(parts).toEqual([
      { part: 1, state: "starting" },
      { part: 1, state: "sent", messageId: messageIds[0] },
      { part: 2, state: "starting" },
      { part: 2, state: "sent", messageId: messageIds[1] },
    ]);
  });

  it("TG-2: follows a group that has become a supergroup", async () => {
    const made = await aRichBot();
    made.telegram.migrate(GROUP.id, -1009, []);
    await sendTo(made, placeOf(GROUP), TABLE);
    expect(made.telegram.sent).toMatchObject([{ method: "sendRichMessage", chatId: -1009 }]);
    expect(methodsOf(made)).toEqual(["sendRichMessage", "sendRichMessage"]);
  });
});

describe("L03: a rich message that is not taken", () => {
  it("L03: goes as HTML, once, the next one is rich again, and the log says why", async () => {
    const made = await aRichBot();
    const host = await startedWith(made);
    made.telegram.failNext("sendRichMessage", REFUSED);
    const more = { choices: CHOICES, replyToId: String(made.telegram.say("?", { chat: GROUP }).message_id) };
    await sendTo(made, placeOf(GROUP), TABLE, more);
    expect(made.telegram.sent).toMatchObject([
      { method: "sendMessage", buttons: [["Stop"]], replyToId: Number(more.replyToId) },
    ]);
    await sendTo(made, placeOf(GROUP), TABLE);
    expect(made.telegram.sent.map(({ method }) => method)).toEqual(["sendMessage", "sendRichMessage"]);
    expect(host.log).toMatchObject([
      {
        level: "warn",
        details: { code: 400, description: expect.stringContaining("can't parse rich message") },
      },
    ]);
  });

  it("L03: goes as readable text where the HTML is refused too", async () => {
    const made = await aRichBot();
    made.telegram.failNext("sendRichMessage", REFUSED);
    made.telegram.failNext("sendMessage", refused(400, "Bad Request: can't parse entities: x"));
    await sendTo(made, placeOf(GROUP), TABLE);
    expect(made.telegram.sent).toHaveLength(1);
    expect(made.telegram.sent[0]?.parseMode).toBeUndefined();
  });

  it("L03: a server that does not know the method is asked once", async () => {
    const made = await aRichBot();
    const host = await startedWith(made);
    made.telegram.forget("sendRichMessage");
    for (let times = 0; times < 3; times++) await sendTo(made, placeOf(GROUP), TABLE);
    expect(methodsOf(made).filter((method) => method === "sendRichMessage")).toHaveLength(1);
    expect(made.telegram.sent.map(({ method }) => method)).toEqual(Array(3).fill("sendMessage"));
    expect(host.log).toMatchObject([{ level: "warn", details: { code: 404 } }]);
  });

  it.each([
    [400, "Bad Request: chat not found", "the bot is not in this chat"],
    [400, "Bad Request: message thread not found", "open it again or use another one"],
    [400, "Bad Request: message to be replied not found", "change the text or the chat"],
  ])(
    "M02: %i %s is what it is in any form, and no reason to stop asking",
    async (code, description, advice) => {
      const made = await aRichBot();
      for (const method of ["sendRichMessage", "sendMessage"]) {
        made.telegram.failNext(method, refused(code, description));
      }
      const failure = sendTo(made, placeOf(GROUP), TABLE);
      await expect(failure).rejects.toThrow(advice);
      await sendTo(made, placeOf(GROUP), TABLE);
      expect(made.telegram.sent.map(({ method }) => method)).toEqual(["sendRichMessage"]);
    },
  );
});

describe("M01 M03: nothing is sent in another form while the rich message may be there or may come", () => {
  const retryable: readonly [string, Failure, object][] = [
    ["a connection that breaks before", { kind: "dropBefore" }, { retryable: true, uncertain: true }],
    ["an answer that is lost", { kind: "dropAfter" }, { retryable: true, uncertain: true }],
    ["a proxy's page", { kind: "badGateway" }, { retryable: true, uncertain: true }],
    ["a limit", rateLimited(7), { retryable: true, retryAfterMs: 7000 }],
    ["a server error", serverError, { retryable: true }],
    ["a blocked bot", refused(403, "Forbidden: bot was blocked by the user"), { retryable: false }],
    ["a dead token", refused(401, "Unauthorized"), { retryable: false }],
  ];

  it.each(retryable)("M01 M03: %s", async (_, failure, expected) => {
    const made = await aRichBot();
    made.telegram.failNext("sendRichMessage", failure);
    const failed = await failureOf(sendTo(made, placeOf(GROUP), TABLE));
    expect(failed).toMatchObject(expected);
    expect(failed?.uncertain ?? false).toBe("uncertain" in expected);
    expect(methodsOf(made)).toEqual(["sendRichMessage"]);
  });

  it("M03: a send that is aborted while Telegram says nothing", async () => {
    const made = await aRichBot();
    made.telegram.failNext("sendRichMessage", { kind: "silence" });
    const controller = new AbortController();
    const message = { deliveryId: "d-1", markdown: TABLE };
    const sending = failureOf(made.adapter.send(placeOf(GROUP), message, controller.signal));
    await made.telegram.until(() => made.telegram.calls.length === 1, "the request arrived");
    controller.abort();
    expect(await sending).toMatchObject({ retryable: true, partsSent: 0, uncertain: true });
    expect(methodsOf(made)).toEqual(["sendRichMessage"]);
  });
});
