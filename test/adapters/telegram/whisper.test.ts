import { describe, expect, it } from "vitest";
import type { Acceptance } from "../../../src/core/ports/chat.ts";
import type { CommandReply } from "../../../src/core/ports/command.ts";
import { refused } from "../../standins/telegram/failures.ts";
import { ANN } from "../../standins/telegram/people.ts";
import { aBot, aCommand, FORUM, GROUP, placeOf, type RunningBot, startedWith } from "./bot.ts";

/** A running bot whose core answers every command alike; `passedOn` counts the messages that reach the host's own handlers. */
async function aBotThatAnswers(
  reply: CommandReply | undefined,
): Promise<RunningBot & { readonly passedOn: readonly string[] }> {
  const made = await aBot();
  const passedOn: string[] = [];
  made.bot.on("message", ({ message }) => {
    passedOn.push(message.text ?? "");
  });
  const host = await startedWith(made, [aCommand("send")]);
  host.onCommand = async (call) => {
    host.commandCalls.push(call);
    return reply;
  };
  host.answer = (): Acceptance => "context";
  await made.poll();
  return { ...made, host, passedOn };
}

async function over({ telegram, adapter }: RunningBot): Promise<void> {
  await telegram.settled();
  await adapter.stop();
}

describe("CMD-4: a command in a group that only its sender and the bot see", () => {
  it("CMD-4 CMD-2: is carried out, and its sender alone sees the answer", async () => {
    const made = await aBotThatAnswers({
      text: "It is **off**.",
      choices: [{ label: "on", command: "/send on" }],
    });
    made.telegram.whisper("/send@Agent_Test_Bot off", GROUP);
    await over(made);
    expect(made.host.commandCalls).toMatchObject([
      {
        name: "send",
        text: "off",
        from: placeOf(GROUP),
        sender: { id: String(ANN.id), name: "Ann", isBot: false },
        locale: "en",
      },
    ]);
    expect(made.host.commandCalls[0]?.isPublic).toBeUndefined();
    expect(made.telegram.whispered).toMatchObject([
      { receiverId: ANN.id, toEphemeralId: 1, text: "It is off.", hasButtons: false },
    ]);
    expect(made.telegram.whispered[0]?.entities).toMatchObject([{ type: "bold" }]);
    expect(made.telegram.sent).toEqual([]);
    expect([made.host.messages, made.passedOn]).toEqual([[], []]);
  });

  it("CMD-4: in a topic it is the topic's", async () => {
    const made = await aBotThatAnswers({ text: "ok" });
    made.telegram.room(FORUM).topics.set(7, { name: "Seven", openedBy: ANN });
    made.telegram.whisper("/send", FORUM, ANN, { message_thread_id: 7, is_topic_message: true });
    await over(made);
    expect(made.host.commandCalls).toMatchObject([{ from: placeOf(FORUM, "7") }]);
    expect(made.telegram.calls.find(({ method }) => method === "sendMessage")?.payload).toMatchObject({
      message_thread_id: 7,
    });
  });

  it("CMD-4: two of them are two calls, though Telegram gives them the same id", async () => {
    const made = await aBotThatAnswers({ text: "ok" });
    made.telegram.whisper("/send on", GROUP);
    made.telegram.whisper("/send off", GROUP);
    await over(made);
    expect(new Set(made.host.commandCalls.map(({ id }) => id)).size).toBe(2);
  });

  it.each(["/weather", "/send@other_bot off", "hello", "", "/"])(
    "CMD-4 IN-1: %j is none of ours: nothing is handed over, nothing is said, and the host's handlers have it",
    async (text) => {
      const made = await aBotThatAnswers({ text: "ok" });
      made.telegram.whisper(text, GROUP);
      await over(made);
      expect([made.host.commandCalls.length, made.host.messages.length]).toEqual([0, 0]);
      expect([made.telegram.whispered.length, made.telegram.sent.length]).toEqual([0, 0]);
      expect(made.passedOn).toEqual([text]);
    },
  );

  it("CMD-4 DISC-1: an answer that Telegram refuses is not told to everybody instead", async () => {
    const made = await aBotThatAnswers({ text: "secret" });
    made.telegram.failNext("sendMessage", refused(400, "Bad Request: EPHEMERAL_MESSAGE_EXPIRED"));
    made.telegram.whisper("/send", GROUP);
    await over(made);
    expect([made.telegram.whispered, made.telegram.sent]).toEqual([[], []]);
    expect(made.host.log).toHaveLength(1);
  });

  it("CMD-4: markup that Telegram cannot read goes without it, to the same person alone", async () => {
    const made = await aBotThatAnswers({ text: "**off**" });
    made.telegram.failNext("sendMessage", refused(400, "Bad Request: can't parse entities: x"));
    made.telegram.whisper("/send", GROUP);
    await over(made);
    expect(made.telegram.whispered).toMatchObject([{ text: "off", entities: [] }]);
    expect(made.telegram.sent).toEqual([]);
  });

  it("CMD-4: a long answer is cut, and nothing to say is nothing", async () => {
    const long = await aBotThatAnswers({ text: "word ".repeat(5000) });
    long.telegram.whisper("/send", GROUP);
    await over(long);
    expect(long.telegram.whispered.map(({ text }) => text.length > 1)).toEqual([true, true, false]);
    const silent = await aBotThatAnswers(undefined);
    silent.telegram.whisper("/send", GROUP);
    await over(silent);
    expect(silent.telegram.whispered).toEqual([]);
  });
});
