import { deliveryRun } from "../delivery/parcel.ts";
import { given } from "../given.ts";
import type { Child, ChildOutcome, Family } from "../ports/child.ts";
import type { SessionKey, Usage } from "../ports/session.ts";
import type { RecordWrite } from "../ports/storage.ts";
import { type Ending, errorOf } from "../runs/ending.ts";
import { type Aftermath, type EndedStep, NOTHING } from "../runs/executor-parts.ts";
import { deliveryId } from "../runs/run-id.ts";
import { cutText } from "../transcript/limits.ts";
import { announcement } from "./announcement.ts";
import { requesterSpeaks } from "./audience.ts";
import { completionRun, upkeepRun } from "./child-runs.ts";
import { EVERYBODY, withEnded, withoutOpen } from "./family.ts";
import { completeOrigin } from "./origin.ts";
import { type ChildParts, childWrite, listenerOf, openBelow, taskOf, untoldBelow } from "./parts.ts";
import { summed } from "./stats-line.ts";

const LONGEST_RESULT = 100_000;

/** The end of a task that somebody stopped while no run of it was under way. */
export const STOPPED: ChildOutcome = { status: "killed", error: "stopped" };

/** The limit is the whole task's, whichever of its runs met it. */
export function timeUp({ timeoutSeconds }: Child): ChildOutcome {
  return { status: "timeout", error: `timed out after ${timeoutSeconds} s` };
}

export interface TaskEnd {
  readonly outcome: ChildOutcome;
  readonly result?: string;
  readonly usage?: Usage;
  readonly startedAtMs?: number;
}

/**
 * After a run of the task itself: its end, unless the child waits. A child that yields, or that has said something while its own children are at
 * work, is open until the last of them has been told to it.
 */
export async function afterTaskRun(child: Child, ended: EndedStep, parts: ChildParts): Promise<Aftermath> {
  if (child.outcome !== undefined) return { writes: [], effects: [] };
  const { ending, telling } = ended;
  const soFar = given({
    usage: summed(child.usage, ended.usage),
    startedAtMs: child.startedAtMs ?? ended.startedAtMs,
    // Whoever ends with silence has no result; what it said on the way was none.
    result: ending.kind === "ok" ? resultOf(ending) : child.result,
  });
  const wentWell = ending.kind === "ok" || ending.kind === "yielded";
  if (wentWell && (await untoldBelow(child.key, telling, parts)) > 0) {
    return {
      writes: [childWrite(child.id, (current) => ({ ...current, ...soFar }))],
      effects: deadline({ ...child, ...soFar }, parts),
    };
  }
  return endOfTask(child, { outcome: outcomeOf(ending, child), ...soFar }, parts);
}

/** The task is over: recorded, its place given back, and its requester about to be told. The first end is the one that counts. */
export async function endOfTask(child: Child, end: TaskEnd, parts: ChildParts): Promise<Aftermath> {
  const { clock, sessions, events } = parts;
  const nowMs = clock.now();
  const ended: Child = { ...withoutResult(child), ...end, endedAtMs: nowMs };
  const listener = await listenerOf(child, parts);
  const requester = (await sessions.get(child.requester))?.key ?? child.requester;
  const below = end.outcome.status === "ok" ? [] : await deserted(child, parts);
  const orphaned = await endOfOrphaned(child, parts);
  if (child.outcome === undefined) {
    events.emit("child.ended", { childId: child.id, sessionKey: child.key, status: end.outcome.status });
  }
  const forgotten =
    listener === undefined ? { told: "nobody" as const, post: { state: "no_chat" as const } } : {};
  const told =
    listener === undefined
      ? [upkeepRun(child, "cleanup", { nowMs, mark: 1 })]
      : [
          completionRun(ended, listener.session.key, {
            nowMs,
            ...given({ replyTo: placeOfAnswer(child, listener) }),
          }),
        ];
  return {
    writes: [
      childWrite(child.id, (current) =>
        current.outcome === undefined
          ? { ...withoutResult(current), ...end, endedAtMs: nowMs, ...forgotten }
          : current,
      ),
      familyWrite(requester, (family) => withEnded(family, child.id)),
      ...(end.outcome.status === "ok" ? [] : [awake(child.key)]),
      familyWrite(EVERYBODY, (family) => withoutOpen(family, child.id)),
      ...orphaned.writes,
    ],
    effects: [
      ...told,
      ...(below.length === 0 ? [] : [upkeepRun(child, "cascade", { nowMs, mark: 2, aside: true })]),
      ...threadPost(ended, nowMs),
      ...orphaned.effects,
    ],
  };
}

/** This end, unless there was one; then what follows that once more, as a store without transactions may have kept the end alone. */
export async function endOnce(child: Child, outcome: ChildOutcome, parts: ChildParts): Promise<Aftermath> {
  return child.told === undefined
    ? endOfTask(child, { outcome: child.outcome ?? outcome, ...given({ result: child.result }) }, parts)
    : NOTHING;
}

/** Open tasks that nobody waits for any more. Those of a session that was deleted go on: whoever spawned that one hears of them. */
async function deserted({ key }: Child, parts: ChildParts): Promise<readonly string[]> {
  return (await parts.sessions.get(key)) === undefined ? [] : openBelow(key, parts);
}

/** A requester whose session was deleted while it waited says nothing any more: its own task ends with that of its child. */
async function endOfOrphaned({ requester }: Child, parts: ChildParts): Promise<Aftermath> {
  if ((await parts.sessions.get(requester)) !== undefined) return NOTHING;
  const task = await taskOf(requester, parts);
  if (task === undefined || task.outcome !== undefined) return NOTHING;
  const outcome = { status: "error" as const, error: "its session was deleted" };
  return endOfTask(task, { outcome }, parts);
}

function withoutResult({ result: _former, ...child }: Child): Child {
  return child;
}

/** A task that ended badly waits for nothing any more. */
function awake(key: SessionKey): RecordWrite {
  return {
    type: "record",
    table: "session",
    key,
    change: (current) => {
      if (current === undefined) return undefined;
      const { yielded: _waited, ...rest } = current;
      return rest;
    },
  };
}

/** Where the requester's answer to the news goes, if it is to be posted at all. */
export function placeOfAnswer(
  child: Child,
  { session, below }: NonNullable<Awaited<ReturnType<typeof listenerOf>>>,
) {
  return requesterSpeaks(child) ? completeOrigin(below.origin, session.route) : undefined;
}

export function familyWrite(
  key: string,
  change: (current: Family | undefined) => Family | undefined,
): RecordWrite {
  return { type: "record", table: "family", key, change };
}

function outcomeOf(ending: Ending, child: Child): ChildOutcome {
  const error = errorOf(ending);
  switch (ending.kind) {
    case "ok":
    case "yielded":
      return { status: "ok" };
    case "timeout":
      return timeUp(child);
    case "killed":
      return given({ status: "killed" as const, error });
    case "failed":
    case "interrupted":
      return given({ status: "error" as const, error });
    default:
      return ending satisfies never;
  }
}

function resultOf(ending: Ending): string | undefined {
  if (ending.kind !== "ok" || ending.spoken.kind === "silent") return undefined;
  return cutText(ending.spoken.text, LONGEST_RESULT).text;
}

/** What is left of the time that a whole task has, in ms; 0 = no limit. A clock that was set back makes it no longer than it was at the beginning. */
export function timeLeftMs({ timeoutSeconds, startedAtMs, spawnedAtMs }: Child, nowMs: number): number {
  if (timeoutSeconds === 0) return 0;
  const wholeMs = timeoutSeconds * 1000;
  return Math.min(wholeMs, Math.max(1, (startedAtMs ?? spawnedAtMs) + wholeMs - nowMs));
}

/** While nobody runs, only a run of its own can notice that the time is up. */
function deadline(child: Child, { clock }: ChildParts) {
  const nowMs = clock.now();
  const leftMs = timeLeftMs(child, nowMs);
  return leftMs === 0 ? [] : [upkeepRun(child, "deadline", { nowMs, dueMs: nowMs + leftMs, aside: true })];
}

/** What a child with a thread could not say itself is said there for it. */
function threadPost(child: Child, createdAtMs: number) {
  const { thread, outcome, key } = child;
  if (thread === undefined || outcome === undefined || outcome.status === "ok") return [];
  const markdown = announcement({ outcome, stats: "" });
  const parcel = { sessionKey: key, to: thread, kind: "announce" as const, markdown, createdAtMs };
  return [deliveryRun(deliveryId(child.runId, "announce"), parcel)];
}
