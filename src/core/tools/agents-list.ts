import { spawnTargets } from "../policy/spawn.ts";
import type { AgentRunner } from "../ports/run.ts";
import { defineTool, type ToolBasics, toolInput } from "./define-tool.ts";

export interface AgentsListParts extends ToolBasics {
  readonly agents: ReadonlyMap<string, AgentRunner>;
  readonly agentIds: readonly string[];
}

export function agentsList({ config, agents, agentIds, logger }: AgentsListParts) {
  return defineTool(
    {
      name: "agents_list",
      description: "The agents that sessions_spawn accepts as agentId, your own first.",
      input: toolInput({}),
      async run(_nothing, { session, sandboxed }) {
        const spawner = { agentId: session.agentId, depth: session.spawnDepth ?? 0, sandboxed };
        const { allowAny, agentIds: ids } = spawnTargets(spawner, config, agentIds);
        return {
          requester: session.agentId,
          allowAny,
          agents: ids.map((id) => ({ id, configured: true, ...describe(id) })),
        };
      },
    },
    logger,
  );

  function describe(id: string) {
    const models = agents.get(id)?.models;
    const model = config.agents.list.find((agent) => agent.id === id)?.model;
    return { ...(model === undefined ? {} : { model }), ...(models === undefined ? {} : { models }) };
  }
}
