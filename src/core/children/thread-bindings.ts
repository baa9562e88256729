import type { Address } from "../ports/chat.ts";
import type { Child } from "../ports/child.ts";
import type { SessionKey } from "../ports/session.ts";
import { roomKeyOf } from "../session/resolve.ts";

/** A key under which messages of a child's thread look for their session, and where it sends them. */
export interface Binding {
  readonly key: SessionKey;
  readonly to: SessionKey;
}

/** Messages in the thread belong to the child, whichever agent the rules would choose. */
export function bindings(
  { thread, key: child }: Pick<Child, "key" | "thread">,
  agentIds: readonly string[],
): readonly Binding[] {
  if (thread === undefined) return [];
  return agentIds.flatMap((agentId) => {
    const key = roomKeyOf(agentId, thread);
    return [{ key, to: child }, ...bareThread(agentId, thread).map((bare) => ({ key: bare, to: key }))];
  });
}

/** To Discord a thread is a channel of its own: its bare id, which is all that is known of it at times, stands for it. */
function bareThread(agentId: string, { threadId, ...room }: Address): readonly SessionKey[] {
  if (room.chatType !== "channel" || threadId === undefined) return [];
  return [roomKeyOf(agentId, { ...room, chatId: threadId })];
}
