import type { Frame, Mark, TextPiece } from "./piece.ts";

export interface Measure {
  /** Per part, in UTF-16 units of what the platform counts. */
  readonly limit: number;
  /** Turns text into markup. */
  readonly escape?: (text: string, isCode: boolean) => string;
  /** What a text counts: its units, or more than that for some of them. */
  readonly weigh?: (text: string) => number;
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

/** A part's text with its open frames. */
interface Framed {
  readonly text: string;
  readonly used: number;
  readonly top: Level | undefined;
}

interface Fit {
  readonly end: number;
  readonly size: number;
}

/** Where text is to go: what it costs there, and how much room there is. */
interface Space {
  readonly measure: Measure;
  readonly prefix: string;
  readonly room: number;
}

const NO_MARKS: Frame = { open: "", close: "" };
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
  const framed = withFrames(part, part.top);
  if (!framed) return { part, end: from };
  const { measure, isBlank } = part;
  const { top } = framed;
  const isCode = piece.kind === "code";
  const prefix = (isCode ? top?.codePrefix : top?.textPrefix) ?? "";
  const left = room - (framed.used - part.used);
  const fits = fitting({ measure, prefix, room: left }, piece.text, start, to);
  if (fits.end === start) return { part, end: from };
  const added = piece.text.slice(start, fits.end);
  const escaped = measure.escape?.(added, isCode) ?? added;
  const next = {
    measure,
    text: framed.text + (top && added.includes("\n") ? prefixed(escaped, isCode, top) : escaped),
    used: framed.used + fits.size,
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

/** With `level` and those around it written; undefined if they do not fit. A part without text has less of them or none instead. */
function withFrames(part: Part, level: Level | undefined): Framed | undefined {
  if (!level || level.written) return { text: part.text, used: part.used, top: level };
  const outer = withFrames(part, level.parent);
  if (!outer) return undefined;
  const chosen = choose(level, outer, part.measure) ?? (part.text === "" ? NOTHING : undefined);
  if (!chosen) return undefined;
  return {
    text: outer.text + chosen.opening,
    used: outer.used + chosen.size,
    top: written(level, outer.top, chosen.frame),
  };
}

const NOTHING = { frame: NO_MARKS, opening: "", size: 0 };

function choose({ frame, isBegun }: Level, { used, top }: Framed, { limit }: Measure) {
  for (let candidate: Frame | undefined = frame; candidate; candidate = candidate.bare) {
    const opening = marks(isBegun ? (candidate.reopen ?? candidate.open) : candidate.open, top);
    const size = opening.length + marks(candidate.close, top).length;
    const isSmall = !candidate.bare || size <= limit / 2;
    if (isSmall && size <= limit - used - MIN_TEXT) return { frame: candidate, opening, size };
  }
  return undefined;
}

/** How much of the text fits, and what that counts. No unit counts less than 1. */
function fitting(space: Space, text: string, start: number, to: number): Fit {
  const most = Math.min(to, start + Math.max(space.room, 0));
  const size = sizeOf(text.slice(start, most), space);
  if (size <= space.room) return { end: most, size };
  return bisected(space, text, start, most);
}

function bisected(space: Space, text: string, start: number, beyond: number): Fit {
  let fit = { end: start, size: 0 };
  for (let above = beyond; above - fit.end > 1; ) {
    const end = Math.floor((fit.end + above) / 2);
    const size = fit.size + sizeOf(text.slice(fit.end, end), space);
    if (size <= space.room) fit = { end, size };
    else above = end;
  }
  return fit;
}

function sizeOf(text: string, { measure, prefix }: Space): number {
  const size = measure.weigh?.(text) ?? text.length;
  return prefix === "" ? size : size + prefix.length * lineBreaksIn(text);
}

function lineBreaksIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
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
