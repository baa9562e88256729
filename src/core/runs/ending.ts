import { INTERRUPTED } from "../announce/wording.ts";
import type { Spoken } from "../delivery/spoken.ts";
import { given } from "../given.ts";
import { SAID_UNITS } from "../limits.ts";
import type { NewEntry, RunOutcome } from "../ports/run.ts";
import type { RunStatus, Session, Usage } from "../ports/session.ts";
import { shortReason } from "../text/short-line.ts";
import { cutText } from "../transcript/limits.ts";

/** How a run ended, whoever ended it. The first terminal cause wins; text never changes it. */
export type Ending =
  | { readonly kind: "ok"; readonly spoken: Spoken; readonly written: string }
  | { readonly kind: "yielded" }
  | { readonly kind: "failed"; readonly error: string }
  | { readonly kind: "timeout"; readonly error: string }
  | { readonly kind: "killed" }
  | { readonly kind: "interrupted" };

/** What the agent made on the way, as far as it is known. */
export interface Made {
  readonly entries: readonly NewEntry[];
  readonly usage?: Usage;
  readonly model?: string;
}

const STATUS: Readonly<Record<Ending["kind"], RunStatus>> = {
  ok: "done",
  yielded: "done",
  failed: "failed",
  timeout: "timeout",
  killed: "killed",
  interrupted: "failed",
};

/** Why a run has no answer; undefined when it has ended well. */
export function errorOf(ending: Ending): string | undefined {
  switch (ending.kind) {
    case "ok":
    case "yielded":
      return undefined;
    case "failed":
    case "timeout":
      return ending.error;
    case "killed":
      return "stopped";
    case "interrupted":
      return INTERRUPTED;
    default:
      return ending satisfies never;
  }
}

/** The rows that the ending adds to the transcript, after the input and what the agent made. */
export function endingEntries(ending: Ending, made: Made, runId: string, nowMs: number): readonly NewEntry[] {
  if (ending.kind === "ok") {
    if (ending.written.trim() === "") return [];
    return [
      {
        role: "assistant",
        content: [{ type: "text", text: ending.written }],
        atMs: nowMs,
        runId,
        ...(made.model === undefined ? {} : { model: made.model }),
        ...(made.usage === undefined ? {} : { usage: made.usage }),
      },
    ];
  }
  const error = errorOf(ending);
  if (error === undefined) return [];
  return [
    {
      role: "system",
      content: [{ type: "text", text: `This run ended without an answer: ${error.replace(/\.$/, "")}.` }],
      atMs: nowMs,
      runId,
      provenance: { kind: "internal_system" },
    },
  ];
}

/** The session after a run of it. Internal runs touch neither route nor idle time. */
export function afterRun(
  current: Session,
  ran: {
    readonly sessionId: string;
    readonly startedAtMs: number;
    readonly nowMs: number;
    /** A step of an exchange, an announcement, or a turn that will be held again. */
    readonly isAside: boolean;
  },
  ending: Ending,
  made: Made,
): Session {
  const { yielded: waiting, unanswered = 0, ...awake } = current;
  const inARow = ran.isAside ? unanswered : ending.kind === "killed" ? unanswered + 1 : 0;
  const updated = {
    ...awake,
    ...(inARow === 0 ? {} : { unanswered: inARow }),
    updatedAtMs: Math.max(current.updatedAtMs, ran.nowMs),
    // Whoever answers another session in between goes on waiting for what it had yielded for.
    ...(waiting === true && ran.isAside ? { yielded: waiting } : {}),
  };
  if (current.sessionId !== ran.sessionId) return updated;
  return {
    ...updated,
    ...(ending.kind === "yielded" ? { yielded: true as const } : {}),
    systemSent: true,
    status: STATUS[ending.kind],
    startedAtMs: ran.startedAtMs,
    endedAtMs: ran.nowMs,
    abortedLastRun: ending.kind === "interrupted" || ending.kind === "killed" || ending.kind === "timeout",
    ...(made.model === undefined ? {} : { model: made.model }),
    ...given({ usage: made.usage ?? usageUnder(made.model, current) }),
  };
}

/** What an earlier run reported still counts; the size of its window belongs to its model. */
function usageUnder(model: string | undefined, { usage, model: before }: Session): Usage | undefined {
  if (usage === undefined || model === undefined || model === before) return usage;
  const { contextTokens: _window, ...counters } = usage;
  return counters;
}

/**
 * What the runner reported, as an ending. The first terminal cause wins: an answer that comes after our own limit or after a stop does not count.
 * An answer that was ready when the process began to close does.
 */
export function endingOf(
  outcome: RunOutcome,
  cause: { readonly timeoutMs?: number; readonly abort?: unknown },
  { hear, mask }: Words,
): Ending {
  if (cause.timeoutMs !== undefined) {
    return { kind: "timeout", error: `timed out after ${cause.timeoutMs / 1000} s` };
  }
  if (cause.abort === "cancelled") return { kind: "killed" };
  if (outcome.status === "ok") {
    const written = cutText(outcome.reply, SAID_UNITS).text;
    return { kind: "ok", spoken: hear(written), written };
  }
  if (outcome.status === "yielded") return { kind: "yielded" };
  if (cause.abort !== undefined) return { kind: "interrupted" };
  return {
    kind: "failed",
    error:
      outcome.status === "error"
        ? shortReason(outcome.error, mask) || NO_REASON
        : "the agent stopped by itself",
  };
}

const NO_REASON = "the agent gave no reason";

/** What text of an agent has to pass before anybody else gets it. */
export interface Words {
  hear(written: string): Spoken;
  /** Providers repeat credentials in their complaints. */
  mask(text: string): string;
}
