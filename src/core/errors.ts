/** Closed set of codes. Callers branch on these, never on the sentence. */
export type ErrorCode =
  | "CONFIG_INVALID"
  | "INPUT_INVALID"
  | "MESSAGE_TOO_LARGE"
  | "AGENT_UNKNOWN"
  | "SESSION_NOT_FOUND"
  | "SESSION_AMBIGUOUS"
  | "SESSION_PROTECTED"
  | "LABEL_IN_USE"
  | "LABEL_INVALID"
  | "SELF_TARGET"
  | "THREAD_TARGET"
  | "NOT_VISIBLE"
  | "WAIT_CYCLE"
  | "RING_REFUSED"
  | "HOP_LIMIT"
  | "SEND_BUDGET"
  | "SEND_DENIED"
  | "NO_ROUTE"
  | "RUN_NOT_FOUND"
  | "RUN_FAILED"
  | "MODEL_UNKNOWN"
  | "AGENT_NOT_ALLOWED"
  | "SPAWN_DEPTH"
  | "SPAWN_LIMIT"
  | "SPAWN_BUDGET"
  | "SANDBOX_UNAVAILABLE"
  | "THREAD_UNAVAILABLE"
  | "ACP_UNAVAILABLE"
  | "CHILD_NOT_FOUND"
  | "NOTHING_PENDING"
  | "TOOL_UNKNOWN"
  | "TOOL_DENIED"
  | "DELIVERY_FAILED"
  | "STORE_CORRUPT"
  | "STORE_UNREACHABLE"
  | "CLOSED"
  | "INTERNAL";

/** What an adapter knows about a send that did not work. */
export interface DeliveryFailure {
  /** true: the same call may work later. false: it never will (unknown chat, blocked, forbidden). */
  readonly retryable: boolean;
  /** The platform's own hint, kept in full. */
  readonly retryAfterMs?: number;
  /** How many parts the platform has confirmed; a later call passes this as `fromPart`. */
  readonly partsSent: number;
  /** true: the request may have arrived although no answer came; it is repeated only while the platform would recognise that. */
  readonly uncertain?: boolean;
  /** The platform wants silence from the whole account until `retryAfterMs` is over: none of its texts is tried meanwhile, and none has failed. */
  readonly scope?: "account";
}

/** The only error class that this package throws. `message` says what is wrong and what to do. */
export class SwitchboardError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "SwitchboardError";
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** The error that `ChannelAdapter.send` rejects with. */
export function deliveryFailed(message: string, failure: DeliveryFailure, cause?: unknown): SwitchboardError {
  return new SwitchboardError("DELIVERY_FAILED", message, { cause, details: { ...failure } });
}

/** The failure inside a DELIVERY_FAILED error; anything else counts as a defect that a retry will not mend. */
export function deliveryFailureOf(error: unknown): DeliveryFailure {
  if (!(error instanceof SwitchboardError) || error.code !== "DELIVERY_FAILED") {
    return { retryable: false, partsSent: 0 };
  }
  const { retryable, retryAfterMs, partsSent, uncertain, scope } = error.details;
  return {
    retryable: retryable === true,
    partsSent: typeof partsSent === "number" ? partsSent : 0,
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
    ...(uncertain === true ? { uncertain } : {}),
    ...(scope === "account" ? { scope } : {}),
  };
}

/** A short sentence for logs and results, whatever was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return error === undefined || error === null ? "no reason was given" : String(error);
}
