import type { Config } from "../config.ts";
import type { ClaimedRun, RunQueue, RunSettlement } from "../ports/engine.ts";
import type { Clock } from "../ports/host.ts";
import type { NewEntry } from "../ports/run.ts";
import { batchRules, batchStep, batchWith, mayBatch } from "./batch.ts";
import { userEntry } from "./conclude.ts";
import { type Job, type JobResult, NOTE, toJob, toPayload } from "./job.ts";

/**
 * The settlement of a message that is not answered now: it waits for another one, or goes over into the one that has come behind it. From then on that
 * one holds the words of both, so they are answered together or stopped together, in whichever conversation that is. undefined: it is answered now,
 * as is a run that was cut off, which may have been begun already.
 */
export async function joinBatch(
  run: ClaimedRun,
  job: Job,
  { config, queue, clock }: { readonly config: Config; readonly queue: RunQueue; readonly clock: Clock },
): Promise<RunSettlement | undefined> {
  const rules = batchRules(job, config);
  if (rules === undefined || isCutOff(run, job) || !mayBatch(run)) return undefined;
  // What people say among themselves neither parts a batch nor ends the wait for it.
  const [own, next] = await Promise.all([queue.get(run.id), queue.next(run.id, NOTE)]);
  if (own === undefined) return undefined;
  const step = batchStep(own, next, rules, clock.now());
  if (typeof step === "object") {
    const payload = toPayload({ ...job, held: true });
    return { retryAtMs: step.waitUntilMs, payload, orFollowed: { except: NOTE } };
  }
  if (step === "answer" || next === undefined) return undefined;
  const done: JobResult = { status: "batched" };
  const payload = toPayload({ ...toJob(next.payload), batch: batchWith(own), held: true });
  return { into: next.id, payload, done: { ...done } };
}

/** Whether a worker that died may have done something for this run. */
export function isCutOff({ interrupted }: ClaimedRun, { held }: Job): boolean {
  return interrupted && held !== true;
}

/** The job as one that is begun; whoever finds it cut off from here on knows that it was. */
export async function begunJob(run: ClaimedRun, job: Job): Promise<Job> {
  if (job.held !== true) return job;
  const { held: _over, ...begun } = job;
  await run.checkpoint(toPayload(begun));
  return begun;
}

/** Rows of the earlier messages that this one answers. */
export function batchRows({ batch }: Job): readonly NewEntry[] {
  return (batch?.messages ?? []).map(({ runId, ...said }) => userEntry(said, said, runId));
}
