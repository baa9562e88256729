import type { Locale } from "../core/ports/command.ts";
import { outwardKey, shownName } from "../core/session/describe.ts";
import type { KeyNames } from "../core/session/key.ts";
import { type RunFacts, type StatusFacts, shownModel } from "../core/session/status.ts";
import { type ContextUse, contextUse, type TokenCount, tokenCount } from "../core/session/status-usage.ts";
import { duration } from "../core/text/duration.ts";
import type { Command, CommandParts } from "./command.ts";
import { waitingLine } from "./deliveries.ts";
import { readAlong } from "./read-along.ts";
import { withheldLine } from "./send.ts";
import { nameOf, plain, stateOf } from "./task-lines.ts";
import { localized, type Words } from "./words.ts";

/** `/status`: what this chat's session is doing, the facts of session_status. Figures that nobody reported are left out. */
export const status: Command = {
  spec: { name: "status", description: localized("status.description"), args: [], access: "owner" },
  async run(use, parts) {
    const { call, origin, words, locale } = use;
    const { sessions, readStatus, names } = parts;
    const session = await sessions.get(origin.key);
    if (session === undefined) return { text: words("status.none") };
    const { facts } = await readStatus(session, { active: call.from });
    const lines = [
      words("status.time", { time: localTime(facts, locale), zone: facts.timeZone }),
      ...identity(facts, words),
      ...(readAlong(use) ? [] : whereabouts(facts, words, names)),
      ...model(facts, words),
      ...usage(facts, words, locale),
      ...levels(facts, words),
      ...runs(facts.run, facts.nowMs, words),
      ...(await ownTask(facts, words, parts)),
      ...subagents(facts, words),
      sending(facts, words),
      ...(facts.sending.allowed ? [] : withheldLine(session, facts.nowMs, words)),
      ...deliveries(facts, words),
    ];
    return { text: lines.join("\n") };
  },
};

function localTime({ nowMs, timeZone }: StatusFacts, locale: Locale): string {
  const format = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: "medium", timeStyle: "short" });
  return format.format(nowMs);
}

function identity(facts: StatusFacts, words: Words): readonly string[] {
  const { name, agentId: agent, label, archivedAtMs, sessionStartedAtMs, nowMs } = facts;
  return [
    words("status.session", { name: plain(name), agent }),
    ...(label === undefined ? [] : [words("status.label", { label: plain(label) })]),
    words("status.age", { age: duration(nowMs - sessionStartedAtMs) }),
    ...(archivedAtMs === undefined
      ? []
      : [words("status.archived", { age: duration(nowMs - archivedAtMs) })]),
  ];
}

/** What is nobody's business but the owner's. */
function whereabouts({ key, route }: StatusFacts, words: Words, names: KeyNames): readonly string[] {
  const { channel, to } = route.deliveryContext ?? {};
  const isRouted = channel !== undefined && to !== undefined;
  return [
    words("status.key", { key: `\`${outwardKey(key, names)}\`` }),
    ...(isRouted ? [words("status.route", { channel, to: plain(to) })] : []),
  ];
}

function model({ model: facts }: StatusFacts, words: Words): readonly string[] {
  const { override, lastRun } = facts;
  const shown = shownModel(facts);
  if (shown === undefined) return [];
  return [
    words(override === undefined ? "status.model" : "status.model.override", { model: plain(shown) }),
    ...(lastRun === undefined || lastRun === shown
      ? []
      : [words("status.model.lastRun", { model: plain(lastRun) })]),
  ];
}

function usage({ usage: facts = {} }: StatusFacts, words: Words, locale: Locale): readonly string[] {
  const { cacheRead: read, cacheWrite: written, estimatedCostUsd: cost } = facts;
  const count = tokenCount(facts);
  const context = contextUse(facts);
  return [
    ...(count === undefined ? [] : [tokens(count, words)]),
    ...(read === undefined ? [] : [words("status.cacheRead", { count: read })]),
    ...(written === undefined ? [] : [words("status.cacheWritten", { count: written })]),
    ...(cost === undefined ? [] : [words("status.cost", { cost: dollars(cost, locale) })]),
    ...(context === undefined ? [] : [contextLine(context, words)]),
  ];
}

function tokens({ total, parts }: TokenCount, words: Words): string {
  const sum = words("status.tokens", { total });
  return parts === undefined ? sum : `${sum} ${words("status.tokens.split", parts)}`;
}

function contextLine({ used, window }: ContextUse, words: Words): string {
  if (used === undefined) return words("status.context.window", { window });
  return words("status.context", { used, window, share: used / window });
}

function levels({ thinkingLevel, verboseLevel }: StatusFacts, words: Words): readonly string[] {
  return [
    ...(thinkingLevel === undefined ? [] : [words("status.thinking", { level: plain(thinkingLevel) })]),
    ...(verboseLevel === undefined ? [] : [words("status.verbose", { level: plain(verboseLevel) })]),
  ];
}

function runs(run: RunFacts, nowMs: number, words: Words): readonly string[] {
  const { state, queued, runningSinceMs, abortedLastRun } = run;
  const time = duration(nowMs - (runningSinceMs ?? nowMs));
  return [
    ...(state === "running" ? [words("status.running", { time })] : []),
    ...(queued > 0 ? [words("status.queued", { count: queued })] : []),
    ...(state === "yielded" || state === "idle" ? [words(`status.${state}`)] : []),
    ...lastRun(run, nowMs, words),
    ...(abortedLastRun ? [words("status.lastRunAborted")] : []),
  ];
}

function lastRun({ last }: RunFacts, nowMs: number, words: Words): readonly string[] {
  if (last?.runtimeMs === undefined || last.endedAtMs === undefined) return [];
  const { status, runtimeMs, endedAtMs } = last;
  const times = { runtime: duration(runtimeMs), age: duration(nowMs - endedAtMs) };
  return [words("status.lastRun", { status, ...times })];
}

/** Of a session that was spawned: what for, and by whom. */
async function ownTask(
  { ownTask: task, nowMs }: StatusFacts,
  words: Words,
  { sessions, redactor }: CommandParts,
): Promise<readonly string[]> {
  if (task === undefined) return [];
  const requester = await sessions.get(task.requester);
  const givenBy = requester && shownName(requester, (text) => redactor.redact(text).text);
  const left = task.deadlineMs === undefined ? undefined : duration(task.deadlineMs - nowMs);
  return [
    words("status.task", { name: plain(task.name) }),
    ...(givenBy === undefined ? [] : [words("status.task.requester", { requester: plain(givenBy) })]),
    ...(left === undefined ? [] : [words("status.task.left", { left })]),
  ];
}

function subagents({ tasks }: StatusFacts, words: Words): readonly string[] {
  if (tasks.length === 0) return [];
  const lines = tasks.map((task) => `- ${nameOf(task)}: ${stateOf(task, words)}`);
  return [words("status.subagents", { count: tasks.length }), ...lines];
}

function sending({ sending: { allowed, rule } }: StatusFacts, words: Words): string {
  return words("status.send", {
    effective: words(allowed ? "send.effective.on" : "send.effective.off"),
    rule,
  });
}

/** Of this chat; /deliveries tells more. */
function deliveries({ deliveries: { waiting, dead }, nowMs }: StatusFacts, words: Words): readonly string[] {
  return [
    ...(waiting === undefined ? [] : [waitingLine(waiting, nowMs, words)]),
    ...(dead === undefined
      ? []
      : [
          words("deliveries.dead.count", {
            failed: dead.failed,
            uncertain: dead.uncertain,
            reason: plain(dead.lastReason),
          }),
        ]),
  ];
}

function dollars(cost: number, locale: Locale): string {
  const style = { style: "currency", currency: "USD", maximumFractionDigits: 4 } as const;
  return new Intl.NumberFormat(locale, style).format(cost);
}
