import { describe, expect, it } from "vitest";
import { aBoard } from "../fakes/a-board.ts";
import { at } from "../fakes/memory-adapter.ts";

const OPEN = {
  tools: { sessions: { visibility: "all" as const }, agentToAgent: { enabled: true, allow: ["*"] } },
};
const DISCORD_ROOM = at("discord", "channel", "222");
const ROOM_KEY = "agent:research:discord:channel:222";
const BINDINGS = [{ agentId: "research", match: { channel: "discord" } }];

describe("an exchange between two agents", () => {
  it("A2A-2 A2A-3 SEND-2: asks, gets the answer, talks on, and the target alone announces", async () => {
    const board = await aBoard({
      config: { ...OPEN, bindings: BINDINGS },
      agents: {
        async main({ request, call }) {
          if (request.trigger === "reply-back") return "Thanks, and since when?";
          const answer = await call("sessions_send", { sessionKey: ROOM_KEY, message: "status?" });
          return `They say: ${answer.reply}`;
        },
        research({ request }) {
          if (request.trigger === "send") return "all green";
          if (request.trigger === "reply-back") return "REPLY_SKIP";
          if (request.trigger === "announce") return "main asked for the status: all green.";
          return "hello";
        },
      },
    });
    await board.discord.says("hi", { from: DISCORD_ROOM });
    await board.quiet();
    await board.telegram.says("ask research");
    await board.quiet();

    expect(board.telegram.sent.map((one) => one.text)).toEqual(["They say: all green"]);
    expect(board.discord.sent.map((one) => [one.to.chatId, one.text])).toEqual([
      ["222", "hello"],
      ["222", "main asked for the status: all green."],
    ]);
    expect(board.agents.research?.turns.map((turn) => turn.trigger)).toEqual([
      "user",
      "send",
      "reply-back",
      "announce",
    ]);
  });
});
