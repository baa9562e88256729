import type { ModelMessage } from "ai";
import type { Block, TranscriptEntry } from "../core/ports/run.ts";

/**
 * Rows of a transcript as messages of the AI SDK. Providers are strict where transcripts are not, so: each call is followed at once by its result and a
 * call without one is left out; notes of the runtime are user messages; a window never begins with the assistant; thinking stays behind.
 */
export function toModelMessages(entries: readonly TranscriptEntry[]): ModelMessage[] {
  const takeResult = resultsOf(entries);
  const messages = entries.flatMap((entry): ModelMessage[] => {
    switch (entry.role) {
      case "user":
        return [{ role: "user", content: words(entry.content) || "(empty message)" }];
      case "system":
        return [note(words(entry.content))];
      case "assistant":
        return assistantMessages(entry, takeResult);
      case "toolResult":
        return [];
      default:
        return entry.role satisfies never;
    }
  });
  return messages[0]?.role === "assistant" ? [note("earlier messages are left out"), ...messages] : messages;
}

type ToolResult = Extract<Block, { type: "toolResult" }>;
type TakeResult = (runId: string | undefined, callId: string) => ToolResult | undefined;

/** Call ids are unique within a run at best; some models count them from 0 in each of their turns. */
function resultsOf(entries: readonly TranscriptEntry[]): TakeResult {
  const waiting = new Map<string, ToolResult[]>();
  const keyOf = (runId = "", callId: string) => `${runId}\n${callId}`;
  for (const { runId, content } of entries) {
    for (const block of content) {
      if (block.type !== "toolResult") continue;
      const key = keyOf(runId, block.id);
      waiting.set(key, [...(waiting.get(key) ?? []), block]);
    }
  }
  return (runId, callId) => waiting.get(keyOf(runId, callId))?.shift();
}

type AssistantPart = Exclude<Extract<ModelMessage, { role: "assistant" }>["content"], string>[number];

function assistantMessages({ runId, content }: TranscriptEntry, takeResult: TakeResult): ModelMessage[] {
  const results: ToolResult[] = [];
  const said = content.flatMap((block): AssistantPart[] => {
    if (block.type === "text") return block.text === "" ? [] : [{ type: "text", text: block.text }];
    if (block.type !== "toolCall") return [];
    const result = takeResult(runId, block.id);
    if (result === undefined) return [];
    results.push(result);
    return [callPart(block)];
  });
  return [
    ...(said.length === 0 ? [] : [{ role: "assistant" as const, content: said }]),
    ...(results.length === 0 ? [] : [{ role: "tool" as const, content: results.map(resultPart) }]),
  ];
}

function callPart(call: Extract<Block, { type: "toolCall" }>) {
  // What the model wrote may not have been JSON, and providers take nothing but objects.
  const isObject = typeof call.arguments === "object" && call.arguments !== null;
  const input = isObject ? call.arguments : {};
  return { type: "tool-call" as const, toolCallId: call.id, toolName: call.name, input };
}

function resultPart({ id, name, text, isError }: ToolResult) {
  const output = { type: isError ? ("error-text" as const) : ("text" as const), value: text };
  return { type: "tool-result" as const, toolCallId: id, toolName: name, output };
}

function note(text: string): ModelMessage {
  return { role: "user", content: `(Note of the runtime: ${text})` };
}

/** Text of a message and, in brackets, what came with it. */
function words(blocks: readonly Block[]): string {
  const lines = blocks.flatMap((block) => {
    if (block.type === "text") return [block.text];
    return block.type === "attachment"
      ? [`(attached: ${[block.name, block.mediaType].filter(Boolean).join(", ")})`]
      : [];
  });
  return lines.join("\n");
}
