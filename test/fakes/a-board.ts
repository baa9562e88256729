import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AgentAnswer } from "../../src/agents/function-agent.ts";
import { type ScriptedAgent, type ScriptTurn, scriptedAgent } from "../../src/agents/scripted-agent.ts";
import type { EventName, SwitchboardEvents } from "../../src/core/ports/events.ts";
import type { Logger } from "../../src/core/ports/host.ts";
import type { SwitchboardOptions } from "../../src/options.ts";
import { createSwitchboard, type Switchboard } from "../../src/switchboard.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import { type MemoryAdapter, memoryAdapter, OWNER } from "./memory-adapter.ts";

/** Every agent may reach every session. */
export const OPEN = {
  tools: { sessions: { visibility: "all" as const }, agentToAgent: { enabled: true, allow: ["*"] } },
};

export type Script = (turn: ScriptTurn) => Promise<AgentAnswer> | AgentAnswer;

export interface Board extends Switchboard {
  readonly clock: FakeClock;
  readonly discord: MemoryAdapter;
  readonly telegram: MemoryAdapter;
  readonly whatsapp: MemoryAdapter;
  readonly agents: Readonly<Record<string, ScriptedAgent>>;
  readonly dataDir: string;
  /** What was logged at warn and error. */
  readonly complaints: readonly string[];
  /** A copy of the files as they are now: what a process that is killed here leaves behind. LEASE_MS later its runs are taken over. */
  snapshot(): string;
  /** Resolves when nothing is queued, running or being delivered any more. Moves no time. */
  quiet(): Promise<void>;
  /** The next event of this name that fits. */
  next<N extends EventName>(
    name: N,
    fits?: (event: SwitchboardEvents[N]) => boolean,
  ): Promise<SwitchboardEvents[N]>;
}

export interface BoardOptions extends Partial<Omit<SwitchboardOptions, "agents" | "clock">> {
  readonly agents?: Readonly<Record<string, Script>>;
  readonly clock?: FakeClock;
}

/** A started switchboard on real files with three platforms in memory, scripted agents and a clock that stands still. Closed with the test. */
export async function aBoard(options: BoardOptions = {}): Promise<Board> {
  const { agents: scripts = { main: () => "ok" }, clock = fakeClock(), ...rest } = options;
  const dataDir = options.dataDir ?? aFolder();
  const complaints: string[] = [];
  const [discord, telegram, whatsapp] = [
    memoryAdapter("discord"),
    memoryAdapter("telegram"),
    memoryAdapter("whatsapp"),
  ];
  const agents = Object.fromEntries(
    Object.entries(scripts).map(([id, script]) => [id, scriptedAgent(script)]),
  );
  const board = await createSwitchboard({
    owners: { discord: [OWNER], telegram: [OWNER], whatsapp: [`+${OWNER}`] },
    adapters: [discord, telegram, whatsapp],
    logger: collecting(complaints),
    ...rest,
    agents,
    clock,
    dataDir,
  });
  const idle = trackIdle(board);
  await board.start();
  onTestFinished(() => board.close({ graceMs: 0 }));
  return {
    ...board,
    clock,
    discord,
    telegram,
    whatsapp,
    agents,
    dataDir,
    complaints,
    quiet: idle,
    snapshot: () => copyOf(dataDir),
    next: nextOn(board),
  };
}

/** Longer than a process may be silent before the others take over what it held. */
export const LEASE_MS = 15_000;

let uses = 0;

/** Calls a tool for a session from outside of any run, as a host's own agent loop would, and returns its answer. */
export async function use(
  board: Pick<Switchboard, "tools">,
  sessionKey: string,
  tool: string,
  input: object = {},
): Promise<{ readonly [key: string]: unknown }> {
  const bound = (await board.tools(sessionKey)).find(({ name }) => name === tool);
  if (bound === undefined) throw new Error(`${tool} is not bound for ${sessionKey}.`);
  uses += 1;
  const call = { callId: `use-${uses}`, signal: new AbortController().signal };
  return (await bound.call(input, call)).value;
}

/** A folder of this test's own, removed with it. */
export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "switchboard-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function copyOf(dataDir: string): string {
  const copy = aFolder();
  cpSync(dataDir, copy, { recursive: true, filter: (file) => !file.endsWith("-shm") });
  return copy;
}

function nextOn(board: Switchboard): Board["next"] {
  return (name, fits = () => true) =>
    new Promise((resolve) => {
      const off = board.on(name, (event) => {
        if (!fits(event)) return;
        off();
        resolve(event);
      });
    });
}

/** Counts real event-loop turns without any event: a board that works emits some, and runs on local files take far less than this. */
function trackIdle(board: Switchboard): () => Promise<void> {
  const QUIET_TURNS = 60;
  let turns = 0;
  const restart = () => {
    turns = 0;
  };
  const names: readonly EventName[] = [
    "message.accepted",
    "run.started",
    "run.finished",
    "tool.called",
    "exchange.settled",
    "delivery.settled",
  ];
  for (const name of names) board.on(name, restart);
  return async () => {
    for (turns = 0; turns < QUIET_TURNS; turns++) await new Promise((resolve) => setImmediate(resolve));
  };
}

function collecting(complaints: string[]): Logger {
  const note = (details: object, message: string) => complaints.push(`${message} ${JSON.stringify(details)}`);
  return { debug: () => {}, info: () => {}, warn: note, error: note };
}
