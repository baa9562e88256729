import type { AgentAnswer } from "../../src/agents/function-agent.ts";
import type { ScriptTurn } from "../../src/agents/scripted-agent.ts";
import type { Child } from "../../src/core/ports/child.ts";
import type { Clock } from "../../src/core/ports/host.ts";
import type { Board, Script } from "./a-board.ts";
import { fileOf } from "./store-files.ts";

type Line = string | Script;

/** What one agent says in each of the places where it may stand. */
export interface Cast {
  /** Somebody writes to it. Default: "ok". */
  readonly asked?: Line;
  /** Its children have ended. Default: "NO_REPLY". */
  readonly told?: Line;
  /** It is a child, and this is its task. Default: "done". */
  readonly task?: Line;
  /** It is a child whose own children have ended. Default: "done". */
  readonly toldAsChild?: Line;
  /** It is a child that announces. Default: "ANNOUNCE_SKIP". */
  readonly announce?: Line;
}

/** One script out of what is said in each place. */
export function cast(lines: Cast): Script {
  return (turn) => {
    const isChild = turn.request.depth > 0;
    switch (turn.request.trigger) {
      case "spawn":
        return say(lines.task ?? "done", turn);
      case "announce":
        return say(lines.announce ?? "ANNOUNCE_SKIP", turn);
      case "completion":
        return isChild ? say(lines.toldAsChild ?? "done", turn) : say(lines.told ?? "NO_REPLY", turn);
      default:
        return say(lines.asked ?? "ok", turn);
    }
  };
}

function say(line: Line, turn: ScriptTurn): Promise<AgentAnswer> | AgentAnswer {
  return typeof line === "string" ? line : line(turn);
}

/** Spawns these tasks, then yields, or says `then`. */
export function spawning(tasks: readonly (string | object)[], then?: string): Script {
  return async ({ call }) => {
    for (const task of tasks) {
      const answer = await call("sessions_spawn", typeof task === "string" ? { task } : task);
      if (answer.status !== "accepted") throw new Error(JSON.stringify(answer));
    }
    if (then === undefined) await call("sessions_yield");
    return then ?? "unreachable";
  };
}

/** Works on the clock of the board; rejects when the run is aborted. */
export function working(clock: Pick<Clock, "after">, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, resolve);
    const abort = () => {
      cancel();
      reject(new Error("aborted"));
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
  });
}

/** A child that works for as many seconds as its task says ("3 s"), and answers with its task. */
export function timed(clock: Pick<Clock, "after">): Script {
  return async ({ text, signal }) => {
    const task = taskIn(text);
    const seconds = /([\d.]+) s\b/.exec(task)?.[1] ?? "0";
    await working(clock, Number(seconds) * 1000, signal);
    return task;
  };
}

/** The task in what a child is asked first. */
export function taskIn(text: string): string {
  return text.slice(text.indexOf("\n\n") + 2);
}

/** The stored records of all children, in the order of their spawn. */
export function childrenOf({ dataDir }: Pick<Board, "dataDir">): readonly Child[] {
  const database = fileOf(dataDir);
  const stored = database.prepare("SELECT value FROM kv WHERE key LIKE 'child/%' ORDER BY id");
  // Records of this table are children, as JSON.
  return stored.all<{ value: string }>().map(({ value }) => JSON.parse(value) as Child);
}

export interface Row {
  readonly role: string;
  readonly text: string;
  readonly provenance?: { readonly kind: string; readonly sourceSessionKey?: string };
}

/** What a transcript says, tool calls left out. */
export async function rowsOf(board: Board, sessionKey: string): Promise<readonly Row[]> {
  const { messages } = await board.gateway.call("chat.history", { sessionKey, limit: 200 });
  // The shape that sessions_history documents.
  const found = messages as readonly (Omit<Row, "text"> & { content: readonly { text?: string }[] })[];
  return found.map(({ content, ...row }) => ({ ...row, text: content[0]?.text ?? "" }));
}

/** The rows that tell of an ended child. */
export async function eventsIn(board: Board, sessionKey: string): Promise<readonly string[]> {
  const rows = await rowsOf(board, sessionKey);
  return rows.map(({ text }) => text).filter((text) => text.includes("A subagent has ended"));
}

/** Everything that was sent on any platform, oldest first on each. */
export function postsOf({ discord, telegram, whatsapp }: Board): readonly string[] {
  return [discord, telegram, whatsapp].flatMap(({ sent }) => sent.map(({ text }) => text));
}

/** Time passes, and everything that it starts is done. */
export async function pass(board: Board, ms: number): Promise<void> {
  await board.clock.advance(ms);
  await board.quiet();
}
