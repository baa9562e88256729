import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { acpAgent } from "../../src/agents/acp.ts";
import { scriptedAgent } from "../../src/agents/scripted-agent.ts";
import { harnessProgram } from "../agents/acp-harness.ts";
import { aBoard, aFolder, type BoardOptions, use } from "../fakes/a-board.ts";
import { everythingIn, hangs } from "../fakes/a-spawner.ts";
import { at } from "../fakes/memory-adapter.ts";

const harness = await harnessProgram();
const room = at("discord", "channel", "222");

/** A real harness process that does what `act` says. */
function aHarness(act: string) {
  const env = { PIDS: join(aFolder(), "pids") };
  return acpAgent({ command: process.execPath, args: [harness, act], env });
}

/** The person's message is the input of sessions_spawn; what the tool answered is kept. */
async function aSpawner(options: BoardOptions = {}) {
  const answers: { readonly [key: string]: unknown }[] = [];
  const board = await aBoard({
    ...options,
    agents: {
      main: async ({ request, text, call }) => {
        if (request.trigger !== "user" || !text.includes("{")) return "NO_REPLY";
        answers.push(await call("sessions_spawn", JSON.parse(text.slice(text.indexOf("{")))));
        return "spawned";
      },
    },
  });
  return { board, answers };
}

const asks = (input: object) => JSON.stringify({ task: "Tidy up.", runtime: "acp", ...input });

it("SPAWN-11: without a harness runtime acp is a clear error, and nothing is spawned", async () => {
  const { board, answers } = await aSpawner();
  await board.discord.says(asks({}), { from: room });
  await board.quiet();
  expect(answers).toEqual([
    { status: "error", code: "ACP_UNAVAILABLE", error: expect.stringContaining("acpAgent({ command })") },
  ]);
  expect(await board.gateway.call("sessions.list", { search: "subagent" })).toMatchObject({ count: 0 });
});

it("SPAWN-11 ANN-2: a harness does the task; its answer is posted as the runtime's, and its steps stand in the child's transcript", async () => {
  const { board, answers } = await aSpawner({ acp: aHarness("work") });
  const posted = board.next("delivery.settled", ({ deliveryId }) => deliveryId.startsWith("spawn:"));
  await board.discord.says(asks({}), { from: room });
  await posted;
  expect(board.discord.sent.map(({ text }) => text)).toEqual([
    "spawned",
    expect.stringMatching(/^Status: success\nResult: All done\.\nStats: runtime \d+s/),
  ]);
  const sessionKey = answers[0]?.childSessionKey;
  const { messages } = await board.gateway.call("chat.history", { sessionKey, includeTools: true });
  expect(messages).toMatchObject([
    { role: "user", content: [{ type: "text", text: "Tidy up." }] },
    { role: "assistant" },
    { role: "assistant" },
    { role: "toolResult" },
    { role: "assistant" },
    { role: "assistant" },
    { role: "toolResult" },
    { role: "assistant", content: [{ type: "text", text: "All done." }] },
  ]);
});

it("SPAWN-9 SPAWN-11 D02 D05: a harness shows its text while it works, is killed at its limit, and what it had said is no success", async () => {
  const { board, answers } = await aSpawner({ acp: aHarness("deaf") });
  await board.discord.says(asks({ runTimeoutSeconds: 60 }), { from: room });
  await board.quiet();
  const sessionKey = answers[0]?.childSessionKey;
  const said = async () => {
    await board.clock.advance(1000);
    return JSON.stringify(await board.gateway.call("chat.history", { sessionKey }));
  };
  await vi.waitFor(async () => expect(await said()).toContain('"role":"assistant"'), 10_000);
  const ended = board.next("child.ended");
  const posted = board.next("delivery.settled", ({ deliveryId }) => deliveryId.startsWith("spawn:"));
  // The harness is real: it needs its own time to die, and our own grace ends with the fake clock.
  await board.clock.advance(60_000);
  await board.clock.advance(1000);
  expect((await ended).status).toBe("timeout");
  await posted;
  expect(board.discord.sent.at(-1)?.text).toMatch(/^Status: timeout\nNotes: timed out after 60 s\nStats:/);
  expect(await said()).toContain("timed out after 60 s");
});

it.each([
  [true, "accepted"],
  [false, "forbidden"],
])(
  "SPAWN-11 SAND-1: whoever is confined may use a harness that confines too (%s)",
  async (supportsSandbox, status) => {
    const acp = scriptedAgent(() => "done", { supportsSandbox });
    const config = { agents: { list: [{ id: "main", sandbox: { mode: "all" as const } }] } };
    const { board, answers } = await aSpawner({ acp, config });
    await board.discord.says(asks({}), { from: room });
    await board.quiet();
    expect(answers).toMatchObject([{ status }]);
    expect(acp.turns.filter(({ trigger }) => trigger === "spawn")).toMatchObject(
      supportsSandbox ? [{ sandboxed: true }] : [],
    );
  },
);

it("SPAWN-11: rows that a harness reports are asked for once a second, however often it says so", async () => {
  let asked = 0;
  const acp = scriptedAgent(async ({ request, signal }) => {
    for (let n = 1; n <= 100; n++) {
      request.report(() => {
        asked += 1;
        return [{ role: "assistant", content: [{ type: "text", text: `step ${n}` }], atMs: 0 }];
      });
    }
    return hangs(signal);
  });
  const { board, answers } = await aSpawner({ acp });
  await board.discord.says(asks({}), { from: room });
  await board.quiet();
  expect(asked).toBe(0);
  await board.clock.advance(1000);
  await board.quiet();
  expect(asked).toBe(1);
  const sessionKey = answers[0]?.childSessionKey;
  expect(JSON.stringify(await board.gateway.call("chat.history", { sessionKey }))).toContain("step 100");
});

it.each([
  [{ thread: true }, "INPUT_INVALID"],
  [{ context: "fork" }, "INPUT_INVALID"],
  [{ model: "m" }, "INPUT_INVALID"],
  [{ thinking: "low" }, "INPUT_INVALID"],
  [{ sandbox: "require" }, "SANDBOX_UNAVAILABLE"],
])("SPAWN-11: a harness takes no %j", async (input, code) => {
  const { board } = await aSpawner({ acp: aHarness("work") });
  await board.discord.says("hello", { from: room });
  await board.quiet();
  const before = everythingIn(board);
  const asked = { task: "Tidy up.", runtime: "acp", ...input };
  expect(await use(board, "agent:main:discord:channel:222", "sessions_spawn", asked)).toMatchObject({ code });
  await board.quiet();
  expect(everythingIn(board)).toBe(before);
});
