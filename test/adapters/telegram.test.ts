import { once } from "node:events";
import { createServer } from "node:http";
import { webhookCallback } from "grammy";
import type { Chat } from "grammy/types";
import type { Address } from "../../src/core/ports/chat.ts";
import type { AdapterHarness, Author, Breakage } from "../contracts/adapter-harness.ts";
import { channelAdapterContract } from "../contracts/channel-adapter.contract.ts";
import { type Failure, rateLimited, refused, serverError } from "../standins/telegram/failures.ts";
import { ANN } from "../standins/telegram/people.ts";
import { FORUM, GROUP, makeBot, placeOf, type TestBot } from "./telegram/bot.ts";

const TOPIC = 42;
const OTHER_BOT = { id: 777, is_bot: true, first_name: "Other", username: "other_test_bot" };

const failures: Readonly<Record<Breakage, Failure>> = {
  permanent: refused(403, "Forbidden: bot was kicked from the group chat"),
  transient: serverError,
  rateLimit: rateLimited(3),
  drop: { kind: "dropAfter" },
};

const traits = { rateLimit: "reported" } as const;

channelAdapterContract(
  "telegram, long polling",
  async () => {
    const made = await makeBot();
    await made.poll();
    return harnessOf(made, made.close);
  },
  traits,
);

channelAdapterContract(
  "telegram, webhook",
  async () => {
    const made = await makeBot();
    await made.bot.init();
    const callback = webhookCallback(made.bot, "http");
    const server = createServer((request, response) => {
      callback(request, response).catch(() => response.writeHead(500).end());
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    if (address === null || typeof address === "string")
      throw new Error("The webhook's server is not listening.");
    // More connections at once would let the network shuffle the order.
    await made.bot.api.setWebhook(`http://127.0.0.1:${address.port}/`, { max_connections: 1 });
    return harnessOf(made, async () => {
      server.closeAllConnections();
      server.close();
      await made.telegram.close();
    });
  },
  traits,
);

function harnessOf({ telegram, bot, adapter }: TestBot, close: () => Promise<void>): AdapterHarness {
  telegram.room(FORUM).topics.set(TOPIC, { name: "Deploys", openedBy: ANN });
  const chats = new Map<string, Chat>([FORUM, GROUP].map((chat) => [String(chat.id), chat]));
  const authors = { person: ANN, bot: telegram.bot, otherBot: OTHER_BOT };
  const chat = placeOf(GROUP);
  return {
    adapter,
    chat,
    otherChat: placeOf(FORUM, "1"),
    thread: placeOf(FORUM, String(TOPIC)),
    mentionBait: "@ann_example and [Ann](tg://user?id=1001)",
    sent: () =>
      telegram.sent.map(({ chatId, threadId, text, entities }) => ({
        chatId: String(chatId),
        text,
        pings: entities
          .filter(({ type }) => type === "mention" || type === "text_mention")
          .map(({ type }) => type),
        ...(threadId === undefined ? {} : { threadId: String(threadId) }),
      })),
    platformSays: async (author: Author, text: string, at: Address = chat) => {
      const threadId =
        at.threadId === undefined || at.threadId === "1" ? {} : { threadId: Number(at.threadId) };
      telegram.say(text, { chat: chats.get(at.chatId) ?? GROUP, from: authors[author], ...threadId });
      await telegram.settled();
    },
    breakNextSend: (kind, afterParts = 0) => telegram.failNext("sendMessage", failures[kind], afterParts),
    listeners: () => bot.api.config.installedTransformers().length,
    close,
  };
}
