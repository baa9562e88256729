import type { SessionKey } from "../ports/session.ts";
import { displayKey, outwardKey } from "../session/describe.ts";
import { isThreadKey, type KeyNames, parentKey, partsOf } from "../session/key.ts";

/** Sessions that one originating message may pass through. */
const MAX_HOPS = 8;

export interface SendProblem {
  readonly code: "SELF_TARGET" | "THREAD_TARGET" | "RING_REFUSED" | "HOP_LIMIT";
  readonly reason: string;
}

export interface SendPath {
  readonly sender: SessionKey;
  readonly agentId: string;
  /** Sessions that the message passed through before its sender, oldest first. */
  readonly chain: readonly SessionKey[];
  /** The key that the target was looked up by, where that is not its own. */
  readonly named?: SessionKey;
}

/** Why a message may not go to this session, whoever sends it. */
export function sendProblem(
  target: SessionKey,
  { sender, agentId, chain, named }: SendPath,
  names: KeyNames,
): SendProblem | undefined {
  if (target === sender) {
    const reason = "That is your own session: just answer instead of sending to yourself.";
    return { code: "SELF_TARGET", reason };
  }
  if (isThreadKey(target) || leadsToChild(named, target)) {
    const instead = isThreadKey(target) ? parentKey(target) : target;
    const hint = instead === undefined ? "" : ` Use ${displayKey(instead, agentId, names)} instead.`;
    return {
      code: "THREAD_TARGET",
      reason: `A thread belongs to the people in it and is not a send target.${hint}`,
    };
  }
  const visited = [...chain, sender];
  const path = [...visited, target].map((key) => outwardKey(key, names)).join(" → ");
  if (visited.includes(target)) {
    const reason = `This message already passed through that session (${path}). Answer in your reply instead.`;
    return { code: "RING_REFUSED", reason };
  }
  if (visited.length <= MAX_HOPS) return undefined;
  const reason = `A message may pass through ${MAX_HOPS} sessions (${path}). Answer in your reply instead.`;
  return { code: "HOP_LIMIT", reason };
}

/** A thread that was given to a child is still a thread for whoever names it; the child has a key of its own. */
function leadsToChild(named: SessionKey | undefined, target: SessionKey): boolean {
  return named !== undefined && isSubagent(target) && !isSubagent(named);
}

function isSubagent(key: SessionKey): boolean {
  return partsOf(key).family === "subagent";
}
