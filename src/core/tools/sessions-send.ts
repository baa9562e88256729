import { z } from "zod";
import type { Exchanges } from "../announce/exchange.ts";
import { given } from "../given.ts";
import { KEY_UNITS, RAW_LABEL_UNITS, REPLY_UNITS } from "../limits.ts";
import { messageText } from "../message-text.ts";
import { sendProblem } from "../policy/send-path.ts";
import type { RunQueue, RunRecord } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { SessionKey } from "../ports/session.ts";
import { resultOf } from "../runs/job.ts";
import { keyedSendRunId, sendRunId } from "../runs/run-id.ts";
import { displayKey } from "../session/describe.ts";
import { agentIdOf, type KeyNames } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import { cutText } from "../transcript/limits.ts";
import type { Redactor } from "../transcript/redact.ts";
import { MASK_NOTICE } from "../transcript/redact-mask.ts";
import {
  type Answer,
  type Caller,
  clamped,
  defineTool,
  failure,
  type ToolBasics,
  type ToolCall,
  toolInput,
} from "./define-tool.ts";
import type { FindTarget } from "./find-target.ts";
import { budgetOrCycle, reported, sendCount } from "./send-limits.ts";

const DEFAULT_WAIT_SECONDS = 30;
const MAX_WAIT_SECONDS = 3600;

const input = toolInput({
  sessionKey: z.string().max(KEY_UNITS).optional().describe("Session key or sessionId of the target."),
  label: z.string().max(RAW_LABEL_UNITS).optional().describe("Label of the target, when there is no key."),
  agentId: z
    .string()
    .max(KEY_UNITS)
    .optional()
    .describe("With a label: its agent. Alone: that agent's main session."),
  message: messageText("message").trim().describe("What to tell the other session."),
  timeoutSeconds: clamped(0, MAX_WAIT_SECONDS, "How long to wait for the answer; 0 = do not wait").default(
    DEFAULT_WAIT_SECONDS,
  ),
  idempotencyKey: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("The same key again returns the first call's result."),
});

export interface SendParts extends ToolBasics {
  readonly names: KeyNames;
  readonly sessions: Sessions;
  readonly queue: RunQueue;
  readonly exchanges: Exchanges;
  readonly findTarget: FindTarget;
  readonly redactor: Redactor;
  readonly events: Events;
}

export function sessionsSend(parts: SendParts) {
  return defineTool(
    {
      name: "sessions_send",
      description:
        "Send a message to another session's agent and wait for its answer. When the wait ends first, the message was still handed over: do not send it again; the answer appears in that session's history. The two agents may go on for some turns; the target then announces the outcome in its own chat.",
      input,
      run: (asked, caller, call) => send(asked, caller, call, parts),
    },
    parts.logger,
  );
}

type Asked = z.output<typeof input>;

async function send(asked: Asked, caller: Caller, call: ToolCall, parts: SendParts): Promise<Answer> {
  const chain = caller.run?.chain ?? [];
  const target = await parts.findTarget(asked, caller, "send");
  if (!target.found) return target.answer;
  const sessionKey = displayKey(target.key, caller.session.agentId, parts.names);
  const { key: sender, agentId } = caller.session;
  const { named } = target;
  const problem = sendProblem(target.key, given({ sender, agentId, chain, named }), parts.names);
  if (problem !== undefined) {
    return reported(failure(problem.code, problem.reason), target.key, caller, parts);
  }

  const waiter = asked.timeoutSeconds > 0 ? caller.run?.runId : undefined;
  const id = runIdOf(asked, target.key, caller, call);
  const exchange = parts.exchanges.open({
    id,
    requester: caller.session,
    target: target.key,
    message: asked.message,
    chain,
    waits: asked.timeoutSeconds > 0,
  });
  const opening =
    target.session === undefined
      ? [parts.sessions.opening(target.key, agentIdOf(target.key, parts.names))]
      : [];
  try {
    await parts.queue.enqueue(exchange.run, {
      writes: [...sendCount(caller, parts), ...opening, ...exchange.writes],
      ...(waiter === undefined ? {} : { waiter }),
    });
  } catch (error) {
    const refusal = budgetOrCycle(error);
    if (refusal !== undefined) return reported(refusal, target.key, caller, parts);
    throw error;
  }
  const delivery = { status: "pending", mode: "announce" };
  if (asked.timeoutSeconds === 0) return { runId: id, status: "accepted", sessionKey, delivery };
  const settled = await waitFor(id, asked.timeoutSeconds * 1000, waiter, caller, call, parts.queue);
  return settled === undefined
    ? leaveEarly(id, sessionKey, waitedFor(asked, call), caller, parts)
    : answered(settled, sessionKey, caller, parts);
}

function runIdOf(asked: Asked, target: SessionKey, caller: Caller, call: ToolCall): string {
  const { idempotencyKey } = asked;
  return idempotencyKey === undefined
    ? sendRunId(caller.callScope, call.callId)
    : keyedSendRunId(caller.session.key, target, idempotencyKey);
}

function waitFor(
  id: string,
  timeoutMs: number,
  waiter: string | undefined,
  caller: Caller,
  call: ToolCall,
  queue: RunQueue,
): Promise<RunRecord | undefined> {
  const wait = () =>
    queue.wait(id, timeoutMs, { signal: call.signal, ...(waiter === undefined ? {} : { waiter }) });
  return caller.run === undefined ? wait() : caller.run.whileWaiting(wait);
}

async function answered(
  settled: RunRecord,
  sessionKey: string,
  { run }: Caller,
  { exchanges, redactor }: SendParts,
): Promise<Answer> {
  const result = resultOf(settled.result);
  if (result?.status === "yielded") {
    await exchanges.callerLeft(settled.id, "gone");
    return putOff(settled.id, sessionKey);
  }
  // A run may end before its model has read this: then the answer counts as heard only with the row that holds it.
  if (run === undefined) await exchanges.callerLeft(settled.id, "answered");
  else run.heard(settled.id);
  if (settled.state !== "done") {
    return failure("RUN_FAILED", settled.error ?? "The run was stopped.", { runId: settled.id, sessionKey });
  }
  const reply = result?.reply;
  const masked = redactor.redact(reply ?? "");
  const { text, cut } = cutText(masked.text, REPLY_UNITS);
  return {
    runId: settled.id,
    status: "ok",
    ...(reply === undefined ? {} : { reply: text }),
    ...(cut ? { contentTruncated: true } : {}),
    ...(masked.redacted ? { contentRedacted: true, notice: MASK_NOTICE } : {}),
    sessionKey,
    // Without an answer there is nothing to announce.
    delivery:
      reply === undefined ? { status: "skipped", mode: "announce" } : { status: "pending", mode: "announce" },
  };
}

/** The target goes on when its own subagents have ended, which nobody's call waits for. */
function putOff(runId: string, sessionKey: string): Answer {
  return {
    runId,
    status: "accepted",
    delivered: true,
    notice:
      "The target has the message and waits for its own subagents before it answers. Do not send it again; the answer comes later and can be read with sessions_history.",
    sessionKey,
    delivery: { status: "pending", mode: "announce" },
  };
}

function waitedFor({ timeoutSeconds }: Asked, { signal }: ToolCall): string {
  return signal.aborted ? "before the wait was broken off" : `within ${timeoutSeconds} s`;
}

/** The wait is over, the run is not: the answer must make a blind repetition look wrong. */
async function leaveEarly(
  id: string,
  sessionKey: string,
  waited: string,
  caller: Caller,
  parts: SendParts,
): Promise<Answer> {
  await parts.exchanges.callerLeft(id, "gone");
  const run = await parts.queue.get(id);
  if (run !== undefined && run.state !== "queued" && run.state !== "running")
    return answered(run, sessionKey, caller, parts);
  const runState = run?.state ?? "queued";
  return {
    runId: id,
    status: "timeout",
    error: `No answer ${waited}, but the message was handed over and its run ${id} is ${runState}. Do not send it again; read the answer later with sessions_history.`,
    delivered: true,
    runState,
    sessionKey,
    delivery: { status: "pending", mode: "announce" },
  };
}
