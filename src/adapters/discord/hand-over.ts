import type { Channel, Client, Message, PartialMessage } from "discord.js";
import { LRUCache } from "lru-cache";
import { messageOf } from "../../core/errors.ts";
import type { AdapterHost, Address, InboundMessage, MessageChange } from "../../core/ports/chat.ts";
import { Lanes } from "../lanes.ts";
import { inTime } from "./in-time.ts";
import { type InboundContext, isEdit, toAddress, toEdit, toInbound, toRemoval } from "./inbound.ts";

interface HandOverParts {
  readonly client: Client;
  readonly host: AdapterHost;
  readonly accountId: string;
}

/**
 * Hands messages, and what becomes of them, to the core: in the order of their channel (a thread is one too), one after the
 * other, each message once. Nothing here rejects, or the channel would stay blocked.
 */
export class HandOver {
  readonly #parts: HandOverParts;
  readonly #lanes = new Lanes();
  /** A resumed connection repeats messages; the client notices only those that it still has in its cache. */
  readonly #seen = new LRUCache<string, true>({ max: 5000 });

  constructor(parts: HandOverParts) {
    this.#parts = parts;
  }

  message(message: Message): Promise<void> {
    return this.#inTurn(message, toInbound, (inbound) => this.#message(inbound));
  }

  async edit(before: Message | PartialMessage, after: Message): Promise<void> {
    if (isEdit(before, after)) await this.#inTurn(after, toEdit, (edit) => this.#change(edit));
  }

  removal(message: Message | PartialMessage): Promise<void> {
    return this.#inTurn(message, toRemoval, (removal) => this.#change(removal));
  }

  #change(change: MessageChange): Promise<void> {
    return this.#parts.host.onMessageChanged(change);
  }

  async #message(inbound: InboundMessage): Promise<void> {
    if (this.#seen.has(inbound.id)) return;
    this.#seen.set(inbound.id, true);
    try {
      const acceptance = await this.#parts.host.onMessage(inbound);
      if (acceptance === "failed") this.#seen.delete(inbound.id);
    } catch (error) {
      this.#seen.delete(inbound.id);
      throw error;
    }
  }

  /** Calls `read` at once, as discord.js changes the same object with the next edit, and `tell` when the turn has come. */
  async #inTurn<M extends Message | PartialMessage, News extends { readonly from: Address }>(
    message: M,
    read: (message: M, context: InboundContext) => News | undefined,
    tell: (news: News) => Promise<void>,
  ): Promise<void> {
    const { accountId, client, host } = this.#parts;
    const { id, channel, channelId } = message;
    try {
      const news = read(message, { accountId, botId: client.user?.id ?? "" });
      if (news === undefined) return;
      await this.#lanes.run(channelId, async () => {
        if (!(await this.#knowsParent(channel))) return;
        await tell({ ...news, from: toAddress(channel, accountId) ?? news.from });
      });
    } catch (error) {
      const details = { messageId: id, error: messageOf(error) };
      host.logger.error(details, "A message was not handed over.");
    }
  }

  /**
   * Asks Discord for the parent of a thread that the client has never heard of; discord.js then keeps it on the channel. Without it nobody can tell whose rules
   * hold in the thread, so that nothing in it is answered.
   */
  async #knowsParent(channel: Channel): Promise<boolean> {
    if (!channel.isThread() || channel.parentId) return true;
    const { client, host } = this.#parts;
    try {
      await inTime(client.channels.fetch(channel.id, { force: true }));
      return true;
    } catch (error) {
      const details = { threadId: channel.id, error: messageOf(error) };
      host.logger.error(
        details,
        "A message in a thread was not handed over: Discord did not tell its channel.",
      );
      return false;
    }
  }
}
