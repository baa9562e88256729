import { given } from "../given.ts";
import type { Address } from "../ports/chat.ts";
import type { Child, ChildPost } from "../ports/child.ts";
import type { NewRun } from "../ports/engine.ts";
import type { Session } from "../ports/session.ts";
import { type Aftermath, type Begun, type EndedStep, NOTHING } from "../runs/executor-parts.ts";
import type { Job } from "../runs/job.ts";
import { deliveryId } from "../runs/run-id.ts";
import { channelOf } from "../session/describe.ts";
import { announcement, isSilent } from "./announcement.ts";
import { mayRepeat, nextAttempt } from "./attempts.ts";
import { announceRun, postRun, upkeepRun } from "./child-runs.ts";
import { completeOrigin } from "./origin.ts";
import { type ChildParts, childWrite } from "./parts.ts";
import { statsLine } from "./stats-line.ts";
import { CHILD_ANNOUNCE_CUE, childAnnounceContext } from "./wording.ts";

/** How the chat of a requester will hear of an ended child, and what the requester is told about that. */
export interface Announcing {
  readonly post: ChildPost;
  readonly words: string;
  readonly effects: readonly NewRun[];
}

/**
 * A child that has something to say words it itself; any other end is posted as the runtime knows it, without asking a model. Where nothing may leave,
 * no model is asked either.
 */
export async function beginAnnouncing(
  child: Child,
  requester: Session,
  parts: ChildParts,
): Promise<Announcing> {
  const nowMs = parts.clock.now();
  const to = completeOrigin(child.origin, requester.route);
  if (to === undefined) {
    parts.logger.warn({ child: child.key }, "A child was not announced: its requester has no chat");
    return { post: { state: "no_chat" }, words: "It was not posted: this session has no chat.", effects: [] };
  }
  const may = await parts.sendCheck(requester, to);
  if (!may.allowed) {
    const post = { state: "suppressed" as const, reason: may.reason };
    return { post, words: `It was not posted: ${may.reason}`, effects: [] };
  }
  if (child.outcome?.status === "ok" && child.runtime === "subagent") {
    const words = "The subagent announces it in your chat itself; do not repeat it.";
    return { post: { state: "pending" }, words, effects: [announceRun(child, nowMs)] };
  }
  const { post, effects } = await posting(child, requester, to, child.result, parts);
  return { post, words: "It was posted in your chat; do not repeat it.", effects };
}

/** The announce step itself, in the session of the child. */
export async function beginAnnounce(job: Job, claims: number, parts: ChildParts): Promise<Begun> {
  const child = await parts.storage.records("child").get(job.child?.id ?? "");
  if (child?.outcome === undefined) return { take: "nothing", ...NOTHING };
  if (!(await isToBeSaid(child, parts))) {
    const cleanup = upkeepRun(child, "cleanup", { nowMs: parts.clock.now(), mark: 2 });
    return { take: "nothing", writes: [], effects: child.post?.state === "pending" ? [] : [cleanup] };
  }
  const place = await placeOf(child, parts);
  if ("state" in place) return { take: "nothing", ...closed(child, place, parts) };
  return {
    take: "turn",
    prompt: {
      text: CHILD_ANNOUNCE_CUE,
      provenance: { kind: "internal_system" },
      extraSystemPrompt: childAnnounceContext(channelOf(place.requester), {
        task: child.task,
        result: parts.redactor.redact(child.result ?? "").text,
      }),
    },
    mayRepeat: mayRepeat(job, claims),
  };
}

/** A step that failed is held again; in the end people are told that there is a result, without words that nobody has looked over. */
export async function afterAnnounce(
  job: Job,
  { ending, claims }: EndedStep,
  parts: ChildParts,
): Promise<Aftermath & { readonly unread?: true }> {
  const child = await parts.storage.records("child").get(job.child?.id ?? "");
  if (child?.outcome === undefined || !(await isToBeSaid(child, parts))) return NOTHING;
  const place = await placeOf(child, parts);
  if ("state" in place) return closed(child, place, parts);
  if (ending.kind === "ok") {
    const { spoken } = ending;
    if (spoken.kind === "silent" || isSilent(spoken.text)) return closed(child, { state: "silent" }, parts);
    return posted(child, await posting(child, place.requester, place.to, spoken.text, parts));
  }
  const next = ending.kind === "failed" ? nextAttempt(job, claims) : undefined;
  if (next !== undefined) {
    return { writes: [], effects: [announceRun(child, parts.clock.now(), next)], unread: true };
  }
  if (ending.kind === "killed") return closed(child, { state: "silent", reason: "stopped" }, parts);
  const words = parts.notice("announceFailed", child.locale);
  return posted(child, await posting(child, place.requester, place.to, words, parts));
}

/** A store without transactions may have kept that there is a delivery, and the delivery was never accepted. */
async function isToBeSaid({ post }: Child, { queue }: ChildParts): Promise<boolean> {
  if (post?.state !== "pending") return false;
  return post.deliveryId === undefined || (await queue.get(post.deliveryId)) === undefined;
}

async function placeOf(
  child: Child,
  { sessions, sendCheck }: ChildParts,
): Promise<{ readonly requester: Session; readonly to: Address } | ChildPost> {
  const requester = await sessions.get(child.requester);
  const to = requester && completeOrigin(child.origin, requester.route);
  if (requester === undefined || to === undefined) return { state: "no_chat" };
  const may = await sendCheck(requester, to);
  return may.allowed ? { requester, to } : { state: "suppressed", reason: may.reason };
}

async function posting(
  child: Child,
  requester: Session,
  to: Address,
  written: string | undefined,
  parts: ChildParts,
): Promise<Pick<Announcing, "post" | "effects">> {
  const { clock, config, sessions, storage } = parts;
  const level = config.announce.stats ?? (child.ownerChat === true ? "full" : "short");
  const sessionId = (await sessions.get(child.key))?.sessionId;
  const transcriptPath = sessionId === undefined ? undefined : storage.transcriptPath(sessionId);
  const stats = statsLine(child, level, given({ sessionKey: child.key, sessionId, transcriptPath }));
  const outcome = child.outcome ?? { status: "error" };
  const markdown = announcement(given({ outcome, written, stats }));
  return {
    post: { state: "pending", deliveryId: deliveryId(child.runId, "announce") },
    effects: [postRun(child, requester.key, to, markdown, clock.now())],
  };
}

function posted(child: Child, { post, effects }: Pick<Announcing, "post" | "effects">): Aftermath {
  return { writes: [childWrite(child.id, (now) => ({ ...now, post }))], effects };
}

function closed(child: Child, post: ChildPost, { clock }: ChildParts): Aftermath {
  return {
    writes: [childWrite(child.id, (now) => ({ ...now, post }))],
    effects: [upkeepRun(child, "cleanup", { nowMs: clock.now(), mark: 2 })],
  };
}
