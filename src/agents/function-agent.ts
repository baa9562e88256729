import { messageOf } from "../core/errors.ts";
import { given } from "../core/given.ts";
import type { AgentRunner, BoundTool, RunOutcome, RunRequest } from "../core/ports/run.ts";

/** What the function may return: the reply, or a whole outcome with rows, usage or model. */
export type AgentAnswer = string | RunOutcome;

/**
 * The smallest way to plug in an agent: a function from a request to a reply. What it throws becomes an error outcome. It has to heed `signal`; what it
 * throws afterwards counts as "aborted". Once a tool has answered `ends`, the outcome is "yielded", whatever the function still says.
 */
export function functionAgent(
  answer: (request: RunRequest, signal: AbortSignal) => Promise<AgentAnswer> | AgentAnswer,
  options: Pick<AgentRunner, "models" | "supportsSandbox"> = {},
): AgentRunner {
  return {
    ...options,
    async run(request, signal) {
      if (signal.aborted) return { status: "aborted" };
      let ended = false;
      const tools = request.tools.map((tool) => watched(tool, () => (ended = true)));
      try {
        const answered = await answer({ ...request, tools }, signal);
        const outcome = typeof answered === "string" ? { status: "ok" as const, reply: answered } : answered;
        return ended ? yielded(outcome) : outcome;
      } catch (error) {
        if (ended) return { status: "yielded" };
        return signal.aborted ? { status: "aborted" } : { status: "error", error: messageOf(error) };
      }
    },
  };
}

function watched(tool: BoundTool, onEnd: () => void): BoundTool {
  return {
    ...tool,
    async call(input, call) {
      const output = await tool.call(input, call);
      if (output.ends === true) onEnd();
      return output;
    },
  };
}

function yielded({ entries, usage, model }: RunOutcome): RunOutcome {
  return { status: "yielded", ...given({ entries, usage, model }) };
}
