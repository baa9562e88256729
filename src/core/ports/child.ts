import type { Address } from "./chat.ts";
import type { SessionKey, SpentHour, Usage } from "./session.ts";

/**
 * Who hears what came of a child. channel: its announce step is posted in the requester's chat. requester: its agent is woken and says it in its own
 * words. none: it only stands in the requester's transcript. auto: the requester where it waits, is a child itself or has no chat, else the channel.
 */
export type Audience = "auto" | "channel" | "requester" | "none";

/** What executes a child: one of the board's agents, or a harness of another program that speaks ACP. */
export type ChildRuntime = "subagent" | "acp";

/** How a task ended, by the runtime's own knowledge and never by what a model wrote. */
export interface ChildOutcome {
  readonly status: "ok" | "error" | "timeout" | "killed";
  /** Why there is no result, or not a whole one. */
  readonly error?: string;
}

/** What became of the post in the requester's chat. */
export interface ChildPost {
  readonly state:
    | "pending"
    | "delivered"
    | "suppressed"
    | "failed"
    | "uncertain"
    | "silent"
    | "no_chat"
    | "none";
  readonly deliveryId?: string;
  readonly reason?: string;
}

/** One task that was given to a child session: its durable state from the spawn until everybody has been told. Times are Unix ms. */
export interface Child {
  /** The UUID in the child's session key; derived from `runId`. */
  readonly id: string;
  /** The task's first run. */
  readonly runId: string;
  readonly key: SessionKey;
  readonly requester: SessionKey;
  readonly task: string;
  readonly label?: string;
  readonly runtime: ChildRuntime;
  readonly depth: number;
  /** Among the children of its requester, in the order of their spawns, from 1. */
  readonly number: number;
  readonly audience: Audience;
  readonly cleanup: "delete" | "keep";
  /** Sessions that the originating message had visited before the requester, oldest first. */
  readonly chain: readonly SessionKey[];
  /** The requester's chat, frozen at spawn as far as it was known. */
  readonly origin?: Partial<Address>;
  /** The origin is a direct chat with an owner. */
  readonly ownerChat?: true;
  /** The thread that belongs to this child; it takes the place of the origin. */
  readonly thread?: Address;
  readonly locale?: string;
  readonly spawnedAtMs: number;
  /** Longest time from the start of the task to its end; 0 = no limit. */
  readonly timeoutSeconds: number;

  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** Absent: the task is open: queued, running, or waiting for its own children. */
  readonly outcome?: ChildOutcome;
  /** What the child said last, frozen when the task ended; at most 100,000 characters. */
  readonly result?: string;
  /** Of all runs of the task. */
  readonly usage?: Usage;
  readonly stoppedBy?: "owner" | "requester";
  /** The requester knows: its transcript holds the event. "failed": its turn about it could not be held. "nobody": it is gone. */
  readonly told?: "turn" | "row" | "failed" | "nobody";
  readonly post?: ChildPost;
  /** Its session was archived or deleted, or is never archived: nothing is left to do. */
  readonly cleared?: true;
}

/** An open task, or one that is being prepared. */
export interface Place {
  readonly id: string;
  readonly sinceMs: number;
  /** From 1, in the order of the spawns; it stays with the task. */
  readonly number: number;
  readonly reserved?: true;
}

/** The children of one requester, and under "*" of all: what the limits of spawning are checked against. */
export interface Family {
  /** Ids of open tasks, and places taken for tasks that are being prepared. */
  readonly open: readonly Place[];
  /** How many places were ever given: the number of the last one. */
  readonly spawned: number;
  /** Ids of ended tasks whose requester has still to be told, in the order of their ends. */
  readonly untold: readonly string[];
  /** Ids of ended tasks, newest first, at most 100. */
  readonly recent: readonly string[];
  /** Spawns. */
  readonly hour: SpentHour;
}
