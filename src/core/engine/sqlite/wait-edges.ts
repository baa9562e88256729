import { SwitchboardError } from "../../errors.ts";
import type { RunId } from "../../ports/engine.ts";
import type { Database } from "./database.ts";

/** Who waits for whom: an edge leads from a running claim to the lane of the run that it waits for. Called inside a transaction. */
export interface WaitEdges {
  /**
   * The lanes of the circle that this edge would close, from `lane` back to `lane`; undefined when there is none.
   * Edges count while their claim is live and their run is not settled.
   */
  circle(lane: string, target: string): readonly string[] | undefined;
  add(claim: string, run: RunId, target: string): void;
  remove(claim: string, run: RunId): void;
  removeAll(claim: string): void;
}

export function createWaitEdges(database: Database): WaitEdges {
  const next = database.prepare(
    "SELECT DISTINCT waits.target FROM lanes JOIN waits ON waits.claim = lanes.claim " +
      "JOIN runs ON runs.id = waits.run AND runs.ended_at IS NULL WHERE lanes.lane = ?",
  );
  const insert = database.prepare(
    "INSERT INTO waits (claim, run, target) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const removeOne = database.prepare("DELETE FROM waits WHERE claim = ? AND run = ?");
  const removeAll = database.prepare("DELETE FROM waits WHERE claim = ?");

  return {
    circle(lane, target) {
      const cameFrom = new Map<string, string>([[target, lane]]);
      const open = [target];
      for (let at = open.shift(); at !== undefined; at = open.shift()) {
        if (at === lane) return pathBack(lane, cameFrom);
        for (const edge of next.all<{ target: string }>(at)) {
          if (cameFrom.has(edge.target)) continue;
          cameFrom.set(edge.target, at);
          open.push(edge.target);
        }
      }
      return undefined;
    },
    add: (claim, run, target) => void insert.run(claim, run, target),
    remove: (claim, run) => void removeOne.run(claim, run),
    removeAll: (claim) => void removeAll.run(claim),
  };
}

export function waitCycle(chain: readonly string[]): SwitchboardError {
  return new SwitchboardError(
    "WAIT_CYCLE",
    `Waiting here would never end: ${chain.join(" waits for ")}. Send without waiting, or answer first.`,
    { details: { chain } },
  );
}

function pathBack(lane: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const chain = [lane];
  let at = cameFrom.get(lane);
  while (at !== undefined && at !== lane) {
    chain.unshift(at);
    at = cameFrom.get(at);
  }
  return [lane, ...chain];
}
