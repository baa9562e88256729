import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { deliveryFailureOf, SwitchboardError } from "../../../src/core/errors.ts";
import { rateLimited, refused } from "../../standins/telegram/failures.ts";
import { ANN } from "../../standins/telegram/people.ts";
import { aBot, CHANNEL, FORUM, GROUP, placeOf, sendTo } from "./bot.ts";

const PARSE_ERROR = refused(400, "Bad Request: can't parse entities: unsupported start tag");

async function failureOf(sending: Promise<unknown>) {
  const error: unknown = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SwitchboardError)) throw new Error("The send did not fail as it should.");
  return { error, ...deliveryFailureOf(error) };
}

describe("TG-2: where a text goes", () => {
  it("B02: a topic is one sendMessage with its chat and its thread", async () => {
    const made = await aBot();
    made.telegram.room(FORUM).topics.set(42, { name: "Deploys", openedBy: ANN });
    await sendTo(made, placeOf(FORUM, "42"), "hi");
    expect(made.telegram.calls.map(({ method }) => method)).toEqual(["sendMessage"]);
    expect(made.telegram.calls[0]?.payload).toMatchObject({
      chat_id: FORUM.id,
      message_thread_id: 42,
      text: "hi",
    });
  });

  it("B02: General is written to without its thread, and shows typing with it", async () => {
    const made = await aBot();
    await sendTo(made, placeOf(FORUM, "1"), "hi");
    await made.adapter.setTyping?.(placeOf(FORUM, "1"));
    expect(made.telegram.sent).toMatchObject([{ chatId: FORUM.id, text: "hi" }]);
    expect(made.telegram.calls.at(-1)).toMatchObject({
      method: "sendChatAction",
      payload: { message_thread_id: 1 },
    });
  });

  it("TG-2: channels get posts, but no typing, which Telegram refuses there", async () => {
    const made = await aBot();
    await made.adapter.setTyping?.(placeOf(CHANNEL));
    await sendTo(made, placeOf(CHANNEL), "news");
    expect(made.telegram.calls.map(({ method }) => method)).toEqual(["sendMessage"]);
  });

  it("TG-2: a reply hangs on the first part only, and a vanished original does not stop it", async () => {
    const made = await aBot();
    const original = made.telegram.say("long answer please", { chat: GROUP });
    const long = "word ".repeat(1500);
    await sendTo(made, placeOf(GROUP), long, { replyToId: String(original.message_id) });
    expect(made.telegram.sent.map(({ replyToId }) => replyToId)).toEqual([original.message_id, undefined]);
    await sendTo(made, placeOf(GROUP), "late", { replyToId: "99999" });
    expect(made.telegram.sent.at(-1)).toMatchObject({ text: "late" });
  });

  it("TG-2: links show no preview", async () => {
    const made = await aBot();
    await sendTo(made, placeOf(GROUP), "see https://example.org");
    expect(made.telegram.sent).toMatchObject([{ linkPreview: false }]);
  });

  it("SPAWN: a new topic is opened in a forum, with a title Telegram takes", async () => {
    const made = await aBot();
    const topic = await made.adapter.createThread?.(placeOf(FORUM, "1"), `${"x".repeat(127)}😀 and more`);
    expect(topic).toEqual(placeOf(FORUM, topic?.threadId));
    expect(made.telegram.calls.at(-1)?.payload).toEqual({ chat_id: FORUM.id, name: "x".repeat(127) });
    if (topic) await sendTo(made, topic, "in the new topic");
    expect(made.telegram.sent).toMatchObject([{ threadId: Number(topic?.threadId) }]);
  });

  it("SPAWN: where there are no topics the error says what to do", async () => {
    const made = await aBot();
    const { error, retryable } = await failureOf(
      made.adapter.createThread?.(placeOf(GROUP), "x") ?? Promise.resolve(),
    );
    expect(retryable).toBe(false);
    expect(error.message).toContain("turn on topics in the settings of the group");
  });
});

describe("L03: markup that Telegram cannot read", () => {
  it("L03: is sent once more as readable text", async () => {
    const made = await aBot();
    made.telegram.failNext("sendMessage", PARSE_ERROR);
    await sendTo(made, placeOf(GROUP), "**bold** and [a link](https://example.org/?a_b=c_d)");
    expect(made.telegram.sent).toHaveLength(1);
    expect(made.telegram.sent[0]?.parseMode).toBeUndefined();
    expect(made.telegram.sent[0]?.text).toMatch(/^bold and a link.*https:\/\/example\.org\/\?a_b=c_d/);
  });

  it("L03: fails for good when the readable text is refused too", async () => {
    const made = await aBot();
    for (let times = 0; times < 2; times++) made.telegram.failNext("sendMessage", PARSE_ERROR);
    expect(await failureOf(sendTo(made, placeOf(GROUP), "x"))).toMatchObject({ retryable: false });
    expect(made.telegram.calls).toHaveLength(2);
  });

  it.each([
    "write to <ann@example.org> & <b>",
    "_ * [ ] ( ) ~ > # + - = | { } . !",
    "unbalanced **bold and `code",
    "[x](https://example.org/?a_b=c_d&e=<f>)",
  ])("L03: %s arrives at the first attempt", async (markdown) => {
    const made = await aBot();
    await sendTo(made, placeOf(GROUP), markdown);
    expect(made.telegram.calls).toHaveLength(1);
    expect(made.telegram.sent).toHaveLength(1);
  });
});

describe("M01 M02: what failures mean", () => {
  it("M01: a limit is passed on in full, however long", async () => {
    const made = await aBot();
    made.telegram.failNext("sendMessage", rateLimited(6775));
    expect(await failureOf(sendTo(made, placeOf(GROUP), "x"))).toMatchObject({
      retryable: true,
      retryAfterMs: 6_775_000,
    });
  });

  it.each([
    [400, "Bad Request: chat not found", "the bot is not in this chat"],
    [400, "Bad Request: message thread not found", "open it again or use another one"],
    [400, "Bad Request: TOPIC_CLOSED", "open it again or use another one"],
    [400, "Bad Request: TOPIC_DELETED", "open it again or use another one"],
    [400, "Bad Request: not enough rights to send text messages to the chat", "give the bot the right"],
    [400, "Bad Request: have no rights to send a message", "give the bot the right"],
    [400, "Bad Request: need administrator rights in the channel chat", "give the bot the right"],
    [400, "Bad Request: CHAT_RESTRICTED", "give the bot the right"],
    [400, "Bad Request: message is too long", "change the text or the chat"],
    [403, "Forbidden: bot was blocked by the user", "this person takes no messages"],
    [403, "Forbidden: user is deactivated", "this person takes no messages"],
    [403, "Forbidden: bot can't initiate conversation with a user", "this person takes no messages"],
    [403, "Forbidden: bot was kicked from the supergroup chat", "add the bot to the chat again"],
    [403, "Forbidden: bot is not a member of the channel chat", "add the bot to the chat again"],
    [403, "Forbidden: the group chat was deactivated", "add the bot to the chat again"],
    [401, "Unauthorized", "token is no longer valid"],
    [404, "Not Found", "token is no longer valid"],
    [500, "Internal Server Error", undefined],
    [502, "Bad Gateway", undefined],
    [429, "Too Many Requests", undefined],
  ])("M02: %i %s: final with advice, or tried again", async (code, description, advice) => {
    const made = await aBot();
    made.telegram.failNext("sendMessage", refused(code, description));
    const failure = await failureOf(sendTo(made, placeOf(GROUP), "x"));
    expect(failure).toMatchObject({ retryable: advice === undefined, partsSent: 0 });
    expect(failure.uncertain).toBeUndefined();
    expect(failure.error.message).toContain(description);
    expect(failure.error.message).toContain(advice ?? "will be tried again");
    expect(made.telegram.calls).toHaveLength(1);
  });

  it("M02 B02: a topic that was deleted fails for good, and nothing lands in General instead", async () => {
    const made = await aBot();
    expect(await failureOf(sendTo(made, placeOf(FORUM, "42"), "x"))).toMatchObject({ retryable: false });
    expect(made.telegram.sent).toEqual([]);
  });

  it("M03: without an answer it is uncertain whether the text arrived, as Telegram knows no repeats", async () => {
    const made = await aBot();
    for (const kind of ["dropBefore", "dropAfter", "badGateway"] as const) {
      made.telegram.failNext("sendMessage", { kind });
      expect(await failureOf(sendTo(made, placeOf(GROUP), "x"))).toMatchObject({
        retryable: true,
        uncertain: true,
      });
    }
    expect(made.telegram.sent).toHaveLength(1);
    expect(made.adapter.repeatableForMs).toBe(0);
  });

  it("M03: without a connection nothing has left, so it may be tried again", async () => {
    const made = await aBot();
    await made.telegram.close();
    const failure = await failureOf(sendTo(made, placeOf(GROUP), "x"));
    expect(failure).toMatchObject({ retryable: true, partsSent: 0 });
    expect(failure.uncertain).toBeUndefined();
  });

  it("DELIV-1: an aborted send ends although Telegram stays silent, and is uncertain", async () => {
    const made = await aBot();
    made.telegram.failNext("sendMessage", { kind: "silence" });
    const controller = new AbortController();
    const message = { deliveryId: "d-1", markdown: "x" };
    const sending = failureOf(made.adapter.send(placeOf(GROUP), message, controller.signal));
    await made.telegram.until(() => made.telegram.calls.length === 1, "the request arrived");
    controller.abort();
    expect(await sending).toMatchObject({ retryable: true, partsSent: 0, uncertain: true });
  });

  it("HIST-5: no error carries the bot's token or the text of the message", async () => {
    const made = await aBot();
    expect(made.adapter.secrets?.()).toEqual([made.telegram.token]);
    // As older versions of grammY report an answer that is no JSON.
    const wordy = (token: string) => new Error(`invalid json at https://api.example/bot${token}/sendMessage`);
    made.bot.api.config.use(async (call, method, payload, signal) => {
      const answer = await call(method, payload, signal);
      if (!answer.ok && answer.error_code === 418) throw wordy(made.telegram.token);
      return answer;
    });
    for (const failure of [
      { kind: "dropBefore" } as const,
      refused(403, "Forbidden: no"),
      refused(418, "x"),
    ]) {
      made.telegram.failNext("sendMessage", failure);
      const { error } = await failureOf(sendTo(made, placeOf(GROUP), "private words"));
      expect(inspect(error, { depth: 10 })).not.toMatch(new RegExp(`${made.telegram.token}|private words`));
    }
  });
});
