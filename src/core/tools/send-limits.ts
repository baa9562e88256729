import type { Config } from "../config.ts";
import { SwitchboardError } from "../errors.ts";
import { withSend } from "../policy/send-budget.ts";
import type { Events } from "../ports/events.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { SessionKey } from "../ports/session.ts";
import type { Write } from "../ports/storage.ts";
import { type Answer, type Caller, failure, type Refusal } from "./define-tool.ts";

/** The write that counts this message for its session; the host program is not counted. */
export function sendCount(
  { session: { key }, trusted }: Caller,
  { config, clock }: { readonly config: Config; readonly clock: Clock },
): readonly Write[] {
  const { maxSendsPerHour } = config.tools.agentToAgent;
  const nowMs = clock.now();
  const write: Write = {
    type: "record",
    table: "session",
    key,
    change: (current) => current && withSend(current, nowMs, maxSendsPerHour),
  };
  return trusted === true ? [] : [write];
}

/** The same refusal, when it has been told to whoever watches. */
export function reported(
  refusal: Refusal,
  target: SessionKey,
  { session }: Caller,
  parts: { readonly logger: Logger; readonly events: Events },
): Answer {
  const what = { sessionKey: session.key, target, code: refusal.code };
  parts.logger[refusal.code === "SEND_BUDGET" ? "warn" : "info"](what, "A sessions_send was refused");
  parts.events.emit("send.refused", what);
  return refusal;
}

/** What the queue and the count of the hour answer, when they do not take the message. */
export function budgetOrCycle(error: unknown): Refusal | undefined {
  if (!(error instanceof SwitchboardError)) return undefined;
  if (error.code === "SEND_BUDGET") return failure(error.code, error.message, error.details);
  if (error.code !== "WAIT_CYCLE") return undefined;
  return failure(
    "WAIT_CYCLE",
    `Nothing was sent: ${error.message} Send with timeoutSeconds: 0, or answer first.`,
    error.details.chain === undefined ? {} : { chain: error.details.chain },
  );
}
