import type { REST } from "discord.js";
import { LRUCache } from "lru-cache";
import { deliveryFailureOf } from "../../core/errors.ts";
import { toDeliveryError } from "./delivery-error.ts";
import { postInTime } from "./in-time.ts";

/**
 * "Typing" in a room. Discord bars whoever makes too many requests that it must refuse, and typing is repeated every few
 * seconds: where it was refused for good, it is not tried again until something has changed.
 */
export class Typing {
  readonly #rest: REST;
  readonly #refused = new LRUCache<string, true>({ max: 1000 });

  constructor(rest: REST) {
    this.#rest = rest;
  }

  /** Rejects with DELIVERY_FAILED. */
  async show(roomId: string): Promise<void> {
    if (this.#refused.has(roomId)) return;
    try {
      await postInTime(this.#rest, `/channels/${roomId}/typing`);
    } catch (error) {
      const failure = toDeliveryError(error, 0);
      if (deliveryFailureOf(failure)?.retryable === false) this.#refused.set(roomId, true);
      throw failure;
    }
  }

  /** The bot has written there, or connected anew: what was refused may be allowed now. */
  retry(roomId?: string): void {
    if (roomId === undefined) this.#refused.clear();
    else this.#refused.delete(roomId);
  }
}
