import { deliveryRun } from "../delivery/parcel.ts";
import { given } from "../given.ts";
import type { ClaimedRun, NewRun, RunSettlement } from "../ports/engine.ts";
import type { Json } from "../ports/host.ts";
import type { NewEntry } from "../ports/run.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Write } from "../ports/storage.ts";
import { inboundBlocks } from "../transcript/prompt.ts";
import { afterRun, type Ending, endingEntries, errorOf, type Made } from "./ending.ts";
import type { Aftermath, ExecutorParts, RunPlace, StepPrompt } from "./executor-parts.ts";
import type { Job, JobResult } from "./job.ts";
import { deliveryId } from "./run-id.ts";
import { turnWrite } from "./turn.ts";

/** Everything that came of a run, as one settlement: rows, session, what leaves, and the next step of its exchange. */
export async function conclude(
  place: RunPlace,
  input: NewEntry,
  ending: Ending,
  made: Made,
  parts: ExecutorParts,
): Promise<RunSettlement> {
  const { run, job, session, turn, startedAtMs } = place;
  const nowMs = parts.clock.now();
  const { telling } = place;
  const following = await parts.flow.after(
    job,
    given({ runId: run.id, ending, usage: made.usage, startedAtMs, claims: run.attempt, telling }),
  );
  const outgoing = outgoingRuns(run.id, job, session.key, ending, parts);
  const said = [...made.entries, ...endingEntries(ending, made, run.id, nowMs)];
  const entries = following.unread === true ? said : [...place.batched, input, ...said];
  const isAside = job.exchangeId !== undefined || job.trigger === "announce" || following.unread === true;
  const ran = { sessionId: session.sessionId, startedAtMs, nowMs, isAside };
  const settled = {
    writes: [
      turnWrite(session, turn, run.id, entries),
      sessionWrite(session, (current) => afterRun(current, ran, ending, made)),
      ...parts.heard([...place.heard]),
      ...following.writes,
    ],
    effects: [...outgoing, ...following.effects],
  };
  const error = errorOf(ending);
  parts.events.emit("run.finished", {
    runId: run.id,
    sessionKey: session.key,
    trigger: job.trigger,
    status: ending.kind,
    durationMs: nowMs - startedAtMs,
    ...(error === undefined ? {} : { error }),
  });
  if (ending.kind === "failed")
    parts.logger.warn({ runId: run.id, sessionKey: session.key, error }, "A run failed");
  return error === undefined
    ? { ...settled, done: resultJson(ending, outgoing[0]?.id) }
    : { ...settled, failed: error };
}

/** The reply, or the sentence for a person who will get none. */
function outgoingRuns(
  runId: string,
  job: Job,
  sessionKey: SessionKey,
  ending: Ending,
  parts: ExecutorParts,
): readonly NewRun[] {
  const to = job.replyTo;
  if (to === undefined) return [];
  const common = {
    sessionKey,
    to,
    createdAtMs: parts.clock.now(),
    ...(job.replyToId === undefined ? {} : { replyToId: job.replyToId }),
  };
  if (ending.kind === "ok") {
    if (ending.spoken.kind === "silent") return [];
    const kind = job.step === "announce" ? "announce" : "reply";
    return [deliveryRun(deliveryId(runId, kind), { ...common, kind, markdown: ending.spoken.text })];
  }
  const told = job.trigger === "user" && ending.kind !== "yielded" && ending.kind !== "killed";
  if (!told) return [];
  const markdown = parts.notice(ending.kind === "interrupted" ? "interrupted" : "failed", job.locale);
  return [deliveryRun(deliveryId(runId, "notice"), { ...common, kind: "notice", markdown })];
}

/** A row without a run: context that was not addressed to the bot, old messages, notes of the runtime. */
export function recordOnly(
  { run, job, session, turn }: RunPlace,
  { prompt, writes, effects }: { readonly prompt: StepPrompt } & Aftermath,
  parts: ExecutorParts,
): RunSettlement {
  const entry =
    prompt.provenance.kind === "internal_system"
      ? { ...userEntry(job, prompt, run.id), role: "system" as const }
      : userEntry(job, prompt, run.id);
  const nowMs = parts.clock.now();
  const touched = (current: Session): Session => ({
    ...current,
    updatedAtMs: Math.max(current.updatedAtMs, nowMs),
  });
  return {
    done: null,
    writes: [turnWrite(session, turn, run.id, [entry]), sessionWrite(session, touched), ...writes],
    effects,
  };
}

/** A run that has no place to write to, as its session is gone or cannot be read: its exchange goes on, and a person is told what can be told. */
export async function withoutPlace(
  run: ClaimedRun,
  job: Job,
  error: string,
  parts: ExecutorParts,
): Promise<RunSettlement> {
  const ending: Ending = { kind: "failed", error };
  const nowMs = parts.clock.now();
  const { writes, effects } = await parts.flow.after(job, {
    runId: run.id,
    ending,
    startedAtMs: nowMs,
    claims: run.attempt,
    telling: [],
  });
  const outgoing = outgoingRuns(run.id, job, job.sessionKey, ending, parts);
  return { failed: error, writes, effects: [...outgoing, ...effects] };
}

/** The row of what the agent is asked. */
export function userEntry(
  job: Pick<Job, "atMs" | "sender" | "attachments" | "quoted" | "overheard">,
  prompt: Pick<StepPrompt, "text" | "provenance">,
  runId: string,
): NewEntry {
  return {
    role: "user",
    content: inboundBlocks({ ...job, text: prompt.text }),
    atMs: job.atMs,
    runId,
    provenance: prompt.provenance,
    ...(job.sender === undefined ? {} : { sender: job.sender }),
    ...(job.overheard === undefined ? {} : { overheard: job.overheard }),
  };
}

function sessionWrite(session: Session, change: (current: Session) => Session): Write {
  return {
    type: "record",
    table: "session",
    key: session.key,
    change: (current) => (current === undefined ? undefined : change(current)),
  };
}

function resultJson(ending: Ending, delivery: string | undefined): Json {
  const result: JobResult = {
    status: ending.kind === "yielded" ? "yielded" : "ok",
    ...(ending.kind === "ok" && ending.spoken.kind === "text" ? { reply: ending.spoken.text } : {}),
    ...(delivery === undefined ? {} : { deliveryId: delivery }),
  };
  return { ...result };
}
