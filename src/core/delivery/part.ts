import type { Frame, Mark, TextPiece } from "./piece.ts";

export interface Measure {
  /** Per part, in UTF-16 units of what the platform counts. */
  readonly limit: number;
  /** Turns text into markup. */
  readonly escape?: (text: string, isCode: boolean) => string;
  /** What one UTF-16 unit of text counts; 1 without it. */
  readonly weigh?: (unit: number) => number;
}

/** A frame that is open, within those that were open before it. */
interface Level {
  readonly parent: Level | undefined;
  readonly frame: Frame;
  /** An earlier part holds its beginning. */
  readonly isBegun: boolean;
  /** What of it was written in this part. */
  readonly written: Frame | undefined;
  readonly codePrefix: string;
  readonly textPrefix: string;
}

/**
 * One part in the making; never changes, so that earlier states can be gone back to. Frames are written when text follows, so
 * none is empty; from then on their closing marks are counted too.
 */
export interface Part {
  readonly measure: Measure;
  readonly text: string;
  readonly used: number;
  /** Nothing in it could be seen. */
  readonly isBlank: boolean;
  readonly top: Level | undefined;
}

export interface Added {
  readonly part: Part;
  /** Where the text ends that found room. */
  readonly end: number;
}

const NO_MARKS: Frame = { open: "", close: "" };
const LINE_BREAK = 10;
/** No frame is written that would leave less than this for the text in it. */
const MIN_TEXT = 2;

/** A part without text; it goes on with the frames that are open at the end of `previous`. */
export function emptyPart(measure: Measure, previous?: Part): Part {
  return { measure, text: "", used: 0, isBlank: true, top: begun(previous?.top) };
}

/** Opens a frame, or ends the one that was opened last. */
export function withMark({ measure, text, used, isBlank, top }: Part, mark: Mark): Part {
  if (mark.kind === "open") return { measure, text, used, isBlank, top: unwritten(mark.frame, false, top) };
  const closing = top?.written ? marks(top.written.close, top.parent) : "";
  return { measure, text: text + closing, used, isBlank, top: top?.parent };
}

/** Adds the units from `from` to `to` as far as the room allows, and tells where that ends. */
export function withText(
  part: Part,
  piece: TextPiece,
  { from, to, room = roomOf(part) }: { from: number; to: number; room?: number },
): Added {
  const start = part.text === "" && piece.kind === "text" ? afterSpace(piece.text, from, to) : from;
  if (start === to) return { part, end: to };
  const framed = withFrames(part);
  if (!framed) return { part, end: from };
  const { measure, text, used, isBlank, top } = framed;
  const isCode = piece.kind === "code";
  const prefix = (isCode ? top?.codePrefix : top?.textPrefix) ?? "";
  const fits = fitting(measure, prefix, piece.text, { start, to, room: room - (used - part.used) });
  if (fits.end === start) return { part, end: from };
  const added = piece.text.slice(start, fits.end);
  const escaped = measure.escape?.(added, isCode) ?? added;
  const next = {
    measure,
    text: text + (top && added.includes("\n") ? prefixed(escaped, isCode, top) : escaped),
    used: used + fits.size,
    isBlank: isBlank && !/\S/.test(added),
    top,
  };
  return { part: next, end: fits.end };
}

/** The text with every frame closed. */
export function textOf(part: Part): string {
  let { text, top } = part;
  for (; top; top = top.parent) if (top.written) text += marks(top.written.close, top.parent);
  return text;
}

function roomOf({ measure, used }: Part): number {
  return measure.limit - used;
}

/** With every open frame written; undefined if they do not fit. A part without text has less of them or none instead. */
function withFrames(part: Part): Part | undefined {
  if (!part.top || part.top.written) return part;
  const { measure, isBlank } = part;
  const pending: Level[] = [];
  let { text, used } = part;
  let top: Level | undefined = part.top;
  for (; top && !top.written; top = top.parent) pending.push(top);
  for (let level = pending.pop(); level; level = pending.pop()) {
    const chosen = choose(level, top, { measure, used }) ?? (part.text === "" ? nothing : undefined);
    if (!chosen) return undefined;
    text += chosen.opening;
    used += chosen.size;
    top = written(level, top, chosen.frame);
  }
  return { measure, text, used, isBlank, top };
}

const nothing = { frame: NO_MARKS, opening: "", size: 0 };

function choose(
  { frame, isBegun }: Level,
  parent: Level | undefined,
  at: { measure: Measure; used: number },
) {
  const { limit } = at.measure;
  for (const candidate of frame.bare ? [frame, frame.bare] : [frame]) {
    const opening = marks(isBegun ? (candidate.reopen ?? candidate.open) : candidate.open, parent);
    const size = opening.length + marks(candidate.close, parent).length;
    const isSmall = !candidate.bare || size <= limit / 2;
    if (isSmall && size <= limit - at.used - MIN_TEXT) return { frame: candidate, opening, size };
  }
  return undefined;
}

function fitting(
  { weigh }: Measure,
  prefix: string,
  text: string,
  { start, to, room }: { start: number; to: number; room: number },
): { readonly end: number; readonly size: number } {
  if (!weigh && prefix === "") {
    const end = Math.min(to, start + Math.max(room, 0));
    return { end, size: end - start };
  }
  const lineWeight = 1 + prefix.length;
  let size = 0;
  let end = start;
  for (; end < to; end++) {
    const unit = text.charCodeAt(end);
    const weight = unit === LINE_BREAK ? lineWeight : (weigh?.(unit) ?? 1);
    if (size + weight > room) break;
    size += weight;
  }
  return { end, size };
}

function unwritten(frame: Frame, isBegun: boolean, parent: Level | undefined): Level {
  return { parent, frame, isBegun, written: undefined, codePrefix: "", textPrefix: "" };
}

function written(level: Level, parent: Level | undefined, frame: Frame): Level {
  const { linePrefix, indent } = frame;
  return {
    parent,
    frame: level.frame,
    isBegun: level.isBegun,
    written: frame,
    codePrefix: (parent?.codePrefix ?? "") + (linePrefix ?? ""),
    textPrefix: (parent?.textPrefix ?? "") + (linePrefix ?? indent ?? ""),
  };
}

function begun(level: Level | undefined): Level | undefined {
  if (!level) return undefined;
  return unwritten(level.frame, level.isBegun || level.written !== undefined, begun(level.parent));
}

/** A part does not begin with white space, except in code. */
function afterSpace(text: string, from: number, to: number): number {
  const skipped = text.slice(from, to).search(/\S/);
  return skipped < 0 ? to : from + skipped;
}

function marks(text: string, parent: Level | undefined): string {
  return parent && text.includes("\n") ? prefixed(text, true, parent) : text;
}

function prefixed(text: string, isCode: boolean, { codePrefix, textPrefix }: Level): string {
  if (textPrefix === "") return text;
  const prefix = isCode ? codePrefix : textPrefix;
  return text.replace(/\n(?=(\n?))/g, (_, next: string) => `\n${next ? codePrefix : prefix}`);
}
