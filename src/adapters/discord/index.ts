import type { Channel, ChatInputCommandInteraction, Client, ClientEvents, Message } from "discord.js";
import { LRUCache } from "lru-cache";
import { messageOf } from "../../core/errors.ts";
import type {
  AdapterHost,
  Address,
  ChannelAdapter,
  DeliveryReceipt,
  OutboundMessage,
} from "../../core/ports/chat.ts";
import { answerCommand } from "./command-call.ts";
import { toDeliveryError } from "./delivery-error.ts";
import { toInbound } from "./inbound.ts";
import { applyMenu, type MenuPlan, planMenu } from "./menu.ts";
import { renderDiscord } from "./outbound.ts";
import { sendParts } from "./send.ts";
import { createThread } from "./thread.ts";

export interface DiscordAdapterOptions {
  /** The host's own client, logged in or not. The adapter never logs it in and never destroys it. */
  readonly client: Client;
  /** Tells several bots of one installation apart. Default `"default"`. */
  readonly accountId?: string;
}

/** Connects a discord.js client. Direct messages reach it only if the client was made with `Partials.Channel`. */
export function discordAdapter({ client, accountId = "default" }: DiscordAdapterOptions): ChannelAdapter {
  return new DiscordAdapter(client, accountId);
}

class DiscordAdapter implements ChannelAdapter {
  readonly channel = "discord";
  readonly accountId: string;
  readonly maxTextLength = 2000;
  /** Discord honours an enforced nonce for a few minutes. */
  readonly repeatableForMs = 120_000;
  readonly #client: Client;
  #isStarted = false;
  readonly #removeListeners: (() => void)[] = [];
  /** The last hand-over of each Discord channel (a thread is one too): the next one waits for it. */
  readonly #lastOf = new Map<string, Promise<void>>();
  /** Calls into the host that stop has to wait for. */
  readonly #underWay = new Set<Promise<void>>();
  /** A resumed connection repeats messages; the client notices only those that it still has in its cache. */
  readonly #seen = new LRUCache<string, true>({ max: 5000 });
  readonly #stopped = new AbortController();
  #menu: Promise<MenuPlan | undefined> | undefined;

  constructor(client: Client, accountId: string) {
    this.#client = client;
    this.accountId = accountId;
  }

  async start(host: AdapterHost): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const connected = () => {
      host.onReady();
      this.#menu ??= this.#register(host);
    };
    this.#listen("messageCreate", (message) => this.#queue(message, host));
    this.#listen("interactionCreate", (interaction) => {
      if (interaction.isChatInputCommand()) this.#track(this.#answer(interaction, host));
    });
    this.#listen("shardReady", connected);
    this.#listen("shardResume", connected);
    for (const advice of adviceFor(this.#client)) host.logger.warn({ accountId: this.accountId }, advice);
    if (this.#client.isReady()) connected();
  }

  /** Messages that have already arrived are still handed over before this resolves. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    for (const remove of this.#removeListeners.splice(0)) remove();
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  send(to: Address, message: OutboundMessage, signal: AbortSignal): Promise<DeliveryReceipt> {
    const parts = renderDiscord(message.markdown, this.maxTextLength);
    return sendParts(this.#client.rest, roomOf(to), parts, message, signal);
  }

  secrets(): readonly string[] {
    return this.#client.token ? [this.#client.token] : [];
  }

  async setTyping(at: Address): Promise<void> {
    try {
      await this.#client.rest.post(`/channels/${roomOf(at)}/typing`);
    } catch (error) {
      throw toDeliveryError(error, 0);
    }
  }

  createThread(at: Address, title: string): Promise<Address> {
    return createThread(this.#client, at, title);
  }

  #listen<Name extends keyof ClientEvents>(
    name: Name,
    listener: (...args: ClientEvents[Name]) => void,
  ): void {
    this.#client.on(name, listener);
    this.#removeListeners.push(() => this.#client.off(name, listener));
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  #queue(message: Message, host: AdapterHost): void {
    const { channelId } = message;
    const before = this.#lastOf.get(channelId) ?? Promise.resolve();
    const turn = before.then(() => this.#handOver(message, host));
    this.#lastOf.set(channelId, turn);
    const forget = () => {
      if (this.#lastOf.get(channelId) === turn) this.#lastOf.delete(channelId);
    };
    this.#track(turn.then(forget));
  }

  /** Never rejects, or the channel would stay blocked. */
  async #handOver(message: Message, host: AdapterHost): Promise<void> {
    try {
      await this.#learnParent(message.channel, host);
      const context = { accountId: this.accountId, botId: this.#client.user?.id ?? "" };
      const inbound = toInbound(message, context);
      if (!inbound || this.#seen.has(inbound.id)) return;
      this.#seen.set(inbound.id, true);
      const acceptance = await host.onMessage(inbound);
      if (acceptance === "failed") this.#seen.delete(inbound.id);
    } catch (error) {
      this.#seen.delete(message.id);
      host.logger.error({ messageId: message.id, error: messageOf(error) }, "A message was not handed over.");
    }
  }

  /** Answers our own commands only: neither the host's, nor one of its that has the name of ours. */
  async #answer(interaction: ChatInputCommandInteraction, host: AdapterHost): Promise<void> {
    const spec = host.commands.find(({ name }) => name === interaction.commandName);
    if (!host.showMenus || !spec || interaction.commandGuildId) return;
    const menu = await this.#menu;
    if (menu?.foreign.has(interaction.commandId)) return;
    const { accountId, maxTextLength } = this;
    await answerCommand(interaction, { spec, host, accountId, maxTextLength });
  }

  /** Asks Discord for the parent of a thread that the client has never heard of; discord.js then keeps it on the channel. */
  async #learnParent(channel: Channel, host: AdapterHost): Promise<void> {
    if (!channel.isThread() || channel.parentId) return;
    try {
      await this.#client.channels.fetch(channel.id, { force: true });
    } catch (error) {
      const details = { threadId: channel.id, error: messageOf(error) };
      host.logger.warn(details, "The parent of a thread is unknown; the thread counts as a channel for now.");
    }
  }

  /** Resolves with the plan as soon as the host's commands are known; the changes follow by themselves. */
  async #register(host: AdapterHost): Promise<MenuPlan | undefined> {
    const { rest, application } = this.#client;
    if (!application || !host.showMenus) return undefined;
    const failed = (error: unknown) => {
      this.#menu = undefined;
      if (this.#stopped.signal.aborted) return;
      const advice =
        "The command menu could not be brought up to date. It is tried again with the next connection.";
      host.logger.warn({ error: messageOf(error) }, advice);
    };
    try {
      const plan = await planMenu(rest, application.id, host.commands);
      for (const command of plan.foreign.values()) {
        const advice = `The bot has its own /${command}, so ours is not in the menu. Typed as a message it still works.`;
        host.logger.warn({ command }, advice);
      }
      applyMenu(rest, application.id, plan, this.#stopped.signal).catch(failed);
      return plan;
    } catch (error) {
      failed(error);
      return undefined;
    }
  }
}

/** A Discord channel id: threads are channels of their own. */
const roomOf = (at: Address) => at.threadId ?? at.chatId;

const channelPartial = 1;
const guildMessages = 1 << 9;
const directMessages = 1 << 12;
const messageContent = 1 << 15;

/** What the host left out when it made the client, and what will be missing therefore. */
function adviceFor({ options: { intents, partials = [] } }: Client): readonly string[] {
  const advice: string[] = [];
  if (intents.has(guildMessages) && !intents.has(messageContent)) {
    advice.push(
      "Without the MessageContent intent, server messages that do not mention the bot arrive empty.",
    );
  }
  if (intents.has(directMessages) && !partials.includes(channelPartial)) {
    advice.push("Without Partials.Channel in the client's options, direct messages do not arrive.");
  }
  return advice;
}
