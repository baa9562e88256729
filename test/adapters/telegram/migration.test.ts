import { Bot } from "grammy";
import { describe, expect, it } from "vitest";
import { telegramAdapter } from "../../../src/adapters/telegram/index.ts";
import type { Board } from "../../fakes/a-board.ts";
import { rateLimited } from "../../standins/telegram/failures.ts";
import { aBoardOn } from "./board.ts";
import { aBot, GROUP, type TestBot } from "./bot.ts";

const NEW_ID = -1004001;
const OLD_KEY = `agent:main:telegram:group:${GROUP.id}`;
const NEW_KEY = `agent:main:telegram:group:${NEW_ID}`;
const echo = { main: ({ text }: { text: string }) => `re: ${text.split(" ").at(-1)}` };

async function rows(board: Board) {
  const { sessions } = await board.gateway.call("sessions.list");
  // The shape that sessions_list documents.
  return sessions as readonly { key: string; label?: string; sendPolicy?: string; sessionId: string }[];
}

async function transcript(board: Board, sessionKey: string): Promise<readonly string[]> {
  const { messages } = await board.gateway.call("chat.history", { sessionKey });
  // The shape that sessions_history documents.
  const entries = messages as readonly { content: readonly { text?: string }[] }[];
  return entries.map(({ content }) => content[0]?.text ?? "");
}

const arrived = ({ telegram }: TestBot) => telegram.sent.map(({ chatId, text }) => `${chatId} ${text}`);

const sends = ({ telegram }: TestBot) =>
  telegram.calls.filter(({ method }) => method === "sendMessage").map(({ payload }) => payload.chat_id);

/** A group with a session that has a label, and an answer that Telegram's limit holds back. */
async function aBusyGroup() {
  const made = await aBot();
  const board = await aBoardOn(made, { agents: echo });
  await made.poll();
  made.telegram.say("one", { chat: GROUP });
  await made.telegram.until(() => made.telegram.sent.length === 1, "one was answered");
  await board.gateway.call("sessions.patch", { sessionKey: OLD_KEY, label: "Kitchen talk" });
  made.telegram.failNext("sendMessage", rateLimited(30));
  made.telegram.say("two", { chat: GROUP });
  await made.telegram.until(() => sends(made).length === 2, "the answer to two was held back");
  await board.quiet();
  return { made, board };
}

describe("STORE-7: a group that becomes a supergroup", () => {
  it.each([
    ["by a notice in the old chat", ["old"]],
    ["by a notice in the new chat", ["new"]],
    ["by both, one after the other", ["old", "new"]],
    ["by nothing but the refusal of the next send", []],
  ] as const)(
    "STORE-7 I07: told %s, keeps session, transcript and label, and what waits arrives once in the new chat",
    async (_, told) => {
      const { made, board } = await aBusyGroup();
      const [before] = await rows(board);
      const chat = made.telegram.migrate(GROUP.id, NEW_ID, told);
      await made.telegram.settled();
      await board.clock.advance(30_000);
      await made.telegram.until(() => made.telegram.sent.length === 2, "the answer to two arrived");
      await board.quiet();
      made.telegram.say("three", { chat });
      await made.telegram.until(() => made.telegram.sent.length === 3, "three was answered");
      await board.quiet();

      expect(arrived(made)).toEqual([`${GROUP.id} re: one`, `${NEW_ID} re: two`, `${NEW_ID} re: three`]);
      // One refusal at most: from then on the new id is known.
      const refusals = told.length > 0 ? [] : [GROUP.id];
      expect(sends(made)).toEqual([GROUP.id, GROUP.id, ...refusals, NEW_ID, NEW_ID]);
      expect(await rows(board)).toMatchObject([
        { key: NEW_KEY, label: "Kitchen talk", sessionId: before?.sessionId },
      ]);
      expect(await transcript(board, NEW_KEY)).toEqual(
        ["one", "two", "three"].flatMap((word) => [word, `re: ${word}`]),
      );
    },
  );

  it("STORE-7 I07 J01: an owner's silence goes along with the group", async () => {
    const made = await aBot();
    const board = await aBoardOn(made, { agents: echo });
    await made.poll();
    made.telegram.say("one", { chat: GROUP });
    await made.telegram.until(() => made.telegram.sent.length === 1, "one was answered");
    made.telegram.say("/send off", { chat: GROUP });
    await made.telegram.until(() => made.telegram.sent.length === 2, "the command was answered");
    const chat = made.telegram.migrate(GROUP.id, NEW_ID);
    made.telegram.say("two", { chat });
    await made.telegram.settled();
    await board.quiet();
    expect(await transcript(board, NEW_KEY)).toContain("two");
    expect(made.telegram.sent).toHaveLength(2);
    made.telegram.say("/send on", { chat });
    await made.telegram.until(() => made.telegram.sent.length === 3, "the owner is heard again");
    expect(await rows(board)).toMatchObject([{ key: NEW_KEY }]);
  });

  it("STORE-7 I07 RUN-2: noticed by the process after the next only, with notices that come again", async () => {
    const { made, board } = await aBusyGroup();
    await board.close({ graceMs: 0 });
    await made.bot.stop();
    const chat = made.telegram.migrate(GROUP.id, NEW_ID, []);

    const bot = new Bot(made.telegram.token, { client: { apiRoot: made.telegram.apiRoot } });
    const adapter = telegramAdapter({ bot });
    const again = await aBoardOn({ ...made, bot, adapter }, { agents: echo, dataDir: board.dataDir });
    const polling = bot.start();
    await again.clock.advance(60_000);
    await made.telegram.until(() => made.telegram.sent.length === 2, "the answer to two arrived");
    for (let times = 0; times < 2; times++) {
      made.telegram.say("", { chat: GROUP, more: { migrate_to_chat_id: NEW_ID } });
      made.telegram.say("", { chat, more: { migrate_from_chat_id: GROUP.id } });
    }
    made.telegram.say("three", { chat });
    await made.telegram.until(() => made.telegram.sent.length === 3, "three was answered");
    await again.quiet();
    await bot.stop();
    await polling;
    expect(arrived(made)).toEqual([`${GROUP.id} re: one`, `${NEW_ID} re: two`, `${NEW_ID} re: three`]);
    expect(await rows(again)).toMatchObject([{ key: NEW_KEY, label: "Kitchen talk" }]);
    expect(await transcript(again, NEW_KEY)).toHaveLength(6);
  });
});
