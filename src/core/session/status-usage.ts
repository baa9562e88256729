import type { TranscriptEntry } from "../ports/run.ts";
import type { Session, Usage } from "../ports/session.ts";

/** What one run reported, and the model that it had. */
interface Report {
  readonly usage: Usage;
  readonly model: string | undefined;
}

/** How many tokens the newest run took; the parts are absent where they belong to another count. */
export interface TokenCount {
  readonly total: number;
  readonly parts?: { readonly input: number; readonly output: number };
}

/** How much of the model's window is taken. `used` is absent where a count goes over several model calls. */
export interface ContextUse {
  readonly window: number;
  readonly used?: number;
}

/**
 * The counters of the newest run; each one that it did not report comes from the newest of `rows` (oldest first) that has it. The window is that of
 * `model` or absent: another model's says nothing.
 */
export function filledUsage(
  session: Session,
  rows: readonly TranscriptEntry[],
  model: string | undefined,
): Usage | undefined {
  const newestFirst = reportsOf(session, rows);
  const { contextTokens: _ofAnyModel, ...counters }: Usage = Object.assign(
    {},
    ...newestFirst.map(({ usage }) => usage).reverse(),
  );
  const ofModel = newestFirst.filter((report) => report.model === model);
  const window = ofModel.find(({ usage }) => usage.contextTokens !== undefined)?.usage.contextTokens;
  const usage = window === undefined ? counters : { ...counters, contextTokens: window };
  return Object.keys(usage).length === 0 ? undefined : usage;
}

export function tokenCount({ totalTokens, inputTokens, outputTokens }: Usage = {}): TokenCount | undefined {
  const parts =
    inputTokens === undefined || outputTokens === undefined
      ? undefined
      : { input: inputTokens, output: outputTokens };
  const sum = parts && parts.input + parts.output;
  const total = totalTokens ?? sum;
  if (total === undefined) return undefined;
  return parts === undefined || (sum ?? 0) > total ? { total } : { total, parts };
}

export function contextUse(usage: Usage | undefined): ContextUse | undefined {
  const window = usage?.contextTokens;
  if (window === undefined) return undefined;
  const used = tokenCount(usage)?.total;
  return used === undefined || used > window ? { window } : { window, used };
}

/** Newest first. What the session holds of its newest run comes before all rows. */
function reportsOf(session: Session, rows: readonly TranscriptEntry[]): readonly Report[] {
  const reported = rows.flatMap(({ usage, model, atMs }): readonly Report[] =>
    usage === undefined || isInherited(session, atMs) ? [] : [{ usage, model }],
  );
  reported.reverse();
  const { usage, model } = session;
  if (usage === undefined) return reported;
  // Model and counters of a session may stem from two runs; the row that was written with the counters knows.
  const itsRow = reported.find((report) => JSON.stringify(report.usage) === JSON.stringify(usage));
  return [{ usage, model: itsRow?.model ?? model }, ...reported];
}

/** A child may begin with a copy of its requester's transcript; what was spent there is not its own. */
function isInherited({ spawnedBy, createdAtMs }: Session, atMs: number): boolean {
  return spawnedBy !== undefined && atMs < createdAtMs;
}
