/** Marks around a stretch of pieces: a style, a fence, a quote, a list item. Every part that holds some of it is marked. */
export interface Frame {
  readonly open: string;
  readonly close: string;
  /** Instead of `open`, where a later part goes on with it. */
  readonly reopen?: string;
  /** Begins every further line, code included. */
  readonly linePrefix?: string;
  /** Begins every further line that is neither blank nor code. */
  readonly indent?: string;
  /** The same with less, for parts that would hold more marks than text. */
  readonly bare?: Frame;
}

/** At a cut white space is dropped from text; from code only the one line break is. */
export interface TextPiece {
  readonly kind: "text" | "code";
  readonly text: string;
}

/** "close" ends the frame that was opened last. */
export type Mark = { readonly kind: "open"; readonly frame: Frame } | { readonly kind: "close" };

/** A rendered text is a list of pieces. */
export type Piece = TextPiece | Mark;

/** Before the UTF-16 unit `offset` of the piece `index`. */
export interface Position {
  readonly index: number;
  readonly offset: number;
}

/** A position in a text, where a part may end. */
export interface Cut extends Position {
  readonly piece: TextPiece;
}

/** Where the reading of the piece begins if it goes on from a position. */
export function startIn(index: number, from: Position): number {
  return index === from.index ? from.offset : 0;
}
