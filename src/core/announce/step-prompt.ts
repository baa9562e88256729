import type { Config } from "../config.ts";
import type { Exchange } from "../ports/exchange.ts";
import type { TranscriptEntry } from "../ports/run.ts";
import type { Session } from "../ports/session.ts";
import type { Storage } from "../ports/storage.ts";
import type { StepPrompt } from "../runs/executor-parts.ts";
import { historyBefore } from "../runs/history.ts";
import type { Job } from "../runs/job.ts";
import { roundOf } from "../runs/run-id.ts";
import { placeOf } from "../runs/turn.ts";
import { channelOf, shownName } from "../session/describe.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Redactor } from "../transcript/redact.ts";
import {
  ANNOUNCE_CUE,
  announceContext,
  messageContext,
  neutralizeMarkers,
  REPLY_ALREADY_RETURNED,
  replyBackContext,
  YIELD_OVER,
  yieldedContext,
} from "./wording.ts";

interface Parts {
  readonly config: Config;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly redactor: Redactor;
}

/** What the speaker of a step is told in this run, from the record as it stands now. */
export async function stepPrompt(
  runId: string,
  job: Job,
  exchange: Exchange,
  parts: Parts,
): Promise<StepPrompt> {
  const { sessions, redactor } = parts;
  const masked = (text: string) => redactor.redact(text).text;
  const names = await namesOf(exchange, sessions, masked);
  const between = { requester: names.requester, target: names.target };
  if (job.step === "announce") {
    return {
      text: ANNOUNCE_CUE,
      provenance: { kind: "internal_system" },
      extraSystemPrompt: announceContext({
        ...between,
        chat: names.targetChannel,
        request: exchange.request,
        roundOneReply: exchange.roundOneReply,
        latestReply: exchange.latestReply === undefined ? undefined : masked(exchange.latestReply),
      }),
    };
  }
  const turn = job.step ?? 0;
  const latest = masked(exchange.latestReply ?? "");
  const isPutOff = roundOf(runId) > 0;
  if (turn === 0) {
    const extraSystemPrompt = messageContext(names.requester, names.target);
    if (isPutOff) return afterYield(extraSystemPrompt, exchange.request);
    return { text: job.text, provenance: job.provenance, extraSystemPrompt };
  }
  const extraSystemPrompt = replyBackContext({
    ...between,
    speaker: turn % 2 === 1 ? "requester" : "target",
    turn,
    maxTurns: exchange.maxTurns,
  });
  if (isPutOff) return afterYield(extraSystemPrompt, latest);
  const known = turn === 1 && (await isBefore(latest, runId, job, exchange, parts));
  const said: Pick<StepPrompt, "text" | "provenance"> = known
    ? { text: REPLY_ALREADY_RETURNED, provenance: { kind: "internal_system" } }
    : { text: latest, provenance: job.provenance };
  return { ...said, extraSystemPrompt };
}

/** What it was asked before it yielded is repeated: its session may have been reset meanwhile. */
function afterYield(context: string, asked: string): StepPrompt {
  return {
    text: YIELD_OVER,
    provenance: { kind: "internal_system" },
    extraSystemPrompt: yieldedContext(context, asked),
  };
}

/**
 * Whether the requester reads the whole reply in the result of its call, in front of this run. A reset, a short history or a long answer in between
 * may have taken that out of its sight.
 */
async function isBefore(
  reply: string,
  runId: string,
  { sessionKey }: Job,
  { id, caller }: Exchange,
  parts: Parts,
): Promise<boolean> {
  const session = caller === "answered" ? await parts.sessions.get(sessionKey) : undefined;
  if (session === undefined) return false;
  const { firstSeq } = placeOf(await parts.storage.transcripts.info(session.sessionId), runId);
  const words = neutralizeMarkers(reply);
  const spellings = [words, JSON.stringify(words).slice(1, -1)];
  const holdsReply = ({ content }: TranscriptEntry) =>
    content.some(
      (block) =>
        block.type === "toolResult" &&
        block.text.includes(id) &&
        spellings.some((spelling) => block.text.includes(spelling)),
    );
  return (await historyBefore(session.sessionId, firstSeq, parts)).some(holdsReply);
}

interface Names {
  readonly requester: string;
  readonly target: string;
  readonly targetChannel: string;
}

/** Prompts name sessions as people do: a live key would invite the model to call tools on it. Titles and labels are somebody's choice. */
async function namesOf(
  exchange: Exchange,
  sessions: Sessions,
  masked: (text: string) => string,
): Promise<Names> {
  const [requester, target] = await Promise.all([
    sessions.get(exchange.requester),
    sessions.get(exchange.target),
  ]);
  const name = (session: Session | undefined) =>
    session === undefined
      ? "a session"
      : `${neutralizeMarkers(shownName(session, masked))} (agent ${session.agentId}, ${channelOf(session)})`;
  return {
    requester: name(requester),
    target: name(target),
    targetChannel: target === undefined ? "unknown" : channelOf(target),
  };
}
