import { z } from "zod";
import { given } from "../given.ts";
import type { AgentRunner } from "../ports/run.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import { displayKey } from "../session/describe.ts";
import type { KeyNames } from "../session/key.ts";
import { patched } from "../session/patch.ts";
import type { ReadStatus } from "../session/read-status.ts";
import type { Sessions } from "../session/sessions.ts";
import { type StatusFacts, shownModel } from "../session/status.ts";
import { MASK_NOTICE } from "../transcript/redact-mask.ts";
import { type Answer, type Caller, defineTool, failure, type ToolBasics, toolInput } from "./define-tool.ts";
import type { FindTarget, Target } from "./find-target.ts";
import { statusCard } from "./status-card.ts";

const input = toolInput({
  sessionKey: z
    .string()
    .max(1024)
    .optional()
    .describe(
      'Session key, "main", "current", sessionId or label. Default: "current", your own session; names that a client shows are not keys.',
    ),
  model: z
    .string()
    .trim()
    .max(200)
    .regex(/^\P{Cc}*$/u, "a model's name is one line")
    .optional()
    .describe('Switch this session to a model from its next run on; "default" ends that.'),
});

export interface StatusParts extends ToolBasics {
  readonly names: KeyNames;
  readonly agents: ReadonlyMap<string, AgentRunner>;
  readonly sessions: Sessions;
  readonly findTarget: FindTarget;
  readonly readStatus: ReadStatus;
}

export function sessionStatus(parts: StatusParts) {
  return defineTool(
    {
      name: "session_status",
      description:
        "The state of your own session or of another one that you may see: time, model, tokens, what runs, subagents at work, whether sending is on, and where answers go. Can also switch the session's model.",
      input,
      run: (asked, caller) => status(asked, caller, parts),
    },
    parts.logger,
  );
}

async function status(asked: z.output<typeof input>, caller: Caller, parts: StatusParts): Promise<Answer> {
  const target = await targetOf(asked.sessionKey?.trim() || "current", caller, parts);
  if (!target.found) return target.answer;
  if (target.session === undefined) return notThere();
  const switched = await withModel(asked.model, target.session, caller, parts);
  if ("answer" in switched) return switched.answer;
  const { session, changedModel, notes } = switched;
  const isOwn = session.key === caller.session.key;
  const active = isOwn ? caller.run?.replyTo : undefined;
  const mayShow = async (child: SessionKey) =>
    isOwn || (await parts.findTarget({ sessionKey: child }, caller, "status")).found;
  const { facts, redacted } = await parts.readStatus(session, { mayShow, ...given({ active }) });
  const requester = facts.ownTask?.requester;
  const hidden = requester !== undefined && !(await mayShow(requester)) ? requester : undefined;
  const shown = (key: SessionKey) =>
    key === hidden ? HIDDEN : displayKey(key, caller.session.agentId, parts.names);
  return {
    ok: true,
    sessionKey: shown(facts.key),
    agentId: facts.agentId,
    sessionId: facts.sessionId,
    changedModel,
    ...notes,
    statusText: statusCard(facts, shown),
    ...details(facts, shown),
    ...(redacted ? { contentRedacted: true, notice: MASK_NOTICE } : {}),
  };
}

/** In place of the key of a session that the caller may not see. */
const HIDDEN = "another session";

/** A label is looked for where no key or id fits; `current` and `main` are never labels. */
async function targetOf(written: string, caller: Caller, { findTarget }: StatusParts): Promise<Target> {
  const byKey = await findTarget({ sessionKey: written }, caller, "status");
  if (byKey.found || /^(current|main)$/i.test(written)) return byKey;
  const byLabel = await findTarget({ label: written }, caller, "status");
  if (byLabel.found || byLabel.answer.code === "SESSION_AMBIGUOUS") return byLabel;
  if (byKey.answer.code !== "SESSION_NOT_FOUND") return byKey;
  return byLabel.answer.code === "NOT_VISIBLE" ? byLabel : { found: false, answer: notThere() };
}

function notThere(): Answer {
  const own = 'for your own session use "current"; a name that a client shows is not a key';
  return failure(
    "SESSION_NOT_FOUND",
    `No session with that key, id or label (0 matches): ${own}. Else use a key from sessions_list.`,
  );
}

type Switched =
  | { readonly session: Session; readonly changedModel: boolean; readonly notes: Answer }
  | { readonly answer: Answer };

/** Whoever may only look at another session does not change it. Nothing is written where nothing changes. */
async function withModel(
  asked: string | undefined,
  session: Session,
  caller: Caller,
  parts: StatusParts,
): Promise<Switched> {
  const as = (notes: Answer): Switched => ({ session, changedModel: false, notes });
  if (asked === undefined) return as({});
  if (session.key !== caller.session.key) {
    const mayWrite = await parts.findTarget({ sessionKey: session.key }, caller, "send");
    if (!mayWrite.found) return { answer: mayWrite.answer };
  }
  const wanted = /^(default)?$/i.test(asked) ? undefined : asked;
  if (wanted === session.modelOverride) return as({});
  const problem = wanted === undefined ? undefined : modelProblem(wanted, session, parts);
  if (problem?.code === "MODEL_UNKNOWN" && !parts.config.agents.defaults.strictModel) {
    return as({ modelApplied: false, warning: problem.error });
  }
  if (problem !== undefined) return { answer: problem };
  const nowMs = parts.clock.now();
  const change = (current: Session) => patched(current, { model: wanted ?? null }, nowMs);
  return { session: await parts.sessions.change(session.key, change), changedModel: true, notes: {} };
}

function modelProblem(model: string, { agentId, runtime }: Session, { agents }: StatusParts) {
  if (runtime === "acp") {
    return failure(
      "INPUT_INVALID",
      "An external harness executes this session; it chooses the model itself.",
    );
  }
  const models = agents.get(agentId)?.models;
  if (models === undefined || models.includes(model)) return undefined;
  return failure(
    "MODEL_UNKNOWN",
    `Agent "${agentId}" has no model "${model}". Models: ${models.join(", ")}.`,
  );
}

/** The facts of the card for programs. Times are Unix ms. */
function details(facts: StatusFacts, shown: (key: SessionKey) => string): Answer {
  const { model, run, ownTask, tasks } = facts;
  return given({
    time: { now: facts.nowMs, timeZone: facts.timeZone },
    model: shownModel(model),
    modelOverride: model.override,
    lastRunModel: model.lastRun,
    usage: facts.usage,
    thinkingLevel: facts.thinkingLevel,
    verboseLevel: facts.verboseLevel,
    runState: run.state,
    runningSince: run.runningSinceMs,
    queuedRuns: run.queued,
    lastRun: run.last && {
      ...given({ status: run.last.status, runtimeMs: run.last.runtimeMs, endedAt: run.last.endedAtMs }),
      aborted: run.abortedLastRun,
    },
    tasks,
    task: ownTask && {
      name: ownTask.name,
      requester: shown(ownTask.requester),
      ...given({ deadline: ownTask.deadlineMs, outcome: ownTask.outcome }),
    },
    sending: facts.sending,
    deliveries: Object.keys(facts.deliveries).length === 0 ? undefined : facts.deliveries,
    ...facts.route,
  });
}
