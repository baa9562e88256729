import { joined } from "../children/family.ts";
import { given } from "../given.ts";
import type { Address } from "../ports/chat.ts";
import type { Family } from "../ports/child.ts";
import type { RunQueue } from "../ports/engine.ts";
import type { Session, SessionKey } from "../ports/session.ts";
import type { Storage, Write } from "../ports/storage.ts";
import { hasLeft } from "./sessions.ts";

/** The key that a chat has by the rules, and the agent that it belongs to. */
export interface Place {
  readonly key: SessionKey;
  readonly agentId: string;
}

/** Where a chat's session is, and where the chat's next message goes. */
export interface Whereabouts {
  /** undefined: there is none yet. */
  readonly session?: Session;
  /** The session that an admitted message belongs to, once `moving` is written with it. */
  readonly arrival: Place;
  readonly moving: readonly Write[];
}

/**
 * Sessions follow their chats to new addresses, with transcript and overrides. Only a session without pending runs moves: runs are serial in the
 * lane of their key, and those in two lanes would write one transcript at the same time. Until then messages stay with it where it is.
 */
export interface Moves {
  /** `keys`: those under which the chat may have begun, the one that the message itself names first. Writes nothing. */
  find(place: Place, keys: readonly SessionKey[], route: Address): Promise<Whereabouts>;
  /** The chat of the session `from` is now at `place`: it moves at once or, when it is busy, with a later message from there. Twice is fine. */
  start(from: SessionKey, place: Place, route: Address): Promise<void>;
}

/** Redirects of one chat that are followed. */
const MAX_REDIRECTS = 5;

export function createMoves({
  storage,
  queue,
}: {
  readonly storage: Storage;
  readonly queue: RunQueue;
}): Moves {
  const records = storage.records("session");
  const moved = storage.records("moved");

  const isIdle = async ({ key }: Session) => (await queue.pending(key)).length === 0;

  /** Who lives where the redirects lead. */
  async function inhabitant(key: SessionKey, hops = MAX_REDIRECTS): Promise<Session | undefined> {
    const session = await records.get(key);
    const further = session === undefined && hops > 0 ? await moved.get(key) : undefined;
    if (further !== undefined) return inhabitant(further.to, hops - 1);
    return session !== undefined && hasLeft(session) ? undefined : session;
  }

  async function movesOf(olds: readonly Session[], place: Place, route: Address): Promise<readonly Write[]> {
    const writes = await Promise.all(
      olds.map(async (old) => [
        ...moveWrites(await withFreeLabel(old), place, route),
        ...(await familyMoves(old.key, place.key, storage)),
      ]),
    );
    return writes.flat();

    /** A move to another agent must not fail for a label that is in use there. */
    async function withFreeLabel(old: Session): Promise<Session> {
      if (old.label === undefined || old.agentId === place.agentId) return old;
      const holders = await storage.index.byLabel(old.label, place.agentId, 2);
      return holders.every((key) => key === place.key) ? old : withoutLabel(old);
    }
  }

  return {
    async find(place, keys, route) {
      const [current, redirect] = await Promise.all([records.get(place.key), moved.get(place.key)]);
      const older = [...keys, ...(redirect?.awaited === true ? [redirect.to] : [])];
      const others = await records.getMany(older.filter((key) => key !== place.key));
      const olds = others.filter((one) => one !== undefined);
      const own = olds.find(({ key }) => key === keys[0]);
      const session = own ?? current ?? olds[0] ?? (redirect && (await inhabitant(redirect.to)));
      const idle = await Promise.all(olds.map(isIdle));
      if (olds.length === 0 || idle.includes(false)) {
        return { ...given({ session }), arrival: session ?? place, moving: [] };
      }
      return { ...given({ session }), arrival: place, moving: await movesOf(olds, place, route) };
    },
    async start(from, place, route) {
      const session = await records.get(from);
      if (session === undefined || from === place.key) return;
      const isFree = await isIdle(session);
      await storage.apply(isFree ? await movesOf([session], place, route) : [awaitWrite(from, place.key)]);
    },
  };
}

/** In this order no crash between two writes loses the session, and two sessions never hold one label. */
function moveWrites(session: Session, place: Place, route: Address): readonly Write[] {
  const [from, to] = [session.key, place.key];
  return [
    { type: "record", table: "session", key: from, change: (current) => current && withoutLabel(current) },
    {
      type: "record",
      table: "session",
      key: to,
      change: (current) => moveInto(current, session, place, route),
    },
    { type: "record", table: "moved", key: from, change: () => ({ to }) },
    { type: "record", table: "session", key: from, change: () => undefined },
    { type: "record", table: "moved", key: to, change: () => undefined },
  ];
}

/** Its children know their requester by its new key, and what is open stays counted. */
async function familyMoves(from: SessionKey, to: SessionKey, storage: Storage): Promise<readonly Write[]> {
  const children = await storage.index.children(from);
  const family = await storage.records("family").get(from);
  const adopted = children.map(
    (key): Write => ({
      type: "record",
      table: "session",
      key,
      change: (current) => current && { ...current, spawnedBy: to },
    }),
  );
  if (family === undefined) return adopted;
  // As it is when it is written, in this order: a child may end in between.
  let carried: Family | undefined;
  return [
    ...adopted,
    {
      type: "record",
      table: "family",
      key: from,
      change: (current) => {
        carried = current;
        return undefined;
      },
    },
    {
      type: "record",
      table: "family",
      key: to,
      change: (current) => (carried === undefined ? current : joined(carried, current)),
    },
  ];
}

/** Looked for under its new key the session is found under its old one, where it still is. */
function awaitWrite(from: SessionKey, to: SessionKey): Write {
  return { type: "record", table: "moved", key: to, change: () => ({ to: from, awaited: true }) };
}

function withoutLabel({ label: _label, ...session }: Session): Session {
  return session;
}

/** A session that is there already stays; what people chose for the other one holds where nothing else was chosen, so that no silence ends by accident. */
function moveInto(
  current: Session | undefined,
  moved: Session,
  { key, agentId }: Place,
  route: Address,
): Session {
  if (current === undefined) return { ...moved, key, agentId, route };
  const { label, sendPolicy, modelOverride, thinkingLevel, verboseLevel, pinnedAtMs } = moved;
  return {
    ...given({ label, sendPolicy, modelOverride, thinkingLevel, verboseLevel, pinnedAtMs }),
    ...current,
  };
}
