import type { AgentRunner, RunRequest } from "../core/ports/run.ts";
import { type AgentAnswer, functionAgent } from "./function-agent.ts";

/** One turn of a script. */
export interface ScriptTurn {
  readonly request: RunRequest;
  /** Everything that the agent is asked in this turn, envelope included. */
  readonly text: string;
  readonly signal: AbortSignal;
  /**
   * Calls one of the bound tools as a model would and returns its answer. A tool that is not bound answers TOOL_UNKNOWN. When the tool ends the
   * run, or the run was stopped meanwhile, this throws and the rest of the script is not reached. `callId`: default `call-1`, `call-2`, …
   */
  call(tool: string, input?: unknown, callId?: string): Promise<{ readonly [key: string]: unknown }>;
}

/** A runner that answers by a script instead of a model, for tests and demos. `turns` holds the requests it has had, in order. */
export interface ScriptedAgent extends AgentRunner {
  readonly turns: readonly RunRequest[];
}

export function scriptedAgent(
  script: (turn: ScriptTurn) => Promise<AgentAnswer> | AgentAnswer,
  options: Pick<AgentRunner, "models" | "supportsSandbox"> = {},
): ScriptedAgent {
  const turns: RunRequest[] = [];
  const runner = functionAgent(({ text, ...request }, signal) => {
    turns.push(request);
    let calls = 0;
    return script({
      request,
      signal,
      text,
      async call(name, input = {}, callId) {
        const tool = request.tools.find((one) => one.name === name);
        if (tool === undefined)
          return { status: "error", code: "TOOL_UNKNOWN", error: `No tool "${name}" is bound.` };
        calls += 1;
        const output = await tool.call(input, { callId: callId ?? `call-${calls}`, signal });
        signal.throwIfAborted();
        if (output.ends === true) throw new Error(`${name} has ended this turn.`);
        return output.value;
      },
    });
  }, options);
  return { ...runner, turns };
}
