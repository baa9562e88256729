import { type Config, channelConfig } from "../config.ts";
import { given } from "../given.ts";
import { ASKED_UNITS } from "../limits.ts";
import type { Address } from "../ports/chat.ts";
import type { RunRecord } from "../ports/engine.ts";
import { inboundBlocks } from "../transcript/prompt.ts";
import { type Batch, isChatMessage, type Job, type Said, toJob } from "./job.ts";

/** Messages that one turn answers at most. */
const MOST_MESSAGES = 20;
/** Whoever goes on writing is answered after so many times `debounceMs`. */
const MOST_WAITS = 5;

/** What makes one turn of several messages. */
export interface BatchRules {
  /** Messages of one person that follow each other so closely; 0 = none. */
  readonly debounceMs: number;
  /** Messages of a chat that wait together, whoever wrote them and however long ago. */
  readonly anyWaiting: boolean;
}

/** What is to become of a message whose turn it is. "join": it is answered with the next one. */
export type BatchStep = "answer" | "join" | { readonly waitUntilMs: number };

/** Undefined: every message has a turn of its own. */
export function batchRules({ replyTo }: Job, config: Config): BatchRules | undefined {
  const { queue } = config.agents.defaults;
  const anyWaiting = queue !== "followup";
  // With "interrupt" the next message ends the turn of this one anyway, so nothing is gained by waiting for it.
  const debounceMs = queue === "interrupt" ? 0 : channelConfig(config, replyTo?.channel ?? "").debounceMs;
  return anyWaiting || debounceMs > 0 ? { debounceMs, anyWaiting } : undefined;
}

export function mayBatch(run: Pick<RunRecord, "kind" | "payload">): boolean {
  return isChatMessage(run) && toJob(run.payload).alone !== true;
}

/** `next`: what comes behind this message in its lane; nothing that comes there waits for it. */
export function batchStep(
  own: RunRecord,
  next: RunRecord | undefined,
  rules: BatchRules,
  nowMs: number,
): BatchStep {
  if (next !== undefined) return isOneTurn(own, next, rules) ? "join" : "answer";
  const { enqueuedAtMs } = own;
  // What somebody attaches is what the words before it were about. A clock that was set back does not say how long anybody has waited.
  if (hasAttachments(toJob(own.payload)) || nowMs < enqueuedAtMs) return "answer";
  const { debounceMs } = rules;
  const waitUntilMs = Math.min(enqueuedAtMs + debounceMs, sinceMs(own) + MOST_WAITS * debounceMs);
  return waitUntilMs > nowMs ? { waitUntilMs } : "answer";
}

/** The batch of the message that this one joins. */
export function batchWith(own: RunRecord): Batch {
  const { batch, text, atMs, provenance, sender, attachments, quoted } = toJob(own.payload);
  const message = { runId: own.id, text, atMs, provenance, ...given({ sender, attachments, quoted }) };
  return { sinceMs: sinceMs(own), messages: [...(batch?.messages ?? []), message] };
}

/** One chat and thread. */
export function isSamePlace(one: Address | undefined, other: Address | undefined): boolean {
  const parts = ["channel", "accountId", "chatId", "threadId"] as const;
  return parts.every((part) => one?.[part] === other?.[part]);
}

function isOneTurn(own: RunRecord, next: RunRecord, { debounceMs, anyWaiting }: BatchRules): boolean {
  const [job, later] = [toJob(own.payload), toJob(next.payload)];
  // Nobody's words are answered with the rights of an owner because an owner wrote next.
  const isOfOne = isSamePlace(job.replyTo, later.replyTo) && job.byOwner === later.byOwner;
  if (!mayBatch(next) || !isOfOne) return false;
  const { messages } = batchWith(own);
  const units = [...messages, later].reduce((sum, said) => sum + unitsOf(said), 0);
  if (messages.length >= MOST_MESSAGES || units > ASKED_UNITS) return false;
  const isClose =
    next.enqueuedAtMs - own.enqueuedAtMs < debounceMs &&
    next.enqueuedAtMs - sinceMs(own) < MOST_WAITS * debounceMs;
  return anyWaiting || (isClose && !hasAttachments(job) && job.sender?.id === later.sender?.id);
}

function sinceMs({ payload, enqueuedAtMs }: RunRecord): number {
  return Math.min(toJob(payload).batch?.sinceMs ?? enqueuedAtMs, enqueuedAtMs);
}

function hasAttachments({ attachments = [] }: Job): boolean {
  return attachments.length > 0;
}

function unitsOf(said: Said): number {
  return inboundBlocks(said).reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);
}
