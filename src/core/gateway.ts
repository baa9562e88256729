import { type ErrorCode, SwitchboardError } from "./errors.ts";
import { type GatewayMethod, type GatewayParams, gatewayParams } from "./gateway/gateway-params.ts";
import { checkModel, type GatewayParts, keyOf } from "./gateway/gateway-parts.ts";
import { startRun } from "./gateway/start-run.ts";
import { given } from "./given.ts";
import { inputCode } from "./message-text.ts";
import type { RunId } from "./ports/engine.ts";
import type { Json } from "./ports/host.ts";
import type { Session, SessionKey } from "./ports/session.ts";
import { asksAgent } from "./runs/job.ts";
import { childIdOfRun } from "./runs/run-id.ts";
import { newSession } from "./session/arrival.ts";
import { agentIdOf, isMainKey, mainKey } from "./session/key.ts";
import { labelOf, patched } from "./session/patch.ts";
import { everyText } from "./transcript/prompt.ts";

export type { GatewayMethod };

/** The calls of the host program, by name. */
export interface Gateway {
  /** Rejects with SwitchboardError; INPUT_INVALID names every wrong parameter. */
  call(method: GatewayMethod, params?: unknown): Promise<Readonly<Record<string, unknown>>>;
}

/** How long a deleted session's runs may take to stop. */
const RUN_END_MS = 15_000;

type Calls = {
  readonly [M in GatewayMethod]: (params: GatewayParams<M>) => Promise<Readonly<Record<string, unknown>>>;
};

/** Trusted like the program that makes the calls: they skip visibility, but never send policy, redaction or limits. */
export function createGateway(parts: GatewayParts): Gateway {
  const calls = createCalls(parts);
  return {
    async call(method, params = {}) {
      if (!Object.hasOwn(gatewayParams, method)) {
        throw new SwitchboardError(
          "INPUT_INVALID",
          `No call "${method}". Calls: ${Object.keys(gatewayParams).join(", ")}.`,
        );
      }
      const parsed = gatewayParams[method].safeParse(params);
      if (!parsed.success) {
        const problems = parsed.error.issues.map(
          (issue) => `${issue.path.join(".") || "params"}: ${issue.message}`,
        );
        throw new SwitchboardError(inputCode(parsed.error), `${method}: ${problems.join("; ")}`);
      }
      // The shape was looked up by the same name, so its output is what the call of that name takes.
      const call = calls[method] as (params: unknown) => Promise<Readonly<Record<string, unknown>>>;
      return call(parsed.data).catch((error: unknown) => {
        throw maskedError(error, parts.redactor);
      });
    },
  };
}

/** Sentences of ours repeat labels and reasons that somebody wrote. */
function maskedError(error: unknown, redactor: GatewayParts["redactor"]): unknown {
  if (!(error instanceof SwitchboardError)) return error;
  const { text: message, redacted } = redactor.redact(error.message);
  const { code, cause, details } = error;
  return redacted ? new SwitchboardError(code, message, { cause, details }) : error;
}

function createCalls(parts: GatewayParts): Calls {
  const { sessions, clock, names } = parts;
  return {
    agent: (params) => startRun(params, "agent", parts),
    "chat.send": (params) => startRun(params, "chat.send", parts),
    "agent.wait": ({ runId, timeoutSeconds }) => waitFor(runId, timeoutSeconds * 1000, parts),
    "chat.history": (params) => asTool("sessions_history", params, parts),
    "sessions.list": (params) => asTool("sessions_list", params, parts),
    "sessions.resolve": (params) => resolve(params, parts),
    async "sessions.patch"({ sessionKey, ...patch }) {
      const key = keyOf(sessionKey, parts);
      if (patch.model != null) checkModel(patch.model, agentIdOf(key, names), parts);
      await sessions.change(key, (session) => patched(session, patch, clock.now()));
      return { ok: true, key };
    },
    async "sessions.reset"({ sessionKey }) {
      const session = await sessions.reset(keyOf(sessionKey, parts));
      return { ok: true, key: session.key, sessionId: session.sessionId };
    },
    async "sessions.delete"({ sessionKey }) {
      const key = keyOf(sessionKey, parts);
      await endTasks(key, parts);
      const session = await sessions.remove(key);
      await endRuns(session.key, parts);
      // A spawn may have been under way until now.
      await parts.children.stopBelow(session.key, "owner");
      await forgetChildren(session.key, parts);
      await deleteTranscripts(session, parts);
      await parts.undelivered.forget(session.key);
      return { ok: true, key: session.key };
    },
  };
}

/** How the run ended, beside the exchange or the task that it began when it is that of a sessions_send or sessions_spawn; masked like every way out. */
async function waitFor(
  runId: RunId,
  timeoutMs: number,
  { queue, storage, redactor, children }: GatewayParts,
) {
  const settled = await queue.wait(runId, timeoutMs);
  if (settled === undefined) return { runId, status: "timeout" };
  const exchange = await storage.records("exchange").get(runId);
  const childId = childIdOfRun(runId);
  const child = childId === undefined ? undefined : await children.get(childId);
  // Run records, exchanges and tasks are JSON, and a record stays a record.
  const answer = given({ ...settled, exchange, child }) as unknown as Json;
  return everyText(answer, (text) => redactor.redact(text).text) as { readonly [name: string]: Json };
}

/** Whoever works for a session that goes has nobody to work for; and a child that goes does not do its task. */
async function endTasks(key: SessionKey, { sessions, children, names }: GatewayParts): Promise<void> {
  const session = await sessions.get(key);
  if (session === undefined || isMainKey(session.key, names)) return;
  const task = await children.taskOf(session.key);
  await (task === undefined ? children.stopBelow(session.key, "owner") : children.stop(task, "owner"));
}

/** A chat that comes back has none of them. */
async function forgetChildren(key: SessionKey, { storage }: GatewayParts): Promise<void> {
  await storage.apply([{ type: "record", table: "family", key, change: () => undefined }]);
}

/** Without its session a queued run settles by itself, with all that depends on it; the one that is under way is stopped. */
async function endRuns(key: SessionKey, { queue, logger }: GatewayParts): Promise<void> {
  // What only looks after the session may be due much later, and does no harm.
  const pending = (await queue.pending(key)).filter(asksAgent);
  const running = pending.filter((run) => run.state === "running");
  await Promise.all(running.map((run) => queue.cancel(run.id)));
  const ended = await Promise.all(pending.map((run) => queue.wait(run.id, RUN_END_MS)));
  if (ended.includes(undefined)) logger.warn({ key }, "A run of a deleted session has not stopped yet");
}

/** Of all session ids that it had. When its chat has come back meanwhile, what is said there now is the new session's. */
async function deleteTranscripts(
  { key, sessionId }: Session,
  { sessions, storage }: GatewayParts,
): Promise<void> {
  const ids = new Set([sessionId, ...(await storage.index.sessionIds(key))]);
  const successor = await sessions.get(key);
  if (successor !== undefined) ids.delete(successor.sessionId);
  for (const id of ids) await storage.transcripts.delete(id);
}

async function asTool(name: string, params: unknown, parts: GatewayParts) {
  const key = mainKey(parts.names.defaultAgentId, parts.names);
  const host = newSession({ key, agentId: parts.names.defaultAgentId, nowMs: 0, newSessionId: "" });
  const tool = parts.tools(host).find((one) => one.name === name);
  if (tool === undefined) throw new SwitchboardError("INTERNAL", `${name} is not bound.`);
  const { value } = await tool.call(params, {
    callId: parts.clock.uuid(),
    signal: AbortSignal.timeout(60_000),
  });
  // Failures of our tools carry one of our codes.
  if (typeof value.code === "string")
    throw new SwitchboardError(value.code as ErrorCode, String(value.error));
  return value;
}

async function resolve(
  { key, sessionId, label, agentId }: GatewayParams<"sessions.resolve">,
  parts: GatewayParts,
) {
  const selectors = [key, sessionId, label].filter((one) => one !== undefined);
  if (selectors.length !== 1) {
    throw new SwitchboardError("INPUT_INVALID", "Give exactly one of key, sessionId and label.");
  }
  const { sessions, storage } = parts;
  const keys =
    key !== undefined
      ? [keyOf(key, parts)]
      : sessionId !== undefined
        ? await storage.index.bySessionId(sessionId)
        : await storage.index.byLabel(labelOf(label ?? ""), agentId, 8);
  const found = (await Promise.all(keys.map((one) => sessions.get(one)))).filter((one) => one !== undefined);
  const [session] = found;
  if (session === undefined)
    throw new SwitchboardError("SESSION_NOT_FOUND", "No session fits. See sessions.list.");
  if (found.length > 1) {
    const list = found.map((one) => one.key).join(", ");
    throw new SwitchboardError("SESSION_AMBIGUOUS", `${found.length} sessions fit: ${list}.`);
  }
  return { key: session.key, sessionId: session.sessionId, agentId: session.agentId };
}
