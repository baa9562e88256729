import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../src/core/config.ts";
import { aBoard, type Board, OPEN } from "../fakes/a-board.ts";
import { gate } from "../fakes/gate.ts";

interface Between {
  readonly config?: ConfigInput;
  readonly said?: string;
  readonly meanwhile?: (board: Board) => Promise<unknown>;
}

/** main asks research and waits for the answer; then comes what is between; what main reads in its first reply-back turn. */
async function firstTurn({ config = {}, said = "said", meanwhile }: Between) {
  const read: string[] = [];
  const answered = gate();
  const board = await aBoard({
    config: { ...OPEN, ...config },
    agents: {
      async main({ request, call, text, signal }) {
        if (request.trigger === "reply-back") read.push(text);
        if (request.trigger !== "user") return "REPLY_SKIP";
        await call("sessions_send", { agentId: "research", message: "status?" });
        await answered.pass(signal);
        return said;
      },
      research: ({ request }) => (request.trigger === "send" ? 'ALL "GREEN"\nsince noon' : "ANNOUNCE_SKIP"),
    },
  });
  await board.telegram.says("go");
  await answered.reached;
  await meanwhile?.(board);
  answered.open();
  await board.quiet();
  return read;
}

const historyOf = (history: object): ConfigInput => ({ agents: { defaults: { history } } });

describe("the first reply-back turn", () => {
  it("A2A-2: points at the reply that its reader has got as the result of its call", async () => {
    const read = await firstTurn({});
    expect(read).toHaveLength(1);
    expect(read[0]).toContain("in the result of your sessions_send above");
    expect(read[0]).not.toContain("GREEN");
  });

  it.each<[string, Between]>([
    [
      "a reset in between",
      { meanwhile: ({ gateway }) => gateway.call("sessions.reset", { sessionKey: "main" }) },
    ],
    [
      "a long answer and a small history",
      { config: historyOf({ maxBytes: 1024 }), said: "long ".repeat(1000) },
    ],
    ["no history at all", { config: historyOf({ maxEntries: 0 }) }],
  ])("A2A-2 A04: repeats the reply where its reader does not see it any more: %s", async (_, between) => {
    const read = await firstTurn(between);
    expect(read).toHaveLength(1);
    expect(read[0]).toContain('ALL "GREEN"\nsince noon');
    expect(read[0]).not.toContain("above");
  });
});
