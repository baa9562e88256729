import { scriptedAgent } from "../../src/agents/scripted-agent.ts";
import { createSwitchboard } from "../../src/switchboard.ts";
import type { CrashSetup } from "../crash/crash-setup.ts";
import { makeBots } from "../stage/bots.ts";

/** The process that gets killed: three real bots that deliver what another process puts into their queue. Says "ready"; SIGTERM closes it in good order. */
const setup: CrashSetup = JSON.parse(process.argv[2] ?? "{}");

const bots = await makeBots(setup.platforms);
const board = await createSwitchboard({
  dataDir: setup.dataDir,
  adapters: bots.adapters,
  agents: { main: scriptedAgent(async () => "nobody asks") },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
});
process.once("SIGTERM", async () => {
  await board.close();
  process.exit(0);
});
await board.start();
await bots.connect();
process.stdout.write("ready\n");
