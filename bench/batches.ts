import { functionAgent } from "../src/agents/function-agent.ts";
import type { Address } from "../src/core/ports/chat.ts";
import { createSwitchboard } from "../src/switchboard.ts";
import { ms, type Result } from "./measure.ts";
import { nullAdapter } from "./null-adapter.ts";

const ROOM: Address = { channel: "discord", accountId: "default", chatType: "channel", chatId: "100" };
const FEW = 250;
const MANY = 2000;

/** Messages that wait behind a turn and are then answered together: the cost of each must not grow with their number. */
export async function benchBatches(dataDir: string): Promise<readonly Result[]> {
  await burst(`${dataDir}-warm`, FEW);
  const few = await burst(`${dataDir}-few`, FEW);
  const many = await burst(`${dataDir}-many`, MANY);
  return [
    {
      name: `one message of ${MANY} that wait for a batch, accepted and heard`,
      measured: ms(many),
      beside: `one of ${FEW} ${ms(few)}`,
      ratio: many / few,
      goal: 2,
    },
  ];
}

/** Milliseconds for each of `count` messages, from the first hand-over to the turn that hears the last. */
async function burst(dataDir: string, count: number): Promise<number> {
  const discord = nullAdapter("discord");
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let heardLast = () => {};
  const all = new Promise<void>((resolve) => {
    heardLast = resolve;
  });
  const board = await createSwitchboard({
    dataDir,
    adapters: [discord],
    agents: {
      main: functionAgent(async ({ text }) => {
        if (text.endsWith("first")) await gate;
        if (text.endsWith(`message ${count}`)) heardLast();
        return "seen";
      }),
    },
    config: { agents: { defaults: { queue: "collect" } } },
  });
  await board.start();
  await discord.says("first", ROOM, "first");
  const from = performance.now();
  for (let n = 1; n <= count; n++) await discord.says(`message ${n}`, ROOM, String(n));
  open();
  await all;
  const each = (performance.now() - from) / count;
  await board.close();
  return each;
}
