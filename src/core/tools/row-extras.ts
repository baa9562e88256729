import type { Session } from "../ports/session.ts";
import type { Storage, Transcripts } from "../ports/storage.ts";
import { cleanTitle, shownName } from "../session/describe.ts";
import { type HistoryView, historyView } from "../transcript/history-view.ts";
import { cutText } from "../transcript/limits.ts";
import { textOf } from "../transcript/prompt.ts";
import type { Redactor } from "../transcript/redact.ts";
import { readTail } from "../transcript/tail.ts";

/** Rows whose messages are read at most this many bytes each, so that a page of previews stays small. */
const ROW_MESSAGES_BYTES = 16_384;
const TITLE_LENGTH = 60;
const PREVIEW_LENGTH = 120;
/** A title is looked for in the first rows only. */
const FIRST_ROWS = 10;

export interface Asked {
  readonly messageLimit: number;
  readonly includeDerivedTitles: boolean;
  readonly includeLastMessage: boolean;
}

/** What a list row gains from its transcript, cleaned and masked exactly like sessions_history. Called for visible rows only. */
export type RowExtras = (session: Session, asked: Asked) => Promise<Readonly<Record<string, unknown>>>;

export function createRowExtras({ transcripts }: Storage, redactor: Redactor): RowExtras {
  return async (session, asked) => {
    if (asked.messageLimit === 0 && !asked.includeDerivedTitles && !asked.includeLastMessage) return {};
    return {
      ...(asked.messageLimit > 0 ? await newest(session, asked.messageLimit, transcripts, redactor) : {}),
      ...(asked.includeDerivedTitles ? await derivedTitle(session, transcripts, redactor) : {}),
      ...(asked.includeLastMessage ? await lastMessage(session, transcripts, redactor) : {}),
    };
  };
}

async function newest(session: Session, limit: number, transcripts: Transcripts, redactor: Redactor) {
  const tail = await readTail(transcripts, session.sessionId, { limit, includeTools: false });
  const view = historyView(tail.entries, { includeTools: false, redactor, maxBytes: ROW_MESSAGES_BYTES });
  return { messages: view.messages, ...masked(view) };
}

/** Recorded title, else the beginning of the first thing a person said, else the id and day. */
async function derivedTitle(session: Session, transcripts: Transcripts, redactor: Redactor) {
  if (session.title !== undefined) {
    const { redacted } = redactor.redact(session.title);
    const name = shownName(session, (text) => redactor.redact(text).text);
    return { derivedTitle: name, ...masked({ contentRedacted: redacted }) };
  }
  const page = await transcripts.page(session.sessionId, { beforeSeq: FIRST_ROWS + 1, limit: FIRST_ROWS });
  const view = historyView(
    page.entries.filter((entry) => entry.role === "user"),
    { includeTools: false, redactor },
  );
  const words = view.messages.map((entry) => cleanTitle(textOf(entry))).find((text) => text !== "");
  if (words !== undefined) return { derivedTitle: shortened(words, TITLE_LENGTH), ...masked(view) };
  const day = new Date(session.createdAtMs).toISOString().slice(0, 10);
  return { derivedTitle: `${session.sessionId.slice(0, 8)} ${day}` };
}

async function lastMessage(session: Session, transcripts: Transcripts, redactor: Redactor) {
  const tail = await readTail(transcripts, session.sessionId, { limit: 3, includeTools: false });
  const view = historyView(tail.entries, { includeTools: false, redactor });
  const texts = view.messages.map((entry) => textOf(entry).replace(/\s+/gu, " ").trim());
  const last = texts.filter((text) => text !== "").at(-1);
  return last === undefined ? {} : { lastMessagePreview: shortened(last, PREVIEW_LENGTH), ...masked(view) };
}

/** true is said, false is not. */
function masked({ contentRedacted }: Pick<HistoryView, "contentRedacted">): {
  readonly contentRedacted?: true;
} {
  return contentRedacted ? { contentRedacted } : {};
}

/** Cut at a word border when there is one in the last part, with an ellipsis. */
function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = cutText(text, length - 1).text.split("\n")[0] ?? "";
  const space = cut.lastIndexOf(" ");
  return `${space > length * 0.6 ? cut.slice(0, space) : cut}…`;
}
