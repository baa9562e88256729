import { z } from "zod";
import type { Exchanges } from "../announce/exchange.ts";
import { SwitchboardError } from "../errors.ts";
import type { RunQueue, RunRecord } from "../ports/engine.ts";
import type { SessionKey } from "../ports/session.ts";
import { resultOf } from "../runs/job.ts";
import { keyedSendRunId, sendRunId } from "../runs/run-id.ts";
import { displayKey, outwardKey } from "../session/describe.ts";
import { agentIdOf, isThreadKey, type KeyNames, parentKey } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
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

const DEFAULT_WAIT_SECONDS = 30;
const MAX_WAIT_SECONDS = 3600;
/** Sessions that one originating message may pass through. */
const MAX_HOPS = 8;

const input = toolInput({
  sessionKey: z.string().optional().describe("Session key or sessionId of the target."),
  label: z.string().optional().describe("Label of the target, when there is no key."),
  agentId: z.string().optional().describe("With a label: its agent. Alone: that agent's main session."),
  message: z
    .string()
    .trim()
    .min(1, "message is empty")
    .max(65_536)
    .describe("What to tell the other session."),
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
  const target = await parts.findTarget(asked, caller, "send");
  if (!target.found) return target.answer;
  const sessionKey = displayKey(target.key, caller.session.agentId, parts.names);
  const refusal = refusalOf(target.key, caller, parts.names);
  if (refusal !== undefined) return refusal;

  const waiter = asked.timeoutSeconds > 0 ? caller.run?.runId : undefined;
  const id = runIdOf(asked, target.key, caller, call);
  const exchange = parts.exchanges.open({
    id,
    requester: caller.session,
    target: target.key,
    message: asked.message,
    chain: caller.run?.chain ?? [],
    waits: asked.timeoutSeconds > 0,
  });
  const opening =
    target.session === undefined
      ? [parts.sessions.opening(target.key, agentIdOf(target.key, parts.names))]
      : [];
  try {
    await parts.queue.enqueue(exchange.run, {
      writes: [...opening, ...exchange.writes],
      ...(waiter === undefined ? {} : { waiter }),
    });
  } catch (error) {
    const cycle = cycleAnswer(error);
    if (cycle !== undefined) return cycle;
    throw error;
  }
  const delivery = { status: "pending", mode: "announce" };
  if (asked.timeoutSeconds === 0) return { runId: id, status: "accepted", sessionKey, delivery };
  const settled = await waitFor(id, asked.timeoutSeconds * 1000, waiter, caller, call, parts.queue);
  return settled === undefined
    ? leaveEarly(id, sessionKey, asked.timeoutSeconds, caller, parts)
    : answered(settled, sessionKey, caller, parts);
}

/** What no key may do, whoever asks. */
function refusalOf(target: SessionKey, caller: Caller, names: KeyNames): Answer | undefined {
  if (target === caller.session.key) {
    return failure("SELF_TARGET", "That is your own session: just answer instead of sending to yourself.");
  }
  if (isThreadKey(target)) {
    const parent = parentKey(target);
    const hint =
      parent === undefined ? "" : ` Use ${displayKey(parent, caller.session.agentId, names)} instead.`;
    return failure("THREAD_TARGET", `A thread belongs to the people in it and is not a send target.${hint}`);
  }
  const visited = [...(caller.run?.chain ?? []), caller.session.key];
  const path = [...visited, target].map((key) => outwardKey(key, names)).join(" → ");
  if (visited.includes(target)) {
    return failure(
      "RING_REFUSED",
      `This message already passed through that session (${path}). Answer in your reply instead.`,
    );
  }
  if (visited.length > MAX_HOPS) {
    return failure(
      "HOP_LIMIT",
      `A message may pass through ${MAX_HOPS} sessions (${path}). Answer in your reply instead.`,
    );
  }
  return undefined;
}

function runIdOf(asked: Asked, target: SessionKey, caller: Caller, call: ToolCall): string {
  const { idempotencyKey } = asked;
  return idempotencyKey === undefined
    ? sendRunId(caller.callScope, call.callId)
    : keyedSendRunId(caller.session.key, target, idempotencyKey);
}

function cycleAnswer(error: unknown): Answer | undefined {
  if (!(error instanceof SwitchboardError) || error.code !== "WAIT_CYCLE") return undefined;
  return failure(
    "WAIT_CYCLE",
    `Nothing was sent: ${error.message} Send with timeoutSeconds: 0, or answer first.`,
    error.details.chain === undefined ? {} : { chain: error.details.chain },
  );
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
  // A run may end before its model has read this: then the answer counts as heard only with the row that holds it.
  if (run === undefined) await exchanges.callerLeft(settled.id, "answered");
  else run.heard(settled.id);
  if (settled.state !== "done") {
    return failure("RUN_FAILED", settled.error ?? "The run was stopped.", { runId: settled.id, sessionKey });
  }
  const reply = resultOf(settled.result)?.reply;
  const masked = redactor.redact(reply ?? "");
  return {
    runId: settled.id,
    status: "ok",
    ...(reply === undefined ? {} : { reply: masked.text }),
    ...(masked.redacted ? { contentRedacted: true, notice: MASK_NOTICE } : {}),
    sessionKey,
    // Without an answer there is nothing to announce.
    delivery:
      reply === undefined ? { status: "skipped", mode: "announce" } : { status: "pending", mode: "announce" },
  };
}

/** The wait is over, the run is not: the answer must make a blind repetition look wrong. */
async function leaveEarly(
  id: string,
  sessionKey: string,
  seconds: number,
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
    error: `No answer within ${seconds} s, but the message was handed over and its run ${id} is ${runState}. Do not send it again; read the answer later with sessions_history.`,
    delivered: true,
    runState,
    sessionKey,
    delivery: { status: "pending", mode: "announce" },
  };
}
