import { createHash } from "node:crypto";
import type { Address } from "../ports/chat.ts";
import type { SessionKey } from "../ports/session.ts";

/** Ids are derived, never drawn, so that doing the same thing twice names the same run. Parts are escaped: no two tuples share an id. */
export function joined(prefix: string, parts: readonly string[]): string {
  // Half of a surrogate pair has no escape.
  const whole = parts.map((part) => part.replace(/\p{Surrogate}/gu, "\uFFFD"));
  return [prefix, ...whole.map(encodeURIComponent)].join(":");
}

/** One inbound message: dedupe, acceptance and idempotency are the one write of this id. */
export function inboundRunId(from: Address, messageId: string): string {
  return joined("in", [from.channel, from.accountId, from.chatId, from.threadId ?? "", messageId]);
}

/** The same where several accounts hear one message under one id: it is one message for an agent, whichever account hears it first. */
export function sharedRunId(from: Address, messageId: string, agentId: string): string {
  return joined("heard", [from.channel, agentId, from.chatId, from.threadId ?? "", messageId]);
}

/** One sessions_send: `scope` is the run, or the mounting of the tools by the host, within which the call id names one call. */
export function sendRunId(scope: string, callId: string): string {
  return joined("send", [scope, callId]);
}

/** The sends of one session to another under one idempotency key, which may be anything and is not to be read in the id. */
export function keyedSendRunId(requester: SessionKey, target: SessionKey, idempotencyKey: string): string {
  const digest = createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 32);
  return joined("send", [requester, target, digest]);
}

/** The first run of the task of this child. */
export function spawnRunId(childId: string): string {
  return `spawn:${childId}`;
}

/** A later step of a task. `mark` tells steps of one name apart: attempts, or times. */
export function childRunId(runId: string, step: string, mark?: number): string {
  return mark === undefined ? `${runId}#${step}` : `${runId}#${step}:${mark}`;
}

/** The child whose task a run is a step of; undefined for all other runs. */
export function childIdOfRun(runId: string): string | undefined {
  return /^spawn:([0-9a-f-]{36})/.exec(runId)?.[1];
}

export function gatewayRunId(method: string, key: SessionKey, idempotencyKey: string): string {
  return joined("call", [method, key, idempotencyKey]);
}

/** Turn n ≥ 1 of an exchange, or its announce step. */
export function exchangeRunId(exchangeId: string, step: number | "announce"): string {
  return `${exchangeId}#${step}`;
}

/** The turn of this run of an exchange once more; each has an id of its own. */
export function nextRoundId(runId: string, exchangeId: string, turn: number): string {
  return `${exchangeRunId(exchangeId, turn)}:${roundOf(runId) + 1}`;
}

/** How often a turn of an exchange was put off before this run of it. */
export function roundOf(runId: string): number {
  return Number(/#\d+:(\d+)$/.exec(runId)?.[1] ?? 0);
}

/** The exchange that a run is a step of; undefined for all other runs. */
export function exchangeIdOf(runId: string): string | undefined {
  return /^(send:[^#>]+)(?:#(?:\d+(?::\d+)?|announce))?$/.exec(runId)?.[1];
}

/** The delivery of what a run said. */
export function deliveryId(runId: string, what: "reply" | "notice" | "announce"): string {
  return `${runId}>${what}`;
}

/** A row that is written into a session without asking its agent. */
export function noteRunId(runId: string): string {
  return `${runId}>note`;
}

/** Deliveries are serial per chat, not per thread: platforms order and limit by chat. */
export function deliveryLane(to: Address): { readonly lane: string; readonly pool: string } {
  const pool = deliveryPool(to.channel, to.accountId);
  return { pool, lane: joined(pool, [to.chatId]) };
}

/** What the lanes of all deliveries begin with, and no other ones. */
export const DELIVERIES = "out:";

export function deliveryPool(channel: string, accountId: string): string {
  return joined("out", [channel, accountId]);
}

/** The pool of a lane of deliveries, which is named after it. */
export function poolOfLane(lane: string): string {
  return lane.slice(0, lane.lastIndexOf(":"));
}
