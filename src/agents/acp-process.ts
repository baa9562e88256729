import { type ChildProcess, spawn } from "node:child_process";
import { resolve as absolute } from "node:path";
import type { Readable } from "node:stream";
import { systemClock } from "../core/clock.ts";
import { given } from "../core/given.ts";
import { stripControl } from "../core/transcript/limits.ts";

export interface HarnessCommand {
  /** Program that speaks ACP on its standard streams, as a path or a name that PATH knows. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Directory that the harness works in. Default: the one of the bot's process. */
  readonly cwd?: string;
  /** The environment of the harness, to which PATH and HOME of the host are added and nothing else: the bot's tokens stay with the bot. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A running harness: JSON objects in, JSON objects out, one a line. */
export interface HarnessProcess {
  /** Absolute. */
  readonly cwd: string;
  /** What it writes. Lines that are no JSON objects are passed over, a few at most. Ends when nothing more will come. */
  readonly messages: AsyncIterable<object>;
  /** Settles when the harness has taken it. */
  write(message: object): Promise<void>;
  /** Why nothing more will come, as the rest of a sentence about the harness; pending while it works. */
  readonly lost: Promise<string>;
  /** The last line it wrote to stderr, or else to stdout without being a message; at most 300 characters, often none. */
  lastWords(): string;
  /** Asks it to end, then ends it by force with all that it has started and that still is of its process group. Takes two graces at most. */
  stop(): Promise<void>;
}

/** How long a harness has to do what it was asked before something stronger follows. */
export const GRACE_MS = 300;

/** Programs greet and warn on stdout, although ACP forbids it; more than this is no ACP at all. */
const MOST_NOISE_LINES = 20;
/** UTF-16 units of one message; files and images travel in them. */
const LONGEST_LINE = 8_388_608;
const LONGEST_WORDS = 300;
/** Kept of stderr: enough for a last line with its line break. */
const STDERR_TAIL = 4 * LONGEST_WORDS;

/** Starts the harness in a process group of its own. One that cannot be started is lost from the beginning. */
export function startHarness({ command, args = [], cwd = ".", env }: HarnessCommand): HarnessProcess {
  const { PATH, HOME } = process.env;
  const place = absolute(cwd);
  const child = spawn(command, [...args], {
    cwd: place,
    env: { ...given({ PATH, HOME }), ...env },
    detached: true,
    stdio: "pipe",
  });
  // A broken pipe also fails the write, or ends the messages.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {});
  let lose = (_why: string): void => {};
  const lost = new Promise<string>((resolve) => {
    lose = resolve;
  });
  const ended = endOf(child, place);
  const stderr = tailOf(child.stderr);
  const silent = new Promise((resolve) => child.stderr.once("close", resolve));
  // Its last words may still be on their way.
  void ended.then(async (how) => {
    await within(GRACE_MS, silent);
    lose(how);
  });
  let noise = "";
  return {
    cwd: place,
    lost,
    messages: messagesOf(child.stdout, lose, (line) => {
      noise = line.slice(-STDERR_TAIL);
    }),
    write: (message) =>
      new Promise((resolve, reject) => {
        child.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      }),
    lastWords: () => lastLine(stderr()) || lastLine(noise),
    async stop() {
      if (isRunning(child)) {
        child.stdin.end();
        signalGroup(child, "SIGTERM");
        if ((await within(GRACE_MS, ended)) === undefined) signalGroup(child, "SIGKILL");
        await within(GRACE_MS, ended);
      }
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    },
  };
}

/** What the work resolved to, or undefined when the time was up. */
export function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let cancel = (): void => {};
  const tooLate = new Promise<undefined>((resolve) => {
    cancel = systemClock.after(ms, () => resolve(undefined));
  });
  return Promise.race([work, tooLate]).finally(() => cancel());
}

/** Resolves with how the process ended. What it leaves behind ends with it, at once: later its group id may be somebody else's. */
function endOf(child: ChildProcess, cwd: string): Promise<string> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      signalGroup(child, "SIGKILL");
      // Whoever has left the group may hold the stream open.
      systemClock.after(GRACE_MS, () => child.stdout?.destroy());
      resolve(`ended (${signal ?? `exit code ${code}`})`);
    });
    child.on("error", (error) => {
      if (child.pid === undefined) resolve(`could not be started in ${cwd} (${error.message})`);
    });
  });
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nobody is left in the group, or the system has no groups.
    child.kill(signal);
  }
}

async function* messagesOf(
  stdout: Readable,
  lose: (why: string) => void,
  onNoise: (line: string) => void,
): AsyncGenerator<object> {
  let noiseLines = 0;
  for await (const line of linesOf(stdout)) {
    if (line === undefined) return lose("wrote a message that is too long");
    const message = toObject(line);
    if (message !== undefined) {
      yield message;
    } else if (line.trim() !== "") {
      onNoise(line);
      noiseLines += 1;
      if (noiseLines > MOST_NOISE_LINES) return lose("does not speak ACP");
    }
  }
}

/** Undefined, and then no more, in place of a line that is too long. */
async function* linesOf(stdout: Readable): AsyncGenerator<string | undefined> {
  stdout.setEncoding("utf8");
  let parts: string[] = [];
  let units = 0;
  for await (const chunk of stdout) {
    const [end = "", ...others] = String(chunk).split("\n");
    parts.push(end);
    units += end.length;
    if (units > LONGEST_LINE) {
      yield undefined;
      return;
    }
    const rest = others.pop();
    if (rest === undefined) continue;
    yield parts.join("");
    yield* others;
    parts = [rest];
    units = rest.length;
  }
  yield parts.join("");
}

function toObject(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function tailOf(stream: Readable): () => string {
  let tail = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    tail = (tail + chunk).slice(-STDERR_TAIL);
  });
  return () => tail;
}

function lastLine(text: string): string {
  const line = stripControl(text).trim().split("\n").at(-1)?.trim() ?? "";
  const letters = [...line];
  return letters.length <= LONGEST_WORDS ? line : `${letters.slice(0, LONGEST_WORDS - 1).join("")}…`;
}
