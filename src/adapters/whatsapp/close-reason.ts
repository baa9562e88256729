import { statusCodeOf } from "./delivery-error.ts";

/** Ends of a connection that a new socket does not mend, with what the owner can do. After all others the host connects again. */
const final: ReadonlyMap<number, string> = new Map([
  [401, "it unlinked this device: link it again (new credentials, QR code)"],
  [403, "it blocked the account"],
  [411, "the phone's WhatsApp is too old for linked devices: update it and link again"],
  [440, "another process logged in with the same credentials: run one bot per linked device"],
]);

/** Why WhatsApp will not let this bot back in, or undefined when connecting again is enough. `error`: of Baileys' `lastDisconnect`. */
export function finalReason(error: unknown): string | undefined {
  const code = statusCodeOf(error);
  const reason = code === undefined ? undefined : final.get(code);
  return reason && `WhatsApp closed the connection for good (code ${code}): ${reason}.`;
}
