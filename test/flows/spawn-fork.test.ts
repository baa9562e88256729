import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../src/core/config.ts";
import type { NewEntry, RunRequest, TranscriptEntry } from "../../src/core/ports/run.ts";
import { aBoard, type Board, LEASE_MS, type Script } from "../fakes/a-board.ts";
import { everythingIn, hangs, promptOf, tasksOf, withAgents } from "../fakes/a-spawner.ts";
import { fileOf } from "../fakes/store-files.ts";

const keeping = (maxEntries: number): ConfigInput => ({
  agents: { defaults: { history: { maxEntries, maxBytes: 262_144 } } },
});

/** Looks at the sessions first, then spawns twice at once, when a person writes "spawn". */
function forking(context: string | undefined, child: Script = () => "done"): Script {
  return async (turn) => {
    const { request, text, call } = turn;
    if (request.depth > 0) return request.trigger === "announce" ? "ANNOUNCE_SKIP" : child(turn);
    if (!text.startsWith("spawn")) return `heard ${text}`;
    await call("sessions_list", { limit: 1 }, "look");
    const input = { task: "look", ...(context === undefined ? {} : { context }) };
    const answers = await Promise.all([
      call("sessions_spawn", input, "one"),
      call("sessions_spawn", input, "two"),
    ]);
    for (const answer of answers) expect(answer).toMatchObject({ status: "accepted" });
    return "asked";
  };
}

/** Rows in short: who, and what. */
function short(rows: readonly (TranscriptEntry | NewEntry)[]): readonly string[] {
  return rows.map(({ role, content: [block] }) => {
    if (block?.type === "text") return `${role}: ${block.text}`;
    return block !== undefined && "id" in block ? `${block.type} ${block.id}` : "?";
  });
}

function expectWholePairs({ history }: RunRequest): void {
  const ids = (type: string) =>
    history.flatMap(({ content }) =>
      content.flatMap((one) => (one.type === type && "id" in one ? [one.id] : [])),
    );
  expect(ids("toolCall").toSorted()).toEqual(ids("toolResult").toSorted());
}

async function talk(board: Board, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await board.telegram.says(text);
    await board.quiet();
  }
}

/** The child's own transcript as it lies in the file, turn by turn. */
function turnsOf(
  { dataDir }: Board,
  request: RunRequest | undefined,
): readonly (readonly TranscriptEntry[])[] {
  const stored = fileOf(dataDir)
    .prepare("SELECT value FROM kv WHERE key LIKE ? ORDER BY key")
    .all<{ value: string }>(`turn/${request?.session.sessionId}/%`);
  // Stored turns.
  return stored.map(({ value }) => JSON.parse(value).entries);
}

describe("a child that begins with a copy", () => {
  it("SPAWN-8: knows what its requester does until now, the turn that spawns it included, and then its task", async () => {
    const board = await aBoard({ agents: { main: forking("fork", ({ signal }) => hangs(signal)) } });
    await talk(board, "one", "two", "spawn");
    const tasks = tasksOf(board.agents.main);
    expect(tasks).toHaveLength(2);
    for (const request of tasks) {
      expect(short(request.history)).toEqual([
        "user: one",
        "assistant: heard one",
        "user: two",
        "assistant: heard two",
        "user: spawn",
        "toolCall look",
        "toolResult look",
      ]);
      expectWholePairs(request);
      expect(promptOf(request)).toBe("[Subagent Task]\n\nlook");
      expect(request.history[0]).toMatchObject({
        sender: { id: "1001" },
        provenance: { kind: "external_user" },
      });
      expect(request.history.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      expect(new Set(request.history.map(({ id }) => id)).size).toBe(7);
      expect(request.input.seq).toBe(8);
    }
  });

  it("SPAWN-8: keeps the copy for itself: the requester's transcript does not change", async () => {
    const board = await aBoard({ agents: { main: forking("fork") } });
    await talk(board, "one", "spawn");
    const [request] = tasksOf(board.agents.main);
    const [copied, own] = turnsOf(board, request);
    expect(short(copied ?? [])).toEqual(short(request?.history ?? []));
    expect(short(own ?? [])).toEqual(["user: look", "assistant: done"]);
    const { messages } = await board.gateway.call("chat.history", { sessionKey: "main", includeTools: true });
    // The shape that sessions_history documents.
    const rows = short(messages as readonly TranscriptEntry[]);
    expect(rows.slice(0, 3)).toEqual(["user: one", "assistant: heard one", "user: spawn"]);
    expect(rows.filter((row) => row === "user: one")).toHaveLength(1);
  });

  it("SPAWN-8: still has the copy after a crash", async () => {
    const board = await aBoard({
      agents: { main: forking("fork", ({ signal }) => hangs(signal)) },
      config: { agents: { defaults: { resume: "retry" } } },
    });
    await talk(board, "one", "spawn");
    const after = await aBoard({
      agents: { main: forking("fork") },
      config: { agents: { defaults: { resume: "retry" } } },
      dataDir: board.snapshot(),
      clock: board.clock,
    });
    await after.clock.advance(2 * LEASE_MS);
    await after.quiet();
    const [before] = tasksOf(board.agents.main);
    expect(tasksOf(after.agents.main)).toHaveLength(2);
    expect(short(tasksOf(after.agents.main)[0]?.history ?? [])).toEqual(short(before?.history ?? []));
  });

  it.each([
    [4, ["assistant: heard three", "user: spawn", "toolCall look", "toolResult look"]],
    [2, ["toolCall look", "toolResult look"]],
    [1, []],
    [0, []],
  ])(
    "SPAWN-8: with agents.defaults.history.maxEntries %i it knows no more than that",
    async (most, expected) => {
      const board = await aBoard({ agents: { main: forking("fork") }, config: keeping(most) });
      await talk(board, "one", "two", "three", "spawn");
      const [request] = tasksOf(board.agents.main);
      expect(short(request?.history ?? [])).toEqual(expected);
      // What is stored is bounded by the same, beside the turn that is under way.
      expect(turnsOf(board, request).flat().length).toBeLessThanOrEqual(most + 3 + 4);
    },
  );

  it("SPAWN-8: of a long past only the newest rows within maxBytes are copied, and no half of a tool call", async () => {
    const board = await aBoard({
      agents: { main: forking("fork") },
      config: { agents: { defaults: { history: { maxEntries: 200, maxBytes: 4096 } } } },
    });
    await talk(board, "x".repeat(3000), "spawn first", "y".repeat(500), "spawn");
    const request = tasksOf(board.agents.main).at(-1);
    expect(request).toBeDefined();
    if (request === undefined) return;
    expectWholePairs(request);
    expect(short(request.history).join()).not.toContain("xxx");
    expect(short(request.history)).toContain(`user: ${"y".repeat(500)}`);
  });

  it("SPAWN-8: is given the turn once, also when the runner reports its rows while it works", async () => {
    const board = await aBoard({
      agents: {
        async main(turn) {
          const { request, text, call } = turn;
          if (request.trigger === "user" && text === "spawn") {
            const atMs = board.clock.now();
            request.report(() => [
              { role: "assistant", content: [{ type: "text", text: "thinking aloud" }], atMs },
            ]);
            await board.clock.advance(1500);
            return `${(await call("sessions_spawn", { task: "look", context: "fork" })).status}`;
          }
          return "ok";
        },
      },
    });
    await talk(board, "one");
    const ended = board.next("run.finished", ({ trigger }) => trigger === "spawn");
    await board.telegram.says("spawn");
    await ended;
    const [request] = tasksOf(board.agents.main);
    expect(short(request?.history ?? [])).toEqual(["user: one", "assistant: ok", "user: spawn"]);
  });

  it.each([["isolated"], [undefined]])("SPAWN-8: with context %s it knows nothing", async (context) => {
    const board = await aBoard({ agents: { main: forking(context) } });
    await talk(board, "one", "spawn");
    const [request] = tasksOf(board.agents.main);
    expect(request?.history).toEqual([]);
    expect(turnsOf(board, request)[0]?.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("SPAWN-8: is of the requester's own agent, any other is refused and leaves nothing behind", async () => {
    const { board, spawn } = await withAgents(
      { main: {}, ops: {} },
      { agents: { list: [{ id: "main", subagents: { allowAgents: ["ops"] } }] } },
    );
    const before = everythingIn(board);
    expect(await spawn({ context: "fork", agentId: "ops" })).toEqual({
      status: "error",
      code: "INPUT_INVALID",
      error: expect.stringMatching(/fork.*"main" only/),
    });
    expect(everythingIn(board)).toBe(before);
    expect(await spawn({ context: "fork", agentId: "MAIN" })).toMatchObject({ status: "accepted" });
  });

  it("SPAWN-8: of a session that tools are mounted for from outside, what it has said until now", async () => {
    const { agents, spawn } = await withAgents({ main: {} });
    await spawn({ context: "fork" });
    expect(short(tasksOf(agents.main)[0]?.history ?? [])).toEqual(["user: hi", "assistant: ok"]);
  });
});
