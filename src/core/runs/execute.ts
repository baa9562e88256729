import { type Spoken, spoken } from "../delivery/spoken.ts";
import { messageOf } from "../errors.ts";
import { given } from "../given.ts";
import { isSandboxed } from "../policy/sandbox.ts";
import type { ClaimedRun, RunSettlement } from "../ports/engine.ts";
import type { BoundTool, NewEntry, RunRequest, TranscriptEntry } from "../ports/run.ts";
import type { Session } from "../ports/session.ts";
import type { TranscriptInfo } from "../ports/storage.ts";
import type { KeyNames } from "../session/key.ts";
import { promptView } from "../transcript/prompt.ts";
import { promptSized } from "../transcript/prompt-size.ts";
import { conclude, recordOnly, userEntry, withoutPlace } from "./conclude.ts";
import type { Begun, ExecutorParts, RunContext, RunPlace, StepPrompt } from "./executor-parts.ts";
import { historyBefore } from "./history.ts";
import { type Job, toJob } from "./job.ts";
import { batchRows, begunJob, isCutOff, joinBatch } from "./join-batch.ts";
import { isUnreachable, patiently } from "./patience.ts";
import { reportProgress } from "./progress.ts";
import { type RecordedCalls, recordCalls } from "./recorder.ts";
import { runAgent } from "./run-agent.ts";
import { runModel } from "./run-model.ts";
import { numbered, placeOf } from "./turn.ts";

/** Handler of the agents' pool: executes one run of a session and says, in one settlement, everything that came of it. */
export function createExecutor(parts: ExecutorParts): (run: ClaimedRun) => Promise<RunSettlement> {
  return async (run) => {
    const job = toJob(run.payload);
    try {
      const session = await parts.sessions.get(job.sessionKey);
      if (session === undefined) {
        return await withoutPlace(run, job, `The session "${job.sessionKey}" was deleted.`, parts);
      }
      return await take(run, job, session, parts);
    } catch (error) {
      if (isUnreachable(error)) throw error;
      parts.logger.error({ runId: run.id, error: messageOf(error) }, "A run could not be executed");
      return withoutPlace(run, job, messageOf(error), parts);
    }
  };
}

async function take(
  run: ClaimedRun,
  claimed: Job,
  session: Session,
  parts: ExecutorParts,
): Promise<RunSettlement> {
  const joined = await joinBatch(run, claimed, parts);
  if (joined !== undefined) return joined;
  const wasCutOff = isCutOff(run, claimed);
  const job = await begunJob(run, claimed);
  const begun = await parts.flow.begin(job, run);
  if (begun.take === "nothing") return { done: null, writes: begun.writes, effects: begun.effects };
  const info = await parts.storage.transcripts.info(session.sessionId);
  const place: RunPlace = {
    run,
    job,
    session,
    turn: placeOf(info, run.id),
    batched: batchRows(job),
    startedAtMs: parts.clock.now(),
    heard: new Set(),
    telling: begun.take === "turn" ? (begun.telling ?? []) : [],
  };
  if (begun.take === "row") {
    return recordOnly(place, begun, parts);
  }
  if (!wasCutOff || begun.mayRepeat === true || parts.config.agents.defaults.resume === "retry") {
    return execute(place, begun, parts);
  }
  const entries = await reportedBefore(place, info, parts);
  const input = userEntry(job, begun.prompt, run.id);
  return conclude(place, input, { kind: "interrupted" }, { entries }, parts);
}

/** Rows that the worker which died had written while the run was going on. */
async function reportedBefore(
  { run, session, turn, batched }: RunPlace,
  info: TranscriptInfo | undefined,
  { storage }: ExecutorParts,
): Promise<readonly NewEntry[]> {
  if (info?.lastRunId !== run.id) return [];
  const limit = info.lastSeq - turn.firstSeq - batched.length;
  if (limit < 1) return [];
  const page = await storage.transcripts.page(session.sessionId, { limit });
  return page.entries.map(({ id: _id, seq: _seq, ...entry }) => entry);
}

async function execute(
  place: RunPlace,
  { prompt, withinMs }: Extract<Begun, { take: "turn" }>,
  parts: ExecutorParts,
): Promise<RunSettlement> {
  const { run, job, session } = place;
  const input = userEntry(job, prompt, run.id);
  const runner = parts.runnerOf(session);
  if (runner === undefined) {
    const error =
      session.runtime === "acp"
        ? "No ACP harness is configured."
        : `No agent "${session.agentId}" is configured.`;
    return conclude(place, input, { kind: "failed", error }, { entries: [] }, parts);
  }
  const recorder: RecordedCalls = recordCalls(
    await toolsOf(place, () => [...place.batched, input, ...recorder.answered()], parts),
    run.id,
    parts.clock,
  );
  const progress = reportProgress(place, input, parts);
  const request = await requestOf(place, input, prompt, recorder.tools, progress.report, parts);
  parts.events.emit("run.started", {
    runId: run.id,
    sessionKey: session.key,
    trigger: job.trigger,
    atMs: place.startedAtMs,
  });
  const endTyping = parts.typing(session, job);
  const ownMs = (job.timeoutSeconds ?? parts.config.agents.defaults.timeoutSeconds) * 1000;
  const timeoutMs = withinMs ?? ownMs;
  const limits = { timeoutMs, signal: run.signal, clock: parts.clock };
  const { ending, made } = await runAgent(runner, request, limits, recorder, {
    hear: (written) => heard(written, run.id, parts),
    mask: (text) => parts.redactor.redact(text).text,
  });
  endTyping();
  await progress.end();
  // The agent has acted: from here on nothing may send the run back to its beginning.
  return patiently(() => conclude(place, input, ending, made, parts), parts.clock);
}

async function toolsOf(
  { run, job, session, heard }: RunPlace,
  soFar: RunContext["soFar"],
  parts: ExecutorParts,
): Promise<readonly BoundTool[]> {
  // A child that announces is at the end of its work: what it began now nobody would wait for.
  if (job.child?.step === "announce") return [];
  const isRetry = job.child?.step === "completion";
  const context = given({
    runId: run.id,
    callScope: isRetry ? run.id.replace(/:\d+$/, "") : run.id,
    chain: job.chain,
    replyTo: job.replyTo,
    byOwner: job.byOwner === true,
    locale: job.locale,
    model: runModel(session, parts.config, job.model),
    heard: (exchangeId: string) => heard.add(exchangeId),
    soFar,
    whileWaiting: run.whileWaiting,
  });
  return parts.tools(session, context);
}

function heard(written: string, runId: string, { logger }: ExecutorParts): Spoken {
  const said = spoken(written);
  if (said.kind === "text" && said.stripped !== undefined) {
    logger.info({ runId, token: said.stripped }, "A silence token behind a text was taken off");
  }
  return said;
}

/** More people than one speak here, so the agent has to know who does. */
function isShared({ chatType }: Session, { scope }: KeyNames): boolean {
  return chatType === "group" || chatType === "channel" || scope === "global";
}

/** What the agent is asked, with the earlier messages that it answers too, and what was said before. */
async function conversation(
  { run, session, turn, batched }: RunPlace,
  asked: NewEntry,
  parts: ExecutorParts,
): Promise<Pick<RunRequest, "input" | "history">> {
  const speakers = isShared(session, parts.names);
  const before = await historyBefore(session.sessionId, turn.firstSeq, parts);
  const view = (entry: TranscriptEntry) => promptView(entry, speakers);
  const input = numbered(promptSized(asked), turn, batched.length, run.id);
  const content = [...batched, input].flatMap((row) => view({ ...input, ...row }).content);
  return {
    input: { ...input, content },
    history: before.map(view),
  };
}

async function requestOf(
  place: RunPlace,
  input: NewEntry,
  prompt: Partial<StepPrompt>,
  tools: readonly BoundTool[],
  report: RunRequest["report"],
  parts: ExecutorParts,
): Promise<RunRequest> {
  const { run, job, session } = place;
  const { config, names } = parts;
  const model = runModel(session, config, job.model);
  const thinking = job.thinking ?? session.thinkingLevel;
  const sandboxed = isSandboxed(session, config, names);
  return {
    runId: run.id,
    session: sandboxed ? { ...session, sandboxed } : session,
    ...(await conversation(place, input, parts)),
    tools,
    trigger: job.trigger,
    sandboxed,
    depth: session.spawnDepth ?? 0,
    report,
    ...(prompt.extraSystemPrompt === undefined ? {} : { extraSystemPrompt: prompt.extraSystemPrompt }),
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
  };
}
