import { messageOf } from "../../errors.ts";
import type { Clock, Logger } from "../../ports/host.ts";
import { createAlarm } from "./alarm.ts";
import type { Changes } from "./changes.ts";
import type { Database } from "./database.ts";
import type { EngineTiming } from "./engine-timing.ts";
import type { Forgetting } from "./forgetting.ts";
import type { Lanes } from "./lanes.ts";
import type { LocalWorkers } from "./local-workers.ts";
import { createPeerNews, createPeerWatch } from "./peer-watch.ts";
import type { Processes } from "./processes.ts";
import type { Recovery } from "./recovery.ts";
import type { RunRows } from "./run-rows.ts";
import type { Running } from "./running.ts";
import type { Schedule } from "./schedule.ts";
import type { Waiting } from "./waiting.ts";

/** What happens by itself: the heartbeat, the alarm for delayed work, and the look at what other processes did. */
export interface Upkeep {
  /** Registers this process as a new incarnation; before that, whatever the dead held is given back. */
  join(): void;
  /** Begins the heartbeat. */
  start(): void;
  dueAt(atMs: number): void;
  /** Somebody here begins to wait or to work. */
  poke(): void;
  stop(): void;
}

export interface UpkeepParts {
  readonly database: Database;
  readonly changes: Changes;
  readonly rows: RunRows;
  readonly lanes: Lanes;
  readonly schedule: Schedule;
  readonly processes: Processes;
  readonly recovery: Recovery;
  readonly running: Running;
  readonly waiting: Waiting;
  readonly workers: LocalWorkers;
  readonly forgetting: Forgetting;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timing: EngineTiming;
}

export function createUpkeep(parts: UpkeepParts): Upkeep {
  const { changes, schedule, processes, recovery, waiting, workers, forgetting, clock, logger, timing } =
    parts;
  let cancelBeat = (): void => {};
  let stopped = false;

  const attempt = <T>(what: string, work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      logger.warn({ error: messageOf(error) }, `could not ${what}; it is tried again`);
      return undefined;
    }
  };

  const join = (): void => {
    changes.write(() => {
      recovery.recoverDead({ observe: false });
      processes.register(() => clock.uuid());
      schedule.promoteDue();
    });
    workers.nudgeAll();
  };

  const setAlarm = (): void => {
    const at = schedule.nextDueAtMs();
    if (at !== undefined) alarm.set(at);
  };

  const alarm = createAlarm(clock, () =>
    attempt("start delayed runs", () => {
      changes.write(() => schedule.promoteDue());
      setAlarm();
    }),
  );

  const hasNews = createPeerNews(parts.database);
  let missed = false;
  const look = (): boolean =>
    attempt("see what other processes did", () => {
      if (!hasNews() && !missed) return false;
      missed = true;
      const found = lookAround(parts);
      setAlarm();
      missed = false;
      return found;
    }) ?? false;

  const peers = createPeerWatch({
    clock,
    isNeeded: () => !stopped && processes.count() > 1 && (workers.pools().length > 0 || waiting.size() > 0),
    look,
    busyMs: timing.pollMs,
    idleMs: timing.idlePollMs,
  });

  const beat = (): void => {
    cancelBeat = clock.after(timing.heartbeatMs, beat);
    attempt("beat", () => {
      if (!changes.write(() => lookAfterOthers(parts))) join();
    });
    look();
    peers.poke();
    attempt("set the alarm", setAlarm);
    forgetting.begin();
    workers.nudgeAll();
  };

  return {
    join,
    start() {
      cancelBeat = clock.after(timing.heartbeatMs, beat);
      setAlarm();
    },
    dueAt: (atMs) => alarm.set(atMs),
    poke: () => peers.poke(),
    stop() {
      cancelBeat();
      alarm.clear();
      stopped = true;
      peers.stop();
    },
  };
}

/** One beat. false: another process has declared this one dead. */
function lookAfterOthers({ processes, recovery, schedule }: UpkeepParts): boolean {
  const own = processes.beat();
  if (own === undefined) return false;
  recovery.recoverDead({ observe: true });
  recovery.heal(own);
  schedule.promoteDue();
  return true;
}

/** Another process has committed something. true: it concerns this one; mostly it is a heartbeat. */
function lookAround({ changes, processes, rows, lanes, running, waiting, workers }: UpkeepParts): boolean {
  let found = waiting.checkAll();
  const own = processes.id();
  if (own === undefined) return found;
  if (!processes.isListed()) changes.write(() => processes.verify());
  for (const claim of rows.cancelRequests(own)) running.abort(claim, "cancelled");
  for (const pool of workers.pools()) {
    if (!lanes.isReady(pool)) continue;
    workers.nudge(pool);
    found = true;
  }
  return found;
}
