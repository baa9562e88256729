import { setTimeout as pause } from "node:timers/promises";
import { scriptedAgent } from "../../src/agents/scripted-agent.ts";
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
    concierge: scriptedAgent(async ({ request, text, call }) => {
      await thinking();
      if (request.trigger === "reply-back")
        return text.includes("#2") ? "REPLY_SKIP" : `And #2 of ${word(text)}?`;
      const answer = await call("sessions_send", {
        sessionKey: setup.targets.ops,
        message: text,
        timeoutSeconds: 20,
      });
      return `Ops say: ${answer.reply ?? answer.error}`;
    }),
    ops: scriptedAgent(async ({ request, text, call }) => {
      await thinking();
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

function word(text: string): string {
  return /[a-z]+\d+/.exec(text)?.[0] ?? "that";
}
