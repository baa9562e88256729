import { scriptedAgent } from "../src/agents/scripted-agent.ts";
import { createSwitchboard } from "../src/switchboard.ts";
import { ms, type Result, timeBoth } from "./measure.ts";
import { seedSessions } from "./seed.ts";

/** `sessions_list` limit 50 beside JSON.stringify of the rows that it returns, at two sizes. */
export async function benchList(dataDir: string): Promise<readonly Result[]> {
  const results: Result[] = [];
  const medians: number[] = [];
  let seeded = 0;
  for (const size of [10_000, 100_000]) {
    await seedSessions(dataDir, seeded, size);
    seeded = size;
    const board = await createSwitchboard({
      dataDir,
      agents: { main: scriptedAgent(() => "") },
      config: { tools: { sessions: { visibility: "agent" } } },
    });
    const [first] = (await board.gateway.call("sessions.list", { limit: 1 })).sessions as readonly {
      key: string;
    }[];
    const tools = await board.tools(first?.key ?? "");
    const list = tools.find((tool) => tool.name === "sessions_list");
    const signal = new AbortController().signal;
    const call = () => list?.call({ limit: 50 }, { callId: "bench", signal });
    const rows = (await call())?.value.sessions;
    const { one, other } = await timeBoth(call, () => JSON.stringify(rows));
    medians.push(one.p50);
    results.push({
      name: `sessions_list limit 50, ${size.toLocaleString("en")} sessions`,
      measured: `${ms(one.p50)} (p95 ${ms(one.p95)})`,
      beside: `JSON.stringify of the rows ${ms(other.p50)}`,
      ratio: one.p50 / other.p50,
      goal: 3,
    });
    await board.close();
  }
  const [small = 1, large = 1] = medians;
  results.push({
    name: "growth from 10,000 to 100,000 sessions",
    measured: ms(large),
    beside: ms(small),
    ratio: large / small,
    goal: 1.5,
  });
  return results;
}
