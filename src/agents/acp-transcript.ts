import type { SessionUpdate, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { systemClock } from "../core/clock.ts";
import { given } from "../core/given.ts";
import type { Block, NewEntry } from "../core/ports/run.ts";
import { cutText } from "../core/transcript/limits.ts";
import { textBlock } from "../core/transcript/prompt.ts";
import { idOf, newCall, shortened, type ToolCallState, withUpdate, wordsOf } from "./acp-updates.ts";

/** What one run of a harness has made, within limits whatever it sends. */
export interface AcpTranscript {
  add(update: SessionUpdate): void;
  /** Some harnesses tell of a call in no other way than by asking whether they may make it. */
  addAsked(call: ToolCallUpdate, isAllowed: boolean): void;
  /** Everything so far. Each call is followed by its result; where there is none yet, the result says so. */
  entries(): readonly NewEntry[];
  /** What was said since the last tool call, and all rows without it. */
  answer(): { readonly reply: string; readonly entries: readonly NewEntry[] };
}

/** UTF-16 units of all words and of all thoughts of a run: together less than 1 MiB. */
const MOST_UNITS = { text: 750_000, thinking: 250_000 };
const RESULT_UNITS = 16_384;
const ALL_RESULTS_UNITS = 4_194_304;
/** 2000, without a note on what was left out and the words behind it. */
const MOST_ROWS = 1_998;
const ROWS_OF_CALL = 2;
const NO_RESULT = "This call has no result.";
const NOT_ALLOWED = "This call was not allowed.";

type Words = keyof typeof MOST_UNITS;

interface Item {
  readonly atMs: number;
  /** Made once for many reports, until the item changes. */
  rows?: readonly NewEntry[];
}

/** Words between two calls, with the thoughts before them. `cut`: a note ends them, and nothing follows it. */
interface Said extends Item {
  text: string;
  thinking: string;
  readonly cut: { text: boolean; thinking: boolean };
}

interface Called extends Item {
  changedAtMs: number;
  state: ToolCallState;
  /** Stands where no result came. */
  noResult: string;
}

interface Kept {
  readonly items: (Said | Called)[];
  readonly calls: Map<string, Called>;
  readonly unitsLeft: Record<Words | "results", number>;
  rows: number;
  callsLeftOut: number;
  /** What is said once there is no row left, as far as no call came after it. */
  tail?: Said;
}

export function createAcpTranscript(runId: string): AcpTranscript {
  const kept: Kept = {
    items: [],
    calls: new Map(),
    unitsLeft: { ...MOST_UNITS, results: ALL_RESULTS_UNITS },
    rows: 0,
    callsLeftOut: 0,
  };
  return {
    add(update) {
      keep(kept, update, systemClock.now());
    },
    addAsked(asked, isAllowed) {
      call(kept, asked, systemClock.now());
      const called = kept.calls.get(idOf(asked));
      if (called !== undefined) called.noResult = isAllowed ? NO_RESULT : NOT_ALLOWED;
    },
    entries: () => rowsOf(kept, [], runId),
    answer() {
      const said = saidLast(kept);
      const texts = said.map(({ text }) => text).filter((text) => text !== "");
      return { reply: texts.join("\n\n"), entries: rowsOf(kept, said, runId) };
    },
  };
}

/** Plans, modes, commands and the like are nothing that a transcript holds. */
function keep(kept: Kept, update: SessionUpdate, atMs: number): void {
  if (update.sessionUpdate === "agent_message_chunk") say(kept, "text", wordsOf(update.content), atMs);
  if (update.sessionUpdate === "agent_thought_chunk") say(kept, "thinking", wordsOf(update.content), atMs);
  if (update.sessionUpdate === "tool_call") call(kept, update, atMs);
  if (update.sessionUpdate === "tool_call_update") change(kept, update, atMs);
}

function say(kept: Kept, kind: Words, chunk: string, atMs: number): void {
  if (chunk === "") return;
  const said = openSaid(kept, kind, atMs);
  if (said.cut[kind]) return;
  const { text, cut } = cutText(chunk, kept.unitsLeft[kind]);
  delete said.rows;
  said[kind] += text;
  said.cut[kind] = cut;
  kept.unitsLeft[kind] = cut ? 0 : kept.unitsLeft[kind] - chunk.length;
}

/** A thought after words begins a row of its own, so that a row has one block of each kind. */
function openSaid(kept: Kept, kind: Words, atMs: number): Said {
  if (kept.tail !== undefined) return kept.tail;
  const newest = kept.callsLeftOut === 0 ? kept.items.at(-1) : undefined;
  if (isSaid(newest) && (kind === "text" || newest.text === "")) return newest;
  const said: Said = { atMs, text: "", thinking: "", cut: { text: false, thinking: false } };
  if (kept.rows >= MOST_ROWS) {
    kept.tail = said;
  } else {
    kept.items.push(said);
    kept.rows += 1;
  }
  return said;
}

function call(kept: Kept, update: ToolCallUpdate, atMs: number): void {
  if (!kept.calls.has(idOf(update))) begin(kept, idOf(update), atMs);
  change(kept, update, atMs);
}

function begin(kept: Kept, id: string, atMs: number): void {
  if (kept.rows + ROWS_OF_CALL > MOST_ROWS) {
    kept.rows = MOST_ROWS;
    kept.callsLeftOut += 1;
    delete kept.tail;
    return;
  }
  const called = { atMs, changedAtMs: atMs, state: newCall(id), noResult: NO_RESULT };
  kept.calls.set(id, called);
  kept.items.push(called);
  kept.rows += ROWS_OF_CALL;
}

function change({ calls, unitsLeft }: Kept, update: ToolCallUpdate, atMs: number): void {
  const called = calls.get(idOf(update));
  if (called === undefined) return;
  const { result: before } = called.state;
  const state = withUpdate(called.state, update);
  const room = Math.min(RESULT_UNITS, unitsLeft.results + before.length);
  const result = state.result === before ? before : shortened(state.result, room);
  unitsLeft.results += before.length - result.length;
  delete called.rows;
  called.state = { ...state, result };
  called.changedAtMs = atMs;
}

function saidLast({ items, tail, callsLeftOut }: Kept): readonly Said[] {
  const last = tail === undefined ? [] : [tail];
  if (callsLeftOut > 0) return last;
  return [...items.slice(items.findLastIndex((item) => !isSaid(item)) + 1).filter(isSaid), ...last];
}

/** All rows; of what is said in `withoutText` only the thoughts. */
function rowsOf(kept: Kept, withoutText: readonly Said[], runId: string): NewEntry[] {
  const { items, callsLeftOut, tail } = kept;
  const rows = (item: Said | Called): readonly NewEntry[] => {
    if (isSaid(item) && withoutText.includes(item)) return rowOfWords({ ...item, text: "" }, runId);
    item.rows ??= isSaid(item) ? rowOfWords(item, runId) : rowsOfCall(item, runId);
    return item.rows;
  };
  return [
    ...items.flatMap(rows),
    ...(callsLeftOut === 0 ? [] : [leftOutRow(kept, runId)]),
    ...(tail === undefined ? [] : rows(tail)),
  ];
}

function rowOfWords({ atMs, thinking, text }: Said, runId: string): NewEntry[] {
  const content: Block[] = [
    ...(thinking === "" ? [] : [{ type: "thinking" as const, text: thinking }]),
    ...(text === "" ? [] : [textBlock(text)]),
  ];
  return content.length === 0 ? [] : [{ role: "assistant", content, atMs, runId }];
}

function rowsOfCall({ atMs, changedAtMs, state, noResult }: Called, runId: string): NewEntry[] {
  const { id, name, title, input, status } = state;
  const isOpen = status === "open";
  const text = isOpen ? [state.result, noResult].filter(Boolean).join("\n") : state.result;
  const about = given({ title, input });
  return [
    { role: "assistant", content: [{ type: "toolCall", id, name, arguments: about }], atMs, runId },
    {
      role: "toolResult",
      content: [{ type: "toolResult", id, name, text, isError: isOpen || status === "failed" }],
      atMs: changedAtMs,
      runId,
    },
  ];
}

function leftOutRow({ items, callsLeftOut }: Kept, runId: string): NewEntry {
  return {
    role: "system",
    content: [textBlock(`Further tool calls are left out: ${callsLeftOut}.`)],
    atMs: items.at(-1)?.atMs ?? 0,
    runId,
    provenance: { kind: "internal_system" },
  };
}

function isSaid(item: Said | Called | undefined): item is Said {
  return item !== undefined && "thinking" in item;
}
