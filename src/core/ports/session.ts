import type { Address, ChatType } from "./chat.ts";

declare const sessionKey: unique symbol;
/** A canonical key, made only by `core/session/key.ts`. */
export type SessionKey = string & { readonly [sessionKey]: true };

export type SessionKind = "main" | "group" | "cron" | "hook" | "node" | "other";

export type SendOverride = "allow" | "deny";

export type RunStatus = "running" | "done" | "failed" | "killed" | "timeout";

export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Size of the model's window, when the runner knows it. */
  readonly contextTokens?: number;
  readonly estimatedCostUsd?: number;
}

/** What was done within the last hour, oldest first: for each minute how often, and when last. */
export type SpentHour = readonly { readonly atMs: number; readonly count: number }[];

/**
 * One context of one agent as it is stored. Unknown values are absent, never 0 or a guess.
 * Times are Unix milliseconds. `sessionId` changes on reset, `key` never does.
 */
export interface Session {
  readonly key: SessionKey;
  readonly agentId: string;
  readonly sessionId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** When this sessionId began (reset). */
  readonly sessionStartedAtMs: number;
  /** Last real inbound message; internal runs never touch it. */
  readonly lastInteractionAtMs?: number;

  readonly channel?: string;
  readonly chatType?: ChatType;
  readonly title?: string;
  readonly guildId?: string;
  readonly label?: string;
  /** Where the session was made. */
  readonly origin?: Address;
  /** Where replies go: changed by real inbound messages only. */
  readonly route?: Address;

  readonly sendPolicy?: SendOverride;
  /** Replies that the send policy has kept from leaving, since somebody last allowed sending or a day without any. `lastId`: the newest delivery of them. */
  readonly withheld?: {
    readonly count: number;
    readonly sinceMs: number;
    readonly lastMs: number;
    readonly lastId: string;
  };
  readonly modelOverride?: string;
  readonly thinkingLevel?: string;
  readonly verboseLevel?: string;

  /** Model and counters of the newest run that reported them. */
  readonly model?: string;
  readonly usage?: Usage;
  readonly systemSent?: boolean;
  readonly abortedLastRun?: boolean;
  /** Turns in a row that people ended before their answer. */
  readonly unanswered?: number;
  /** The last run ended with sessions_yield: the session waits for an event. */
  readonly yielded?: true;
  readonly status?: RunStatus;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;

  /** Messages that its agent sent to other sessions. */
  readonly sends?: SpentHour;

  readonly spawnedBy?: SessionKey;
  readonly spawnDepth?: number;
  /** What executes a spawned session; absent = its agent. */
  readonly runtime?: "acp";
  readonly sandboxed?: boolean;

  readonly archivedAtMs?: number;
  readonly pinnedAtMs?: number;
}
