import { messageOf, SwitchboardError } from "../../errors.ts";
import type { Engine, RunId } from "../../ports/engine.ts";
import type { Clock, Logger } from "../../ports/host.ts";
import type { Write } from "../../ports/storage.ts";
import { createBacklogs } from "./backlogs.ts";
import { createChanges } from "./changes.ts";
import { createClaims } from "./claims.ts";
import type { Database } from "./database.ts";
import { defaultTiming, type EngineTiming } from "./engine-timing.ts";
import { createForgetting } from "./forgetting.ts";
import { createLanes } from "./lanes.ts";
import { createLocalWorkers } from "./local-workers.ts";
import { createOwners } from "./owners.ts";
import { thisProcess } from "./process-identity.ts";
import { createProcesses } from "./processes.ts";
import { createQueue } from "./queue.ts";
import { createRecovery } from "./recovery.ts";
import { createRunRows } from "./run-rows.ts";
import { createRunning } from "./running.ts";
import { createSchedule } from "./schedule.ts";
import { createTables } from "./schema.ts";
import { createUpkeep } from "./upkeep.ts";
import { createWaitEdges } from "./wait-edges.ts";
import { createWaiting } from "./waiting.ts";
import { createWorker } from "./worker.ts";
import type { WriteCarrier } from "./write-carrier.ts";

export interface SqliteEngineOptions {
  /** Stays open when the engine is closed. */
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly writer: WriteCarrier;
  /** What goes with runs that are forgotten a day after their end. */
  readonly forgetWith?: (ids: readonly RunId[]) => readonly Write[];
  readonly timing?: Partial<EngineTiming>;
}

/** The engine of one process on a SQLite file that other processes of the same machine may use at the same time. */
export async function createSqliteEngine(options: SqliteEngineOptions): Promise<Engine> {
  createTables(options.database);
  const parts = createParts(options);
  const { changes, processes, recovery, running, owners, upkeep, forgetting } = parts;
  const { waiting, workers, writer, timing } = parts;
  let closing: Promise<void> | undefined;

  const assertOpen = (): void => {
    if (closing) throw closed();
  };

  const close = async (): Promise<void> => {
    running.abortAll("stopping");
    waiting.closeAll(closed());
    await workers.stopAll(0);
    upkeep.stop();
    await forgetting.ended();
    owners.loseAll("stopping");
    try {
      changes.write(() => {
        const own = processes.id();
        if (own !== undefined) recovery.giveUp(own);
        processes.unregister();
      });
    } catch (error) {
      options.logger.warn({ error: messageOf(error) }, "could not sign off; other processes will notice");
    }
  };

  upkeep.join();
  upkeep.start();

  const queue = createQueue({
    ...parts,
    assertOpen,
    onWait: () => upkeep.poke(),
    startWorker(pool, concurrency, handler) {
      const { claims, clock, logger } = parts;
      const timings = { retryMs: timing.heartbeatMs, abandonMs: timing.abandonMs };
      const worker = createWorker(pool, concurrency, handler, {
        claims,
        running,
        writer,
        clock,
        logger,
        ...timings,
      });
      const started = workers.add(pool, worker);
      upkeep.poke();
      return started;
    },
  });

  return {
    queue,
    owners: {
      async acquire(resource) {
        assertOpen();
        return owners.acquire(resource);
      },
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Everything that makes up the engine, wired. */
function createParts(options: SqliteEngineOptions) {
  const { database, clock, logger, writer, forgetWith = () => [] } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const running = createRunning();
  const workers = createLocalWorkers();
  const rows = createRunRows(database);
  const edges = createWaitEdges(database);
  const waiting = createWaiting(rows, clock);

  const changes = createChanges(database, logger, {
    ready: (pool) => workers.nudge(pool),
    ended: (id) => waiting.ended(id),
    due: (atMs) => upkeep.dueAt(atMs),
    leaseLost() {
      logger.warn({}, "this process was silent for too long; another one has taken over its runs");
      running.loseAll();
      owners.loseAll("lease lost");
    },
  });

  const lanes = createLanes({ database, changes, clock });
  const schedule = createSchedule({ database, changes, rows, lanes, clock });
  const beatsToDeath = Math.ceil(timing.leaseMs / timing.heartbeatMs);
  const processes = createProcesses({ database, changes, self: thisProcess(), beatsToDeath });
  const recovery = createRecovery({ database, changes, lanes, edges, processes, running, logger });
  const claims = createClaims({ changes, rows, lanes, schedule, edges, processes, writer, clock });
  const backlogs = createBacklogs({ database, lanes, rows });
  const all = { database, clock, logger, writer, timing, changes, rows, lanes, backlogs, schedule, edges };
  const forgetting = createForgetting({ ...all, forgetWith });
  const live = { processes, recovery, running, claims, waiting, workers, forgetting };
  const upkeep = createUpkeep({ ...all, ...live });
  const owners = createOwners({ database, changes, processes, recovery, join: () => upkeep.join() });
  return { ...all, ...live, upkeep, owners };
}

function closed(): SwitchboardError {
  return new SwitchboardError("CLOSED", "The engine is closed. Make a new switchboard to go on.");
}
