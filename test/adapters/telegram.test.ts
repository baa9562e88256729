import { once } from "node:events";
import { createServer } from "node:http";
import { run } from "@grammyjs/runner";
import { webhookCallback } from "grammy";
import type { Chat } from "grammy/types";
import type { Address } from "../../src/core/ports/chat.ts";
import type { AdapterHarness, Author, Breakage, PersonsDeeds } from "../contracts/adapter-harness.ts";
import { channelAdapterContract } from "../contracts/channel-adapter.contract.ts";
import { type Failure, rateLimited, refused, serverError } from "../standins/telegram/failures.ts";
import { ANN, type SayOptions } from "../standins/telegram/people.ts";
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
    const closers = [made.close];
    return {
      ...harnessOf(made, async () => {
        for (const close of closers) await close();
      }),
      otherAccount: async () => {
        const second = await makeBot({ accountId: "second" });
        closers.push(second.close);
        await second.poll();
        return besideEachOther(harnessOf(made, made.close), harnessOf(second, second.close));
      },
    };
  },
  traits,
);

channelAdapterContract(
  "telegram, @grammyjs/runner",
  async () => {
    const made = await makeBot();
    const runner = run(made.bot, { runner: { silent: true } });
    await made.telegram.until(() => made.telegram.isPolled, "the runner polls");
    return harnessOf(made, async () => {
      await runner.stop();
      await made.telegram.close();
    });
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

/** Telegram tells each bot of what is said in a room that both are in. */
function besideEachOther(first: AdapterHarness, second: AdapterHarness): AdapterHarness {
  return {
    ...second,
    platformSays: async (...said) => {
      await Promise.all([first, second].map((one) => one.platformSays(...said)));
    },
  };
}

function personsDeeds({ telegram }: TestBot): PersonsDeeds {
  const says = async (text: string, options: SayOptions = {}) => {
    const message = telegram.say(text, { chat: GROUP, ...options });
    await telegram.settled();
    return message;
  };
  return {
    attaches: async () => {
      const file = {
        file_id: "f",
        file_unique_id: "u",
        file_size: 1234,
        mime_type: "text/csv",
        file_name: "plan.csv",
      };
      await says("", { more: { document: file } });
      return { mediaType: "text/csv", sizeBytes: 1234, name: "plan.csv" };
    },
    replies: async (text, original) => void (await says(text, { replyTo: await says(original) })),
    forwards: async (text) => {
      const forward_origin = { type: "hidden_user", date: 1, sender_user_name: "Somebody" } as const;
      await says(text, { more: { forward_origin } });
    },
    edits: async (text, into) => telegram.edit(await says(text), into),
  };
}

function harnessOf(made: TestBot, close: () => Promise<void>): AdapterHarness {
  const { telegram, bot, adapter } = made;
  telegram.room(FORUM).topics.set(TOPIC, { name: "Deploys", openedBy: ANN });
  const chats = new Map<string, Chat>([FORUM, GROUP].map((chat) => [String(chat.id), chat]));
  const authors = { person: ANN, bot: telegram.bot, otherBot: OTHER_BOT };
  const chat = { ...placeOf(GROUP), accountId: adapter.accountId };
  return {
    adapter,
    person: personsDeeds(made),
    chat,
    otherChat: placeOf(FORUM, "1"),
    thread: placeOf(FORUM, String(TOPIC)),
    mentionBait: "@ann_example and [Ann](tg://user?id=1001)",
    sent: () =>
      telegram.sent.map(({ chatId, threadId, text, entities, buttons = [] }) => ({
        chatId: String(chatId),
        text,
        buttons: buttons.flat(),
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
    hangNextSend: () => telegram.failNext("sendMessage", { kind: "silence" }),
    breakNextSend: (kind, afterParts = 0) => telegram.failNext("sendMessage", failures[kind], afterParts),
    listeners: () => bot.api.config.installedTransformers().length,
    close,
  };
}
