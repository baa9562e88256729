import { stateWords, type TaskView, viewName } from "../children/task-view.ts";
import type { SessionKey } from "../ports/session.ts";
import { type ModelFacts, type RunFacts, type StatusFacts, shownModel } from "../session/status.ts";
import { contextUse, tokenCount } from "../session/status-usage.ts";
import { duration } from "../text/duration.ts";

/** What models read of a session's state. English, stable, one fact after the other; what is not known has no line. */
export function statusCard(facts: StatusFacts, shown: (key: SessionKey) => string): string {
  const lines = [
    `Time: ${localTime(facts)}`,
    `Session: ${facts.name}, key ${shown(facts.key)}, agent ${facts.agentId}`,
    identity(facts),
    modelLine(facts.model),
    tokensLine(facts),
    contextLine(facts),
    named({ Thinking: facts.thinkingLevel, Verbose: facts.verboseLevel }),
    stateLine(facts.run, facts.nowMs),
    lastRunLine(facts.run, facts.nowMs),
    ownTaskLine(facts, shown),
    ...taskLines(facts.tasks, shown),
    `Sending: ${facts.sending.allowed ? "on" : "off"} (${facts.sending.rule})`,
    ...deliveryLines(facts),
  ];
  return [...lines.filter((line) => line !== ""), ...routeBlock(facts)].join("\n");
}

/** `Monday, 2026-11-30 10:00:00 (Europe/Berlin, GMT+01:00)` */
function localTime({ nowMs, timeZone }: StatusFacts): string {
  const now = new Date(nowMs);
  const day = new Intl.DateTimeFormat("en", { timeZone, weekday: "long" }).format(now);
  // Swedish writes dates and times as ISO 8601 does.
  const time = new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "medium" }).format(
    now,
  );
  const zone = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }).formatToParts(now);
  const offset = zone.find(({ type }) => type === "timeZoneName")?.value ?? "";
  return `${day}, ${time} (${timeZone}, ${offset})`;
}

function identity({ sessionId, sessionStartedAtMs, label, archivedAtMs, nowMs }: StatusFacts): string {
  const age = duration(nowMs - sessionStartedAtMs);
  const archived = archivedAtMs === undefined ? "" : `, archived ${duration(nowMs - archivedAtMs)} ago`;
  const labelled = label === undefined ? "" : `, label ${JSON.stringify(label)}`;
  return `Session id: ${sessionId}, ${age} old${labelled}${archived}`;
}

function modelLine(model: ModelFacts): string {
  const { selected, override, lastRun } = model;
  const shown = shownModel(model);
  if (shown === undefined) return "";
  if (selected === undefined) return `Model: ${shown} (of the last run; none is selected)`;
  const chosen = override === undefined ? "" : " (set for this session)";
  const before = lastRun === undefined || lastRun === selected ? "" : `; the last run used ${lastRun}`;
  return `Model: ${shown}${chosen}${before}`;
}

function tokensLine({ usage }: StatusFacts): string {
  const count = tokenCount(usage);
  const { cacheRead, cacheWrite, estimatedCostUsd: cost } = usage ?? {};
  const split = count?.parts && ` (in ${figure(count.parts.input)} / out ${figure(count.parts.output)})`;
  const parts = [
    count && `${figure(count.total)}${split ?? ""}`,
    cacheRead === undefined ? undefined : `cache read ${figure(cacheRead)}`,
    cacheWrite === undefined ? undefined : `cache written ${figure(cacheWrite)}`,
    cost === undefined ? undefined : `est. ${dollars(cost)}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? "" : `Tokens of the newest run: ${parts.join(", ")}`;
}

function contextLine({ usage }: StatusFacts): string {
  const context = contextUse(usage);
  if (context === undefined) return "";
  const { used, window } = context;
  if (used === undefined) return `Context: window of ${figure(window)} tokens`;
  return `Context: ${figure(used)} of ${figure(window)} tokens (${Math.round((100 * used) / window)}%)`;
}

function stateLine({ state, runningSinceMs, queued }: RunFacts, nowMs: number): string {
  const since = runningSinceMs === undefined ? "" : ` for ${duration(nowMs - runningSinceMs)}`;
  const more = queued === 0 ? "" : `, ${runs(queued)} queued behind it`;
  switch (state) {
    case "running":
      return `State: running${since}${more}`;
    case "queued":
      return `State: ${runs(queued)} queued`;
    case "yielded":
      return "State: yielded, waiting for an event or a message";
    case "idle":
      return "State: idle";
    default:
      return state satisfies never;
  }
}

function lastRunLine({ last, abortedLastRun }: RunFacts, nowMs: number): string {
  if (last === undefined) return "";
  const after = last.runtimeMs === undefined ? "" : ` after ${duration(last.runtimeMs)}`;
  const ago = last.endedAtMs === undefined ? "" : `, ${duration(nowMs - last.endedAtMs)} ago`;
  return `Last run: ${last.status}${after}${ago}${abortedLastRun ? ", aborted" : ""}`;
}

function ownTaskLine({ ownTask, nowMs }: StatusFacts, shown: (key: SessionKey) => string): string {
  if (ownTask === undefined) return "";
  const { name, requester, outcome, deadlineMs } = ownTask;
  const ended = outcome === undefined ? "" : `, ended: ${outcome}`;
  const left = deadlineMs === undefined ? "" : `, ${duration(deadlineMs - nowMs)} left`;
  return `Task: ${JSON.stringify(name)} for ${shown(requester)}${ended}${left}`;
}

function taskLines(tasks: readonly TaskView[], shown: (key: SessionKey) => string): readonly string[] {
  if (tasks.length === 0) return [];
  const lines = tasks.map((task) => {
    const runtime = task.runtime === undefined ? "" : `, ${task.runtime}`;
    return `- ${JSON.stringify(viewName(task))} (${shown(task.sessionKey)}): ${stateWords(task)}${runtime}`;
  });
  return [`Subagents: ${tasks.length} at work`, ...lines];
}

function deliveryLines({ deliveries: { waiting, dead }, nowMs }: StatusFacts): readonly string[] {
  const lines: string[] = [];
  if (waiting !== undefined) {
    const why = waiting.reason === undefined ? "" : ` (${waiting.reason})`;
    const age = duration(nowMs - waiting.sinceMs);
    lines.push(`Deliveries: ${waiting.count} waiting, the oldest for ${age}${why}`);
  }
  if (dead !== undefined) {
    const counts = `${dead.failed} failed, ${dead.uncertain} uncertain`;
    lines.push(`Not delivered: ${counts}; the last: ${dead.lastReason}`);
  }
  return lines;
}

/** Which of the addresses is which: the key of a session need not say where its live run answers. */
function routeBlock({ route }: StatusFacts): readonly string[] {
  if (Object.keys(route).length === 0) return [];
  return ["", "Route context:", "```json", JSON.stringify(route, null, 2), "```"];
}

function named(facts: Readonly<Record<string, string | undefined>>): string {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return known.map(([name, value]) => `${name}: ${value}`).join(", ");
}

function runs(count: number): string {
  return count === 1 ? "1 run" : `${count} runs`;
}

function figure(count: number): string {
  return count.toLocaleString("en");
}

function dollars(cost: number): string {
  return `$${cost.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`;
}
