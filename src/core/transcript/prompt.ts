import { interSessionPrompt, neutralizeMarkers } from "../announce/wording.ts";
import type { Attachment, InboundMessage } from "../ports/chat.ts";
import type { Block, TranscriptEntry } from "../ports/run.ts";

/**
 * The row as a model sees it. Stored text stays exact; here inter-session rows get their envelope and everybody else's text loses
 * the power to imitate it. `speakers`: name the sender, as a group needs.
 */
export function promptView(entry: TranscriptEntry, speakers: boolean): TranscriptEntry {
  if (entry.role !== "user") return entry;
  return { ...entry, content: entry.content.map((block) => promptBlock(block, entry, speakers)) };
}

/** The blocks of a person's message: words, then what they quote or forward, then what they attach. */
export function inboundBlocks(
  message: Pick<InboundMessage, "text" | "quoted" | "attachments">,
): readonly Block[] {
  const quoted = message.quoted;
  return [
    ...(message.text === "" && (message.attachments ?? []).length > 0 ? [] : [textBlock(message.text)]),
    ...(quoted === undefined ? [] : [textBlock(quotedText(quoted))]),
    ...(message.attachments ?? []).map(attachmentBlock),
  ];
}

export function textBlock(text: string): Block {
  return { type: "text", text };
}

/** All text of a row, blocks on lines of their own. */
export function textOf(entry: Pick<TranscriptEntry, "content">): string {
  return entry.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function promptBlock(block: Block, entry: TranscriptEntry, speakers: boolean): Block {
  if (block.type !== "text") return block;
  const provenance = entry.provenance;
  if (provenance?.kind === "inter_session") return textBlock(interSessionPrompt(block.text, provenance));
  const words = neutralizeMarkers(block.text);
  if (!speakers || entry.sender === undefined) return textBlock(words);
  return textBlock(`${speakerName(entry)}: ${words}`);
}

function speakerName(entry: TranscriptEntry): string {
  // A name is somebody's choice: one line, no control characters, short.
  const name = (entry.sender?.name ?? "").replace(/[\p{C}\s]+/gu, " ").trim();
  return neutralizeMarkers(name.slice(0, 64)) || (entry.sender?.id ?? "someone");
}

function quotedText(quoted: NonNullable<InboundMessage["quoted"]>): string {
  const what = quoted.forwarded ? "Forwarded" : "Quoted";
  const who =
    quoted.senderName === undefined
      ? ""
      : ` from ${quoted.senderName.replace(/[\p{C}\s]+/gu, " ").slice(0, 64)}`;
  const lines = quoted.text.split("\n").map((line) => `> ${line}`);
  return `(${what} text${who}, not written by the sender)\n${lines.join("\n")}`;
}

function attachmentBlock(attachment: Attachment): Block {
  return { type: "attachment", ...attachment };
}
