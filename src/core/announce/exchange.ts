import { untoldBelow } from "../children/parts.ts";
import type { Config } from "../config.ts";
import type { SendCheck } from "../delivery/send-check.ts";
import type { NewRun, RunQueue } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Exchange } from "../ports/exchange.ts";
import type { Clock } from "../ports/host.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Storage, Write } from "../ports/storage.ts";
import { type Ending, errorOf } from "../runs/ending.ts";
import { type Aftermath, type Begun, type Flow, NOTHING } from "../runs/executor-parts.ts";
import type { Job } from "../runs/job.ts";
import { deliveryId, exchangeIdOf, roundOf } from "../runs/run-id.ts";
import { kindOf } from "../session/describe.ts";
import { type KeyNames, partsOf } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Redactor } from "../transcript/redact.ts";
import { failureNote, firstRun, laterTurn, stepRun } from "./exchange-runs.ts";
import { stepPrompt } from "./step-prompt.ts";
import { ANNOUNCE_TURN, advance, type Ended } from "./steps.ts";

/** Of all turns of one exchange. */
const MAX_YIELDS = 5;

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

export interface Exchanges extends Flow {
  /** The target's first run, and the record that lives as long as the exchange. */
  open(request: ExchangeRequest): { readonly run: NewRun; readonly writes: readonly Write[] };
  /** The caller has its answer, or left without one. Resolves with the record. */
  callerLeft(id: string, how: "answered" | "gone"): Promise<Exchange | undefined>;
  /** The marks of answers that a run has got, written with the rows that hold them. */
  heard(exchangeIds: readonly string[]): readonly Write[];
}

interface Parts {
  readonly config: Config;
  readonly names: KeyNames;
  readonly sendCheck: SendCheck;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly queue: RunQueue;
  readonly events: Events;
  /** What one session says to another is masked like what it lets read. */
  readonly redactor: Redactor;
}

/**
 * Agent-to-agent exchanges: first answer, reply-back turns, announce step. The record says where an exchange stands; each step is a run that the
 * settlement of the step before it enqueued, so a restart neither loses nor repeats one. Nobody's chat route is touched, and only the announce leaves.
 */
export function createExchanges(parts: Parts): Exchanges {
  const records = parts.storage.records("exchange");

  /**
   * The exchange at the step that the job is; undefined for a note, which is none. A run that has not been settled may find it further on: a store
   * without transactions was written, and then the process ended. The step counts as not taken.
   */
  async function current({ exchangeId, step }: Job): Promise<Exchange | undefined> {
    if (exchangeId === undefined || step === undefined) return undefined;
    const exchange = await records.get(exchangeId);
    const turn = step === "announce" ? ANNOUNCE_TURN : step;
    if (exchange === undefined || (exchange.state === "open" && exchange.turn === turn)) return exchange;
    const { deliveryId: _never, reason: _former, ...record } = exchange;
    return { ...record, state: "open", turn };
  }

  /** A note about an exchange is news as long as the caller has not got the answer itself. */
  async function isUnanswered({ exchangeId }: Job): Promise<boolean> {
    return exchangeId === undefined || (await records.get(exchangeId))?.caller !== "answered";
  }

  return {
    open: (request) => opening(request, parts),
    callerLeft: (id, how) =>
      records.update(id, (current) => (current === undefined ? undefined : { ...current, caller: how })),
    async begin(job, { id, kind }) {
      if (kind === "note") {
        const isNews = await isUnanswered(job);
        return isNews ? { take: "row", prompt: job, ...NOTHING } : { take: "nothing", ...NOTHING };
      }
      const exchange = await current(job);
      return exchange === undefined ? { take: "nothing", ...NOTHING } : beginStep(job, id, exchange, parts);
    },
    async after(job, { runId, ending }) {
      const exchange = await current(job);
      if (exchange === undefined) return NOTHING;
      const isPutOff = ending.kind === "yielded" && exchange.turn !== ANNOUNCE_TURN;
      return isPutOff
        ? putOff(exchange, job, runId, parts)
        : aftermath(exchange, runId, ended(ending), parts);
    },
    heard: (ids) =>
      ids.map((id) => ({
        type: "record",
        table: "exchange",
        key: id,
        change: (now) => (now === undefined ? undefined : { ...now, caller: "answered" }),
      })),
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
    maxTurns:
      takesTurns(requester, names) && !isSubagent(target) ? config.session.agentToAgent.maxPingPongTurns : 0,
    turn: 0,
    caller: waits ? "waiting" : "gone",
    state: "open",
    startedAtMs: atMs,
    updatedAtMs: atMs,
  };
  const write: Write = {
    type: "record",
    table: "exchange",
    key: id,
    // A record that is settled belongs to a run that is forgotten: the same id is a new exchange.
    change: (current) => (current?.state === "open" ? current : exchange),
  };
  return { run: firstRun(exchange, requester, names), writes: [write] };
}

/** Cron, hook and node sessions have ended by the time an answer comes, and a subagent's partner is its requester alone. */
function takesTurns(requester: Session, names: KeyNames): boolean {
  const kind = kindOf(requester.key, names, requester);
  return (kind === "main" || kind === "group" || kind === "other") && !isSubagent(requester.key, requester);
}

function isSubagent(key: SessionKey, session?: Session): boolean {
  return partsOf(key).family === "subagent" || session?.spawnedBy !== undefined;
}

/** An exchange is remembered as long as its runs are. One that still goes on stays: it goes with a later step. */
export function forgottenExchanges(runIds: readonly string[]): readonly Write[] {
  const ids = new Set(runIds.map(exchangeIdOf).filter((id) => id !== undefined));
  return [...ids].map((id) => ({
    type: "record",
    table: "exchange",
    key: id,
    change: (current) => (current?.state === "open" ? current : undefined),
  }));
}

async function beginStep(job: Job, runId: string, exchange: Exchange, parts: Parts): Promise<Begun> {
  const withdrawn = job.step === "announce" ? await unannounced(exchange, parts) : undefined;
  if (withdrawn !== undefined) return { take: "nothing", writes: [settle(withdrawn, parts)], effects: [] };
  if (roundOf(runId) > 0 && (await untoldBelow(job.sessionKey, [], parts)) > 0) {
    return { take: "nothing", writes: [], effects: [laterTurn(exchange, job, runId, parts)] };
  }
  return { take: "turn", prompt: await stepPrompt(runId, job, exchange, parts) };
}

/** Somebody who yields has not answered yet: it is asked again when its subagents have ended. An agent that does nothing else is left in the end. */
async function putOff(exchange: Exchange, job: Job, runId: string, parts: Parts): Promise<Aftermath> {
  const yields = (exchange.yields ?? 0) + 1;
  if (yields > MAX_YIELDS) {
    return aftermath(exchange, runId, { kind: "failed", error: "it yielded again and again" }, parts);
  }
  return {
    writes: [settle({ ...exchange, yields }, parts)],
    effects: [laterTurn(exchange, job, runId, parts)],
  };
}

async function aftermath(exchange: Exchange, runId: string, ended: Ended, parts: Parts): Promise<Aftermath> {
  const { exchange: advanced, next } = advance(exchange, ended);
  const withdrawn = next.kind === "announce" ? await unannounced(advanced, parts) : undefined;
  const now = withdrawn ?? {
    ...advanced,
    ...(advanced.state === "announced" ? { deliveryId: deliveryId(runId, "announce") } : {}),
  };
  const step =
    next.kind === "end" || withdrawn !== undefined ? [] : [await stepRun(now, next, exchange.turn, parts)];
  const untold = now.state === "failed" && exchange.turn === 0 ? [await failureNote(now, parts)] : [];
  return { writes: [settle(now, parts)], effects: [...step, ...untold] };
}

/** The write of where an exchange stands now, told once when it is over. */
function settle(exchange: Exchange, { clock, events }: Parts): Write {
  const { id, state } = exchange;
  const updatedAtMs = clock.now();
  if (state !== "open") events.emit("exchange.settled", { exchangeId: id, state });
  return {
    type: "record",
    table: "exchange",
    key: id,
    // The caller's own mark may have come between reading and writing.
    change: (current) => ({ ...exchange, updatedAtMs, caller: current?.caller ?? exchange.caller }),
  };
}

/** The exchange without its announce, where that has nowhere to go or may not be seen; no model is asked for such a text. */
async function unannounced(
  exchange: Exchange,
  { sessions, sendCheck }: Parts,
): Promise<Exchange | undefined> {
  const target = await sessions.get(exchange.target);
  if (target?.route === undefined) {
    return { ...exchange, state: "no_route", reason: "The target session has no chat." };
  }
  const may = await sendCheck(target, target.route);
  return may.allowed ? undefined : { ...exchange, state: "suppressed", reason: may.reason };
}

function ended(ending: Ending): Ended {
  if (ending.kind === "ok" && ending.spoken.kind === "text")
    return { kind: "reply", text: ending.spoken.text };
  const error = errorOf(ending);
  return error === undefined ? { kind: "silent" } : { kind: "failed", error };
}
