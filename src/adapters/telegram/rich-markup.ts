import type { Frame, Piece } from "../../core/delivery/piece.ts";
import { telegramMarkup } from "./outbound.ts";

/** Telegram's own limits. It counts the text alone, here the markup counts too. */
const MOST_UNITS = 32_768;
const MOST_BLOCKS = 500;
const MOST_LEVELS = 16;
const MOST_COLUMNS = 20;

const VOID_TAGS = new Set(["br", "hr", "input"]);
const INLINE_TAGS = new Set(["a", "b", "i", "u", "s", "tg-spoiler", "code", "br", "input", "th", "td"]);
/** Text that stands in them directly is a block of its own. */
const CONTAINER_TAGS = new Set(["li", "blockquote"]);
/** What can be seen without any text in it. */
const SEEN_EMPTY = /^<(?:li|t[dhr]|hr|input)\b/;
const CELL = /^<t[dh]\b/;

/** Pieces written as one text, whatever its length. Marks around nothing are left out, unless they can be seen by themselves. */
export function toMarkup(pieces: readonly Piece[]): string {
  const markup = new Markup();
  for (const piece of pieces) markup.add(piece);
  return markup.toString();
}

class Markup {
  readonly #written: string[] = [];
  readonly #open: { readonly frame: Frame; readonly at: number }[] = [];

  add(piece: Piece) {
    switch (piece.kind) {
      case "open":
        this.#open.push({ frame: piece.frame, at: this.#written.length });
        this.#written.push(piece.frame.open);
        return;
      case "close":
        return this.#close();
      case "code":
        this.#written.push(telegramMarkup.escape(piece.text, true));
        return;
      case "text":
        this.#written.push(telegramMarkup.escape(piece.text, false).replaceAll("\n", this.#lineBreak()));
        return;
      default:
        return piece satisfies never;
    }
  }

  toString(): string {
    return this.#written.join("");
  }

  #close(): void {
    const ended = this.#open.pop();
    if (!ended) return;
    const isEmpty = this.#written.length === ended.at + 1;
    if (isEmpty && !SEEN_EMPTY.test(ended.frame.open)) this.#written.pop();
    else this.#written.push(ended.frame.close);
  }

  /** A cell has one line. */
  #lineBreak(): string {
    return this.#open.some(({ frame }) => CELL.test(frame.open)) ? " " : "<br>";
  }
}

interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
}

/** Whether a rich message may be as large. Every `<` begins a tag here, as text is escaped. */
export function isRoomFor(html: string): boolean {
  if (html.length > MOST_UNITS) return false;
  const tags = Array.from(html.matchAll(/<(\/?)([a-z][a-z\d-]*)[^>]*>/g), ([, slash, name = ""]) => ({
    name,
    isEnd: slash === "/",
  }));
  return blocksIn(tags) <= MOST_BLOCKS && levelsIn(tags) <= MOST_LEVELS && columnsIn(tags) <= MOST_COLUMNS;
}

function blocksIn(tags: readonly Tag[]): number {
  return tags
    .filter(({ name, isEnd }) => !isEnd && !INLINE_TAGS.has(name))
    .reduce((sum, { name }) => sum + (CONTAINER_TAGS.has(name) ? 2 : 1), 0);
}

function levelsIn(tags: readonly Tag[]): number {
  let level = 0;
  let most = 0;
  for (const { name, isEnd } of tags) {
    if (!VOID_TAGS.has(name)) level += isEnd ? -1 : 1;
    most = Math.max(most, level);
  }
  return most;
}

function columnsIn(tags: readonly Tag[]): number {
  let column = 0;
  let most = 0;
  for (const { name, isEnd } of tags) {
    if (name === "tr") column = 0;
    if ((name === "td" || name === "th") && !isEnd) column++;
    most = Math.max(most, column);
  }
  return most;
}
