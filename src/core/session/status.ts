import type { TaskView } from "../children/task-view.ts";
import { given } from "../given.ts";
import type { SendDecision } from "../policy/send.ts";
import type { Address } from "../ports/chat.ts";
import type { Child, ChildOutcome } from "../ports/child.ts";
import type { ChatDeliveries } from "../ports/dead-letter.ts";
import type { RunRecord } from "../ports/engine.ts";
import type { TranscriptEntry } from "../ports/run.ts";
import type { RunStatus, Session, SessionKey, Usage } from "../ports/session.ts";
import { asksAgent } from "../runs/job.ts";
import { shortLine } from "../text/short-line.ts";
import { placeInKey, shownName } from "./describe.ts";
import { partsOf } from "./key.ts";
import { place } from "./row.ts";
import { filledUsage } from "./status-usage.ts";

/** Of a text that somebody wrote. */
const LONGEST_LINE = 128;

/** What a session is doing now, for models and people alike. Text of others is one clean, masked line. Unknown values are absent. */
export interface StatusFacts {
  readonly nowMs: number;
  /** Of the host. */
  readonly timeZone: string;
  readonly key: SessionKey;
  readonly agentId: string;
  readonly sessionId: string;
  readonly sessionStartedAtMs: number;
  readonly name: string;
  /** Only where the name does not say it. */
  readonly label?: string;
  readonly archivedAtMs?: number;
  readonly model: ModelFacts;
  readonly usage?: Usage;
  readonly thinkingLevel?: string;
  readonly verboseLevel?: string;
  readonly run: RunFacts;
  /** Open tasks of its subagents. */
  readonly tasks: readonly TaskView[];
  /** What it was spawned for. */
  readonly ownTask?: OwnTaskFacts;
  readonly sending: Pick<SendDecision, "allowed" | "rule">;
  /** Of the chat that it answers in. */
  readonly deliveries: ChatDeliveries;
  readonly route: RouteContext;
}

/** `selected`: what the next run is asked to use; absent: the agent's runner decides. */
export interface ModelFacts {
  readonly selected?: string;
  readonly override?: string;
  /** Reported by the newest run that did. */
  readonly lastRun?: string;
}

export interface RunFacts {
  readonly state: "running" | "queued" | "yielded" | "idle";
  readonly runningSinceMs?: number;
  readonly queued: number;
  readonly last?: {
    readonly status: RunStatus;
    readonly runtimeMs?: number;
    readonly endedAtMs?: number;
  };
  readonly abortedLastRun: boolean;
}

export interface OwnTaskFacts {
  readonly name: string;
  readonly requester: SessionKey;
  /** Of a task that has begun and not ended. */
  readonly deadlineMs?: number;
  readonly outcome?: ChildOutcome["status"];
}

type Place = Partial<ReturnType<typeof place>>;

/** Where the session was made, where the run that asks answers, and where replies go by default. */
export interface RouteContext {
  readonly origin?: Place;
  readonly active?: Place;
  readonly deliveryContext?: Place;
}

/** Everything that the facts are made of. */
export interface StatusInput {
  readonly session: Session;
  /** The newest rows of its transcript, oldest first. */
  readonly rows: readonly TranscriptEntry[];
  readonly pending: readonly RunRecord[];
  readonly tasks: readonly TaskView[];
  readonly ownTask?: Child;
  readonly configuredModel?: string;
  readonly sending: SendDecision;
  readonly deliveries: ChatDeliveries;
  /** Where the live run of this session answers. */
  readonly active?: Address;
  readonly nowMs: number;
  readonly timeZone: string;
  mask(text: string): string;
}

export function statusFacts(input: StatusInput): StatusFacts {
  const { session, nowMs, timeZone, ownTask } = input;
  const line = (text: string) => shortLine(text, LONGEST_LINE, input.mask);
  const model = modelFacts(session, input.configuredModel);
  const name = line(shownName(session, input.mask));
  const label = session.label === undefined ? undefined : line(session.label);
  const run = runFacts(session, input.pending);
  return given({
    nowMs,
    timeZone,
    key: session.key,
    agentId: session.agentId,
    sessionId: session.sessionId,
    sessionStartedAtMs: session.sessionStartedAtMs,
    name,
    label: label === name ? undefined : label,
    archivedAtMs: session.archivedAtMs,
    model: eachLine(model, line),
    usage: filledUsage(session, input.rows, shownModel(model)),
    ...eachLine(levels(session), line),
    run,
    tasks: input.tasks,
    ownTask: ownTask && ownTaskFacts(ownTask, run, line),
    sending: { allowed: input.sending.allowed, rule: input.sending.rule },
    deliveries: input.deliveries,
    route: routeContext(session, input.active),
  });
}

/** The one model that is named where there is room for one, and whose window counts. */
export function shownModel({ selected, lastRun }: ModelFacts): string | undefined {
  return selected ?? lastRun;
}

/** A harness of another program has its own models. */
function modelFacts({ runtime, modelOverride, model }: Session, configured: string | undefined): ModelFacts {
  const override = runtime === "acp" ? undefined : modelOverride;
  const selected = runtime === "acp" ? undefined : (modelOverride ?? configured);
  return given({ selected, override, lastRun: model });
}

function levels({ thinkingLevel, verboseLevel }: Session) {
  return given({ thinkingLevel, verboseLevel });
}

function eachLine<T extends object>(texts: T, line: (text: string) => string): T {
  // Every member is a text, and stays one.
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, line(text)])) as T;
}

function runFacts(session: Session, pending: readonly RunRecord[]): RunFacts {
  const turns = pending.filter(asksAgent);
  const running = turns.find(({ state }) => state === "running");
  const queued = turns.filter(({ state }) => state === "queued").length;
  const atRest = session.yielded === true ? "yielded" : "idle";
  const { status, startedAtMs, endedAtMs } = session;
  const runtimeMs =
    startedAtMs === undefined || endedAtMs === undefined ? undefined : endedAtMs - startedAtMs;
  return given({
    state: running !== undefined ? "running" : queued > 0 ? "queued" : atRest,
    runningSinceMs: running?.startedAtMs,
    queued,
    last: status && given({ status, runtimeMs, endedAtMs }),
    abortedLastRun: session.abortedLastRun === true,
  });
}

function ownTaskFacts(child: Child, run: RunFacts, line: (text: string) => string): OwnTaskFacts {
  const { label, task, requester, outcome, timeoutSeconds } = child;
  const startedAtMs = child.startedAtMs ?? run.runningSinceMs;
  const isLimited = outcome === undefined && timeoutSeconds > 0 && startedAtMs !== undefined;
  return given({
    name: line(label ?? task),
    requester,
    deadlineMs: isLimited ? startedAtMs + timeoutSeconds * 1000 : undefined,
    outcome: outcome?.status,
  });
}

function routeContext(session: Session, active: Address | undefined): RouteContext {
  const { origin, route } = session;
  // Old sessions do not say where they were made; the key of a chat does.
  const { channel, chatType } = placeInKey(partsOf(session.key));
  const said = chatType === undefined || channel === undefined ? undefined : { channel };
  return given({
    origin: origin === undefined ? said : place(origin),
    active: active && place(active),
    deliveryContext: route && place(route),
  });
}
