/** How long things take in the engine, in milliseconds. */
export interface EngineTiming {
  /** A process says so often that it lives, and looks after what others left. */
  readonly heartbeatMs: number;
  /** A process that has been silent for so long loses its claims. */
  readonly leaseMs: number;
  /** How often another process' commits are looked for, while there is another process. */
  readonly pollMs: number;
  /** The same while nothing has happened for a while. */
  readonly idlePollMs: number;
  /** Finished runs are kept so long: for late waits and as the memory of what was accepted. */
  readonly keepMs: number;
  /** How long an aborted handler may take to settle before the worker stops without it. */
  readonly abandonMs: number;
}

export const defaultTiming: EngineTiming = {
  heartbeatMs: 2_000,
  leaseMs: 10_000,
  pollMs: 10,
  idlePollMs: 25,
  keepMs: 24 * 60 * 60 * 1_000,
  abandonMs: 10_000,
};
