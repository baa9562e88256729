import { deliveryRun } from "../delivery/parcel.ts";
import { given } from "../given.ts";
import type { Address } from "../ports/chat.ts";
import type { Child } from "../ports/child.ts";
import type { NewRun, RunRecord } from "../ports/engine.ts";
import type { Provenance } from "../ports/run.ts";
import type { SessionKey } from "../ports/session.ts";
import { type ChildStep, type Job, jobRun, toJob } from "../runs/job.ts";
import { childRunId, deliveryId } from "../runs/run-id.ts";

/** Tells a task's end to the requester, in its lane: what it is told is decided when the lane comes to it. */
export function completionRun(
  child: Child,
  requester: SessionKey,
  at: {
    readonly nowMs: number;
    readonly replyTo?: Address;
    readonly attempt?: number;
    readonly delayMs?: number;
  },
): NewRun {
  const { nowMs, replyTo, attempt, delayMs } = at;
  const job: Job = {
    sessionKey: requester,
    trigger: "completion",
    text: "",
    atMs: nowMs,
    provenance: eventProvenance(child),
    chain: child.chain,
    child: given({ id: child.id, step: "completion", attempt }),
    ...given({ replyTo, locale: child.locale, byOwner: child.ownerChat }),
  };
  const id = childRunId(child.runId, "completion", attempt);
  return jobRun(id, "child", job, delayMs === undefined ? undefined : nowMs + delayMs);
}

/** Longest announce step. */
const ANNOUNCE_SECONDS = 120;

/** The child words its announcement. Where that goes is decided afterwards, so the run itself has no chat. */
export function announceRun(
  child: Child,
  nowMs: number,
  again?: { attempt: number; delayMs: number },
): NewRun {
  const job: Job = {
    ...stepJob(child, nowMs, given({ step: "announce" as const, attempt: again?.attempt })),
    trigger: "announce",
    timeoutSeconds: ANNOUNCE_SECONDS,
  };
  const id = childRunId(child.runId, "announce", again?.attempt);
  return jobRun(id, "child", job, again === undefined ? undefined : nowMs + again.delayMs);
}

type Upkeep = Exclude<ChildStep["step"], "task" | "completion" | "announce">;

/** A step that asks no agent. `mark` tells runs of the same step apart. */
export function upkeepRun(
  child: Child,
  step: Upkeep,
  at: {
    readonly nowMs: number;
    readonly dueMs?: number;
    readonly mark?: number;
    /** Not behind what is done in the session at that moment. */
    readonly aside?: true;
  },
): NewRun {
  const id = childRunId(child.runId, step, at.mark);
  const run = jobRun(id, "child", stepJob(child, at.nowMs, { step }), at.dueMs);
  return at.aside === true ? { ...run, lane: `${run.lane}#${step}` } : run;
}

/** What is posted in the requester's chat. Sent under the requester's policy; the child is cleared away when it has arrived. */
export function postRun(
  child: Child,
  requester: SessionKey,
  to: Address,
  markdown: string,
  nowMs: number,
): NewRun {
  return deliveryRun(deliveryId(child.runId, "announce"), {
    sessionKey: requester,
    to,
    kind: "announce",
    markdown,
    createdAtMs: nowMs,
    followedBy: [upkeepRun(child, "cleanup", { nowMs, mark: 2 })],
  });
}

/** Whether the child works on its task in this run: its first one, or one in which it is told of its own children. */
export function isOfTask({ payload }: Pick<RunRecord, "payload">, { key }: Pick<Child, "key">): boolean {
  const { child: step, sessionKey } = toJob(payload);
  return sessionKey === key && (step?.step === "task" || step?.step === "completion");
}

export function eventProvenance(child: Child): Provenance {
  return { kind: "internal_system", sourceSessionKey: child.key, sourceTool: "sessions_spawn" };
}

function stepJob(child: Child, nowMs: number, step: Omit<ChildStep, "id">): Job {
  return {
    sessionKey: child.key,
    trigger: "completion",
    text: "",
    atMs: nowMs,
    provenance: { kind: "internal_system" },
    chain: [...child.chain, child.requester],
    child: { id: child.id, ...step },
  };
}
