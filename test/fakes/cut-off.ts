import { join } from "node:path";
import { openDatabase } from "../../src/core/engine/sqlite/database.ts";
import type { Board } from "./a-board.ts";

/**
 * The files as they are now, but for one thing: the process that carried out the newest command has died, when everything was done but the end of the
 * command was not written, or when it had just begun. Whoever opens them carries the command out again.
 */
export function cutOff(board: Pick<Board, "snapshot">, at: "end" | "beginning" = "end"): string {
  const dataDir = board.snapshot();
  const file = openDatabase(join(dataDir, "switchboard.sqlite"));
  const newest = "SELECT id, lane FROM runs WHERE kind = 'command' ORDER BY rowid DESC LIMIT 1";
  const command = file.prepare(newest).get<{ id: string; lane: string }>();
  if (command === undefined) throw new Error("No command was typed.");
  const { id, lane } = command;
  file.prepare("DELETE FROM runs WHERE id = ?").run(`${id}>reply`);
  file
    .prepare(
      "UPDATE runs SET state = 'queued', interrupted = 1, result = NULL, error = NULL, ended_at = NULL WHERE id = ?",
    )
    .run(id);
  file
    .prepare("INSERT INTO lanes (lane, pool, state, turn) VALUES (?, 'commands', 'ready', 1000000)")
    .run(lane);
  if (at === "beginning") {
    file.prepare("UPDATE runs SET payload = json_remove(payload, '$.remembered') WHERE id = ?").run(id);
  }
  file.close();
  return dataDir;
}
