import type { DeadLetterView, Found, Look, WaitingView } from "../core/delivery/undelivered.ts";
import { shownName } from "../core/session/describe.ts";
import { duration } from "../core/text/duration.ts";
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
      { name: "which", description: localized("deliveries.which"), required: false },
    ],
    access: "owner",
  },
  async run(use, parts) {
    const [action = "list"] = use.args;
    const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    const text = act === undefined ? use.howTo : await act(use, parts);
    return { text };
  },
};

type Act = (use: CommandUse, parts: CommandParts) => Promise<string>;

const ACTIONS: Readonly<Record<string, Act>> = {
  list,
  retry: onNamed(async (ids, { words }, { undelivered }) => {
    const count = await undelivered.retry(ids);
    return count === 0 ? words("deliveries.notRetried") : words("deliveries.retried", { count });
  }),
  dismiss: onNamed(async (ids, { words }, { undelivered }) =>
    words("deliveries.dismissed", { count: await undelivered.dismiss(ids) }),
  ),
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

function deadLine(
  { number, state, atMs, reason, text }: DeadLetterView,
  nowMs: number,
  words: Words,
): string {
  const said = words("deliveries.dead.row", { number, state, age: duration(nowMs - atMs) });
  return `${said}: ${plain(reason)}\n“${plain(text)}”`;
}

/** Which chat it was for; in a room there is only one. */
async function whereOf(
  { to, sessionKey }: WaitingView | DeadLetterView,
  use: CommandUse,
  { sessions, redactor }: CommandParts,
): Promise<string> {
  if (readAlong(use)) return "";
  const session = await sessions.get(sessionKey);
  const name = session && shownName(session, (text) => redactor.redact(text).text);
  return `**${plain(name ?? to.channel)}** `;
}

/** What is done with those that `which` names; whoever names none is told how to. */
function onNamed(
  act: (ids: readonly string[], use: CommandUse, parts: CommandParts) => Promise<string>,
): Act {
  return async (use, parts) => {
    const [, which] = use.args;
    if (which === undefined) return use.words("deliveries.sayWhich");
    const look = lookOf(use);
    const entries = await parts.undelivered.entries(look.at);
    if (entries.length === 0) return nothingToDecide(use, await parts.undelivered.waiting(look));
    const isAll = meaningOf(which, ["all"]) !== undefined;
    const meant = entries.filter(({ number }) => isAll || `${number}` === which.replace(/^#/, ""));
    if (meant.length === 0) return use.words("deliveries.unknown", { which: plain(which.slice(0, 48)) });
    return act(
      meant.map(({ id }) => id),
      use,
      parts,
    );
  };
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
