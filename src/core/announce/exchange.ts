import type { Config } from "../config.ts";
import type { SendCheck } from "../delivery/send-check.ts";
import type { NewRun } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Exchange } from "../ports/exchange.ts";
import type { Clock } from "../ports/host.ts";
import type { Provenance } from "../ports/run.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Storage, Write } from "../ports/storage.ts";
import { type Ending, errorOf } from "../runs/ending.ts";
import type { Aftermath, ExchangeSteps } from "../runs/executor-parts.ts";
import { type Job, jobRun } from "../runs/job.ts";
import { deliveryId, exchangeRunId, noteRunId } from "../runs/run-id.ts";
import { channelOf, kindOf } from "../session/describe.ts";
import type { KeyNames } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import { stepPrompt } from "./step-prompt.ts";
import { advance, type Ended, type NextStep } from "./steps.ts";

/** What sessions_send hands over. */
export interface ExchangeRequest {
  readonly id: string;
  readonly requester: Session;
  readonly target: SessionKey;
  readonly message: string;
  readonly chain: readonly SessionKey[];
  /** The caller stays for the answer. */
  readonly waits: boolean;
}

export interface Exchanges extends ExchangeSteps {
  /** The target's first run, and the record that lives as long as the exchange. */
  open(request: ExchangeRequest): { readonly run: NewRun; readonly writes: readonly Write[] };
  /** The caller has its answer, or left without one. Resolves with the record. */
  callerLeft(id: string, how: "answered" | "gone"): Promise<Exchange | undefined>;
  get(id: string): Promise<Exchange | undefined>;
}

interface Parts {
  readonly config: Config;
  readonly names: KeyNames;
  readonly sendCheck: SendCheck;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly events: Events;
}

/**
 * Agent-to-agent exchanges: first answer, reply-back turns, announce step. The record says where an exchange stands; each step is a run that the
 * settlement of the step before it enqueued, so a restart neither loses nor repeats one. Nobody's chat route is touched, and only the announce leaves.
 */
export function createExchanges(parts: Parts): Exchanges {
  const records = parts.storage.records("exchange");
  return {
    open: (request) => opening(request, parts),
    get: (id) => records.get(id),
    callerLeft: (id, how) =>
      records.update(id, (current) => (current === undefined ? undefined : { ...current, caller: how })),
    async prompt(job) {
      const exchange = job.exchangeId === undefined ? undefined : await records.get(job.exchangeId);
      if (exchange === undefined || exchange.state !== "open") return undefined;
      return stepPrompt(job, exchange, parts.sessions);
    },
    async isNews(job) {
      const exchange = job.exchangeId === undefined ? undefined : await records.get(job.exchangeId);
      return exchange?.caller !== "answered";
    },
    async after(job, runId, ending) {
      const exchange = job.exchangeId === undefined ? undefined : await records.get(job.exchangeId);
      if (exchange === undefined) return { writes: [], effects: [] };
      return aftermath(exchange, runId, ending, parts);
    },
  };
}

function opening(request: ExchangeRequest, { clock, config, names }: Parts) {
  const { id, requester, target, message, chain, waits } = request;
  const atMs = clock.now();
  const exchange: Exchange = {
    id,
    requester: requester.key,
    target,
    request: message,
    chain,
    maxTurns: takesTurns(requester, names) ? config.session.agentToAgent.maxPingPongTurns : 0,
    turn: 0,
    caller: waits ? "waiting" : "gone",
    state: "open",
    startedAtMs: atMs,
    updatedAtMs: atMs,
  };
  const job: Job = {
    sessionKey: target,
    trigger: "send",
    text: message,
    atMs,
    provenance: sentBy(requester.key, channelOf(requester)),
    chain: [...chain, requester.key],
    exchangeId: id,
    step: 0,
  };
  const write: Write = {
    type: "record",
    table: "exchange",
    key: id,
    change: (current) => current ?? exchange,
  };
  return { run: jobRun(id, "agent", job), writes: [write] };
}

/** Cron, hook and node sessions have ended by the time an answer comes, and a subagent's partner is its requester alone. */
function takesTurns(requester: Session, names: KeyNames): boolean {
  const kind = kindOf(requester.key, names, requester);
  return (kind === "main" || kind === "group" || kind === "other") && requester.spawnedBy === undefined;
}

async function aftermath(
  exchange: Exchange,
  runId: string,
  ending: Ending,
  parts: Parts,
): Promise<Aftermath> {
  const advanced = advance(exchange, ended(ending));
  const { exchange: settled, step } = await mayAnnounce(advanced.exchange, advanced.next, parts);
  const nowMs = parts.clock.now();
  const stored: Exchange = {
    ...settled,
    updatedAtMs: nowMs,
    ...(settled.state === "announced" ? { deliveryId: deliveryId(runId, "announce") } : {}),
  };
  if (stored.state !== "open")
    parts.events.emit("exchange.settled", { exchangeId: exchange.id, state: stored.state });
  const next = step === undefined ? [] : [await stepRun(stored, step, nowMs, parts)];
  return {
    writes: [
      {
        type: "record",
        table: "exchange",
        key: exchange.id,
        // The caller's own mark may have come between reading and writing.
        change: (current) => ({ ...stored, caller: current?.caller ?? stored.caller }),
      },
    ],
    effects: [...next, ...untold(exchange, stored, nowMs)],
  };
}

/** No model call for a text that nobody may see or that has nowhere to go. */
async function mayAnnounce(
  exchange: Exchange,
  next: NextStep,
  { sessions, sendCheck }: Parts,
): Promise<{ readonly exchange: Exchange; readonly step?: Exclude<NextStep, { kind: "end" }> }> {
  if (next.kind === "end") return { exchange };
  if (next.kind === "turn") return { exchange, step: next };
  const target = await sessions.get(exchange.target);
  if (target?.route === undefined) {
    return { exchange: { ...exchange, state: "no_route", reason: "The target session has no chat." } };
  }
  const may = await sendCheck(target, target.route);
  if (!may.allowed) return { exchange: { ...exchange, state: "suppressed", reason: may.reason } };
  return { exchange, step: next };
}

async function stepRun(
  exchange: Exchange,
  step: Exclude<NextStep, { kind: "end" }>,
  atMs: number,
  { sessions }: Parts,
): Promise<NewRun> {
  const announces = step.kind === "announce";
  const speaker = announces ? exchange.target : step.speaker;
  const other = speaker === exchange.target ? exchange.requester : exchange.target;
  const [route, partner] = [(await sessions.get(speaker))?.route, await sessions.get(other)];
  const name = announces ? "announce" : step.turn;
  return jobRun(exchangeRunId(exchange.id, name), "exchange", {
    sessionKey: speaker,
    trigger: announces ? "announce" : "reply-back",
    text: "",
    atMs,
    provenance: sentBy(other, partner === undefined ? "unknown" : channelOf(partner)),
    chain: [...exchange.chain, other],
    exchangeId: exchange.id,
    step: name,
    ...(announces && route !== undefined ? { replyTo: route } : {}),
  });
}

/**
 * A requester learns of a failure in its next run, without a run of its own. The note waits in its lane behind the run that may still get the
 * failure as its tool result, and is dropped then.
 */
function untold(before: Exchange, after: Exchange, atMs: number): readonly NewRun[] {
  if (after.state !== "failed" || before.turn !== 0) return [];
  return [
    jobRun(noteRunId(after.id), "note", {
      sessionKey: after.requester,
      trigger: "completion",
      text: `Your sessions_send ${after.id} was not answered: ${after.reason ?? "the run failed"}.`,
      atMs,
      provenance: { kind: "internal_system", sourceSessionKey: after.target, sourceTool: "sessions_send" },
      chain: [],
      exchangeId: after.id,
    }),
  ];
}

function ended(ending: Ending): Ended {
  if (ending.kind === "ok" && ending.spoken.kind === "text")
    return { kind: "reply", text: ending.spoken.text };
  const error = errorOf(ending);
  return error === undefined ? { kind: "silent" } : { kind: "failed", error };
}

function sentBy(key: SessionKey, channel: string): Provenance {
  return {
    kind: "inter_session",
    sourceSessionKey: key,
    sourceChannel: channel,
    sourceTool: "sessions_send",
  };
}
