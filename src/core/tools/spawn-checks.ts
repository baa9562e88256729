import type { Children } from "../children/children.ts";
import { completeOrigin, originAt } from "../children/origin.ts";
import type { Config } from "../config.ts";
import type { SendCheck } from "../delivery/send-check.ts";
import type { ErrorCode } from "../errors.ts";
import type { Address } from "../ports/chat.ts";
import type { AgentRunner } from "../ports/run.ts";
import type { Storage } from "../ports/storage.ts";
import type { KeyNames } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Caller } from "./define-tool.ts";
import type { SpawnInput } from "./sessions-spawn.ts";

export interface SpawnCheckParts {
  readonly config: Config;
  readonly names: KeyNames;
  readonly agentIds: readonly string[];
  readonly agents: ReadonlyMap<string, AgentRunner>;
  readonly acp: AgentRunner | undefined;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly children: Children;
  readonly sendCheck: SendCheck;
  /** How a thread is opened beside this address; undefined where the platform has none. */
  threadsAt(at: Address): ((title: string) => Promise<Address>) | undefined;
}

export interface Refused {
  readonly possible: false;
  readonly code: ErrorCode;
  readonly reason: string;
}

/** Why a spawn with these options cannot be, for the agent that was chosen. */
export async function spawnProblem(
  asked: SpawnInput,
  agentId: string,
  caller: Caller,
  parts: SpawnCheckParts,
): Promise<Refused | undefined> {
  return (
    forkProblem(asked, agentId, caller) ??
    harnessProblem(asked, parts) ??
    sandboxProblem(asked, agentId, caller, parts) ??
    (await threadProblem(asked, caller, parts))
  );
}

function forkProblem(asked: SpawnInput, agentId: string, { session }: Caller): Refused | undefined {
  if (asked.context !== "fork" || agentId === session.agentId) return undefined;
  const reason = `context "fork" copies your transcript and is for your own agent "${session.agentId}" only.`;
  return refused("INPUT_INVALID", reason);
}

function harnessProblem(asked: SpawnInput, { acp }: SpawnCheckParts): Refused | undefined {
  if (asked.runtime !== "acp") return undefined;
  if (acp === undefined) {
    const reason =
      'No external harness is configured. The owner can set one with createSwitchboard({ acp: acpAgent({ command }) }); spawn with runtime "subagent" meanwhile.';
    return refused("ACP_UNAVAILABLE", reason);
  }
  const given = {
    thread: asked.thread,
    'context "fork"': asked.context === "fork",
    model: asked.model !== undefined,
    thinking: asked.thinking !== undefined,
  };
  const unfit = Object.entries(given).flatMap(([option, isGiven]) => (isGiven ? [option] : []));
  if (unfit.length === 0) return undefined;
  return refused("INPUT_INVALID", `runtime "acp" does not take: ${unfit.join(", ")}.`);
}

/** A sandbox that is asked for, or that the caller sits in, has to be one: whoever runs the child must say that it confines. */
function sandboxProblem(
  asked: SpawnInput,
  agentId: string,
  { session, sandboxed }: Caller,
  { acp, agents }: SpawnCheckParts,
): Refused | undefined {
  const isAcp = asked.runtime === "acp";
  const runner = isAcp ? acp : agents.get(agentId);
  // Another program is outside in any case; among our runners only one that confines can be left.
  const leaves = sandboxed && (isAcp || agents.get(session.agentId)?.supportsSandbox === true);
  if (runner?.supportsSandbox === true || (asked.sandbox !== "require" && !leaves)) return undefined;
  const what = isAcp ? "The external harness" : `The runner of agent "${agentId}"`;
  return refused(
    "SANDBOX_UNAVAILABLE",
    `${what} does not confine its runs (supportsSandbox), so nothing was spawned.`,
  );
}

async function threadProblem(
  asked: SpawnInput,
  caller: Caller,
  parts: SpawnCheckParts,
): Promise<Refused | undefined> {
  if (!asked.thread) return undefined;
  const no = (why: string) => refused("THREAD_UNAVAILABLE", `${why} Spawn without thread: true.`);
  if (!parts.config.session.threadBindings.enabled) {
    return no("Threads for subagents are off (session.threadBindings.enabled).");
  }
  if (parts.names.scope === "global")
    return no('With session.scope "global" threads have no sessions of their own.');
  const at = chatOf(caller);
  if (at === undefined) return no("This session has no chat.");
  if (at.chatType === "direct") return no("Direct chats have no threads.");
  if (parts.threadsAt(at) === undefined) return no(`${at.channel} has no threads.`);
  // People of a silenced chat would see the thread appear.
  const may = await parts.sendCheck(caller.session, at);
  return may.allowed ? undefined : no(may.reason);
}

/** Where the caller's answers go, as far as that is known in full. */
export function chatOf({ session, run }: Caller): Address | undefined {
  return completeOrigin(originAt(run?.replyTo, session), session.route);
}

export function refused(code: ErrorCode, reason: string): Refused {
  return { possible: false, code, reason };
}
