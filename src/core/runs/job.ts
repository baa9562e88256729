import type { Address, Attachment, QuotedText, Sender } from "../ports/chat.ts";
import type { NewRun } from "../ports/engine.ts";
import type { Json } from "../ports/host.ts";
import type { Provenance, RunTrigger } from "../ports/run.ts";
import type { SessionKey } from "../ports/session.ts";
import { partsOf } from "../session/key.ts";

/** Kinds of runs in the pools of the agents. */
export type JobKind = "agent" | "exchange" | "child" | "note";

/** What is only written down. */
export const NOTE: JobKind = "note";

/** The pool that executes agents. */
export const AGENT_POOL = "agents";
/** The pool of spawned sessions: however many there are, people are answered. */
export const CHILD_POOL = "children";
/** The pool of what looks after children without asking an agent: it waits for none of them. */
export const UPKEEP_POOL = "upkeep";

/** What a run does for a task that was given to a child. */
export interface ChildStep {
  readonly id: string;
  /**
   * In the child's session: task (its first run), announce, and what needs no agent: deadline, cascade, cleanup, archive. In the requester's session:
   * completion.
   */
  readonly step: "task" | "completion" | "announce" | "deadline" | "cascade" | "cleanup" | "archive";
  /** From 1; absent = 1. */
  readonly attempt?: number;
}

/** What somebody said, as a row of the transcript holds it. */
export type Said = Pick<Job, "text" | "atMs" | "provenance" | "sender" | "attachments" | "quoted">;

/** Earlier messages that a message is answered with. */
export interface Batch {
  /** When the first of them came. */
  readonly sinceMs: number;
  /** Oldest first, each with the run that it came as. */
  readonly messages: readonly (Said & { readonly runId: string })[];
}

/** What is queued for a session: everything that its execution needs and that must survive a restart. */
export interface Job {
  readonly sessionKey: SessionKey;
  readonly trigger: RunTrigger;
  /** Exactly what was said; envelopes are added when the prompt is made. */
  readonly text: string;
  readonly atMs: number;
  readonly provenance: Provenance;
  /** Sessions that the originating message visited, oldest first, without this one. */
  readonly chain: readonly SessionKey[];
  readonly sender?: Sender;
  readonly attachments?: readonly Attachment[];
  readonly quoted?: QuotedText;
  /** Where the reply goes, frozen when the run was accepted. Absent: nothing leaves. */
  readonly replyTo?: Address;
  readonly replyToId?: string;
  readonly locale?: string;
  /** Said in a room, and not meant for the bot. */
  readonly overheard?: true;
  readonly batch?: Batch;
  /** It has only waited for messages behind it: a worker that dies before this is taken off has done nothing with it. */
  readonly held?: true;
  /** A message that is answered at once, and with no other one. */
  readonly alone?: true;
  /** The exchange that this run is a step of: 0 = the target's first answer. */
  readonly exchangeId?: string;
  readonly step?: number | "announce";
  readonly child?: ChildStep;
  /** An owner's message began this run. */
  readonly byOwner?: true;
  readonly model?: string;
  readonly thinking?: string;
  readonly timeoutSeconds?: number;
}

/** What a settled agent run leaves for those who wait for it. */
export interface JobResult {
  /** batched: a message that is answered with the one behind it. */
  readonly status: "ok" | "yielded" | "batched";
  readonly reply?: string;
  /** The run that carries the reply out, when something is to leave. */
  readonly deliveryId?: string;
}

// Jobs and results are plain data by construction; the queue's Json type cannot express optional members of named types.
export function toPayload(job: Job): Json {
  return job as unknown as Json;
}

// Payloads are written by `toPayload` only.
export function toJob(payload: Json): Job {
  return payload as unknown as Job;
}

const ASKING: readonly ChildStep["step"][] = ["task", "completion", "announce"];

/** Whether the agent is asked in this run; the others only write something down or keep things in order. */
export function asksAgent({ kind, payload }: Pick<NewRun, "kind" | "payload">): boolean {
  const { child } = toJob(payload);
  if (child === undefined) return kind !== "note";
  return ASKING.includes(child.step);
}

/** Whether somebody in a chat asks the agent; not another session, a child or the host program. */
export function isChatMessage({ kind, payload }: Pick<NewRun, "kind" | "payload">): boolean {
  const { trigger, exchangeId, child } = toJob(payload);
  return kind === "agent" && trigger === "user" && exchangeId === undefined && child === undefined;
}

export function resultOf(result: Json | undefined): JobResult | undefined {
  // Results of agent runs are written by the run executor only.
  return result as unknown as JobResult | undefined;
}

/** The queue entry of a job: its lane is the session, so runs of one session are serial and in order. */
export function jobRun(id: string, kind: JobKind, job: Job, notBeforeMs?: number): NewRun {
  const run = { id, lane: job.sessionKey, pool: poolOf(job), kind, payload: toPayload(job) };
  return notBeforeMs === undefined ? run : { ...run, notBeforeMs };
}

function poolOf({ child, sessionKey }: Job): string {
  if (child !== undefined && !ASKING.includes(child.step)) return UPKEEP_POOL;
  return partsOf(sessionKey).family === "subagent" ? CHILD_POOL : AGENT_POOL;
}
