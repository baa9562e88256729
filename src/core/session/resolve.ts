import type { Config } from "../config.ts";
import type { Address } from "../ports/chat.ts";
import type { SessionKey } from "../ports/session.ts";
import { bindingFor, type Place } from "./binding.ts";
import { cleanLabel } from "./describe.ts";
import { canonicalKey, formatKey, isReserved, type KeyNames, keyNames, mainKey, parseKey } from "./key.ts";
import { linkedName, personIds, type SamePerson } from "./person.ts";

type DmScope = Config["session"]["dmScope"];

/** What one session stands for: everything, one room, or direct chats as far as the scope joins them. */
export type ChatScope = "global" | "room" | DmScope;

export interface ResolvedChat {
  readonly agentId: string;
  readonly key: SessionKey;
  readonly scope: ChatScope;
  /** A thread or topic with a session of its own: parentKey(key) is the room around it. */
  readonly thread: boolean;
}

/** What a model gave to name a session. Only "key" is final; the others are looked up. */
export type Reference =
  | { readonly by: "key"; readonly key: SessionKey }
  /** Perhaps a session id, perhaps an unusual key: a session stored under `key` wins. */
  | { readonly by: "sessionId"; readonly sessionId: string; readonly key: SessionKey }
  | { readonly by: "label"; readonly label: string; readonly agentId?: string }
  /** The main session of an agent that is perhaps not configured. */
  | { readonly by: "agentMain"; readonly agentId: string; readonly key: SessionKey }
  | { readonly by: "missing"; readonly reason: string };

/** Channels whose ids nobody can choose and which do not overlap: snowflakes, Telegram ids, phone numbers, LIDs. */
const uniqueIds: ReadonlySet<string> = new Set(["discord", "telegram", "whatsapp"]);

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The agent and session that a message of this place belongs to. */
export function resolveChat(
  place: Place,
  config: Config,
  options: {
    readonly agentIds: readonly string[];
    readonly defaultAgentId: string;
    readonly samePerson: SamePerson;
  },
): ResolvedChat {
  const { address } = place;
  const ids = personIds(address.channel, place.sender, options.samePerson);
  const bound = bindingFor(place, ids, config.bindings);
  const agentId =
    bound !== undefined && options.agentIds.includes(bound.agentId) ? bound.agentId : options.defaultAgentId;
  const names = keyNames(config, options.defaultAgentId);
  if (names.scope === "global") {
    return { agentId, key: mainKey(agentId, names), scope: "global", thread: false };
  }
  const thread = address.threadId !== undefined;
  if (address.chatType !== "direct") {
    return { agentId, key: roomKeyOf(agentId, address), scope: "room", thread };
  }
  const scope = bound?.session?.dmScope ?? config.session.dmScope;
  if (scope === "main") {
    return { agentId, key: mainKey(agentId, names, address.threadId), scope, thread };
  }
  const peerId =
    linkedName(address.channel, ids, config)?.toLowerCase() ?? peerOf(ids[0], address, scope, config);
  return { agentId, key: directKey(agentId, peerId, address, scope), scope, thread };
}

/**
 * Blank fields count as absent; a session key beats a label, a label beats the agent alone. `main` is the caller's
 * own main session, `current` the session it runs in.
 */
export function parseReference(
  input: { readonly sessionKey?: string; readonly label?: string; readonly agentId?: string },
  caller: { readonly key: SessionKey; readonly agentId: string },
  names: KeyNames,
): Reference {
  const typed = textIn(input.sessionKey);
  if (typed !== undefined) return keyReference(typed, caller, names);
  const agentId = textIn(input.agentId)?.toLowerCase();
  const label = textIn(input.label);
  // Models like to repeat the agent in every field; a label that only does so says nothing.
  if (label !== undefined && label.toLowerCase() !== agentId) {
    const clean = cleanLabel(label);
    if (!clean.ok) return { by: "missing", reason: clean.reason };
    return { by: "label", label: clean.label, ...(agentId === undefined ? {} : { agentId }) };
  }
  if (agentId === undefined) {
    return { by: "missing", reason: "Give a sessionKey, a label or an agentId; sessions_list shows them." };
  }
  return { by: "agentMain", agentId, key: mainKey(agentId, names) };
}

function keyReference(
  typed: string,
  caller: { readonly key: SessionKey; readonly agentId: string },
  names: KeyNames,
): Reference {
  if (typed.toLowerCase() === "current") return { by: "key", key: caller.key };
  const key = canonicalKey(typed, caller.agentId, names);
  if (key === undefined || isReserved(key, names)) {
    return {
      by: "missing",
      reason: `"${typed}" is not a session key. Use a key from sessions_list, "main" or "current".`,
    };
  }
  const isKey =
    !uuid.test(typed) &&
    (/^agent:/i.test(typed) || parseKey(key)?.family !== "other" || key === mainKey(caller.agentId, names));
  return isKey ? { by: "key", key } : { by: "sessionId", sessionId: typed, key };
}

/** Whether this text would be read as a key or a session id, and as no label. */
export function looksLikeKey(
  text: string,
  caller: { readonly key: SessionKey; readonly agentId: string },
  names: KeyNames,
): boolean {
  return uuid.test(text) || /^agent:/i.test(text) || keyReference(text, caller, names).by === "key";
}

/** The session of a group, a channel, or a thread or topic in one. */
export function roomKeyOf(agentId: string, { chatType, channel, chatId, threadId }: Address): SessionKey {
  const family = chatType === "group" ? "group" : "channel";
  if (threadId === undefined) return formatKey({ agentId, family, channel, chatId });
  return family === "group"
    ? formatKey({ agentId, family, channel, chatId, topicId: threadId })
    : formatKey({ agentId, family, channel, chatId, threadId });
}

function directKey(
  agentId: string,
  peerId: string,
  { channel, accountId, threadId }: Address,
  scope: Exclude<DmScope, "main">,
): SessionKey {
  const thread = threadId === undefined ? {} : { threadId };
  const peer = { agentId, family: "direct", peerId, ...thread } as const;
  if (scope === "per-peer") return formatKey(peer);
  if (scope === "per-channel-peer") return formatKey({ ...peer, channel });
  return formatKey({ ...peer, channel, accountId });
}

/** An id that could be taken for somebody else's, a linked name or an id of another channel, carries its channel. */
function peerOf(id: string, { channel }: Address, scope: DmScope, config: Config): string {
  const linkNames = Object.keys(config.session.identityLinks).map((name) => name.toLowerCase());
  const ambiguous =
    linkNames.includes(id.toLowerCase()) ||
    id.startsWith(`${channel}:`) ||
    (scope === "per-peer" && !uniqueIds.has(channel));
  return ambiguous ? `${channel}:${id}` : id;
}

function textIn(field: string | undefined): string | undefined {
  return field?.trim() || undefined;
}
