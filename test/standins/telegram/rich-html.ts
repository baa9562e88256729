import { badRequest } from "./api-error.ts";

/** An element of Rich HTML; a string is text. */
export interface RichNode {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: (RichNode | string)[];
}

const INLINE = "a b strong i em u ins s strike del code mark sub sup tg-spoiler br input".split(" ");
const BLOCKS = "h1 h2 h3 h4 h5 h6 p pre hr ul ol blockquote table".split(" ");
const HEADINGS = "h1 h2 h3 h4 h5 h6".split(" ");
/** What may stand in an element; in all others only inline elements. Text is not an element. */
const CONTENT: ReadonlyMap<string, readonly string[]> = new Map([
  ...["message", "li", "blockquote"].map((name) => [name, [...INLINE, ...BLOCKS]] as const),
  ["pre", ["code"]],
  ["ul", ["li"]],
  ["ol", ["li"]],
  ["table", ["tr"]],
  ["tr", ["th", "td"]],
]);
const WITHOUT_TEXT = new Set(["ul", "ol", "table", "tr"]);
const VOID = new Set(["br", "hr", "input"]);
const ATTRIBUTES: ReadonlyMap<string, readonly string[]> = new Map([
  ["a", ["href"]],
  ["code", ["class"]],
  ["ol", ["start"]],
  ["input", ["type", "checked"]],
  ["th", ["align"]],
  ["td", ["align"]],
]);
const KNOWN = new Set([...INLINE, ...BLOCKS, "li", "tr", "th", "td"]);
const NAMED: ReadonlyMap<string, string> = new Map([
  ["lt", "<"],
  ["gt", ">"],
  ["amp", "&"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", "\u00a0"],
]);

const TOKENS =
  /<\/(?<close>[a-z\d-]+)\s*>|<(?<open>[a-z][a-z\d-]*)(?<attributes>(?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*(?<slash>\/?)>|(?<bad><[^>]{0,20})|(?<text>[^<]+)/gi;

/**
 * Reads Rich HTML strictly: elements that Telegram documents for text, with their attributes, closed where they were opened, each where it may stand. Media,
 * buttons and the like are documented too, but refused here, as nothing of ours may send them.
 */
export function parseRichHtml(html: string): RichNode {
  const message: RichNode = { name: "message", attributes: new Map(), children: [] };
  const open = [message];
  for (const { groups = {} } of html.matchAll(TOKENS)) {
    const parent = open.at(-1) ?? message;
    if (groups.text !== undefined) addText(parent, groups.text);
    else if (groups.open !== undefined) addElement(open, parent, groups);
    else if (groups.close !== undefined && open.length > 1 && parent.name === groups.close) open.pop();
    else throw unreadable(`unexpected "${groups.bad ?? groups.close}"`);
  }
  const left = open.at(-1);
  if (left && left !== message) throw unreadable(`can't find the end of "${left.name}"`);
  return message;
}

export const unreadable = (reason: string) => badRequest(`can't parse rich message: ${reason}`);

function addText(parent: RichNode, raw: string): void {
  if (WITHOUT_TEXT.has(parent.name) && raw.trim() !== "") throw unreadable(`text in "${parent.name}"`);
  parent.children.push(decoded(raw));
}

function addElement(
  open: RichNode[],
  parent: RichNode,
  { open: name = "", attributes = "", slash }: Readonly<Record<string, string | undefined>>,
): void {
  if (!KNOWN.has(name)) throw unreadable(`unsupported tag "${name}"`);
  if (!(CONTENT.get(parent.name) ?? INLINE).includes(name)) {
    throw unreadable(`"${name}" can't stand in "${parent.name}"`);
  }
  const isFirst = parent.children.length === 0;
  if (name === "input" && !(parent.name === "li" && isFirst)) throw unreadable("a checkbox begins an item");
  if (slash && !VOID.has(name)) throw unreadable(`"${name}" has an end`);
  const node = { name, attributes: attributesOf(name, attributes), children: [] };
  parent.children.push(node);
  if (!VOID.has(name)) open.push(node);
}

function attributesOf(element: string, raw: string): ReadonlyMap<string, string> {
  const found = [...raw.matchAll(/([a-z-]+)(?:="([^"]*)")?/gi)].map(
    ([, name = "", value = ""]) => [name, decoded(value)] as const,
  );
  for (const [name] of found) {
    const isKnown = ATTRIBUTES.get(element)?.includes(name);
    if (!isKnown) throw unreadable(`unsupported attribute "${name}" of "${element}"`);
  }
  return new Map(found);
}

function decoded(raw: string): string {
  return raw.replace(/&(?:#(\d+)|#x([\da-f]+)|([a-z]*));?/gi, (whole, decimal, hex, name) => {
    if (decimal) return String.fromCodePoint(Number(decimal));
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    const character = whole.endsWith(";") ? NAMED.get(name) : undefined;
    if (character === undefined) throw unreadable(`unknown entity "${whole}"`);
    return character;
  });
}

export const isBlock = ({ name }: RichNode) => BLOCKS.includes(name);
export const isHeading = ({ name }: RichNode) => HEADINGS.includes(name);

/** Elements within each other, without those that hold nothing. */
export function levelsOf({ children }: RichNode): number {
  const levels = children.map((child) =>
    typeof child === "string" || VOID.has(child.name) ? 0 : 1 + levelsOf(child),
  );
  return Math.max(0, ...levels);
}
