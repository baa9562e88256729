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

export function toInbound(message: WebchatInbound, accountId: string): InboundMessage {
  const { id, chatId, threadId, chatType = "direct", sender, text, addressed, sentAtMs, ...about } = message;
  return {
    ...about,
    id,
    from: { channel: "webchat", accountId, chatType, chatId, ...given({ threadId }) },
    sender: { ...sender, isBot: sender.isBot ?? false },
    text,
    addressed: addressed ?? chatType === "direct",
    sentAtMs: sentAtMs ?? systemClock.now(),
  };
}
