import type { Config } from "../config.ts";
import type { ClaimedRun, NewRun } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Clock, Logger } from "../ports/host.ts";
import type { AgentRunner, BoundTool, Provenance } from "../ports/run.ts";
import type { Session } from "../ports/session.ts";
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
  readonly chain: Job["chain"];
  /** The answer of this exchange stands in the result of a call of this run. */
  heard(exchangeId: string): void;
  whileWaiting<T>(work: () => Promise<T>): Promise<T>;
}

/** What a step of an exchange is told, composed when it begins and not when it was queued. */
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

/** The flow that some runs are steps of. */
export interface ExchangeSteps {
  /** What the speaker is told, or what a step leaves that is not taken: its announce may not leave any more. */
  begin(job: Job): Promise<{ readonly prompt: StepPrompt } | Aftermath>;
  /** Nothing, when the run is no step of an exchange. */
  after(job: Job, runId: string, ending: Ending): Promise<Aftermath>;
  /** The marks of answers that a run has got, written with the rows that hold them. */
  heard(exchangeIds: readonly string[]): readonly Write[];
  /** Whether a note about an exchange still is news: the caller may have got the answer itself. */
  isNews(job: Job): Promise<boolean>;
}

export interface ExecutorParts {
  readonly config: Config;
  readonly names: KeyNames;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly redactor: Redactor;
  readonly agents: ReadonlyMap<string, AgentRunner>;
  readonly exchange: ExchangeSteps;
  /** The session tools of a run, bound to it. */
  tools(session: Session, run: RunContext): readonly BoundTool[];
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
  readonly startedAtMs: number;
  /** Exchanges whose answer this run has got. */
  readonly heard: Set<string>;
}
