import type { Config } from "../config.ts";
import type { SendCheck } from "../delivery/send-check.ts";
import type { Child } from "../ports/child.ts";
import type { RunQueue } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { RecordWrite, Storage } from "../ports/storage.ts";
import type { KeyNames } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Redactor } from "../transcript/redact.ts";
import { childIdIn } from "./child-id.ts";
import { RESERVED_MS } from "./family.ts";

/** What everything about children is made of. */
export interface ChildParts {
  readonly config: Config;
  readonly names: KeyNames;
  readonly agentIds: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly queue: RunQueue;
  readonly sendCheck: SendCheck;
  readonly redactor: Redactor;
  /** A short sentence for people, where no agent could word one. */
  notice(what: "announceFailed" | "completionFailed", locale: string | undefined): string;
}

/** The task of a spawned session; undefined for any other session, and a day after a task has ended. */
export async function taskOf(
  key: SessionKey,
  { storage }: Pick<ChildParts, "storage">,
): Promise<Child | undefined> {
  const id = childIdIn(key);
  return id === undefined ? undefined : storage.records("child").get(id);
}

/** A change of the record as it stands when it is written; a record that is gone stays gone. */
export function childWrite(id: string, change: (current: Child) => Child): RecordWrite {
  return {
    type: "record",
    table: "child",
    key: id,
    change: (current) => (current === undefined ? undefined : change(current)),
  };
}

/** Open tasks that this session waits for; not those whose spawn a store kept half of. */
export async function openBelow(
  key: SessionKey,
  { storage, queue, clock }: Pick<ChildParts, "storage" | "queue" | "clock">,
): Promise<readonly string[]> {
  const open = (await storage.records("family").get(key))?.open ?? [];
  const children = await storage.records("child").getMany(open.map(({ id }) => id));
  const isReal = await Promise.all(
    open.map(async ({ sinceMs, reserved }, at) => {
      const child = children[at];
      if (reserved === true) return false;
      return child === undefined ? clock.now() - sinceMs < RESERVED_MS : !(await neverCame(child, { queue }));
    }),
  );
  return open.flatMap(({ id }, at) => (isReal[at] === true ? [id] : []));
}

/** How many tasks this session has still to hear of: those at work, and ended ones whose news waits. `telling`: those that it is being told of. */
export async function untoldBelow(
  key: SessionKey,
  telling: readonly string[],
  parts: Pick<ChildParts, "storage" | "queue" | "clock">,
): Promise<number> {
  const { untold = [] } = (await parts.storage.records("family").get(key)) ?? {};
  const atWork = await openBelow(key, parts);
  const ended = await parts.storage.records("child").getMany(untold.filter((id) => !telling.includes(id)));
  // A store without transactions may have kept the telling alone.
  return atWork.length + ended.filter((child) => child !== undefined && child.told === undefined).length;
}

/** Whether nothing will come of this task any more. */
export async function isOver(child: Child, parts: Pick<ChildParts, "queue">): Promise<boolean> {
  return child.outcome !== undefined || (await neverCame(child, parts));
}

/** A store without transactions may have kept a task whose run was never accepted, as the process ended in between. */
export async function neverCame(child: Child, { queue }: Pick<ChildParts, "queue">): Promise<boolean> {
  if (child.outcome !== undefined || child.startedAtMs !== undefined) return false;
  return (await queue.get(child.runId)) === undefined;
}

/** Who is to be told: the requester, or, where its session was deleted, whoever spawned that one. */
export async function listenerOf(
  child: Child,
  { sessions, storage }: Pick<ChildParts, "sessions" | "storage">,
): Promise<{ readonly session: Session; readonly below: Child } | undefined> {
  let below: Child | undefined = child;
  while (below !== undefined) {
    const session = await sessions.get(below.requester);
    if (session !== undefined) return { session, below };
    below = await taskOf(below.requester, { storage });
  }
  return undefined;
}
