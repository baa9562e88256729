import { describe, expect, it } from "vitest";
import { commandSpecs } from "../../../src/commands/catalogue.ts";
import type { Choice } from "../../../src/core/ports/command.ts";
import type { RecordingHost } from "../../contracts/adapter-harness.ts";
import { labels } from "../../standins/discord/components.ts";
import { channelTypes } from "../../standins/discord/world.ts";
import { aBot, type Bot, placeOf, startedWith } from "./bot.ts";
import { menuOf, readyWith } from "./commands.ts";

const modes: readonly Choice[] = ["on", "off"].map((mode) => ({ label: mode, command: `/send ${mode}` }));

describe("discord: arguments", () => {
  it.each([
    [{ action: "label", which: "My chat", text: "Team of three" }, 'label "My chat" Team of three'],
    [{ action: "history", which: 'The "old" one' }, "history \"The 'old' one\""],
    [{ which: "#2" }, "list #2"],
    [{ action: "label", text: "Team" }, "label"],
    [{}, ""],
  ])("CMD: what was filled into the form %j is the command as one would type it", async (options, text) => {
    const bot = await aBot();
    const host = await startedWith(bot, commandSpecs);
    await menuOf(bot.discord, commandSpecs.length);
    const call = bot.discord.slash("sessions", { options });
    await bot.discord.until(() => call.state === "answered", "the command was answered");
    expect(host.commandCalls.map((one) => one.text)).toEqual([text]);
  });
});

describe("discord: suggestions while somebody types a command", () => {
  it("CMD: the core is asked who types what and where, and its suggestions are shown in time", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const host = await readyWith(bot);
    host.onComplete = async (call) => {
      host.completionCalls.push(call);
      return [{ name: "Kitchen (2 min ago)", value: "agent:main:discord:channel:7" }];
    };
    const thread = discord.addThread(discord.general, "a topic");
    const typing = discord.type("status", "session", "kit", { in: thread, locale: "hi" });
    await discord.until(() => typing.state === "answered", "suggestions were shown");
    expect(typing.suggestions).toEqual([
      { name: "Kitchen (2 min ago)", value: "agent:main:discord:channel:7" },
    ]);
    expect(typing.acknowledgedAfterMs).toBeLessThan(1000);
    expect(host.completionCalls).toEqual([
      {
        id: typing.id,
        name: "status",
        argument: "session",
        typed: "kit",
        from: placeOf(discord.general.id, thread.id),
        sender: { id: discord.owner.id, name: "Olga", isBot: false },
        locale: "hi",
        guildId: discord.world.guildId,
      },
    ]);
    expect(host.commandCalls).toEqual([]);
  });

  it("CMD L05: at most 25, names cut between characters, values whole or not at all", async () => {
    const { bot, host } = await aMenu();
    const long = "👩‍👩‍👧‍👦".repeat(20);
    host.onComplete = async () => [
      { name: long, value: "first" },
      { name: "cut it would be another", value: "v".repeat(101) },
      { name: " ", value: "nameless" },
      { name: "empty", value: "" },
      ...Array.from({ length: 30 }, (_, index) => ({ name: `n${index}`, value: `v${index}` })),
    ];
    const typing = bot.discord.type("status", "session", "");
    await bot.discord.until(() => typing.state === "answered", "suggestions were shown");
    const [first, second, third] = typing.suggestions ?? [];
    expect(typing.suggestions).toHaveLength(25);
    expect(first?.name).toBe("👩‍👩‍👧‍👦".repeat(9));
    expect([second?.name, third?.value]).toEqual(["nameless", "v0"]);
  });

  it("CMD: where nothing can be found out nothing is suggested, and the menu stays usable", async () => {
    const { bot, host } = await aMenu();
    host.onComplete = () => Promise.reject(new Error("planted failure"));
    const typing = bot.discord.type("status", "session", "x");
    await bot.discord.until(() => typing.state === "answered", "an answer");
    expect(typing.suggestions).toEqual([]);
  });

  it("CMD: what is typed into a command of the host, even one with the name of ours, is left to the host", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const option = { type: 3, name: "session", description: "x", autocomplete: true };
    discord.commands().upsert({ name: "status", description: "The host's own.", options: [option] });
    const host = await readyWith(bot);
    const foreign = discord.type("status", "session", "x");
    const call = discord.slash("send", { options: { mode: "on" } });
    await discord.until(() => call.state === "answered", "our own command was answered");
    expect(foreign.state).toBe("unanswered");
    expect(host.completionCalls).toEqual([]);
  });
});

describe("discord: buttons", () => {
  it("CMD: choices are buttons below the last part, and a press changes the message that only the caller sees", async () => {
    const { bot, host } = await aMenu();
    const { discord } = bot;
    host.onCommand = async (call) => {
      host.commandCalls.push(call);
      return call.text ? { text: `now ${call.text}` } : { text: `${"long ".repeat(500)}end`, choices: modes };
    };
    const call = discord.slash("status");
    await discord.until(() => call.answers.length === 2, "both parts were shown");
    expect(call.answers.map(({ components }) => labels(components))).toEqual([[], ["on", "off"]]);
    const press = discord.pressAnswer(call, "off", { locale: "es-ES" });
    await discord.until(() => press.state === "answered", "the press was answered");
    expect(press.acknowledgedAfterMs).toBeLessThan(1000);
    expect(press.answers).toEqual([]);
    expect(call.answers.at(-1)).toMatchObject({ content: "now off", components: [], ephemeral: true });
    expect(host.commandCalls.at(-1)).toEqual({
      id: press.id,
      name: "send",
      text: "off",
      from: placeOf(discord.general.id),
      sender: { id: discord.owner.id, name: "Olga", isBot: false },
      locale: "es-ES",
      guildId: discord.world.guildId,
    });
  });

  it("CMD: below a message that everybody sees a press is judged by who presses, and answered to that person alone", async () => {
    const { bot, host } = await aMenu();
    const { discord } = bot;
    host.onCommand = async ({ sender }) => {
      const isOwner = sender.id === discord.owner.id;
      return { text: isOwner ? "done" : `not for ${sender.name}` };
    };
    const posted = await withButtons(bot, modes);
    const stranger = discord.press(posted, "off", { by: discord.addUser("Sam") });
    const owner = discord.press(posted, "off");
    await discord.until(
      () => [stranger, owner].every(({ state }) => state === "answered"),
      "both were answered",
    );
    expect(stranger.answers).toMatchObject([{ content: "not for Sam", ephemeral: true }]);
    expect(owner.answers).toMatchObject([{ content: "done", ephemeral: true }]);
    expect(discord.sent.map(({ content }) => content)).toEqual(["choose"]);
  });

  it("CMD J10: in a thread that the client has never heard of and in a direct chat a press has its place", async () => {
    const { bot, host } = await aMenu();
    const { discord } = bot;
    const type = channelTypes.privateThread;
    const hidden = discord.addThread(discord.general, "hidden", { type, announced: false });
    const places = [
      placeOf(discord.general.id, hidden.id),
      { ...placeOf(discord.direct.id), chatType: "direct" as const },
    ];
    for (const [at, room] of [hidden, discord.direct].entries()) {
      const posted = await withButtons(bot, modes, places[at]);
      const press = discord.press(posted, "on", { in: room });
      await discord.until(() => press.state === "answered", "the press was answered");
    }
    expect(host.commandCalls.map(({ from }) => from)).toEqual(places);
  });

  it("CMD: buttons of the host are left to the host", async () => {
    const { bot, host } = await aMenu();
    const { discord } = bot;
    const buttons = ["/send off", "foreign-buttons:/send off", "bot-switchboard:send off"].map(
      (custom_id) => ({
        type: 2,
        style: 1,
        label: custom_id,
        custom_id,
      }),
    );
    const components = [{ type: 1, components: buttons }];
    const hosts = discord.say("vote", { by: discord.bot.user, fields: { components } });
    const presses = buttons.map(({ label }) => discord.press(hosts, label));
    const call = discord.slash("status");
    await discord.until(() => call.state === "answered", "our own command was answered");
    expect(presses.map(({ state }) => state)).toEqual(["unanswered", "unanswered", "unanswered"]);
    expect(host.commandCalls.map(({ name }) => name)).toEqual(["status"]);
  });

  it("CMD: nothing to say leaves the message with its buttons as it is", async () => {
    const { bot, host } = await aMenu();
    const { discord } = bot;
    host.onCommand = async ({ text }) => (text ? undefined : { text: "choose", choices: modes });
    const call = discord.slash("status");
    await discord.until(() => call.state === "answered", "the buttons were shown");
    const press = discord.pressAnswer(call, "on");
    await discord.until(() => press.state === "updating", "the press was acknowledged");
    await bot.adapter.stop();
    expect(press.state).toBe("updating");
    expect(call.answers).toMatchObject([{ content: "choose" }]);
    expect(labels(call.answers[0]?.components ?? [])).toEqual(["on", "off"]);
  });

  it("CMD L05: 30 choices, one twice and one with a long label are what Discord takes", async () => {
    const { bot } = await aMenu();
    const many = Array.from({ length: 30 }, (_, index) => ({
      label: `c${index}`,
      command: `/send ${index}`,
    }));
    const choices = [{ label: "👩‍👩‍👧‍👦".repeat(20), command: "/send on" }, ...many.slice(0, 1), ...many];
    const { components } = await withButtons(bot, choices);
    expect(components.map((row) => row.components.length)).toEqual([5, 5, 5, 5, 5]);
    expect(labels(components).slice(0, 3)).toEqual(["👩‍👩‍👧‍👦".repeat(7), "c0", "c1"]);
  });
});

describe("discord: calls from places that the bot cannot look into", () => {
  it("CMD: the channel and the person are known all the same", async () => {
    const bot = await aBot({ client: { partials: [] } });
    const host = await readyWith(bot);
    const { discord } = bot;
    const secret = discord.addChannel("secret");
    discord.say("see the channel come");
    await host.texts(1);
    bot.client.channels.cache.delete(secret.id);
    discord.faults.next("GET", /\/channels\/\d+$/, { kind: "status", status: 403, code: 50001 });
    const call = discord.slash("status", { in: secret });
    await discord.until(() => call.state === "answered", "the command was answered");
    expect(host.commandCalls[0]).toMatchObject({
      from: placeOf(secret.id),
      sender: { id: discord.owner.id },
    });
  });

  it("DISC-1 CMD: in a group direct chat nothing is carried out", async () => {
    const { bot, host } = await aMenu();
    const { discord } = bot;
    const room = discord.world.addDirect(discord.bot, discord.owner, discord.addUser("Ana"));
    const call = discord.slash("status", { in: room });
    const typing = discord.type("status", "session", "x", { in: room });
    await discord.until(() => call.state === "deleted" && typing.state === "answered", "both were answered");
    expect([host.commandCalls, host.completionCalls, typing.suggestions]).toEqual([[], [], []]);
  });
});

async function aMenu(): Promise<{ bot: Bot; host: RecordingHost }> {
  const bot = await aBot();
  return { bot, host: await readyWith(bot) };
}

/** A message that everybody sees. */
async function withButtons(
  { adapter, discord }: Bot,
  choices: readonly Choice[],
  to = placeOf(discord.general.id),
) {
  const message = { deliveryId: `to ${to.threadId ?? to.chatId}`, markdown: "choose", choices };
  await adapter.send(to, message, new AbortController().signal);
  const posted = discord.sent.at(-1);
  if (!posted) throw new Error("Nothing was posted.");
  return posted;
}
