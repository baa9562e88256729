import { scriptedAgent } from "../src/agents/scripted-agent.ts";
import { createSwitchboard } from "../src/switchboard.ts";

/** A fresh process: opens the data folder, starts, accepts one message and answers it; prints what that took. */
const [dataDir = ""] = process.argv.slice(2);
const from = performance.now();
const board = await createSwitchboard({ dataDir, agents: { main: scriptedAgent(() => "yes") } });
await board.start();
const { runId } = await board.gateway.call("agent", { sessionKey: "hook:start", message: "hello" });
const acceptedMs = performance.now() - from;
await board.gateway.call("agent.wait", { runId });
console.log(JSON.stringify({ acceptedMs, rss: process.memoryUsage().rss }));
await board.close();
