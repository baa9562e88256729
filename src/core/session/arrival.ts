import type { Config } from "../config.ts";
import type { Address, InboundMessage } from "../ports/chat.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import { cleanTitle } from "./describe.ts";
import { afterReset, isStale } from "./freshness.ts";

/** Everything about a new session that a pure function cannot know. */
export interface Birth {
  readonly key: SessionKey;
  readonly agentId: string;
  readonly nowMs: number;
  /** Used when a session is made or reset. */
  readonly newSessionId: string;
}

/**
 * What a message does to its session. "speaker": replies go where it came from. "guest": they keep going where they went.
 * "past": caught up after a gap; it only makes a session that is missing.
 */
export type Standing = "speaker" | "guest" | "past";

/** What an inbound message, or an owner's command, says about its chat. */
export type Arrival = Pick<InboundMessage, "from" | "guildId" | "chatTitle">;

/** A session without a chat: made by an agent's first use, a gateway call or a spawn. */
export function newSession({ key, agentId, nowMs, newSessionId }: Birth): Session {
  return {
    key,
    agentId,
    sessionId: newSessionId,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    sessionStartedAtMs: nowMs,
  };
}

/**
 * The session after a real inbound message, the only thing that moves a route: made if it was missing, reset if it was stale, reopened if it was archived.
 */
export function afterArrival(
  current: Session | undefined,
  birth: Birth,
  message: Arrival,
  options: { readonly config: Config; readonly standing: Standing },
): Session {
  if (current !== undefined && options.standing === "past") return current;
  const fresh = freshened(current, birth, options.config);
  const { archivedAtMs: _reopened, ...open } = fresh;
  const from = message.from;
  const routed: Session = {
    ...open,
    origin: open.origin ?? from,
    updatedAtMs: Math.max(open.updatedAtMs, birth.nowMs),
    lastInteractionAtMs: birth.nowMs,
    ...(message.guildId === undefined ? {} : { guildId: message.guildId }),
    ...(message.chatTitle === undefined ? {} : { title: cleanTitle(message.chatTitle) }),
  };
  if (options.standing !== "speaker" && routed.route !== undefined) return routed;
  return { ...routed, channel: from.channel, chatType: from.chatType, route: onlyAddress(from) };
}

function freshened(current: Session | undefined, birth: Birth, config: Config): Session {
  if (current === undefined) return newSession(birth);
  return isStale(current, config, birth.nowMs)
    ? afterReset(current, birth.newSessionId, birth.nowMs)
    : current;
}

/** Adapters may hand over richer objects; only the address is stored. */
function onlyAddress({ channel, accountId, chatType, chatId, threadId }: Address): Address {
  return { channel, accountId, chatType, chatId, ...(threadId === undefined ? {} : { threadId }) };
}
