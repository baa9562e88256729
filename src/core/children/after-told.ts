import { INTERRUPTED } from "../announce/wording.ts";
import type { Child } from "../ports/child.ts";
import type { ClaimedRun } from "../ports/engine.ts";
import type { Session } from "../ports/session.ts";
import { type Aftermath, NOTHING } from "../runs/executor-parts.ts";
import { beginAnnouncing } from "./announce-step.ts";
import { upkeepRun } from "./child-runs.ts";
import { withTold } from "./family.ts";
import { type ChildParts, taskOf, untoldBelow } from "./parts.ts";
import { endOnce, familyWrite } from "./settle.ts";

/**
 * The news of this run has been told before. What follows that is enqueued once more, as a store without transactions may have kept the telling alone;
 * each run has the id that it had then, so that nothing happens twice.
 */
export async function afterTold(
  child: Child,
  requester: Session,
  { attempt }: Pick<ClaimedRun, "attempt">,
  parts: ChildParts,
): Promise<Aftermath> {
  const heard = familyWrite(requester.key, (family) => withTold(family, [child.id]));
  const own = attempt === 1 ? NOTHING : await endOfCutOff(requester, parts);
  const isPending = child.post?.state === "pending";
  const said = isPending
    ? (await beginAnnouncing(child, requester, parts)).effects
    : [upkeepRun(child, "cleanup", { nowMs: parts.clock.now(), mark: 1 })];
  return { writes: [heard, ...own.writes], effects: [...said, ...own.effects] };
}

/** The turn that a crash cut off may have been the last of the requester's own task. */
async function endOfCutOff({ key }: Session, parts: ChildParts): Promise<Aftermath> {
  const task = await taskOf(key, parts);
  if (task === undefined || (await untoldBelow(key, [], parts)) > 0) return NOTHING;
  return endOnce(task, { status: "error", error: INTERRUPTED }, parts);
}
