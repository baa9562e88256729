import type { DeadLetter, DeadLetterEntry, DeadLetterList } from "../ports/dead-letter.ts";
import type { NewRun } from "../ports/engine.ts";
import type { Change, RecordWrite } from "../ports/storage.ts";
import { jobRun } from "../runs/job.ts";
import { noteRunId } from "../runs/run-id.ts";
import { deliveryRun, toParcel } from "./parcel.ts";

/** Under this key stands which dead letters there are. */
export const LETTER_LIST = "*";

const KEPT_MS = 30 * 24 * 3_600_000;
/** Beyond that the oldest goes for each new one. */
const MOST_KEPT = 500;

export interface Burial {
  readonly writes: readonly RecordWrite[];
  /** Those that are too old, or too many, and go for it. */
  readonly gone: readonly string[];
}

/** The writes that keep this text for its owner. Writing it twice keeps it once. */
export function burial(letter: DeadLetter, current: DeadLetterList | undefined): Burial {
  const others = (current?.entries ?? []).filter(({ id }) => id !== letter.id);
  const tooMany = others.length - (MOST_KEPT - 1);
  const gone = others.filter((one, at) => at < tooMany || isOver(one, letter.atMs)).map(({ id }) => id);
  const writes: readonly RecordWrite[] = [
    ofLetter(letter.id, letter),
    ofList((list) => withEntry(withoutEntries(list, gone), letter)),
    ...gone.map((id) => ofLetter(id, undefined)),
  ];
  return { writes, gone };
}

/** The writes that forget these. */
export function dismissal(ids: readonly string[]): readonly RecordWrite[] {
  return [ofList((list) => withoutEntries(list, ids)), ...ids.map((id) => ofLetter(id, undefined))];
}

/** Those that count now, newest first. */
export function openEntries(list: DeadLetterList | undefined, nowMs: number): readonly DeadLetterEntry[] {
  return (list?.entries ?? []).filter((one) => !isOver(one, nowMs)).toReversed();
}

/**
 * A new delivery of the same text, of the parts that are not known to have arrived; whoever asks for it has seen that a part may arrive twice.
 * Its id derives from the one that was given up, so that two who ask at once are one.
 */
export function retryRun({ id, state, payload }: DeadLetter, nowMs: number): NewRun {
  const {
    failures: _failures,
    lastReason: _reason,
    heldUntilMs: _held,
    starting: _starting,
    startingAtMs: _since,
    // They have followed already.
    followedBy: _followed,
    ...parcel
  } = toParcel(payload);
  return deliveryRun(nextId(id), { ...parcel, createdAtMs: nowMs, retryOf: state });
}

/** The row that tells an agent, in its next run, that what it said was not read; what is not its own words is nobody's news. */
export function undeliveredNote({
  id,
  sessionKey,
  state,
  reason,
  atMs,
  payload,
}: DeadLetter): readonly NewRun[] {
  const { kind } = toParcel(payload);
  if (kind !== "reply" && kind !== "announce") return [];
  const what = kind === "reply" ? "Your last answer" : "An announcement";
  const fate = state === "failed" ? "did not reach the chat" : "may not have reached the chat";
  return [
    jobRun(noteRunId(id), "note", {
      sessionKey,
      trigger: "completion",
      text: `${what} ${fate}: ${reason}`,
      atMs,
      provenance: { kind: "internal_system" },
      chain: [],
    }),
  ];
}

/** Of the delivery that is asked for when this one was given up: `<id>`, `<id>~1`, `<id>~2` */
export function nextId(id: string): string {
  const [, base = id, tries = "0"] = /^(.*)~(\d{1,6})$/s.exec(id) ?? [];
  return `${base}~${Number(tries) + 1}`;
}

function withEntry(list: DeadLetterList | undefined, letter: DeadLetter): DeadLetterList {
  const { entries, numbered } = list ?? { entries: [], numbered: 0 };
  if (list !== undefined && entries.some((one) => one.id === letter.id)) return list;
  const { id, sessionKey, to, state, atMs } = letter;
  const number = numbered + 1;
  return { entries: [...entries, { id, sessionKey, to, state, atMs, number }], numbered: number };
}

function withoutEntries(
  list: DeadLetterList | undefined,
  ids: readonly string[],
): DeadLetterList | undefined {
  if (list?.entries.some(({ id }) => ids.includes(id)) !== true) return list;
  return { ...list, entries: list.entries.filter(({ id }) => !ids.includes(id)) };
}

// A delivery has to end, and a list to be cleared, whatever became of what is stored of them.
function ofLetter(key: string, letter: DeadLetter | undefined): RecordWrite {
  return { type: "record", table: "deadLetter", key, change: () => letter, evenDamaged: true };
}

function ofList(change: Change<DeadLetterList>): RecordWrite {
  return { type: "record", table: "deadLetters", key: LETTER_LIST, change, evenDamaged: true };
}

function isOver({ atMs }: DeadLetterEntry, nowMs: number): boolean {
  return nowMs - atMs > KEPT_MS;
}
