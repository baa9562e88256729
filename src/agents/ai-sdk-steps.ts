import type { StepResult, ToolSet } from "ai";
import { messageOf } from "../core/errors.ts";
import { given } from "../core/given.ts";
import type { Json } from "../core/ports/host.ts";
import type { Block, NewEntry, RunOutcome } from "../core/ports/run.ts";
import type { Usage } from "../core/ports/session.ts";
import { isFailure } from "../core/runs/recorder.ts";

/** One model call and the tool calls that it led to, finished at `atMs`. */
export interface FinishedStep {
  readonly step: StepResult<ToolSet>;
  readonly atMs: number;
}

/** What the steps of a run have made: rows in order, the sum of their tokens, the model that answered last. The reply itself is not among the rows. */
export function madeIn(
  steps: readonly FinishedStep[],
  runId: string,
): Pick<RunOutcome, "entries" | "usage" | "model"> {
  const entries = steps.flatMap((finished) => rowsOf(finished, runId));
  return { entries, ...given({ usage: usageOf(steps), model: steps.at(-1)?.step.response.modelId }) };
}

/** What the model wrote around its calls, then one row per call with its result. A step without calls is the reply. */
function rowsOf({ step, atMs }: FinishedStep, runId: string): NewEntry[] {
  const { toolCalls, content } = step;
  if (toolCalls.length === 0) return [];
  // Tools that the provider runs itself (web search) answer within the step: its text is the reply.
  const isReply = toolCalls.every((call) => call.providerExecuted === true);
  const said = content.filter((part) => !isReply || part.type !== "text").flatMap(blockOf);
  const results = content.filter((part) => part.type === "tool-result" || part.type === "tool-error");
  return [
    { role: "assistant", content: said, atMs, runId },
    ...toolCalls.map(({ toolCallId: id, toolName: name }): NewEntry => {
      const at = results.findIndex((part) => part.toolCallId === id);
      const [result] = at < 0 ? [] : results.splice(at, 1);
      return {
        role: "toolResult",
        content: [{ type: "toolResult", id, name, ...answerOf(result) }],
        atMs,
        runId,
      };
    }),
  ];
}

type Part = StepResult<ToolSet>["content"][number];
type ResultPart = Extract<Part, { type: "tool-result" | "tool-error" }>;

function blockOf(part: Part): Block[] {
  if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (part.type === "reasoning") return [{ type: "thinking", text: part.text }];
  if (part.type !== "tool-call") return [];
  // A provider's JSON, or the text of it where it was malformed.
  const args = (part.input ?? null) as Json;
  return [{ type: "toolCall", id: part.toolCallId, name: part.toolName, arguments: args }];
}

function answerOf(result: ResultPart | undefined): { readonly text: string; readonly isError: boolean } {
  if (result === undefined) return { text: "This call was not executed.", isError: true };
  if (result.type === "tool-error") return { text: messageOf(result.error), isError: true };
  return { text: textOf(result.output), isError: isFailure(result.output) };
}

/** Tools of the host may return anything. */
function textOf(output: unknown): string {
  if (typeof output === "string") return output;
  try {
    return JSON.stringify(output) ?? "";
  } catch {
    return String(output);
  }
}

/** Counters that no step reported stay unknown. */
function usageOf(steps: readonly FinishedStep[]): Usage | undefined {
  const sum = (count: (usage: StepResult<ToolSet>["usage"]) => number | undefined) => {
    const known = steps.map(({ step }) => count(step.usage)).filter((tokens) => tokens !== undefined);
    return known.length === 0 ? undefined : known.reduce((total, tokens) => total + tokens);
  };
  const usage = given({
    inputTokens: sum((of) => of.inputTokens),
    outputTokens: sum((of) => of.outputTokens),
    totalTokens: sum((of) => of.totalTokens),
    cacheRead: sum((of) => of.inputTokenDetails.cacheReadTokens),
    cacheWrite: sum((of) => of.inputTokenDetails.cacheWriteTokens),
  });
  return Object.keys(usage).length === 0 ? undefined : usage;
}
