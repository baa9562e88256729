import type { Bot, Context, NextFunction } from "grammy";
import { systemClock } from "../../core/clock.ts";
import { SwitchboardError } from "../../core/errors.ts";
import type {
  AdapterHost,
  Address,
  ChannelAdapter,
  DeliveryReceipt,
  InboundMessage,
  OutboundMessage,
} from "../../core/ports/chat.ts";
import type { Clock } from "../../core/ports/host.ts";
import { Lanes } from "../lanes.ts";
import { Albums } from "./albums.ts";
import { ChatMoves, countsForAll } from "./chat-moves.ts";
import { saidBy, toDeliveryError } from "./delivery-error.ts";
import { type TelegramEvent, toChange, toInbound, toMove } from "./inbound.ts";
import { mergeMenus } from "./menu.ts";
import { NativeCalls } from "./native-calls.ts";
import { Posts } from "./posts.ts";
import { RichMessages } from "./rich-messages.ts";
import { type Room, sendParts } from "./send.ts";
import { withSingleCalls } from "./single-calls.ts";
import { createTopic } from "./topic.ts";

export { telegramCommands } from "./menu.ts";

export interface TelegramAdapterOptions<C extends Context> {
  /** The host's own bot, polling or on a webhook. The adapter never starts it and never stops it. */
  readonly bot: Bot<C>;
  /** Tells several bots of one installation apart. Default `"default"`. */
  readonly accountId?: string;
  /**
   * Which messages are for the agents: what they answer does not reach the host's own handlers. Other messages do; of those,
   * the agents read along in groups. Default: direct chats and messages that name the bot or reply to it, except commands
   * that are not ours, which are the host's alone.
   */
  readonly answers?: (message: InboundMessage) => boolean;
  /**
   * Tables are sent as rich messages (Bot API 10.1), with real columns. Default false: a client that does not know such messages shows them empty or as "not
   * supported" (older and third-party clients, and some versions for the web and macOS), Telegram does not tell which client somebody reads with, and the
   * sender never hears of it. A table that Telegram does not take as a rich message, or that is too long for one, is sent as without this.
   */
  readonly richMessages?: boolean;
}

/**
 * Connects a grammY bot. Make it before the bot's own handlers: it places one middleware, which lets everything pass until the
 * switchboard starts and after it has stopped.
 */
export function telegramAdapter<C extends Context>(
  options: TelegramAdapterOptions<C>,
  clock: Clock = systemClock,
): ChannelAdapter {
  const { bot, accountId = "default", answers, richMessages = false } = options;
  const adapter = new TelegramAdapter(bot.api, { accountId, answers, richMessages, clock });
  try {
    bot.use((ctx, next) => adapter.gate(ctx, next));
  } catch {
    // grammY's own words speak of listeners within listeners, which is not what happened here.
    const message = "The bot is running already. Call telegramAdapter({ bot }) before bot.start().";
    throw new SwitchboardError("CONFIG_INVALID", message);
  }
  return adapter;
}

interface AdapterParts {
  readonly accountId: string;
  readonly answers: ((message: InboundMessage) => boolean) | undefined;
  readonly richMessages: boolean;
  readonly clock: Clock;
}

class TelegramAdapter implements ChannelAdapter {
  readonly channel = "telegram";
  readonly accountId: string;
  readonly maxTextLength = 4096;
  readonly repeatableForMs = 0;
  readonly #api: Bot["api"];
  readonly #answers: ((message: InboundMessage) => boolean) | undefined;
  readonly #moves = new ChatMoves();
  readonly #posts: Posts;
  readonly #rich: RichMessages;
  readonly #albums = new Albums();
  /** Hand-overs, by chat or topic, and calls of commands, by message or person. */
  readonly #lanes = new Lanes();
  readonly #nativeCalls = new NativeCalls({
    roomAt: (at) => this.#room(at),
    inTurn: (lane, host, work) => this.#inTurn(lane, host, work),
  });
  #host: AdapterHost | undefined;
  #stopped = new AbortController();
  #menus: Promise<void> = Promise.resolve();

  constructor(api: Bot["api"], { accountId, answers, richMessages, clock }: AdapterParts) {
    this.#api = api;
    this.accountId = accountId;
    this.#answers = answers;
    this.#posts = new Posts(clock);
    this.#rich = new RichMessages(richMessages, (what, { code, description }) =>
      this.#host?.logger.warn({ code, description }, what),
    );
  }

  async start(host: AdapterHost): Promise<void> {
    if (this.#host) return;
    this.#host = host;
    this.#stopped = new AbortController();
    this.#menus = this.#mergeMenus(host, this.#stopped.signal);
  }

  /** Messages that have already arrived are still handed over before this resolves. */
  async stop(): Promise<void> {
    this.#host = undefined;
    this.#stopped.abort();
    await this.#lanes.idle();
    await this.#menus;
  }

  async send(to: Address, message: OutboundMessage, signal: AbortSignal): Promise<DeliveryReceipt> {
    const parts = this.#rich.render(message.markdown);
    return sendParts(this.#room(to), parts, message, signal);
  }

  hasPosted(heard: InboundMessage): boolean | Promise<boolean> {
    // A token begins with the id of its bot.
    if (heard.sender.id === this.#api.token.split(":")[0]) return true;
    return heard.from.chatType === "channel" && this.#posts.has(heard);
  }

  sharesIds({ chatId }: Address): boolean {
    return countsForAll(chatId);
  }

  secrets(): readonly string[] {
    return [this.#api.token];
  }

  async setTyping(at: Address): Promise<void> {
    if (at.chatType === "channel") return;
    const { chatId, threadId } = this.#moves.resolve(at);
    const topic = threadId === undefined ? {} : { message_thread_id: Number(threadId) };
    try {
      await withSingleCalls(this.#api).sendChatAction(Number(chatId), "typing", topic);
    } catch (error) {
      throw toDeliveryError(error, 0);
    }
  }

  createThread(at: Address, title: string): Promise<Address> {
    return createTopic(withSingleCalls(this.#api), this.#moves.resolve(at), title);
  }

  /** The middleware: passes on what the agents do not answer, and everything while stopped. Waits for acceptance only. */
  async gate({ update, me }: Context, next: NextFunction): Promise<void> {
    const host = this.#host;
    const event = { update, me, accountId: this.accountId };
    const isClaimed = host !== undefined && (await this.#take(event, host));
    if (!isClaimed) await next();
  }

  async #take(event: TelegramEvent, host: AdapterHost): Promise<boolean> {
    const message = toInbound(event);
    if (message) return this.#handOver(this.#albums.joined(message, event.update), host);
    if (this.#nativeCalls.take(event, host)) return true;
    const change = toChange(event);
    if (change) await this.#inTurn(laneOf(change.from), host, () => host.onMessageChanged(change));
    const move = toMove(event);
    if (move) {
      const tell = (from: Address, to: Address) => host.onChatMoved(from, to);
      await this.#inTurn(laneOf(move.to), host, () => this.#moves.note(move.from, move.to, tell));
    }
    return false;
  }

  #room(at: Address): Room {
    return {
      api: withSingleCalls(this.#api),
      at,
      moves: this.#moves,
      posts: this.#posts,
      rich: this.#rich,
      onMoved: async (from, to) => (await this.#host?.onChatMoved(from, to)) ?? false,
    };
  }

  /** Whether the message is taken; else it goes on to the host's own handlers. */
  async #handOver(message: InboundMessage, host: AdapterHost): Promise<boolean> {
    const command = commandIn(message.text);
    const isOurs = host.commands.some(({ name }) => name === command);
    const isHosts = command !== undefined && !isOurs && host.commands.length > 0;
    const isForAgents = this.#answers ? this.#answers(message) : message.addressed && !isHosts;
    // In a direct chat the core answers whatever it gets.
    const isRead = message.from.chatType !== "direct" && !isHosts;
    if (!isForAgents && !isOurs && !isRead) return false;

    const handed = { ...message, addressed: isForAgents };
    const acceptance = await this.#inTurn(laneOf(message.from), host, () => host.onMessage(handed));
    switch (acceptance) {
      case "run":
      case "command":
        return true;
      case "context":
        return isForAgents;
      case "duplicate":
        return isForAgents || isOurs;
      case "ignored":
      case "failed":
      case undefined:
        return false;
      default:
        return acceptance satisfies never;
    }
  }

  /** Never rejects; a failure is undefined. */
  async #inTurn<T>(lane: string, host: AdapterHost, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#lanes.run(lane, work);
    } catch (error) {
      host.logger.error({ lane, error: saidBy(error) }, "An update was not handed over.");
      return undefined;
    }
  }

  async #mergeMenus(host: AdapterHost, signal: AbortSignal): Promise<void> {
    if (!host.showMenus) return;
    try {
      for (const command of await mergeMenus(this.#api, host.commands, signal)) {
        const advice = `The bot's menu has its own /${command}: its entry stays, but typing it calls ours.`;
        host.logger.warn({ command }, advice);
      }
    } catch (error) {
      if (signal.aborted) return;
      const advice = "The command menus could not be brought up to date; typed commands work all the same.";
      host.logger.warn({ error: saidBy(error) }, advice);
    }
  }
}

const laneOf = ({ chatId, threadId = "" }: Address) => `${chatId}:${threadId}`;

/** The name of the command that a text begins with. */
function commandIn(text: string): string | undefined {
  return text.match(/^\/(\w+)(?![\w/])/)?.[1]?.toLowerCase();
}
