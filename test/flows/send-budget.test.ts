import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import { aBoard, type Board, type BoardOptions, LEASE_MS, OPEN, use } from "../fakes/a-board.ts";
import { asking, send } from "../fakes/asking.ts";

const MAIN = "agent:main:main";
const HOUR_MS = 3_600_000;
const SETTING = "tools.agentToAgent.maxSendsPerHour";

function limited(maxSendsPerHour?: number, maxPingPongTurns = 0): BoardOptions {
  const agentToAgent = {
    ...OPEN.tools.agentToAgent,
    ...(maxSendsPerHour === undefined ? {} : { maxSendsPerHour }),
  };
  return {
    agents: { main: () => "REPLY_SKIP", ops: () => "REPLY_SKIP" },
    config: { tools: { ...OPEN.tools, agentToAgent }, session: { agentToAgent: { maxPingPongTurns } } },
  };
}

/** A board on which both agents have their main session. */
async function aBoardWithBoth(options: BoardOptions): Promise<Board> {
  const board = await aBoard(options);
  for (const agentId of ["main", "ops"]) await board.gateway.call("agent", { agentId, message: "open" });
  await board.quiet();
  return board;
}

const TO_OPS = { agentId: "ops", message: "work", timeoutSeconds: 0 };

/** So many sends from the main session; their codes, or "accepted". */
async function sends(board: Board, count: number, input: object = {}): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  for (let n = 0; n < count; n++) {
    const { status, code } = await use(board, MAIN, "sessions_send", { ...TO_OPS, ...input });
    answers.push(code ?? status);
  }
  return answers;
}

const stores: readonly (readonly [string, () => BoardOptions])[] = [
  ["the embedded store", () => ({})],
  ["a Keyv of the host", () => ({ store: new Keyv() })],
];

describe.each(stores)("tools.agentToAgent.maxSendsPerHour on %s", (_, store) => {
  it("D10 SEND-7: the send after the last one is refused, says when it is free again and which setting it is, and nothing is sent", async () => {
    const board = await aBoardWithBoth({ ...limited(3), ...store() });
    const refusal = board.next("send.refused");
    expect(await sends(board, 3)).toEqual(["accepted", "accepted", "accepted"]);
    await board.clock.advance(20 * 60_000);
    const answer = await use(board, MAIN, "sessions_send", TO_OPS);
    await board.quiet();
    expect(answer).toMatchObject({
      status: "error",
      code: "SEND_BUDGET",
      freeAtMs: board.clock.now() + 40 * 60_000,
    });
    expect(answer.error).toContain(SETTING);
    expect(answer.error).toMatch(/in 40 min, at 2026-11-30T11:00:00/);
    expect(board.agents.ops?.turns.filter(({ trigger }) => trigger === "send")).toHaveLength(3);
    expect(await refusal).toEqual({ sessionKey: MAIN, target: "agent:ops:main", code: "SEND_BUDGET" });
    expect(board.complaints).toEqual([expect.stringMatching(/sessions_send was refused.*SEND_BUDGET/)]);
  });

  it("D10: the hour slides: a send is free again an hour after it was made, and no earlier", async () => {
    const board = await aBoardWithBoth({ ...limited(2), ...store() });
    expect(await sends(board, 1)).toEqual(["accepted"]);
    await board.clock.advance(HOUR_MS - 1);
    expect(await sends(board, 2)).toEqual(["accepted", "SEND_BUDGET"]);
    await board.clock.advance(1);
    expect(await sends(board, 2)).toEqual(["accepted", "SEND_BUDGET"]);
    await board.clock.advance(HOUR_MS - 1);
    expect(await sends(board, 2)).toEqual(["accepted", "SEND_BUDGET"]);
  });

  it("D10: a clock that is set back gives nothing back, and shuts nobody out for longer than two hours", async () => {
    const board = await aBoardWithBoth({ ...limited(2), ...store() });
    await sends(board, 2);
    for (const backMs of [1000, 1, 30 * 60_000]) {
      board.clock.skip(-backMs);
      expect(await sends(board, 1)).toEqual(["SEND_BUDGET"]);
    }
    board.clock.skip(-365 * 24 * HOUR_MS);
    expect(await sends(board, 1)).toEqual(["accepted"]);
  });

  it("D10 SEND-7: a key is not to be read in the id of its run", async () => {
    const board = await aBoardWithBoth({ ...limited(2), ...store() });
    const { runId } = await use(board, MAIN, "sessions_send", { ...TO_OPS, idempotencyKey: "a-secret-key" });
    expect(runId).toMatch(/^send:/);
    expect(runId).not.toContain("secret");
  });

  it("D10: a restart gives nothing back", async () => {
    const shared = { ...limited(2), ...store() };
    const board = await aBoardWithBoth(shared);
    await sends(board, 2);
    await board.quiet();
    const dataDir = board.snapshot();
    await board.close({ graceMs: 0 });
    const next = await aBoard({ ...shared, dataDir, clock: board.clock });
    await board.clock.advance(LEASE_MS);
    expect(await sends(next, 1)).toEqual(["SEND_BUDGET"]);
  });

  it("D10: neither does a reset of the session", async () => {
    const board = await aBoardWithBoth({ ...limited(1), ...store() });
    await sends(board, 1);
    await board.gateway.call("sessions.reset", { sessionKey: MAIN });
    expect(await sends(board, 1)).toEqual(["SEND_BUDGET"]);
  });

  it("D10: of sends in one moment no two take the last place", async () => {
    const board = await aBoardWithBoth({ ...limited(3), ...store() });
    const answers = await Promise.all(Array.from({ length: 8 }, () => sends(board, 1)));
    const codes = answers.flat();
    expect(codes.filter((code) => code === "accepted")).toHaveLength(3);
    expect(codes.filter((code) => code === "SEND_BUDGET")).toHaveLength(5);
  });

  it("D10 SEND-7: the same send again is not counted twice, and is answered when the hour is spent", async () => {
    const board = await aBoardWithBoth({ ...limited(2), ...store() });
    expect(await sends(board, 3, { idempotencyKey: "k" })).toEqual(["accepted", "accepted", "accepted"]);
    expect(await sends(board, 2)).toEqual(["accepted", "SEND_BUDGET"]);
    expect(await sends(board, 1, { idempotencyKey: "k" })).toEqual(["accepted"]);
  });
});

describe("what is counted", () => {
  it("D10: a send that was refused for another reason is not", async () => {
    const board = await aBoardWithBoth(limited(1));
    expect(await sends(board, 2, { agentId: "main" })).toEqual(["SELF_TARGET", "SELF_TARGET"]);
    expect(await sends(board, 1, { message: "" })).toEqual(["INPUT_INVALID"]);
    expect(await sends(board, 1)).toEqual(["accepted"]);
  });

  it("D10: each session has an hour of its own", async () => {
    const board = await aBoardWithBoth(limited(1));
    expect(await sends(board, 2)).toEqual(["accepted", "SEND_BUDGET"]);
    const back = await use(board, "agent:ops:main", "sessions_send", { ...TO_OPS, agentId: "main" });
    expect(back.status).toBe("accepted");
  });

  it("D10: calls of the host program are not", async () => {
    const board = await aBoardWithBoth(limited(1));
    for (let n = 0; n < 3; n++) {
      await board.gateway.call("agent", { agentId: "ops", message: "work" });
      await board.gateway.call("chat.send", { sessionKey: MAIN, message: "work", deliver: false });
    }
    await board.quiet();
    expect(await sends(board, 1)).toEqual(["accepted"]);
  });

  it("D10 A2A-2: the turns of an exchange are not, whoever takes them", async () => {
    const board = await aBoardWithBoth({
      ...limited(1, 5),
      agents: { main: () => "and then?", ops: () => "more" },
    });
    expect(await sends(board, 1)).toEqual(["accepted"]);
    await board.quiet();
    expect(board.agents.main?.turns.filter(({ trigger }) => trigger === "reply-back")).toHaveLength(3);
    const back = await use(board, "agent:ops:main", "sessions_send", { ...TO_OPS, agentId: "main" });
    expect(back.status).toBe("accepted");
    expect(await sends(board, 1)).toEqual(["SEND_BUDGET"]);
  });

  it("D10: an agent that sends in every turn stops after 120 within an hour, which is the default", async () => {
    const { script, answers } = asking();
    const board = await aBoardWithBoth({
      ...limited(),
      agents: {
        main: (turn) => (turn.text.startsWith("{") ? script(turn) : "NO_REPLY"),
        ops: () => "REPLY_SKIP",
      },
    });
    for (let n = 0; n < 130; n++) await board.telegram.says(send(TO_OPS));
    await board.quiet();
    const codes = answers.map(({ status, code }) => code ?? status);
    expect(codes.filter((code) => code === "accepted")).toHaveLength(120);
    expect(codes.filter((code) => code === "SEND_BUDGET")).toHaveLength(10);
  });
});

describe("what else stops a send", () => {
  it("D10 A12: is an event with its code, without a word of the message", async () => {
    const board = await aBoardWithBoth(limited());
    const refusal = board.next("send.refused");
    await sends(board, 1, { agentId: "main", message: "the secret" });
    expect(await refusal).toEqual({ sessionKey: MAIN, target: MAIN, code: "SELF_TARGET" });
    expect(board.complaints).toEqual([]);
  });
});
