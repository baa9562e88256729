import type {
  Choice,
  CommandReply,
  CommandSpec,
  Completion,
  CompletionCall,
  NativeCommandCall,
} from "./command.ts";
import type { Logger } from "./host.ts";

export type ChatType = "direct" | "group" | "channel";

/**
 * One exact place on one platform. Ids are opaque outside the adapter that made them.
 * A Discord thread has chatId = parent channel and threadId = thread; a Telegram topic chatId = group and threadId = topic
 * ("1" = General). Guild channels are "channel", Telegram and WhatsApp groups are "group".
 */
export interface Address {
  readonly channel: string;
  readonly accountId: string;
  readonly chatType: ChatType;
  readonly chatId: string;
  readonly threadId?: string;
}

export interface Sender {
  /** Stable platform id: snowflake, Telegram user id, `+digits` or a LID for WhatsApp. Never a name. */
  readonly id: string;
  /** Other ids of the same person (WhatsApp LID beside phone number). */
  readonly altIds?: readonly string[];
  readonly name?: string;
  readonly isBot: boolean;
  /** The platform cannot tell which person this is (anonymous admin, channel post): never an owner. */
  readonly anonymous?: boolean;
  readonly roleIds?: readonly string[];
}

export interface Attachment {
  readonly mediaType: string;
  readonly sizeBytes?: number;
  readonly name?: string;
}

/** Text that the message quotes or forwards: somebody else's words, never the sender's. */
export interface QuotedText {
  readonly text: string;
  readonly senderName?: string;
  readonly forwarded: boolean;
}

export interface InboundMessage {
  /** Unique within the chat. */
  readonly id: string;
  readonly from: Address;
  readonly sender: Sender;
  readonly text: string;
  /** The bot is meant: direct chat, native mention, or reply to one of the bot's messages. */
  readonly addressed: boolean;
  readonly sentAtMs: number;
  readonly replyToId?: string;
  readonly quoted?: QuotedText;
  readonly attachments?: readonly Attachment[];
  readonly chatTitle?: string;
  readonly guildId?: string;
  /** BCP 47 tag of the person's client, where the platform tells. */
  readonly locale?: string;
  /** Caught up after a gap and old: recorded, never a command, never answered. */
  readonly replay?: boolean;
}

/** What became of an inbound message. All but "failed" (the store could not take it) need no second hand-over. */
export type Acceptance = "run" | "context" | "command" | "duplicate" | "ignored" | "failed";

/** A crash between the two can be told from one that came earlier, and what was sent keeps its id. */
export type PartProgress =
  | { readonly part: number; readonly state: "starting" }
  | { readonly part: number; readonly state: "sent"; readonly messageId: string };

export interface OutboundMessage {
  /** Platform idempotency derives from it and the part number. */
  readonly deliveryId: string;
  readonly markdown: string;
  readonly replyToId?: string;
  /** Drawn as buttons below the last part where the platform has them, else left out: the text says what can be typed. */
  readonly choices?: readonly Choice[];
  /** Parts before this index were sent by an earlier call and are skipped. */
  readonly fromPart?: number;
  /** Called before and after each part. */
  readonly onPart?: (progress: PartProgress) => Promise<void>;
}

/** Ids of the messages that this call made, in order. */
export interface DeliveryReceipt {
  readonly messageIds: readonly string[];
}

/** A message that was edited or removed on the platform after it had been handed over. */
export interface MessageChange {
  readonly id: string;
  readonly from: Address;
  readonly change: "edited" | "deleted";
  readonly text?: string;
}

/** What the core offers an adapter. No callback ever rejects. */
export interface AdapterHost {
  /** Resolves when the message is accepted (durable), not when an agent has answered. */
  onMessage(message: InboundMessage): Promise<Acceptance>;
  /** The reply for the person who called (a menu entry, a button), or undefined when there is nothing to say. */
  onCommand(call: NativeCommandCall): Promise<CommandReply | undefined>;
  /** What the person may mean by what is typed so far, at most 25, best first; nothing for whoever may not use the command. Within a second. */
  onComplete(call: CompletionCall): Promise<readonly Completion[]>;
  /** Whether it is kept; else it is to be told again. */
  onChatMoved(from: Address, to: Address): Promise<boolean>;
  /** Two ids belong to one person (WhatsApp phone number and LID), and neither any longer to whoever else it was joined with. */
  onSamePerson(channel: string, id: string, altId: string): Promise<void>;
  onMessageChanged(change: MessageChange): Promise<void>;
  /** The platform can be reached again: parked deliveries are tried now. */
  onReady(): void;
  /** The commands that are ours; whatever else begins with a slash is the host's. */
  readonly commands: readonly CommandSpec[];
  /** false: ours are typed only, and the platform's menus stay as they are. */
  readonly showMenus: boolean;
  readonly logger: Logger;
}

/**
 * Connects one bot, which the host application owns, to the core.
 * - start is called once; messages of one chat are handed over in platform order; the bot's own are never handed over.
 * - stop removes what start added and leaves the bot connected; a second stop does nothing; afterwards the host is not called again.
 * - send delivers every part in order or rejects with DELIVERY_FAILED (see DeliveryFailure); an aborted signal ends it.
 */
export interface ChannelAdapter {
  readonly channel: string;
  readonly accountId: string;
  /** Longest text of one message in the platform's own unit. */
  readonly maxTextLength: number;
  /** How long the platform recognises a repeated part by its id, so that a send which a crash cut off may be repeated. 0 = not at all. */
  readonly repeatableForMs: number;
  start(host: AdapterHost): Promise<void>;
  stop(): Promise<void>;
  send(to: Address, message: OutboundMessage, signal: AbortSignal): Promise<DeliveryReceipt>;
  /** Ids of the account itself, where its own chat counts as the owner's (WhatsApp). */
  ownIds?(): readonly string[];
  /**
   * Whether this account has posted what another account of the same platform hears. True from before anybody can have heard it: the platform's answer to the
   * send may come later than the message.
   */
  hasPosted?(heard: InboundMessage): boolean | Promise<boolean>;
  /** Whether every account in this chat hears a message under the same id. Without it: no. */
  sharesIds?(at: Address): boolean;
  /** Exact credentials of the live bot, to be masked wherever text leaves. */
  secrets?(): readonly string[];
  setTyping?(at: Address): Promise<void>;
  createThread?(at: Address, title: string): Promise<Address>;
}
