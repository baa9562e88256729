import { functionAgent } from "../src/agents/function-agent.ts";
import type { Address } from "../src/core/ports/chat.ts";
import { createSwitchboard } from "../src/switchboard.ts";
import { ms, type Result } from "./measure.ts";
import { nullAdapter } from "./null-adapter.ts";

const CYCLES = 400;

/** One child after the other, of an agent that answers at once: from the call to "accepted", and to the announcement on the platform. */
export async function benchSpawn(dataDir: string): Promise<readonly Result[]> {
  const cycle = await spawnCycles(dataDir);
  const times: { accepted: number; announced: number }[] = [];
  for (let i = 0; i < CYCLES; i++) times.push(await cycle.run());
  await cycle.close();
  const warm = times.slice(50);
  const p = (of: "accepted" | "announced", share: number) =>
    warm.map((one) => one[of]).sort((a, b) => a - b)[Math.floor(warm.length * share)] ?? 0;
  return [
    {
      name: "sessions_spawn, accepted",
      measured: `${ms(p("accepted", 0.5))} (p95 ${ms(p("accepted", 0.95))})`,
      beside: "goal of the design: 1 ms",
      ratio: p("accepted", 0.5),
    },
    {
      name: "sessions_spawn, announced in the chat",
      measured: `${ms(p("announced", 0.5))} (p95 ${ms(p("announced", 0.95))})`,
      beside: "goal of the design: 5 ms",
      ratio: p("announced", 0.5) / 5,
    },
  ];
}

export interface SpawnCycles {
  /** One spawn, until its announcement has left. Milliseconds. */
  run(): Promise<{ readonly accepted: number; readonly announced: number }>;
  close(): Promise<void>;
}

/** A board with one room whose agent spawns children that answer and announce at once. */
export async function spawnCycles(dataDir: string): Promise<SpawnCycles> {
  const room: Address = { channel: "discord", accountId: "default", chatType: "channel", chatId: "100" };
  const discord = nullAdapter("discord");
  const board = await createSwitchboard({
    dataDir,
    adapters: [discord],
    agents: {
      main: functionAgent(({ trigger }) => {
        if (trigger === "spawn") return "The result is 42.";
        return trigger === "announce" ? "It is 42." : "hello";
      }),
    },
    config: { agents: { defaults: { subagents: { maxSpawnsPerHour: 1_000_000, maxChildrenPerAgent: 20 } } } },
  });
  await board.start();
  await discord.says("hello", room, "1");
  await until(board, "delivery.settled");
  const key = "agent:main:discord:channel:100";
  const spawn = (await board.tools(key)).find(({ name }) => name === "sessions_spawn");
  const signal = new AbortController().signal;
  let calls = 0;
  return {
    async run() {
      calls += 1;
      const announced = until(board, "delivery.settled");
      const from = performance.now();
      const cleanup = calls % 2 === 0 ? "delete" : "keep";
      const answer = await spawn?.call({ task: `task ${calls}`, cleanup }, { callId: `c${calls}`, signal });
      const accepted = performance.now() - from;
      if (answer?.value.status !== "accepted") throw new Error(JSON.stringify(answer?.value));
      await announced;
      return { accepted, announced: performance.now() - from };
    },
    close: () => board.close(),
  };
}

function until(
  board: Awaited<ReturnType<typeof createSwitchboard>>,
  event: "delivery.settled",
): Promise<void> {
  return new Promise((resolve) => {
    const off = board.on(event, () => {
      off();
      resolve();
    });
  });
}
