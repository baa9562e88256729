import type { Children } from "../children/children.ts";
import type { Config } from "../config.ts";
import type { SendCheck } from "../delivery/send-check.ts";
import type { Undelivered } from "../delivery/undelivered.ts";
import { SwitchboardError } from "../errors.ts";
import type { RunQueue } from "../ports/engine.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { AgentRunner, BoundTool } from "../ports/run.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Storage } from "../ports/storage.ts";
import { canonicalKey, isReserved, type KeyNames } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Redactor } from "../transcript/redact.ts";

export interface GatewayParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly names: KeyNames;
  readonly agents: ReadonlyMap<string, AgentRunner>;
  readonly queue: RunQueue;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly sendCheck: SendCheck;
  readonly redactor: Redactor;
  readonly children: Children;
  readonly undelivered: Pick<Undelivered, "forget">;
  /** sessions_list and sessions_history for the host itself, which skips visibility. */
  readonly tools: (session: Session) => readonly BoundTool[];
}

/** A key as the host wrote it; a bare one belongs to `agentId`. */
export function keyOf(
  written: string,
  { names }: GatewayParts,
  agentId: string = names.defaultAgentId,
): SessionKey {
  const key = canonicalKey(written, agentId, names);
  if (key === undefined || isReserved(key, names))
    throw new SwitchboardError("INPUT_INVALID", `"${written}" is not a session key.`);
  return key;
}

export function unknownAgent(agentId: string, { agents }: GatewayParts): SwitchboardError {
  return new SwitchboardError(
    "AGENT_UNKNOWN",
    `No agent "${agentId}". Agents: ${[...agents.keys()].join(", ")}.`,
  );
}

/** Throws MODEL_UNKNOWN when the agent says which models it has, and this is none of them. */
export function checkModel(model: string, agentId: string, { agents }: GatewayParts): void {
  const models = agents.get(agentId)?.models;
  if (models === undefined || models.includes(model)) return;
  throw new SwitchboardError(
    "MODEL_UNKNOWN",
    `Agent "${agentId}" has no model "${model}". Models: ${models.join(", ")}.`,
  );
}
