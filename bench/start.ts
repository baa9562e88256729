import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { megabytes, ms, type Result } from "./measure.ts";

const run = promisify(execFile);
const MAIN = join(import.meta.dirname, "start-main.ts");

/** Start to first accepted message, and resident memory, in fresh processes: an empty folder beside one with many sessions. */
export async function benchStart(
  emptyDir: string,
  fullDir: string,
  sessions: number,
): Promise<readonly Result[]> {
  const bare = await fresh(["-e", "console.log(JSON.stringify({ rss: process.memoryUsage().rss }))"]);
  const empty = await median(emptyDir);
  const full = await median(fullDir);
  const count = sessions.toLocaleString("en");
  return [
    {
      name: `start to first accepted message, ${count} sessions`,
      measured: ms(full.acceptedMs),
      beside: `empty folder ${ms(empty.acceptedMs)}`,
      ratio: full.acceptedMs / empty.acceptedMs,
    },
    {
      name: `resident memory after it, ${count} sessions`,
      measured: megabytes(full.rss),
      beside: `empty folder ${megabytes(empty.rss)}, bare Node with the same loader ${megabytes(bare.rss)}`,
      ratio: full.rss / empty.rss,
    },
  ];
}

interface Start {
  readonly acceptedMs: number;
  readonly rss: number;
}

async function median(dataDir: string): Promise<Start> {
  const starts: Start[] = [];
  for (let i = 0; i < 5; i++) starts.push(await fresh([MAIN, dataDir]));
  starts.sort((a, b) => a.acceptedMs - b.acceptedMs);
  return starts[2] ?? { acceptedMs: 0, rss: 0 };
}

async function fresh(args: readonly string[]): Promise<Start> {
  const { stdout } = await run(process.execPath, ["--import", "tsx", ...args]);
  return JSON.parse(stdout);
}
