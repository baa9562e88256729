import { join } from "node:path";
import { openDatabase } from "../../../../src/core/engine/sqlite/database.ts";
import type { QueueHarness } from "../../../contracts/queue-harness.ts";
import { type QueueProcess, spawnQueueProcess } from "../../../contracts/queue-process.ts";
import { shortTiming, sqliteEngine, temporaryFolder } from "./short-engine.ts";

export async function sqliteHarness(): Promise<QueueHarness> {
  const { file, remove } = temporaryFolder();
  const closers: (() => unknown)[] = [];
  const processes: QueueProcess[] = [];
  return {
    async open({ leaseMs = 1_000 } = {}) {
      const database = openDatabase(file);
      const engine = await sqliteEngine(database, { timing: shortTiming(leaseMs) });
      closers.push(() => engine.close().then(() => database.close()));
      const written = database.prepare("SELECT run FROM written ORDER BY rowid");
      return { engine, written: () => written.all<{ run: string }>().map((row) => row.run) };
    },
    async spawn(timing = {}) {
      const child = await spawnQueueProcess(join(import.meta.dirname, "short-engine.ts"), {
        file,
        ...timing,
      });
      processes.push(child);
      return child;
    },
    async dispose() {
      await Promise.all(processes.map((child) => child.kill("SIGKILL")));
      for (const close of closers) await close();
      remove();
    },
  };
}
