import { expect, it } from "vitest";
import { aBoard, aFolder } from "../fakes/a-board.ts";
import { at } from "../fakes/memory-adapter.ts";
import { leaveBehind, sessionWrite, storedSession } from "../fakes/store-files.ts";

const ROOM = "agent:research:discord:channel:555";
const OPEN = {
  session: { agentToAgent: { maxPingPongTurns: 0 } },
  tools: { sessions: { visibility: "all" as const }, agentToAgent: { enabled: true, allow: ["*"] } },
};

/** An owner in Telegram asks research, which lives in the stored room; what research announces is "done". */
async function askResearch(route: ReturnType<typeof at>, key = ROOM) {
  const dataDir = aFolder();
  await leaveBehind(dataDir, [sessionWrite(storedSession(1, key, { agentId: "research", route }))]);
  const board = await aBoard({
    dataDir,
    config: OPEN,
    agents: {
      main: async ({ call }) =>
        String((await call("sessions_send", { sessionKey: key, message: "go" })).reply),
      research: ({ request }) => (request.trigger === "announce" ? "done" : "yes"),
    },
  });
  await board.telegram.says("please ask");
  await board.quiet();
  return board;
}

it("B03 A2A-3: an announce goes where the session's stored route says, not where its key seems to point", async () => {
  const board = await askResearch(at("discord", "channel", "999"));
  expect(board.discord.sent.map(({ to, text }) => [to.chatId, text])).toEqual([["999", "done"]]);
});

it("B02 A2A-3: an announce for a topic carries the topic beside the chat", async () => {
  const key = "agent:research:telegram:group:-100111:topic:42";
  const board = await askResearch(at("telegram", "group", "-100111", "42"), key);
  const announced = board.telegram.sent.filter(({ text }) => text === "done");
  expect(announced.map(({ to }) => [to.chatId, to.threadId])).toEqual([["-100111", "42"]]);
});
