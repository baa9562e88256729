import { z } from "zod";
import type { Children } from "../children/children.ts";
import type { RunQueue } from "../ports/engine.ts";
import { asksAgent } from "../runs/job.ts";
import { type Answer, type Caller, defineTool, failure, type ToolBasics, toolInput } from "./define-tool.ts";

const input = toolInput({
  message: z.string().trim().max(2000).optional().describe("A note to yourself; nobody else sees it."),
});

export interface YieldParts extends ToolBasics {
  readonly queue: RunQueue;
  readonly children: Children;
}

export function sessionsYield(parts: YieldParts) {
  return defineTool(
    {
      name: "sessions_yield",
      description:
        "End this turn without an answer and wait. Your next message is the event that a subagent has ended, or what somebody writes to you.",
      input,
      ends: ({ status }) => status === "yielded",
      run: ({ message }, caller) => endTurn(message, caller, parts),
    },
    parts.logger,
  );
}

async function endTurn(
  message: string | undefined,
  { session, run }: Caller,
  parts: YieldParts,
): Promise<Answer> {
  if (run === undefined) {
    return failure(
      "INPUT_INVALID",
      "There is no turn to end: these tools are mounted outside of the switchboard's runs.",
    );
  }
  const atWork = (await parts.children.atWork(session.key)).length;
  const pending = await parts.queue.pending(session.key);
  const queued = pending.some((one) => one.id !== run.runId && asksAgent(one));
  // People can always write to a session with a chat; any other one would sleep for ever.
  if (atWork === 0 && !queued && session.route === undefined) {
    return failure(
      "NOTHING_PENDING",
      "No subagent of yours is at work and nothing is waiting, so nothing would wake you. Answer now.",
    );
  }
  return {
    status: "yielded",
    message: message ?? "Turn yielded.",
    atWork,
    ...(atWork > 0 || queued
      ? {}
      : { warning: "No subagent of yours is at work; only a message will wake you." }),
  };
}
