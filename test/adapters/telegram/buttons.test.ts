import { describe, expect, it } from "vitest";
import type { Acceptance } from "../../../src/core/ports/chat.ts";
import type { Choice, CommandReply } from "../../../src/core/ports/command.ts";
import { refused } from "../../standins/telegram/failures.ts";
import { ANN } from "../../standins/telegram/people.ts";
import { aBoardOn } from "./board.ts";
import {
  aBot,
  aCommand,
  FORUM,
  GROUP,
  placeOf,
  type RunningBot,
  sendTo,
  startedWith,
  type TestBot,
} from "./bot.ts";

const BOB = { id: 2002, is_bot: false, first_name: "Bob" };
const ANNS_CHAT = { id: ANN.id, type: "private", first_name: "Ann" } as const;
const CHOICES: readonly Choice[] = ["on", "off", "inherit"].map((word) => ({
  label: word,
  command: `/send ${word}`,
}));

/** A running bot whose core answers presses as told; the answers come in order, the last one again and again. */
async function aBotWithAnswers(...answers: readonly (CommandReply | undefined)[]): Promise<RunningBot> {
  const made = await aBot();
  const host = await startedWith(made, [aCommand("send")]);
  await made.adapter.start(host);
  let next = 0;
  host.onCommand = async (call) => {
    host.commandCalls.push(call);
    const reply = answers[Math.min(next, answers.length - 1)];
    next += 1;
    return reply;
  };
  host.answer = (): Acceptance => "command";
  await made.poll();
  return { ...made, host };
}

/** Ann asks, and the bot answers her with the three choices. */
async function asked(made: RunningBot, chat: typeof GROUP | typeof ANNS_CHAT = GROUP): Promise<number> {
  const { message_id } = made.telegram.say("/send", { chat });
  await sendTo(made, placeOf(chat), "It is **on**.", { replyToId: String(message_id), choices: CHOICES });
  return made.telegram.sent.at(-1)?.messageId ?? 0;
}

/** The press is over: nothing of it is left to be seen. */
async function over({ telegram, adapter }: RunningBot): Promise<void> {
  await telegram.settled();
  await adapter.stop();
}

const now = ({ telegram }: TestBot, id: number, chat = GROUP) => {
  const { text, reply_markup } = telegram.messageNow(id, chat);
  return { text, buttons: reply_markup?.inline_keyboard.flat().map((button) => button.text) };
};

describe("CMD-4: choices below a text", () => {
  it("CMD-4: are two buttons in a row, below the last part only, and the text has its formatting", async () => {
    const made = await aBot();
    await sendTo(made, placeOf(GROUP), `**bold** ${"word ".repeat(1500)}`, { choices: CHOICES });
    expect(made.telegram.sent.map(({ buttons }) => buttons)).toEqual([
      undefined,
      [["on", "off"], ["inherit"]],
    ]);
  });

  it("CMD-4 L03: stay when the text has to go without its markup", async () => {
    const made = await aBot();
    made.telegram.failNext("sendMessage", refused(400, "Bad Request: can't parse entities: x"));
    await sendTo(made, placeOf(GROUP), "**x**", { choices: CHOICES });
    expect(made.telegram.sent).toMatchObject([{ text: "x", buttons: [["on", "off"], ["inherit"]] }]);
  });

  it("CMD-4: a command that is too long for Telegram has no button, and the text arrives all the same", async () => {
    const made = await aBot();
    const long = { label: "long", command: `/send ${"é".repeat(29)}` };
    await sendTo(made, placeOf(GROUP), "x", { choices: [long, ...CHOICES] });
    await sendTo(made, placeOf(GROUP), "y", { choices: [long] });
    expect(made.telegram.sent.map(({ text, buttons }) => ({ text, buttons }))).toEqual([
      { text: "x", buttons: [["on", "off"], ["inherit"]] },
      { text: "y", buttons: undefined },
    ]);
  });
});

describe("CMD-4: a press", () => {
  it("CMD-4 CMD-2: is the command of whoever presses, in the place of the message", async () => {
    const made = await aBotWithAnswers({ text: "It is off." });
    const id = await asked(made);
    made.telegram.tap("off", id, GROUP);
    await over(made);
    expect(made.host.commandCalls).toEqual([
      {
        id: "9000",
        name: "send",
        text: "off",
        from: placeOf(GROUP),
        sender: { id: String(ANN.id), name: "Ann", isBot: false },
        locale: "en",
        isPublic: true,
      },
    ]);
  });

  it("CMD-4: changes the message that answered the same person, and the buttons go", async () => {
    const made = await aBotWithAnswers({ text: "It is **off**." });
    const id = await asked(made);
    made.telegram.tap("off", id, GROUP);
    await over(made);
    expect(now(made, id)).toEqual({ text: "It is off.", buttons: undefined });
    expect(made.telegram.callbackAnswers).toEqual([{ queryId: "9000", text: "", isAlert: false }]);
    expect(made.telegram.sent).toHaveLength(1);
  });

  it("CMD-4: new choices take the place of the old ones, and can be pressed in turn", async () => {
    const made = await aBotWithAnswers({ text: "It is off.", choices: CHOICES }, { text: "It is on." });
    const id = await asked(made, ANNS_CHAT);
    made.telegram.tap("off", id, ANNS_CHAT);
    await made.telegram.until(
      () => made.telegram.messageNow(id, ANNS_CHAT).text === "It is off.",
      "it is off",
    );
    made.telegram.tap("on", id, ANNS_CHAT);
    await over(made);
    expect(made.host.commandCalls.map(({ text }) => text)).toEqual(["off", "on"]);
    expect(made.host.commandCalls.map(({ isPublic }) => isPublic)).toEqual([true, true]);
    expect(made.telegram.messageNow(id, ANNS_CHAT).text).toBe("It is on.");
  });

  it("CMD-4 CMD-2: by somebody else is answered to that person alone, and the message stays", async () => {
    const made = await aBotWithAnswers({
      text: `Only the **owner** can do this. ${"Your id is 2002. ".repeat(20)}`,
    });
    const id = await asked(made);
    made.telegram.tap("off", id, GROUP, BOB);
    await over(made);
    expect(made.host.commandCalls[0]?.sender).toEqual({ id: "2002", name: "Bob", isBot: false });
    expect(made.host.commandCalls[0]?.isPublic).toBeUndefined();
    expect(now(made, id)).toEqual({ text: "It is on.", buttons: ["on", "off", "inherit"] });
    const [answer] = made.telegram.callbackAnswers;
    expect(answer).toMatchObject({
      isAlert: true,
      text: expect.stringMatching(/^Only the owner can do this\..+…$/),
    });
  });

  it("CMD-4: that the core says nothing to ends its waiting sign and changes nothing", async () => {
    const made = await aBotWithAnswers(undefined);
    const id = await asked(made);
    made.telegram.tap("off", id, GROUP);
    await over(made);
    expect(made.telegram.callbackAnswers).toHaveLength(1);
    expect(now(made, id)).toEqual({ text: "It is on.", buttons: ["on", "off", "inherit"] });
  });

  it("CMD-4: two taps on one button are one command, and both waiting signs end", async () => {
    const made = await aBotWithAnswers({ text: "It is off.", choices: CHOICES });
    const id = await asked(made);
    const before = made.telegram.messageNow(id, GROUP);
    made.telegram.press("sb/send off", before);
    made.telegram.press("sb/send off", before);
    await over(made);
    expect(made.host.commandCalls).toHaveLength(1);
    expect(made.telegram.callbackAnswers).toHaveLength(2);
    expect(made.host.log).toEqual([]);
  });

  it("CMD-4: of two people at the same time are two commands", async () => {
    const made = await aBotWithAnswers({ text: "It is off." });
    const before = made.telegram.messageNow(await asked(made), GROUP);
    for (const from of [BOB, ANN]) made.telegram.press("sb/send off", before, from);
    await over(made);
    expect(made.host.commandCalls.map(({ sender }) => sender.name)).toEqual(["Bob", "Ann"]);
  });

  it("CMD-4: of another person does not use the button up, and neither does one that changed nothing", async () => {
    const made = await aBotWithAnswers({ text: "Not yours." }, { text: "It is **on**.", choices: CHOICES });
    const id = await asked(made);
    for (const from of [BOB, ANN, ANN]) {
      const answered = made.telegram.callbackAnswers.length;
      made.telegram.tap("on", id, GROUP, from);
      await made.telegram.until(() => made.telegram.callbackAnswers.length > answered, "it was answered");
      await over(made);
      await made.adapter.start(made.host);
    }
    expect(made.host.commandCalls.map(({ sender }) => sender.name)).toEqual(["Bob", "Ann", "Ann"]);
    expect(made.host.log).toEqual([]);
  });

  it("CMD-4: in a topic belongs to that topic, also when Telegram shows the bot nothing of the old message", async () => {
    const made = await aBotWithAnswers({ text: "It is off." });
    made.telegram.room(FORUM).topics.set(42, { name: "Deploys", openedBy: ANN });
    for (const threadId of ["1", "42"]) {
      await sendTo(made, placeOf(FORUM, threadId), "It is on.", { choices: CHOICES });
      const id = made.telegram.sent.at(-1)?.messageId ?? 0;
      made.telegram.tap("off", id, FORUM, ANN, "seen");
      made.telegram.tap("off", id, FORUM, ANN, "unseen");
    }
    await over(made);
    expect(made.host.commandCalls.map(({ from }) => from.threadId)).toEqual(["1", "1", "42", "42"]);
  });

  it("CMD-4: on an old message can be made again later, as nobody can tell it from a new one", async () => {
    const made = await aBotWithAnswers({ text: "It is off." });
    const id = await asked(made);
    for (let times = 0; times < 2; times++) made.telegram.tap("off", id, GROUP, ANN, "unseen");
    await over(made);
    expect(made.host.commandCalls).toHaveLength(2);
    expect(made.telegram.callbackAnswers.map(({ text }) => text)).toEqual(["It is off.", "It is off."]);
  });

  it.each([
    ["without buttons", undefined],
    ["that has other buttons", CHOICES],
  ])(
    "CMD-4: that a client has made up, on a message %s, changes nothing that others see",
    async (_, choices) => {
      const made = await aBotWithAnswers({ text: "It is off." });
      for (const chat of [GROUP, ANNS_CHAT]) {
        const { message_id } = made.telegram.say("tell me", { chat });
        const more = { replyToId: String(message_id), ...(choices ? { choices } : {}) };
        await sendTo(made, placeOf(chat), "The agent's long answer.", more);
        const id = made.telegram.sent.at(-1)?.messageId ?? 0;
        made.telegram.press("sb/send", made.telegram.messageNow(id, chat));
        await made.telegram.settled();
      }
      await over(made);
      expect(made.telegram.callbackAnswers.map(({ text, isAlert }) => [text, isAlert])).toEqual(
        Array(2).fill(["It is off.", true]),
      );
      expect(made.host.commandCalls.map(({ isPublic }) => isPublic)).toEqual([undefined, undefined]);
      expect(made.telegram.calls.filter(({ method }) => method === "editMessageText")).toEqual([]);
      expect(made.telegram.sent).toHaveLength(2);
    },
  );

  it("CMD-4 POL-2: in a direct chat that is silenced is answered no more than what is typed there", async () => {
    const made = await aBot();
    const board = await aBoardOn(made);
    await made.poll();
    made.telegram.say("hello", { chat: ANNS_CHAT });
    await made.telegram.until(() => made.telegram.sent.length === 1, "the session is there");
    const choices = [{ label: "Status", command: "/status" }, ...CHOICES];
    await sendTo(made, placeOf(ANNS_CHAT), "What next?", { choices });
    const id = made.telegram.sent.at(-1)?.messageId ?? 0;
    made.telegram.say("/send off", { chat: ANNS_CHAT });
    await made.telegram.until(() => made.telegram.sent.length === 3, "it is silenced");
    made.telegram.tap("Status", id, ANNS_CHAT);
    await made.telegram.until(() => made.telegram.callbackAnswers.length === 1, "the waiting sign ended");
    await board.quiet();
    expect(made.telegram.callbackAnswers[0]).toMatchObject({ text: "", isAlert: false });
    expect(made.telegram.messageNow(id, ANNS_CHAT).text).toBe("What next?");
    made.telegram.tap("on", id, ANNS_CHAT);
    await made.telegram.until(
      () => made.telegram.messageNow(id, ANNS_CHAT).text !== "What next?",
      "the owner is heard",
    );
    expect(made.telegram.sent).toHaveLength(3);
  });

  it("CMD-4: whose answer is very long ends after three messages, and the last one shows that there is more", async () => {
    const made = await aBotWithAnswers({ text: "word ".repeat(5000), choices: CHOICES });
    const id = await asked(made);
    made.telegram.tap("off", id, GROUP);
    await over(made);
    expect(made.telegram.sent.map(({ text }) => text.length > 4000)).toEqual([false, true, false]);
    expect(made.telegram.sent.at(-1)).toMatchObject({ text: "…", buttons: [["on", "off"], ["inherit"]] });
  });

  it("CMD-4: on a message that was deleted meanwhile is answered by a new one", async () => {
    const made = await aBotWithAnswers({ text: "It is off.", choices: CHOICES });
    const id = await asked(made, ANNS_CHAT);
    const before = made.telegram.messageNow(id, ANNS_CHAT);
    made.telegram.deleteMessage(before);
    made.telegram.press("sb/send off", before);
    await over(made);
    expect(made.telegram.sent.map(({ text }) => text)).toEqual(["It is on.", "It is off."]);
    expect(made.telegram.sent[1]?.buttons).toEqual([["on", "off"], ["inherit"]]);
  });

  it("CMD-4: whose answer is long goes on in new messages, with the new choices below the last", async () => {
    const made = await aBotWithAnswers({ text: "word ".repeat(1500), choices: CHOICES });
    const id = await asked(made);
    made.telegram.tap("off", id, GROUP);
    await over(made);
    expect(now(made, id).buttons).toBeUndefined();
    expect(made.telegram.sent.map(({ buttons }) => buttons?.length)).toEqual([2, 2]);
  });

  it("CMD-4: that changes nothing, or cannot be confirmed any more, is no error", async () => {
    const made = await aBotWithAnswers({ text: "It is **on**.", choices: CHOICES });
    const id = await asked(made);
    made.telegram.failNext("answerCallbackQuery", refused(400, "Bad Request: query is too old"));
    made.telegram.tap("on", id, GROUP);
    await over(made);
    expect(now(made, id).text).toBe("It is on.");
    expect(made.host.log.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      "warn: The press of a button could not be confirmed.",
    ]);
  });

  it("CMD-4 N05: whose answer cannot be shown is logged, and the next press works", async () => {
    const made = await aBotWithAnswers({ text: "It is off." });
    const id = await asked(made);
    made.telegram.failNext("editMessageText", refused(403, "Forbidden: bot was kicked"));
    made.telegram.tap("off", id, GROUP);
    made.telegram.tap("inherit", id, GROUP);
    await over(made);
    expect(made.host.log).toMatchObject([{ level: "warn", details: { command: "send" } }]);
    expect(now(made, id).text).toBe("It is off.");
  });

  it("CMD-4 CMD-2: is an owner's to make: anybody else is told so, and nothing changes", async () => {
    const made = await aBot();
    const board = await aBoardOn(made);
    await made.poll();
    const { message_id } = made.telegram.say("hello", { chat: GROUP });
    await made.telegram.until(() => made.telegram.sent.length === 1, "the session is there");
    await sendTo(made, placeOf(GROUP), "On.", { replyToId: String(message_id), choices: CHOICES });
    const id = made.telegram.sent[1]?.messageId ?? 0;
    const policy = async () => JSON.stringify(await board.gateway.call("sessions.list"));
    made.telegram.tap("off", id, GROUP, BOB);
    await made.telegram.until(() => made.telegram.callbackAnswers.length === 1, "Bob was answered");
    expect(made.telegram.callbackAnswers[0]).toMatchObject({
      isAlert: true,
      text: expect.stringContaining("2002"),
    });
    expect(await policy()).not.toContain("deny");
    made.telegram.tap("off", id, GROUP, ANN);
    await made.telegram.until(() => now(made, id).text !== "On.", "Ann was answered");
    expect(now(made, id).text).toContain("off");
    expect(await policy()).toContain("deny");
  });

  it.each([
    ["a button of the host", "vote:7"],
    ["a command that is not ours", "sb/weather Rome"],
    ["data that only begins like ours", "sb/Send off"],
  ])("CMD-4 I17: %s goes on to the host's handlers", async (_, data) => {
    const made = await aBot();
    const seen: (string | undefined)[] = [];
    made.bot.on("callback_query", (ctx) => {
      seen.push(ctx.callbackQuery.data);
    });
    const host = await startedWith(made, [aCommand("send")]);
    await made.poll();
    made.telegram.press(data, made.telegram.say("x"));
    await made.telegram.settled();
    expect([seen, host.commandCalls]).toEqual([[data], []]);
  });

  it("CMD-4: while stopped belongs to the host, ours too", async () => {
    const made = await aBotWithAnswers({ text: "It is off." });
    const id = await asked(made);
    await made.adapter.stop();
    made.telegram.tap("off", id, GROUP);
    await made.telegram.settled();
    expect([made.host.commandCalls, made.telegram.callbackAnswers]).toEqual([[], []]);
  });

  it("CMD-4 TG-1: does not hold back the next update while Telegram is slow to show its answer", async () => {
    const made = await aBotWithAnswers({ text: "It is off." });
    const id = await asked(made);
    made.telegram.failNext("editMessageText", { kind: "silence" });
    made.telegram.tap("off", id, GROUP);
    made.telegram.say("hello", { chat: GROUP });
    expect(await made.host.texts(2)).toEqual(["/send", "hello"]);
    await made.bot.stop();
    // Ends the call that still waits.
    await made.telegram.close();
  });
});
