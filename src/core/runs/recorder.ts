import { messageOf } from "../errors.ts";
import type { Clock } from "../ports/host.ts";
import type { BoundTool, NewEntry, ToolOutput } from "../ports/run.ts";
import { boundedJson } from "./bounds.ts";

/** Bound tools that write down what was called and what came back, and know when their run is over. */
export interface RecordedCalls {
  readonly tools: readonly BoundTool[];
  /** Calls and results so far, in order. A call that has no answer yet is closed with one that says so: pairs are whole. */
  entries(): readonly NewEntry[];
  /** Without the calls that are under way. */
  answered(): readonly NewEntry[];
  /** Calls that begin after this do nothing and are told so: an agent that was left behind acts no more. */
  close(): void;
}

const RUN_OVER: ToolOutput = {
  value: { status: "error", code: "CLOSED", error: "This run is over; the call was not made." },
};

/**
 * The same call (tool, call id, input) runs once and answers the same to all who make it. A call id that comes back with another tool or input is a
 * call of its own, as some models number theirs anew in each turn; it gets an id of its own as well. Calls never reject.
 */
export function recordCalls(tools: readonly BoundTool[], runId: string, clock: Clock): RecordedCalls {
  const entries: NewEntry[] = [];
  const answers = new Map<string, Promise<ToolOutput>>();
  const uses = new Map<string, number>();
  const unanswered = new Map<string, string>();
  let over = false;

  const result = (id: string, name: string, text: string, isError: boolean): NewEntry => ({
    role: "toolResult",
    content: [{ type: "toolResult", id, name, text, isError }],
    atMs: clock.now(),
    runId,
  });

  async function callAndRecord(tool: BoundTool, input: unknown, id: string, signal: AbortSignal) {
    entries.push({
      role: "assistant",
      content: [{ type: "toolCall", id, name: tool.name, arguments: boundedJson(input) }],
      atMs: clock.now(),
      runId,
    });
    unanswered.set(id, tool.name);
    const output = await answerOf(tool, input, id, signal);
    unanswered.delete(id);
    entries.push(result(id, tool.name, JSON.stringify(output.value), isFailure(output.value)));
    return output;
  }

  function idOf(callId: string): string {
    const use = (uses.get(callId) ?? 0) + 1;
    uses.set(callId, use);
    return use === 1 ? callId : `${callId}~${use}`;
  }

  const recording = tools.map((tool) => ({
    ...tool,
    async call(input: unknown, { callId, signal }: Parameters<BoundTool["call"]>[1]) {
      const key = JSON.stringify([tool.name, callId, boundedJson(input)]);
      const known = answers.get(key);
      if (known !== undefined) return known;
      if (over) return RUN_OVER;
      const answer = callAndRecord(tool, input, idOf(callId), signal);
      answers.set(key, answer);
      return answer;
    },
  }));

  const isUnanswered = ({ content: [block] }: NewEntry) =>
    block?.type === "toolCall" && unanswered.has(block.id);

  return {
    tools: recording,
    answered: () => entries.filter((entry) => !isUnanswered(entry)),
    entries: () => [
      ...entries,
      ...[...unanswered].map(([id, name]) =>
        result(id, name, "The run ended before this call was answered.", true),
      ),
    ],
    close() {
      over = true;
    },
  };
}

/** Tools answer failures as values; this is how they are told from results. */
export function isFailure(answer: unknown): boolean {
  if (typeof answer !== "object" || answer === null || !("status" in answer)) return false;
  return answer.status === "error" || answer.status === "forbidden";
}

async function answerOf(tool: BoundTool, input: unknown, callId: string, signal: AbortSignal) {
  try {
    return await tool.call(input, { callId, signal });
  } catch (error) {
    return {
      value: { status: "error", code: "INTERNAL", error: `${tool.name} failed: ${messageOf(error)}` },
    };
  }
}
