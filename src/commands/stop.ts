import { isOfTask } from "../core/children/child-runs.ts";
import type { Child } from "../core/ports/child.ts";
import type { RunRecord } from "../core/ports/engine.ts";
import type { SessionKey } from "../core/ports/session.ts";
import { asksAgent, toJob } from "../core/runs/job.ts";
import type { Command, CommandParts } from "./command.ts";
import { localized } from "./words.ts";

/** Longer than an agent that ignores its signal is waited for. */
const LETTING_GO_MS = 3000;

/** `/stop`: ends what this chat's session does, what people wait for in it, and everything that it has spawned. */
export const stop: Command = {
  spec: { name: "stop", description: localized("stop.description"), args: [], access: "owner" },
  async run({ origin: { key }, words, locale }, parts) {
    const { children } = parts;
    const task = await children.taskOf(key);
    const { messages, runs } = await stopRuns(key, task, parts);
    await awake(key, parts);
    const open = task?.outcome === undefined ? task : undefined;
    const stopped =
      open === undefined ? await children.stopBelow(key, "owner") : await children.stop(open, "owner");
    const subagents = stopped.length;
    const counts = [
      ...(runs === 0 ? [] : [words("stop.runs", { count: runs })]),
      ...(messages === 0 ? [] : [words("stop.messages", { count: messages })]),
      ...(subagents === 0 ? [] : [words("stop.subagents", { count: subagents })]),
    ];
    if (counts.length === 0) return { text: words("stop.nothing") };
    return { text: words("stop.done", { what: new Intl.ListFormat(locale).format(counts) }) };
  },
};

/**
 * The run that is under way, when an agent is asked in it, and the messages behind it. What tells the session of something that has happened, a
 * child's end or an answer, is not lost by this. A child's own task is stopped as a task.
 */
async function stopRuns(key: SessionKey, task: Child | undefined, { queue }: CommandParts) {
  const pending = await queue.pending(key);
  const isTask = (run: RunRecord) => task !== undefined && task.outcome === undefined && isOfTask(run, task);
  const waiting = await cancelled(pending.filter((run) => run.state === "queued" && isMessage(run)));
  const running = pending.filter((run) => run.state === "running" && asksAgent(run) && !isTask(run));
  const ended = await Promise.all((await cancelled(running)).map(({ id }) => queue.wait(id, LETTING_GO_MS)));
  // What was done before it heard of this was not stopped.
  const runs = ended.filter((run) => run?.state !== "done").length;
  return { messages: waiting.length, runs };

  async function cancelled(some: readonly RunRecord[]): Promise<readonly RunRecord[]> {
    const done = await Promise.all(some.map((run) => queue.cancel(run.id)));
    return some.filter((_, at) => done[at] === true);
  }
}

function isMessage({ kind, payload }: RunRecord): boolean {
  const { exchangeId, child } = toJob(payload);
  return kind === "agent" && exchangeId === undefined && child === undefined;
}

/** Nothing will come that it has yielded for. */
async function awake(key: SessionKey, { sessions }: CommandParts): Promise<void> {
  const session = await sessions.get(key);
  if (session?.key !== key || session.yielded !== true) return;
  await sessions.change(key, ({ yielded: _waited, ...current }) => current);
}
