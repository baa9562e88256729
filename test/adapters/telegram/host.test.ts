import { Bot } from "grammy";
import { describe, expect, it } from "vitest";
import { telegramAdapter } from "../../../src/adapters/telegram/index.ts";
import type { Acceptance } from "../../../src/core/ports/chat.ts";
import { RecordingHost } from "../../contracts/adapter-harness.ts";
import { ANN } from "../../standins/telegram/people.ts";
import { aBot, aCommand, aRunningBot, CHANNEL, FORUM, GROUP, placeOf, sendTo, startedWith } from "./bot.ts";

const commands = [aCommand("send"), aCommand("status")];

/** A bot with a handler of the host behind ours; `order` tells who saw which text when. */
async function besideAHandler(answer: Acceptance = "run", options = {}) {
  const made = await aBot(options);
  const order: string[] = [];
  made.bot.on(["message", "channel_post"], (ctx) => {
    order.push(`host: ${ctx.msg.text}`);
  });
  const host = new RecordingHost(commands);
  host.answer = ({ text }) => {
    order.push(`agents: ${text}`);
    return answer;
  };
  await made.adapter.start(host);
  await made.poll();
  return { ...made, host, order };
}

describe("TG-1: beside the host's own handlers", () => {
  it("TG-1: what the agents answer stays with them, everything else goes on after it was accepted", async () => {
    const { telegram, host, order } = await besideAHandler();
    host.answer = ({ text, addressed }) => {
      order.push(`agents: ${text}`);
      return addressed ? "run" : "context";
    };
    telegram.say("in private");
    telegram.say("@agent_test_bot in a group", { chat: GROUP });
    telegram.say("small talk", { chat: GROUP });
    telegram.say("a post", { chat: CHANNEL });
    await telegram.settled();
    expect(order).toEqual([
      "agents: in private",
      "agents: in a group",
      "agents: small talk",
      "host: small talk",
      "agents: a post",
      "host: a post",
    ]);
  });

  it("CMD: commands that are not ours are the host's alone, in private and with the bot's name too", async () => {
    const { telegram, order } = await besideAHandler();
    telegram.say("/start");
    telegram.say("/weather@agent_test_bot Rome", { chat: GROUP });
    telegram.say("/home/ann/notes.txt is gone");
    await telegram.settled();
    expect(order).toEqual([
      "host: /start",
      "host: /weather@agent_test_bot Rome",
      "agents: /home/ann/notes.txt is gone",
    ]);
  });

  it("CMD-1: typed, ours are ours also where no menu is wanted, and the menus stay as they are", async () => {
    const made = await aBot();
    const passed: string[] = [];
    made.bot.on("message", (ctx) => {
      passed.push(ctx.msg.text ?? "");
    });
    const host = new RecordingHost(commands, false);
    host.answer = () => "command";
    await made.adapter.start(host);
    await made.poll();
    made.telegram.say("/send off", { chat: GROUP });
    made.telegram.say("/weather", { chat: GROUP });
    await made.telegram.settled();
    expect([host.messages.map(({ text }) => text), passed]).toEqual([["/send off"], ["/weather"]]);
    expect(made.telegram.calls.filter(({ method }) => method.endsWith("MyCommands"))).toEqual([]);
  });

  it("CMD: our commands do not reach the host, in a group and without the bot's name too", async () => {
    const { telegram, order } = await besideAHandler("command");
    telegram.say("/send off", { chat: GROUP });
    telegram.say("/send@agent_test_bot off", { chat: GROUP });
    await telegram.settled();
    expect(order).toEqual(["agents: /send off", "agents: /send off"]);
  });

  it("CMD: a command of ours that arrives a second time does not reach the host either", async () => {
    const { telegram, order } = await besideAHandler("duplicate");
    telegram.say("/send off", { chat: GROUP });
    telegram.say("small talk", { chat: GROUP });
    await telegram.settled();
    expect(order.filter((line) => line.startsWith("host"))).toEqual(["host: small talk"]);
  });

  it.each(["ignored", "failed"] as const)(
    "IN: what the core calls %s is the host's again",
    async (acceptance) => {
      const { telegram, order } = await besideAHandler(acceptance);
      telegram.say("from a stranger");
      await telegram.settled();
      expect(order).toEqual(["agents: from a stranger", "host: from a stranger"]);
    },
  );

  it("TG-1: the option `answers` decides instead; in direct chats the rest is the host's alone", async () => {
    const answers = ({ text }: { text: string }) => text.startsWith("agent");
    const { telegram, host, order } = await besideAHandler("context", { answers });
    telegram.say("in private");
    telegram.say("@agent_test_bot in a group", { chat: GROUP });
    telegram.say("agent, in a group", { chat: GROUP });
    await telegram.settled();
    expect(order).toEqual([
      "host: in private",
      "agents: in a group",
      "host: @agent_test_bot in a group",
      "agents: agent, in a group",
    ]);
    expect(host.messages.map(({ addressed }) => addressed)).toEqual([false, true]);
  });

  it("CMD: our commands work wherever `answers` says no", async () => {
    const { telegram, order } = await besideAHandler("command", { answers: () => false });
    telegram.say("/send off");
    telegram.say("/send on", { chat: GROUP });
    await telegram.settled();
    expect(order).toEqual(["agents: /send off", "agents: /send on"]);
  });

  it("IN: where the core answers without being named, the host does not answer as well", async () => {
    const { telegram, order } = await besideAHandler("run");
    telegram.say("small talk", { chat: GROUP });
    await telegram.settled();
    expect(order).toEqual(["agents: small talk"]);
  });

  it("TG-1: before start and after stop every message is the host's alone", async () => {
    const { telegram, adapter, order } = await besideAHandler();
    await adapter.stop();
    telegram.say("in private");
    telegram.say("/send off");
    await telegram.settled();
    expect(order).toEqual(["host: in private", "host: /send off"]);
  });

  it("TG-1: a message that could not be handed over goes to the host, and the log says so", async () => {
    const { telegram, host, order } = await besideAHandler();
    host.answer = () => Promise.reject(new Error("planted failure of the core"));
    telegram.say("in private");
    await telegram.settled();
    expect(order).toEqual(["host: in private"]);
    expect(host.log).toMatchObject([{ level: "error", details: { error: "planted failure of the core" } }]);
  });

  it("TG-1: handlers placed before the adapter stay in front of it", async () => {
    const { telegram } = await aBot();
    const bot = new Bot(telegram.token, { client: { apiRoot: telegram.apiRoot } });
    const order: string[] = [];
    bot.on("message", async (_ctx, next) => {
      order.push("the host begins");
      await next();
      order.push("the host ends");
    });
    const host = new RecordingHost();
    host.answer = () => {
      order.push("agents");
      return "run";
    };
    await telegramAdapter({ bot }).start(host);
    await bot.init();
    await bot.handleUpdate({ update_id: 1, message: aMessage("hello", 1) });
    expect(order).toEqual(["the host begins", "agents", "the host ends"]);
  });

  it("TG-1: a bot that is running already is refused with advice", async () => {
    const { bot } = await aRunningBot();
    expect(() => telegramAdapter({ bot })).toThrow(/before bot.start/);
  });
});

describe("TG-1: order and loss", () => {
  it("TG-1 I08: with updates handled side by side a chat keeps its order, and a slow topic holds back no other", async () => {
    const made = await aBot();
    const host = await startedWith(made);
    await made.bot.init();
    const release = host.hold();
    const slow = [1, 2].map((id) =>
      made.bot.handleUpdate({ update_id: id, message: aMessage(`slow ${id}`, id, 42) }),
    );
    await host.texts(1);
    const other = made.bot.handleUpdate({ update_id: 3, message: aMessage("other topic", 3, 43) });
    expect(await host.texts(2)).toEqual(["slow 1", "other topic"]);
    release();
    await Promise.all([...slow, other]);
    expect(host.messages.map(({ text }) => text)).toEqual(["slow 1", "other topic", "slow 2"]);
  });

  it("TG-1 RUN-2: a message that was not accepted when the process died is handed over to the next one", async () => {
    const { telegram, host } = await aRunningBot();
    const release = host.hold();
    telegram.say("do not lose me");
    await host.texts(1);
    const restarted = new Bot(telegram.token, { client: { apiRoot: telegram.apiRoot } });
    const adapter = telegramAdapter({ bot: restarted });
    const nextHost = new RecordingHost();
    await adapter.start(nextHost);
    const polling = restarted.start();
    expect(await nextHost.texts(1)).toEqual(["do not lose me"]);
    expect(nextHost.messages[0]?.id).toBe(host.messages[0]?.id);
    await adapter.stop();
    await restarted.stop();
    await polling;
    release();
  });
});

describe("STORE: a group that becomes a supergroup", () => {
  const NEW_ID = -1004001;
  const moved = [{ from: placeOf(GROUP), to: { ...placeOf(GROUP), chatId: String(NEW_ID) } }];

  it("I07: two updates tell the core once, before the first message in the new chat", async () => {
    const { telegram, host, adapter } = await aRunningBot();
    telegram.say("before", { chat: GROUP });
    const chat = telegram.migrate(GROUP.id, NEW_ID);
    telegram.say("after", { chat });
    await host.texts(2);
    expect(host.moves).toEqual(moved);
    expect(host.messages[1]?.from.chatId).toBe(String(NEW_ID));
    await sendTo({ adapter }, placeOf(GROUP), "to the old address");
    expect(telegram.sent).toMatchObject([{ chatId: NEW_ID }]);
    expect(telegram.calls.filter(({ method }) => method === "sendMessage")).toHaveLength(1);
  });

  it("I07: when only a send finds out, the core is told and the text arrives once in the new chat", async () => {
    const { telegram, host, adapter } = await aRunningBot();
    telegram.migrate(GROUP.id, NEW_ID, []);
    const receipt = await sendTo({ adapter }, placeOf(GROUP), "news");
    expect(host.moves).toEqual(moved);
    expect(telegram.sent.map(({ chatId, text }) => ({ chatId, text }))).toEqual([
      { chatId: NEW_ID, text: "news" },
    ]);
    expect(receipt.messageIds).toHaveLength(1);
  });
});

/** As it looks in an update, for handing over without a server between. */
function aMessage(text: string, id: number, threadId = 42) {
  const chat = { id: FORUM.id, type: "supergroup", title: "Ops", is_forum: true } as const;
  const topic = { message_thread_id: threadId, is_topic_message: true };
  return { message_id: id, date: 1_700_000_000, chat, from: ANN, text, ...topic };
}
