import type { Block, TranscriptEntry } from "../ports/run.ts";
import type { Usage } from "../ports/session.ts";

/** First line of a session file in pi's format, version 3. */
export function headerLine(sessionId: string, startedAtMs: number, cwd: string): string {
  return line({ type: "session", version: 3, id: sessionId, timestamp: iso(startedAtMs), cwd });
}

/**
 * One row as a line of pi's format: block and usage names are pi's, what pi has no name for (seq, runId, provenance, sender)
 * stands beside the message. Nothing is left out or changed.
 */
export function entryLine(entry: TranscriptEntry, parentId: string | null): string {
  const { id, role, content, atMs, model, usage, ...beside } = entry;
  const said = { ...contentOf(role, content), model, usage: usage && usageOf(usage) };
  const message = { role, ...said, timestamp: atMs };
  return line({ type: "message", id, parentId, timestamp: iso(atMs), message, ...beside });
}

/** pi knows one result per row, spread over the message. */
function contentOf(role: TranscriptEntry["role"], content: readonly Block[]): object {
  const [only, ...others] = content;
  if (role === "toolResult" && only?.type === "toolResult" && others.length === 0) {
    const { id, name, text, isError } = only;
    return { toolCallId: id, toolName: name, content: [{ type: "text", text }], isError };
  }
  return { content: content.map(blockOf) };
}

function blockOf(block: Block): object {
  return block.type === "thinking" ? { type: "thinking", thinking: block.text } : block;
}

function usageOf(usage: Usage): object {
  const { inputTokens, outputTokens, estimatedCostUsd, ...others } = usage;
  const cost = estimatedCostUsd === undefined ? undefined : { total: estimatedCostUsd };
  return { input: inputTokens, output: outputTokens, ...others, cost };
}

/** The latest moment that a date can be; a platform or an outside source may name any number. */
const LAST_MS = 8_640_000_000_000_000;

function iso(ms: number): string {
  const inRange = Math.min(LAST_MS, Math.max(-LAST_MS, ms));
  return new Date(inRange || 0).toISOString();
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
