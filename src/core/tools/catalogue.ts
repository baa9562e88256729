import { given } from "../given.ts";
import { isSandboxed } from "../policy/sandbox.ts";
import type { RemovedTool } from "../policy/tools.ts";
import type { Events } from "../ports/events.ts";
import type { BoundTool } from "../ports/run.ts";
import type { Session } from "../ports/session.ts";
import type { RunContext } from "../runs/executor-parts.ts";
import type { ToolCheck, ToolUse } from "../runs/tool-check.ts";
import type { KeyNames } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import { type AgentsListParts, agentsList } from "./agents-list.ts";
import {
  type Answer,
  bindTool,
  type Caller,
  failure,
  forbidden,
  type Holding,
  type Standing,
  type Tool,
  type ToolBasics,
} from "./define-tool.ts";
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

/** Session tools, bound to who calls them. */
export interface Toolbox {
  /** What a session may use now, in a run of ours or in a loop of the host's. What is listed is what is bound; it is decided again at each call. */
  boundTo(session: Session, run?: RunContext): Promise<readonly BoundTool[]>;
  /** All of them, for the host program itself. */
  boundToHost(session: Session): readonly BoundTool[];
}

export interface ToolboxParts extends ToolBasics {
  readonly names: KeyNames;
  readonly sessions: Sessions;
  readonly events: Events;
  readonly toolCheck: ToolCheck;
}

export function createToolbox(tools: readonly Tool[], parts: ToolboxParts): Toolbox {
  const { config, names, clock, logger, events, toolCheck } = parts;

  const callerOf = (session: Session, run?: RunContext): Caller => ({
    session,
    sandboxed: isSandboxed(session, config, names),
    callScope: run?.callScope ?? clock.uuid(),
    ...given({ run }),
  });

  const bind = (tool: Tool, caller: Caller, standing: Holding["standing"]): BoundTool =>
    bindTool(tool, {
      standing,
      logger,
      trusted: caller.trusted === true,
      onCalled: (name, status) =>
        events.emit("tool.called", {
          ...given({ runId: caller.run?.runId }),
          sessionKey: caller.session.key,
          tool: name,
          status,
        }),
    });

  return {
    async boundTo(session, run) {
      const caller = callerOf(session, run);
      const { allowed } = await toolCheck(session, useOf(run));
      const mine = tools.filter(({ name }) => allowed.includes(name));
      return mine.map((tool) => bind(tool, caller, (name) => standingOf(name, caller, parts)));
    },
    boundToHost(session) {
      const caller = { ...callerOf(session), sandboxed: false, trusted: true };
      return tools.map((tool) => bind(tool, caller, async () => ({ caller })));
    },
  };
}

/** A kept tool does for its session what that may do now, and nothing for one that is gone. */
async function standingOf(
  tool: string,
  caller: Caller,
  { config, names, sessions, toolCheck }: ToolboxParts,
): Promise<Standing> {
  const { session, run } = caller;
  const current = await sessions.get(session.key);
  if (current === undefined) {
    const gone = "This session was deleted, and its tools do nothing any more.";
    return { refusal: failure("SESSION_NOT_FOUND", gone) };
  }
  // A run that is under way is let finish; a loop of the host's could go on for ever where nobody looks any more.
  if (run === undefined && session.archivedAtMs === undefined && current.archivedAtMs !== undefined) {
    return { refusal: ARCHIVED };
  }
  const { removed } = await toolCheck(current, useOf(run));
  const removal = removed.find(({ name }) => name === tool);
  if (removal !== undefined) return { refusal: denied(removal) };
  const sandboxed = isSandboxed(current, config, names);
  // A run goes on in the session as it was when the run began.
  if (run !== undefined) return { caller: { ...caller, sandboxed: caller.sandboxed || sandboxed } };
  return { caller: { ...caller, session: current, sandboxed } };
}

const ARCHIVED = forbidden(
  "This session was archived since its tools were mounted, so they do nothing any more. If work is to go on in it, mount them again.",
  "TOOL_DENIED",
);

function denied({ name, stage, setting }: RemovedTool): Answer {
  const reason = `This session may not use ${name}: ${setting} takes it away (stage "${stage}"). Only the owner can change that.`;
  return forbidden(reason, "TOOL_DENIED", { stage, setting });
}

function useOf(run: RunContext | undefined): ToolUse {
  return given({ run, place: run?.replyTo });
}
