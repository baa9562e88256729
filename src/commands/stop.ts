import { isOfTask } from "../core/children/child-runs.ts";
import type { Child } from "../core/ports/child.ts";
import type { RunId, RunRecord } from "../core/ports/engine.ts";
import type { SessionKey } from "../core/ports/session.ts";
import { asksAgent, toJob } from "../core/runs/job.ts";
import type { Command, CommandParts, CommandUse } from "./command.ts";
import { localized } from "./words.ts";

/** Longer than an agent that ignores its signal is waited for. */
const LETTING_GO_MS = 3000;

/** `/stop`: ends what this chat's session does, what people wait for in it, and everything that it has spawned. Nothing that came after it was typed. */
export const stop: Command = {
  spec: { name: "stop", description: localized("stop.description"), args: [], access: "owner" },
  async run(use, parts) {
    const { attempt, words, locale } = use;
    const found = await attempt.remembered(() => look(use, parts));
    const messages = await stopRuns(found.messages, parts);
    const runs = await stopRuns(found.runs, parts);
    const untilMs = lastEnd([...messages, ...runs], parts);
    const isMeant = ({ id, spawnedAtMs }: Child) => found.tasks.includes(id) || spawnedAtMs <= untilMs;
    await awake(use, isMeant, parts);
    const subagents = await stopTasks(use, found.tasks, isMeant, parts);
    const counts = [
      ...(runs.length === 0 ? [] : [words("stop.runs", { count: runs.length })]),
      ...(messages.length === 0 ? [] : [words("stop.messages", { count: messages.length })]),
      ...(subagents === 0 ? [] : [words("stop.subagents", { count: subagents })]),
    ];
    if (counts.length === 0) return { text: words("stop.nothing") };
    return { text: words("stop.done", { what: new Intl.ListFormat(locale).format(counts) }) };
  },
};

/** What there was to stop. */
interface Found {
  readonly messages: readonly RunId[];
  readonly runs: readonly RunId[];
  /** Ids of open tasks: the session's own, when it is a child, and those below it. */
  readonly tasks: readonly string[];
}

/**
 * The run that is under way, when an agent is asked in it, and the messages behind it. What tells the session of something that has happened, a
 * child's end or an answer, is not lost by this. A child's own task is stopped as a task.
 */
async function look({ origin: { key }, attempt }: CommandUse, parts: CommandParts): Promise<Found> {
  const { queue, children } = parts;
  const task = await openTask(key, parts);
  const pending = await queue.pending(key);
  const { runId } = attempt;
  const earlier = runId === undefined ? pending : await queue.pendingBefore(key, runId);
  const isEarlier = new Set(earlier.map(({ id }) => id));
  const isTask = (run: RunRecord) => task !== undefined && isOfTask(run, task);
  const messages = pending.filter((run) => isMessage(run) && isEarlier.has(run.id));
  const others = pending.filter((run) => !isMessage(run) && asksAgent(run) && !isTask(run));
  const isRunning = ({ state }: RunRecord) => state === "running";
  const below = (await children.openBelow(key)).filter(({ spawnedAtMs }) => attempt.wasThere(spawnedAtMs));
  return {
    messages: messages.filter(({ state }) => state === "queued").map(({ id }) => id),
    runs: [...messages, ...others].filter(isRunning).map(({ id }) => id),
    tasks: [...(task === undefined ? [] : [task]), ...below].map(({ id }) => id),
  };
}

async function openTask(key: SessionKey, { children }: CommandParts): Promise<Child | undefined> {
  const task = await children.taskOf(key);
  return task?.outcome === undefined ? task : undefined;
}

function isMessage({ kind, payload }: RunRecord): boolean {
  const { exchangeId, child } = toJob(payload);
  return kind === "agent" && exchangeId === undefined && child === undefined;
}

/** Those that were stopped by this. What was done before it heard of it was not; what still does not listen is left behind. */
async function stopRuns(ids: readonly RunId[], { queue }: CommandParts): Promise<readonly RunRecord[]> {
  await Promise.all(ids.map((id) => queue.cancel(id)));
  const records = await Promise.all(
    ids.map(async (id) => {
      const record = await queue.get(id);
      return record && ((await queue.wait(id, LETTING_GO_MS)) ?? record);
    }),
  );
  return records.filter((record) => record !== undefined).filter(({ state }) => state !== "done");
}

/** Until when they can have spawned. A session's runs follow one another, so nothing that came later had begun then. */
function lastEnd(stopped: readonly RunRecord[], { clock }: CommandParts): number {
  const begun = stopped.filter(({ startedAtMs }) => startedAtMs !== undefined);
  return Math.max(...begun.map(({ endedAtMs = clock.now() }) => endedAtMs));
}

async function stopTasks(
  { origin: { key } }: CommandUse,
  ids: readonly string[],
  isMeant: (child: Child) => boolean,
  { children }: CommandParts,
): Promise<number> {
  const own = await children.taskOf(key);
  const stopped =
    own !== undefined && ids.includes(own.id)
      ? await children.stop(own, "owner", isMeant)
      : await children.stopBelow(key, "owner", isMeant);
  return children.countStopped(stopped, ids);
}

/** Nothing will come that it has yielded for, unless it has spawned again since then. */
async function awake(
  { origin: { key } }: CommandUse,
  isMeant: (child: Child) => boolean,
  { sessions, storage, children }: CommandParts,
): Promise<void> {
  const session = await sessions.get(key);
  if (session?.key !== key || session.yielded !== true) return;
  const waitsFor = await storage.records("child").getMany(await children.atWork(key));
  if (waitsFor.some((child) => child !== undefined && !isMeant(child))) return;
  await sessions.change(key, ({ yielded: _waited, ...current }) => current);
}
