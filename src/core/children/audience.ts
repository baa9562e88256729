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
 * Decision of how a task's end is told. Whoever waits is woken, whatever else was asked for, or it would wait for ever; a requester whose own task is
 * over is not, as nobody waits for what it would say.
 */
export function tellingFor(child: Child, { session, task }: RequesterNow): Telling {
  const { audience, origin, stoppedBy } = child;
  const isWaiting = session.yielded === true || session.spawnedBy !== undefined;
  if (task?.outcome !== undefined || (stoppedBy === "owner" && !isWaiting)) return "row";
  const hasChat = completeOrigin(origin, session.route) !== undefined;
  const wakes = isWaiting || audience === "requester" || (audience === "auto" && !hasChat);
  if (wakes) return speaksItself(child) ? "both" : "turn";
  // A child with a thread of its own has said it there.
  const announces = child.thread === undefined && (audience === "channel" || audience === "auto");
  return announces ? "announce" : "row";
}

/** The chat hears the child's own words, also when its requester is woken. */
export function speaksItself({ audience, thread, stoppedBy }: Child): boolean {
  return audience === "channel" && thread === undefined && stoppedBy !== "owner";
}

/** Whether the answer of a woken requester is posted: where the child's own words are, or none are wanted, it is not. */
export function requesterSpeaks({ audience }: Child): boolean {
  return audience === "auto" || audience === "requester";
}
