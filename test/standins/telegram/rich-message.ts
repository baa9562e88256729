import type { MessageEntity, RichBlock, RichBlockTableCell, RichText } from "grammy/types";
import { badRequest } from "./api-error.ts";
import { findEntities } from "./found-entities.ts";
import { type Payload, recordOf, textOf } from "./payload.ts";
import { isBlock, isHeading, levelsOf, parseRichHtml, type RichNode, unreadable } from "./rich-html.ts";

const MOST_CHARACTERS = 32_768;
const MOST_BLOCKS = 500;
const MOST_LEVELS = 16;
const MOST_COLUMNS = 20;

/** A rich message as it is stored: its blocks, and what people see of it. */
export interface StoredRichMessage {
  readonly html: string;
  readonly blocks: RichBlock[];
  readonly text: string;
  readonly entities: readonly MessageEntity[];
}

/** Reads what `sendRichMessage` was given; refuses what is wrong or too large. */
export function checkedRichMessage(payload: Payload): StoredRichMessage {
  const given = recordOf(payload, "rich_message") ?? {};
  const forms = ["html", "markdown", "blocks"].filter((form) => given[form] !== undefined);
  if (forms.length !== 1) throw unreadable("exactly one of html, markdown and blocks must be given");
  if (forms[0] !== "html") throw unreadable("this stand-in reads html only");
  const html = textOf(given, "html");
  const message = parseRichHtml(html);
  if (/\p{Surrogate}/u.test(html)) throw badRequest("strings must be encoded in UTF-8");
  checkSize(message);
  const blocks = blocksOf(message.children);
  const { text, entities } = new Shown(blocks);
  if (text.trim() === "") throw badRequest("message text is empty");
  if (text.length > MOST_CHARACTERS) throw unreadable("the text is too long");
  const found = given.skip_entity_detection === true ? [] : findEntities(text, entities);
  return { html, blocks, text, entities: [...entities, ...found] };
}

function checkSize(message: RichNode): void {
  const nodes = allIn(message);
  const blocks = nodes.filter((node) => isBlock(node) || node.name === "li" || node.name === "tr");
  if (blocks.length > MOST_BLOCKS) throw unreadable("too many blocks");
  if (levelsOf(message) > MOST_LEVELS) throw unreadable("too many levels");
  if (nodes.some(({ name, children }) => name === "tr" && children.length > MOST_COLUMNS)) {
    throw unreadable("too many columns");
  }
}

function allIn({ children }: RichNode): readonly RichNode[] {
  return children.flatMap((child) => (typeof child === "string" ? [] : [child, ...allIn(child)]));
}

function blocksOf(children: readonly (RichNode | string)[]): RichBlock[] {
  const blocks: RichBlock[] = [];
  let line: (RichNode | string)[] = [];
  const endLine = () => {
    const text = inline(line);
    line = [];
    if (text.length > 0) blocks.push({ type: "paragraph", text });
  };
  for (const child of children) {
    if (typeof child === "string" || !isBlock(child)) {
      line.push(child);
      continue;
    }
    endLine();
    blocks.push(blockOf(child));
  }
  endLine();
  return blocks;
}

function blockOf(node: RichNode): RichBlock {
  const { name, children, attributes } = node;
  if (isHeading(node)) {
    return { type: "heading", text: inline(children), size: Number(name.slice(1)) as 1 | 2 | 3 | 4 | 5 | 6 };
  }
  switch (name) {
    case "hr":
      return { type: "divider" };
    case "pre":
      return preformatted(node);
    case "blockquote":
      return { type: "blockquote", blocks: blocksOf(children) };
    case "table":
      return { type: "table", cells: elementsIn(node).map((row) => elementsIn(row).map(cellOf)) };
    case "ul":
      return { type: "list", items: elementsIn(node).map((item) => itemOf(item, "•")) };
    case "ol": {
      const start = Number(attributes.get("start") ?? 1);
      const items = elementsIn(node).map((item, at) => itemOf(item, `${start + at}.`));
      return { type: "list", items };
    }
    default:
      return { type: "paragraph", text: inline(children) };
  }
}

const elementsIn = ({ children }: RichNode) => children.filter((child) => typeof child !== "string");

function preformatted(node: RichNode): RichBlock {
  const [code] = elementsIn(node);
  const language = code?.attributes.get("class")?.replace(/^language-/, "");
  const text = (code ?? node).children.join("");
  return { type: "pre", text, ...(language ? { language } : {}) };
}

function itemOf({ children }: RichNode, label: string) {
  const [first, ...others] = children;
  if (typeof first !== "object" || first.name !== "input") return { label, blocks: blocksOf(children) };
  const checked = first.attributes.has("checked") ? { is_checked: true as const } : {};
  return { label, blocks: blocksOf(others), has_checkbox: true as const, ...checked };
}

function cellOf({ name, attributes, children }: RichNode): RichBlockTableCell {
  const align = attributes.get("align") ?? "left";
  if (align !== "left" && align !== "center" && align !== "right") throw unreadable(`align="${align}"`);
  const text = inline(children);
  return {
    align,
    valign: "top",
    ...(name === "th" ? { is_header: true } : {}),
    ...(text.length > 0 ? { text } : {}),
  };
}

const STYLES: ReadonlyMap<string, "bold" | "italic" | "underline" | "strikethrough" | "spoiler" | "code"> =
  new Map([
    ["b", "bold"],
    ["i", "italic"],
    ["u", "underline"],
    ["s", "strikethrough"],
    ["tg-spoiler", "spoiler"],
    ["code", "code"],
  ]);

/** White space of any length is one space, as in any HTML. */
function inline(children: readonly (RichNode | string)[]): RichText[] {
  return children.map(spanOf).filter((span) => span !== "");
}

function spanOf(child: RichNode | string): RichText {
  if (typeof child === "string") return child.replace(/[ \t\n]+/g, " ");
  const text = inline(child.children);
  const style = STYLES.get(child.name);
  if (style) return { type: style, text };
  if (child.name === "br") return "\n";
  const url = child.attributes.get("href");
  if (url === undefined) throw unreadable(`this stand-in does not read "${child.name}"`);
  const userId = url.match(/^tg:\/\/user\?id=(\d+)$/)?.[1];
  if (userId === undefined) return { type: "url", text, url };
  return { type: "text_mention", text, user: { id: Number(userId), is_bot: false, first_name: "" } };
}

/** What people see. */
class Shown {
  text = "";
  readonly entities: MessageEntity[] = [];

  constructor(blocks: readonly RichBlock[]) {
    this.#blocks(blocks);
  }

  #blocks(blocks: readonly RichBlock[]): void {
    blocks.forEach((block, at) => {
      if (at > 0) this.text += "\n";
      this.#block(block);
    });
  }

  #block(block: RichBlock): void {
    if (block.type === "list") {
      block.items.forEach(({ label, blocks, has_checkbox, is_checked }, at) => {
        const box = has_checkbox ? `[${is_checked ? "x" : " "}] ` : "";
        this.text += `${at > 0 ? "\n" : ""}${label} ${box}`;
        this.#blocks(blocks);
      });
    } else if (block.type === "table") {
      for (const row of block.cells) {
        for (const { text = "" } of row) {
          this.#span(text);
          this.text += "\t";
        }
        this.text += "\n";
      }
    } else if (block.type === "blockquote") this.#blocks(block.blocks);
    else if (block.type === "divider") this.text += "---";
    else if ("text" in block) this.#span(block.text, block.type === "pre" ? "pre" : undefined);
  }

  #span(span: RichText, type?: "pre"): void {
    const offset = this.text.length;
    if (typeof span === "string") this.text += span;
    else if (Array.isArray(span)) for (const part of span) this.#span(part);
    else if ("text" in span) this.#span(span.text);
    const length = this.text.length - offset;
    if (type) this.entities.push({ type, offset, length });
    if (typeof span === "string" || Array.isArray(span)) return;
    if (span.type === "code") this.entities.push({ type: "code", offset, length });
    if (span.type === "url") this.entities.push({ type: "text_link", offset, length, url: span.url });
    if (span.type === "text_mention") {
      this.entities.push({ type: "text_mention", offset, length, user: span.user });
    }
  }
}
