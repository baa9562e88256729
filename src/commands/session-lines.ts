import type { Session } from "../core/ports/session.ts";
import { kindOf, outwardKey, shownName } from "../core/session/describe.ts";
import { duration } from "../core/text/duration.ts";
import { shortLine } from "../core/text/short-line.ts";
import type { CommandParts, CommandUse } from "./command.ts";
import { readAlong } from "./read-along.ts";
import { plain } from "./task-lines.ts";

const LONGEST_NAME = 64;

type LineParts = Pick<CommandParts, "redactor" | "names" | "clock" | "queue">;

/** What a session is called, as one short, masked line that is fit for Markdown. */
export function sessionName(session: Session, { redactor }: Pick<LineParts, "redactor">): string {
  const mask = (text: string) => redactor.redact(text).text;
  return plain(shortLine(shownName(session, mask), LONGEST_NAME, mask));
}

export function shownLabel(label: string, { redactor }: Pick<LineParts, "redactor">): string {
  return plain(shortLine(label, LONGEST_NAME, (text) => redactor.redact(text).text));
}

/** One line each: name, label, kind, agent, whether it runs, and how long nothing has changed; the key where nobody reads along. */
export async function sessionLines(
  sessions: readonly Session[],
  use: Pick<CommandUse, "call" | "how" | "words">,
  parts: LineParts,
): Promise<readonly string[]> {
  const { words } = use;
  const busy = await parts.queue.busy(sessions.map(({ key }) => key));
  return sessions.map((session) => {
    const { key, agentId, label, updatedAtMs } = session;
    const name = sessionName(session, parts);
    const shown = label === undefined ? undefined : shownLabel(label, parts);
    const facts = [
      ...(shown === undefined || shown === name ? [] : [`“${shown}”`]),
      words("sessions.kind", { kind: kindOf(key, parts.names, session) }),
      agentId,
      ...(busy.has(key) ? [words("sessions.running")] : []),
      words("sessions.age", { age: duration(parts.clock.now() - updatedAtMs) }),
      ...(readAlong(use) ? [] : [`\`${outwardKey(key, parts.names).replaceAll("`", "'")}\``]),
    ];
    return [`**${name}**`, ...facts].join(" · ");
  });
}
