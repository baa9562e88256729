import type { Child } from "../ports/child.ts";
import type { Session } from "../ports/session.ts";

/** How the end of a task is told. row: it only stands in the requester's transcript. */
export type Telling = "turn" | "announce" | "row";

/** The requester as it is when its lane comes to the news. */
export interface RequesterNow {
  readonly session: Session;
  /** Its own task, where it is a child itself. */
  readonly task?: Child;
}

/** Decision of how a task's end is told, and to whom. A requester whose own task is over is not woken: nobody waits for what it would say. */
export function tellingFor(child: Child, { session, task }: RequesterNow): Telling {
  if (child.stoppedBy === "owner" || task?.outcome !== undefined) return "row";
  switch (child.audience) {
    case "none":
      return "row";
    case "requester":
      return "turn";
    case "channel":
      return posted(child);
    case "auto":
      return waits(session, child) ? "turn" : posted(child);
    default:
      return child.audience satisfies never;
  }
}

function waits(session: Session, { origin }: Child): boolean {
  const hasChat = origin !== undefined || session.route !== undefined;
  return session.yielded === true || session.spawnedBy !== undefined || !hasChat;
}

/** A child with a thread of its own has said it there. */
function posted({ thread }: Child): Telling {
  return thread === undefined ? "announce" : "row";
}
