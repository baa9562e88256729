import { markedPrompt, neutralizeMarkers } from "../announce/wording.ts";
import { given } from "../given.ts";
import type { Attachment, InboundMessage, QuotedText } from "../ports/chat.ts";
import type { Json } from "../ports/host.ts";
import type { Block, TranscriptEntry } from "../ports/run.ts";
import { linesOf, markedLines, oneLine } from "../text/lines.ts";

/**
 * The row as a model sees it. Stored text stays exact; here inter-session rows get their envelope and all other text, tool results and the agent's own
 * words too, loses the power to imitate it. `speakers`: name the sender, as a group needs.
 */
export function promptView(entry: TranscriptEntry, speakers: boolean): TranscriptEntry {
  return { ...entry, content: entry.content.map((block) => promptBlock(block, entry, speakers)) };
}

/** The blocks of a person's message: words, then what they quote or forward, then what they attach. */
export function inboundBlocks(
  message: Pick<InboundMessage, "text" | "quoted" | "attachments">,
): readonly Block[] {
  const { quoted, attachments = [] } = message;
  const others = [
    ...(quoted === undefined ? [] : [textBlock(quotedText(quoted))]),
    ...attachments.map(attachmentBlock),
  ];
  // Models refuse empty text; a row without any block would be no message.
  return message.text === "" && others.length > 0 ? others : [textBlock(message.text), ...others];
}

export function textBlock(text: string): Block {
  return { type: "text", text };
}

/** All text of a row, blocks on lines of their own. */
export function textOf(entry: Pick<TranscriptEntry, "content">): string {
  return entry.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** The same JSON value with every text in it changed; names of members stay. What has nothing to change comes back as it is. */
export function everyText(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) {
    const items = value.map((one) => everyText(one, change));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  return everyMember(value, change);
}

function everyMember(value: JsonObject, change: (text: string) => string): Json {
  let changed: Record<string, Json | undefined> | undefined;
  for (const name in value) {
    const member = value[name];
    const next = member === undefined ? undefined : everyText(member, change);
    if (next !== member) changed = { ...(changed ?? value), [name]: next };
  }
  return changed ?? value;
}

type JsonObject = { readonly [key: string]: Json | undefined };

// Array.isArray does not narrow a readonly array out of the union.
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function promptBlock(block: Block, entry: TranscriptEntry, speakers: boolean): Block {
  if (block.type === "toolResult") return { ...block, text: neutralizeMarkers(block.text) };
  if (block.type === "toolCall" && block.arguments !== undefined) {
    return { ...block, arguments: everyText(block.arguments, neutralizeMarkers) };
  }
  // The type of a file is as much its sender's choice as its name.
  if (block.type === "attachment") {
    const { name, mediaType } = block;
    return { ...block, mediaType: fieldOf(mediaType), ...given({ name: name && fieldOf(name) }) };
  }
  if (block.type !== "text") return block;
  const marked = entry.provenance && markedPrompt(block.text, entry.provenance);
  if (marked !== undefined) return textBlock(marked);
  const words = neutralizeMarkers(block.text);
  if (!speakers || entry.sender === undefined) return textBlock(words);
  return textBlock(`${speakerName(entry)}: ${hanging(words)}`);
}

/** Lines after the first stand in, so that no message can begin a line in somebody else's name. */
function hanging(words: string): string {
  return linesOf(words).join("\n  ");
}

function speakerName({ sender }: TranscriptEntry): string {
  const name = speakable(sender?.name ?? "") || speakable(sender?.id ?? "") || "someone";
  return neutralizeMarkers(name);
}

/** Colons, and what looks like one: behind a name they would begin what it says. */
const COLONS =
  /[:\u02d0\u02f8\u0589\u05c3\u0703\u0704\u1361\u16ec\u1804\u205a\u205d\u2236\u2237\u2982\ua789\ua4fd\ufe13\ufe30\ufe55\uff1a]/gu;

/** A name is somebody's choice: one line, nothing that nobody sees, at most 64 code points, and nothing that ends a name. */
function speakable(name: string): string {
  const line = name.replace(/[\p{C}\s]+/gu, " ").replace(COLONS, "·");
  return [...line.trim()].slice(0, 64).join("");
}

function fieldOf(text: string): string {
  return neutralizeMarkers(oneLine(text));
}

function quotedText({ text, senderName, forwarded }: QuotedText): string {
  const what = forwarded ? "Forwarded" : "Quoted";
  // In the parentheses of the heading a name has none.
  const name = speakable(senderName ?? "")
    .replaceAll("(", "[")
    .replaceAll(")", "]");
  const who = name === "" ? "" : ` from ${name}`;
  return `(${what} text${who}, not written by the sender)\n${markedLines(text, "> ")}`;
}

function attachmentBlock(attachment: Attachment): Block {
  return { type: "attachment", ...attachment };
}
