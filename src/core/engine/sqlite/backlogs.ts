import type { Backlog, OpenLanes } from "../../ports/engine.ts";
import type { Database } from "./database.ts";
import type { Lanes } from "./lanes.ts";
import type { RunRows } from "./run-rows.ts";

/** Whoever wants to know more than that knows enough. */
const MOST_COUNTED = 10_000;

/** How much waits where. Reads only, and never more than it is asked for. */
export interface Backlogs {
  of(lane: string): Backlog | undefined;
  lanes(prefix: string, limit: number): OpenLanes;
}

export function createBacklogs(parts: {
  readonly database: Database;
  readonly lanes: Lanes;
  readonly rows: RunRows;
}): Backlogs {
  const { database, lanes, rows } = parts;
  const count = database.prepare(
    `SELECT count(*) AS count FROM (SELECT 1 FROM runs WHERE lane = ? AND ended_at IS NULL AND seq IS NOT NULL LIMIT ${MOST_COUNTED}) AS counted`,
  );
  const named = `SELECT lane FROM lanes WHERE lane >= ? AND lane < ? ORDER BY lane LIMIT ${MOST_COUNTED}`;
  const countNamed = database.prepare(`SELECT count(*) AS count FROM (${named}) AS counted`);
  const sinceOfHead =
    "SELECT enqueued_at FROM runs WHERE lane = counted.lane AND ended_at IS NULL AND seq IS NOT NULL ORDER BY seq LIMIT 1";
  const longest = database.prepare(
    `SELECT lane, (${sinceOfHead}) AS since FROM (${named}) AS counted ORDER BY since, lane LIMIT ?`,
  );
  return {
    of(lane) {
      const head = lanes.head(lane);
      const first = head && rows.get(head.id);
      return first && { lane, first, count: count.get<{ count: number }>(lane)?.count ?? 0 };
    },
    // Lanes are ASCII: their parts are escaped.
    lanes(prefix, limit) {
      const range = [prefix, `${prefix}\u{10FFFF}`] as const;
      return {
        lanes: longest.all<{ lane: string }>(...range, limit).map(({ lane }) => lane),
        total: countNamed.get<{ count: number }>(...range)?.count ?? 0,
      };
    },
  };
}
