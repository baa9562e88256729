import { given } from "../given.ts";
import type { Child, ChildOutcome, ChildPost } from "../ports/child.ts";
import type { RunRecord } from "../ports/engine.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import { duration } from "../text/duration.ts";
import { shortLine } from "../text/short-line.ts";
import { isOfTask } from "./child-runs.ts";

const LONGEST_LABEL = 48;
const LONGEST_TASK = 72;
const LONGEST_REASON = 200;

/** queued: a run of it waits for its turn. waiting: nobody runs until one of its own children has ended. */
export type TaskState = "queued" | "running" | "waiting" | "done" | "failed" | "timeout" | "stopped";

/** One task as its requester and the owners see it. Texts are one clean, masked line, unknown values absent, times Unix ms. */
export interface TaskView {
  /** Among the tasks of its requester, from 1: open ones in the order of their spawn, then ended ones, newest first. */
  readonly index: number;
  readonly runId: string;
  readonly sessionKey: SessionKey;
  readonly label?: string;
  readonly task: string;
  readonly status: TaskState;
  /** Its own children that it waits for. */
  readonly waitsFor?: number;
  /** Open tasks below it, at any depth. */
  readonly pendingDescendants: number;
  /** 1 = spawned by a session that was not spawned itself. */
  readonly depth: number;
  /** `3m12s`, since it began. */
  readonly runtime?: string;
  readonly runtimeMs?: number;
  readonly model?: string;
  readonly totalTokens?: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Why there is no result. */
  readonly error?: string;
  /** How its requester was told of the end; absent until it was. */
  readonly told?: NonNullable<Child["told"]>;
  /** What became of the post in the requester's chat; "none": there was to be none. */
  readonly post?: ChildPost["state"];
  readonly postReason?: string;
}

/** What a task is at this moment. */
export interface TaskNow {
  readonly child: Child;
  readonly index: number;
  /** Runs that wait or are under way in the child's lane. */
  readonly pending: readonly RunRecord[];
  readonly openChildren: number;
  readonly pendingDescendants: number;
  readonly session?: Pick<Session, "model" | "modelOverride">;
  readonly post?: ChildPost;
}

const ENDED: Readonly<Record<ChildOutcome["status"], TaskState>> = {
  ok: "done",
  error: "failed",
  timeout: "timeout",
  killed: "stopped",
};

export function taskView(now: TaskNow, nowMs: number, mask: (text: string) => string): TaskView {
  const { child, session, post, pendingDescendants, index } = now;
  const line = (text: string | undefined, longest: number) =>
    text === undefined ? undefined : shortLine(text, longest, mask);
  const status = taskState(now);
  const startedAt = child.startedAtMs ?? runningSince(now);
  const runtimeMs = startedAt === undefined ? undefined : Math.max(0, (child.endedAtMs ?? nowMs) - startedAt);
  return given({
    index,
    runId: child.runId,
    sessionKey: child.key,
    label: line(child.label, LONGEST_LABEL),
    task: shortLine(child.task, LONGEST_TASK, mask),
    status,
    waitsFor: status === "waiting" ? now.openChildren : undefined,
    pendingDescendants,
    depth: child.depth,
    runtime: runtimeMs === undefined ? undefined : duration(runtimeMs),
    runtimeMs,
    model: line(session?.model ?? session?.modelOverride, LONGEST_TASK),
    totalTokens: tokensOf(child),
    startedAt,
    endedAt: child.endedAtMs,
    error: line(child.outcome?.error, LONGEST_REASON),
    told: child.told,
    post: post?.state,
    postReason: line(post?.reason, LONGEST_REASON),
  });
}

/** `running`, `waiting (2 children)`: the state in the words of a list. */
export function stateWords({ status, waitsFor }: Pick<TaskView, "status" | "waitsFor">): string {
  if (waitsFor === undefined) return status;
  return `${status} (${waitsFor} ${waitsFor === 1 ? "child" : "children"})`;
}

/** How a task is called: its label, else how it begins. */
export function viewName({ label, task }: Pick<TaskView, "label" | "task">): string {
  return label ?? task;
}

function taskState({ child, pending }: TaskNow): TaskState {
  if (child.outcome !== undefined) return ENDED[child.outcome.status];
  const own = pending.filter((run) => isOfTask(run, child));
  if (own.some(({ state }) => state === "running")) return "running";
  return own.length > 0 ? "queued" : "waiting";
}

/** Its first run is under way: the record learns of the beginning with the end of that run. */
function runningSince({ child, pending }: TaskNow): number | undefined {
  return pending.find((run) => run.state === "running" && isOfTask(run, child))?.startedAtMs;
}

function tokensOf({ usage }: Child): number | undefined {
  const { totalTokens, inputTokens, outputTokens } = usage ?? {};
  if (totalTokens !== undefined) return totalTokens;
  return inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens;
}
