import type { SessionKey } from "../ports/session.ts";
import { displayKey, outwardKey } from "../session/describe.ts";
import { isThreadKey, type KeyNames, parentKey } from "../session/key.ts";

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
}

/** Why a message may not go to this session, whoever sends it. */
export function sendProblem(
  target: SessionKey,
  { sender, agentId, chain }: SendPath,
  names: KeyNames,
): SendProblem | undefined {
  if (target === sender) {
    const reason = "That is your own session: just answer instead of sending to yourself.";
    return { code: "SELF_TARGET", reason };
  }
  if (isThreadKey(target)) {
    const parent = parentKey(target);
    const hint = parent === undefined ? "" : ` Use ${displayKey(parent, agentId, names)} instead.`;
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
