import type { Config } from "../config.ts";
import type { Address } from "../ports/chat.ts";
import type { ClaimedRun, NewRun, RunQueue } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { AgentRunner, BoundTool, NewEntry, Provenance } from "../ports/run.ts";
import type { Session, Usage } from "../ports/session.ts";
import type { Storage, Write } from "../ports/storage.ts";
import type { KeyNames } from "../session/key.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Redactor } from "../transcript/redact.ts";
import type { Ending } from "./ending.ts";
import type { Job } from "./job.ts";
import type { TurnPlace } from "./turn.ts";

/** The running run as its tools see it. */
export interface RunContext {
  readonly runId: string;
  /** Within it a call id names one call: the run, or what all attempts of a turn have in common. */
  readonly callScope: string;
  readonly chain: Job["chain"];
  /** Where its reply goes. */
  readonly replyTo?: Address;
  readonly byOwner: boolean;
  readonly locale?: string;
  /** Absent: the runner's own. */
  readonly model?: string;
  /** The answer of this exchange stands in the result of a call of this run. */
  heard(exchangeId: string): void;
  /** The rows of this run until now: what it was asked, and the calls that have been answered. */
  soFar(): readonly NewEntry[];
  whileWaiting<T>(work: () => Promise<T>): Promise<T>;
}

/** What a step of a flow is told, composed when it begins and not when it was queued. */
export interface StepPrompt {
  readonly text: string;
  readonly provenance: Provenance;
  readonly extraSystemPrompt?: string;
}

/** What follows a run, in the transaction that settles it. */
export interface Aftermath {
  readonly writes: readonly Write[];
  readonly effects: readonly NewRun[];
}

export const NOTHING: Aftermath = { writes: [], effects: [] };

/** What a claimed run is to do. */
export type Begun =
  /** The agent is asked. `telling`: children whose end the prompt tells. `mayRepeat`: a run that a restart cut off is done again. */
  | {
      readonly take: "turn";
      readonly prompt: StepPrompt;
      readonly telling?: readonly string[];
      /** Another limit than the run's own, in ms; 0 = none. */
      readonly withinMs?: number;
      readonly mayRepeat?: boolean;
    }
  /** Only the row is written. */
  | ({ readonly take: "row"; readonly prompt: StepPrompt } & Aftermath)
  | ({ readonly take: "nothing" } & Aftermath);

/** How a run ended, for the flow that it is a step of. */
export interface EndedStep {
  readonly runId: string;
  readonly ending: Ending;
  readonly usage?: Usage;
  readonly startedAtMs: number;
  /** How often the run was claimed. */
  readonly claims: number;
  readonly telling: readonly string[];
}

/** What some runs are steps of: an exchange, or a task that was given to a child. */
export interface Flow {
  begin(job: Job, run: Pick<ClaimedRun, "id" | "kind" | "attempt">): Promise<Begun>;
  /** `unread`: the step will be told again, so its prompt is no row of the transcript yet. */
  after(job: Job, ended: EndedStep): Promise<Aftermath & { readonly unread?: true }>;
}

export interface ExecutorParts {
  readonly config: Config;
  readonly names: KeyNames;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly queue: RunQueue;
  readonly redactor: Redactor;
  readonly flow: Flow;
  /** The marks of answers that a run has got, written with the rows that hold them. */
  heard(exchangeIds: readonly string[]): readonly Write[];
  /** What executes this session; undefined: its agent is not configured, or there is no harness. */
  runnerOf(session: Session): AgentRunner | undefined;
  /** The session tools of a run, bound to it. */
  tools(session: Session, run: RunContext): Promise<readonly BoundTool[]>;
  /** Shows "typing" where the reply will go, under the send policy; the returned function ends it. */
  typing(session: Session, job: Job): () => void;
  /** A short sentence for a person whose message got no answer. */
  notice(what: "failed" | "interrupted", locale: string | undefined): string;
}

/** A run, its session, and where its rows will stand. */
export interface RunPlace {
  readonly run: ClaimedRun;
  readonly job: Job;
  readonly session: Session;
  readonly turn: TurnPlace;
  /** Rows of earlier messages that this run answers, too; they stand before its own. */
  readonly batched: readonly NewEntry[];
  readonly startedAtMs: number;
  /** Exchanges whose answer this run has got. */
  readonly heard: Set<string>;
  /** Children whose end this run tells. */
  readonly telling: readonly string[];
}
