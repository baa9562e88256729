import { expect, it } from "vitest";
import { countedDatabase } from "./counted-database.ts";
import { openStore } from "./opened-store.ts";

/** Rows that are few by nature: processes, owners, as many as are counted at most, parked, busy and cancelled lanes, each walked at a beat or by wake only, and lists of ids that a caller gives. */
const small =
  /SCAN (processes|owners|page|counted|json_each|CONSTANT ROW)|USING (COVERING )?INDEX (lanes_parked|lanes_busy|runs_cancelling)/;

it("RUN-1: no statement of the queue walks the runs or the lanes: work per message does not grow with their number", async () => {
  const store = openStore();
  const database = countedDatabase(store.connect());
  await store.engine({ database });
  const walks = [...new Set(database.prepared)]
    .filter((sql) => !sql.startsWith("PRAGMA"))
    .flatMap((sql) => {
      // On a connection of its own: libsql leaves an EXPLAIN open, which would block the engine's commits.
      const plan = store.database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all<{ detail: string }>();
      return plan
        .filter(({ detail }) => detail.startsWith("SCAN") && !small.test(detail))
        .map(({ detail }) => [detail, sql]);
    });
  expect(database.prepared.length).toBeGreaterThan(30);
  expect(walks).toEqual([]);
});
