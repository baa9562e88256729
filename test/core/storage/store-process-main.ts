import { systemClock } from "../../../src/core/clock.ts";
import { openDatabase } from "../../../src/core/engine/sqlite/database.ts";
import { createEmbeddedStorage } from "../../../src/core/storage/embedded.ts";
import { fakeLogger } from "../../contracts/fake-logger.ts";
import {
  aSession,
  describeSession,
  entriesFrom,
  idFor,
  sessionWrite,
  turnWrite,
} from "../../contracts/storage-samples.ts";
import type { Task } from "./store-process.ts";

const [file = "", task = "", name = ""] = process.argv.slice(2);
const database = openDatabase(file);
const storage = createEmbeddedStorage({
  database,
  clock: systemClock,
  logger: fakeLogger(),
  describe: describeSession,
});

const tasks: Record<Task, () => Promise<void>> = {
  /** Adds its name to one record 500 times. */
  async count() {
    const people = storage.records("person");
    for (let i = 0; i < 500; i++) {
      await people.update("discord:1", (current) => ({ ids: [...(current?.ids ?? []), `${name}:${i}`] }));
    }
    process.disconnect();
  },
  /** Writes turn after turn for ever and tells each one that is acknowledged. */
  async write() {
    for (let turn = 1; ; turn++) {
      const at = { sessionId: idFor(1), runId: `run-${turn}` };
      const session = aSession(1, { updatedAtMs: turn });
      await storage.apply([turnWrite(turn, entriesFrom(turn * 2 - 1, 2), at), sessionWrite(session)]);
      await new Promise((resolve) => process.send?.(turn, resolve));
    }
  },
  /** Stops in the middle of a transaction. */
  async hold() {
    database.transaction(() => {
      storage.applyNow([sessionWrite(aSession(1, { title: "half done" }))]);
      process.send?.(1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });
  },
  /** Changes a session once. */
  async rename() {
    await storage.apply([sessionWrite(aSession(1, { title: name, updatedAtMs: 9_000 }))]);
    process.disconnect();
  },
};

// The test chose one of them.
await tasks[task as Task]();
