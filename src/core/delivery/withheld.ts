import type { Session } from "../ports/session.ts";
import type { RecordWrite } from "../ports/storage.ts";
import type { ParcelKind } from "./parcel.ts";

/** A silence in which nothing was withheld for so long counts anew. */
const KEPT_MS = 24 * 3_600_000;

/** What a text that was kept from leaving adds to the count of its session: of what an agent has said, where the session is still there. */
export function withheldWrites(
  deliveryId: string,
  kind: ParcelKind,
  session: Session | undefined,
  nowMs: number,
): readonly RecordWrite[] {
  if (session === undefined || (kind !== "reply" && kind !== "announce")) return [];
  return [
    {
      type: "record",
      table: "session",
      key: session.key,
      change: (current) => current && withOneWithheld(current, deliveryId, nowMs),
    },
  ];
}

/** The session when one more of its replies was kept from leaving. The same delivery again changes nothing. */
export function withOneWithheld(session: Session, deliveryId: string, nowMs: number): Session {
  if (session.withheld?.lastId === deliveryId) return session;
  const { count, sinceMs } = withheldLately(session, nowMs) ?? { count: 0, sinceMs: nowMs };
  return { ...session, withheld: { count: count + 1, sinceMs, lastMs: nowMs, lastId: deliveryId } };
}

/** How many replies were kept from leaving, and since when; undefined: none within a day. */
export function withheldLately(
  { withheld }: Session,
  nowMs: number,
): { readonly count: number; readonly sinceMs: number } | undefined {
  return withheld !== undefined && nowMs - withheld.lastMs < KEPT_MS ? withheld : undefined;
}
