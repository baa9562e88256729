import { SwitchboardError } from "../errors.ts";
import { given } from "../given.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import { jobRun } from "../runs/job.ts";
import { gatewayRunId } from "../runs/run-id.ts";
import { agentIdOf, mainKey } from "../session/key.ts";
import type { GatewayParams } from "./gateway-params.ts";
import { checkModel, type GatewayParts, keyOf, unknownAgent } from "./gateway-parts.ts";

type Start = GatewayParams<"agent"> | (GatewayParams<"chat.send"> & Partial<GatewayParams<"agent">>);

/** A run that the host asks for, in a session that it opens if need be. What would be delivered against the policy is refused beforehand. */
export async function startRun(params: Start, method: "agent" | "chat.send", parts: GatewayParts) {
  const { names, queue, sessions, clock } = parts;
  const written = targetOf(params, parts);
  const session = await sessions.get(written);
  const key = session?.key ?? written;
  const agentId = session?.agentId ?? agentIdOf(key, names);
  if (!parts.agents.has(agentId)) throw unknownAgent(agentId, parts);
  if (params.agentId !== undefined && params.agentId !== agentId) {
    const message = `"${key}" belongs to agent "${agentId}", not to "${params.agentId}".`;
    throw new SwitchboardError("INPUT_INVALID", message);
  }
  if (params.model !== undefined) checkModel(params.model, agentId, parts);
  const replyTo = params.deliver ? await deliverable(session, key, parts) : undefined;
  const runId = gatewayRunId(method, key, params.idempotencyKey ?? clock.uuid());
  const run = jobRun(runId, "agent", {
    ...given({
      replyTo,
      model: params.model,
      thinking: params.thinking,
      timeoutSeconds: params.timeoutSeconds,
    }),
    sessionKey: key,
    trigger: "gateway",
    text: params.message,
    atMs: clock.now(),
    provenance: { kind: "internal_system", sourceTool: method },
    chain: [],
  });
  await queue.enqueue(run, { writes: [sessions.opening(key, agentId)] });
  return { runId, status: "accepted", sessionKey: key };
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

function targetOf({ sessionKey, agentId }: Start, parts: GatewayParts): SessionKey {
  if (sessionKey === undefined && agentId === undefined) {
    throw new SwitchboardError("INPUT_INVALID", "Give sessionKey or agentId.");
  }
  if (agentId !== undefined && !parts.agents.has(agentId)) throw unknownAgent(agentId, parts);
  if (sessionKey !== undefined) return keyOf(sessionKey, parts, agentId);
  return mainKey(agentId ?? parts.names.defaultAgentId, parts.names);
}
