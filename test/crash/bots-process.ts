import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { CrashSetup } from "./crash-setup.ts";

/** One life of the bots' process. */
export interface BotsProcess {
  readonly ready: Promise<void>;
  /** What it said that it had accepted: `<channel> <chat> <message>`. */
  readonly accepted: readonly string[];
  /** `kill -9`. */
  kill(): Promise<void>;
  /** In good order; rejects when it did not end with 0. */
  close(): Promise<void>;
}

/** `program`: bots-main.ts compiled, or one that understands the same setup and says the same. */
export function startBots(program: string, setup: CrashSetup): BotsProcess {
  const child = spawn(process.execPath, [program, JSON.stringify(setup)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const accepted: string[] = [];
  const complaints: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => complaints.push(text));
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "ready") resolve();
      if (line.startsWith("accepted ")) accepted.push(line.slice("accepted ".length));
    });
    child.once("exit", (code) => reject(new Error(`The bots ended with ${code}: ${complaints.join("")}`)));
  });
  // A life that is killed before it was ready has nobody who waits for it.
  ready.catch(() => {});
  return {
    ready,
    accepted,
    kill: () => end(child, "SIGKILL"),
    async close() {
      await end(child, "SIGTERM");
      if (child.exitCode !== 0)
        throw new Error(`The bots ended with ${child.exitCode}: ${complaints.join("")}`);
    },
  };
}

async function end(child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}
