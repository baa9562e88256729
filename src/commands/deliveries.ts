import type { DeadLetterView, Found, Look, WaitingView } from "../core/delivery/undelivered.ts";
import { shownName } from "../core/session/describe.ts";
import { duration } from "../core/text/duration.ts";
import { type Act, byAction } from "./actions.ts";
import { meaningOf } from "./argument-words.ts";
import type { Command, CommandParts, CommandUse } from "./command.ts";
import { readAlong } from "./read-along.ts";
import { plain } from "./task-lines.ts";
import { localized, type Words } from "./words.ts";

/** Of each kind that one answer shows. */
const MOST_SHOWN = 10;

/** `/deliveries`: what was to leave and has not, and what becomes of it. In a room, where everybody reads along, that is what the room has missed. */
export const deliveries: Command = {
  spec: {
    name: "deliveries",
    description: localized("deliveries.description"),
    args: [
      {
        name: "action",
        description: localized("deliveries.action"),
        required: false,
        choices: ["list", "retry", "dismiss"],
      },
      {
        name: "which",
        description: localized("deliveries.which"),
        required: false,
        completes: "deliveries",
      },
    ],
    access: "owner",
  },
  run: byAction({
    list,
    retry: onNamed(async (ids, { words }, { undelivered }) => {
      await undelivered.retry(ids);
      const count = await undelivered.countRetried(ids);
      return count === 0 ? words("deliveries.notRetried") : words("deliveries.retried", { count });
    }),
    dismiss: onNamed(async (ids, { words }, { undelivered }) => {
      await undelivered.dismiss(ids);
      return words("deliveries.dismissed", { count: ids.length });
    }),
  }),
};

async function list(use: CommandUse, parts: CommandParts): Promise<string> {
  const { words } = use;
  const look = { ...lookOf(use), limit: MOST_SHOWN };
  const [waiting, dead] = await Promise.all([
    parts.undelivered.waiting(look),
    parts.undelivered.deadLetters(look),
  ]);
  const block = async <T extends WaitingView | DeadLetterView>(
    title: string,
    { found, total }: Found<T>,
    lineOf: (one: T) => string,
  ) => {
    if (total === 0) return [];
    const lines = found.map(async (one) => `${await whereOf(one, use, parts)}${lineOf(one)}`);
    const more = total - found.length;
    const rest = more > 0 ? [words("deliveries.more", { count: more })] : [];
    return [[title, ...(await Promise.all(lines)), ...rest].join("\n")];
  };
  const nowMs = parts.clock.now();
  const blocks = [
    ...(await block(words("deliveries.waiting"), waiting, (one) => waitingLine(one, nowMs, words))),
    ...(await block(words("deliveries.dead"), dead, (one) => deadLine(one, nowMs, words))),
  ];
  return [
    ...(blocks.length === 0 ? [words("deliveries.none", scopeOf(use))] : blocks),
    ...(dead.total === 0 ? [] : [words("deliveries.how")]),
    ...(look.at === undefined ? [] : [words("deliveries.elsewhere")]),
  ].join("\n\n");
}

/** `3 messages have been waiting to be sent for 2m10s (Discord asks to wait 60 s.)` */
export function waitingLine(
  { count, sinceMs, reason }: Pick<WaitingView, "count" | "sinceMs" | "reason">,
  nowMs: number,
  words: Words,
): string {
  const said = words("deliveries.waiting.count", { count, age: duration(nowMs - sinceMs) });
  return reason === undefined ? said : `${said} (${plain(reason)})`;
}

function deadLine(letter: DeadLetterView, nowMs: number, words: Words): string {
  return `${deadRow(letter, nowMs, words)}: ${plain(letter.reason)}\n“${plain(letter.text)}”`;
}

/** `#3, 2h00m ago, not delivered` */
export function deadRow(
  { number, state, atMs }: Pick<DeadLetterView, "number" | "state" | "atMs">,
  nowMs: number,
  words: Words,
): string {
  return words("deliveries.dead.row", { number, state, age: duration(nowMs - atMs) });
}

/** Which chat it was for; in a room there is only one. */
async function whereOf(
  one: WaitingView | DeadLetterView,
  use: CommandUse,
  parts: CommandParts,
): Promise<string> {
  return readAlong(use) ? "" : `**${plain(await chatName(one, parts))}** `;
}

/** As `/sessions` calls it; without a session its platform is all that is known. */
export async function chatName(
  { to, sessionKey }: Pick<DeadLetterView, "to" | "sessionKey">,
  { sessions, redactor }: Pick<CommandParts, "sessions" | "redactor">,
): Promise<string> {
  const session = await sessions.get(sessionKey);
  return session === undefined ? to.channel : shownName(session, (text) => redactor.redact(text).text);
}

/** Ids of those that are meant, or what is answered because none is. */
type Meant = { readonly ids: readonly string[] } | { readonly answer: string };

/** What is done with those that `which` names; whoever names none is told how to. */
function onNamed(
  act: (ids: readonly string[], use: CommandUse, parts: CommandParts) => Promise<string>,
): Act {
  return async (use, parts) => {
    const [, which] = use.args;
    if (which === undefined) return use.words("deliveries.sayWhich");
    const meant = await use.attempt.remembered(() => named(which, use, parts));
    return "answer" in meant ? meant.answer : act(meant.ids, use, parts);
  };
}

async function named(which: string, use: CommandUse, { undelivered }: CommandParts): Promise<Meant> {
  const look = lookOf(use);
  const entries = await undelivered.entries(look.at);
  if (entries.length === 0) return { answer: nothingToDecide(use, await undelivered.waiting(look)) };
  const isAll = meaningOf(which, ["all"]) !== undefined;
  const meant = isAll
    ? entries.filter(({ atMs }) => use.attempt.wasThere(atMs))
    : entries.filter(({ number }) => `${number}` === which.replace(/^#/, ""));
  if (meant.length > 0) return { ids: meant.map(({ id }) => id) };
  return { answer: use.words("deliveries.unknown", { which: plain(which.slice(0, 48)) }) };
}

function nothingToDecide(use: CommandUse, waiting: Found<WaitingView>): string {
  if (waiting.total > 0) return use.words("deliveries.onlyWaiting");
  return use.words("deliveries.none", scopeOf(use));
}

/** Of one chat nobody says what holds for all. */
function scopeOf(use: CommandUse): { readonly scope: "chat" | "all" } {
  return { scope: readAlong(use) ? "chat" : "all" };
}

function lookOf(use: CommandUse): Look {
  return readAlong(use) ? { at: use.call.from } : {};
}
