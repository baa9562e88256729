import type { Clock, Json } from "../ports/host.ts";
import type { BoundTool, NewEntry } from "../ports/run.ts";

/** Bound tools that write down what was called and what came back, for runners that report no rows of their own. Each callId runs once. */
export function recordCalls(
  tools: readonly BoundTool[],
  runId: string,
  clock: Clock,
): { readonly tools: readonly BoundTool[]; entries(): readonly NewEntry[] } {
  const entries: NewEntry[] = [];
  const answers = new Map<string, ReturnType<BoundTool["call"]>>();

  async function callAndRecord(tool: BoundTool, input: unknown, call: Parameters<BoundTool["call"]>[1]) {
    const id = call.callId;
    entries.push({
      role: "assistant",
      content: [{ type: "toolCall", id, name: tool.name, arguments: jsonOf(input) }],
      atMs: clock.now(),
      runId,
    });
    const output = await tool.call(input, call);
    const isError = output.value.status === "error" || output.value.status === "forbidden";
    entries.push({
      role: "toolResult",
      content: [{ type: "toolResult", id, name: tool.name, text: JSON.stringify(output.value), isError }],
      atMs: clock.now(),
      runId,
    });
    return output;
  }

  const recording = tools.map((tool) => ({
    ...tool,
    call(input: unknown, call: Parameters<BoundTool["call"]>[1]) {
      const key = `${tool.name}\n${call.callId}`;
      const answer = answers.get(key) ?? callAndRecord(tool, input, call);
      answers.set(key, answer);
      return answer;
    },
  }));
  return { tools: recording, entries: () => [...entries] };
}

/** What a model passed in, as far as it is JSON. */
function jsonOf(input: unknown): Json {
  try {
    return JSON.parse(JSON.stringify(input ?? null));
  } catch {
    return null;
  }
}
