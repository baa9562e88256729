import type { Sender } from "./chat.ts";
import type { Json } from "./host.ts";
import type { Session, Usage } from "./session.ts";

export type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "toolCall"; readonly id: string; readonly name: string; readonly arguments?: Json }
  | {
      readonly type: "toolResult";
      readonly id: string;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
    }
  | {
      readonly type: "attachment";
      readonly mediaType: string;
      readonly sizeBytes?: number;
      readonly name?: string;
    };

/** Where a row came from. This structure decides, never the text. */
export interface Provenance {
  readonly kind: "external_user" | "inter_session" | "internal_system" | "external";
  readonly sourceSessionKey?: string;
  readonly sourceChannel?: string;
  readonly sourceTool?: string;
}

/** One row of a transcript, also the shape that sessions_history shows. `seq` counts rows of a session id from 1. */
export interface TranscriptEntry {
  readonly id: string;
  readonly seq: number;
  readonly role: "user" | "assistant" | "toolResult" | "system";
  readonly content: readonly Block[];
  readonly atMs: number;
  readonly runId?: string;
  readonly provenance?: Provenance;
  readonly sender?: Sender;
  /** Said in a room, and not meant for the bot. */
  readonly overheard?: true;
  readonly model?: string;
  readonly usage?: Usage;
}

/** A row before the transcript has numbered it. */
export type NewEntry = Omit<TranscriptEntry, "seq" | "id">;

export type RunTrigger = "user" | "send" | "reply-back" | "announce" | "spawn" | "completion" | "gateway";

/** A tool answer: always an object with the facts, plus the same as text for the model. `ends`: the run ends here (sessions_yield). */
export interface ToolOutput {
  readonly value: { readonly [key: string]: unknown };
  readonly ends?: boolean;
}

/** A tool bound to a session or a run. Validates first, never rejects. The same callId within a run runs once. */
export interface BoundTool {
  readonly name: string;
  readonly description: string;
  readonly inputJsonSchema: object;
  call(input: unknown, call: { readonly callId: string; readonly signal: AbortSignal }): Promise<ToolOutput>;
}

export interface RunRequest {
  readonly runId: string;
  readonly session: Session;
  /** What the agent is to answer, with the blocks of all messages that it answers at once; its text already carries the envelope of inter-session data. */
  readonly input: TranscriptEntry;
  /** Newest tail before `input`, within agents.defaults.history; tool pairs are whole. */
  readonly history: readonly TranscriptEntry[];
  readonly tools: readonly BoundTool[];
  readonly extraSystemPrompt?: string;
  readonly model?: string;
  readonly thinking?: string;
  readonly trigger: RunTrigger;
  readonly sandboxed: boolean;
  /** 0 = not spawned. */
  readonly depth: number;
  /**
   * Rows that this run has made so far, for a runner that is worth watching while it works (a long task): they show in the transcript before it ends.
   * Asked for about once a second, however often this is called; each call replaces the last one, and the outcome replaces them all.
   */
  report(entries: () => readonly NewEntry[]): void;
}

interface Made {
  /** Tool calls and results of this run, in order. Absent: the calls of bound tools are recorded by the core. */
  readonly entries?: readonly NewEntry[];
  readonly usage?: Usage;
  readonly model?: string;
}

export type RunOutcome = Made &
  (
    | { readonly status: "ok"; readonly reply: string }
    | { readonly status: "yielded" }
    | { readonly status: "aborted" }
    | { readonly status: "error"; readonly error: string }
  );

/** The host's agent loop. Never rejects; an aborted signal ends it within a second; stops when a tool answers `ends`. */
export interface AgentRunner {
  run(request: RunRequest, signal: AbortSignal): Promise<RunOutcome>;
  /** Models that sessions may be switched to; absent = any. */
  readonly models?: readonly string[];
  /** The runner confines a request whose `sandboxed` is true. */
  readonly supportsSandbox?: boolean;
}
