import { given } from "../given.ts";
import type { Json } from "../ports/host.ts";
import type { Block, TranscriptEntry } from "../ports/run.ts";
import { cleanTitle } from "../session/describe.ts";
import {
  cutText,
  HISTORY_BYTES,
  MESSAGE_BYTES,
  OMITTED_MESSAGE,
  replaceDataUrls,
  stripControl,
  utf8Bytes,
} from "./limits.ts";
import { type Redactor, redactBlocks } from "./redact.ts";
import { sanitize } from "./sanitize.ts";

/** A row whose stored form is larger than this in UTF-16 units is not looked into. */
const LARGEST_ROW = 262_144;

export interface ViewOptions {
  readonly includeTools: boolean;
  readonly redactor: Redactor;
  /** Byte budget of the rows; the newest are kept. */
  readonly maxBytes?: number;
  /** What earlier views made of rows that are still the same objects. */
  readonly memo?: ViewMemo;
}

export type ViewMemo = WeakMap<TranscriptEntry, Remembered>;

/** Rows as others may read them, oldest first. Every flag is true only when it is true of these rows. */
export interface HistoryView {
  readonly messages: readonly TranscriptEntry[];
  /** Something was dropped or cut. */
  readonly truncated: boolean;
  readonly droppedMessages: boolean;
  readonly contentTruncated: boolean;
  readonly contentRedacted: boolean;
  readonly bytes: number;
}

interface Shown {
  readonly entry: TranscriptEntry;
  readonly cut: boolean;
  readonly redacted: boolean;
  readonly omitted: boolean;
}

interface Remembered {
  readonly shown: Shown;
  readonly bytes: number;
  readonly includeTools: boolean;
  readonly secrets: number;
}

/**
 * Cleans, masks, cuts and bounds rows, newest first until the budget is spent; nothing beyond it is looked at.
 * The stored rows stay as they are.
 */
export function historyView(entries: readonly TranscriptEntry[], options: ViewOptions): HistoryView {
  const maxBytes = Math.min(options.maxBytes ?? HISTORY_BYTES, HISTORY_BYTES);
  const kept: Shown[] = [];
  let bytes = 2;
  let dropped = false;
  for (let at = entries.length - 1; at >= 0 && !dropped; at--) {
    const entry = entries[at];
    if (entry === undefined || !isShown(entry, options.includeTools)) continue;
    const { shown, bytes: size } = fitted(remembered(entry, options), maxBytes);
    dropped = bytes + size + 1 > maxBytes && kept.length > 0;
    if (dropped) continue;
    kept.push(shown);
    bytes += size + 1;
  }
  const droppedMessages = dropped || kept.some((shown) => shown.omitted);
  const contentTruncated = kept.some((shown) => shown.cut);
  return {
    messages: kept.reverse().map((shown) => shown.entry),
    truncated: droppedMessages || contentTruncated,
    droppedMessages,
    contentTruncated,
    contentRedacted: kept.some((shown) => shown.redacted),
    bytes: kept.length === 0 ? 2 : bytes - 1,
  };
}

/** Tool results are shown only when asked for. */
export function isShown(entry: TranscriptEntry, includeTools: boolean): boolean {
  return includeTools || entry.role !== "toolResult";
}

function fitted(
  seen: Pick<Remembered, "shown" | "bytes">,
  maxBytes: number,
): Pick<Remembered, "shown" | "bytes"> {
  if (seen.bytes <= Math.min(MESSAGE_BYTES, maxBytes - 2)) return seen;
  const shown = omitted(seen.shown.entry);
  return { shown, bytes: utf8Bytes(shown.entry) };
}

function remembered(entry: TranscriptEntry, options: ViewOptions): Remembered {
  const { includeTools, redactor, memo } = options;
  const last = memo?.get(entry);
  if (last?.includeTools === includeTools && last.secrets === redactor.size()) return last;
  const shown = showEntry(entry, options);
  const made = { shown, bytes: utf8Bytes(shown.entry), includeTools, secrets: redactor.size() };
  memo?.set(entry, made);
  return made;
}

function showEntry(entry: TranscriptEntry, { includeTools, redactor }: ViewOptions): Shown {
  if (JSON.stringify(entry).length > LARGEST_ROW) return omitted(entry);
  const { usage: _usage, ...row } = entry;
  const visible = entry.content.filter((block) => block.type !== "thinking");
  const cleaned = visible.map((block) => clean(block, entry.role, includeTools));
  const masked = redactBlocks(
    redactor,
    cleaned.map((one) => one.text),
  );
  let redacted = masked.redacted;
  const name = (text: string) => {
    const one = redactor.redact(text);
    redacted ||= one.redacted;
    return one.text;
  };
  let cut = cleaned.some((one) => one.replaced);
  const content = visible.flatMap((block, index): readonly Block[] => {
    const limited = cutText(masked.texts[index] ?? "");
    cut ||= limited.cut;
    return withText(withName(block, name), limited.text, includeTools);
  });
  const shown = { ...row, ...shownNames(entry, name), content };
  return { entry: shown, cut, redacted, omitted: false };
}

/** A name is what somebody chose to be called. */
function shownNames({ sender, model }: TranscriptEntry, mask: (text: string) => string) {
  return given({
    sender: sender?.name === undefined ? undefined : { ...sender, name: cleanTitle(mask(sender.name)) },
    model: model === undefined ? undefined : mask(model),
  });
}

/** Models call tools that there are not, and files say of what type they are. */
function withName(block: Block, mask: (text: string) => string): Block {
  if (block.type === "attachment") return { ...block, mediaType: mask(block.mediaType) };
  return "name" in block ? { ...block, name: mask(block.name) } : block;
}

/** The words of a block, before masking: a secret inside a removed part needs no mask, and one that is cut in half would escape it. */
function clean(
  block: Block,
  role: TranscriptEntry["role"],
  includeTools: boolean,
): { text: string; replaced: boolean } {
  if (block.type === "attachment") return { text: block.name ?? "", replaced: false };
  if (block.type === "toolCall")
    return { text: includeTools ? (JSON.stringify(block.arguments) ?? "") : "", replaced: false };
  const prose = role === "assistant" && block.type === "text" ? sanitize(block.text) : block.text;
  const plain = stripControl(prose);
  const text = replaceDataUrls(plain);
  return { text, replaced: text !== plain };
}

function withText(block: Block, text: string, includeTools: boolean): readonly Block[] {
  switch (block.type) {
    case "text":
      return text === "" ? [] : [{ type: "text", text }];
    case "toolResult":
      return [{ ...block, text }];
    case "toolCall":
      return [
        includeTools
          ? { ...block, arguments: jsonOrText(text) }
          : { type: "toolCall", id: block.id, name: block.name },
      ];
    case "attachment":
      return [block.name === undefined ? block : { ...block, name: text }];
    case "thinking":
      return [];
    default:
      return block satisfies never;
  }
}

/** Arguments that were cut are no JSON any more; what is left of them is shown as text. */
function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function omitted({ usage: _usage, sender: _sender, model: _model, ...entry }: TranscriptEntry): Shown {
  return {
    entry: { ...entry, content: [{ type: "text", text: OMITTED_MESSAGE }] },
    cut: true,
    redacted: false,
    omitted: true,
  };
}
