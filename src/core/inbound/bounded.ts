import { z } from "zod";
import { given } from "../given.ts";
import { HEARD_UNITS, MOST_ATTACHMENTS, NAME_UNITS, QUOTE_UNITS } from "../limits.ts";
import type { Attachment, InboundMessage, QuotedText, Sender } from "../ports/chat.ts";
import type { Logger } from "../ports/host.ts";
import { oneLine } from "../text/lines.ts";
import { shorten } from "../text/shorten.ts";
import { cutText } from "../transcript/limits.ts";

const text = z.string().optional().catch(undefined);
const list = z.array(z.string()).optional().catch(undefined);
const quote = z.object({ text: z.string(), senderName: text, forwarded: z.boolean().catch(true) });
const attachment = z.object({
  mediaType: z.string().catch("application/octet-stream"),
  sizeBytes: z.number().optional().catch(undefined),
  name: text,
});

type Needed = "id" | "from" | "sender" | "text" | "addressed" | "sentAtMs";

/** What a message may have. A platform's next version must not cost a message: what is malformed is left out, or counts as the stricter case. */
const extras = z.object({
  replyToId: text,
  chatTitle: text,
  guildId: text,
  locale: text,
  replay: z.boolean().optional().catch(true),
  quoted: quote.transform(given).optional().catch(undefined),
  attachments: z.array(attachment.transform(given)).optional().catch(undefined),
} satisfies Record<Exclude<keyof InboundMessage, Needed>, z.ZodType>);

const extrasOfSender = z.object({
  name: text,
  altIds: list,
  roleIds: list,
  anonymous: z.boolean().optional().catch(true),
} satisfies Record<Exclude<keyof Sender, "id" | "isBot">, z.ZodType>);

/**
 * The message within the limits of what is stored, names of people, chats and files as one line each. Nothing is refused, and what platforms really send
 * comes back as it is.
 */
export function boundedMessage(received: InboundMessage, logger: Logger): InboundMessage {
  const message = wellFormed(received);
  const { text, sender, quoted, attachments, chatTitle } = message;
  if (text.length > HEARD_UNITS) {
    const { from, id: messageId } = message;
    logger.warn({ from, messageId, units: text.length }, "A message was too long and has been cut");
  }
  return {
    ...message,
    text: cutText(text, HEARD_UNITS).text,
    sender: named(sender),
    ...given({
      quoted: quoted && boundedQuote(quoted),
      attachments: attachments && boundedList(attachments),
      chatTitle: nameLine(chatTitle),
    }),
  };
}

function wellFormed({
  id,
  from,
  sender: { id: senderId, isBot, ...ofSender },
  text,
  addressed,
  sentAtMs,
  ...others
}: InboundMessage): InboundMessage {
  const sender = { id: senderId, isBot, ...given(extrasOfSender.parse(ofSender)) };
  return { id, from, sender, text, addressed, sentAtMs, ...given(extras.parse(others)) };
}

function boundedQuote(quoted: QuotedText): QuotedText {
  const { text, senderName } = quoted;
  return {
    ...quoted,
    text: cutText(text, QUOTE_UNITS).text,
    ...given({ senderName: nameLine(senderName) }),
  };
}

/** The last one says how many are missing. */
function boundedList(attachments: readonly Attachment[]): readonly Attachment[] {
  const list = attachments.map((one) => ({ ...named(one), mediaType: nameLine(one.mediaType) ?? "" }));
  if (list.length <= MOST_ATTACHMENTS) return list;
  const shown = list.slice(0, MOST_ATTACHMENTS - 1);
  const name = `${list.length - shown.length} more attachments`;
  return [...shown, { mediaType: "application/octet-stream", name }];
}

function named<T extends Attachment | Sender>(one: T): T {
  return { ...one, ...given({ name: nameLine(one.name) }) };
}

function nameLine(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const line = oneLine(text);
  return shorten(line, NAME_UNITS);
}
