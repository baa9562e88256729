import { SwitchboardError } from "../core/errors.ts";
import type { CommandReply } from "../core/ports/command.ts";
import type { Session } from "../core/ports/session.ts";
import { patched, type SessionPatch } from "../core/session/patch.ts";
import { shortLine } from "../core/text/short-line.ts";
import { type Act, byAction } from "./actions.ts";
import { unquoted } from "./arguments.ts";
import type { Command, CommandParts, CommandUse } from "./command.ts";
import { lastMessages } from "./last-messages.ts";
import { sessionLines, sessionName, shownLabel } from "./session-lines.ts";
import { sessionsLike, sessionsMeant, viewFrom } from "./session-lookup.ts";
import { numberIn, rememberListed } from "./session-numbers.ts";
import { plain } from "./task-lines.ts";
import { localized } from "./words.ts";

const PAGE = 10;
const MOST_NAMED = 8;
const SHOWN_WHICH = 48;

/** `/sessions`: what sessions there are, what was said in one, and its label; those that are not needed out of sight. */
export const sessions: Command = {
  spec: {
    name: "sessions",
    description: localized("sessions.description"),
    args: [
      {
        name: "action",
        description: localized("sessions.action"),
        required: false,
        choices: ["list", "archived", "history", "label", "archive", "unarchive"],
      },
      { name: "which", description: localized("sessions.which"), required: false, completes: "sessions" },
      { name: "text", description: localized("sessions.text"), required: false, rest: ["label"] },
    ],
    access: "owner",
  },
  run: byAction({
    list: listing(false),
    archived: listing(true),
    history: onOne((session, { words }, parts) =>
      lastMessages(sessionName(session, parts), session.sessionId, words, parts),
    ),
    label: onOne(relabel),
    archive: onOne(async (session, { words }, parts) => {
      const { sessionId } = await archive(session, parts);
      return {
        text: words("sessions.archived", { name: sessionName(session, parts) }),
        choices: [{ label: words("sessions.tap.unarchive"), command: `/sessions unarchive ${sessionId}` }],
      };
    }),
    unarchive: onOne(async (session, { words }, parts) => {
      await change(session, { archived: false }, parts);
      return words("sessions.unarchived", { name: sessionName(session, parts) });
    }),
  }),
};

/** The newest, from a number on; or those of which a name holds the word. */
function listing(archived: boolean): Act {
  return async (use, parts) => {
    const [, which = ""] = use.args;
    const first = which === "" ? 1 : numberIn(which);
    return first === undefined ? search(which, archived, use, parts) : page(first, archived, use, parts);
  };
}

async function page(
  first: number,
  archived: boolean,
  use: CommandUse,
  parts: CommandParts,
): Promise<CommandReply> {
  const { words } = use;
  const view = viewFrom(use);
  const found = await parts.storage.index.list({ ...view, archived, offset: first - 1, limit: PAGE });
  const roomsOnly = view.kinds === undefined ? [] : [words("sessions.roomsOnly")];
  if (found.rows.length === 0) {
    return { text: [words(archived ? "sessions.archived.none" : "sessions.none"), ...roomsOnly].join("\n") };
  }
  const shown = found.rows.map(({ session }) => session);
  const next = `/sessions ${archived ? "archived" : "list"} #${first + PAGE}`;
  const text = [
    words(archived ? "sessions.archived.title" : "sessions.title"),
    ...(await numbered(shown, first, use, parts)),
    ...(found.hasMore ? [words("sessions.more", { next })] : []),
    ...roomsOnly,
  ].join("\n");
  return found.hasMore ? { text, choices: [{ label: words("sessions.tap.more"), command: next }] } : { text };
}

async function search(
  which: string,
  archived: boolean,
  use: CommandUse,
  parts: CommandParts,
): Promise<CommandReply> {
  const { words } = use;
  const like = await sessionsLike(which, viewFrom(use), parts);
  const found = like.filter(({ archivedAtMs }) => (archivedAtMs !== undefined) === archived);
  if (found.length === 0) return { text: words("sessions.unknown", { which: shown(which) }) };
  const more = found.length - PAGE;
  const text = [
    words(archived ? "sessions.archived.title" : "sessions.title"),
    ...(await numbered(found.slice(0, PAGE), 1, use, parts)),
    ...(more > 0 ? [words("list.more", { count: more })] : []),
  ].join("\n");
  return { text };
}

/** One line each, with the number that means it from now on. */
async function numbered(
  some: readonly Session[],
  first: number,
  use: CommandUse,
  parts: CommandParts,
): Promise<readonly string[]> {
  await rememberListed(some, first, use, parts);
  const lines = await sessionLines(some, use, parts);
  return lines.map((line, at) => `#${first + at} ${line}`);
}

/** The session that is meant, as it was found; or what is answered because none is, or more than one. */
type Meant = { readonly session: Session } | { readonly answer: string };

/** What is done with the one that `which` names; whoever names none, or more than one, is told how to. */
function onOne(
  act: (session: Session, use: CommandUse, parts: CommandParts) => Promise<string | CommandReply>,
): Act {
  return async (use, parts) => {
    const [, which] = use.args;
    if (which === undefined) return use.words("sessions.sayWhich");
    const meant = await use.attempt.remembered(() => look(which, use, parts));
    if ("answer" in meant) return meant.answer;
    return act(meant.session, use, parts).catch((error: unknown) => refusal(error, use, parts));
  };
}

async function look(which: string, use: CommandUse, parts: CommandParts): Promise<Meant> {
  const meant = await sessionsMeant(which, use, parts);
  const [session, ...others] = meant;
  if (session === undefined) {
    const why = numberIn(which) === undefined ? "sessions.unknown" : "sessions.notListed";
    return { answer: use.words(why, { which: shown(which) }) };
  }
  return others.length === 0 ? { session } : { answer: await ambiguous(which, meant, use, parts) };
}

async function ambiguous(
  which: string,
  meant: readonly Session[],
  use: CommandUse,
  parts: CommandParts,
): Promise<string> {
  const lines = await numbered(meant.slice(0, MOST_NAMED), 1, use, parts);
  const title = use.words("sessions.ambiguous", { which: shown(which), count: meant.length });
  return [title, ...lines].join("\n");
}

async function relabel(session: Session, { args, words }: CommandUse, parts: CommandParts): Promise<string> {
  const [, , text = ""] = args;
  const label = text === "" ? null : unquoted(text);
  const { label: before } = session;
  const changed = await change(session, { label }, parts);
  const name = sessionName(changed, parts);
  if (changed.label !== undefined) {
    return words("sessions.labelled", { name, label: shownLabel(changed.label, parts) });
  }
  if (before === undefined) return words("sessions.unlabelled.none", { name });
  return words("sessions.unlabelled", { name, label: shownLabel(before, parts) });
}

/** Unless somebody has spoken there since it was found, which opens it again. */
function archive({ key, lastInteractionAtMs }: Session, { sessions, clock }: CommandParts): Promise<Session> {
  return sessions.change(key, (current) =>
    current.lastInteractionAtMs === lastInteractionAtMs
      ? patched(current, { archived: true }, clock.now())
      : current,
  );
}

function change({ key }: Session, patch: SessionPatch, { sessions, clock }: CommandParts): Promise<Session> {
  return sessions.change(key, (current) => patched(current, patch, clock.now()));
}

/** What the person can do something about is said; anything else is a defect. */
function refusal(error: unknown, { args, words }: CommandUse, parts: CommandParts): CommandReply {
  const [, which = "", text = ""] = args;
  const code = error instanceof SwitchboardError ? error.code : undefined;
  switch (code) {
    case "LABEL_INVALID":
      return { text: words("sessions.label.invalid") };
    case "LABEL_IN_USE":
      return { text: words("sessions.label.inUse", { label: shownLabel(unquoted(text), parts) }) };
    case "SESSION_NOT_FOUND":
      return { text: words("sessions.unknown", { which: shown(which) }) };
    default:
      throw error;
  }
}

function shown(which: string): string {
  return plain(shortLine(which, SHOWN_WHICH, (text) => text));
}
