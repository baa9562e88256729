import { everyNode, isOpen, type TaskNode, taskTree } from "../core/children/task-tree.ts";
import type { Origin } from "../core/inbound/origin.ts";
import type { CommandArgument, Completion, CompletionCall } from "../core/ports/command.ts";
import type { Session } from "../core/ports/session.ts";
import { cleanTitle, shownName } from "../core/session/describe.ts";
import { cleanLine } from "../core/text/lines.ts";
import { shortLine } from "../core/text/short-line.ts";
import { shorten } from "../core/text/shorten.ts";
import type { CommandParts } from "./command.ts";
import { chatName, deadRow } from "./deliveries.ts";
import { folded } from "./fold.ts";
import { EVERYTHING, sessionsLike, spellings } from "./session-lookup.ts";
import { localeFor, wordsFor } from "./words.ts";

const MOST = 25;
/** In UTF-16 units, as platforms count. */
const LONGEST = 100;
const LONGEST_TASK = 80;

type Typing = Pick<CompletionCall, "typed" | "locale"> & { readonly origin: Origin };

/** What may be meant by what is typed: names that begin with it first, then those that hold it, as they come. Only who types sees it. Reads no transcript. */
export async function completionsOf(
  what: NonNullable<CommandArgument["completes"]>,
  typing: Typing,
  parts: CommandParts,
): Promise<readonly Completion[]> {
  const word = folded(cleanLine(typing.typed));
  const candidates = await SOURCES[what](typing, parts);
  const fitting = candidates.filter(({ spoken }) => spoken.some((one) => folded(one).includes(word)));
  const begins = ({ spoken }: Candidate) => spoken.some((one) => folded(one).startsWith(word));
  return [...fitting.filter(begins), ...fitting.filter((one) => !begins(one))]
    .slice(0, MOST)
    .map(({ name, value }) => ({ name: cut(name), value }));
}

interface Candidate extends Completion {
  /** What somebody may type for it. */
  readonly spoken: readonly string[];
}

type Source = (typing: Typing, parts: CommandParts) => Promise<readonly Candidate[]>;

const SOURCES: Readonly<Record<NonNullable<CommandArgument["completes"]>, Source>> = {
  async sessions({ typed }, parts) {
    const mask = (text: string) => parts.redactor.redact(text).text;
    const found = await sessionsLike(typed, EVERYTHING, parts);
    return found.map((session) => {
      const { key, sessionId } = session;
      const [title, name] = [calledBy(session, mask), shownName(session, mask)];
      return {
        name: title === name ? name : `${title} · ${name}`,
        value: key.length <= LONGEST ? key : sessionId,
        spoken: spellings(session),
      };
    });
  },
  async subagents({ origin }, parts) {
    const mask = (text: string) => parts.redactor.redact(text).text;
    const nodes = everyNode(await taskTree(origin.key, parts));
    const ordered = [...nodes.filter(isOpen), ...nodes.filter((node) => !isOpen(node))];
    return ordered.map(({ child }: TaskNode) => {
      const [label, task] = [child.label, child.task].map(
        (text) => text && shortLine(text, LONGEST_TASK, mask),
      );
      return {
        name: label ? `${label} · ${task}` : (task ?? ""),
        // The end of a key names it too.
        value: child.key.slice(-LONGEST),
        spoken: [label, task, child.key].filter((text) => text !== undefined),
      };
    });
  },
  async deliveries({ locale }, parts) {
    const words = wordsFor(localeFor(locale, parts.config.locale));
    const nowMs = parts.clock.now();
    const { found } = await parts.undelivered.deadLetters();
    return Promise.all(
      found.map(async (letter) => {
        const where = await chatName(letter, parts);
        const name = [deadRow(letter, nowMs, words), where, letter.text].filter(Boolean).join(" · ");
        const number = `${letter.number}`;
        return { name, value: number, spoken: [number, `#${number}`, where, letter.text] };
      }),
    );
  },
};

/** What people know it by: its label, else the name of its chat. */
function calledBy(session: Session, mask: (text: string) => string): string {
  const { label, title = "" } = session;
  const own = label === undefined ? cleanTitle(mask(title)) : shortLine(label, LONGEST, mask);
  return own || shownName(session, mask);
}

function cut(name: string): string {
  return name === "" ? "–" : shorten(name, LONGEST, "…");
}
