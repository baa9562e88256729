import type { Address } from "../../core/ports/chat.ts";

/** Whether the listener has kept it. */
export type TellOfMove = (from: Address, to: Address) => Promise<boolean>;

/**
 * Basic groups that became supergroups. Telegram tells of a move up to three times (in the old chat, in the new one, in the
 * refusal of a send); the listener hears of it until it has kept it.
 */
export class ChatMoves {
  readonly #moves = new Map<string, { readonly newId: string; readonly told: Promise<void> }>();

  /** Where a message for `at` has to go now. */
  resolve(at: Address): Address {
    const move = this.#moves.get(at.chatId);
    return move ? { ...at, chatId: move.newId } : at;
  }

  /** Resolves when the listener has heard of it, whoever noticed the move first. */
  note(from: Address, to: Address, tell: TellOfMove): Promise<void> {
    const known = this.#moves.get(from.chatId);
    if (known) return known.told;
    const told = tell(from, to).then((isKept) => {
      if (!isKept) this.#moves.delete(from.chatId);
    });
    this.#moves.set(from.chatId, { newId: to.chatId, told });
    return told;
  }
}

/** Whether messages have one id for everybody: in supergroups and channels. In basic groups and private chats each account counts for itself. */
export function countsForAll(chatId: string): boolean {
  return Number(chatId) <= -1_000_000_000_000;
}
