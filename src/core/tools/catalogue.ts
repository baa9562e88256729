import { given } from "../given.ts";
import { allowedTools } from "../policy/tools.ts";
import type { Events } from "../ports/events.ts";
import type { BoundTool } from "../ports/run.ts";
import { type AgentsListParts, agentsList } from "./agents-list.ts";
import { bindTool, type Caller, type Tool } from "./define-tool.ts";
import { type StatusParts, sessionStatus } from "./session-status.ts";
import { type HistoryParts, sessionsHistory } from "./sessions-history.ts";
import { type ListParts, sessionsList } from "./sessions-list.ts";
import { type SendParts, sessionsSend } from "./sessions-send.ts";
import { type SpawnParts, sessionsSpawn } from "./sessions-spawn.ts";
import { sessionsYield, type YieldParts } from "./sessions-yield.ts";
import { type SubagentsParts, subagents } from "./subagents.ts";

export type CatalogueParts = ListParts &
  HistoryParts &
  SendParts &
  SpawnParts &
  YieldParts &
  SubagentsParts &
  StatusParts &
  AgentsListParts;

/** Every session tool there is, in the order in which agents see them. */
export function createTools(parts: CatalogueParts): readonly Tool[] {
  return [
    sessionsList(parts),
    sessionsHistory(parts),
    sessionsSend(parts),
    sessionsSpawn(parts),
    sessionsYield(parts),
    subagents(parts),
    sessionStatus(parts),
    agentsList(parts),
  ];
}

/** The tools that a caller may have, bound to it. What is listed is what is bound. */
export function createToolbox(
  tools: readonly Tool[],
  { config, clock, events }: Pick<CatalogueParts, "config" | "clock"> & { readonly events: Events },
): (holder: Omit<Caller, "callScope">) => readonly BoundTool[] {
  const names = tools.map((tool) => tool.name);
  return (holder) => {
    const { session, run } = holder;
    const caller = { ...holder, callScope: run?.runId ?? clock.uuid() };
    const allowed = allowedTools(names, config, session.agentId, { depth: session.spawnDepth ?? 0 });
    const mine = tools.filter((tool) => holder.trusted === true || allowed.includes(tool.name));
    return mine.map((tool) =>
      bindTool(tool, caller, (name, status) =>
        events.emit("tool.called", {
          ...given({ runId: run?.runId }),
          sessionKey: session.key,
          tool: name,
          status,
        }),
      ),
    );
  };
}
