import { z } from "zod";
import { withoutTranscript } from "../children/stats-line.ts";
import { given } from "../given.ts";
import { RAW_LABEL_UNITS } from "../limits.ts";
import { mayKnowFiles } from "../policy/sandbox.ts";
import { visibilityNote, visibleScope } from "../policy/visibility.ts";
import type { RunQueue } from "../ports/engine.ts";
import type { Json } from "../ports/host.ts";
import type { SessionKey, SessionKind } from "../ports/session.ts";
import type { Row, RowQuery, RowScope, Storage } from "../ports/storage.ts";
import { cleanLabel } from "../session/describe.ts";
import { agentIdOf, type KeyNames } from "../session/key.ts";
import type { PublicRow, RowNow, Viewer } from "../session/row.ts";
import type { Sessions } from "../session/sessions.ts";
import { LIST_BYTES, utf8Bytes } from "../transcript/limits.ts";
import { everyText } from "../transcript/prompt.ts";
import type { Redactor } from "../transcript/redact.ts";
import { MASK_NOTICE } from "../transcript/redact-mask.ts";
import {
  type Answer,
  type Caller,
  clamped,
  defineTool,
  failure,
  type ToolBasics,
  toolInput,
} from "./define-tool.ts";
import type { RowExtras } from "./row-extras.ts";
import { createRowViews, type RowView } from "./row-views.ts";

const KINDS: readonly SessionKind[] = ["main", "group", "cron", "hook", "node", "other"];
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 200;
/** Children that a row names. */
const MAX_CHILDREN = 20;
/** What an answer holds beside its rows: notes, kinds that were not known. */
const ANSWER_OVERHEAD = 4096;

const input = toolInput({
  kinds: z
    .array(z.string().max(64))
    .max(32)
    .optional()
    .describe(`Any of ${KINDS.join(", ")}. Omitted or empty: all.`),
  limit: clamped(1, MAX_LIMIT, "Rows to return").default(DEFAULT_LIMIT),
  offset: clamped(0, 1_000_000, "Rows to skip; pass nextOffset to go on").default(0),
  activeMinutes: clamped(1, 5_256_000, "Only sessions that changed in the last so many minutes").optional(),
  messageLimit: clamped(0, 20, "Newest messages to include per row").default(0),
  label: z.string().max(RAW_LABEL_UNITS).optional().describe("Exact label."),
  agentId: z.string().max(64).optional().describe("Exact agent id."),
  search: z.string().max(256).optional().describe("Part of a name, label, title, session id or key."),
  archived: z.boolean().default(false).describe("true: archived sessions only."),
  includeDerivedTitles: z.boolean().default(false).describe("Add a title made from what is known."),
  includeLastMessage: z.boolean().default(false).describe("Add a preview of the newest message."),
});

export interface ListParts extends ToolBasics {
  readonly names: KeyNames;
  readonly agentIds: readonly string[];
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly queue: RunQueue;
  readonly extras: RowExtras;
  readonly redactor: Redactor;
}

export function sessionsList(parts: ListParts) {
  const views = createRowViews();
  return defineTool(
    {
      name: "sessions_list",
      description:
        "List the sessions you may see, newest first, with their keys, kinds, channels, labels and state. Use a returned key or sessionId with the other session tools.",
      input,
      run: (asked, caller) => list(asked, caller, parts, views),
    },
    parts.logger,
  );
}

type Asked = z.output<typeof input>;

async function list(
  asked: Asked,
  caller: Caller,
  parts: ListParts,
  views: ReturnType<typeof createRowViews>,
): Promise<Answer> {
  const kinds = parseKinds(asked.kinds);
  if ("error" in kinds) return failure("INPUT_INVALID", kinds.error);
  const asking = { key: caller.session.key, agentId: caller.session.agentId, sandboxed: caller.sandboxed };
  const scope = await scopeOf(caller, parts);
  const page = await parts.storage.index.list({
    ...filters(asked, kinds.kinds, parts.clock.now()),
    scope,
  });
  const viewer: Viewer = {
    agentId: asking.agentId,
    names: parts.names,
    trusted: mayKnowFiles(caller.session, caller.sandboxed),
    transcriptPath: (id) => parts.storage.transcriptPath(id),
    redactor: parts.redactor,
  };
  const isVisible = visibleIn(scope, parts.names);
  const now = await rowsNow(page.rows, isVisible, parts);
  const view = (row: Row): RowView => {
    const { key, spawnedBy } = row.session;
    const known = views(row, viewer, now(row));
    return spawnedBy === undefined || key === asking.key || isVisible(spawnedBy)
      ? known
      : withoutSpawner(known);
  };
  const extras = viewer.trusted ? parts.extras : withoutPaths(parts.extras);
  const kept = await filled(page.rows, asked, extras, view);
  const hasMore = page.hasMore || kept.length < page.rows.length;
  const note = caller.trusted === true ? undefined : visibilityNote(asking, parts.config, parts.agentIds);
  return given({
    count: kept.length,
    sessions: kept,
    hasMore,
    nextOffset: hasMore ? asked.offset + kept.length : undefined,
    ignoredKinds: kinds.ignored.length === 0 ? undefined : kinds.ignored,
    notice: kept.some((row) => row.contentRedacted === true) ? MASK_NOTICE : undefined,
    visibility: note,
  });
}

async function scopeOf(caller: Caller, { config, agentIds, sessions }: ListParts): Promise<RowScope> {
  if (caller.trusted === true) return { agentIds: "all", keys: [] };
  const { key, agentId } = caller.session;
  const descendants = await sessions.descendants(key);
  return visibleScope({ key, agentId, sandboxed: caller.sandboxed, descendants }, "list", config, agentIds);
}

function visibleIn({ agentIds, keys }: RowScope, names: KeyNames): (key: SessionKey) => boolean {
  return (key) => agentIds === "all" || agentIds.includes(agentIdOf(key, names)) || keys.includes(key);
}

/** Only a session itself is told by whom it was spawned, and those who see that one too. */
function withoutSpawner(view: RowView): RowView {
  const { spawnedBy: _hidden, ...row } = view.row;
  return { ...view, row };
}

/** For those who may not know where transcripts lie. */
function withoutPaths(extras: RowExtras): RowExtras {
  return async (session, asked) => {
    const more = await extras(session, asked);
    // Extras are JSON, and an object stays one.
    return everyText(more as Json, withoutTranscript) as typeof more;
  };
}

/** Which of them run, and who was spawned by them: one look each for the whole page. */
async function rowsNow(
  rows: readonly Row[],
  isVisible: (key: SessionKey) => boolean,
  { storage, queue }: ListParts,
): Promise<(row: Row) => RowNow> {
  const shown = rows.map(({ session }) => session.key);
  const [busy, children] = await Promise.all([
    queue.busy(shown),
    storage.index.childrenOf(shown, MAX_CHILDREN),
  ]);
  return ({ session: { key } }) => ({
    running: busy.has(key),
    children: (children.get(key) ?? []).filter(isVisible),
  });
}

function filters(
  asked: Asked,
  kinds: readonly SessionKind[] | undefined,
  nowMs: number,
): Omit<RowQuery, "scope"> {
  return given({
    archived: asked.archived,
    offset: asked.offset,
    limit: asked.limit,
    kinds,
    label: storedLabel(asked.label),
    agentId: nonBlank(asked.agentId)?.toLowerCase(),
    search: nonBlank(asked.search),
    activeSinceMs: asked.activeMinutes === undefined ? undefined : nowMs - asked.activeMinutes * 60_000,
  });
}

type Kinds =
  | { readonly kinds?: readonly SessionKind[]; readonly ignored: readonly string[] }
  | { readonly error: string };

/** Nothing valid among what was asked is an error, never "all". */
function parseKinds(asked: readonly string[] | undefined): Kinds {
  if (asked === undefined || asked.length === 0) return { ignored: [] };
  const words = asked.map((word) => word.trim().toLowerCase());
  const kinds = KINDS.filter((kind) => words.includes(kind));
  const ignored = words.filter((word) => !KINDS.some((kind) => kind === word));
  if (kinds.length > 0) return { kinds, ignored };
  return { error: `kinds: no known kind in ${JSON.stringify(asked)}; allowed: ${KINDS.join(", ")}` };
}

/** Rows in order until the answer is full; at least one, so that paging always moves on. Nothing is read for rows beyond. */
async function filled(
  rows: readonly Row[],
  asked: Asked,
  extras: RowExtras,
  view: (row: Row) => RowView,
): Promise<readonly PublicRow[]> {
  const plain = asked.messageLimit === 0 && !asked.includeDerivedTitles && !asked.includeLastMessage;
  const kept: PublicRow[] = [];
  let bytes = ANSWER_OVERHEAD;
  for (const row of rows) {
    const known = view(row);
    // A copy: what the caller does to its answer does not reach the next one.
    const shown = plain ? { ...known.row } : { ...known.row, ...(await extras(row.session, asked)) };
    bytes += 1 + (plain ? known.bytes : utf8Bytes(shown));
    if (bytes > LIST_BYTES && kept.length > 0) break;
    kept.push(shown);
  }
  return kept;
}

/** As labels are stored; what no label can be matches none. */
function storedLabel(asked: string | undefined): string | undefined {
  const cleaned = cleanLabel(asked ?? "");
  return cleaned.ok ? cleaned.label : nonBlank(asked);
}

function nonBlank(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}
