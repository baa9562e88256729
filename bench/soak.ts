import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { megabytes } from "./measure.ts";
import { spawnCycles } from "./sessions-spawn.ts";

/** `npm run soak [cycles]`: spawns and announces so many times and tells what memory does after the warm-up. Exit 1: it grew by more than 5 %. */
const cycles = Number(process.argv[2] ?? 5000);
const warmUp = Math.min(2500, Math.floor(cycles / 2));
const samples = 10;

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");
const folder = mkdtempSync(join(tmpdir(), "switchboard-soak-"));
const board = await spawnCycles(folder);

async function run(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await board.run();
}

function heap(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

await run(warmUp);
const start = heap();
const seen = [start];
for (let sample = 0; sample < samples; sample++) {
  await run(Math.floor((cycles - warmUp) / samples));
  seen.push(heap());
}
await board.close();
rmSync(folder, { recursive: true, force: true });

const middle = [...seen].sort((a, b) => a - b)[Math.floor(seen.length / 2)] ?? start;
const worst = Math.max(...seen.map((one) => Math.abs(one - middle) / middle));
const slope = (seen.at(-1) ?? start) / start - 1;
console.log(`${cycles} spawn–announce cycles, ${warmUp} of them warm-up`);
console.log(
  `heap after collection: ${seen.map(megabytes).join(", ")}; resident ${megabytes(process.memoryUsage().rss)}`,
);
console.log(
  `largest distance from the median ${(worst * 100).toFixed(1)} %, from start to end ${(slope * 100).toFixed(1)} %`,
);
process.exit(worst > 0.05 ? 1 : 0);
