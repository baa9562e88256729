import type { Attachment, QuotedText } from "../../core/ports/chat.ts";
import type { ContextInfo, Media, Place, Poll, WhatsAppContent, WireNumber } from "./socket.ts";

/** Of a shared list of contacts; the sender decides how long it is. */
const MOST_CONTACTS = 20;

/** What a message says, wherever WhatsApp put it. */
export interface Said {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly quoted?: QuotedText;
  readonly replyToId?: string;
  /** Who wrote the message that this one answers, as a jid. */
  readonly replyToAuthor?: string;
  readonly mentions: readonly string[];
}

/**
 * Text and files of a message. A place and a contact are files, a poll is its question with the answers. Undefined for everything that
 * says nothing: reactions, votes, live positions, pins, calls, invitations, system notices.
 */
export function readContent(content: WhatsAppContent | null | undefined): Said | undefined {
  const message = unwrapped(content);
  if (!message) return undefined;
  const text = textOf(message);
  const attachments = attachmentsOf(message);
  if (text === "" && attachments.length === 0) return undefined;
  const context = contextOf(message);
  const mentions = context?.mentionedJid ?? [];
  // Forwarded words are somebody else's: they are quoted, never the sender's own text.
  if (context?.isForwarded) {
    return { text: "", attachments, mentions: [], ...(text ? { quoted: { text, forwarded: true } } : {}) };
  }
  return { text, attachments, mentions, ...(context?.stanzaId ? replyOf(context, context.stanzaId) : {}) };
}

function replyOf(context: ContextInfo, replyToId: string) {
  const text = textOf(unwrapped(context.quotedMessage) ?? {});
  return {
    replyToId,
    ...(context.participant ? { replyToAuthor: context.participant } : {}),
    ...(text ? { quoted: { text, forwarded: false } } : {}),
  };
}

/** The message inside its wrappers (disappearing, view once, with caption, edited); undefined when there is none. */
export function unwrapped(content: WhatsAppContent | null | undefined): WhatsAppContent | undefined {
  let message = content ?? undefined;
  // Deeper than a client nests them; bounded because the sender decides.
  for (let depth = 0; depth < 5 && message; depth++) {
    const wrapper: { readonly message?: WhatsAppContent | null } | null | undefined =
      message.ephemeralMessage ??
      message.viewOnceMessage ??
      message.viewOnceMessageV2 ??
      message.viewOnceMessageV2Extension ??
      message.documentWithCaptionMessage ??
      message.editedMessage ??
      message.groupMentionedMessage ??
      message.botInvokeMessage ??
      message.associatedChildMessage ??
      message.lottieStickerMessage ??
      message.pollCreationMessageV4;
    if (!wrapper) return message;
    message = wrapper.message ?? undefined;
  }
  return message;
}

export function numberOf(value: WireNumber): number {
  return typeof value === "number" ? value : (value?.toNumber() ?? 0);
}

function textOf(message: WhatsAppContent): string {
  const text =
    message.conversation ||
    message.extendedTextMessage?.text ||
    mediaOf(message)?.caption ||
    tappedText(message) ||
    businessText(message) ||
    pollText(pollOf(message)) ||
    message.eventMessage?.name;
  return text?.trim() ?? "";
}

/** What a tapped button says is what the person says. */
function tappedText(message: WhatsAppContent): string | null | undefined {
  return (
    message.buttonsResponseMessage?.selectedDisplayText ||
    message.templateButtonReplyMessage?.selectedDisplayText ||
    message.listResponseMessage?.title ||
    message.interactiveResponseMessage?.body?.text
  );
}

/** Messages with buttons, as only business accounts send them. */
function businessText(message: WhatsAppContent): string | null | undefined {
  const template =
    message.templateMessage?.hydratedTemplate ?? message.templateMessage?.hydratedFourRowTemplate;
  return (
    message.buttonsMessage?.contentText ||
    message.listMessage?.description ||
    template?.hydratedContentText ||
    message.interactiveMessage?.body?.text
  );
}

function pollOf(message: WhatsAppContent): Poll | undefined {
  return (
    message.pollCreationMessage ?? message.pollCreationMessageV2 ?? message.pollCreationMessageV3 ?? undefined
  );
}

function pollText(poll: Poll | undefined): string {
  if (!poll?.name) return "";
  const options = (poll.options ?? []).map(({ optionName }) => `- ${optionName ?? ""}`);
  return [poll.name, ...options].join("\n");
}

function contextOf(message: WhatsAppContent): ContextInfo | undefined {
  const carrier =
    message.extendedTextMessage ??
    mediaOf(message) ??
    message.buttonsResponseMessage ??
    message.templateButtonReplyMessage ??
    message.listResponseMessage ??
    message.interactiveResponseMessage ??
    message.buttonsMessage ??
    message.listMessage ??
    message.templateMessage ??
    message.interactiveMessage ??
    message.locationMessage ??
    message.contactMessage ??
    message.contactsArrayMessage ??
    message.eventMessage ??
    pollOf(message);
  return carrier?.contextInfo ?? undefined;
}

function mediaOf(message: WhatsAppContent): Media | undefined {
  return (
    message.imageMessage ??
    message.videoMessage ??
    message.ptvMessage ??
    message.audioMessage ??
    message.documentMessage ??
    message.stickerMessage ??
    undefined
  );
}

function attachmentsOf(message: WhatsAppContent): readonly Attachment[] {
  const media = mediaOf(message);
  if (media) return [fileOf(media)];
  const place = message.locationMessage;
  if (place) return [placeOf(place)];
  const contacts = message.contactMessage ? [message.contactMessage] : message.contactsArrayMessage?.contacts;
  return (contacts ?? []).slice(0, MOST_CONTACTS).map(({ displayName }) => ({
    mediaType: "text/vcard",
    ...(displayName ? { name: displayName } : {}),
  }));
}

function fileOf(media: Media): Attachment {
  const sizeBytes = numberOf(media.fileLength);
  return {
    mediaType: media.mimetype || "application/octet-stream",
    ...(sizeBytes > 0 ? { sizeBytes } : {}),
    ...(media.fileName ? { name: media.fileName } : {}),
  };
}

/** Named by what the person sees, then by where it is. */
function placeOf({ name, address, degreesLatitude, degreesLongitude }: Place): Attachment {
  const position = `${degreesLatitude ?? 0},${degreesLongitude ?? 0}`;
  return { mediaType: "application/geo+json", name: [name, address, position].filter(Boolean).join(", ") };
}
