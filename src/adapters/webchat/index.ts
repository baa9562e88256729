import { messageOf } from "../../core/errors.ts";
import type { Acceptance, AdapterHost, Address, ChannelAdapter } from "../../core/ports/chat.ts";
import { Lanes } from "../lanes.ts";
import { toInbound, type WebchatInbound, type WebchatPlace } from "./inbound.ts";
import { type Post, placeOf, sendParts, type WebchatMessage } from "./send.ts";

export type { WebchatInbound, WebchatMessage, WebchatPlace };

export interface WebchatOptions {
  readonly post: Post;
  readonly typing?: (at: WebchatPlace) => void;
  /** Tells several web chats of one installation apart. Default `"default"`. */
  readonly accountId?: string;
  /** Whose messages are the bot's own, where your rooms echo everything. Default `"bot"`. */
  readonly botId?: string;
  /** UTF-16 units of one message. Default 16,000. */
  readonly maxTextLength?: number;
}

export interface WebchatAdapter extends ChannelAdapter {
  /**
   * Resolves when the message is durable. `"failed"`: not started, or the store is out of reach; hand it over again. What is no message (a field of the
   * wrong kind) never will be one: it is logged and `"ignored"`. Members that are not in the type are left out. Never rejects.
   */
  receive(message: WebchatInbound): Promise<Acceptance>;
  /** A page can be reached again: what waits, in whichever chat, is posted now. */
  reachable(): void;
}

/** A channel for web pages, in this process: your server brings messages in with `receive`, and out with `post`. */
export function webchatAdapter(options: WebchatOptions): WebchatAdapter {
  const { accountId = "default", botId = "bot", maxTextLength = 16_000, typing } = options;
  const lanes = new Lanes();
  let host: AdapterHost | undefined;

  async function receive(message: WebchatInbound): Promise<Acceptance> {
    if (host === undefined) return "failed";
    const { logger } = host;
    try {
      const read = toInbound(message, accountId);
      if ("problem" in read) {
        logger.error({ accountId, problem: read.problem }, "receive() was given what is no message.");
        return "ignored";
      }
      const { inbound } = read;
      if (inbound.sender.id === botId) return "ignored";
      return await lanes.run(inbound.from.chatId, async () => host?.onMessage(inbound) ?? "failed");
    } catch (error) {
      logger.error({ accountId, error: messageOf(error) }, "A message was not handed over.");
      return "failed";
    }
  }

  return {
    channel: "webchat",
    accountId,
    maxTextLength,
    // Ids derive from the delivery, for ever.
    repeatableForMs: Number.POSITIVE_INFINITY,
    async start(given) {
      host ??= given;
    },
    async stop() {
      host = undefined;
      await lanes.idle();
    },
    send: (to, message, signal) => sendParts(options.post, { to, message, maxTextLength }, signal),
    receive,
    reachable: () => host?.onReady(),
    ...(typing === undefined ? {} : { setTyping: async (at: Address) => typing(placeOf(at)) }),
  };
}
