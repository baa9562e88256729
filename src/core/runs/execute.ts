import { spoken } from "../delivery/spoken.ts";
import { isSandboxed } from "../policy/sandbox.ts";
import type { ClaimedRun, RunSettlement } from "../ports/engine.ts";
import type { BoundTool, NewEntry, RunRequest, TranscriptEntry } from "../ports/run.ts";
import { promptView } from "../transcript/prompt.ts";
import { historyWindow } from "../transcript/window.ts";
import { conclude, recordOnly, userEntry, withoutSession } from "./conclude.ts";
import type { ExecutorParts, RunPlace, StepPrompt } from "./executor-parts.ts";
import { toJob } from "./job.ts";
import { recordCalls } from "./recorder.ts";
import { runAgent } from "./run-agent.ts";
import { numbered, placeOf } from "./turn.ts";

/** Handler of the agents' pool: executes one run of a session and says, in one settlement, everything that came of it. */
export function createExecutor(parts: ExecutorParts): (run: ClaimedRun) => Promise<RunSettlement> {
  return async (run) => {
    const job = toJob(run.payload);
    const session = await parts.sessions.get(job.sessionKey);
    if (session === undefined) return withoutSession(run, job, parts);
    const info = await parts.storage.transcripts.info(session.sessionId);
    const place: RunPlace = {
      run,
      job,
      session,
      turn: placeOf(info, run.id),
      startedAtMs: parts.clock.now(),
      heard: new Set(),
    };
    return run.kind === "note" ? takeNote(place, parts) : takeStep(place, parts);
  };
}

async function takeNote(place: RunPlace, parts: ExecutorParts): Promise<RunSettlement> {
  return (await parts.exchange.isNews(place.job)) ? recordOnly(place, parts) : { done: null };
}

async function takeStep(place: RunPlace, parts: ExecutorParts): Promise<RunSettlement> {
  const { run, job } = place;
  const step = job.exchangeId === undefined ? { prompt: job } : await parts.exchange.begin(job);
  if (!("prompt" in step)) return { done: null, ...step };
  if (!run.interrupted || parts.config.agents.defaults.resume === "retry") {
    return execute(place, step.prompt, parts);
  }
  const input = userEntry(job, step.prompt, run.id);
  return conclude(place, input, { kind: "interrupted" }, { entries: [] }, parts);
}

async function execute(place: RunPlace, prompt: StepPrompt, parts: ExecutorParts): Promise<RunSettlement> {
  const { run, job, session } = place;
  const input = userEntry(job, prompt, run.id);
  const runner = parts.agents.get(session.agentId);
  if (runner === undefined) {
    const error = `No agent "${session.agentId}" is configured.`;
    return conclude(place, input, { kind: "failed", error }, { entries: [] }, parts);
  }
  parts.events.emit("run.started", {
    runId: run.id,
    sessionKey: session.key,
    trigger: job.trigger,
    atMs: place.startedAtMs,
  });
  const endTyping = parts.typing(session, job);
  const recorder = recordCalls(
    parts.tools(session, {
      runId: run.id,
      chain: job.chain,
      heard: (exchangeId) => place.heard.add(exchangeId),
      whileWaiting: run.whileWaiting,
    }),
    run.id,
    parts.clock,
  );
  const request = await requestOf(place, input, prompt, recorder.tools, parts);
  const timeoutMs = (job.timeoutSeconds ?? parts.config.agents.defaults.timeoutSeconds) * 1000;
  const limits = { timeoutMs, signal: run.signal, clock: parts.clock };
  const { ending, made } = await runAgent(runner, request, limits, recorder, {
    hear: spoken,
    mask: (text) => parts.redactor.redact(text).text,
  });
  endTyping();
  return conclude(place, input, ending, made, parts);
}

async function requestOf(
  { run, job, session, turn }: RunPlace,
  input: NewEntry,
  prompt: Partial<StepPrompt>,
  tools: readonly BoundTool[],
  { config, names, storage }: ExecutorParts,
): Promise<RunRequest> {
  const speakers = session.chatType === "group" || session.chatType === "channel";
  const { maxEntries, maxBytes } = config.agents.defaults.history;
  const page = await storage.transcripts.page(session.sessionId, {
    beforeSeq: turn.firstSeq,
    limit: maxEntries,
  });
  const view = (entry: TranscriptEntry) => promptView(entry, speakers);
  const agent = config.agents.list.find(({ id }) => id === session.agentId);
  const model = job.model ?? session.modelOverride ?? agent?.model;
  const thinking = job.thinking ?? session.thinkingLevel;
  return {
    runId: run.id,
    session,
    input: view(numbered(input, turn, 0, run.id)),
    history: historyWindow(page.entries, { maxEntries, maxBytes }).map(view),
    tools,
    trigger: job.trigger,
    sandboxed: isSandboxed(session, config, names),
    depth: session.spawnDepth ?? 0,
    ...(prompt.extraSystemPrompt === undefined ? {} : { extraSystemPrompt: prompt.extraSystemPrompt }),
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
  };
}
