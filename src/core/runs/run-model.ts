import type { Config } from "../config.ts";
import type { Session } from "../ports/session.ts";

/** The model of a session's run: what the run itself asks for, else what the session was switched to, else its agent's. undefined: the runner's own. */
export function runModel(
  { agentId, modelOverride }: Pick<Session, "agentId" | "modelOverride">,
  config: Config,
  asked?: string,
): string | undefined {
  return asked ?? modelOverride ?? config.agents.list.find(({ id }) => id === agentId)?.model;
}
