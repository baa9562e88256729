import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { aBoard, OPEN, use } from "../fakes/a-board.ts";
import { childrenOf, spawning } from "../fakes/a-family.ts";
import { hangs } from "../fakes/a-spawner.ts";
import { gate } from "../fakes/gate.ts";
import { at } from "../fakes/memory-adapter.ts";

const ROOM = at("discord", "channel", "222");
const ROOM_KEY = "agent:b:discord:channel:222";
const GROUP_KEY = "agent:main:telegram:group:-5";

/** What main, in a Telegram group, is answered when it sends. */
async function fromGroup(input: object, tools: object = OPEN.tools, action = "sessions_send") {
  const board = await aBoard({ config: { tools }, agents: { main: () => "ok", b: () => "ok" } });
  await board.telegram.says("hi", { from: at("telegram", "group", "-5") });
  await board.quiet();
  const more = action === "sessions_send" ? { message: "hi", timeoutSeconds: 0 } : {};
  return { board, answer: await use(board, GROUP_KEY, action, { ...input, ...more }) };
}

describe("a thread that was given to a child", () => {
  it.each([
    ["its key", `${ROOM_KEY}:thread:thread-1`],
    ["its bare id", "agent:b:discord:channel:thread-1"],
  ])(
    "SEND-6 B01: is refused by %s like every thread, and the hint is the child's own key",
    async (_, sessionKey) => {
      const board = await aBoard({
        config: { ...OPEN, bindings: [{ agentId: "b", match: { channel: "discord" } }] },
        agents: {
          main: () => "ok",
          b: (turn) =>
            turn.request.depth > 0
              ? hangs(turn.signal)
              : spawning([{ task: "look", thread: true }], "ok")(turn),
        },
      });
      await board.telegram.says("hi");
      await board.discord.says("go", { from: ROOM });
      await board.quiet();
      const key = childrenOf(board)[0]?.key;
      const ask = (target: unknown) =>
        use(board, "main", "sessions_send", { sessionKey: target, message: "x", timeoutSeconds: 0 });
      const answer = await ask(sessionKey);
      expect(answer).toMatchObject({ status: "error", code: "THREAD_TARGET" });
      expect(answer.error).toContain(`Use ${key} instead`);
      expect(await ask(key)).toMatchObject({ status: "accepted" });
    },
  );
});

describe("the main session of a configured agent that has none yet", () => {
  it.each(["agent:b:main", "main", "agent:main:main"])(
    "KEY-1 B07 B08: %s is made by the first message to it",
    async (sessionKey) => {
      const { answer, board } = await fromGroup({ sessionKey });
      expect(answer).toMatchObject({ status: "accepted" });
      await board.quiet();
      const key = sessionKey === "main" ? "agent:main:main" : sessionKey;
      expect(await board.gateway.call("sessions.resolve", { key })).toMatchObject({ key });
    },
  );

  it.each([
    ["a read", { sessionKey: "agent:b:main" }, OPEN.tools, "sessions_history", "SESSION_NOT_FOUND"],
    ["an unknown agent", { sessionKey: "agent:zzz:main" }, OPEN.tools, "sessions_send", "SESSION_NOT_FOUND"],
    ["no right, by key", { sessionKey: "agent:b:main" }, {}, "sessions_send", "NOT_VISIBLE"],
    ["no right, by agent", { agentId: "b" }, {}, "sessions_send", "NOT_VISIBLE"],
  ] as const)("KEY-1 B07 VIS-1: is not made by %s", async (_, input, tools, action, code) => {
    const { answer, board } = await fromGroup(input, tools, action);
    expect(answer).toMatchObject({ code });
    expect(await board.gateway.call("sessions.list")).toMatchObject({ count: 1 });
  });
});

describe("a key in the label field", () => {
  it.each([
    { label: "agent:b:main" },
    { agentId: "b", label: "main" },
    { label: "discord:channel:1" },
    { label: "1b4e28ba-2fa1-41d2-883f-0016d3cca427" },
  ])("B06: %j is not found, and the answer says where keys belong", async (input) => {
    const { answer } = await fromGroup(input);
    expect(answer).toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(answer.error).toContain("keys belong in sessionKey");
  });

  it("B06: a label that only does not exist gets no such hint", async () => {
    const { answer } = await fromGroup({ label: "daily report" });
    expect(answer.error).not.toContain("belong in sessionKey");
  });
});

describe("the wait", () => {
  it("SEND-3: that the caller broke off does not claim to have lasted its whole time", async () => {
    const board = await aBoard({
      config: OPEN,
      agents: { main: () => "ok", b: ({ signal }) => hangs(signal) },
    });
    await board.telegram.says("hi");
    await board.quiet();
    const tool = (await board.tools("main")).find(({ name }) => name === "sessions_send");
    const caller = new AbortController();
    const input = { agentId: "b", message: "x", timeoutSeconds: 30 };
    const answer = tool?.call(input, { callId: "q", signal: caller.signal });
    await board.clock.advance(1000);
    caller.abort();
    const error = (await answer)?.value.error;
    expect(error).toContain("No answer before the wait was broken off, but the message was handed over");
    expect(error).not.toContain("30 s");
  });

  it("SEND-2: many at once share one listener on the caller's signal, and leave none behind", async () => {
    const held = gate();
    const signal = new AbortController().signal;
    const board = await aBoard({
      config: OPEN,
      agents: {
        main: () => "ok",
        b: async (turn) => {
          if (turn.request.trigger !== "send") return "ANNOUNCE_SKIP";
          await held.pass(turn.signal);
          return "fine";
        },
      },
    });
    await board.telegram.says("hi");
    await board.quiet();
    const tool = (await board.tools("main")).find(({ name }) => name === "sessions_send");
    const calls = Array.from({ length: 20 }, (_, n) =>
      tool?.call({ agentId: "b", message: `m${n}` }, { callId: `c${n}`, signal }),
    );
    await held.reached;
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    held.open();
    const answers = (await Promise.all(calls)).map((output) => output?.value);
    expect(answers).toEqual(answers.map(() => expect.objectContaining({ status: "ok", reply: "fine" })));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});
