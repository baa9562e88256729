import { z } from "zod";
import { systemClock } from "../../core/clock.ts";
import { given } from "../../core/given.ts";
import type { Attachment, ChatType, InboundMessage } from "../../core/ports/chat.ts";

/** One room of your web pages: whatever your server calls a conversation. */
export interface WebchatPlace {
  readonly chatId: string;
  readonly threadId?: string;
  /** Default `"direct"`: one person and the bot. */
  readonly chatType?: ChatType;
}

/** What somebody wrote on a page. Your server knows who it was; the switchboard believes it. */
export interface WebchatInbound extends WebchatPlace {
  /** Unique within the chat; a second hand-over of the same id is a duplicate. */
  readonly id: string;
  readonly sender: { readonly id: string; readonly name?: string; readonly isBot?: boolean };
  readonly text: string;
  /** In groups: the bot is meant. Default `true` in direct chats, else `false`. */
  readonly addressed?: boolean;
  readonly replyToId?: string;
  readonly attachments?: readonly Attachment[];
  readonly chatTitle?: string;
  readonly locale?: string;
  /** Unix ms. Default now. */
  readonly sentAtMs?: number;
}

const id = z.string().min(1);
const line = z.string().optional();

/** What is not named here stays outside: a body from the network says nothing that only an adapter may say. */
const written = z.object({
  id,
  chatId: id,
  threadId: id.optional(),
  chatType: z.enum(["direct", "group", "channel"]).default("direct"),
  sender: z.object({ id, name: line, isBot: z.boolean().default(false) }),
  text: z.string(),
  addressed: z.boolean().optional(),
  replyToId: line,
  attachments: z
    .array(z.object({ mediaType: z.string(), sizeBytes: z.number().optional(), name: line }))
    .optional(),
  chatTitle: line,
  locale: line,
  sentAtMs: z.number().optional(),
});

/** The message as the core sees it, or why it is none. */
export function toInbound(
  message: unknown,
  accountId: string,
): { readonly inbound: InboundMessage } | { readonly problem: string } {
  const reading = written.safeParse(message);
  if (!reading.success) return { problem: z.prettifyError(reading.error) };
  const { chatId, threadId, chatType, sender, attachments, addressed, sentAtMs, ...about } = reading.data;
  const inbound = given({
    ...about,
    from: given({ channel: "webchat", accountId, chatType, chatId, threadId }),
    sender: given(sender),
    attachments: attachments?.map(given),
    addressed: addressed ?? chatType === "direct",
    sentAtMs: sentAtMs ?? systemClock.now(),
  });
  return { inbound };
}
