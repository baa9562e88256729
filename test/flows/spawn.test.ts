import { describe, expect, it } from "vitest";
import type { TranscriptEntry } from "../../src/core/ports/run.ts";
import { aBoard, type Board, use } from "../fakes/a-board.ts";
import { childrenOf } from "../fakes/a-family.ts";
import { hangs, promptOf, spawner, tasksOf } from "../fakes/a-spawner.ts";
import { gate } from "../fakes/gate.ts";
import { fileOf } from "../fakes/store-files.ts";

const MAIN = "agent:main:main";
const KEY = /^agent:main:subagent:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/;

/** Texts that have been lost, cut or changed elsewhere. */
const TASKS: readonly (readonly [string, string])[] = [
  ["quotes", `Say "it's" and \\"that\\" and \`this\``],
  ["newlines and spaces at both ends", "\n  first\r\n\tsecond\n\n\nthird  \n"],
  ["20 kB", "Look at everything. ".repeat(1024)],
  ["the longest", "x".repeat(65_536)],
  ["emoji and scripts", "👩‍👩‍👧 नमस्ते ñandú \u200bשלום 🇧🇷"],
  ["braces, tokens and markup", "{task} %s $& $1 <b>NO_REPLY</b>\nANNOUNCE_SKIP"],
  ["control characters and half an emoji", "a\u0000b\u0007c\ud83dd\u2028e"],
  ["one letter", "x"],
];

/** As it lies in the file. */
function firstRowOf({ dataDir }: Board, sessionId: string): TranscriptEntry {
  const stored = fileOf(dataDir).prepare("SELECT value FROM kv WHERE key = ?").get(`turn/${sessionId}/1`);
  // A stored turn.
  return JSON.parse((stored as { value: string }).value).entries[0];
}

describe("what a spawn makes", () => {
  it("SPAWN-1: a session of its own, named in the answer beside the run, and nothing is posted for it", async () => {
    const { script, answers } = spawner(() => "found it");
    const board = await aBoard({ agents: { main: script } });
    await board.telegram.says('{"task":"look"}');
    await board.quiet();
    expect(answers).toEqual([
      {
        status: "accepted",
        runId: expect.stringMatching(/^spawn:/),
        childSessionKey: expect.stringMatching(KEY),
        depth: 1,
        note: expect.stringMatching(/do not poll/i),
      },
    ]);
    const { sessions } = await board.gateway.call("sessions.list", { search: "subagent" });
    expect(sessions).toMatchObject([{ key: answers[0]?.childSessionKey, spawnedBy: "main" }]);
    expect(board.telegram.sent.map(({ text }) => text)).toEqual(["asked"]);
  });

  it("SPAWN-1: the answer does not wait for the child, and the chat goes on while it works", async () => {
    const { script, answers } = spawner(({ signal }) => hangs(signal));
    const board = await aBoard({ agents: { main: script } });
    await board.telegram.says('{"task":"for ever"}');
    await board.quiet();
    await board.telegram.says('{"task":"once more"}');
    await board.quiet();
    expect(answers.map(({ status }) => status)).toEqual(["accepted", "accepted"]);
    expect(childrenOf(board).map(({ outcome }) => outcome)).toEqual([undefined, undefined]);
    expect(board.telegram.sent).toHaveLength(2);
  });

  it.each(TASKS)(
    "D16 SPAWN-5: a task of %s is the child's first message, unchanged and marked",
    async (_, task) => {
      const { script } = spawner();
      const board = await aBoard({ agents: { main: script } });
      await board.gateway.call("agent", { agentId: "main", message: "hello" });
      await use(board, MAIN, "sessions_spawn", { task });
      await board.quiet();
      const [request] = tasksOf(board.agents.main);
      // Not toBe: nobody wants to read 64 kB of difference.
      expect(promptOf(request) === `[Subagent Task]\n\n${task}`, promptOf(request).slice(0, 200)).toBe(true);
      expect(request).toMatchObject({ trigger: "spawn", depth: 1, history: [] });
      const row = firstRowOf(board, request?.session.sessionId ?? "");
      expect(JSON.stringify(row.content) === JSON.stringify([{ type: "text", text: task }])).toBe(true);
      expect(row).toMatchObject({
        role: "user",
        provenance: { kind: "inter_session", sourceSessionKey: MAIN, sourceTool: "sessions_spawn" },
      });
      expect(childrenOf(board)[0]?.task === task).toBe(true);
    },
  );

  it("D16 SPAWN-5: the system prompt holds rules and the place, never the task", async () => {
    const { script } = spawner();
    const board = await aBoard({ agents: { main: script } });
    await board.telegram.says('{"task":"count the zebras","label":"zebras"}');
    await board.quiet();
    const { extraSystemPrompt = "" } = tasksOf(board.agents.main)[0] ?? {};
    expect(extraSystemPrompt).toMatch(/subagent \(depth 1 of at most 1\)/);
    expect(extraSystemPrompt).toContain("[Subagent Task]");
    expect(extraSystemPrompt).not.toMatch(/zebras/);
    expect(extraSystemPrompt).not.toMatch(/sessions_yield/);
  });

  it("C10: a cron session without a chat spawns; the result comes into its transcript and nothing is sent", async () => {
    const { script, answers } = spawner(() => "all is well");
    const board = await aBoard({ agents: { main: script } });
    await board.gateway.call("agent", { sessionKey: "cron:job1", message: '{"task":"check"}' });
    await board.quiet();
    expect(answers).toMatchObject([{ status: "accepted" }]);
    const { messages } = await board.gateway.call("chat.history", { sessionKey: "cron:job1" });
    expect(JSON.stringify(messages)).toMatch(/Status: success.*all is well/);
    expect([board.discord, board.telegram, board.whatsapp].flatMap(({ sent }) => sent)).toEqual([]);
    expect(board.complaints).toEqual([]);
    const [input] = tasksOf(board.agents.main).map((request) => request.input);
    expect(input?.provenance).toMatchObject({
      sourceSessionKey: "agent:main:cron:job1",
      sourceChannel: "internal",
    });
  });

  it("B04 SPAWN-1: the chat and the account are those at the time of the spawn", async () => {
    const { script } = spawner(({ signal }) => hangs(signal));
    const board = await aBoard({ agents: { main: script } });
    await board.telegram.says('{"task":"look"}');
    await board.quiet();
    await board.whatsapp.says("I am here now", { sender: { id: "+1001", isBot: false } });
    await board.quiet();
    const origin = { channel: "telegram", accountId: "default", chatType: "direct", chatId: "1001" };
    expect(childrenOf(board)[0]?.origin).toEqual(origin);
  });
});

describe("the tools of children on a board", () => {
  const ORCHESTRATOR = [
    "agents_list",
    "sessions_history",
    "sessions_list",
    "sessions_spawn",
    "sessions_yield",
  ];
  const bound = ({ agents }: Board) =>
    tasksOf(agents.main).map(({ tools }) => tools.map(({ name }) => name).sort());

  it("SPAWN-4 D15: with maxSpawnDepth 1 a child has no session tools, and cannot spawn by any way", async () => {
    const { script, answers } = spawner();
    const board = await aBoard({ agents: { main: script } });
    await board.telegram.says('{"task":"look"}');
    await board.quiet();
    expect(bound(board)).toEqual([[]]);
    const key = String(answers[0]?.childSessionKey);
    expect((await board.tools(key)).map(({ name }) => name)).toEqual([]);
  });

  it("SPAWN-4 SPAWN-6: with maxSpawnDepth 2 a child leads children of its own, and those have nothing", async () => {
    const hold = gate();
    const board = await aBoard({
      config: { agents: { defaults: { subagents: { maxSpawnDepth: 2 } } } },
      agents: {
        async main({ request, call, signal }) {
          if (request.trigger === "completion" || request.trigger === "announce") return "done";
          if (request.depth < 2) {
            const answer = await call("sessions_spawn", { task: "deeper" });
            expect(answer).toMatchObject({ status: "accepted", depth: request.depth + 1 });
            return "done";
          }
          await hold.pass(signal);
          return "deep";
        },
      },
    });
    await board.telegram.says("go");
    await hold.reached;
    const [lead, leaf] = bound(board);
    expect(lead).toEqual(expect.arrayContaining(ORCHESTRATOR));
    expect(lead).not.toEqual(expect.arrayContaining(["sessions_send"]));
    expect(leaf).toEqual([]);
    expect(tasksOf(board.agents.main)[0]?.extraSystemPrompt).toMatch(
      /depth 1 of at most 2[\s\S]*sessions_yield/,
    );
    hold.open();
    await board.quiet();
    expect(childrenOf(board).map(({ depth, outcome }) => [depth, outcome?.status])).toEqual([
      [1, "ok"],
      [2, "ok"],
    ]);
  });

  it("SPAWN-4 AGENTS-1: a leaf that was given the tool back is refused for its depth, and is shown no agent", async () => {
    const { script, answers } = spawner();
    const board = await aBoard({
      agents: { main: script },
      config: { tools: { subagents: { tools: { alsoAllow: ["sessions_spawn"] } } } },
    });
    await board.telegram.says('{"task":"look"}');
    await board.quiet();
    const leaf = String(answers[0]?.childSessionKey);
    expect(await use(board, leaf, "sessions_spawn", { task: "deeper" })).toMatchObject({
      status: "forbidden",
      code: "SPAWN_DEPTH",
    });
    expect(await use(board, leaf, "agents_list")).toEqual({ requester: "main", allowAny: false, agents: [] });
    expect(childrenOf(board)).toHaveLength(1);
  });
});
