import type { DeliveryFailure } from "../errors.ts";
import type { ChannelAdapter } from "../ports/chat.ts";
import type { Clock, Logger } from "../ports/host.ts";
import { heldUntil, holdEnd } from "./delivery-rules.ts";
import type { Parcel } from "./parcel.ts";

/** What is held has not failed, so nothing else keeps an account that is refused again and again from knocking on. */
const SHORTEST_HOLD_MS = 1000;

export interface AccountHold {
  /** The parcel as it waits for the end; undefined: it may leave. */
  held(parcel: Parcel): Parcel | undefined;
  /** So too, when the platform has just refused it for the account's sake; undefined: for its own. */
  refused(failure: DeliveryFailure, parcel: Parcel): Parcel | undefined;
}

/**
 * A time in which one account may send nothing, whichever chat it is for. It is known in memory alone: what waits keeps the time in its parcel, and whoever
 * else takes over the account is told by the platform.
 */
export function createAccountHold(
  { channel, accountId }: Pick<ChannelAdapter, "channel" | "accountId">,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): AccountHold {
  let hold = { heldUntilMs: 0, lastReason: "" };

  function held(parcel: Parcel): Parcel | undefined {
    const waiting = { ...parcel, ...hold };
    return heldUntil(waiting, clock.now()) === undefined ? undefined : waiting;
  }

  return {
    held,
    refused({ scope, retryAfterMs }, parcel) {
      const now = clock.now();
      const endMs = holdEnd(retryAfterMs, now);
      if (scope !== "account" || endMs === undefined) return undefined;
      const isNew = hold.heldUntilMs <= now;
      const heldUntilMs = Math.max(hold.heldUntilMs, endMs, now + SHORTEST_HOLD_MS);
      hold = { heldUntilMs, lastReason: parcel.lastReason ?? "" };
      const details = { channel, accountId, heldUntilMs, reason: hold.lastReason };
      if (isNew) logger.warn(details, "Everything that this account has to send waits");
      return held(parcel);
    },
  };
}
