import { setTimeout as pause } from "node:timers/promises";
import { type ScriptTurn, scriptedAgent } from "../../src/agents/scripted-agent.ts";
import { createSwitchboard } from "../../src/switchboard.ts";
import { makeBots } from "../stage/bots.ts";
import type { CrashSetup } from "./crash-setup.ts";

/**
 * The process that gets killed: three real bots on the parent's platforms, and agents that take a moment and talk to one another.
 * Says "ready" and "accepted <run>" on stdout; SIGTERM closes it in good order.
 */
const setup: CrashSetup = JSON.parse(process.argv[2] ?? "{}");

/** Long enough that a kill can fall into every part of a run. */
const thinking = () => pause(5 + Math.random() * 40);

const bots = await makeBots(setup.platforms);
const board = await createSwitchboard({
  dataDir: setup.dataDir,
  adapters: bots.adapters,
  owners: setup.owners,
  agents: {
    concierge: scriptedAgent(async (turn) => {
      const { request, text, call } = turn;
      await thinking();
      const led = await leading(turn);
      if (led !== undefined) return led;
      if (request.trigger === "reply-back")
        return text.includes("#2") ? "REPLY_SKIP" : `And #2 of ${word(text)}?`;
      const answer = await call("sessions_send", {
        sessionKey: setup.targets.ops,
        message: text,
        timeoutSeconds: 20,
      });
      return `Ops say: ${answer.reply ?? answer.error}`;
    }),
    ops: scriptedAgent(async ({ request, text, call, signal }) => {
      await thinking();
      if (request.depth > 0) return child(request.trigger, text, signal);
      if (request.trigger === "announce") {
        await call("sessions_send", {
          sessionKey: setup.targets.field,
          message: "please pass it on",
          timeoutSeconds: 0,
        });
        return "Announced by ops.";
      }
      return `ops: ${text.length}`;
    }),
    field: scriptedAgent(async ({ request }) => {
      await thinking();
      if (request.trigger === "reply-back") return "REPLY_SKIP";
      return request.trigger === "announce" ? "Announced by field." : "field: yes";
    }),
  },
  config: setup.config,
});
board.on("message.accepted", ({ from, messageId, acceptance }) => {
  if (acceptance === "run") process.stdout.write(`accepted ${from.channel} ${from.chatId} ${messageId}\n`);
});
process.once("SIGTERM", async () => {
  await board.close();
  process.exit(0);
});
await board.start();
await bots.connect();
process.stdout.write("ready\n");

/** Three children on two agents: one answers, one fails, one runs into its limit. "fan": wait for all of them and answer once; "loose": do not wait. */
async function leading({ request, text, call, signal }: ScriptTurn): Promise<string | undefined> {
  if (request.depth > 0) return child(request.trigger, text, signal);
  if (request.trigger === "completion") {
    if (text.includes("still at work")) await call("sessions_yield");
    return `All told: ${text.match(/task \w+/g)?.join(", ")}`;
  }
  const asked = /(fan|loose)\d+/.exec(text);
  if (request.trigger !== "user" || asked === null) return undefined;
  await call("sessions_spawn", { task: `task good ${asked[0]}`, agentId: "ops" });
  await call("sessions_spawn", { task: `task bad ${asked[0]}` });
  await call("sessions_spawn", { task: `task slow ${asked[0]}`, agentId: "ops", runTimeoutSeconds: 1 });
  if (asked[1] === "fan") await call("sessions_yield");
  return "They are at work.";
}

async function child(trigger: string, text: string, signal: AbortSignal): Promise<string> {
  if (trigger === "announce") return "Announced by a child.";
  if (text.includes("task bad")) throw new Error("the disk is full");
  if (text.includes("task slow")) await pause(60_000, undefined, { signal });
  return "The result is 42.";
}

function word(text: string): string {
  return /[a-z]+\d+/.exec(text)?.[0] ?? "that";
}
