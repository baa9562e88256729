import { given } from "../core/given.ts";
import type { Session, SessionKind } from "../core/ports/session.ts";
import type { RowScope } from "../core/ports/storage.ts";
import { displayName, kindOf } from "../core/session/describe.ts";
import { withoutAgent } from "../core/session/key.ts";
import { parseReference } from "../core/session/resolve.ts";
import { cleanLine } from "../core/text/lines.ts";
import type { CommandParts, CommandUse } from "./command.ts";
import { folded } from "./fold.ts";
import { type Asked, readAlong } from "./read-along.ts";
import { numberIn, sessionListed } from "./session-numbers.ts";

/** Sessions of each kind of search that are looked at. */
const LOOKED_AT = 200;

type LookupParts = Pick<CommandParts, "sessions" | "storage" | "names" | "clock">;

/** What may be spoken of in a place. */
export interface View {
  readonly scope: RowScope;
  readonly kinds?: readonly SessionKind[];
}

export const EVERYTHING: View = { scope: { agentIds: "all", keys: [] } };

/** Everything for the caller alone; where others read along rooms, and nobody's direct chats or what works for them. */
export function viewFrom(use: Asked): View {
  return readAlong(use) ? { ...EVERYTHING, kinds: ["group"] } : EVERYTHING;
}

/**
 * The sessions that `which` may mean: by its number in the list that the person was shown last, else by key or session id, else by any of its names, else by
 * how one begins. A number that was not in the list is no beginning of anything.
 */
export async function sessionsMeant(
  which: string,
  use: Pick<CommandUse, "call" | "how" | "origin">,
  parts: LookupParts,
): Promise<readonly Session[]> {
  const view = viewFrom(use);
  const number = numberIn(which);
  const listed = number && (await sessionListed(number, use, parts));
  const referred = listed || (await sessionByReference(which, use.origin, parts));
  if (referred !== undefined && isIn(view, referred, parts)) return [referred];
  const like = await sessionsLike(which, view, parts);
  const word = folded(cleanLine(which));
  const equal = like.filter((session) => spellings(session).some((one) => folded(one) === word));
  if (equal.length > 0 || number !== undefined) return equal;
  return like.filter((session) => namesOf(session).some((one) => folded(one).startsWith(word)));
}

/** Those of which a name holds what is typed, the open ones first, then the newest. Reads no transcript. */
export async function sessionsLike(
  typed: string,
  view: View,
  { storage }: Pick<LookupParts, "storage">,
): Promise<readonly Session[]> {
  const word = cleanLine(typed);
  // The index knows all names, though not without their accents: of the newest it need not.
  const search = word === "" ? [undefined] : [undefined, word];
  const pages = await Promise.all(
    search.flatMap((text) =>
      [false, true].map((archived) =>
        storage.index.list({ ...view, ...given({ search: text }), archived, offset: 0, limit: LOOKED_AT }),
      ),
    ),
  );
  const rows = pages.flatMap((page) => page.rows);
  const found = [...new Map(rows.map(({ session }) => [session.key, session])).values()];
  return found
    .filter((session) => holds(session, folded(word)))
    .sort((a, b) => Number(isArchived(a)) - Number(isArchived(b)) || b.updatedAtMs - a.updatedAtMs);
}

/** The agent in front of a key is part of the key of all its sessions. */
function holds(session: Session, word: string): boolean {
  return (
    folded(session.key).startsWith(word) ||
    spellings(session).some((one) => one !== session.key && folded(one).includes(word))
  );
}

function isArchived({ archivedAtMs }: Session): boolean {
  return archivedAtMs !== undefined;
}

/** What it is called by, and its id. */
export function spellings(session: Session): readonly string[] {
  return [...namesOf(session), session.sessionId];
}

function namesOf(session: Session): readonly string[] {
  const { label, title, key } = session;
  return [label, title, displayName(session), withoutAgent(key), key].filter((name) => name !== undefined);
}

async function sessionByReference(
  which: string,
  { key, agentId }: CommandUse["origin"],
  { sessions, storage, names }: LookupParts,
): Promise<Session | undefined> {
  const reference = parseReference({ sessionKey: which }, { key, agentId }, names);
  if (reference.by !== "key" && reference.by !== "sessionId") return undefined;
  const named = await sessions.get(reference.key);
  if (named !== undefined || reference.by === "key") return named;
  const [owner] = await storage.index.bySessionId(reference.sessionId.toLowerCase());
  return owner === undefined ? undefined : sessions.get(owner);
}

function isIn({ kinds }: View, session: Session, { names }: LookupParts): boolean {
  return kinds === undefined || kinds.includes(kindOf(session.key, names, session));
}
