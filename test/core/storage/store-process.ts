import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { compiled } from "../../compiled.ts";

/** What another process does with the store: see store-process-main.ts. */
export type Task = "count" | "write" | "hold" | "rename";

export interface StoreProcess {
  /** Numbers that the process has told, in order. */
  readonly told: readonly number[];
  /** Resolves when it has told so many numbers. */
  hasTold(count: number): Promise<void>;
  /** Rejects when it ends with an error. */
  ended(): Promise<void>;
  kill(): Promise<void>;
}

export async function startStoreProcess(file: string, task: Task, name: string): Promise<StoreProcess> {
  const program = await compiled(join(import.meta.dirname, "store-process-main.ts"));
  const child = fork(program, [file, task, name], {
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const told: number[] = [];
  child.on("message", (message) => told.push(Number(message)));
  return {
    told,
    async hasTold(count) {
      while (told.length < count) await once(child, "message");
    },
    async ended() {
      const code = await exitCode(child);
      if (code !== 0) throw new Error(`the process ended with ${code}`);
    },
    async kill() {
      child.kill("SIGKILL");
      await exitCode(child);
    },
  };
}

async function exitCode(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode;
  const [code, signal] = await once(child, "exit");
  return code ?? signal;
}
