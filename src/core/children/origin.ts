import type { Address } from "../ports/chat.ts";
import type { Session } from "../ports/session.ts";
import { type ParsedKey, partsOf } from "../session/key.ts";

/** Where a requester's chat is, as far as the run that spawns or its session know; what is known now is what holds later. */
export function originAt(replyTo: Address | undefined, session: Session): Partial<Address> | undefined {
  return replyTo ?? session.route ?? placeOfKey(partsOf(session.key));
}

/**
 * The whole address of a frozen origin. What it lacks comes from the route that is stored now, and only when that is the same chat as far as both
 * tell; an answer never follows the requester to another place. undefined: nobody knows where that is.
 */
export function completeOrigin(
  frozen: Partial<Address> | undefined,
  route: Address | undefined,
): Address | undefined {
  if (frozen === undefined) return undefined;
  if (isWhole(frozen)) return frozen;
  if (route === undefined) return undefined;
  const agrees = (["channel", "accountId", "chatType", "chatId", "threadId"] as const).every(
    (part) => frozen[part] === undefined || frozen[part] === route[part],
  );
  if (!agrees) return undefined;
  // A chat that was known is known with its thread, or without one.
  const { threadId: _elsewhere, ...room } = route;
  return frozen.chatId === undefined ? { ...route, ...frozen } : { ...room, ...frozen };
}

function isWhole(place: Partial<Address>): place is Address {
  const { channel, accountId, chatType, chatId } = place;
  return ![channel, accountId, chatType, chatId].includes(undefined);
}

/** A room's key tells everything but the account. */
function placeOfKey(parsed: ParsedKey): Partial<Address> | undefined {
  if (parsed.family !== "group" && parsed.family !== "channel") return undefined;
  const { channel, chatId, family: chatType } = parsed;
  const inner = "topicId" in parsed ? parsed.topicId : "threadId" in parsed ? parsed.threadId : undefined;
  return { channel, chatType, chatId, ...(inner === undefined ? {} : { threadId: inner }) };
}
