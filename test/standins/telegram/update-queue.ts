import type { Update } from "grammy/types";
import { ApiError } from "./api-error.ts";

export type NewUpdate = Omit<Update, "update_id">;

/** Sent only when `allowed_updates` names them. */
const ON_REQUEST: ReadonlySet<string> = new Set([
  "chat_member",
  "message_reaction",
  "message_reaction_count",
]);

interface Poll {
  readonly answer: () => void;
  readonly refuse: (error: ApiError) => void;
}

/**
 * The updates a bot has not confirmed yet. A confirmed one (a later offset was asked for, or the webhook answered
 * 2xx) is forgotten; any other is handed out again, to a restarted bot too.
 */
export class UpdateQueue {
  #nextId = 1000;
  #pending: Update[] = [];
  #allowed: readonly string[] = [];
  #poll: Poll | undefined;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get pending(): readonly Update[] {
    return this.#pending;
  }

  get isPolled(): boolean {
    return this.#poll !== undefined;
  }

  allow(types: readonly string[] | undefined): void {
    if (types) this.#allowed = types;
  }

  /** An update of a type that the bot does not want is never stored. */
  push(body: NewUpdate): Update {
    const update = { update_id: this.#nextId++, ...body };
    const type = Object.keys(body)[0] ?? "";
    const wanted = this.#allowed.length > 0 ? this.#allowed.includes(type) : !ON_REQUEST.has(type);
    if (wanted) this.#pending.push(update);
    this.#poll?.answer();
    return update;
  }

  confirm(isConfirmed: (update: Update) => boolean): void {
    this.#pending = this.#pending.filter((update) => !isConfirmed(update));
    this.#onChange();
  }

  /** One getUpdates call. Of two that wait at the same time the earlier one gets 409. */
  async poll(
    { offset = 0, limit = 100, timeoutS = 0 }: { offset?: number; limit?: number; timeoutS?: number },
    gone: AbortSignal,
  ): Promise<readonly Update[]> {
    const conflict =
      "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
    this.#poll?.refuse(new ApiError(409, conflict));
    const first = offset < 0 ? this.#pending.at(offset)?.update_id : offset;
    this.confirm((update) => update.update_id < (first ?? 0));
    if (this.#pending.length === 0 && timeoutS > 0) await this.#wait(timeoutS * 1000, gone);
    return this.#pending.slice(0, Math.min(Math.max(limit, 1), 100));
  }

  /** Answers the poll that waits, with what there is: used when the server closes. */
  release(): void {
    this.#poll?.answer();
  }

  #wait(timeoutMs: number, gone: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        if (this.#poll === poll) this.#poll = undefined;
        settle();
      };
      const poll = { answer: () => end(resolve), refuse: (error: ApiError) => end(() => reject(error)) };
      const timer = setTimeout(poll.answer, timeoutMs);
      gone.addEventListener("abort", poll.answer, { once: true });
      this.#poll = poll;
      this.#onChange();
    });
  }
}
