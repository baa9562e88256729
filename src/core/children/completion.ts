import { deliveryRun } from "../delivery/parcel.ts";
import { given } from "../given.ts";
import { isSandboxed } from "../policy/sandbox.ts";
import type { Child } from "../ports/child.ts";
import type { ClaimedRun } from "../ports/engine.ts";
import type { Session } from "../ports/session.ts";
import { type Aftermath, type Begun, type EndedStep, NOTHING } from "../runs/executor-parts.ts";
import type { Job } from "../runs/job.ts";
import { deliveryId } from "../runs/run-id.ts";
import { displayKey, outwardKey } from "../session/describe.ts";
import { afterTold } from "./after-told.ts";
import { beginAnnouncing } from "./announce-step.ts";
import { ATTEMPTS, attemptOf, mayRepeat, nextAttempt, RETRY_MS } from "./attempts.ts";
import { requesterSpeaks, speaksItself, tellingFor } from "./audience.ts";
import { completionRun, eventProvenance, upkeepRun } from "./child-runs.ts";
import { withTold } from "./family.ts";
import { completeOrigin } from "./origin.ts";
import { type ChildParts, childWrite, listenerOf, taskOf, untoldBelow } from "./parts.ts";
import { afterTaskRun, familyWrite, timeLeftMs } from "./settle.ts";
import { statsLine } from "./stats-line.ts";
import { isHeldBack, siblings } from "./together.ts";
import { type ChildEvent, childContext, completionRow, completionTurn } from "./wording.ts";

/** More of a task than its name can show. */
const NAMED_BY = 2000;

/** The requester's lane has come to the news that a child has ended. */
export async function beginCompletion(
  job: Job,
  run: Pick<ClaimedRun, "id" | "attempt">,
  parts: ChildParts,
): Promise<Begun> {
  const child = await parts.storage.records("child").get(job.child?.id ?? "");
  const session = await parts.sessions.get(job.sessionKey);
  if (child?.outcome === undefined) return { take: "nothing", ...NOTHING };
  if (session === undefined) return { take: "nothing", ...(await tellElsewhere(child, job, parts)) };
  if (child.told !== undefined) return { take: "nothing", ...(await afterTold(child, session, run, parts)) };
  const task = await taskOf(session.key, parts);
  const telling = tellingFor(child, given({ session, task }));
  if (telling === "row" || telling === "announce") return inPassing(child, session, telling, parts);
  if (await isHeldBack(child, job, run, parts)) return { take: "nothing", ...later(child, job, parts) };
  const children = [child, ...(await siblings(child, job, { session, task }, parts))];
  const events = await Promise.all(children.map((one) => eventOf(one, session, parts)));
  const ids = children.map(({ id }) => id);
  const toCome = await untoldBelow(session.key, ids, parts);
  return {
    take: "turn",
    prompt: {
      text: completionTurn(events, toCome, job.replyTo !== undefined),
      provenance: eventProvenance(child),
      ...given({ extraSystemPrompt: task && rulesOf(task, parts) }),
    },
    telling: ids,
    ...given({ withinMs: task && timeLeftMs(task, parts.clock.now()) }),
    mayRepeat: mayRepeat(job, run.attempt),
  };
}

/** After the requester's turn: told, or to be told again. A requester that is a child itself may have ended its own task with it. */
export async function afterCompletion(
  job: Job,
  ended: EndedStep,
  parts: ChildParts,
): Promise<Aftermath & { readonly unread?: true }> {
  const child = await parts.storage.records("child").get(job.child?.id ?? "");
  if (child === undefined || child.told !== undefined) return NOTHING;
  const requester = await parts.sessions.get(job.sessionKey);
  if (requester === undefined) return tellElsewhere(child, job, parts);
  const failed = ended.ending.kind === "failed" || ended.ending.kind === "interrupted";
  const next = ended.ending.kind === "failed" ? nextAttempt(job, ended.claims) : undefined;
  if (next !== undefined) return { ...again(child, job, next, parts), unread: true };
  // A turn that could not even begin was to tell of this one.
  const telling = ended.telling.length === 0 ? [child.id] : ended.telling;
  const told = await toldBy(telling, failed ? "failed" : "turn", requester, parts);
  const task = await taskOf(job.sessionKey, parts);
  const own = task === undefined ? NOTHING : await afterTaskRun(task, { ...ended, telling }, parts);
  return {
    writes: [...told.writes, ...own.writes],
    effects: [...told.effects, ...own.effects, ...apology(child, job, ended, parts)],
  };
}

/** The rules that stand in front of every run of a child. */
export function rulesOf(task: Child, { config, names }: Pick<ChildParts, "config" | "names">): string {
  const maxDepth = config.agents.defaults.subagents.maxSpawnDepth;
  return childContext({
    depth: task.depth,
    maxDepth,
    requester: `the session ${outwardKey(task.requester, names)}`,
    inThread: task.thread !== undefined,
    leads: task.runtime === "subagent" && task.depth < maxDepth,
    isOver: task.outcome !== undefined,
  });
}

async function eventOf(child: Child, requester: Session, parts: ChildParts): Promise<ChildEvent> {
  const { redactor, sessions, storage, names } = parts;
  const trusted = requester.spawnedBy === undefined && !isSandboxed(requester, parts.config, names);
  const sessionId = (await sessions.get(child.key))?.sessionId;
  const transcriptPath = trusted && sessionId !== undefined ? storage.transcriptPath(sessionId) : undefined;
  const sessionKey = displayKey(child.key, requester.agentId, names);
  const masked = (text: string) => redactor.redact(text).text;
  return {
    child: { ...child, task: masked(child.task.slice(0, NAMED_BY)) },
    result: child.result === undefined ? undefined : masked(child.result),
    stats: statsLine(child, "full", given({ sessionKey, sessionId, transcriptPath })),
  };
}

/** The requester is not woken: it finds a row, and the chat is told by the child where that was asked for. */
async function inPassing(
  child: Child,
  session: Session,
  telling: "announce" | "row",
  parts: ChildParts,
): Promise<Begun> {
  const { clock, events } = parts;
  const said = telling === "announce" ? await beginAnnouncing(child, session, parts) : unposted(child);
  const event = await eventOf(child, session, parts);
  events.emit("child.told", { childId: child.id, requester: session.key, how: "row" });
  const isPending = said.post.state === "pending";
  return {
    take: "row",
    prompt: { text: completionRow(event, said.words), provenance: eventProvenance(child) },
    writes: [
      childWrite(child.id, (current) => ({ ...current, told: "row", post: said.post })),
      familyWrite(session.key, (family) => withTold(family, [child.id])),
    ],
    effects: isPending ? said.effects : [upkeepRun(child, "cleanup", { nowMs: clock.now(), mark: 1 })],
  };
}

function unposted({ thread, stoppedBy }: Child) {
  const words =
    stoppedBy === "owner"
      ? "The owner stopped it; nothing was posted."
      : thread === undefined
        ? "Nothing was posted."
        : "It was said in the thread of the subagent.";
  return { post: { state: "none" as const }, words, effects: [] };
}

/** The turn was held, or it cannot be: what the transcript says now is all that the requester gets. A child that was to speak itself does so now. */
async function toldBy(
  ids: readonly string[],
  told: "turn" | "failed",
  requester: Session,
  parts: ChildParts,
): Promise<Aftermath> {
  const nowMs = parts.clock.now();
  const children = (await parts.storage.records("child").getMany(ids)).filter((one) => one !== undefined);
  const each = children.map(async (child): Promise<Aftermath> => {
    parts.events.emit("child.told", { childId: child.id, requester: requester.key, how: told });
    const said = speaksItself(child) ? await beginAnnouncing(child, requester, parts) : unposted(child);
    const { post, effects } = said;
    return {
      writes: [childWrite(child.id, (now) => ({ ...now, told, post: now.post ?? post }))],
      effects: post.state === "pending" ? effects : [upkeepRun(child, "cleanup", { nowMs, mark: 1 })],
    };
  });
  const all = await Promise.all(each);
  const heard = familyWrite(requester.key, (family) => withTold(family, ids));
  return {
    writes: [...all.flatMap(({ writes }) => writes), heard],
    effects: all.flatMap(({ effects }) => effects),
  };
}

function again(
  child: Child,
  job: Job,
  next: { readonly attempt: number; readonly delayMs: number },
  { clock }: ChildParts,
): Aftermath {
  const at = { nowMs: clock.now(), ...next, ...given({ replyTo: job.replyTo }) };
  return { writes: [], effects: [completionRun(child, job.sessionKey, at)] };
}

/** Behind a retry that may tell of it too, or, as the requester may have gone on by then, may not. */
function later(child: Child, job: Job, parts: ChildParts): Aftermath {
  return again(child, job, { attempt: (job.child?.attempt ?? 1) + ATTEMPTS, delayMs: RETRY_MS }, parts);
}

/** The requester was deleted while the news waited in its lane. */
async function tellElsewhere(child: Child, job: Job, parts: ChildParts): Promise<Aftermath> {
  const nowMs = parts.clock.now();
  const listener = await listenerOf(child, parts);
  if (listener === undefined || listener.session.key === job.sessionKey) {
    return {
      writes: [childWrite(child.id, (now) => ({ ...now, told: "nobody", post: { state: "no_chat" } }))],
      effects: [upkeepRun(child, "cleanup", { nowMs, mark: 1 })],
    };
  }
  const origin = completeOrigin(listener.below.origin, listener.session.route);
  const replyTo = requesterSpeaks(child) ? origin : undefined;
  // Another lane, so another run; attempts of the one before it do not count.
  const attempt = (job.child?.attempt ?? 1) - attemptOf(job) + ATTEMPTS + 1;
  return {
    writes: [],
    effects: [completionRun(child, listener.session.key, { nowMs, attempt, ...given({ replyTo }) })],
  };
}

const UNANSWERED: readonly EndedStep["ending"]["kind"][] = ["failed", "interrupted", "timeout"];

/** People who wait are told in a sentence, when the agent could not. */
function apology(
  child: Child,
  { replyTo: to, sessionKey, locale }: Job,
  { ending }: EndedStep,
  { notice, clock }: ChildParts,
) {
  if (to === undefined || !UNANSWERED.includes(ending.kind)) return [];
  const parcel = { sessionKey, to, kind: "notice" as const, createdAtMs: clock.now() };
  const markdown = notice("completionFailed", locale);
  return [deliveryRun(deliveryId(child.runId, "notice"), { ...parcel, markdown })];
}
