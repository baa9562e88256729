import type { Engine } from "../../src/core/ports/engine.ts";
import type { QueueProcess } from "./queue-process.ts";

export interface OpenedEngine {
  readonly engine: Engine;
  /** Run ids of the turns whose writes are committed, in order, one entry for each time. */
  written(): readonly string[];
}

/** All that an engine must supply to be held to the contract. A turn whose runId is "broken" must make its writes fail. */
export interface QueueHarness {
  /** An engine of this process on the harness' store; closed by the harness. */
  open(timing?: HarnessTiming): Promise<OpenedEngine>;
  /** A real process with an engine of its own on the same store; killed by the harness. */
  spawn(timing?: HarnessTiming): Promise<QueueProcess>;
  dispose(): Promise<void>;
}

/** Short ones by default: a lease of a second. */
export interface HarnessTiming {
  readonly leaseMs?: number;
}
