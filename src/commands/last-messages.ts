import type { TaskView } from "../core/children/task-view.ts";
import type { Block, TranscriptEntry } from "../core/ports/run.ts";
import { oneLine } from "../core/text/lines.ts";
import { shortLine } from "../core/text/short-line.ts";
import { historyView } from "../core/transcript/history-view.ts";
import { readTail } from "../core/transcript/tail.ts";
import type { CommandParts } from "./command.ts";
import { nameOf, plain } from "./task-lines.ts";
import type { Words } from "./words.ts";

const ROWS = 10;
const LONGEST_ROW = 600;
/** Two or three messages of a phone, not twenty. */
const LONGEST_LOG = 3500;

/** The newest rows of a child's transcript. */
export async function logOf(view: TaskView, words: Words, parts: LogParts): Promise<string> {
  const session = await parts.sessions.get(view.sessionKey);
  if (session === undefined) return words("log.gone", { name: nameOf(view) });
  return lastMessages(nameOf(view), session.sessionId, words, parts);
}

type LogParts = Pick<CommandParts, "sessions" | "storage" | "redactor">;

/** The newest rows of a transcript, cleaned and masked like everything that is read from outside; oldest first. `name`: fit for Markdown. */
export async function lastMessages(
  name: string,
  sessionId: string,
  words: Words,
  { storage, redactor }: Pick<LogParts, "storage" | "redactor">,
): Promise<string> {
  const { entries } = await readTail(storage.transcripts, sessionId, { limit: ROWS, includeTools: false });
  const { messages } = historyView(entries, { includeTools: false, redactor });
  const mask = (text: string) => redactor.redact(text).text;
  const lines = messages.map((row) => rowLine(row, mask)).filter((line) => line !== "");
  if (lines.length === 0) return words("log.empty", { name });
  return [words("log.title", { name }), ...newest(lines, LONGEST_LOG)].join("\n");
}

const SPEAKER: Readonly<Record<TranscriptEntry["role"], string>> = {
  user: "→",
  assistant: "←",
  system: "·",
  toolResult: "·",
};

/** One row is one line: `→` what the child was told, `←` what it said, `·` what the runtime noted. */
function rowLine({ role, content, sender }: TranscriptEntry, mask: (text: string) => string): string {
  const said = content.map(blockText).filter((text) => text !== "");
  if (said.length === 0) return "";
  const who = sender?.name === undefined ? "" : `${oneLine(sender.name)}: `;
  return `${SPEAKER[role]} ${plain(shortLine(who + said.join(" "), LONGEST_ROW, mask))}`;
}

function blockText(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "toolCall":
      return `[${block.name}]`;
    case "attachment":
      return `[${block.name ?? block.mediaType}]`;
    case "thinking":
    case "toolResult":
      return "";
    default:
      return block satisfies never;
  }
}

/** As many of the last lines as there is room for; at least one. */
function newest(lines: readonly string[], room: number): readonly string[] {
  let left = room;
  const from = lines.findLastIndex((line, at) => {
    left -= line.length + 1;
    return left < 0 && at < lines.length - 1;
  });
  return lines.slice(from + 1);
}
