import { z } from "zod";
import { withoutTranscript } from "../children/stats-line.ts";
import { messageOf } from "../errors.ts";
import { given } from "../given.ts";
import { KEY_UNITS } from "../limits.ts";
import { mayKnowFiles } from "../policy/sandbox.ts";
import type { Json } from "../ports/host.ts";
import type { NewEntry, TranscriptEntry } from "../ports/run.ts";
import type { Storage } from "../ports/storage.ts";
import { displayKey } from "../session/describe.ts";
import type { KeyNames } from "../session/key.ts";
import { historyView, type ViewMemo } from "../transcript/history-view.ts";
import { everyText } from "../transcript/prompt.ts";
import type { Redactor } from "../transcript/redact.ts";
import { MASK_NOTICE } from "../transcript/redact-mask.ts";
import { newestShown, readTail } from "../transcript/tail.ts";
import { type Answer, type Caller, clamped, defineTool, type ToolBasics, toolInput } from "./define-tool.ts";
import type { FindTarget } from "./find-target.ts";

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1000;

/**
 * Offsets from here on name a row instead of counting back: `nextOffset` is such a mark, so that rows which arrive between two pages neither repeat nor skip
 * one. Plain counts stay far below.
 */
const MARK = 1_000_000_000_000;

const input = toolInput({
  sessionKey: z
    .string()
    .max(KEY_UNITS)
    .describe('Session key, "main", "current", or a sessionId from sessions_list.'),
  limit: clamped(1, MAX_LIMIT, "Newest messages to return").default(DEFAULT_LIMIT),
  includeTools: z
    .boolean()
    .default(false)
    .describe("Also return tool results and the arguments of tool calls."),
  offset: clamped(
    0,
    Number.MAX_SAFE_INTEGER,
    "0 adds paging facts; then pass nextOffset back unchanged to go on",
  ).optional(),
});

export interface HistoryParts extends ToolBasics {
  readonly names: KeyNames;
  readonly storage: Storage;
  readonly redactor: Redactor;
  readonly findTarget: FindTarget;
  /** Rows that an external source offers for the newest tail, newest last. */
  readonly externalHistory?: (sessionKey: string) => Promise<readonly NewEntry[]>;
}

export function sessionsHistory(parts: HistoryParts) {
  const memo: ViewMemo = new WeakMap();
  return defineTool(
    {
      name: "sessions_history",
      description:
        "Read what was said in a session: the newest messages, cleaned of model markup, with secrets masked (a mask is not the real value) and long text cut. Pass offset: 0 for paging facts and then nextOffset to read further back.",
      input,
      run: (asked, caller) => read(asked, caller, parts, memo),
    },
    parts.logger,
  );
}

async function read(
  asked: z.output<typeof input>,
  caller: Caller,
  parts: HistoryParts,
  memo: ViewMemo,
): Promise<Answer> {
  const target = await parts.findTarget({ sessionKey: asked.sessionKey }, caller, "history");
  if (!target.found) return target.answer;
  const sessionKey = displayKey(target.key, caller.session.agentId, parts.names);
  const sessionId = target.sessionId ?? target.session?.sessionId ?? "";
  const { offset, limit, includeTools } = asked;
  const { transcripts } = parts.storage;
  const total = (await transcripts.info(sessionId))?.lastSeq ?? 0;
  const beforeSeq = offset === undefined ? undefined : seqBefore(offset, total);
  const tail = await readTail(transcripts, sessionId, given({ limit, includeTools, beforeSeq }));
  const goesOn = offset === undefined && sessionId === target.session?.sessionId;
  const external = goesOn ? await externalRows(parts, target.key, tail.totalEntries) : [];
  const all = [...tail.entries, ...external];
  const rows = newestShown(all, { limit, includeTools }) ?? all;
  const view = historyView(readableBy(caller, rows), { includeTools, redactor: parts.redactor, memo });
  return given({
    sessionKey,
    sessionId,
    ...view,
    notice: view.contentRedacted ? MASK_NOTICE : undefined,
    damaged: tail.damaged.length === 0 ? undefined : tail.damaged,
    ...(offset === undefined
      ? {}
      : paging(offset, tail.totalEntries, view.messages[0]?.seq ?? tail.entries[0]?.seq)),
  });
}

/** What a row tells of ended children says where transcripts lie, which is not for every reader. */
function readableBy({ session, sandboxed }: Caller, rows: readonly TranscriptEntry[]) {
  if (mayKnowFiles(session, sandboxed)) return rows;
  // A row is JSON, and stays a row; one without a path stays the same object.
  return rows.map(
    (row) => everyText(row as unknown as Json, withoutTranscript) as unknown as TranscriptEntry,
  );
}

/** Rows before this one are wanted. */
function seqBefore(offset: number, total: number): number {
  return offset >= MARK ? offset - MARK : Math.max(1, total - offset + 1);
}

/** The page ends at its oldest returned row, so what the byte budget dropped comes with the next one. */
function paging(offset: number, totalMessages: number, oldestSeq: number | undefined) {
  const hasMore = oldestSeq !== undefined && oldestSeq > 1;
  return { offset, totalMessages, hasMore, ...(hasMore ? { nextOffset: MARK + oldestSeq } : {}) };
}

async function externalRows(parts: HistoryParts, key: string, total: number) {
  return (await rowsFrom(parts, key)).map((row, index) => ({
    ...row,
    id: `external:${index}`,
    seq: total + index + 1,
    provenance: { ...row.provenance, kind: "external" as const },
  }));
}

/** A source that fails takes nothing away from what we have ourselves. */
async function rowsFrom(
  { externalHistory, logger }: HistoryParts,
  key: string,
): Promise<readonly NewEntry[]> {
  try {
    return (await externalHistory?.(key)) ?? [];
  } catch (error) {
    logger.warn({ sessionKey: key, error: messageOf(error) }, "externalHistory failed");
    return [];
  }
}
