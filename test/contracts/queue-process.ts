import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { vi } from "vitest";
import type { NewRun, RunRecord, RunSettlement } from "../../src/core/ports/engine.ts";
import { compiled } from "../compiled.ts";

/** What a scripted handler in another process tells. */
export type HandlerEvent =
  | { readonly type: "started"; readonly id: string; readonly attempt: number; readonly interrupted: boolean }
  | { readonly type: "aborted"; readonly id: string; readonly cause: string };

export type ProcessMessage =
  | HandlerEvent
  | { readonly type: "open" }
  | { readonly type: "answer"; readonly call: number; readonly value?: unknown; readonly code?: string };

/** What the process can be asked for; each is answered with its value or an error code. */
export interface ProcessCalls {
  enqueue(run: NewRun, waiter?: string): "accepted" | "duplicate";
  wait(id: string, timeoutMs: number): RunRecord | null;
  get(id: string): RunRecord | null;
  cancel(id: string): boolean;
  work(pool: string, concurrency: number): null;
  /** Lets a handler that holds its run settle it. */
  finish(id: string, settlement: RunSettlement): null;
  acquire(resource: string): { epoch: number } | { heldBy: string };
  release(resource: string): null;
  /** Owner leases that this process was told it lost. */
  lost(): readonly string[];
  close(): null;
}

type Answers = {
  [M in keyof ProcessCalls]: (...args: Parameters<ProcessCalls[M]>) => Promise<ReturnType<ProcessCalls[M]>>;
};

export interface QueueProcess extends Answers {
  readonly pid: number;
  readonly events: readonly HandlerEvent[];
  /** The first event that has these properties, now or later. */
  event(properties: Partial<HandlerEvent>): Promise<HandlerEvent>;
  /** Resolves when the process is gone (SIGKILL) or the signal is sent (others). */
  kill(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void>;
}

/** Starts a process that opens the engine of `module` (its `openEngine(location)`) and does what it is told. */
export async function spawnQueueProcess(module: string, location: object): Promise<QueueProcess> {
  const program = await compiled(join(import.meta.dirname, "queue-process-main.ts"));
  const engine = pathToFileURL(await compiled(module));
  const child = fork(program, [engine.href, JSON.stringify(location)], {
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const events: HandlerEvent[] = [];
  const answers = new Map<number, (message: ProcessMessage & { type: "answer" }) => void>();
  let calls = 0;

  const opened = new Promise<void>((resolve, reject) => {
    child.once("exit", (code, signal) => reject(new Error(`the process ended: ${code ?? signal}`)));
    // Only queue-process-main.ts sends on this channel.
    child.on("message", (message) => receive(message as ProcessMessage, resolve));
  });
  const receive = (message: ProcessMessage, resolve: () => void): void => {
    if (message.type === "open") resolve();
    else if (message.type === "answer") answers.get(message.call)?.(message);
    else events.push(message);
  };
  await opened;

  const call = (method: keyof ProcessCalls, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      calls += 1;
      const number = calls;
      answers.set(number, ({ value, code }) => {
        answers.delete(number);
        if (code === undefined) resolve(value);
        else reject(Object.assign(new Error(code), { code }));
      });
      child.send({ call: number, method, args });
    });

  const own = {
    pid: child.pid ?? 0,
    events,
    event: (properties: Partial<HandlerEvent>) =>
      vi.waitFor(
        () => {
          const found = events.find((event) =>
            Object.entries(properties).every(([key, value]) => Reflect.get(event, key) === value),
          );
          if (!found)
            throw new Error(`no event ${JSON.stringify(properties)} among ${JSON.stringify(events)}`);
          return found;
        },
        { timeout: 15_000, interval: 5 },
      ),
    kill: (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT") => kill(child, signal),
  };
  // Every other property is a call by that name; ProcessCalls lists them.
  return new Proxy(own, {
    get: (target, name) =>
      Reflect.get(target, name) ??
      (name === "then" ? undefined : (...args: unknown[]) => call(name as keyof ProcessCalls, args)),
  }) as unknown as QueueProcess;
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = signal === "SIGKILL" ? once(child, "exit") : undefined;
  child.kill(signal);
  await gone;
}
