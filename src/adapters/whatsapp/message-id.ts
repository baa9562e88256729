import { createHash } from "node:crypto";

/** Hex digits after the prefix: what tells messages apart, and the mark that says that a switchboard wrote them. */
const OWN_DIGITS = 11;
const MARK_DIGITS = 7;
const SHAPE = new RegExp(`^3EB0[0-9A-F]{${OWN_DIGITS + MARK_DIGITS}}$`);

/**
 * The id of a part of a delivery, in the shape of ids that WhatsApp's own web client makes. WhatsApp does not say which messages bots have written, so
 * the id does: its last digits follow from the others, which an id from elsewhere has once in 268 million.
 */
export function messageIdOf(deliveryId: string, part: number): string {
  const digits = digest(`${deliveryId}:${part}`, OWN_DIGITS);
  return `3EB0${digits}${markOf(digits)}`;
}

/** Whether a switchboard, of this installation or another, has made this id. */
export function isMarked(messageId: string): boolean {
  if (!SHAPE.test(messageId)) return false;
  const digits = messageId.slice(4, 4 + OWN_DIGITS);
  return messageId.endsWith(markOf(digits));
}

const markOf = (digits: string) => digest(`bot-switchboard:${digits}`, MARK_DIGITS);

const digest = (text: string, digits: number) =>
  createHash("sha256").update(text).digest("hex").slice(0, digits).toUpperCase();
