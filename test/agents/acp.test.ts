import { execFile } from "node:child_process";
import { getEventListeners } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AcpAgentOptions, acpAgent } from "../../src/agents/acp.ts";
import type { Block, NewEntry, RunOutcome } from "../../src/core/ports/run.ts";
import { compiled } from "../compiled.ts";
import { aRequest } from "../fakes/a-request.ts";
import { harnessProgram } from "./acp-harness.ts";

const NEVER = new AbortController().signal;
const SECOND = 1000;
const root = join(import.meta.dirname, "../..");
const harness = await harnessProgram();
const host = await compiled(join(import.meta.dirname, "acp-host-main.ts"));

let directory: string;

/** Processes that the harness of this test was and has started. */
const pids = () => {
  const file = join(directory, "pids");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
};

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "acp-")));
});

afterEach(async () => {
  const left = () => pids().filter(isAlive);
  try {
    // A killed process is gone a moment after the signal.
    await vi.waitFor(() => expect(left()).toEqual([]));
  } finally {
    for (const pid of left()) process.kill(pid, "SIGKILL");
    rmSync(directory, { recursive: true });
  }
});

/** Zombies wait for a parent that may never look; they are dead all the same. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !readFileSync(stat, "utf8").includes(") Z ");
}

const harnessEnv = () => ({ PIDS: join(directory, "pids") });

/** A runner with the harness of acp-harness-main.ts, which does what `act` says there. */
function anAgent(
  act: string,
  { more = "", env, ...others }: Partial<AcpAgentOptions> & { more?: string } = {},
) {
  return acpAgent({
    command: process.execPath,
    args: [harness, act, more],
    env: { ...harnessEnv(), ...env },
    ...others,
  });
}

/** A request whose reports are kept. */
function watched(over: Parameters<typeof aRequest>[0] = {}) {
  const reports: (readonly NewEntry[])[] = [];
  let look = (): void => {};
  const request = aRequest({
    ...over,
    report(entries) {
      reports.push(entries());
      look();
    },
  });
  const reported = (text: string) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (JSON.stringify(reports.at(-1)).includes(text)) resolve();
      };
    });
  return { request, reports, reported };
}

async function run(act: string, options: Parameters<typeof anAgent>[1] = {}): Promise<RunOutcome> {
  return anAgent(act, options).run(aRequest({ report() {} }), NEVER);
}

const blocksOf = ({ entries = [] }: RunOutcome): readonly Block[] =>
  entries.flatMap(({ content }) => content);

const failure = (outcome: RunOutcome) => (outcome.status === "error" ? outcome.error : outcome.status);

describe("acpAgent: a run in an external harness", () => {
  it("SPAWN-11: the harness gets the task unchanged, behind what would be a system prompt, and its words are the reply", async () => {
    const text = `[Subagent Task]\n"quote" 'single' \\n \u2028 👩‍👩‍👧 \n${"0123456789".repeat(20_000)}`;
    const { request } = watched({ text, trigger: "spawn", extraSystemPrompt: "# Subagent" });
    expect(await anAgent("echo").run(request, NEVER)).toEqual({
      status: "ok",
      reply: `# Subagent\n\n${text}`,
      entries: [],
    });
  });

  it("SPAWN-11: the harness finds PATH, HOME and what it was given in its environment, and none of the bot's tokens", async () => {
    process.env.DISCORD_TOKEN = "secret";
    const outcome = await run("facts", { env: { MODEL_KEY: "key" } });
    delete process.env.DISCORD_TOKEN;
    const { env } = factsIn(outcome);
    expect(env).toEqual({
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      MODEL_KEY: "key",
      PIDS: join(directory, "pids"),
    });
  });

  it("SPAWN-11: the session is in the directory of the bot or the given one, without files, terminals or MCP servers of ours", async () => {
    const { session, client, workingIn } = factsIn(await run("facts"));
    expect(session).toEqual({ cwd: process.cwd(), mcpServers: [] });
    expect(workingIn).toBe(process.cwd());
    expect(client).toMatchObject({
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    const elsewhere = factsIn(await run("facts", { cwd: directory }));
    expect(elsewhere).toMatchObject({ session: { cwd: directory }, workingIn: directory });
  });

  it("SPAWN-11: thoughts, words and tool calls become rows in their order, and the words after the last call the reply", async () => {
    const { request } = watched({ runId: "run-9" });
    const outcome = await anAgent("work").run(request, NEVER);
    expect(outcome).toMatchObject({ status: "ok", reply: "All done." });
    const { entries = [] } = outcome;
    expect(entries.map(({ role, content }) => [role, ...content])).toEqual([
      ["assistant", { type: "thinking", text: "Where is the file?" }, { type: "text", text: "Let me look." }],
      [
        "assistant",
        {
          type: "toolCall",
          id: "a",
          name: "read",
          arguments: { title: "Read notes.md", input: { path: "notes.md" } },
        },
      ],
      ["toolResult", { type: "toolResult", id: "a", name: "read", text: "42 lines", isError: false }],
      ["assistant", { type: "thinking", text: "Now change it." }],
      ["assistant", { type: "toolCall", id: "b", name: "edit", arguments: { title: "Edit notes.md" } }],
      [
        "toolResult",
        { type: "toolResult", id: "b", name: "edit", text: '{"decided":"reject_once"}', isError: true },
      ],
    ]);
    expect(new Set(entries.map(({ runId }) => runId))).toEqual(new Set(["run-9"]));
    const times = entries.map(({ atMs }) => atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(Date.UTC(2026, 0));
  });

  it("SPAWN-11: what it has made so far is reported as it comes, calls always with a result", async () => {
    const { request, reports } = watched();
    await anAgent("work").run(request, NEVER);
    const seen = reports.map((entries) => entries.flatMap(({ content }) => content));
    expect(seen[0]).toEqual([{ type: "thinking", text: "Where is " }]);
    expect(seen).toContainEqual([
      { type: "thinking", text: "Where is the file?" },
      { type: "text", text: "Let me " },
    ]);
    expect(seen.at(-1)).toContainEqual({ type: "text", text: "All done." });
    expect(seen.at(-1)).toContainEqual(expect.objectContaining({ id: "a", text: "42 lines" }));
    for (const blocks of seen) {
      const ids = (type: string) =>
        blocks.flatMap((one) => (one.type === type && "id" in one ? [one.id] : []));
      expect(ids("toolResult")).toEqual(ids("toolCall"));
    }
    expect(seen.flat()).toContainEqual(
      expect.objectContaining({ id: "a", text: "This call has no result.", isError: true }),
    );
  });

  it("SPAWN-11: words that come together with the end are part of the reply", async () => {
    const reply = Array.from({ length: 500 }, (_, index) => `${index} `).join("");
    expect(await run("burst")).toMatchObject({ status: "ok", reply });
  });

  it("a harness that says nothing after its last call has an empty reply, not an older one", async () => {
    const outcome = await run("silent");
    expect(outcome).toMatchObject({ status: "ok", reply: "" });
    expect(blocksOf(outcome)[0]).toEqual({ type: "text", text: "Old remark." });
  });

  it("words before and after a thought are one reply, the thought stays a row", async () => {
    const outcome = await run("thoughtful");
    expect(outcome).toMatchObject({ status: "ok", reply: "First part.\n\nSecond part." });
    expect(blocksOf(outcome)).toEqual([{ type: "thinking", text: "Is there more?" }]);
  });

  it("SPAWN-11: a call without a result when the run ends gets one that says so, behind what it had shown", async () => {
    const outcome = await run("unfinished");
    expect(outcome).toMatchObject({ status: "ok", reply: "I leave it at that." });
    expect(blocksOf(outcome).at(-1)).toEqual({
      type: "toolResult",
      id: "a",
      name: "execute",
      text: "step 1 of 9\nThis call has no result.",
      isError: true,
    });
  });

  it("SPAWN-11: two runs at the same time have a process each", async () => {
    const agent = anAgent("echo");
    const outcomes = await Promise.all(
      ["one", "two"].map((text) => agent.run(watched({ text }).request, NEVER)),
    );
    expect(outcomes).toMatchObject([{ reply: "one" }, { reply: "two" }]);
    expect(new Set(pids()).size).toBe(2);
  });

  it("says whether it confines", () => {
    expect(acpAgent({ command: "harness", supportsSandbox: true })).toMatchObject({ supportsSandbox: true });
    expect(acpAgent({ command: "harness" })).not.toHaveProperty("supportsSandbox");
  });
});

describe("acpAgent: permissions", () => {
  const all = "allow_always,allow_once,reject_always,reject_once";

  it.each([
    ["deny", all, "reject_once"],
    ["deny", "allow_once,reject_always", "reject_always"],
    ["deny", "allow_once,allow_always", "cancelled"],
    ["allow", all, "allow_once"],
    ["allow", "reject_once,allow_always", "allow_always"],
    ["allow", "reject_once", "cancelled"],
  ] as const)("SPAWN-11: with %j, of %s it is answered %s", async (permissions, more, chosen) => {
    expect(await run("asking", { permissions, more })).toMatchObject({ status: "ok", reply: chosen });
  });

  it("SPAWN-11: without an option nothing is allowed, and a call without a result says why", async () => {
    const outcome = await run("asking", { more: all });
    expect(outcome).toMatchObject({ status: "ok", reply: "reject_once" });
    expect(blocksOf(outcome)).toEqual([
      { type: "toolCall", id: "a", name: "delete", arguments: {} },
      { type: "toolResult", id: "a", name: "delete", text: "This call was not allowed.", isError: true },
    ]);
    expect(blocksOf(await run("asking", { more: all, permissions: "allow" })).at(-1)).toMatchObject({
      text: "This call has no result.",
    });
  });

  it("an allowed edit names the file that it has changed", async () => {
    expect(blocksOf(await run("work", { permissions: "allow" })).at(-1)).toMatchObject({
      type: "toolResult",
      text: "(changed notes.md)",
      isError: false,
    });
  });
});

describe("acpAgent: a run that does not reach its end", () => {
  it.each([
    ["max_tokens", "was cut off before it had finished (max_tokens)"],
    ["max_turn_requests", "was cut off before it had finished (max_turn_requests)"],
    ["tired", "stopped for an unknown reason (tired)"],
  ])("D02: %s is an error, and what was said until then stays a row", async (more, what) => {
    const outcome = await run("stops", { more });
    expect(failure(outcome)).toBe(`the harness "${process.execPath}" ${what}`);
    expect(outcome).not.toHaveProperty("reply");
    expect(blocksOf(outcome).at(-1)).toEqual({ type: "text", text: "51 %, continuing" });
  });

  it("D02: a refusal is an error, and a harness that stopped by itself was aborted", async () => {
    expect(failure(await run("stops", { more: "refusal" }))).toBe("the harness refused the task");
    expect(await run("stops", { more: "cancelled" })).toMatchObject({ status: "aborted" });
  });

  it("D05: an abort is told to the harness, which may still say how far it came", async () => {
    const { outcome, tookMs } = await abortedAt("waits", "51 %, continuing");
    expect(outcome.status).toBe("aborted");
    expect(blocksOf(outcome)).toContainEqual(
      expect.objectContaining({
        type: "toolResult",
        text: "stopped at 51 %, a question is cancelled",
        isError: true,
      }),
    );
    expect(blocksOf(outcome).at(-1)).toEqual({ type: "text", text: "51 %, continuing" });
    expect(tookMs).toBeLessThan(SECOND);
  });

  it("D05: a harness that heeds neither cancel nor SIGTERM is killed within a second, with what it has started", async () => {
    const { outcome, tookMs } = await abortedAt("deaf", "I do not listen");
    expect(outcome.status).toBe("aborted");
    expect(blocksOf(outcome)).toEqual([{ type: "text", text: "I do not listen" }]);
    expect(tookMs).toBeGreaterThan(500);
    expect(tookMs).toBeLessThan(SECOND);
    expect(pids()).toHaveLength(2);
  });

  it("D05: an abort also ends a harness that has not answered yet", async () => {
    const stop = new AbortController();
    const running = anAgent("says nothing").run(watched().request, stop.signal);
    await vi.waitFor(() => expect(pids()).toHaveLength(1), { timeout: 10_000 });
    const abortedAtMs = performance.now();
    stop.abort();
    expect(await running).toEqual({ status: "aborted", entries: [] });
    expect(performance.now() - abortedAtMs).toBeLessThan(SECOND);
  });

  it("a run that was stopped before it began starts no process", async () => {
    expect(await anAgent("echo").run(watched().request, AbortSignal.abort())).toEqual({ status: "aborted" });
    expect(pids()).toEqual([]);
  });

  it("SPAWN-11: a helper that the harness has left behind ends with the run", async () => {
    expect(await run("leaves a helper")).toMatchObject({ status: "ok", reply: "done" });
    expect(pids()).toHaveLength(2);
  });

  it("no listener stays on the signal", async () => {
    const { signal } = new AbortController();
    await anAgent("echo").run(watched().request, signal);
    await anAgent("crashes").run(watched().request, signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("acpAgent: a harness that fails", () => {
  const named = `the harness "${process.execPath}"`;

  it("SPAWN-11: one that dies is an error with its exit code and last words, and what it had said stays", async () => {
    const outcome = await run("crashes");
    expect(failure(outcome)).toBe(`${named} ended (exit code 3): fatal: no key for the model`);
    expect(blocksOf(outcome)).toEqual([{ type: "text", text: "half of it" }]);
  });

  it.each([
    ["fails", 'answered "session/prompt" with error -32603: Internal error: the model is overloaded'],
    ["nonsense", 'answered "session/prompt" with something that is not ACP'],
    ["is not logged in", 'answered "session/new" with error -32000: Authentication required'],
    ["is of tomorrow", "speaks version 99 of ACP, not 1"],
    ["exits at once", "ended (exit code 2): usage: harness --acp"],
    ["babbles", "does not speak ACP: Loading the plugins…"],
    ["answers without a line break", "wrote a message that is too long"],
    ["too long", "wrote a message that is too long"],
  ])("SPAWN-11: one that %s is an error in one sentence", async (act, what) => {
    expect(failure(await run(act))).toBe(`${named} ${what}`);
  });

  it("SPAWN-11: one that is not ready in time is an error, with what it said instead", async () => {
    expect(failure(await run("greets only", { startTimeoutMs: 2000 }))).toBe(
      `${named} was not ready within 2 s: Welcome to the harness!`,
    );
  });

  it.each([
    { command: "no-such-harness", cwd: "/", because: "spawn no-such-harness ENOENT" },
    { command: "/", cwd: "/", because: "spawn / EACCES" },
    { command: "sh", cwd: "/no/such/place", because: "spawn sh ENOENT" },
  ])(
    "SPAWN-11: one that cannot be started ($because in $cwd) is an error",
    async ({ because, ...options }) => {
      const outcome = await acpAgent(options).run(watched().request, NEVER);
      expect(outcome).toEqual({
        status: "error",
        error: `the harness "${options.command}" could not be started in ${options.cwd} (${because})`,
        entries: [],
      });
    },
  );

  it("a command that no system can start is an error as well", async () => {
    const outcome = await acpAgent({ command: "a\0b" }).run(watched().request, NEVER);
    expect(failure(outcome)).toMatch(/^the harness "a\0b" could not be started \(.*null bytes/);
  });

  it("a program that is none, and never reads, ends in a sentence, too", async () => {
    expect(failure(await acpAgent({ command: "true" }).run(watched().request, NEVER))).toBe(
      'the harness "true" ended (exit code 0)',
    );
    expect(failure(await acpAgent({ command: "yes" }).run(watched().request, NEVER))).toBe(
      'the harness "yes" does not speak ACP: y',
    );
  });

  it("SPAWN-11: one that dies while a helper holds its output open does not keep the run waiting", async () => {
    expect(failure(await run("dies before its helper"))).toBe(`${named} ended (exit code 3)`);
    expect(pids()).toHaveLength(2);
    const outcome = await run("dies before its daemon");
    expect(failure(outcome)).toBe(`${named} ended (exit code 3)`);
    // It has left the process group, so it is left to itself.
    const [daemon] = blocksOf(outcome);
    process.kill(Number(daemon?.type === "text" && daemon.text), "SIGKILL");
  });

  it("SPAWN-11: without the SDK the error says what to install", async () => {
    const elsewhere = join(directory, "host.mjs");
    copyFileSync(host, elsewhere);
    mkdirSync(join(directory, "node_modules"));
    symlinkSync(join(root, "node_modules/zod"), join(directory, "node_modules/zod"));
    expect(await outcomeIn(elsewhere, { command: "sh" })).toEqual({
      status: "error",
      error: 'The package "@agentclientprotocol/sdk" is not installed: npm install @agentclientprotocol/sdk',
    });
  });
});

describe("acpAgent: a host that has nothing else to do", () => {
  it.each(["echo", "leaves a helper", "crashes"])("ends by itself when the harness %s", async (act) => {
    const options = { command: process.execPath, args: [harness, act], env: harnessEnv() };
    expect(await outcomeIn(host, options)).toHaveProperty("status");
  });
});

describe("acpAgent: what a harness can make us hold", () => {
  it("SPAWN-11: text, results and rows are cut with a note, and the words after the last call stay the reply", async () => {
    const outcome = await run("flood");
    const { entries = [] } = outcome;
    const blocks = blocksOf(outcome);
    const reply = outcome.status === "ok" ? outcome.reply : "";
    const sizes = (type: Block["type"]) =>
      blocks.map((one) => (one.type === type && "text" in one ? one.text.length : 0));
    const total = (lengths: readonly number[]) => lengths.reduce((sum, length) => sum + length, 0);
    expect(reply).toMatch(/^x+\n…\(truncated\)…$/);
    expect(reply.length).toBeGreaterThan(700_000);
    expect(total([...sizes("text"), ...sizes("thinking"), reply.length])).toBeLessThanOrEqual(1_048_576);
    expect(Math.max(...sizes("toolResult"))).toBeLessThanOrEqual(16_384 + 16);
    expect(total(sizes("toolResult"))).toBeLessThan(4_300_000);
    expect(entries.length).toBeLessThanOrEqual(2000);
    expect(blocks.find((one) => one.type === "toolCall" && one.id === "big")).toMatchObject({
      arguments: {
        title: expect.stringMatching(/^x{500}\n…\(truncated\)…$/),
        input: "(too long to be kept)",
      },
    });
  });

  it.each([
    { act: "speaks before each call", rows: 1998, leftOut: 835, newest: { type: "text", text: "step 665" } },
    { act: "speaks before the first call", rows: 1997, leftOut: 502, newest: { id: "call-997" } },
  ])("SPAWN-11: at most 2000 rows are kept, pairs whole, of a harness that $act", async (expected) => {
    const { act, rows, leftOut, newest } = expected;
    const outcome = await run(act);
    const { entries = [] } = outcome;
    expect(outcome).toMatchObject({ status: "ok", reply: "The end. Really." });
    expect(entries).toHaveLength(rows + 1);
    expect(entries.at(-1)).toMatchObject({
      role: "system",
      content: [{ type: "text", text: `Further tool calls are left out: ${leftOut}.` }],
    });
    expect(entries.at(-2)?.content).toMatchObject([newest]);
  });
});

/** The outcome of a run in a process of this program, which does nothing else. Resolves when that process has ended. */
async function outcomeIn(program: string, options: AcpAgentOptions): Promise<unknown> {
  const args = [program, JSON.stringify(options)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: directory });
  return JSON.parse(stdout);
}

/** Aborts a run once it has reported this text. */
async function abortedAt(act: string, text: string) {
  const stop = new AbortController();
  const { request, reported } = watched();
  const said = reported(text);
  const running = anAgent(act).run(request, stop.signal);
  await said;
  const abortedAtMs = performance.now();
  stop.abort();
  const outcome = await running;
  return { outcome, tookMs: performance.now() - abortedAtMs };
}

function factsIn(outcome: RunOutcome) {
  if (outcome.status !== "ok") throw new Error(failure(outcome));
  // Written by the act "facts".
  return JSON.parse(outcome.reply) as Record<"session" | "client" | "env" | "workingIn", unknown>;
}
