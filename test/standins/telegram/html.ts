import type { MessageEntity } from "grammy/types";
import { badRequest } from "./api-error.ts";

export interface FormattedText {
  readonly text: string;
  readonly entities: readonly MessageEntity[];
}

type SimpleType = MessageEntity.CommonMessageEntity["type"];

const SIMPLE_TAGS: ReadonlyMap<string, SimpleType> = new Map([
  ...["b", "strong"].map((tag) => [tag, "bold"] as const),
  ...["i", "em"].map((tag) => [tag, "italic"] as const),
  ...["u", "ins"].map((tag) => [tag, "underline"] as const),
  ...["s", "strike", "del"].map((tag) => [tag, "strikethrough"] as const),
  ...["tg-spoiler", "span"].map((tag) => [tag, "spoiler"] as const),
  ["code", "code"],
]);
const OTHER_TAGS = new Set(["a", "pre", "tg-emoji", "blockquote"]);
const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

const TOKENS = new RegExp(
  [
    /&(?:#(?<decimal>\d+)|#x(?<hex>[0-9a-f]+)|(?<named>lt|gt|amp|quot));/,
    /<\/(?<close>[a-z0-9-]*)\s*>/,
    /<(?<open>[a-z0-9-]+)(?<attributes>(?:\s+[a-z-]+(?:=(?:"[^"]*"|'[^']*'|[^\s"'>]+))?)*)\s*>/,
    /<(?<bad>[^\s>]*)/,
    /(?<plain>[^<&]+|&)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gi",
);

interface OpenTag {
  readonly name: string;
  readonly attributes: string;
  readonly offset: number;
  /** Of a code block, named by the `code` inside it. */
  language?: string;
}

/** Reads `parse_mode: "HTML"` as strictly as Telegram does: whatever is wrong is "can't parse entities". */
export function parseTelegramHtml(html: string): FormattedText {
  const entities: MessageEntity[] = [];
  const opened: OpenTag[] = [];
  let text = "";
  for (const { groups = {} } of html.matchAll(TOKENS)) {
    const { open, close, bad, attributes = "" } = groups;
    if (open !== undefined) {
      opened.push({ name: checkedTag(open), attributes, offset: text.length });
    } else if (close !== undefined) {
      const tag = opened.pop();
      if (!tag || (close && close.toLowerCase() !== tag.name))
        throw unparsable(`unmatched end tag "${close}"`);
      entities.push(...entityOf(tag, text.length - tag.offset, opened.at(-1)));
    } else if (bad !== undefined) {
      throw unparsable(`unsupported start tag "${bad}"`);
    } else {
      text += charactersOf(groups);
    }
  }
  const left = opened.at(-1);
  if (left) throw unparsable(`can't find end tag corresponding to start tag "${left.name}"`);
  return { text, entities: entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length) };
}

const unparsable = (reason: string) => badRequest(`can't parse entities: ${reason}`);

function checkedTag(name: string): string {
  const tag = name.toLowerCase();
  if (SIMPLE_TAGS.has(tag) || OTHER_TAGS.has(tag)) return tag;
  throw unparsable(`unsupported start tag "${name}"`);
}

function charactersOf({ plain, named, decimal, hex }: Readonly<Record<string, string | undefined>>): string {
  if (plain !== undefined) return plain;
  if (named !== undefined) return NAMED[named.toLowerCase()] ?? "";
  return String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex ?? "0", 16));
}

function entityOf(tag: OpenTag, length: number, parent: OpenTag | undefined): MessageEntity[] {
  if (length === 0) return [];
  const { offset } = tag;
  const simple = SIMPLE_TAGS.get(tag.name);
  if (tag.name === "code" && parent?.name === "pre") {
    const language = attributeOf(tag, "class")?.match(/^language-(.+)$/)?.[1];
    if (language) parent.language = language;
    return [];
  }
  if (simple) return [{ type: simple, offset, length }];
  if (tag.name === "pre") {
    return [{ type: "pre", offset, length, ...(tag.language ? { language: tag.language } : {}) }];
  }
  if (tag.name === "blockquote") return [{ type: "blockquote", offset, length }];
  const url = attributeOf(tag, "href");
  const userId = url?.match(/^tg:\/\/user\?id=(\d+)$/)?.[1];
  if (userId) {
    const user = { id: Number(userId), is_bot: false, first_name: "" };
    return [{ type: "text_mention", offset, length, user }];
  }
  return url ? [{ type: "text_link", offset, length, url }] : [];
}

function attributeOf(tag: OpenTag, name: string): string | undefined {
  const value = tag.attributes.match(new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)'|(\\S+))`, "i"));
  const raw = value?.[1] ?? value?.[2] ?? value?.[3];
  return raw?.replaceAll(/&(lt|gt|amp|quot);/g, (_, entity: string) => NAMED[entity] ?? "");
}
