import type { TaskView } from "../children/task-view.ts";
import type { Config } from "../config.ts";
import type { SendCheck } from "../delivery/send-check.ts";
import type { Undelivered } from "../delivery/undelivered.ts";
import { given } from "../given.ts";
import type { Address } from "../ports/chat.ts";
import type { Child } from "../ports/child.ts";
import type { RunQueue } from "../ports/engine.ts";
import type { Clock } from "../ports/host.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Storage } from "../ports/storage.ts";
import type { Redactor } from "../transcript/redact.ts";
import { type StatusFacts, statusFacts } from "./status.ts";

/** Rows in which counters are looked for that the newest run did not report. */
const ROWS = 50;

export interface ReadStatusParts {
  readonly config: Config;
  readonly clock: Clock;
  /** Of the host. */
  readonly timeZone: string;
  readonly storage: Storage;
  readonly queue: RunQueue;
  readonly sendCheck: SendCheck;
  readonly redactor: Redactor;
  readonly undelivered: Pick<Undelivered, "inChat">;
  readonly children: { taskOf(key: SessionKey): Promise<Child | undefined> };
  /** The open tasks of a requester, as far as they may be shown. */
  openTasks(
    key: SessionKey,
    look: { readonly mask: Pick<Redactor, "redact">; mayShow(child: SessionKey): Promise<boolean> },
  ): Promise<readonly TaskView[]>;
}

/** Who looks, where that matters. */
export interface StatusLook {
  /** Where the live run of this session answers, or where a person asks. */
  readonly active?: Address;
  /** Which children may be shown; absent: all. */
  readonly mayShow?: (child: SessionKey) => Promise<boolean>;
}

export type ReadStatus = (
  session: Session,
  look?: StatusLook,
) => Promise<{ readonly facts: StatusFacts; readonly redacted: boolean }>;

/** Gathers what is known of a session now. Writes nothing; costs the same however long the transcript is. */
export function createReadStatus(parts: ReadStatusParts): ReadStatus {
  const { config, clock, timeZone, storage, queue, sendCheck, children, undelivered } = parts;
  return async (session, { active, mayShow = everybody } = {}) => {
    const mask = watched(parts.redactor);
    const chat = active ?? session.route;
    const [page, pending, sending, ownTask, tasks, deliveries] = await Promise.all([
      storage.transcripts.page(session.sessionId, { limit: ROWS }),
      queue.pending(session.key),
      sendCheck(session, active),
      children.taskOf(session.key),
      parts.openTasks(session.key, { mask, mayShow }),
      chat === undefined ? {} : undelivered.inChat(chat),
    ]);
    const facts = statusFacts({
      session,
      rows: page.entries,
      pending,
      tasks,
      sending,
      deliveries,
      nowMs: clock.now(),
      timeZone,
      mask: (text) => mask.redact(text).text,
      ...given({
        ownTask,
        active,
        configuredModel: config.agents.list.find(({ id }) => id === session.agentId)?.model,
      }),
    });
    return { facts, redacted: mask.used() };
  };
}

async function everybody(): Promise<boolean> {
  return true;
}

/** Remembers whether it had anything to mask. */
function watched(redactor: Redactor): Pick<Redactor, "redact"> & { used(): boolean } {
  let used = false;
  return {
    used: () => used,
    redact(text) {
      const masked = redactor.redact(text);
      used ||= masked.redacted;
      return masked;
    },
  };
}
