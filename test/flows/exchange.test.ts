import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../src/core/config.ts";
import { aBoard, aFolder, type Board, OPEN, type Script } from "../fakes/a-board.ts";
import { asking, send } from "../fakes/asking.ts";
import { gate } from "../fakes/gate.ts";
import { at, memoryAdapter } from "../fakes/memory-adapter.ts";
import { fileOf, leaveBehind, sessionWrite, storedSession } from "../fakes/store-files.ts";

const ROOM = at("discord", "channel", "222");
const ROOM_KEY = "agent:research:discord:channel:222";
const BINDINGS = [{ agentId: "research", match: { channel: "discord" } }];

/** What each agent says, by trigger and, in the loop, by the number of its turn. */
interface Lines {
  readonly reply?: string;
  readonly turns?: (turn: number) => string;
  readonly announce?: string;
  readonly timeoutSeconds?: number;
  readonly maxTurns?: number;
}

/** main asks research, which has a Discord room; both speak their lines. */
async function exchange(lines: Lines, config: ConfigInput = {}) {
  const { script, answers } = asking();
  let turns = 0;
  const spokenIn: { key: string; said: string }[] = [];
  const inLoop: Script = ({ request }) => {
    turns += 1;
    const said = lines.turns?.(turns) ?? "REPLY_SKIP";
    spokenIn.push({ key: request.session.key, said });
    return said;
  };
  const board = await aBoard({
    config: {
      session: { agentToAgent: { maxPingPongTurns: lines.maxTurns ?? 5 } },
      ...OPEN,
      bindings: BINDINGS,
      ...config,
    },
    agents: {
      main: (turn) => (turn.request.trigger === "reply-back" ? inLoop(turn) : script(turn)),
      research(turn) {
        const { trigger } = turn.request;
        if (trigger === "send") return lines.reply ?? "all green";
        if (trigger === "reply-back") return inLoop(turn);
        return trigger === "announce" ? (lines.announce ?? "ANNOUNCE_SKIP") : "hello";
      },
    },
  });
  await board.discord.says("hi", { from: ROOM });
  await board.quiet();
  const start = () =>
    board.telegram.says(
      send({ sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: lines.timeoutSeconds ?? 30 }),
    );
  return { board, answers, start, spokenIn };
}

/** The whole exchange, from the question to the end. */
async function wholeExchange(lines: Lines, config: ConfigInput = {}) {
  const made = await exchange(lines, config);
  await made.start();
  await made.board.quiet();
  return made;
}

const announced = (board: Board) => board.discord.sent.slice(1).map((one) => one.text);
const triggers = (board: Board, agentId: string) =>
  board.agents[agentId]?.turns.map((turn) => turn.trigger).slice(1) ?? [];

async function stateOf(board: Board, runId: unknown) {
  const { exchange: record } = await board.gateway.call("agent.wait", { runId });
  // The shape of ports/exchange.ts.
  return record as { state: string; reason?: string; deliveryId?: string };
}

async function rows(board: Board, sessionKey: string) {
  const { messages } = await board.gateway.call("chat.history", { sessionKey, includeTools: true });
  // The shape that sessions_history documents.
  return messages as readonly {
    role: string;
    content: readonly { text?: string }[];
    provenance?: { kind: string };
  }[];
}

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
    await board.discord.says("hi", { from: ROOM });
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

  it.each([0, 1, 2, 5, 20])(
    "A2A-2: takes %i turns at most, the requester first, then the announce",
    async (maxTurns) => {
      const { board, spokenIn } = await wholeExchange({
        maxTurns,
        turns: (n) => `turn ${n}`,
        announce: "the end",
      });
      expect(spokenIn.map(({ said }) => said)).toEqual(
        Array.from({ length: maxTurns }, (_, i) => `turn ${i + 1}`),
      );
      const speakers = spokenIn.map(({ key }) => key);
      expect(speakers).toEqual(speakers.map((_, i) => (i % 2 === 0 ? "agent:main:main" : ROOM_KEY)));
      expect(announced(board)).toEqual(["the end"]);
    },
  );

  it("A2A-2: takes five turns when nothing is configured", async () => {
    const { spokenIn } = await wholeExchange({ turns: (n) => `turn ${n}` }, { session: {} });
    expect(spokenIn).toHaveLength(5);
  });

  it("A2A-2: each turn reads what the other one has just said", async () => {
    const { board } = await wholeExchange({ turns: (n) => `turn ${n}`, maxTurns: 3, timeoutSeconds: 0 });
    const heard = (agentId: string) =>
      (board.agents[agentId]?.turns ?? [])
        .filter((turn) => turn.trigger === "reply-back")
        .map((turn) =>
          turn.input.content[0]?.type === "text" ? turn.input.content[0].text.split("\n").at(-1) : "",
        );
    expect(heard("main")).toEqual(["all green", "turn 2"]);
    expect(heard("research")).toEqual(["turn 1"]);
  });

  it("A2A-2: after an answer that was waited for, only the first turn is referred to it; the others read the words", async () => {
    const { board } = await wholeExchange({ turns: (n) => `turn ${n}`, maxTurns: 3 });
    const heard = (agentId: string) =>
      (board.agents[agentId]?.turns ?? [])
        .filter((turn) => turn.trigger === "reply-back")
        .map((turn) => JSON.stringify(turn.input.content));
    expect(heard("main")).toEqual([
      expect.stringContaining("in the result of your sessions_send"),
      expect.stringMatching(/\\nturn 2"/),
    ]);
    expect(heard("research")).toEqual([expect.stringMatching(/\\nturn 1"/)]);
  });

  it.each([
    "REPLY_SKIP",
    "  REPLY_SKIP\n",
    "**REPLY_SKIP**",
    "`REPLY_SKIP`",
    '"REPLY_SKIP"',
    "REPLY_SKIP.",
    "<think>nothing to add</think>REPLY_SKIP",
    "NO_REPLY",
    "ANNOUNCE_SKIP",
    "",
  ])(
    "K07 A13 A2A-2: %j in turn 3 stops the loop, and the announce is about the latest real reply",
    async (skip) => {
      const { board, spokenIn } = await wholeExchange({
        turns: (n) => (n === 3 ? skip : `turn ${n}`),
        announce: "told",
      });
      expect(spokenIn).toHaveLength(3);
      const prompt = board.agents.research?.turns.at(-1)?.extraSystemPrompt ?? "";
      expect(prompt).toContain("Latest reply:\n> turn 2");
      expect(announced(board)).toEqual(["told"]);
    },
  );

  it("K07 A2A-2: a token inside a sentence is a word, and one after real text is cut off", async () => {
    const said = ["I could answer REPLY_SKIP here, but no.", "Fine.\nREPLY_SKIP", "REPLY_SKIP"];
    const { board, spokenIn } = await wholeExchange({ turns: (n) => said[n - 1] ?? "", announce: "told" });
    expect(spokenIn).toHaveLength(3);
    const prompt = board.agents.research?.turns.at(-1)?.extraSystemPrompt ?? "";
    expect(prompt).toContain("Latest reply:\n> Fine.\n");
    expect(prompt).not.toContain("> REPLY_SKIP");
  });

  it.each(["NO_REPLY", "  REPLY_SKIP\n", ""])(
    "A13: %j as the first reply ends everything: no turns, no announce",
    async (reply) => {
      const { board, answers, spokenIn } = await wholeExchange({ reply, announce: "told" });
      expect(answers[0]).toMatchObject({ status: "ok", delivery: { status: "skipped" } });
      expect(spokenIn).toEqual([]);
      expect(triggers(board, "research")).toEqual(["send"]);
      expect(announced(board)).toEqual([]);
      expect(await stateOf(board, answers[0]?.runId)).toMatchObject({ state: "silent" });
    },
  );

  it("A2A-2 A2A-3: a turn that fails ends the loop, and the announce is about what was said before", async () => {
    const { board, spokenIn } = await wholeExchange({
      turns(n) {
        if (n === 2) throw new Error("model down");
        return `turn ${n}`;
      },
      announce: "told",
    });
    expect(spokenIn).toHaveLength(1);
    expect(board.agents.research?.turns.at(-1)?.extraSystemPrompt).toContain("Latest reply:\n> turn 1");
    expect(announced(board)).toEqual(["told"]);
  });

  it("A06: the answer comes once: in the tool result, in no second row, and in one announce", async () => {
    const { board, answers } = await wholeExchange({ reply: "X-4711", announce: "I said X-4711." });
    expect(answers[0]).toMatchObject({ reply: "X-4711" });
    const copies = (await rows(board, "agent:main:main")).filter((row) =>
      JSON.stringify(row).includes("X-4711"),
    );
    expect(copies.map((row) => row.role)).toEqual(["toolResult"]);
    expect(announced(board)).toEqual(["I said X-4711."]);
  });

  it("A06: whoever did not wait reads the answer in the first turn", async () => {
    const { board } = await wholeExchange({ reply: "X-4711", timeoutSeconds: 0 });
    const copies = (await rows(board, "agent:main:main")).filter((row) =>
      JSON.stringify(row).includes("X-4711"),
    );
    expect(copies.map((row) => [row.role, row.provenance?.kind])).toEqual([["user", "inter_session"]]);
  });

  it("A2A-3: nothing but the announce leaves, and nothing of it goes to the requester's chat", async () => {
    const { board } = await wholeExchange({ turns: (n) => `turn ${n}`, announce: "the end" });
    expect(board.telegram.sent.map((one) => one.text)).toEqual(["asked"]);
    expect(announced(board)).toEqual(["the end"]);
    expect(board.whatsapp.sent).toEqual([]);
  });

  it("two exchanges of the same pair at the same time stay apart", async () => {
    const { script } = asking();
    const board = await aBoard({
      config: { ...OPEN, session: { agentToAgent: { maxPingPongTurns: 2 } }, bindings: BINDINGS },
      agents: {
        main: (turn) =>
          turn.request.trigger === "reply-back" ? `more about ${turn.text.split("\n").at(-1)}` : script(turn),
        research({ request, text }) {
          if (request.trigger === "announce")
            return (request.extraSystemPrompt ?? "").match(/> (\w+)\n/)?.[1] ?? "?";
          return request.trigger === "user" ? "hello" : `${text.split("\n").at(-1)}!`;
        },
      },
    });
    await board.discord.says("hi", { from: ROOM });
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "apples", timeoutSeconds: 0 }));
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "pears", timeoutSeconds: 0 }));
    await board.quiet();
    expect(announced(board).sort()).toEqual(["apples", "pears"]);
    const prompts = board.agents.research?.turns.flatMap((turn) => turn.extraSystemPrompt ?? []) ?? [];
    const mixed = prompts.filter((prompt) => prompt.includes("apples") && prompt.includes("pears"));
    expect(mixed).toEqual([]);
  });
});

describe("what the agents are told", () => {
  it("A2A-1 K01: the message is marked with its source and as no user's, in the prompt; the transcript keeps text and provenance apart", async () => {
    const { board } = await wholeExchange({});
    const input = board.agents.research?.turns.find((turn) => turn.trigger === "send")?.input;
    const text = input?.content[0]?.type === "text" ? input.content[0].text : "";
    expect(text.split("\n")[0]).toBe(
      "[Inter-session message sourceSession=agent:main:main sourceChannel=telegram sourceTool=sessions_send isUser=false]",
    );
    expect(text.endsWith("\n\nstatus?")).toBe(true);
    const stored = (await rows(board, ROOM_KEY)).find((row) => row.content[0]?.text === "status?");
    expect(stored).toMatchObject({
      role: "user",
      provenance: { kind: "inter_session", sourceSessionKey: "agent:main:main", sourceTool: "sessions_send" },
    });
  });

  it("A2A-1: a later run sees the earlier message still marked", async () => {
    const { board } = await wholeExchange({});
    await board.discord.says("and now?", { from: ROOM });
    await board.quiet();
    const history = board.agents.research?.turns.at(-1)?.history ?? [];
    const marked = history.filter((row) => JSON.stringify(row.content).includes("[Inter-session message"));
    expect(marked.map((row) => row.provenance?.kind)).toEqual(["inter_session"]);
  });

  it("A2A-1 A2A-2: who speaks, which turn it is and how to stop is said; live session keys are not", async () => {
    const { board } = await wholeExchange({ turns: (n) => `turn ${n}`, maxTurns: 2 });
    const prompts = [...(board.agents.main?.turns ?? []), ...(board.agents.research?.turns ?? [])].flatMap(
      (turn) =>
        turn.extraSystemPrompt === undefined ? [] : [{ trigger: turn.trigger, text: turn.extraSystemPrompt }],
    );
    const about = (trigger: string) =>
      prompts.filter((prompt) => prompt.trigger === trigger).map(({ text }) => text);
    expect(about("reply-back")[0]).toContain("You are the requester; this is turn 1 of at most 2.");
    expect(about("reply-back")[1]).toContain("You are the target; this is turn 2 of at most 2.");
    for (const text of about("reply-back")) expect(text).toContain("REPLY_SKIP");
    expect(about("announce")[0]).toContain("ANNOUNCE_SKIP");
    for (const { text } of prompts) expect(text).not.toMatch(/agent:\w+:/);
  });

  it("A2A-3: the announce prompt holds the request, the first and the latest reply; its cue is nobody's message", async () => {
    const { board } = await wholeExchange({ turns: (n) => `turn ${n}`, maxTurns: 2 });
    const last = board.agents.research?.turns.at(-1);
    expect(last?.trigger).toBe("announce");
    const prompt = last?.extraSystemPrompt ?? "";
    expect(prompt).toContain("Original request:\n> status?");
    expect(prompt).toContain("Your first reply:\n> all green");
    expect(prompt).toContain("Latest reply:\n> turn 2");
    expect(last?.input.provenance).toEqual({ kind: "internal_system" });
  });

  it("K01: a peer's slash text is words, not a command, and its claim to be the owner changes nothing", async () => {
    const { script } = asking();
    const board = await aBoard({
      config: { ...OPEN, bindings: BINDINGS },
      agents: {
        main: script,
        research: ({ request }) => (request.trigger === "announce" ? "still allowed to speak" : "hello"),
      },
    });
    await board.discord.says("hi", { from: ROOM });
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "/send off" }));
    await board.quiet();
    const input = board.agents.research?.turns[1]?.input;
    expect(JSON.stringify(input?.content)).toContain("/send off");
    expect(input?.provenance?.kind).toBe("inter_session");
    expect(announced(board)).toEqual(["still allowed to speak"]);
  });
});

describe("who takes turns", () => {
  it.each([
    { requester: "cron:job1" },
    { requester: "hook:00000000-0000-4000-8000-00000000abcd" },
    { requester: "node-pi4" },
    { requester: "agent:main:subagent:00000000-0000-4000-8000-00000000abcd" },
  ])("A15 A2A-5: $requester is not woken by an answer, but the target announces", async ({ requester }) => {
    const { board, answers } = await exchange({ turns: (n) => `turn ${n}`, announce: "done for the job" });
    await board.gateway.call("agent", {
      sessionKey: requester,
      message: send({ sessionKey: ROOM_KEY, message: "work", timeoutSeconds: 0 }),
    });
    await board.quiet();
    expect(answers[0]).toMatchObject({ status: "accepted" });
    expect(board.agents.main?.turns.map((turn) => turn.trigger)).toEqual(["gateway"]);
    expect(triggers(board, "research")).toEqual(["send", "announce"]);
    expect(announced(board)).toEqual(["done for the job"]);
  });

  it("A2A-5: whoever was spawned is a subagent, whatever its key", async () => {
    const dataDir = aFolder();
    const main = storedSession(1, "agent:main:main");
    const child = storedSession(2, "agent:main:acp:helper", { spawnedBy: main.key });
    await leaveBehind(dataDir, [main, child].map(sessionWrite));
    const { script, answers } = asking();
    const research = () => "all green";
    const board = await aBoard({ dataDir, config: OPEN, agents: { main: script, research } });
    await board.gateway.call("agent", {
      sessionKey: child.key,
      message: send({ agentId: "research", message: "work", timeoutSeconds: 0 }),
    });
    await board.quiet();
    expect(answers[0]).toMatchObject({ status: "accepted" });
    expect(board.agents.research?.turns.map((turn) => turn.trigger)).toEqual(["send"]);
    expect(board.agents.main?.turns.map((turn) => turn.trigger)).toEqual(["gateway"]);
  });

  it("A2A-5: a subagent as the target answers once and takes no turns", async () => {
    const child = "agent:research:subagent:00000000-0000-4000-8000-00000000abcd";
    const { board, answers } = await exchange({ turns: (n) => `turn ${n}` });
    await board.gateway.call("agent", { sessionKey: child, message: "begin" });
    await board.quiet();
    await board.telegram.says(send({ sessionKey: child, message: "how far?" }));
    await board.quiet();
    expect(answers[0]).toMatchObject({ status: "ok", reply: "all green" });
    const all = [...(board.agents.main?.turns ?? []), ...(board.agents.research?.turns ?? [])];
    expect(all.map((turn) => turn.trigger)).not.toContain("reply-back");
  });

  it("A15: a reply-back turn carries the reply of its run alone", async () => {
    const { board } = await exchange({ reply: "the answer", timeoutSeconds: 0 });
    await board.discord.says("by the way, the SECRET is 1234", { from: ROOM });
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: 0 }));
    await board.quiet();
    const turn = board.agents.main?.turns.find((one) => one.trigger === "reply-back");
    expect(JSON.stringify(turn?.input)).toContain("the answer");
    expect(JSON.stringify(turn)).not.toContain("SECRET");
  });
});

describe("where an announce goes", () => {
  it("STORE-2: an exchange moves nobody's route, and the announce goes to the target's own chat", async () => {
    const { board } = await exchange({ turns: (n) => `turn ${n}`, announce: "told" });
    const routes = async () => {
      const { sessions } = await board.gateway.call("sessions.list");
      // The shape that sessions_list documents.
      return (sessions as readonly Record<string, unknown>[]).map(
        ({ key, deliveryContext, lastChannel, lastTo, origin }) => ({
          key,
          deliveryContext,
          lastChannel,
          lastTo,
          origin,
        }),
      );
    };
    await board.telegram.says(send({ agentId: "nobody", message: "open" }));
    await board.quiet();
    const before = await routes();
    expect(before).toHaveLength(2);
    await board.gateway.call("agent", {
      agentId: "main",
      message: send({ sessionKey: ROOM_KEY, message: "status?" }),
    });
    await board.quiet();
    expect(announced(board)).toEqual(["told"]);
    const byKey = (list: typeof before) =>
      [...list].sort((a, b) => String(a.key).localeCompare(String(b.key)));
    expect(byKey(await routes())).toEqual(byKey(before));
  });

  it("B02: to the topic of a topic session", async () => {
    const { script } = asking();
    const board = await aBoard({
      config: {
        ...OPEN,
        bindings: [{ agentId: "b", match: { channel: "telegram", peer: { kind: "group", id: "-100111" } } }],
      },
      agents: { main: script, b: ({ request }) => (request.trigger === "announce" ? "hi" : "heard") },
    });
    await board.telegram.says("hello", { from: at("telegram", "group", "-100111", "42") });
    await board.discord.says(send({ sessionKey: "agent:b:telegram:group:-100111:topic:42", message: "x" }));
    await board.quiet();
    const hi = board.telegram.sent.filter((one) => one.text === "hi");
    expect(hi.map((one) => one.to)).toEqual([
      { channel: "telegram", accountId: "default", chatType: "group", chatId: "-100111", threadId: "42" },
    ]);
  });

  it("B04: through the account of the target's chat", async () => {
    const { script } = asking();
    const [x, y] = [
      memoryAdapter("telegram", { accountId: "x" }),
      memoryAdapter("telegram", { accountId: "y" }),
    ];
    const board = await aBoard({
      adapters: [x, y],
      config: { ...OPEN, bindings: [{ agentId: "b", match: { channel: "telegram", accountId: "y" } }] },
      agents: { main: script, b: ({ request }) => (request.trigger === "announce" ? "by y" : "heard") },
    });
    await y.says("hello", { from: { ...at("telegram", "group", "-5"), accountId: "y" } });
    await x.says(send({ sessionKey: "agent:b:telegram:group:-5", message: "x" }), {
      from: { ...at("telegram", "direct", "1001"), accountId: "x" },
    });
    await board.quiet();
    expect(y.sent.map((one) => one.text)).toEqual(["heard", "by y"]);
    expect(x.sent.map((one) => one.text)).toEqual(["asked"]);
  });
});

describe("what became of an announce", () => {
  it("A2A-4: announced, with a delivery that can be asked for", async () => {
    const { board, answers } = await wholeExchange({ announce: "told" });
    const { state, deliveryId } = await stateOf(board, answers[0]?.runId);
    expect(state).toBe("announced");
    const delivery = await board.gateway.call("agent.wait", { runId: deliveryId });
    expect(delivery).toMatchObject({ state: "done", result: { state: "delivered" } });
  });

  it("A2A-4: ok does not promise it: a platform that refuses for good is told by the delivery", async () => {
    const { board, answers, start } = await exchange({ announce: "told" });
    board.discord.failNext("permanent");
    await start();
    await board.quiet();
    expect(answers[0]).toMatchObject({ status: "ok" });
    const { deliveryId } = await stateOf(board, answers[0]?.runId);
    const delivery = await board.gateway.call("agent.wait", { runId: deliveryId });
    expect(delivery).toMatchObject({ state: "failed", result: { state: "failed" } });
    expect(announced(board)).toEqual([]);
  });

  it("A2A-3 A2A-4: ANNOUNCE_SKIP is silent", async () => {
    const { board, answers } = await wholeExchange({ announce: "ANNOUNCE_SKIP" });
    expect(await stateOf(board, answers[0]?.runId)).toMatchObject({ state: "silent" });
    expect(announced(board)).toEqual([]);
  });

  it("A2A-4: a failing announce run is failed, and no error text reaches the chat", async () => {
    const { script, answers } = asking();
    const board = await aBoard({
      config: { ...OPEN, bindings: BINDINGS },
      agents: {
        main: script,
        research({ request }) {
          if (request.trigger === "announce") throw new Error("model down");
          return "hello";
        },
      },
    });
    await board.discord.says("hi", { from: ROOM });
    await board.quiet();
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "status?" }));
    await board.quiet();
    expect(await stateOf(board, answers[0]?.runId)).toMatchObject({ state: "failed", reason: "model down" });
    expect(announced(board)).toEqual([]);
  });

  it("A18 A2A-4: no chat, no model call: no_route, and the reply is kept", async () => {
    const { board, answers } = await exchange({ announce: "told" });
    await board.telegram.says(send({ agentId: "research", message: "status?" }));
    await board.quiet();
    expect(answers[0]).toMatchObject({ status: "ok", reply: "all green" });
    expect(await stateOf(board, answers[0]?.runId)).toMatchObject({ state: "no_route" });
    expect(triggers(board, "research")).toEqual(["send"]);
    expect(announced(board)).toEqual([]);
    const kept = (await rows(board, "agent:research:main")).map((row) => row.content[0]?.text);
    expect(kept).toContain("all green");
    const { sessions } = await board.gateway.call("sessions.list", { agentId: "research", search: "main" });
    expect(sessions).toMatchObject([{ channel: "unknown" }]);
  });

  it("POL-3 A2A-4: a denied chat is suppressed with the reason, without a model call", async () => {
    const { board, answers, start } = await exchange({ announce: "told" });
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: "deny" });
    await start();
    await board.quiet();
    const { state, reason } = await stateOf(board, answers[0]?.runId);
    expect(state).toBe("suppressed");
    expect(reason).toContain("/send off");
    expect(triggers(board, "research")).not.toContain("announce");
  });

  it("POL-3: a chat that is denied while the announce waits costs no model call either", async () => {
    const { script, answers } = asking();
    const [answering, busy] = [gate(), gate()];
    const board = await aBoard({
      config: { ...OPEN, session: { agentToAgent: { maxPingPongTurns: 0 } }, bindings: BINDINGS },
      agents: {
        main: script,
        async research({ request, text, signal }) {
          if (request.trigger === "send") await answering.pass(signal);
          if (text.includes("long work")) await busy.pass(signal);
          return request.trigger === "announce" ? "told" : "hello";
        },
      },
    });
    await board.discord.says("hi", { from: ROOM });
    await board.quiet();
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: 0 }));
    await answering.reached;
    await board.discord.says("long work", { from: ROOM });
    answering.open();
    await busy.reached;
    await board.quiet();
    expect(await stateOf(board, answers[0]?.runId)).toMatchObject({ state: "open", turn: -1 });
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: "deny" });
    busy.open();
    await board.quiet();
    expect(announced(board)).toEqual([]);
    expect(triggers(board, "research")).toEqual(["send", "user"]);
    expect(await stateOf(board, answers[0]?.runId)).toMatchObject({ state: "suppressed" });
  });

  it("A18 A2A-4: what nobody can get is settled with the answer, though the target is busy", async () => {
    const { script, answers } = asking();
    const [answering, busy] = [gate(), gate()];
    const board = await aBoard({
      config: { ...OPEN, session: { agentToAgent: { maxPingPongTurns: 0 } } },
      agents: {
        main: script,
        async research({ request, signal }) {
          await (request.trigger === "send" ? answering : busy).pass(signal);
          return "done";
        },
      },
    });
    await board.telegram.says(send({ agentId: "research", message: "status?", timeoutSeconds: 0 }));
    await answering.reached;
    await board.gateway.call("agent", { agentId: "research", message: "long work" });
    answering.open();
    await busy.reached;
    await board.quiet();
    expect(await stateOf(board, answers[0]?.runId)).toMatchObject({ state: "no_route" });
    busy.open();
    await board.quiet();
  });

  it("A2A-4: every exchange is settled once, also when its requester is gone by then", async () => {
    const slow = gate();
    const { script } = asking();
    const board = await aBoard({
      config: OPEN,
      agents: {
        main: script,
        async research({ signal }) {
          await slow.pass(signal);
          throw new Error("model down");
        },
      },
    });
    const settled: string[] = [];
    board.on("exchange.settled", ({ state }) => settled.push(state));
    const group = at("telegram", "group", "-5");
    await board.telegram.says(send({ agentId: "research", message: "x", timeoutSeconds: 0 }), {
      from: group,
    });
    await slow.reached;
    await board.gateway.call("sessions.delete", { sessionKey: "agent:main:telegram:group:-5" });
    slow.open();
    await board.quiet();
    expect(settled).toEqual(["failed"]);
  });

  it("A2A-4: every exchange is settled once", async () => {
    const { board, start } = await exchange({ turns: (n) => `turn ${n}`, announce: "told" });
    const settled: string[] = [];
    board.on("exchange.settled", ({ state }) => settled.push(state));
    await start();
    await board.quiet();
    expect(settled).toEqual(["announced"]);
  });
});

describe("a requester that did not get its answer", () => {
  /** The notes in a requester's next prompt. */
  async function notes(board: Board): Promise<readonly string[]> {
    await board.telegram.says(send({ agentId: "nobody", message: "look" }));
    await board.quiet();
    const history = board.agents.main?.turns.at(-1)?.history ?? [];
    return history
      .filter((row) => row.role === "system")
      .flatMap((row) => row.content.flatMap((block) => (block.type === "text" ? [block.text] : [])))
      .filter((text) => text.includes("sessions_send"));
  }

  async function failing(timeoutSeconds: number) {
    const slow = gate();
    const { script, answers } = asking();
    const board = await aBoard({
      config: { ...OPEN, bindings: BINDINGS },
      agents: {
        main: script,
        async research({ signal }) {
          await slow.pass(signal);
          throw new Error("model down");
        },
      },
    });
    await board.telegram.says(send({ agentId: "research", message: "status?", timeoutSeconds }));
    await board.quiet();
    return { board, answers, slow };
  }

  it("is told of a failure by one note, without a run of its own, when it did not wait", async () => {
    const { board, slow, answers } = await failing(0);
    slow.open();
    await board.quiet();
    expect(board.agents.main?.turns).toHaveLength(1);
    const told = await notes(board);
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(answers[0]?.runId);
    expect(told[0]).toContain("model down");
    expect(await notes(board)).toHaveLength(1);
  });

  it("SEND-3: is told by one note when its wait had ended before", async () => {
    const { board, slow } = await failing(5);
    await board.clock.advance(5000);
    await board.quiet();
    slow.open();
    await board.quiet();
    expect(await notes(board)).toHaveLength(1);
  });

  it("A2A-4: hears nothing of an announce that failed", async () => {
    const { script } = asking();
    const board = await aBoard({
      config: { ...OPEN, bindings: BINDINGS },
      agents: {
        main: (turn) => (turn.request.trigger === "reply-back" ? "REPLY_SKIP" : script(turn)),
        research({ request }) {
          if (request.trigger === "announce") throw new Error("model down");
          return "hello";
        },
      },
    });
    await board.discord.says("hi", { from: ROOM });
    await board.quiet();
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: 0 }));
    await board.quiet();
    expect(triggers(board, "research")).toContain("announce");
    expect(await notes(board)).toEqual([]);
  });

  it("SEND-4: gets no note when the failure was its tool result", async () => {
    const { board, slow, answers } = await failing(30);
    slow.open();
    await board.quiet();
    expect(answers[0]).toMatchObject({ status: "error" });
    expect(await notes(board)).toEqual([]);
  });
});

describe("an exchange that is over", () => {
  const HOUR_MS = 3_600_000;

  /** Moves on without stepping through every heartbeat. */
  async function later(board: Board, ms: number): Promise<void> {
    board.clock.skip(ms);
    await board.clock.advance(5000);
    await board.quiet();
  }

  function inStore() {
    const store = new Map<string, unknown>();
    const records = () => [...store.keys()].filter((key) => key.includes("/exchange/")).length;
    return { options: { store: new Keyv({ store }) }, records };
  }

  function inFile() {
    const dataDir = aFolder();
    const select = "SELECT count(*) AS n FROM kv WHERE key LIKE 'exchange/%'";
    const records = () => fileOf(dataDir).prepare(select).get<{ n: number }>()?.n;
    return { options: { dataDir }, records };
  }

  it.each([
    ["SQLite", inFile],
    ["a Keyv of the host", inStore],
  ])("SEND-7: is forgotten with its runs, a day later, in %s", async (_, where) => {
    const { options, records } = where();
    const { script } = asking();
    const board = await aBoard({
      config: OPEN,
      agents: { main: script, research: () => "done" },
      ...options,
    });
    await board.telegram.says(send({ agentId: "research", message: "status?" }));
    await board.quiet();
    await later(board, 23 * HOUR_MS);
    expect(records()).toBe(1);
    await later(board, HOUR_MS);
    expect(records()).toBe(0);
    expect(board.complaints).toEqual([]);
  });

  it("A2A-4: one that still goes on after a day is remembered until a day after its end", async () => {
    const { options, records } = inFile();
    const { script } = asking();
    const [mains, theirs] = [gate(), gate()];
    const board = await aBoard({
      config: { ...OPEN, bindings: BINDINGS, agents: { defaults: { timeoutSeconds: 24 * 3600 } } },
      agents: {
        main: async (turn) => {
          if (turn.request.trigger !== "reply-back") return script(turn);
          await mains.pass(turn.signal);
          return "and then?";
        },
        research: async ({ request, signal }) => {
          if (request.trigger !== "reply-back") return request.trigger === "announce" ? "told" : "hello";
          await theirs.pass(signal);
          return "REPLY_SKIP";
        },
      },
      ...options,
    });
    await board.discord.says("hi", { from: ROOM });
    await board.quiet();
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "status?" }));
    await mains.reached;
    await later(board, 13 * HOUR_MS);
    mains.open();
    await theirs.reached;
    await later(board, 13 * HOUR_MS);
    expect(records()).toBe(1);
    theirs.open();
    await board.quiet();
    expect(board.discord.sent.map((one) => one.text)).toEqual(["hello", "told"]);
    await later(board, 25 * HOUR_MS);
    expect(records()).toBe(0);
  });
});
