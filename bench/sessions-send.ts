import { scriptedAgent } from "../src/agents/scripted-agent.ts";
import { openDatabase } from "../src/core/engine/sqlite/database.ts";
import { createSwitchboard } from "../src/switchboard.ts";
import { ms, type Result, time } from "./measure.ts";

const PARALLEL = 50;
const PER_SESSION = 40;

/** `sessions_send` to an agent that answers at once: what is measured is everything but the agent. */
export async function benchSend(dataDir: string): Promise<readonly Result[]> {
  const board = await createSwitchboard({
    dataDir,
    agents: { main: scriptedAgent(() => "yes"), other: scriptedAgent(() => "yes") },
    config: {
      session: { agentToAgent: { maxPingPongTurns: 0 } },
      tools: {
        sessions: { visibility: "all" },
        agentToAgent: { enabled: true, allow: ["*"], maxSendsPerHour: 1_000_000 },
      },
      agents: { defaults: { maxConcurrent: 16 } },
      transcripts: { mirror: false },
    },
  });
  await board.start();
  const senders = await Promise.all(
    Array.from({ length: PARALLEL }, (_, i) =>
      sender(board, `agent:main:hook:h${i}`, `agent:other:hook:t${i}`),
    ),
  );
  const [first] = senders;
  if (first === undefined) throw new Error("There is no sender.");
  const sequential = await time(first, 300);

  const from = performance.now();
  await Promise.all(
    senders.map(async (send) => {
      for (let i = 0; i < PER_SESSION; i++) await send();
    }),
  );
  const seconds = (performance.now() - from) / 1000;
  await board.close();
  const transaction = await bareTransaction(dataDir);
  return [
    {
      name: "sessions_send, one after the other",
      measured: `${ms(sequential.p50)} (p95 ${ms(sequential.p95)})`,
      beside: `a bare transaction of three writes ${ms(transaction)}`,
      ratio: sequential.p50 / transaction,
    },
    {
      name: `sessions_send, ${PARALLEL} sessions at once`,
      measured: `${Math.round((PARALLEL * PER_SESSION) / seconds).toLocaleString("en")} runs/s`,
      beside: `one after the other ${Math.round(1000 / sequential.p50).toLocaleString("en")} runs/s`,
      ratio: (PARALLEL * PER_SESSION) / seconds / (1000 / sequential.p50),
    },
  ];
}

type Board = Awaited<ReturnType<typeof createSwitchboard>>;
let calls = 0;

async function sender(board: Board, from: string, to: string): Promise<() => Promise<void>> {
  for (const sessionKey of [from, to]) {
    const { runId } = await board.gateway.call("agent", { sessionKey, message: "hello" });
    await board.gateway.call("agent.wait", { runId });
  }
  const tool = (await board.tools(from)).find((one) => one.name === "sessions_send");
  const signal = new AbortController().signal;
  return async () => {
    calls += 1;
    const answer = await tool?.call(
      { sessionKey: to, message: "ready?" },
      { callId: `bench-${calls}`, signal },
    );
    if (answer?.value.reply !== "yes")
      throw new Error(`sessions_send answered ${JSON.stringify(answer?.value)}`);
  };
}

async function bareTransaction(dataDir: string): Promise<number> {
  const database = openDatabase(`${dataDir}/bare.sqlite`);
  database.exec("CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY, value TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO bare (value) VALUES (?)");
  const text = "x".repeat(800);
  const { p50 } = await time(
    () =>
      database.transaction(() => {
        for (let i = 0; i < 3; i++) insert.run(text);
      }),
    300,
  );
  database.close();
  return p50;
}
