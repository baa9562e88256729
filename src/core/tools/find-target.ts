import type { Config } from "../config.ts";
import { given } from "../given.ts";
import { type AccessAction, isClamped, mayAccess, SANDBOX_REFUSAL } from "../policy/visibility.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Storage } from "../ports/storage.ts";
import { agentIdOf, isMainKey, isReserved, type KeyNames, partsOf } from "../session/key.ts";
import { looksLikeKey, parseReference, type Reference } from "../session/resolve.ts";
import type { Sessions } from "../session/sessions.ts";
import { type Answer, type Caller, failure, forbidden } from "./define-tool.ts";

/** How a model names a session. */
export interface TargetInput {
  readonly sessionKey?: string | undefined;
  readonly label?: string | undefined;
  readonly agentId?: string | undefined;
}

interface Found {
  readonly found: true;
  readonly key: SessionKey;
  /** The key that it was looked up by, where that is not its own. */
  readonly named?: SessionKey;
  /** Absent: an agent's main session that its first use will make. */
  readonly session?: Session;
  /** The session id that was asked for: the current one, or an older one after a reset. */
  readonly sessionId?: string;
}

export type Target = Found | { readonly found: false; readonly answer: Answer };

export type FindTarget = (input: TargetInput, caller: Caller, action: AccessAction) => Promise<Target>;

export interface FindTargetParts {
  readonly config: Config;
  readonly names: KeyNames;
  readonly agentIds: readonly string[];
  readonly sessions: Sessions;
  readonly storage: Storage;
}

/** Sessions of one label that are looked at: agents may share a label, and the caller may see only some of them. */
const MAX_CANDIDATES = 200;
/** So many are named when a reference fits several. */
const MAX_NAMED = 8;

/**
 * The one way from what a model wrote to a session. Visibility is asked after the last step of resolution, for what was really found, so no spelling
 * reaches what another refuses; a clamped caller cannot tell a hidden session from a missing one.
 */
export function createFindTarget(parts: FindTargetParts): FindTarget {
  return async (input, caller, action) => {
    const { key, agentId } = caller.session;
    const reference = parseReference(written(input), { key, agentId }, parts.names);
    if (reference.by === "missing") return refused(failure("INPUT_INVALID", reference.reason));
    if (reference.by === "agentMain" && !parts.agentIds.includes(reference.agentId)) {
      return missing(caller, parts, unknownAgent(reference.agentId, parts.agentIds));
    }
    const candidates = await candidatesFor(reference, action, parts);
    const { open, refusal } = await visible(candidates, caller, action, parts);
    const [only, ...others] = open;
    if (only === undefined) return missing(caller, parts, refusal ?? notFound(reference, caller, parts));
    return others.length === 0 ? only : refused(ambiguous(open));
  };
}

/** Existing sessions and, for an agent's main one, the session to be: for messages by its key, too. */
async function candidatesFor(
  reference: Reference,
  action: AccessAction,
  parts: FindTargetParts,
): Promise<readonly Found[]> {
  const { storage } = parts;
  switch (reference.by) {
    case "key": {
      const found = await sessionAt(reference.key, parts);
      if (found.length > 0) return found;
      const isToBe = action === "send" && isMainOfAgent(reference.key, parts);
      return isToBe ? [{ found: true, key: reference.key }] : threadsNamed(reference.key, parts);
    }
    case "agentMain": {
      const found = await sessionAt(reference.key, parts);
      return found.length > 0 ? found : [{ found: true, key: reference.key }];
    }
    case "label": {
      const keys = await storage.index.byLabel(reference.label, reference.agentId, MAX_CANDIDATES);
      return sessionsAt(keys, parts);
    }
    case "sessionId": {
      const byKey = await sessionAt(reference.key, parts);
      // Ids are made in lower case.
      return byKey.length > 0 ? byKey : bySessionId(reference.sessionId.toLowerCase(), parts);
    }
    case "missing":
      return [];
    default:
      return reference satisfies never;
  }
}

/** To Discord a thread is a channel of its own: its bare id stands for the thread's session. */
async function threadsNamed(key: SessionKey, parts: FindTargetParts): Promise<readonly Found[]> {
  const bare = partsOf(key);
  if (bare.family !== "channel" || bare.threadId !== undefined) return [];
  const scope = { agentIds: "all", keys: [] } as const;
  const query = { search: bare.chatId, scope, offset: 0, limit: MAX_CANDIDATES };
  const pages = await Promise.all(
    [false, true].map((archived) => parts.storage.index.list({ ...query, archived })),
  );
  const threads = pages
    .flatMap(({ rows }) => rows)
    .filter(({ session }) => {
      const one = partsOf(session.key);
      if (one.family !== "channel" || one.threadId !== bare.chatId) return false;
      return one.agentId === bare.agentId && one.channel === bare.channel;
    });
  const keys = threads.map(({ session }) => session.key);
  return sessionsAt(keys, parts);
}

async function bySessionId(sessionId: string, parts: FindTargetParts): Promise<readonly Found[]> {
  const { storage } = parts;
  const keys = await storage.index.bySessionId(sessionId);
  const older = keys.length > 0 ? undefined : (await storage.transcripts.info(sessionId))?.sessionKey;
  const found = await sessionsAt(older === undefined ? keys : [older], parts);
  return found.map((target) => ({ ...target, sessionId }));
}

/** The candidates that the caller may reach; where all of them are hidden, why the first one is. */
async function visible(
  candidates: readonly Found[],
  caller: Caller,
  action: AccessAction,
  parts: FindTargetParts,
): Promise<{ readonly open: readonly Found[]; readonly refusal?: Answer }> {
  if (caller.trusted === true) return { open: candidates };
  const { config, names, agentIds, sessions } = parts;
  const decide = async ({ key, session }: Found) => {
    const agentId = session?.agentId ?? agentIdOf(key, names);
    const ancestors = await sessions.ancestors(key);
    const retired = agentIds.includes(agentId) ? {} : { retired: true as const };
    return mayAccess(asking(caller), { key, agentId, ancestors, ...retired }, action, config);
  };
  // What no key names and no list shows has no id either.
  const named = candidates.filter(({ key }) => !isReserved(key, names));
  const decisions = await Promise.all(named.map(decide));
  const [refusal] = decisions.flatMap((may) => (may.allowed ? [] : [forbidden(may.reason, may.code)]));
  return { open: named.filter((_, at) => decisions[at]?.allowed), ...given({ refusal }) };
}

/** The one way out for what is hidden and for what is missing: to a clamped caller both look the same. */
function missing(caller: Caller, { config }: FindTargetParts, answer: Answer): Target {
  return refused(isClamped(asking(caller), config) ? forbidden(SANDBOX_REFUSAL) : answer);
}

function asking({ session: { key, agentId }, sandboxed }: Caller) {
  return { key, agentId, sandboxed };
}

function ambiguous(open: readonly Found[]): Answer {
  const keys = open.slice(0, MAX_NAMED).map(({ key }) => key);
  return failure("SESSION_AMBIGUOUS", `${open.length} sessions fit; name one by its key: ${keys.join(", ")}`);
}

/** Says nothing but what the caller typed. */
function notFound(reference: Reference, { session }: Caller, { names }: FindTargetParts): Answer {
  const asked = reference.by === "label" ? `label "${reference.label}"` : "that key or id";
  const isMisplaced = reference.by === "label" && looksLikeKey(reference.label, session, names);
  const hint = isMisplaced
    ? "That looks like a session key: keys belong in sessionKey, and agentId alone means that agent's main session."
    : "Use a key from sessions_list.";
  return failure("SESSION_NOT_FOUND", `No session with ${asked} (0 matches). ${hint}`);
}

function unknownAgent(agentId: string, agentIds: readonly string[]): Answer {
  return failure("AGENT_UNKNOWN", `No agent "${agentId}" is configured. Agents: ${agentIds.join(", ")}.`);
}

function isMainOfAgent(key: SessionKey, { names, agentIds }: FindTargetParts): boolean {
  return isMainKey(key, names) && agentIds.includes(agentIdOf(key, names));
}

async function sessionsAt(keys: readonly SessionKey[], parts: FindTargetParts): Promise<readonly Found[]> {
  return (await Promise.all(keys.map((key) => sessionAt(key, parts)))).flat();
}

/** The session of this key, or that to which it leads. */
async function sessionAt(key: SessionKey, { sessions }: FindTargetParts): Promise<readonly Found[]> {
  const session = await sessions.get(key);
  if (session === undefined) return [];
  return [{ found: true, key: session.key, session, ...(session.key === key ? {} : { named: key }) }];
}

function refused(answer: Answer): Target {
  return { found: false, answer };
}

function written({ sessionKey, label, agentId }: TargetInput) {
  return {
    ...(sessionKey === undefined ? {} : { sessionKey }),
    ...(label === undefined ? {} : { label }),
    ...(agentId === undefined ? {} : { agentId }),
  };
}
