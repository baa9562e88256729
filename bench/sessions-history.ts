import { join } from "node:path";
import { scriptedAgent } from "../src/agents/scripted-agent.ts";
import { openDatabase } from "../src/core/engine/sqlite/database.ts";
import { turnKey } from "../src/core/storage/turns.ts";
import { createSwitchboard } from "../src/switchboard.ts";
import { megabytes, ms, type Result, time, timeBoth } from "./measure.ts";

import { aSession, seedTranscript } from "./seed.ts";

/** With the warm-up as many pages as the small transcript has. */
const FIRST_LOOKS = 8;

/** `sessions_history` limit 50 beside one bare SQLite query for the same turns plus JSON.parse, on a small and on a large transcript. */
export async function benchHistory(
  dataDirs: readonly { readonly dataDir: string; readonly bytes: number }[],
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const medians: number[] = [];
  for (const { dataDir, bytes } of dataDirs) {
    const session = aSession(1);
    const turns = await seedTranscript(dataDir, session, bytes);
    const board = await createSwitchboard({ dataDir, agents: { main: scriptedAgent(() => "") } });
    const tools = await board.tools(session.key);
    const history = tools.find((tool) => tool.name === "sessions_history");
    const signal = new AbortController().signal;
    const call = () => history?.call({ sessionKey: "current", limit: 50 }, { callId: "bench", signal });
    const shown = (await call())?.value.messages as readonly unknown[] | undefined;
    if (shown?.length !== 50) throw new Error(`The history has ${shown?.length} rows instead of 50.`);
    const bare = bareQuery(dataDir, session.sessionId, turns);
    const { one, other } = await timeBoth(call, bare.read);
    bare.close();
    // Pages that nobody has read before: parsed, cleaned and masked for the first time.
    let page = 0;
    const first = await time(() => {
      page += 1;
      return history?.call(
        { sessionKey: "current", limit: 50, offset: page * 50 },
        { callId: "bench", signal },
      );
    }, FIRST_LOOKS);
    medians.push(one.p50);
    results.push({
      name: `sessions_history limit 50, transcript of ${megabytes(bytes)}`,
      measured: `${ms(one.p50)} (p95 ${ms(one.p95)})`,
      beside: `bare query + JSON.parse ${ms(other.p50)}`,
      ratio: one.p50 / other.p50,
      goal: 3,
    });
    results.push({
      name: "the same, rows that were never read before",
      measured: `${ms(first.p50)} (p95 ${ms(first.p95)})`,
      beside: `bare query + JSON.parse ${ms(other.p50)}`,
      ratio: first.p50 / other.p50,
    });
    await board.close();
  }
  const [small = 1, large = 1] = medians;
  results.push({
    name: "large transcript beside small one",
    measured: ms(large),
    beside: ms(small),
    ratio: large / small,
    goal: 1.3,
  });
  return results;
}

/** The newest 25 turns of two rows each, by their keys, without anything of ours in between. */
function bareQuery(dataDir: string, sessionId: string, turns: number): { read(): unknown; close(): void } {
  const database = openDatabase(join(dataDir, "switchboard.sqlite"));
  const keys = Array.from({ length: 25 }, (_, i) => turnKey(sessionId, turns - i));
  const query = database.prepare(`SELECT value FROM kv WHERE key IN (${keys.map(() => "?").join(", ")})`);
  const read = () => query.all<{ value: string }>(...keys).map((row) => JSON.parse(row.value));
  if (read().length !== keys.length) throw new Error("The bare query does not find the turns.");
  return { read, close: () => database.close() };
}
