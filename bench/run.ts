import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { benchBatches } from "./batches.ts";
import type { Result } from "./measure.ts";
import { benchRender } from "./render.ts";
import { benchSanitize } from "./sanitize.ts";
import { benchHistory } from "./sessions-history.ts";
import { benchList } from "./sessions-list.ts";
import { benchSend } from "./sessions-send.ts";
import { benchSpawn } from "./sessions-spawn.ts";
import { benchStart } from "./start.ts";
import { benchTelegram } from "./telegram-updates.ts";

/**
 * Measures and prints a table of ratios within this run; absolute times depend on the machine. `--full`: a transcript of 1 GB instead of 100 MB.
 */
const full = process.argv.includes("--full");
const MB = 1_048_576;
const folder = mkdtempSync(join(tmpdir(), "switchboard-bench-"));
const at = (name: string) => join(folder, name);

const steps: readonly { readonly name: string; readonly run: () => Promise<readonly Result[]> }[] = [
  { name: "lists", run: () => benchList(at("sessions")) },
  { name: "start-up", run: () => benchStart(at("empty"), at("sessions"), 100_000) },
  {
    name: "histories",
    run: () =>
      benchHistory([
        { dataDir: at("small"), bytes: MB },
        { dataDir: at("large"), bytes: (full ? 1024 : 100) * MB },
      ]),
  },
  { name: "sends", run: () => benchSend(at("send")) },
  { name: "spawns", run: () => benchSpawn(at("spawn")) },
  { name: "batches", run: () => benchBatches(at("batches")) },
  { name: "rendering", run: benchRender },
  { name: "cleaning and masking", run: async () => benchSanitize() },
  { name: "Telegram", run: () => benchTelegram(at("telegram")) },
];

const results: Result[] = [];
for (const { name, run } of steps) {
  process.stderr.write(`measuring ${name}…\n`);
  results.push(...(await run()));
}
rmSync(folder, { recursive: true, force: true });
mkdirSync("bench/results", { recursive: true });
writeFileSync(
  "bench/results/latest.json",
  `${JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, results }, null, 2)}\n`,
);
console.table(
  results.map(({ name, measured, beside, ratio, goal }) => ({
    work: name,
    measured,
    beside,
    ratio: ratio === undefined ? "" : ratio.toFixed(2),
    goal: goal === undefined ? "" : `≤ ${goal}`,
  })),
);
process.exit(0);
