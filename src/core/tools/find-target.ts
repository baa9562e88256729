import type { Config } from "../config.ts";
import { given } from "../given.ts";
import { type AccessAction, isClamped, mayAccess, SANDBOX_REFUSAL } from "../policy/visibility.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Storage } from "../ports/storage.ts";
import { agentIdOf, isReserved, type KeyNames, partsOf } from "../session/key.ts";
import { parseReference, type Reference } from "../session/resolve.ts";
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
    const { open, refusal } = await visible(await candidatesFor(reference, parts), caller, action, parts);
    const [only, ...others] = open;
    if (only === undefined) return missing(caller, parts, refusal ?? notFound(reference));
    return others.length === 0 ? only : refused(ambiguous(open));
  };
}

/** Existing sessions and, for an agent's main one, the session to be. */
async function candidatesFor(reference: Reference, parts: FindTargetParts): Promise<readonly Found[]> {
  const { sessions, storage } = parts;
  switch (reference.by) {
    case "key": {
      const found = existing(await sessions.get(reference.key));
      return found.length > 0 ? found : threadsNamed(reference.key, parts);
    }
    case "agentMain": {
      const session = await sessions.get(reference.key);
      return session === undefined ? [{ found: true, key: reference.key }] : existing(session);
    }
    case "label": {
      const keys = await storage.index.byLabel(reference.label, reference.agentId, MAX_CANDIDATES);
      return (await Promise.all(keys.map((key) => sessions.get(key)))).flatMap(existing);
    }
    case "sessionId": {
      const byKey = existing(await sessions.get(reference.key));
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
async function threadsNamed(
  key: SessionKey,
  { sessions, storage }: FindTargetParts,
): Promise<readonly Found[]> {
  const bare = partsOf(key);
  if (bare.family !== "channel" || bare.threadId !== undefined) return [];
  const scope = { agentIds: "all", keys: [] } as const;
  const query = { search: bare.chatId, scope, offset: 0, limit: MAX_CANDIDATES };
  const pages = await Promise.all(
    [false, true].map((archived) => storage.index.list({ ...query, archived })),
  );
  const threads = pages
    .flatMap(({ rows }) => rows)
    .filter(({ session }) => {
      const parts = partsOf(session.key);
      if (parts.family !== "channel" || parts.threadId !== bare.chatId) return false;
      return parts.agentId === bare.agentId && parts.channel === bare.channel;
    });
  return (await Promise.all(threads.map(({ session }) => sessions.get(session.key)))).flatMap(existing);
}

async function bySessionId(
  sessionId: string,
  { sessions, storage }: FindTargetParts,
): Promise<readonly Found[]> {
  const keys = await storage.index.bySessionId(sessionId);
  const older = keys.length > 0 ? undefined : (await storage.transcripts.info(sessionId))?.sessionKey;
  const all = older === undefined ? keys : [older];
  const found = (await Promise.all(all.map((key) => sessions.get(key)))).flatMap(existing);
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

function notFound(reference: Reference): Answer {
  const asked = reference.by === "label" ? `label "${reference.label}"` : "that key or id";
  return failure("SESSION_NOT_FOUND", `No session with ${asked} (0 matches). Use a key from sessions_list.`);
}

function unknownAgent(agentId: string, agentIds: readonly string[]): Answer {
  return failure("AGENT_UNKNOWN", `No agent "${agentId}" is configured. Agents: ${agentIds.join(", ")}.`);
}

function existing(session: Session | undefined): readonly Found[] {
  return session === undefined ? [] : [{ found: true, key: session.key, session }];
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
