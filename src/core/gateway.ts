import { z } from "zod";
import type { Config } from "./config.ts";
import type { SendCheck } from "./delivery/send-check.ts";
import { type ErrorCode, SwitchboardError } from "./errors.ts";
import { given } from "./given.ts";
import type { RunQueue } from "./ports/engine.ts";
import type { Clock } from "./ports/host.ts";
import type { AgentRunner, BoundTool } from "./ports/run.ts";
import type { Session, SessionKey } from "./ports/session.ts";
import type { Storage } from "./ports/storage.ts";
import { jobRun } from "./runs/job.ts";
import { gatewayRunId } from "./runs/run-id.ts";
import { newSession } from "./session/arrival.ts";
import { agentIdOf, canonicalKey, type KeyNames, mainKey } from "./session/key.ts";
import { patched, sessionPatch } from "./session/patch.ts";
import type { Sessions } from "./session/sessions.ts";

export interface GatewayParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly names: KeyNames;
  readonly agents: ReadonlyMap<string, AgentRunner>;
  readonly queue: RunQueue;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly sendCheck: SendCheck;
  /** sessions_list and sessions_history for the host itself, which skips visibility. */
  readonly tools: (session: Session) => readonly BoundTool[];
}

/** The calls of the host program, by name. */
export interface Gateway {
  /** Rejects with SwitchboardError; INPUT_INVALID names every wrong parameter. */
  call(method: GatewayMethod, params?: unknown): Promise<Readonly<Record<string, unknown>>>;
}

/** How long a deleted session's runs may take to stop. */
const RUN_END_MS = 15_000;

const target = { sessionKey: z.string().trim().min(1).max(1024) };
const message = z.string().min(1).max(65_536);
const text = z.string().trim().min(1).max(200).optional();

const SHAPES = {
  agent: z.strictObject({
    sessionKey: target.sessionKey.optional(),
    agentId: z.string().optional(),
    message,
    deliver: z.boolean().default(false),
    idempotencyKey: text,
    model: text,
    thinking: text,
    timeoutSeconds: z.number().int().min(0).max(86_400).optional(),
  }),
  /** Also the run of a sessions_send: the answer then carries the exchange that it began, with the state of its announce. */
  "agent.wait": z.strictObject({
    runId: z.string().min(1),
    timeoutSeconds: z.number().min(0).max(3600).default(30),
  }),
  "chat.send": z.strictObject({
    ...target,
    message,
    deliver: z.boolean().default(true),
    idempotencyKey: text,
  }),
  "chat.history": z.looseObject({}),
  "sessions.list": z.looseObject({}),
  "sessions.resolve": z.strictObject({
    key: z.string().optional(),
    sessionId: z.string().optional(),
    label: z.string().optional(),
    agentId: z.string().optional(),
  }),
  "sessions.patch": z.strictObject({ ...target, ...sessionPatch.shape }),
  "sessions.reset": z.strictObject(target),
  "sessions.delete": z.strictObject(target),
} as const;

export type GatewayMethod = keyof typeof SHAPES;
type Params<M extends GatewayMethod> = z.output<(typeof SHAPES)[M]>;
type Calls = {
  readonly [M in GatewayMethod]: (params: Params<M>) => Promise<Readonly<Record<string, unknown>>>;
};

/** Trusted like the program that makes the calls: they skip visibility, but never send policy, redaction or limits. */
export function createGateway(parts: GatewayParts): Gateway {
  const calls = createCalls(parts);
  return {
    async call(method, params = {}) {
      const shape = SHAPES[method];
      if (shape === undefined) {
        throw new SwitchboardError(
          "INPUT_INVALID",
          `No call "${method}". Calls: ${Object.keys(SHAPES).join(", ")}.`,
        );
      }
      const parsed = shape.safeParse(params);
      if (!parsed.success) {
        const problems = parsed.error.issues.map(
          (issue) => `${issue.path.join(".") || "params"}: ${issue.message}`,
        );
        throw new SwitchboardError("INPUT_INVALID", `${method}: ${problems.join("; ")}`);
      }
      // The shape was looked up by the same name, so its output is what the call of that name takes.
      return (calls[method] as (params: unknown) => Promise<Readonly<Record<string, unknown>>>)(parsed.data);
    },
  };
}

function createCalls(parts: GatewayParts): Calls {
  const { sessions, queue, clock, names, storage } = parts;
  return {
    agent: (params) => startRun(params, "agent", parts),
    "chat.send": (params) => startRun(params, "chat.send", parts),
    async "agent.wait"({ runId, timeoutSeconds }) {
      const settled = await queue.wait(runId, timeoutSeconds * 1000);
      if (settled === undefined) return { runId, status: "timeout" };
      return given({ ...settled, exchange: await storage.records("exchange").get(runId) });
    },
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
      const session = await sessions.get(key);
      await endRuns(session?.key ?? key, queue);
      await sessions.remove(key);
      return { ok: true, key };
    },
  };
}

/** A run that outlived its session would write a transcript that nobody can reach. */
async function endRuns(key: SessionKey, queue: RunQueue): Promise<void> {
  const pending = await queue.pending(key);
  await Promise.all(pending.map((run) => queue.cancel(run.id)));
  const ended = await Promise.all(pending.map((run) => queue.wait(run.id, RUN_END_MS)));
  if (ended.includes(undefined)) {
    throw new SwitchboardError(
      "SESSION_PROTECTED",
      `A run of "${key}" is still active; try again in a moment.`,
    );
  }
}

type Start = Params<"agent"> | (Params<"chat.send"> & Partial<Params<"agent">>);

async function startRun(params: Start, method: "agent" | "chat.send", parts: GatewayParts) {
  const { names, queue, sessions, clock } = parts;
  const key =
    params.sessionKey === undefined ? agentMain(params.agentId, parts) : keyOf(params.sessionKey, parts);
  const session = await sessions.get(key);
  const agentId = session?.agentId ?? agentIdOf(key, names);
  if (!parts.agents.has(agentId)) throw unknownAgent(agentId, parts);
  if (params.model !== undefined) checkModel(params.model, agentId, parts);
  const replyTo = params.deliver ? await deliverable(session, key, parts) : undefined;
  const runId = gatewayRunId(method, params.idempotencyKey ?? clock.uuid());
  const run = jobRun(runId, "agent", {
    ...given({
      replyTo,
      model: params.model,
      thinking: params.thinking,
      timeoutSeconds: params.timeoutSeconds,
    }),
    sessionKey: session?.key ?? key,
    trigger: "gateway",
    text: params.message,
    atMs: clock.now(),
    provenance: { kind: "internal_system", sourceTool: method },
    chain: [],
  });
  await queue.enqueue(run, { writes: [sessions.opening(session?.key ?? key, agentId)] });
  return { runId, status: "accepted", sessionKey: session?.key ?? key };
}

/** Where the reply would go, or the reason why nothing may. */
async function deliverable(session: Session | undefined, key: SessionKey, { sendCheck }: GatewayParts) {
  if (session?.route === undefined) {
    throw new SwitchboardError("NO_ROUTE", `"${key}" has no chat to deliver to. Call with deliver: false.`);
  }
  const may = await sendCheck(session);
  if (!may.allowed)
    throw new SwitchboardError(
      "SEND_DENIED",
      `${may.reason} Call with deliver: false, or change the policy.`,
    );
  return session.route;
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

async function resolve({ key, sessionId, label, agentId }: Params<"sessions.resolve">, parts: GatewayParts) {
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
        : await storage.index.byLabel(label ?? "", agentId, 8);
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

function keyOf(written: string, { names }: GatewayParts): SessionKey {
  const key = canonicalKey(written, names.defaultAgentId, names);
  if (key === undefined) throw new SwitchboardError("INPUT_INVALID", `"${written}" is not a session key.`);
  return key;
}

function agentMain(agentId: string | undefined, parts: GatewayParts): SessionKey {
  if (agentId === undefined) throw new SwitchboardError("INPUT_INVALID", "Give sessionKey or agentId.");
  if (!parts.agents.has(agentId)) throw unknownAgent(agentId, parts);
  return mainKey(agentId, parts.names);
}

function unknownAgent(agentId: string, { agents }: GatewayParts): SwitchboardError {
  return new SwitchboardError(
    "AGENT_UNKNOWN",
    `No agent "${agentId}". Agents: ${[...agents.keys()].join(", ")}.`,
  );
}

function checkModel(model: string, agentId: string, { agents }: GatewayParts): void {
  const models = agents.get(agentId)?.models;
  if (models === undefined || models.includes(model)) return;
  throw new SwitchboardError(
    "MODEL_UNKNOWN",
    `Agent "${agentId}" has no model "${model}". Models: ${models.join(", ")}.`,
  );
}
