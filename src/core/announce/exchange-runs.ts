import type { NewRun } from "../ports/engine.ts";
import type { Exchange } from "../ports/exchange.ts";
import type { Clock } from "../ports/host.ts";
import type { Provenance } from "../ports/run.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import { type Job, jobRun } from "../runs/job.ts";
import { exchangeRunId, nextRoundId, noteRunId, roundOf } from "../runs/run-id.ts";
import { channelOf, outwardKey } from "../session/describe.ts";
import type { KeyNames } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import type { NextStep } from "./steps.ts";

/** Turn 0: the target reads the request. The run has the id of the exchange. */
export function firstRun(exchange: Exchange, requester: Session, names: KeyNames): NewRun {
  return jobRun(exchange.id, "agent", {
    sessionKey: exchange.target,
    trigger: "send",
    text: exchange.request,
    atMs: exchange.startedAtMs,
    provenance: sentBy(outwardKey(requester.key, names), channelOf(requester)),
    chain: [...exchange.chain, requester.key],
    exchangeId: exchange.id,
    step: 0,
  });
}

/** The step that follows turn `after`: a turn of one of the two, or the announce of the target, whose chat is fixed here. */
export async function stepRun(
  exchange: Exchange,
  step: Exclude<NextStep, { kind: "end" }>,
  after: number,
  {
    clock,
    sessions,
    names,
  }: { readonly clock: Clock; readonly sessions: Sessions; readonly names: KeyNames },
): Promise<NewRun> {
  const announces = step.kind === "announce";
  const speaker = announces ? exchange.target : step.speaker;
  const other = speaker === exchange.target ? exchange.requester : exchange.target;
  const [speaking, partner] = [await sessions.get(speaker), await sessions.get(other)];
  const name = announces ? "announce" : step.turn;
  return jobRun(exchangeRunId(exchange.id, name), "exchange", {
    // Either may have moved meanwhile, and its runs wait in the lane of the key that it has now.
    sessionKey: speaking?.key ?? speaker,
    trigger: announces ? "announce" : "reply-back",
    text: "",
    atMs: clock.now(),
    provenance: sentBy(
      outwardKey(partner?.key ?? other, names),
      partner === undefined ? "unknown" : channelOf(partner),
    ),
    chain: visited(exchange, after),
    exchangeId: exchange.id,
    step: name,
    ...(announces && speaking?.route !== undefined ? { replyTo: speaking.route } : {}),
  });
}

const FIRST_LOOK_MS = 1000;
const LONGEST_LOOK_MS = 60_000;

/** The same turn later: whoever has yielded answers when its subagents have ended. Looked for less and less often, at last once a minute. */
export function laterTurn(
  exchange: Exchange,
  job: Job,
  runId: string,
  { clock }: { readonly clock: Clock },
): NewRun {
  const nowMs = clock.now();
  const delayMs = Math.min(FIRST_LOOK_MS * 2 ** Math.min(roundOf(runId), 10), LONGEST_LOOK_MS);
  const id = nextRoundId(runId, exchange.id, exchange.turn);
  return jobRun(id, "exchange", { ...job, trigger: "reply-back", atMs: nowMs }, nowMs + delayMs);
}

/**
 * A requester learns of a failure in its next run, without a run of its own. The note waits in its lane behind the run that may still get the
 * failure as its tool result, and is dropped then.
 */
export async function failureNote(
  { id, requester, target, reason }: Exchange,
  { clock, sessions }: { readonly clock: Clock; readonly sessions: Sessions },
): Promise<NewRun> {
  return jobRun(noteRunId(id), "note", {
    sessionKey: (await sessions.get(requester))?.key ?? requester,
    trigger: "completion",
    text: `Your sessions_send ${id} was not answered: ${reason ?? "the run failed"}.`,
    atMs: clock.now(),
    provenance: { kind: "internal_system", sourceSessionKey: target, sourceTool: "sessions_send" },
    chain: [],
    exchangeId: id,
  });
}

/** Every turn is a hop: else each of them could open exchanges whose turns do the same, and a ring of agents would multiply. */
function visited({ chain, requester, target }: Exchange, turns: number): readonly SessionKey[] {
  return [...chain, ...Array.from({ length: turns + 2 }, (_, hop) => (hop % 2 === 0 ? requester : target))];
}

function sentBy(key: string, channel: string): Provenance {
  return {
    kind: "inter_session",
    sourceSessionKey: key,
    sourceChannel: channel,
    sourceTool: "sessions_send",
  };
}
