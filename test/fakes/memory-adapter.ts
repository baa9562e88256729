import { randomUUID } from "node:crypto";
import { deliveryFailed } from "../../src/core/errors.ts";
import { given } from "../../src/core/given.ts";
import type {
  Acceptance,
  AdapterHost,
  Address,
  ChannelAdapter,
  ChatType,
  InboundMessage,
  OutboundMessage,
} from "../../src/core/ports/chat.ts";
import type { NativeCommandCall } from "../../src/core/ports/command.ts";

export interface Sent {
  readonly to: Address;
  readonly text: string;
  readonly deliveryId: string;
  readonly choices?: OutboundMessage["choices"];
  readonly replyToId?: string;
}

/** A platform in memory: remembers what was sent and typed, and lets people write. */
export interface MemoryAdapter extends ChannelAdapter {
  readonly sent: readonly Sent[];
  readonly typed: readonly Address[];
  /** Titles of the threads that were opened, in order; their ids are "thread-1", "thread-2", … */
  readonly threads: readonly string[];
  /** A person writes. Resolves with what the core made of it. */
  says(text: string, message?: Partial<InboundMessage>): Promise<Acceptance>;
  /** The person uses a native command. */
  calls(
    name: string,
    text: string,
    message?: Partial<InboundMessage> & Pick<NativeCommandCall, "isPublic">,
  ): Promise<string | undefined>;
  /** The next sends fail like this, one each. */
  failNext(...failures: readonly ("permanent" | "transient" | "uncertain")[]): void;
  readonly host: AdapterHost;
}

export function memoryAdapter(
  channel: string,
  options: {
    accountId?: string;
    repeatable?: boolean;
    ownIds?: readonly string[];
    /** The account's own id, as other accounts hear it. */
    botId?: string;
    /** Other accounts hear a message under the same id, as in rooms of most platforms. */
    sharesIds?: boolean;
    /** Called when a send has begun and the platform has not got it yet. */
    whileSending?: () => void;
    /** Called when a part has been sent and confirmed, and the send has not ended yet. */
    onceSent?: () => void;
  } = {},
): MemoryAdapter {
  const { accountId = "default", repeatable = true } = options;
  const sent: Sent[] = [];
  const typed: Address[] = [];
  const threads: string[] = [];
  const failures: ("permanent" | "transient" | "uncertain")[] = [];
  let host: AdapterHost | undefined;
  let count = 0;
  // A platform never gives an id twice, however often our side is restarted.
  const life = randomUUID().slice(0, 8);

  const started = (): AdapterHost => {
    if (host === undefined) throw new Error("The board has not been started.");
    return host;
  };

  async function send(to: Address, message: OutboundMessage): Promise<{ messageIds: readonly string[] }> {
    // Every text is one part here.
    if ((message.fromPart ?? 0) > 0) return { messageIds: [] };
    await message.onPart?.({ part: 0, state: "starting" });
    options.whileSending?.();
    const failure = failures.shift();
    if (failure !== undefined) {
      throw deliveryFailed(`The platform failed (${failure}).`, {
        retryable: failure === "transient",
        partsSent: 0,
        ...(failure === "uncertain" ? { uncertain: true } : {}),
      });
    }
    const { markdown: text, deliveryId, choices, replyToId } = message;
    sent.push({ to, text, deliveryId, ...given({ choices, replyToId }) });
    const messageId = `${channel}-${sent.length}`;
    await message.onPart?.({ part: 0, state: "sent", messageId });
    options.onceSent?.();
    return { messageIds: [messageId] };
  }

  async function createThread(at: Address, title: string): Promise<Address> {
    if (failures.shift() !== undefined) {
      throw deliveryFailed("Missing permission.", { retryable: false, partsSent: 0 });
    }
    threads.push(title);
    return { ...at, threadId: `thread-${threads.length}` };
  }

  return {
    channel,
    accountId,
    repeatableForMs: repeatable ? Number.POSITIVE_INFINITY : 0,
    maxTextLength: 2000,
    sent,
    typed,
    threads,
    get host() {
      return started();
    },
    ...(options.ownIds === undefined ? {} : { ownIds: () => options.ownIds ?? [] }),
    hasPosted: ({ sender }) => sender.id === options.botId,
    sharesIds: ({ chatType }) => options.sharesIds === true && chatType !== "direct",
    async start(given) {
      host = given;
    },
    async stop() {
      host = undefined;
    },
    send,
    async setTyping(at) {
      typed.push(at);
    },
    // WhatsApp has none.
    ...(channel === "whatsapp" ? {} : { createThread }),
    says(text, message = {}) {
      count += 1;
      return started().onMessage(inbound(channel, accountId, text, `${life}-m${count}`, message));
    },
    async calls(name, text, message = {}) {
      count += 1;
      const { id, from, sender, locale } = inbound(channel, accountId, text, `${life}-c${count}`, message);
      const reply = await started().onCommand({
        id,
        name,
        text,
        from,
        sender,
        ...given({ locale, isPublic: message.isPublic }),
      });
      return reply?.text;
    },
    failNext: (...next) => {
      failures.push(...next);
    },
  };
}

/** An address on a platform; direct unless said otherwise. */
export function at(channel: string, chatType: ChatType, chatId: string, threadId?: string): Address {
  return { channel, accountId: "default", chatType, chatId, ...(threadId === undefined ? {} : { threadId }) };
}

/** The owner of the tests on every platform. */
export const OWNER = "1001";

function inbound(
  channel: string,
  accountId: string,
  text: string,
  id: string,
  message: Partial<InboundMessage>,
): InboundMessage {
  return {
    id,
    from: { channel, accountId, chatType: "direct", chatId: OWNER },
    sender: { id: OWNER, name: "Olivia", isBot: false },
    text,
    addressed: true,
    sentAtMs: 1_700_000_000_000,
    ...message,
  };
}
