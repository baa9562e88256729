import type { Message, Poll, Sticker } from "discord.js";
import type { Attachment, QuotedText } from "../../core/ports/chat.ts";

export const forwardReference = 1;

/** Sticker formats by Discord's number. */
const stickerTypes: Readonly<Record<number, string>> = {
  1: "image/png",
  2: "image/apng",
  3: "video/lottie+json",
  4: "image/gif",
};

/** What the snapshot of a forwarded message has too. */
type Shown = Pick<Message, "content" | "poll" | "embeds" | "attachments" | "stickers">;

/** What a message says in words: its text, its poll, or where it has neither what its embeds show. */
export function wordsOf({ content, poll, embeds }: Shown): string {
  const said = [content.trim(), poll ? pollText(poll) : ""].filter(Boolean).join("\n");
  return said || embeds.map(embedText).filter(Boolean).join("\n\n");
}

/** Files and stickers, as far as they can be told without opening them; a forwarded message shows those of the original. */
export function attachmentsOf(message: Message): readonly Attachment[] {
  const shown = forwardedIn(message) ?? message;
  const files = shown.attachments.map(({ contentType, size, name }) => ({
    mediaType: contentType ?? "application/octet-stream",
    sizeBytes: size,
    name,
  }));
  return [...files, ...shown.stickers.map(stickerPlaceholder)];
}

/** What is forwarded, or what a reply answers as far as the client knows it. */
export function quotedIn(message: Message): QuotedText | undefined {
  const forwarded = forwardedIn(message);
  const original = repliedToIn(message);
  const shown = forwarded ?? original;
  const text = shown ? wordsOf(shown) : "";
  if (text === "") return undefined;
  if (forwarded || !original) return { text, forwarded: true };
  const senderName = original.member?.displayName ?? original.author.displayName;
  return { text, senderName, forwarded: false };
}

/** Hosts with an older discord.js have no snapshots. */
function forwardedIn({ reference, messageSnapshots }: Message): Shown | undefined {
  return reference?.type === forwardReference ? messageSnapshots?.first() : undefined;
}

function repliedToIn({ channel, reference }: Message): Message | undefined {
  const original = reference?.messageId ? channel.messages.cache.get(reference.messageId) : undefined;
  return original?.partial ? undefined : original;
}

function stickerPlaceholder({ name, format }: Sticker): Attachment {
  return { mediaType: stickerTypes[format] ?? "image/png", name: `sticker: ${name}` };
}

function pollText({ question, answers }: Poll): string {
  const choices = answers.map(({ text, emoji }) => `- ${text ?? emoji?.name ?? ""}`);
  return [`Poll: ${question.text ?? ""}`, ...choices].join("\n");
}

function embedText({ title, description, fields }: Message["embeds"][number]): string {
  const lines = fields.map(({ name, value }) => `${name}: ${value}`);
  return [title, description, ...lines].filter(Boolean).join("\n");
}
