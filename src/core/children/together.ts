import { given } from "../given.ts";
import type { Address } from "../ports/chat.ts";
import type { Child } from "../ports/child.ts";
import type { ClaimedRun } from "../ports/engine.ts";
import type { Session } from "../ports/session.ts";
import { type Job, toJob } from "../runs/job.ts";
import { attemptOf } from "./attempts.ts";
import { tellingFor } from "./audience.ts";
import type { ChildParts } from "./parts.ts";
import { placeOfAnswer } from "./settle.ts";

/** Told in one turn at most. */
const MAX_TOGETHER = 20;
const MAX_RESULTS = 60_000;

/** A turn that failed is held again after a pause, and tells of all that has ended by then: news that comes in between waits for it. */
export async function isHeldBack(
  child: Child,
  job: Job,
  { id }: Pick<ClaimedRun, "id">,
  { queue }: ChildParts,
): Promise<boolean> {
  if (attemptOf(job) > 1) return false;
  const pending = await queue.pending(job.sessionKey);
  return pending.some((run) => {
    const other = toJob(run.payload);
    const isRetry = other.child?.step === "completion" && attemptOf(other) > 1;
    return run.id !== id && isRetry && other.child?.id !== child.id && samePlace(other.replyTo, job.replyTo);
  });
}

/** Others that ended meanwhile and are to be told in the same chat: they are told in one turn, in the order of their ends. */
export async function siblings(
  first: Child,
  job: Job,
  requester: { readonly session: Session; readonly task: Child | undefined },
  parts: ChildParts,
): Promise<readonly Child[]> {
  const { session, task } = requester;
  const { untold = [] } = (await parts.storage.records("family").get(session.key)) ?? {};
  const found = await parts.storage.records("child").getMany(untold.slice(0, 4 * MAX_TOGETHER));
  const isForThisTurn = (child: Child | undefined): child is Child =>
    child?.outcome !== undefined &&
    child.id !== first.id &&
    child.told === undefined &&
    !["row", "announce"].includes(tellingFor(child, given({ session, task }))) &&
    samePlace(placeOfAnswer(child, { session, below: child }), job.replyTo);
  let size = first.result?.length ?? 0;
  const ready = found.filter(isForThisTurn).slice(0, MAX_TOGETHER - 1);
  const tooMuch = ready.findIndex(({ result = "" }) => {
    size += result.length;
    return size > MAX_RESULTS;
  });
  return tooMuch === -1 ? ready : ready.slice(0, tooMuch);
}

function samePlace(one: Address | undefined, other: Address | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
