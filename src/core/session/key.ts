import type { Config } from "../config.ts";
import { SwitchboardError } from "../errors.ts";
import { given } from "../given.ts";
import type { SessionKey } from "../ports/session.ts";
import { type AgentKey, fold, formatAgentKey, parseAgentKey } from "./key-grammar.ts";

/** What a key says; `global` and `unknown` are the keys without an agent. */
export type ParsedKey =
  | { readonly family: "global" }
  | { readonly family: "unknown" }
  | ({ readonly agentId: string } & AgentKey);

/** What short names mean in this installation. */
export interface KeyNames {
  readonly defaultAgentId: string;
  readonly mainKey: string;
  /** "global": the default agent has one session for everything, `global`; other agents have their main sessions. */
  readonly scope: Config["session"]["scope"];
}

const agentIdPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function keyNames(config: Config, defaultAgentId: string): KeyNames {
  return { defaultAgentId, mainKey: config.session.mainKey, scope: config.session.scope };
}

/** Reads a complete key by position. undefined: not a complete key (no agent, an impossible agent id, an empty part). */
export function parseKey(text: string): ParsedKey | undefined {
  const word = fold(text);
  if (word === "global" || word === "unknown") return { family: word };
  const [prefix = "", agent = "", ...rest] = text.split(":");
  const agentId = fold(agent);
  if (fold(prefix) !== "agent" || !agentIdPattern.test(agentId)) return undefined;
  if (rest.length === 0 || rest.includes("")) return undefined;
  return { agentId, ...parseAgentKey(rest) };
}

/** The parts of a key that was made here. */
export function partsOf(key: SessionKey): ParsedKey {
  const parsed = parseKey(key);
  if (parsed === undefined) {
    throw new SwitchboardError("INTERNAL", `"${key}" is no session key; make keys with canonicalKey.`);
  }
  return parsed;
}

/** Ids may hold anything: what could be taken for structure is percent-escaped. */
export function formatKey(parsed: ParsedKey): SessionKey {
  const text =
    "agentId" in parsed
      ? `agent:${normalizeAgentId(parsed.agentId)}:${formatAgentKey(parsed)}`
      : parsed.family;
  // The brand is given here and nowhere else.
  return text as SessionKey;
}

/**
 * The one stored form of what a person or a model typed. Words, agents, channels and accounts are folded to lower
 * case, ids are not. Text without `agent:` belongs to `agentId`. undefined: blank or malformed.
 */
export function canonicalKey(text: string, agentId: string, names: KeyNames): SessionKey | undefined {
  const typed = text.trim();
  const complete = /^(agent:|global$|unknown$)/i.test(typed);
  const parsed = parseKey(complete ? typed : `agent:${agentId}:${typed}`);
  return parsed === undefined ? undefined : formatKey(withMainName(parsed, names));
}

/** The session that the direct chats of an agent share by default, or a thread beside it. */
export function mainKey(agentId: string, names: KeyNames, threadId?: string): SessionKey {
  return formatKey(withMainName(given({ agentId, family: "main" as const, threadId }), names));
}

export function isMainKey(key: SessionKey, names: KeyNames): boolean {
  return key === mainKey(agentIdOf(key, names), names);
}

export function subagentKey(agentId: string, uuid: string): SessionKey {
  return formatKey({ agentId, family: "subagent", path: [uuid] });
}

/** `unknown`, and `global` unless everything is one session: words that stand for no session. */
export function isReserved(key: SessionKey, names: KeyNames): boolean {
  const { family } = partsOf(key);
  return family === "unknown" || (family === "global" && names.scope !== "global");
}

/** The room around a thread or topic; undefined for a key that has neither. */
export function parentKey(key: SessionKey): SessionKey | undefined {
  const parsed = partsOf(key);
  if ("threadId" in parsed) {
    const { threadId: _, ...room } = parsed;
    return formatKey(room);
  }
  if ("topicId" in parsed) {
    const { topicId: _, ...room } = parsed;
    return formatKey(room);
  }
  return undefined;
}

/** Ends in `:thread:<id>`. Topics of a group are rooms of their own and do not count. */
export function isThreadKey(key: SessionKey): boolean {
  return "threadId" in partsOf(key);
}

/** `global` and `unknown` count as the default agent's. */
export function agentIdOf(key: SessionKey, names: KeyNames): string {
  const parsed = partsOf(key);
  return "agentId" in parsed ? parsed.agentId : names.defaultAgentId;
}

/** The key without `agent:<id>:`. */
export function withoutAgent(key: SessionKey): string {
  const parsed = partsOf(key);
  return "agentId" in parsed ? key.slice(`agent:${parsed.agentId}:`.length) : key;
}

/** An agent id made out of any text, "main" when nothing is left. For host input; what models type is refused instead. */
export function normalizeAgentId(text: string): string {
  const id = fold(text.trim());
  if (agentIdPattern.test(id)) return id;
  const dashed = id.replace(/[^a-z0-9_-]+/g, "-").replace(/^[-_]+/, "");
  return dashed.slice(0, 64).replace(/-+$/, "") || "main";
}

function withMainName(parsed: ParsedKey, names: KeyNames): ParsedKey {
  if (parsed.family !== "main" && parsed.family !== "other") return parsed;
  if (parsed.family === "other" && fold(parsed.rest) !== names.mainKey) return parsed;
  const { agentId, threadId } = parsed;
  if (names.scope === "global" && agentId === names.defaultAgentId && threadId === undefined) {
    return { family: "global" };
  }
  return names.mainKey === "main"
    ? given({ agentId, family: "main" as const, threadId })
    : given({ agentId, family: "other" as const, rest: names.mainKey, threadId });
}
