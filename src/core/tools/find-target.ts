import type { Config } from "../config.ts";
import { type AccessAction, isClamped, mayAccess, SANDBOX_REFUSAL } from "../policy/visibility.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Storage } from "../ports/storage.ts";
import { agentIdOf, type KeyNames, partsOf } from "../session/key.ts";
import { parseReference, type Reference } from "../session/resolve.ts";
import type { Sessions } from "../session/sessions.ts";
import { type Answer, type Caller, failure, forbidden } from "./define-tool.ts";

/** How a model names a session. */
export interface TargetInput {
  readonly sessionKey?: string | undefined;
  readonly label?: string | undefined;
  readonly agentId?: string | undefined;
}

export type Target =
  | {
      readonly found: true;
      readonly key: SessionKey;
      /** Absent: an agent's main session that its first use will make. */
      readonly session?: Session;
      /** The session id that was asked for: the current one, or an older one after a reset. */
      readonly sessionId?: string;
    }
  | { readonly found: false; readonly answer: Answer };

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
    const candidates = await visible(await candidatesFor(reference, parts), caller, action, parts);
    if (candidates.length > 1) {
      const keys = candidates
        .slice(0, MAX_NAMED)
        .map((one) => one.found && one.key)
        .join(", ");
      return refused(
        failure("SESSION_AMBIGUOUS", `${candidates.length} sessions fit; name one by its key: ${keys}`),
      );
    }
    return candidates[0] ?? missing(caller, parts, notFound(reference));
  };
}

/** Existing sessions and, for an agent's main one, the session to be. */
async function candidatesFor(reference: Reference, parts: FindTargetParts): Promise<readonly Target[]> {
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
): Promise<readonly Target[]> {
  const bare = partsOf(key);
  if (bare.family !== "channel" || bare.threadId !== undefined) return [];
  const query = { search: bare.chatId, archived: false, offset: 0, limit: MAX_CANDIDATES };
  const { rows } = await storage.index.list({ ...query, scope: { agentIds: "all", keys: [] } });
  const threads = rows.filter(({ session }) => {
    const parts = partsOf(session.key);
    if (parts.family !== "channel" || parts.threadId !== bare.chatId) return false;
    return parts.agentId === bare.agentId && parts.channel === bare.channel;
  });
  return (await Promise.all(threads.map(({ session }) => sessions.get(session.key)))).flatMap(existing);
}

async function bySessionId(
  sessionId: string,
  { sessions, storage }: FindTargetParts,
): Promise<readonly Target[]> {
  const keys = await storage.index.bySessionId(sessionId);
  const older = keys.length > 0 ? undefined : (await storage.transcripts.info(sessionId))?.sessionKey;
  const all = older === undefined ? keys : [older];
  const found = (await Promise.all(all.map((key) => sessions.get(key)))).flatMap(existing);
  return found.map((target) => ({ ...target, sessionId }));
}

/** The candidates that the caller may reach; all of them hidden is one refusal, with the reason of the first. */
async function visible(
  candidates: readonly Target[],
  caller: Caller,
  action: AccessAction,
  parts: FindTargetParts,
): Promise<readonly Target[]> {
  if (caller.trusted === true) return candidates;
  const asking = { key: caller.session.key, agentId: caller.session.agentId, sandboxed: caller.sandboxed };
  const open: Target[] = [];
  let hidden: Target | undefined;
  for (const target of candidates) {
    if (!target.found) continue;
    const ancestors = await parts.sessions.ancestors(target.key);
    const agentId = target.session?.agentId ?? agentIdOf(target.key, parts.names);
    const may = mayAccess(asking, { key: target.key, agentId, ancestors }, action, parts.config);
    if (may.allowed) open.push(target);
    else hidden ??= refused(forbidden(may.reason, may.code));
  }
  return open.length > 0 || hidden === undefined ? open : [hidden];
}

function missing(caller: Caller, { config }: FindTargetParts, answer: Answer): Target {
  const asking = { key: caller.session.key, agentId: caller.session.agentId, sandboxed: caller.sandboxed };
  return refused(isClamped(asking, config) ? forbidden(SANDBOX_REFUSAL) : answer);
}

function notFound(reference: Reference): Answer {
  const asked = reference.by === "label" ? `label "${reference.label}"` : "that key or id";
  return failure("SESSION_NOT_FOUND", `No session with ${asked} (0 matches). Use a key from sessions_list.`);
}

function unknownAgent(agentId: string, agentIds: readonly string[]): Answer {
  return failure("AGENT_UNKNOWN", `No agent "${agentId}" is configured. Agents: ${agentIds.join(", ")}.`);
}

function existing(session: Session | undefined): readonly (Target & { readonly found: true })[] {
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
