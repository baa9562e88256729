import type { MessageEntity } from "grammy/types";
import { shorten } from "../../core/text/shorten.ts";
import { fieldOf } from "../field-of.ts";

/** UTF-16 units; Telegram's own limit. */
const MOST_UNITS = 32_768;
/** Twice what Telegram allows. */
const MOST_LEVELS = 32;

export interface RichText {
  readonly text: string;
  /** Who is named, and commands. */
  readonly entities: readonly MessageEntity[];
}

/**
 * What people read in the blocks of a rich message: a line for each paragraph, item and row. Of kinds that Telegram has added since, the text within them. Takes
 * anything, and never throws.
 */
export function richText(blocks: unknown): RichText {
  const reader = new Reader();
  reader.blocks(blocks, 0);
  return reader;
}

class Reader implements RichText {
  readonly entities: MessageEntity[] = [];
  text = "";
  /** What follows stands on the same line: it is the text of a list item. */
  #joins = false;

  blocks(blocks: unknown, level: number): void {
    if (level > MOST_LEVELS) return;
    for (const block of listOf(blocks)) {
      this.#newLine();
      this.#block(block, level + 1);
    }
  }

  #block(block: unknown, level: number) {
    switch (fieldOf(block, "type")) {
      case "list":
        return this.#items(fieldOf(block, "items"), level);
      case "table":
        return this.#table(block, level);
      case "divider":
        return this.#add("---");
      default:
        return this.#anyBlock(block, level);
    }
  }

  /** Telegram's blocks keep their text under few names. */
  #anyBlock(block: unknown, level: number) {
    const caption = fieldOf(block, "caption");
    for (const text of [fieldOf(block, "summary"), fieldOf(block, "text"), fieldOf(block, "expression")]) {
      this.#line(text, level);
    }
    for (const button of listOf(fieldOf(block, "buttons"))) this.#line(fieldOf(button, "text"), level);
    this.blocks(fieldOf(block, "blocks"), level);
    for (const text of [fieldOf(caption, "text"), fieldOf(caption, "credit"), fieldOf(block, "credit")]) {
      this.#line(text, level);
    }
  }

  #items(items: unknown, level: number) {
    for (const item of listOf(items)) {
      this.#newLine();
      const label = fieldOf(item, "label");
      if (typeof label === "string" && label !== "") this.#add(`${label} `);
      if (fieldOf(item, "has_checkbox") === true)
        this.#add(fieldOf(item, "is_checked") === true ? "[x] " : "[ ] ");
      this.#joins = true;
      this.blocks(fieldOf(item, "blocks"), level + 1);
      this.#joins = false;
    }
  }

  #table(table: unknown, level: number): void {
    this.#line(fieldOf(table, "caption"), level);
    for (const row of listOf(fieldOf(table, "cells"))) {
      this.#newLine();
      listOf(row).forEach((cell, column) => {
        if (column > 0) this.#add(" | ");
        this.#span(fieldOf(cell, "text"), level + 1);
      });
    }
  }

  #line(text: unknown, level: number): void {
    if (text === undefined) return;
    this.#newLine();
    this.#span(text, level);
  }

  #span(span: unknown, level: number) {
    if (typeof span === "string") return this.#add(span);
    if (span === undefined || level > MOST_LEVELS) return;
    for (const part of listOf(span)) this.#span(part, level + 1);
    const offset = this.text.length;
    for (const name of ["text", "alternative_text", "expression"]) this.#span(fieldOf(span, name), level + 1);
    this.#span(fieldOf(fieldOf(span, "button"), "text"), level + 1);
    const entity = entityOf(span, offset, this.text.length - offset);
    if (entity) this.entities.push(entity);
  }

  #newLine(): void {
    if (!this.#joins && this.text !== "" && !this.text.endsWith("\n")) this.#add("\n");
  }

  #add(text: string): void {
    this.#joins = false;
    this.text += shorten(text, Math.max(MOST_UNITS - this.text.length, 0));
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entityOf(span: unknown, offset: number, length: number): MessageEntity | undefined {
  if (length === 0) return undefined;
  const type = fieldOf(span, "type");
  if (type === "mention" || type === "bot_command") return { type, offset, length };
  const userId = fieldOf(fieldOf(span, "user"), "id");
  if (type !== "text_mention" || typeof userId !== "number") return undefined;
  return { type, offset, length, user: { id: userId, is_bot: false, first_name: "" } };
}
