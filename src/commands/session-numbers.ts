import type { Session } from "../core/ports/session.ts";
import { joined } from "../core/runs/run-id.ts";
import type { CommandParts, CommandUse } from "./command.ts";

const VALID_MS = 3_600_000;

type NumberParts = Pick<CommandParts, "storage" | "sessions" | "clock">;

/** `#3` or `3`. */
export function numberIn(which: string): number | undefined {
  const number = Number(/^#?(\d{1,6})$/.exec(which)?.[1] ?? 0);
  return number > 0 ? number : undefined;
}

/**
 * What a person was shown as #`first` and following, in the chat where it was. Lists change with every message, but a number means what stood beside it; for
 * an hour, or until the next list.
 */
export async function rememberListed(
  shown: readonly Session[],
  first: number,
  { call }: Pick<CommandUse, "call">,
  { storage, clock }: NumberParts,
): Promise<void> {
  const listed = { first, keys: shown.map(({ key }) => key), atMs: clock.now() };
  await storage.records("listed").update(recordKeyOf(call), () => listed);
}

export async function sessionListed(
  number: number,
  { call }: Pick<CommandUse, "call">,
  { storage, sessions, clock }: NumberParts,
): Promise<Session | undefined> {
  const listed = await storage.records("listed").get(recordKeyOf(call));
  if (listed === undefined || clock.now() - listed.atMs >= VALID_MS) return undefined;
  const key = listed.keys[number - listed.first];
  return key === undefined ? undefined : sessions.get(key);
}

function recordKeyOf({ from, sender }: CommandUse["call"]): string {
  return joined("sessions", [from.channel, from.accountId, from.chatId, from.threadId ?? "", sender.id]);
}
