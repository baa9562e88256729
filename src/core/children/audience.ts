import type { Child } from "../ports/child.ts";
import type { Session } from "../ports/session.ts";
import { completeOrigin } from "./origin.ts";

/**
 * How the end of a task is told. turn: the requester's agent is asked. announce: the child says it in the chat. both: the agent is asked, and what it
 * answers is not posted. row: it only stands in the requester's transcript, as it does in every case.
 */
export type Telling = "turn" | "announce" | "both" | "row";

/** The requester as it is when its lane comes to the news. */
export interface RequesterNow {
  readonly session: Session;
  /** Its own task, where it is a child itself. */
  readonly task?: Child;
}

/**
 * Decision of how a task's end is told. Whoever waits is woken, whatever else was asked for, or it would wait for ever; a requester whose own task ended
 * badly is not, as nobody waits for what it would say. One that has done its task is a session like any other.
 */
export function tellingFor(child: Child, requester: RequesterNow): Telling {
  const { audience, origin, stoppedBy, thread } = child;
  const waits = isWaiting(requester);
  if (!waits && (hasEndedBadly(requester) || stoppedBy === "owner")) return "row";
  const hasChat = completeOrigin(origin, requester.session.route) !== undefined;
  if (waits || audience === "requester" || (audience === "auto" && !hasChat)) {
    return speaksItself(child) ? "both" : "turn";
  }
  // A child with a thread of its own has said it there.
  return thread === undefined && audience !== "none" ? "announce" : "row";
}

function isWaiting({ session, task }: RequesterNow): boolean {
  return session.yielded === true || (task !== undefined && task.outcome === undefined);
}

function hasEndedBadly({ task }: RequesterNow): boolean {
  return task?.outcome !== undefined && task.outcome.status !== "ok";
}

/** The chat hears the child's own words, also when its requester is woken. */
export function speaksItself({ audience, thread, stoppedBy }: Child): boolean {
  return audience === "channel" && thread === undefined && stoppedBy !== "owner";
}

/** Whether the answer of a woken requester is posted: where the child's own words are, or none are wanted, it is not. */
export function requesterSpeaks({ audience }: Child): boolean {
  return audience === "auto" || audience === "requester";
}
