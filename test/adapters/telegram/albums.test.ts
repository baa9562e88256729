import type { Chat } from "grammy/types";
import { describe, expect, it } from "vitest";
import { ANN } from "../../standins/telegram/people.ts";
import { aBoardOn } from "./board.ts";
import { aBot, aRunningBot, GROUP, type TestBot } from "./bot.ts";

const ANNS_CHAT: Chat = { id: ANN.id, type: "private", first_name: "Ann" };

/** Ann sends pictures together; each with its caption, if it has one. */
function sends({ telegram }: TestBot, albumId: string, captions: readonly string[], chat: Chat = ANNS_CHAT) {
  for (const caption of captions)
    telegram.say(caption, { chat, caption: true, more: { media_group_id: albumId } });
}

describe("TG-1: albums", () => {
  it("TG-1: are one turn, whose session knows of every picture, and are answered once", async () => {
    const made = await aBot();
    const board = await aBoardOn(made, { agents: { main: () => "Nice pictures." } });
    await made.poll();
    sends(made, "a1", ["Look at these", "", ""]);
    await made.telegram.settled();
    await made.telegram.until(() => made.telegram.sent.length > 0, "it was answered");
    await board.quiet();
    expect(board.agents.main?.turns).toHaveLength(1);
    expect(made.telegram.sent.map(({ text }) => text)).toEqual(["Nice pictures."]);
    const { messages } = await board.gateway.call("chat.history", { sessionKey: "agent:main:main" });
    expect(JSON.stringify(messages).match(/image\/jpeg/g)).toHaveLength(3);
  });

  it("TG-1: without a caption are one turn too, and two albums are two", async () => {
    const made = await aRunningBot();
    sends(made, "a1", ["", ""]);
    sends(made, "a2", ["", ""]);
    await made.telegram.settled();
    expect(made.host.messages.map(({ replay = false }) => replay)).toEqual([false, true, false, true]);
  });

  it("TG-1: a later picture with words of its own is a message of its own", async () => {
    const made = await aRunningBot();
    sends(made, "a1", ["", "and @agent_test_bot, what is this?", ""], GROUP);
    await made.telegram.settled();
    expect(made.host.messages.map(({ addressed, replay = false }) => [addressed, replay])).toEqual([
      [false, false],
      [true, false],
      [false, true],
    ]);
  });

  it("TG-1 N05: a first picture that comes again is the first picture again", async () => {
    const made = await aRunningBot();
    const first = made.telegram.say("look", { caption: true, more: { media_group_id: "a1" } });
    sends(made, "a1", [""]);
    made.telegram.push({
      message: { ...first, from: ANN, chat: { ...ANNS_CHAT, type: "private", first_name: "Ann" } },
    });
    await made.telegram.settled();
    expect(made.host.messages.map(({ replay = false }) => replay)).toEqual([false, true, false]);
  });

  it("K09 TG-1: forwarded together they are one turn as well", async () => {
    const made = await aRunningBot();
    const forward_origin = { type: "hidden_user", date: 1, sender_user_name: "Somebody" } as const;
    for (const caption of ["/send off", ""])
      made.telegram.say(caption, { caption: true, more: { media_group_id: "a1", forward_origin } });
    await made.telegram.settled();
    expect(made.host.messages.map(({ text, replay = false }) => [text, replay])).toEqual([
      ["", false],
      ["", true],
    ]);
  });
});
