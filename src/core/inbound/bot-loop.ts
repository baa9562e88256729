import { LRUCache } from "lru-cache";
import { type Config, channelConfig } from "../config.ts";
import { isPaused, NO_TRAFFIC, type Traffic, withMessage } from "../policy/bot-loop.ts";
import type { Address, ChannelAdapter, InboundMessage } from "../ports/chat.ts";
import type { RunQueue } from "../ports/engine.ts";
import type { Events } from "../ports/events.ts";
import type { Clock, Logger } from "../ports/host.ts";
import { deliveryId } from "../runs/run-id.ts";

const MOST_PAIRS = 1000;
/** Answers to bots that may be under way at the same time. */
const MOST_ANSWERS = 5000;

/** Whether another account of this installation has posted what an account hears. Such a message is never input. */
export async function isOwnPost(
  adapters: readonly ChannelAdapter[],
  heard: InboundMessage,
): Promise<boolean> {
  const others = adapters.filter(
    ({ channel, accountId }) => channel === heard.from.channel && accountId !== heard.from.accountId,
  );
  const answers = await Promise.all(others.map((adapter) => adapter.hasPosted?.(heard) ?? false));
  return answers.includes(true);
}

export interface BotLoopParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly events: Events;
  readonly logger: Logger;
  readonly queue: Pick<RunQueue, "get">;
}

/** One of our accounts and another bot, in one room. */
interface Pair {
  readonly from: Address;
  readonly botId: string;
}

/**
 * Ends what two bots that answer each other would never end. Counts what another bot says to an account in a room, and what the account answers it there;
 * in memory, as a loop that outlives a restart is found again within a minute.
 */
export function createBotLoop({ config, clock, events, logger, queue }: BotLoopParts) {
  const pairs = new LRUCache<string, Traffic>({ max: MOST_PAIRS });
  const answered = new LRUCache<string, Pair>({ max: MOST_ANSWERS });

  events.on("delivery.settled", ({ deliveryId, state }) => {
    const pair = answered.get(deliveryId);
    answered.delete(deliveryId);
    if (pair !== undefined && state === "delivered") count(pair);
  });

  const trafficOf = (pair: Pair) => pairs.get(keyOf(pair)) ?? NO_TRAFFIC;
  const isIgnored = (pair: Pair) => isPaused(trafficOf(pair), clock.now());

  function count(pair: Pair): void {
    if (isIgnored(pair)) return;
    const atMs = clock.now();
    const traffic = withMessage(trafficOf(pair), atMs, channelConfig(config, pair.from.channel).botLoop);
    pairs.set(keyOf(pair), traffic);
    if (!isIgnored(pair)) return;
    const paused = { ...pair, untilMs: traffic.pausedUntilMs };
    events.emit("bot.paused", { ...paused, atMs });
    logger.warn(paused, "Too many messages between two bots: one is ignored here for a while");
  }

  /** Why nothing that this bot says is heard now. */
  function refusal({ from, sender }: InboundMessage): string | undefined {
    const isRefused = sender.isBot && isIgnored({ from, botId: sender.id });
    return isRefused ? `too many messages between two bots, see channels.${from.channel}.botLoop` : undefined;
  }

  return {
    refusal,
    /** Counts a message that would be answered, unless it has been before; and why it is not heard after all. */
    async counted(message: InboundMessage, runId: string): Promise<string | undefined> {
      const { from, sender } = message;
      if (!sender.isBot || (await queue.get(runId)) !== undefined) return undefined;
      const pair = { from, botId: sender.id };
      count(pair);
      answered.set(deliveryId(runId, "reply"), pair);
      return refusal(message);
    },
  };
}

function keyOf({ from, botId }: Pair): string {
  return JSON.stringify([from.channel, from.accountId, from.chatId, from.threadId, botId]);
}
