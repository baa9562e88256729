import type { Config } from "../config.ts";
import { SwitchboardError } from "../errors.ts";
import { given } from "../given.ts";
import type { Clock } from "../ports/host.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { RecordWrite, Storage } from "../ports/storage.ts";
import { type Arrival, afterArrival, type Birth, newSession, type Standing } from "./arrival.ts";
import { afterReset } from "./freshness.ts";
import { isMainKey, type KeyNames } from "./key.ts";

/** Longest chain of requesters that is followed; a longer one can only be a damaged record. */
const MAX_ANCESTORS = 16;

/** Moves of one chat that are followed. */
const MAX_REDIRECTS = 5;

export interface Sessions {
  /** Follows a chat that moved, and a thread to its child. Reads never write. */
  get(key: SessionKey): Promise<Session | undefined>;
  /** Requesters of a spawned session, nearest first. */
  ancestors(key: SessionKey): Promise<readonly SessionKey[]>;
  /** Everything spawned below, at any depth. */
  descendants(key: SessionKey): Promise<readonly SessionKey[]>;
  /** The write that an admitted message makes. */
  arrival(place: { key: SessionKey; agentId: string }, message: Arrival, standing: Standing): RecordWrite;
  /** The write that makes a session without a chat if it is missing. */
  opening(key: SessionKey, agentId: string): RecordWrite;
  /** SESSION_NOT_FOUND when there is none: changing never creates. */
  change(key: SessionKey, change: (current: Session) => Session): Promise<Session>;
  /** A new session id; what was said stays readable by the old one. `from`: only while this one is the session's id. */
  reset(key: SessionKey, from?: string): Promise<Session>;
  /** Removes the entry, not what was said: runs of it may still be writing. SESSION_PROTECTED for a main session. */
  remove(key: SessionKey): Promise<Session>;
}

export function createSessions(parts: {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly config: Config;
  readonly names: KeyNames;
}): Sessions {
  const { storage, clock, config, names } = parts;
  const records = storage.records("session");
  const moved = storage.records("moved");
  const birth = (key: SessionKey, agentId: string): Birth => ({
    key,
    agentId,
    nowMs: clock.now(),
    newSessionId: clock.uuid(),
  });

  async function get(key: SessionKey): Promise<Session | undefined> {
    let at = key;
    for (let hops = 0; hops < MAX_REDIRECTS; hops++) {
      const found = await records.get(at);
      if (found !== undefined) return leadsTo(found, key) ? found : undefined;
      const redirect = await moved.get(at);
      if (redirect === undefined) return undefined;
      at = redirect.to;
    }
    return undefined;
  }

  async function change(key: SessionKey, edit: (current: Session) => Session): Promise<Session> {
    const target = (await get(key))?.key ?? key;
    const stored = await records.update(target, (current) =>
      current === undefined ? undefined : edit(current),
    );
    if (stored === undefined) throw notFound(key);
    return stored;
  }

  return {
    get,
    change,
    ancestors: (key) => ancestorsOf(key, get),
    descendants: (key) => descendantsOf(key, (parent) => storage.index.children(parent)),
    arrival: ({ key, agentId }, message, standing) => {
      const born = birth(key, agentId);
      return {
        type: "record",
        table: "session",
        key,
        change: (current) => afterArrival(current, born, message, { config, standing }),
      };
    },
    opening: (key, agentId) => {
      const born = birth(key, agentId);
      return { type: "record", table: "session", key, change: (current) => current ?? newSession(born) };
    },
    reset: (key, from) => {
      const [newId, nowMs] = [clock.uuid(), clock.now()];
      return change(key, (current) => {
        const isMeant = from === undefined || current.sessionId === from;
        return isMeant ? afterReset(current, newId, nowMs) : current;
      });
    },
    async remove(key) {
      const session = await get(key);
      if (session === undefined) throw notFound(key);
      if (isMainKey(session.key, names)) {
        throw new SwitchboardError(
          "SESSION_PROTECTED",
          "A main session cannot be deleted; reset it instead.",
        );
      }
      await storage.apply([...(await inheritance(session, storage)), gone(session.key)]);
      return session;
    },
  };
}

function leadsTo(session: Session, from: SessionKey): boolean {
  return session.key === from || !hasLeft(session);
}

/** A child that was archived has given its thread back: only its own key leads to it. */
export function hasLeft({ spawnedBy, archivedAtMs }: Session): boolean {
  return spawnedBy !== undefined && archivedAtMs !== undefined;
}

/** What a session that goes has spawned belongs to whoever spawned it: nobody loses sight of what works for them. */
export async function inheritance(
  { key, spawnedBy: heir }: Session,
  storage: Pick<Storage, "index">,
): Promise<readonly RecordWrite[]> {
  const children = await storage.index.children(key);
  return children.map((child) => ({
    type: "record",
    table: "session",
    key: child,
    change: (current) => {
      if (current === undefined) return undefined;
      const { spawnedBy: _gone, ...rest } = current;
      return { ...rest, ...given({ spawnedBy: heir }) };
    },
  }));
}

function gone(key: SessionKey): RecordWrite {
  return { type: "record", table: "session", key, change: () => undefined };
}

async function ancestorsOf(
  key: SessionKey,
  get: (key: SessionKey) => Promise<Session | undefined>,
): Promise<readonly SessionKey[]> {
  const chain: SessionKey[] = [];
  let parent = (await get(key))?.spawnedBy;
  while (parent !== undefined && chain.length < MAX_ANCESTORS && !chain.includes(parent)) {
    // A requester whose chat moved is known by its new key.
    const session = await get(parent);
    chain.push(session?.key ?? parent);
    parent = session?.spawnedBy;
  }
  return chain;
}

async function descendantsOf(
  key: SessionKey,
  children: (key: SessionKey) => Promise<readonly SessionKey[]>,
): Promise<readonly SessionKey[]> {
  const seen = new Set<SessionKey>();
  let level: readonly SessionKey[] = [key];
  for (let depth = 0; depth < MAX_ANCESTORS && level.length > 0; depth++) {
    const below = (await Promise.all(level.map(children))).flat();
    level = below.filter((child) => child !== key && !seen.has(child));
    for (const child of level) seen.add(child);
  }
  return [...seen];
}

function notFound(key: string): SwitchboardError {
  return new SwitchboardError("SESSION_NOT_FOUND", `No session "${key}". Use a key from sessions_list.`);
}
