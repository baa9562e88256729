import { given } from "../given.ts";
import type { Child } from "../ports/child.ts";
import type { SessionKey } from "../ports/session.ts";
import type { RecordWrite } from "../ports/storage.ts";
import { type Begun, type Flow, NOTHING } from "../runs/executor-parts.ts";
import type { Job } from "../runs/job.ts";
import { childIdOfRun } from "../runs/run-id.ts";
import { afterAnnounce, beginAnnounce } from "./announce-step.ts";
import { afterCompletion, beginCompletion, rulesOf } from "./completion.ts";
import { type ChildParts, isOver, neverCame, openBelow, taskOf } from "./parts.ts";
import { afterTaskRun, endOnce, STOPPED } from "./settle.ts";
import { createSpawning } from "./spawn.ts";
import { createStop } from "./stop.ts";
import { archiving, doUpkeep } from "./upkeep.ts";

export type Children = ReturnType<typeof createChildren>;

/**
 * Tasks that sessions give to children: spawn, end, telling, clearing away. Each step is a run that the settlement before it enqueued, so a restart
 * neither loses nor repeats one.
 */
export function createChildren(parts: ChildParts) {
  const records = parts.storage.records("child");
  const { cascade, ...stopping } = createStop(parts);

  async function begin(job: Job, run: Parameters<Flow["begin"]>[1]): Promise<Begun> {
    switch (job.child?.step) {
      case "task":
        return beginTask(job, parts);
      case "completion":
        return beginCompletion(job, run, parts);
      case "announce":
        return beginAnnounce(job, run.attempt, parts);
      default:
        return { take: "nothing", ...(await doUpkeep(job, cascade, parts)) };
    }
  }

  const flow: Flow = {
    begin,
    async after(job, ended) {
      switch (job.child?.step) {
        case "task": {
          const child = await records.get(job.child.id);
          return child === undefined ? NOTHING : afterTaskRun(child, ended, parts);
        }
        case "completion":
          return afterCompletion(job, ended, parts);
        case "announce":
          return afterAnnounce(job, ended, parts);
        case "cascade":
          return NOTHING;
        default:
          // The session is gone, and the rest has to be done all the same.
          return job.child === undefined ? NOTHING : doUpkeep(job, cascade, parts);
      }
    },
  };

  /** Whether what is said in its thread still comes to an ended task. */
  async function holdsThread({ key, outcome, thread }: Child): Promise<boolean> {
    const session = outcome && thread && (await parts.sessions.get(key));
    return session !== undefined && session.archivedAtMs === undefined;
  }

  return {
    ...flow,
    ...createSpawning(parts),
    ...stopping,
    /** The task of this id, if its spawn was carried out. */
    async get(id: string): Promise<Child | undefined> {
      const child = await records.get(id);
      return child === undefined || (await neverCame(child, parts)) ? undefined : child;
    },
    /** The task of a spawned session. */
    taskOf: (key: SessionKey) => taskOf(key, parts),
    isOver: (child: Child) => isOver(child, parts),
    /** Tasks of this requester: the open ones in the order of their spawn, then the ended ones, newest first. */
    async of(key: SessionKey): Promise<readonly Child[]> {
      const family = await parts.storage.records("family").get(key);
      const ids = [...(family?.open ?? []).map(({ id }) => id), ...(family?.recent ?? [])];
      return (await records.getMany(ids)).filter((child) => child !== undefined);
    },
    /** Ids of the open tasks that this session waits for. */
    atWork: (key: SessionKey) => openBelow(key, parts),
    holdsThread,
    /** An ended task gives the thread that it still holds back to its room. false: it holds none. */
    async release(child: Child): Promise<boolean> {
      if (!(await holdsThread(child))) return false;
      const { key, thread } = child;
      await parts.storage.apply(archiving({ key, ...given({ thread }) }, parts.clock.now(), parts));
      return true;
    },
    /** A child's rules, for runs of its session that are no step of its task. */
    async rulesIn(key: SessionKey): Promise<string | undefined> {
      const task = await taskOf(key, parts);
      return task === undefined ? undefined : rulesOf(task, parts);
    },
  };
}

async function beginTask(job: Job, parts: ChildParts): Promise<Begun> {
  const child = await parts.storage.records("child").get(job.child?.id ?? "");
  if (child === undefined) return { take: "nothing", ...NOTHING };
  if (child.outcome !== undefined || child.stoppedBy !== undefined) {
    return { take: "nothing", ...(await endOnce(child, STOPPED, parts)) };
  }
  const { text, provenance } = job;
  return { take: "turn", prompt: { text, provenance, extraSystemPrompt: rulesOf(child, parts) } };
}

/** A task is remembered as long as its last run is, and until nothing is left to do. */
export function forgottenChildren(runIds: readonly string[]): readonly RecordWrite[] {
  const ids = new Set(runIds.map(childIdOfRun).filter((id) => id !== undefined));
  return [...ids].map((id) => ({
    type: "record",
    table: "child",
    key: id,
    change: (current) => (current?.cleared === true ? undefined : current),
  }));
}
