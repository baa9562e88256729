import { messageOf } from "../errors.ts";
import { given } from "../given.ts";
import type { Clock } from "../ports/host.ts";
import type { AgentRunner, NewEntry, RunOutcome, RunRequest } from "../ports/run.ts";
import type { Usage } from "../ports/session.ts";
import { boundedEntry } from "./bounds.ts";
import { type Ending, endingOf, type Made, type Words } from "./ending.ts";
import type { RecordedCalls } from "./recorder.ts";

/** An agent that ignores its signal for this long is left behind. */
const ABORT_GRACE_MS = 1000;

/**
 * Executes the host's agent once, with our own end to it: a limit in ms (0 = none) and the signal of the claim, whichever comes first.
 * Never rejects. From the abort on `calls` does nothing more for the agent; its rows are used where the runner reports none.
 */
export async function runAgent(
  runner: AgentRunner,
  request: RunRequest,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly clock: Clock },
  calls: Pick<RecordedCalls, "entries" | "close">,
  words: Words,
): Promise<{ readonly ending: Ending; readonly made: Made }> {
  const limit = limitedSignal(limits);
  const left = abandoned(limit.signal, limits.clock);
  limit.signal.addEventListener("abort", calls.close, { once: true });
  try {
    const outcome = await Promise.race([outcomeOf(runner, request, limit.signal), left.outcome]);
    calls.close();
    return { ending: endingOf(outcome, limit.cause(), words), made: madeBy(outcome, calls.entries()) };
  } finally {
    left.forget();
    limit.forget();
  }
}

/** Aborts once, for the first cause: the claim's signal or the limit. Agents see the kind of error that fetch and their libraries know. */
function limitedSignal({ timeoutMs, signal, clock }: Parameters<typeof runAgent>[2]) {
  const controller = new AbortController();
  let cause: Parameters<typeof endingOf>[1] = {};
  const end = (first: typeof cause, name: "AbortError" | "TimeoutError", message: string) => {
    if (controller.signal.aborted) return;
    cause = first;
    controller.abort(new DOMException(message, name));
  };
  const onAbort = () => end({ abort: signal.reason }, "AbortError", String(signal.reason));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const onLimit = () => end({ timeoutMs }, "TimeoutError", "the run's time is up");
  const cancelTimer = timeoutMs === 0 ? () => {} : clock.after(timeoutMs, onLimit);
  return {
    signal: controller.signal,
    cause: () => cause,
    forget() {
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
    },
  };
}

/** A run that was stopped before it began is not begun. */
async function outcomeOf(runner: AgentRunner, request: RunRequest, signal: AbortSignal): Promise<RunOutcome> {
  if (signal.aborted) return { status: "aborted" };
  try {
    const outcome: unknown = await runner.run(request, signal);
    return isOutcome(outcome) ? outcome : { status: "error", error: "the agent runner returned no outcome" };
  } catch (error) {
    return { status: "error", error: messageOf(error) };
  }
}

/** Hosts write runners in JavaScript too. */
function isOutcome(value: unknown): value is RunOutcome {
  if (typeof value !== "object" || value === null || !("status" in value)) return false;
  if (value.status === "ok") return "reply" in value && typeof value.reply === "string";
  if (value.status === "error") return "error" in value && typeof value.error === "string";
  return value.status === "yielded" || value.status === "aborted";
}

/** Settles as aborted when the signal was raised and the grace has passed. */
function abandoned(signal: AbortSignal, clock: Clock) {
  let forget = () => {};
  const outcome = new Promise<RunOutcome>((resolve) => {
    const arm = () => {
      forget = clock.after(ABORT_GRACE_MS, () => resolve({ status: "aborted" }));
    };
    signal.addEventListener("abort", arm, { once: true });
  });
  return { outcome, forget: () => forget() };
}

function madeBy(outcome: RunOutcome, recorded: readonly NewEntry[]): Made {
  const { entries: rows, usage, model, status } = outcome;
  const reported = Array.isArray(rows) ? rows.filter(isRow).map(boundedEntry) : undefined;
  const brokeOff = status === "error" || status === "aborted";
  const entries = reported === undefined ? recorded : brokeOff ? completed(reported, recorded) : reported;
  return {
    entries,
    ...given({ usage: counted(usage), model: typeof model === "string" ? model : undefined }),
  };
}

const ROLES: readonly unknown[] = ["user", "assistant", "toolResult", "system"];

/** A row that everybody can read who gets it later. */
function isRow(row: unknown): row is NewEntry {
  if (typeof row !== "object" || row === null || !("role" in row) || !("content" in row)) return false;
  const { role, content } = row;
  return ROLES.includes(role) && Array.isArray(content) && content.every(isBlock);
}

function isBlock(block: unknown): boolean {
  if (typeof block !== "object" || block === null || !("type" in block)) return false;
  if (block.type === "text" || block.type === "thinking")
    return "text" in block && typeof block.text === "string";
  if (block.type === "attachment") return "mediaType" in block && typeof block.mediaType === "string";
  const isTool = block.type === "toolCall" || (block.type === "toolResult" && "text" in block);
  return isTool && "id" in block && "name" in block && typeof block.id === "string";
}

/** Prices that are not known make NaN of a product; what is no number was not counted. */
function counted(usage: unknown): Usage | undefined {
  if (typeof usage !== "object" || usage === null) return undefined;
  const numbers = Object.entries(usage).filter(
    ([, count]) => Number.isFinite(count) && count >= 0 && count <= Number.MAX_SAFE_INTEGER,
  );
  return numbers.length === 0 ? undefined : Object.fromEntries(numbers);
}

/** A runner that broke off reports what it had finished; calls that were under way then are added. */
function completed(reported: readonly NewEntry[], recorded: readonly NewEntry[]): readonly NewEntry[] {
  const known = new Set(reported.flatMap(blockIds));
  return [...reported, ...recorded.filter((entry) => !blockIds(entry).some((id) => known.has(id)))];
}

function blockIds({ content }: NewEntry): readonly string[] {
  return content.flatMap((block) => ("id" in block ? [`${block.type} ${block.id}`] : []));
}
