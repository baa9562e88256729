import { messageOf } from "../core/errors.ts";
import { given } from "../core/given.ts";
import type { AgentRunner, BoundTool, RunOutcome, RunRequest } from "../core/ports/run.ts";
import { textOf } from "../core/transcript/prompt.ts";

/** A request with all that the agent is asked as one text, envelope included. */
export interface FunctionRequest extends RunRequest {
  readonly text: string;
}

/** What the function may return: the reply, or a whole outcome with rows, usage or model. */
export type AgentAnswer = string | RunOutcome;

/**
 * The smallest way to plug in an agent: a function from a request to a reply. What it throws becomes an error outcome. It has to heed `signal`; what it
 * throws afterwards counts as "aborted". Once a tool has answered `ends`, the outcome is "yielded", whatever the function still says.
 */
export function functionAgent(
  answer: (request: FunctionRequest, signal: AbortSignal) => Promise<AgentAnswer> | AgentAnswer,
  options: Pick<AgentRunner, "models" | "supportsSandbox"> = {},
): AgentRunner {
  return {
    ...options,
    async run(request, signal) {
      if (signal.aborted) return { status: "aborted" };
      let ended = false;
      const tools = request.tools.map((tool) => watched(tool, () => (ended = true)));
      const text = textOf(request.input);
      const outcome = await outcomeOf(() => answer({ ...request, tools, text }, signal), signal);
      return ended ? yielded(outcome) : outcome;
    },
  };
}

async function outcomeOf(
  answer: () => Promise<AgentAnswer> | AgentAnswer,
  signal: AbortSignal,
): Promise<RunOutcome> {
  try {
    const answered = await answer();
    if (typeof answered === "string") return { status: "ok", reply: answered };
    // Functions are written in JavaScript, too.
    return answered ?? { status: "error", error: "the agent's function returned nothing" };
  } catch (error) {
    return signal.aborted ? { status: "aborted" } : { status: "error", error: messageOf(error) };
  }
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
