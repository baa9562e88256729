import type {
  BoundTool,
  NewEntry,
  RunRequest,
  ToolOutput,
  TranscriptEntry,
} from "../../src/core/ports/run.ts";
import { aSession } from "../core/session/a-session.ts";

/** A request of the session `agent:main:main`, without history or tools. */
export function aRequest(
  over: Partial<Omit<RunRequest, "input">> & { readonly text?: string } = {},
): RunRequest {
  const { text = "hello", ...rest } = over;
  return {
    runId: "run-7",
    session: aSession("agent:main:main"),
    input: aRow({ role: "user", content: [{ type: "text", text }], runId: "run-7" }),
    history: [],
    tools: [],
    trigger: "user",
    sandboxed: false,
    depth: 0,
    report: () => {},
    ...rest,
  };
}

let rows = 0;

export function aRow(over: Partial<TranscriptEntry> & Pick<NewEntry, "role" | "content">): TranscriptEntry {
  rows += 1;
  return { id: `row-${rows}`, seq: rows, atMs: 1_790_000_000_000, ...over };
}

/** One call as a tool saw it. */
export interface SeenCall {
  readonly input: unknown;
  readonly callId: string;
  readonly signal: AbortSignal;
}

export interface FakeTool extends BoundTool {
  readonly seen: readonly SeenCall[];
}

/** A bound tool that notes its calls. Like the real ones it answers failures and aborts as values. */
export function aTool(
  name: string,
  answer: (call: SeenCall) => Promise<ToolOutput> | ToolOutput = () => ({ value: { status: "ok" } }),
): FakeTool {
  const seen: SeenCall[] = [];
  return {
    name,
    description: `The tool ${name} of a test.`,
    inputJsonSchema: { type: "object", properties: { limit: { type: "number" } } },
    seen,
    async call(input, { callId, signal }) {
      const call = { input, callId, signal };
      seen.push(call);
      return answer(call);
    },
  };
}

/** An answer that only comes when the caller has given up. */
export function onceAborted({ signal }: SeenCall): Promise<ToolOutput> {
  const output = { value: { status: "error", code: "CLOSED", error: "aborted" } };
  return new Promise((resolve) => {
    if (signal.aborted) resolve(output);
    signal.addEventListener("abort", () => resolve(output), { once: true });
  });
}
