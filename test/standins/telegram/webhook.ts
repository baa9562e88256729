import type { Update } from "grammy/types";
import { badRequest } from "./api-error.ts";
import { jsonOf, numberOf, type Payload, textOf } from "./payload.ts";
import type { UpdateQueue } from "./update-queue.ts";

/**
 * Posts updates to the bot's URL, up to `max_connections` (40) at once, as Telegram does. An update that was not answered with
 * 2xx stays pending and is tried again at the next update or `retry`.
 */
export class Webhook {
  #target: { url: string; secret: string; connections: number } | undefined;
  lastError = "";
  readonly #inFlight = new Set<number>();
  readonly #queue: UpdateQueue;
  readonly #on: { onReply(reply: Payload): Promise<unknown>; onFailure(): void };

  constructor(queue: UpdateQueue, on: { onReply(reply: Payload): Promise<unknown>; onFailure(): void }) {
    this.#queue = queue;
    this.#on = on;
  }

  get isSet(): boolean {
    return this.#target !== undefined;
  }

  set(payload: Payload): true {
    const secret = textOf(payload, "secret_token");
    if (secret && !/^[\w-]{1,256}$/.test(secret))
      throw badRequest("secret token contains unallowed characters");
    const url = textOf(payload, "url");
    this.#target = url ? { url, secret, connections: numberOf(payload, "max_connections") ?? 40 } : undefined;
    const allowed = jsonOf(payload, "allowed_updates");
    if (Array.isArray(allowed)) this.#queue.allow(allowed);
    this.retry();
    return true;
  }

  info(): object {
    return {
      url: this.#target?.url ?? "",
      has_custom_certificate: false,
      pending_update_count: this.#queue.pending.length,
      ...(this.lastError ? { last_error_message: this.lastError } : {}),
    };
  }

  /** Sends what is pending and not on its way. */
  retry(): void {
    const target = this.#target;
    if (!target) return;
    const waiting = this.#queue.pending.filter((update) => !this.#inFlight.has(update.update_id));
    for (const update of waiting.slice(0, target.connections - this.#inFlight.size)) {
      this.#inFlight.add(update.update_id);
      this.#post(target.url, target.secret, update).catch((error: unknown) => {
        this.lastError = String(error);
        this.#on.onFailure();
      });
    }
  }

  async #post(url: string, secret: string, update: Update): Promise<void> {
    const headers = {
      "content-type": "application/json",
      ...(secret && { "x-telegram-bot-api-secret-token": secret }),
    };
    try {
      const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(update) });
      const body = await answer.text();
      if (!answer.ok) throw new Error(`Wrong response from the webhook: ${answer.status}`);
      if (body.includes('"method"')) await this.#on.onReply(JSON.parse(body));
      this.#queue.confirm(({ update_id }) => update_id === update.update_id);
    } finally {
      this.#inFlight.delete(update.update_id);
    }
    this.retry();
  }
}
