import type { Exchange } from "../ports/exchange.ts";
import type { Session } from "../ports/session.ts";
import type { StepPrompt } from "../runs/executor-parts.ts";
import type { Job } from "../runs/job.ts";
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
} from "./wording.ts";

/** What the speaker of a step is told, from the record as it stands now. */
export async function stepPrompt(
  job: Job,
  exchange: Exchange,
  { sessions, redactor }: { readonly sessions: Sessions; readonly redactor: Redactor },
): Promise<StepPrompt> {
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
  if (turn === 0) {
    const extraSystemPrompt = messageContext(names.requester, names.target);
    return { text: job.text, provenance: job.provenance, extraSystemPrompt };
  }
  const known = turn === 1 && exchange.caller === "answered";
  const said: Pick<StepPrompt, "text" | "provenance"> = known
    ? { text: REPLY_ALREADY_RETURNED, provenance: { kind: "internal_system" } }
    : { text: masked(exchange.latestReply ?? ""), provenance: job.provenance };
  return {
    ...said,
    extraSystemPrompt: replyBackContext({
      ...between,
      speaker: turn % 2 === 1 ? "requester" : "target",
      turn,
      maxTurns: exchange.maxTurns,
    }),
  };
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
