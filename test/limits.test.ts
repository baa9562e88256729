import { describe, expect, it } from "vitest";
import type { AgentAnswer } from "../src/agents/function-agent.ts";
import {
  ASKED_UNITS,
  CALL_DEPTH,
  CALL_UNITS,
  HEARD_UNITS,
  KEY_UNITS,
  MESSAGE_UNITS,
  MOST_ATTACHMENTS,
  NAME_UNITS,
  QUOTE_UNITS,
  REPLY_UNITS,
  SAID_UNITS,
} from "../src/core/limits.ts";
import type { InboundMessage } from "../src/core/ports/chat.ts";
import type { Block } from "../src/core/ports/run.ts";
import { textOf } from "../src/core/transcript/prompt.ts";
import { aBoard, type Board, OPEN, type Script, use } from "./fakes/a-board.ts";
import { at } from "./fakes/memory-adapter.ts";
import { fileOf } from "./fakes/store-files.ts";

const MAIN = "agent:main:main";
const CUT = "\n…(truncated)…";
const x = (length: number) => "x".repeat(length);

async function aBoardWithBoth(script: Script = () => "REPLY_SKIP"): Promise<Board> {
  const board = await aBoard({ agents: { main: script, ops: script }, config: OPEN });
  for (const agentId of ["main", "ops"]) await board.gateway.call("agent", { agentId, message: "open" });
  await board.quiet();
  return board;
}

/** What somebody is answered who calls: the code, or "ok". */
type Call = (board: Board, length: number) => Promise<unknown>;

const tool =
  (name: string, input: (length: number) => object): Call =>
  async (board, length) =>
    (await use(board, MAIN, name, input(length))).code ?? "ok";

const host =
  (method: Parameters<Board["gateway"]["call"]>[0], params: (length: number) => object): Call =>
  (board, length) =>
    board.gateway.call(method, params(length)).then(
      () => "ok",
      (error: { readonly code?: string }) => error.code,
    );

const toOps = { agentId: "ops", timeoutSeconds: 0 };
const notThere = "SESSION_NOT_FOUND";

describe("what is asked of the board", () => {
  it("API-1: a message of the host that is too long is refused with what to do instead, as an agent's is", async () => {
    const board = await aBoard();
    const call = board.gateway.call("agent", { agentId: "main", message: x(MESSAGE_UNITS + 1) });
    await expect(call).rejects.toThrow(
      "agent: message: at most 65536 characters; send the main points, or several messages",
    );
    await expect(board.gateway.call("agent", { agentId: "main", message: " " })).rejects.toThrow(
      "agent: message: message is empty",
    );
  });

  it.each<[string, number, Call, code: string, within?: string]>([
    [
      "sessions_send message",
      MESSAGE_UNITS,
      tool("sessions_send", (n) => ({ ...toOps, message: x(n) })),
      "MESSAGE_TOO_LARGE",
    ],
    [
      "sessions_spawn task",
      MESSAGE_UNITS,
      tool("sessions_spawn", (n) => ({ task: x(n) })),
      "MESSAGE_TOO_LARGE",
    ],
    [
      "agent message",
      MESSAGE_UNITS,
      host("agent", (n) => ({ agentId: "main", message: x(n) })),
      "MESSAGE_TOO_LARGE",
    ],
    [
      "chat.send message",
      MESSAGE_UNITS,
      host("chat.send", (n) => ({ sessionKey: MAIN, message: x(n), deliver: false })),
      "MESSAGE_TOO_LARGE",
    ],
    [
      "sessions_send sessionKey",
      KEY_UNITS,
      tool("sessions_send", (n) => ({ sessionKey: x(n), message: "m" })),
      "INPUT_INVALID",
      notThere,
    ],
    [
      "sessions_history sessionKey",
      KEY_UNITS,
      tool("sessions_history", (n) => ({ sessionKey: x(n) })),
      "INPUT_INVALID",
      notThere,
    ],
    [
      "sessions.reset sessionKey",
      KEY_UNITS,
      host("sessions.reset", (n) => ({ sessionKey: x(n) })),
      "INPUT_INVALID",
      notThere,
    ],
    [
      "sessions_send idempotencyKey",
      200,
      tool("sessions_send", (n) => ({ ...toOps, message: "m", idempotencyKey: x(n) })),
      "INPUT_INVALID",
    ],
    [
      "agent idempotencyKey",
      200,
      host("agent", (n) => ({ agentId: "main", message: "m", idempotencyKey: x(n) })),
      "INPUT_INVALID",
    ],
    [
      "sessions_send label",
      512,
      tool("sessions_send", (n) => ({ label: x(n), message: "m" })),
      "INPUT_INVALID",
      notThere,
    ],
    [
      "sessions_spawn label",
      512,
      tool("sessions_spawn", (n) => ({ task: "t", label: x(n) })),
      "LABEL_INVALID",
    ],
    [
      "sessions.patch label",
      512,
      host("sessions.patch", (n) => ({ sessionKey: MAIN, label: x(n) })),
      "LABEL_INVALID",
    ],
    ["sessions_list search", 256, tool("sessions_list", (n) => ({ search: x(n) })), "INPUT_INVALID"],
    ["sessions_list agentId", 64, tool("sessions_list", (n) => ({ agentId: x(n) })), "INPUT_INVALID"],
    [
      "sessions_list kinds",
      32,
      tool("sessions_list", (n) => ({ kinds: Array(n).fill("main") })),
      "INPUT_INVALID",
    ],
  ])(
    "API-1 TOOLS-3: %s: %i is taken, one more is refused with a code",
    async (_, limit, call, code, within = "ok") => {
      const board = await aBoardWithBoth();
      expect(await call(board, limit)).toBe(within);
      expect(await call(board, limit + 1)).toBe(code);
    },
  );

  it("SEND-1: a message that is too large says how long it may be, and nothing is sent", async () => {
    const board = await aBoardWithBoth();
    const answer = await use(board, MAIN, "sessions_send", { ...toOps, message: x(MESSAGE_UNITS + 1) });
    expect(answer).toMatchObject({
      status: "error",
      error: expect.stringMatching(/^message: at most 65536 /),
    });
    await board.quiet();
    expect(board.agents.ops?.turns).toHaveLength(1);
  });

  it("TOOLS-3: what is wrong beside the length is said first", async () => {
    const board = await aBoardWithBoth();
    const answer = await use(board, MAIN, "sessions_send", {
      message: x(MESSAGE_UNITS + 1),
      timeoutSeconds: "1",
    });
    expect(answer.code).toBe("INPUT_INVALID");
  });

  it("TOOLS-3: an answer about wrong parameters is short, whatever the model made up", async () => {
    const board = await aBoardWithBoth();
    const answer = await use(board, MAIN, "sessions_list", { [x(100_000)]: 1 });
    expect(answer.code).toBe("INPUT_INVALID");
    expect(String(answer.error).length).toBeLessThanOrEqual(2000 + CUT.length);
  });
});

/** Everything that the agent was asked in its last turn. */
const lastInput = (board: Board) => board.agents.main?.turns.at(-1)?.input.content ?? [];

async function hears(board: Board, message: Partial<InboundMessage> & { readonly text: string }) {
  const acceptance = await board.telegram.says(message.text, message);
  await board.quiet();
  expect(acceptance).toBe("run");
}

/** Whether these words stand in the file, exactly. */
function isStored(board: Board, words: string): boolean {
  const found = fileOf(board.dataDir).prepare(
    "SELECT 1 AS found FROM runs WHERE instr(payload, ?) > 0 LIMIT 1",
  );
  return found.get(JSON.stringify(words).slice(0, -1)) !== undefined;
}

describe("what people write is never refused for its length", () => {
  it("IN-1: 65,536 characters stand in the prompt; what is longer is cut there, with a mark, and stored whole", async () => {
    const board = await aBoard();
    await hears(board, { text: x(ASKED_UNITS) });
    expect(lastInput(board)).toEqual([{ type: "text", text: x(ASKED_UNITS) }]);
    await hears(board, { text: x(ASKED_UNITS + 1) });
    expect(lastInput(board)).toEqual([{ type: "text", text: x(ASKED_UNITS) + CUT }]);
    expect(isStored(board, x(ASKED_UNITS + 1))).toBe(true);
    await hears(board, { text: "and?" });
    expect(board.agents.main?.turns.at(-1)?.history.map(textOf)).toContain(x(ASKED_UNITS) + CUT);
    expect(board.complaints).toEqual([]);
  });

  it("IN-1: 1,048,576 characters are stored; what is longer, as no platform has it, is cut and logged", async () => {
    const board = await aBoard();
    await hears(board, { text: x(HEARD_UNITS) });
    expect(board.complaints).toEqual([]);
    await hears(board, { text: x(HEARD_UNITS + 1) });
    expect(board.complaints).toEqual([expect.stringMatching(/too long and has been cut.*1048577/)]);
    expect(isStored(board, x(HEARD_UNITS) + CUT)).toBe(true);
  });

  it("IN-1: a slash in front of it makes no command of it", async () => {
    const board = await aBoard();
    await hears(board, { text: `/send ${x(100_000)} and more` });
    expect(textOf({ content: lastInput(board) })).toMatch(/^\/send xxx/);
  });

  it("IN-1: 65,536 characters of a quotation", async () => {
    const board = await aBoard();
    const quoted = (length: number) => ({ text: "look", quoted: { text: x(length), forwarded: false } });
    await hears(board, quoted(QUOTE_UNITS));
    expect(isStored(board, x(QUOTE_UNITS))).toBe(true);
    await hears(board, quoted(QUOTE_UNITS + 1));
    expect(isStored(board, x(QUOTE_UNITS + 1))).toBe(false);
    expect(isStored(board, x(QUOTE_UNITS) + CUT)).toBe(true);
  });

  it("IN-1: 50 attachments; the last one of more says how many are missing", async () => {
    const board = await aBoard();
    const files = (count: number) => ({
      text: "look",
      attachments: Array.from({ length: count }, (_, n) => ({ mediaType: "image/png", name: `${n}.png` })),
    });
    const attached = () => lastInput(board).filter(({ type }) => type === "attachment");
    await hears(board, files(MOST_ATTACHMENTS));
    expect(attached().at(-1)).toMatchObject({ name: "49.png" });
    await hears(board, files(MOST_ATTACHMENTS + 1));
    expect(attached()).toHaveLength(MOST_ATTACHMENTS);
    expect(attached().at(-1)).toMatchObject({ name: "2 more attachments" });
  });

  it("IN-1: 256 characters of a name, never half of one", async () => {
    const board = await aBoard();
    const from = at("telegram", "group", "-100");
    const named = (name: string) => ({ text: "hi", from, sender: { id: "7", isBot: false, name } });
    await hears(board, named(x(NAME_UNITS)));
    expect(isStored(board, x(NAME_UNITS))).toBe(true);
    await hears(board, named(`${x(NAME_UNITS - 1)}🦊`));
    expect(isStored(board, `${x(NAME_UNITS - 1)}🦊`)).toBe(false);
    expect(isStored(board, x(NAME_UNITS - 1))).toBe(true);
    // What a prompt shows of it.
    expect(textOf({ content: lastInput(board) })).toBe(`${x(64)}: hi`);
  });

  it("IN-1: 128 characters of a chat's title", async () => {
    const board = await aBoard();
    for (const [chatId, length, shown] of [
      ["-1", 128, x(128)],
      ["-2", 129, `${x(127)}…`],
    ] as const) {
      await hears(board, { text: "hi", from: at("telegram", "group", chatId), chatTitle: x(length) });
      const found = fileOf(board.dataDir).prepare("SELECT json FROM session_index WHERE instr(key, ?) > 0");
      expect(JSON.parse(found.get<{ json: string }>(`group:${chatId}`)?.json ?? "{}").title).toBe(shown);
    }
  });

  it("IN-1 N08: messages that are answered together are 65,536 characters of a prompt; older ones stand in the history", async () => {
    const board = await aBoard({ config: { channels: { telegram: { debounceMs: 1000 } } } });
    const say = async (...lengths: readonly number[]) => {
      for (const [n, length] of lengths.entries()) await board.telegram.says(`${n}${x(length - 1)}`);
      await board.clock.advance(1000);
      await board.quiet();
      const { input, history } = board.agents.main?.turns.at(-1) ?? { input: undefined, history: [] };
      return [input?.content.length, history.filter(({ role }) => role === "user").length];
    };
    expect(await say(ASKED_UNITS / 2, ASKED_UNITS / 2)).toEqual([2, 0]);
    expect((await say(ASKED_UNITS / 2, ASKED_UNITS / 2 + 1, 10))[0]).toBe(2);
  });
});

describe("what agents make", () => {
  it("HIST-6: 262,144 characters of a reply and of each text of its rows; the rest is cut, with a mark", async () => {
    const config = { agents: { defaults: { history: { maxBytes: 4_194_304 } } } };
    const rows = async (length: number) => {
      const entries = [
        { role: "assistant" as const, content: [{ type: "thinking" as const, text: x(length) }], atMs: 0 },
      ];
      const answer: AgentAnswer = { status: "ok", reply: x(length), entries };
      const board = await aBoard({ agents: { main: ({ text }) => (text === "go" ? answer : "ok") }, config });
      await hears(board, { text: "go" });
      await hears(board, { text: "again" });
      const blocks = board.agents.main?.turns.at(-1)?.history.flatMap(({ content }) => content) ?? [];
      return blocks.slice(1).map((block) => ("text" in block ? block.text : ""));
    };
    expect(await rows(SAID_UNITS)).toEqual([x(SAID_UNITS), x(SAID_UNITS)]);
    expect(await rows(SAID_UNITS + 1)).toEqual([x(SAID_UNITS) + CUT, x(SAID_UNITS) + CUT]);
  });

  it("SEND-5: the same of a run's kept result", async () => {
    const stored = async (length: number) => {
      const board = await aBoard({ agents: { main: () => x(length) } });
      await hears(board, { text: "go" });
      const { result } = await board.gateway.call("agent.wait", {
        runId: board.agents.main?.turns[0]?.runId,
        timeoutSeconds: 0,
      });
      // Results of runs.
      return (result as { readonly reply: string }).reply;
    };
    expect(await stored(SAID_UNITS)).toBe(x(SAID_UNITS));
    expect(await stored(SAID_UNITS + 1)).toBe(x(SAID_UNITS) + CUT);
  });

  it("SEND-2: 65,536 characters of the reply in a result of sessions_send; of more it says contentTruncated", async () => {
    const board = await aBoardWithBoth(({ text }) => {
      const [, length] = /say (\d+)/.exec(text) ?? [];
      return length === undefined ? "REPLY_SKIP" : x(Number(length));
    });
    const ask = async (length: number) => {
      const asked = use(board, MAIN, "sessions_send", { agentId: "ops", message: `say ${length}` });
      await board.quiet();
      return asked;
    };
    const whole = await ask(REPLY_UNITS);
    expect(whole.reply).toBe(x(REPLY_UNITS));
    expect(whole).not.toHaveProperty("contentTruncated");
    expect(await ask(REPLY_UNITS + 1)).toMatchObject({ reply: x(REPLY_UNITS) + CUT, contentTruncated: true });
  });

  /** What is written down of a call with this input, and whether the next turn can be held. */
  async function recorded(input: object): Promise<unknown> {
    const board = await aBoard({
      agents: {
        main: async ({ text, call }) => {
          if (text === "call") await call("sessions_list", input);
          return "ok";
        },
      },
    });
    await hears(board, { text: "call" });
    await hears(board, { text: "go on" });
    const blocks: readonly Block[] =
      board.agents.main?.turns.at(-1)?.history.flatMap(({ content }) => content) ?? [];
    return blocks.find((block) => block.type === "toolCall")?.arguments;
  }

  it("TOOLS-3: 64 levels of a call's input; of a deeper one a note is written down, and the session goes on", async () => {
    const nested = (depth: number): object => (depth === 1 ? {} : { a: nested(depth - 1) });
    expect(await recorded(nested(CALL_DEPTH))).toEqual(nested(CALL_DEPTH));
    expect(await recorded(nested(CALL_DEPTH + 1))).toEqual({ omitted: "nested deeper than 64" });
    expect(await recorded(nested(3000))).toEqual({ omitted: "nested deeper than 64" });
  });

  it("TOOLS-3: 262,144 characters of a call's input as JSON; of more a note is written down", async () => {
    const overhead = JSON.stringify({ search: "" }).length;
    const wide = { search: x(CALL_UNITS - overhead + 1) };
    expect(await recorded({ search: x(100_000) })).toEqual({ search: x(100_000) });
    expect(await recorded(wide)).toEqual({ omitted: `${CALL_UNITS + 1} characters of JSON` });
  });
});
