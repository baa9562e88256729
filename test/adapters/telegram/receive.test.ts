import { run } from "@grammyjs/runner";
import { Bot, webhookCallback } from "grammy";
import type { Chat } from "grammy/types";
import { describe, expect, it } from "vitest";
import { telegramAdapter } from "../../../src/adapters/telegram/index.ts";
import { gate } from "../../fakes/gate.ts";
import { aBoardOn, aServer } from "./board.ts";
import { aBot, CHANNEL, FORUM, GROUP, type TestBot } from "./bot.ts";

const PLACES: readonly { readonly chat: Chat; readonly threadId?: number }[] = [
  { chat: GROUP },
  { chat: FORUM },
  { chat: FORUM, threadId: 42 },
];
const SECRET = "between-Telegram-and-us";

/** The words of an agent's turns, in order, by the place that is named in them. */
function heardAt(heard: readonly string[], place: number): readonly number[] {
  const own = heard.filter((text) => text.startsWith(`${place}:`));
  return own.map((text) => Number(text.split(":")[1]));
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

/** The last line of what an agent was asked: a line about the sender may stand before it. */
const lastWords = (text: string) => text.split(/\s/).at(-1) ?? "";

/** Another process of the host: a new bot and a new adapter on the same Telegram. */
function restarted({ telegram }: TestBot): TestBot {
  const bot = new Bot(telegram.token, { client: { apiRoot: telegram.apiRoot } });
  return { telegram, bot, adapter: telegramAdapter({ bot }), poll: async () => {}, close: async () => {} };
}

describe("TG-1: updates side by side, with @grammyjs/runner", () => {
  it("TG-1 I08: every chat and topic keeps its order, and nothing is lost or doubled over a stop", async () => {
    const made = await aBot();
    const heard: string[] = [];
    const agents = {
      main: ({ text }: { text: string }) => {
        heard.push(lastWords(text));
        return "";
      },
    };
    const board = await aBoardOn(made, { agents });
    const first = run(made.bot, { runner: { silent: true } });
    const say = (from: number, to: number) => {
      for (const number of upTo(to).slice(from))
        for (const [place, where] of PLACES.entries()) made.telegram.say(`${place}:${number}`, where);
    };
    say(0, 25);
    await made.telegram.until(() => made.telegram.pending.length < 30, "most of it was fetched");
    say(25, 40);
    await first.stop();
    await board.close();
    const soFar = heard.length;

    const next = restarted(made);
    const again = await aBoardOn(next, { agents, dataDir: board.dataDir });
    const second = run(next.bot, { runner: { silent: true } });
    say(40, 50);
    await made.telegram.settled();
    await again.quiet();
    await second.stop();
    expect(soFar).toBeGreaterThan(0);
    for (const place of PLACES.keys()) expect(heardAt(heard, place)).toEqual(upTo(50));
    expect(again.complaints).toEqual([]);
  });

  it("TG-1 N06: an agent that thinks holds back no other message, not even the stop of the runner", async () => {
    const made = await aBot();
    const slow = gate();
    const heard: string[] = [];
    await aBoardOn(made, {
      agents: {
        main: async ({ text, signal }) => {
          heard.push(lastWords(text));
          if (text.endsWith("slow")) await slow.pass(signal);
          return "";
        },
      },
    });
    const runner = run(made.bot, { runner: { silent: true } });
    made.telegram.say("slow", { chat: GROUP });
    await slow.reached;
    made.telegram.say("quick", { chat: FORUM });
    await made.telegram.until(() => heard.includes("quick"), "the other chat was heard");
    await runner.stop();
    slow.open();
  });
});

/** The bot behind a web server, as Telegram reaches it; `spoil` may cut off an answer. */
async function aWebhook(made: TestBot, spoil: () => boolean = () => false): Promise<string> {
  const callback = webhookCallback(made.bot, "http", { secretToken: SECRET, timeoutMilliseconds: 2000 });
  const url = await aServer((request, response) => {
    if (spoil()) response.end = () => response.destroy();
    callback(request, response).catch(() => response.writeHead(500).end());
  });
  await made.bot.api.setWebhook(url, { secret_token: SECRET });
  return url;
}

describe("TG-1: updates over a webhook", () => {
  it("TG-1 N06: Telegram is answered at once, however long the agents think", async () => {
    const made = await aBot();
    const slow = gate();
    const board = await aBoardOn(made, {
      agents: {
        main: async ({ signal }) => {
          await slow.pass(signal);
          return "done";
        },
      },
    });
    await aWebhook(made);
    for (const number of upTo(5)) made.telegram.say(`question ${number}`, { chat: GROUP });
    await made.telegram.settled();
    expect(made.telegram.webhookError).toBe("");
    expect(made.telegram.sent).toEqual([]);
    slow.open();
    await made.telegram.until(() => made.telegram.sent.length === 5, "everything was answered");
    expect(board.complaints).toEqual([]);
  });

  it("TG-1: what Telegram delivers again, because our answer was lost, is one turn", async () => {
    const made = await aBot();
    let isFirst = true;
    const board = await aBoardOn(made, { agents: { main: () => "once" } });
    await aWebhook(made, () => isFirst);
    made.telegram.say("hello", { chat: GROUP });
    await made.telegram.until(() => made.telegram.sent.length === 1, "the answer was sent");
    await made.telegram.until(() => made.telegram.webhookError !== "", "Telegram noticed the loss");
    isFirst = false;
    made.telegram.retryWebhook();
    await made.telegram.settled();
    await board.quiet();
    expect(made.telegram.sent).toHaveLength(1);
    expect(board.agents.main?.turns).toHaveLength(1);
  });

  it("TG-1: whoever does not know the secret is turned away, and nothing is handed over", async () => {
    const made = await aBot();
    const board = await aBoardOn(made);
    const url = await aWebhook(made);
    const message = {
      message_id: 1,
      date: 1,
      chat: GROUP,
      from: { id: 1, is_bot: false },
      text: "/send off",
    };
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": "guessed" },
      body: JSON.stringify({ update_id: 1, message }),
    });
    await board.quiet();
    expect(answer.status).toBe(401);
    expect(board.agents.main?.turns).toEqual([]);
  });

  it("TG-1 CMD-4: a host that answers in the webhook's own response gets none of our calls into it", async () => {
    const made = await aBot();
    const bot = new Bot(made.telegram.token, {
      client: { apiRoot: made.telegram.apiRoot, canUseWebhookReply: () => true },
    });
    const behind = { ...made, bot, adapter: telegramAdapter({ bot }) };
    await aBoardOn(behind, { agents: { main: () => "in a call of its own" } });
    await aWebhook(behind);
    made.telegram.say("hello", { chat: CHANNEL });
    made.telegram.say("hello", { chat: GROUP });
    await made.telegram.until(() => made.telegram.sent.length >= 1, "it was answered");
    expect(made.telegram.sent[0]?.text).toBe("in a call of its own");
  });
});
