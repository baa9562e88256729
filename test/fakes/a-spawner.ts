import { onTestFinished } from "vitest";
import { type ScriptedAgent, scriptedAgent } from "../../src/agents/scripted-agent.ts";
import type { ConfigInput } from "../../src/core/config.ts";
import type { AgentRunner, RunRequest } from "../../src/core/ports/run.ts";
import { textOf } from "../../src/core/transcript/prompt.ts";
import type { SwitchboardOptions } from "../../src/options.ts";
import { createSwitchboard, type Switchboard } from "../../src/switchboard.ts";
import { aBoard, aFolder, type Board, type BoardOptions, type Script, use } from "./a-board.ts";
import type { Answer } from "./asking.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import { dumpOf, fileOf } from "./store-files.ts";

/**
 * An agent that does what it is told: a person's message is the input of sessions_spawn as JSON, or a list of inputs that are all called at once.
 * `child` is what its children do; of their ends it says nothing.
 */
export function spawner(child: Script = () => "done"): {
  readonly script: Script;
  readonly answers: readonly Answer[];
} {
  const answers: Answer[] = [];
  return {
    answers,
    async script(turn) {
      const { request, text, call } = turn;
      if (request.depth > 0) return request.trigger === "announce" ? "ANNOUNCE_SKIP" : child(turn);
      const start = text.search(/[[{]/);
      if (request.trigger === "completion" || start === -1) return "NO_REPLY";
      const asked: unknown = JSON.parse(text.slice(start));
      const inputs: readonly unknown[] = Array.isArray(asked) ? asked : [asked];
      answers.push(...(await Promise.all(inputs.map((input) => call("sessions_spawn", input)))));
      return "asked";
    },
  };
}

/** Comes to no end until it is aborted. */
export function hangs(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(new Error("aborted"));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
  });
}

/** First runs of tasks, in order. */
export function tasksOf(agent: ScriptedAgent | undefined): readonly RunRequest[] {
  return (agent?.turns ?? []).filter(({ trigger }) => trigger === "spawn");
}

/** What the agent was asked, as it reads it. */
export function promptOf(request: RunRequest | undefined): string {
  return request === undefined ? "" : textOf(request.input);
}

export interface BareBoard extends Switchboard {
  readonly clock: FakeClock;
  readonly dataDir: string;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
}

/** A started board without platforms on runners with models or a sandbox of their own. Closed with the test. */
export async function aBareBoard(
  agents: SwitchboardOptions["agents"],
  options: Partial<SwitchboardOptions> = {},
): Promise<BareBoard> {
  const clock = fakeClock();
  const dataDir = aFolder();
  const board = await createSwitchboard({ ...options, agents, clock, dataDir });
  await board.start();
  onTestFinished(() => board.close({ graceMs: 0 }));
  return {
    ...board,
    clock,
    dataDir,
    async settle() {
      for (let round = 0; round < 5; round++) await clock.advance(0);
    },
  };
}

/** Agents with models and sandboxes of their own, each with its main session. `spawn` calls the tool from outside of a run, as "main" if not said. */
export async function withAgents(
  traits: Readonly<Record<string, Pick<AgentRunner, "models" | "supportsSandbox">>>,
  config: ConfigInput = {},
  script: Script = () => "ok",
) {
  const agents: Record<string, ScriptedAgent> = Object.fromEntries(
    Object.entries(traits).map(([id, some]) => [id, scriptedAgent(script, some)]),
  );
  const board = await aBareBoard(agents, { config });
  for (const id of Object.keys(agents)) await board.gateway.call("agent", { agentId: id, message: "hi" });
  await board.settle();
  const spawn = async (input: object, from = "agent:main:main"): Promise<Answer> => {
    const answer = await use(board, from, "sessions_spawn", { task: "look", ...input });
    await board.settle();
    return answer;
  };
  return { board, agents, spawn };
}

/** Everything in the SQLite file. A refusal that leaves it as it was has left nothing behind. */
export function everythingIn({ dataDir }: { readonly dataDir: string }): string {
  return dumpOf(fileOf(dataDir));
}

/** Inputs for a spawner: so many tasks, all at once. */
export function tasks(count: number, more: object = {}): string {
  return JSON.stringify(Array.from({ length: count }, (_, n) => ({ task: `task ${n}`, ...more })));
}

/** How many answers there are of each code, or status. */
export function counted(answers: readonly Answer[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status, code } of answers) {
    const what = String(code ?? status);
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

export function limited(subagents: object): ConfigInput {
  return { agents: { defaults: { subagents } } };
}

/** A board on which "main" has its session; its children come to no end. */
export async function aTalk(options: BoardOptions): Promise<Board> {
  const board = await aBoard({
    agents: { main: ({ request, signal }) => (request.depth > 0 ? hangs(signal) : "ok") },
    ...options,
  });
  await board.telegram.says("hi");
  await board.quiet();
  return board;
}
