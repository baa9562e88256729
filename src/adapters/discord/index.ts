import type { Client, ClientEvents } from "discord.js";
import type {
  AdapterHost,
  Address,
  ChannelAdapter,
  DeliveryReceipt,
  InboundMessage,
  OutboundMessage,
} from "../../core/ports/chat.ts";
import type { CommandSpec } from "../../core/ports/command.ts";
import { adviceFor } from "./advice.ts";
import { type Definition, toDefinition } from "./command-definition.ts";
import { HandOver } from "./hand-over.ts";
import { answerInteraction } from "./interactions.ts";
import { Menu } from "./menu.ts";
import { renderDiscord } from "./outbound.ts";
import { sendParts } from "./send.ts";
import { createThread } from "./thread.ts";
import { Typing } from "./typing.ts";

export interface DiscordAdapterOptions {
  /** The host's own client, logged in or not. The adapter never logs it in and never destroys it. */
  readonly client: Client;
  /** Tells several bots of one installation apart. Default `"default"`. */
  readonly accountId?: string;
  /** false: your own deploy script registers `discordCommands(...)`; the adapter only answers them. Default true. */
  readonly registerCommands?: boolean;
}

/** Connects a discord.js client. Direct messages reach it only if the client was made with `Partials.Channel`. */
export function discordAdapter(options: DiscordAdapterOptions): ChannelAdapter {
  return new DiscordAdapter(options);
}

/** The bodies with which Discord registers commands, for a script that puts them into a list with your own. Needs no client. */
export function discordCommands(specs: readonly CommandSpec[]): Definition[] {
  return specs.map(toDefinition);
}

class DiscordAdapter implements ChannelAdapter {
  readonly channel = "discord";
  readonly accountId: string;
  readonly maxTextLength = 2000;
  /** Discord honours an enforced nonce for a few minutes. */
  readonly repeatableForMs = 120_000;
  readonly #client: Client;
  readonly #registersCommands: boolean;
  readonly #typing: Typing;
  #isStarted = false;
  readonly #removeListeners: (() => void)[] = [];
  /** Calls into the host that stop has to wait for. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  constructor({ client, accountId = "default", registerCommands = true }: DiscordAdapterOptions) {
    this.#client = client;
    this.accountId = accountId;
    this.#registersCommands = registerCommands;
    this.#typing = new Typing(client.rest);
  }

  async start(host: AdapterHost): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const client = this.#client;
    const { accountId, maxTextLength } = this;
    const handOver = new HandOver({ client, host, accountId });
    const menu = new Menu({ client, host, signal: this.#stopped.signal });
    const connected = () => {
      this.#typing.retry();
      host.onReady();
      if (this.#registersCommands && host.showMenus) menu.update();
    };
    this.#listen("messageCreate", (message) => this.#track(handOver.message(message)));
    this.#listen("messageUpdate", (before, after) => this.#track(handOver.edit(before, after)));
    this.#listen("messageDelete", (message) => this.#track(handOver.removal(message)));
    this.#listen("messageDeleteBulk", (messages) => {
      for (const message of messages.values()) this.#track(handOver.removal(message));
    });
    this.#listen("interactionCreate", (interaction) => {
      this.#track(answerInteraction(interaction, menu, { host, accountId, maxTextLength }));
    });
    this.#listen("shardReady", connected);
    this.#listen("shardResume", connected);
    for (const advice of adviceFor(client)) host.logger.warn({ accountId }, advice);
    if (client.isReady()) connected();
  }

  /** Messages that have already arrived are still handed over before this resolves. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    for (const remove of this.#removeListeners.splice(0)) remove();
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async send(to: Address, message: OutboundMessage, signal: AbortSignal): Promise<DeliveryReceipt> {
    const roomId = roomOf(to);
    const parts = renderDiscord(message.markdown, this.maxTextLength);
    const receipt = await sendParts(this.#client.rest, { roomId, parts, message, signal });
    this.#typing.retry(roomId);
    return receipt;
  }

  hasPosted({ sender }: InboundMessage): boolean {
    return sender.id === this.#client.user?.id;
  }

  sharesIds({ chatType }: Address): boolean {
    return chatType !== "direct";
  }

  secrets(): readonly string[] {
    return this.#client.token ? [this.#client.token] : [];
  }

  setTyping(at: Address): Promise<void> {
    return this.#typing.show(roomOf(at));
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
}

/** A Discord channel id: threads are channels of their own. */
const roomOf = (at: Address) => at.threadId ?? at.chatId;
