import { describe, expect, it } from "vitest";
import { discordAdapter, discordCommands } from "../../../src/adapters/discord/index.ts";
import { commandSpecs } from "../../../src/commands/catalogue.ts";
import type { CommandSpec } from "../../../src/core/ports/command.ts";
import { RecordingHost } from "../../contracts/adapter-harness.ts";
import { limitsInHand } from "../../fakes/limits-in-hand.ts";
import { channelTypes } from "../../standins/discord/world.ts";
import { aBot, type Bot, placeOf, startedWith } from "./bot.ts";
import { describedAs, menuOf, ours, readyWith, sendCommand, statusCommand } from "./commands.ts";

describe("discord: the command menu", () => {
  it("CMD: our commands join the host's, which stay untouched, and nothing is replaced as a whole", async () => {
    const bot = await aBot();
    const hosts = bot.discord.commands().upsert({ name: "ban", description: "The host's own." }).command;
    await startedWith(bot, ours);
    await menuOf(bot.discord, 3);
    const { discord } = bot;
    expect(discord.commands().find("ban")).toEqual(hosts);
    const writes = discord.requests.filter(
      ({ path, method }) => path.endsWith("/commands") && method !== "GET",
    );
    expect(writes.map(({ method, body }) => [method, body])).toEqual([
      ["POST", expect.objectContaining({ name: "send" })],
      ["POST", expect.objectContaining({ name: "status" })],
    ]);
  });

  it("CMD: definitions have choices, fit the limits and speak the person's language", async () => {
    const bot = await aBot();
    await startedWith(bot, ours);
    await menuOf(bot.discord, 2);
    const send = bot.discord.commands().find("send");
    expect(send?.description_localizations).toEqual({
      "es-ES": "Whether this chat gets messages. (es)",
      "es-419": "Whether this chat gets messages. (es)",
      "pt-BR": "Whether this chat gets messages. (pt)",
      hi: "Whether this chat gets messages. (hi)",
    });
    const called = { "es-ES": "enviar", "es-419": "enviar", "pt-BR": "enviar", hi: "भेजना" };
    expect(send?.name_localizations).toEqual(called);
    expect(send?.options?.[0]?.name_localizations).toMatchObject({ "es-419": "modo", hi: "मोड" });
    expect(send?.options?.[0]?.choices?.map(({ name_localizations: names }) => names?.["pt-BR"])).toEqual([
      "ligado",
      "desligado",
      // As in English; Discord shows that where there is no other.
      undefined,
    ]);
    expect(send?.contexts).toEqual([0, 1]);
    expect(send?.options?.[0]?.choices?.map(({ value }) => value)).toEqual(["on", "off", "inherit"]);
    expect(bot.discord.commands().find("status")?.description).toHaveLength(100);
    expect(bot.discord.commands().find("status")?.options).toMatchObject([
      { name: "session", autocomplete: true, required: false },
    ]);
  });

  it("CMD-4: a person calls a command, its arguments and their values as they are called in the menu; the core gets the real ones", async () => {
    const bot = await aBot();
    const host = await startedWith(bot, commandSpecs);
    await menuOf(bot.discord, commandSpecs.length);
    const uses = [
      ["es-ES", "enviar", { modo: "desactivado" }],
      ["es-419", "entregas", { acción: "reenviar", cuál: "3" }],
      ["pt-BR", "sessões", { ação: "rótulo", qual: "#1", texto: "Trabalho" }],
      ["hi", "सब-एजेंट", { कार्रवाई: "रोकें", "कौन-सा": "2" }],
      ["hi", "stop", {}],
    ] as const;
    for (const [locale, name, options] of uses) {
      const call = bot.discord.slash(name, { locale, options });
      await bot.discord.until(() => call.state === "answered", name);
    }
    expect(host.commandCalls.map(({ name, text }) => `/${name} ${text}`.trim())).toEqual([
      "/send off",
      "/deliveries retry 3",
      "/sessions label #1 Trabalho",
      "/subagents stop 2",
      "/stop",
    ]);
    const typing = bot.discord.type("entregas", "cuál", "pastel", { locale: "es-ES" });
    await bot.discord.until(() => typing.state === "answered", "suggestions");
    expect(host.completionCalls).toMatchObject([
      { name: "deliveries", argument: "which", typed: "pastel", locale: "es-ES" },
    ]);
  });

  it("CMD-4: where the host has a command of that name, ours keeps its English one in that language, also at the next start", async () => {
    const bot = await aBot();
    const { discord } = bot;
    discord.commands().upsert({ name: "estado", description: "The host's own." });
    const name_localizations = { "es-ES": "enviar" };
    discord.commands().upsert({ name: "mail", description: "The host's own.", name_localizations });
    await startedWith(bot, ours);
    await menuOf(discord, 4);
    const namesOf = (name: string) => discord.commands().find(name)?.name_localizations;
    expect(namesOf("status")).toEqual({ hi: "स्थिति" });
    expect(namesOf("send")).toEqual({ "es-419": "enviar", "pt-BR": "enviar", hi: "भेजना" });
    expect(await writesOfNextStart(bot)).toEqual([]);
    discord.commands().remove(discord.commands().find("estado")?.id ?? "");
    expect(await writesOfNextStart(bot)).toEqual(["PATCH"]);
    expect(namesOf("status")).toEqual({ "es-ES": "estado", "es-419": "estado", hi: "स्थिति" });
  });

  it("CMD: they belong to servers that have the bot; who sees them there is for the host and the server", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const hidden = { ...discordCommands([sendCommand])[0], default_member_permissions: "0" };
    const { version } = discord.commands().upsert(hidden).command;
    await startedWith(bot, ours);
    await menuOf(discord, 2);
    expect(discord.commands().find("send")).toMatchObject({ version, default_member_permissions: "0" });
    expect(discord.commands().find("status")).toMatchObject({
      default_member_permissions: null,
      integration_types: [0],
      contexts: [0, 1],
    });
  });

  it("CMD: what is already right is not written again; what has changed is changed in place", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const outdated = {
      name: "status",
      description: "Old words.",
      description_localizations: { hi: "पुराना" },
    };
    const status = { ...statusCommand, description: { ...describedAs("New words."), hi: "पुराना" } };
    const { id } = discord.commands().upsert(outdated).command;
    await startedWith(bot, [status, sendCommand]);
    await menuOf(discord, 2);
    expect(discord.commands().find("status")).toMatchObject({ id, description: "New words." });

    expect(await writesOfNextStart(bot, [status, sendCommand])).toEqual([]);
  });

  it("CMD-4: the real menu is not written again at the next start; one that an earlier version made without names gets them", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const nameless = discordCommands(commandSpecs).map(({ name_localizations: _names, ...one }) => one);
    const made = discord.commands().replaceAll(nameless);
    await startedWith(bot, commandSpecs);
    await discord.until(() => discord.commands().find("ayuda", "es-ES") !== undefined, "the last has a name");
    const ids = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id).sort();
    expect(ids(discord.commands().list())).toEqual(ids(made));
    expect(await writesOfNextStart(bot, commandSpecs)).toEqual([]);
  });

  it("CMD: a command of the host with the name of ours is neither overwritten nor answered", async () => {
    const bot = await aBot();
    const { discord } = bot;
    discord.commands().upsert({ name: "status", description: "The host's own status." });
    const host = await startedWith(bot, ours);
    await menuOf(discord, 2);
    discord.slash("status");
    const call = discord.slash("send", { options: { mode: "on" } });
    await discord.until(() => call.state === "answered", "our own command was answered");
    expect(host.commandCalls.map(({ name }) => name)).toEqual(["send"]);
    expect(discord.commands().find("status")?.description).toBe("The host's own status.");
    expect(host.log.map(({ message }) => message).join()).toMatch(/its own \/status/);
  });

  it("CMD-1: where no menu is wanted none is read or changed, and a command of that name is the host's", async () => {
    const bot = await aBot();
    const { discord } = bot;
    discord.commands().upsert({ name: "status", description: "The host's own status." });
    const host = new RecordingHost(ours, false);
    await bot.adapter.start(host);
    const call = discord.slash("status");
    discord.say("typed");
    await host.texts(1);
    // Whatever was asked of Discord before this has arrived by now.
    await bot.adapter.setTyping?.(placeOf(discord.general.id));
    expect(call.state).toBe("unanswered");
    expect(host.commandCalls).toEqual([]);
    expect(discord.requests.filter(({ path }) => path.endsWith("/commands"))).toEqual([]);
  });

  it("CMD: commands of the host alone, global or of the server, are left to the host", async () => {
    const bot = await aBot();
    const { discord } = bot;
    discord.commands().upsert({ name: "ban", description: "The host's." });
    discord.commands(discord.bot, true).upsert({ name: "send", description: "The host's, in this server." });
    const host = await startedWith(bot, ours);
    await menuOf(discord, 3);
    const foreign = [discord.slash("ban"), discord.slash("send", { ofGuild: true })];
    const call = discord.slash("status");
    await discord.until(() => call.state === "answered", "our own command was answered");
    expect(host.commandCalls.map(({ name }) => name)).toEqual(["status"]);
    expect(foreign.map(({ state }) => state)).toEqual(["unanswered", "unanswered"]);
  });

  it.each([false, true])(
    "CMD: the host's own script may register them, for a server alone: %s; then nothing is written, and they are answered",
    async (ofGuild) => {
      const bot = await aBot({ adapter: { registerCommands: false } });
      const { discord } = bot;
      const mine = { name: "status", description: "The host's own status." };
      const merged = [...discordCommands(ours).filter(({ name }) => name !== mine.name), mine];
      discord.commands(discord.bot, ofGuild).replaceAll(merged);
      const host = await startedWith(bot, ours);
      discord.slash("status", { ofGuild });
      const call = discord.slash("send", { ofGuild, options: { mode: "on" } });
      await discord.until(() => call.state === "answered", "ours was answered");
      expect(host.commandCalls.map(({ name }) => name)).toEqual(["send"]);
      const onMenus = discord.requests.filter(({ path }) => path.endsWith("/commands"));
      expect(new Set(onMenus.map(({ method }) => method))).toEqual(new Set(["GET"]));
    },
  );

  it("CMD: what the host's script may register is what the adapter registers", async () => {
    const bot = await aBot();
    await startedWith(bot, ours);
    await menuOf(bot.discord, 2);
    const written = bot.discord.requests.filter(
      ({ method, path }) => method === "POST" && path.endsWith("/commands"),
    );
    expect(written.map(({ body }) => body)).toEqual(discordCommands(ours));
  });

  it("CMD: a command of which Discord does not tell whose it is is not answered; the next call asks again", async () => {
    const bot = await aBot({ adapter: { registerCommands: false } });
    const { discord } = bot;
    discord.commands().replaceAll(discordCommands(ours));
    const host = await startedWith(bot, ours);
    discord.faults.next("GET", /\/commands$/, { kind: "status", status: 403, code: 50001 });
    const first = discord.slash("status");
    await host.until(
      () => host.log.some(({ message }) => /whether it is ours/.test(message)),
      "it was logged",
    );
    const second = discord.slash("status");
    await discord.until(() => second.state === "answered", "the second call was answered");
    expect(first.state).toBe("unanswered");
  });

  it("CMD: a menu that cannot be read is reported, and made at the next connection", async () => {
    const bot = await aBot();
    const { discord } = bot;
    discord.faults.next("GET", /\/commands$/, { kind: "status", status: 403, code: 50001 });
    const host = await startedWith(bot, ours);
    await host.until(() => host.log.some(({ message }) => /menu/.test(message)), "the failure was logged");
    discord.gateway.drop(4000);
    await menuOf(discord, 2);
  });
});

describe("discord: a command that a person calls", () => {
  it("CMD: the core gets words, place and person; the answer is for the caller alone", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const host = await readyWith(bot);
    const options = { mode: "off", note: "too loud" };
    const call = discord.slash("send", { options, locale: "pt-BR" });
    await discord.until(() => call.state === "answered", "the command was answered");
    expect(host.commandCalls[0]).toEqual({
      id: call.id,
      name: "send",
      text: 'off "too loud"',
      from: placeOf(discord.general.id),
      sender: { id: discord.owner.id, name: "Olga", isBot: false },
      locale: "pt-BR",
      guildId: discord.world.guildId,
    });
    expect(call.answers).toMatchObject([{ content: "answer to send", ephemeral: true }]);
    expect(call.answers[0]?.allowedMentions).toEqual({ parse: [], replied_user: false });
    expect(discord.sent).toEqual([]);
  });

  it("J10 CMD: called in a thread it belongs to the parent, also in one that the client has never heard of", async () => {
    const bot = await aBot();
    const { discord } = bot;
    const host = await readyWith(bot);
    const known = discord.addThread(discord.general, "a topic");
    const type = channelTypes.privateThread;
    const hidden = discord.addThread(discord.general, "hidden", { type, announced: false });
    for (const thread of [known, hidden]) {
      const call = discord.slash("status", { in: thread });
      await discord.until(() => call.state === "answered", "the command was answered");
    }
    const places = [known, hidden].map(({ id }) => placeOf(discord.general.id, id));
    expect(host.commandCalls.map(({ from }) => from)).toEqual(places);
  });

  it("J10 CMD: a client without partials knows neither such a thread nor the direct chat, so they are looked up", async () => {
    const bot = await aBot({ client: { partials: [] } });
    const { discord } = bot;
    const host = await readyWith(bot);
    const type = channelTypes.privateThread;
    const hidden = discord.addThread(discord.general, "hidden", { type, announced: false });
    for (const room of [hidden, discord.direct]) {
      const call = discord.slash("status", { in: room });
      await discord.until(() => call.state === "answered", "the command was answered");
    }
    expect(host.commandCalls.map(({ from }) => from)).toEqual([
      placeOf(discord.general.id, hidden.id),
      { ...placeOf(discord.direct.id), chatType: "direct" },
    ]);
  });

  it("CMD: it works in the direct chat with the bot", async () => {
    const bot = await aBot();
    const host = await readyWith(bot);
    const call = bot.discord.slash("status", { in: bot.discord.direct });
    await bot.discord.until(() => call.state === "answered", "the command was answered");
    expect(host.commandCalls[0]?.from).toEqual({ ...placeOf(bot.discord.direct.id), chatType: "direct" });
  });

  it("CMD: a slow command is acknowledged at once and answered when it is done", async () => {
    const bot = await aBot();
    const host = await readyWith(bot);
    const { finish, answer } = slowAnswer();
    host.onCommand = () => answer;
    const call = bot.discord.slash("status");
    await bot.discord.until(() => call.state === "thinking", "the command was acknowledged");
    expect(call).toMatchObject({ ephemeral: true, answers: [] });
    expect(call.acknowledgedAfterMs).toBeLessThan(1000);
    finish("done");
    await bot.discord.until(() => call.state === "answered", "the command was answered");
    expect(call.answers).toMatchObject([{ content: "done" }]);
  });

  it("CMD K06: a long answer goes on in private follow-ups and notifies nobody", async () => {
    const bot = await aBot();
    const host = await readyWith(bot);
    const words = Array.from({ length: 700 }, (_, index) => `@everyone${index}`);
    host.onCommand = async () => ({ text: words.join(" ") });
    const call = bot.discord.slash("status");
    const shown = () => call.answers.flatMap(({ content }) => content.match(/everyone\d+/g) ?? []);
    await bot.discord.until(() => shown().length === words.length, "the whole answer was shown");
    expect(shown()).toEqual(words.map((word) => word.slice(1)));
    for (const { ephemeral, allowedMentions } of call.answers) {
      expect({ ephemeral, allowedMentions }).toEqual({
        ephemeral: true,
        allowedMentions: { parse: [], replied_user: false },
      });
    }
  });

  it("CMD: nothing to say takes the waiting notice away", async () => {
    const bot = await aBot();
    const host = await readyWith(bot);
    host.onCommand = async () => undefined;
    const call = bot.discord.slash("status");
    await bot.discord.until(() => call.state === "deleted", "the notice went away");
  });

  it("CMD: stop waits fifteen seconds at most for an answer that Discord does not take, however long its limit", async () => {
    const limits = limitsInHand();
    const bot = await aBot();
    const host = await readyWith(bot);
    bot.discord.faults.next("PATCH", /webhooks/, { kind: "rateLimit", retryAfterSeconds: 60 });
    const limited = new Promise((resolve) => bot.client.rest.once("rateLimited", resolve));
    bot.discord.slash("status");
    await limited;
    const stopped = bot.adapter.stop();
    limits.pass(15_000);
    await stopped;
    expect(host.log.at(-1)?.message).toMatch(/could not be shown/);
  });

  it("CMD: a call that somebody else has acknowledged is not carried out", async () => {
    const bot = await aBot();
    const host = await readyWith(bot);
    bot.discord.faults.next("POST", /\/callback$/, { kind: "status", status: 400, code: 40_060 });
    const call = bot.discord.slash("status");
    await host.until(() => host.log.some(({ message }) => /acknowledged/.test(message)), "it was logged");
    expect(call.answers).toEqual([]);
    expect(host.commandCalls).toEqual([]);
  });

  it("CMD: stop waits for the command under way and takes no further one", async () => {
    const bot = await aBot();
    const host = await readyWith(bot);
    const { finish, answer } = slowAnswer();
    let calls = 0;
    host.onCommand = () => {
      calls += 1;
      return answer;
    };
    const call = bot.discord.slash("status");
    await bot.discord.until(() => call.state === "thinking", "the command was acknowledged");
    const stopped = bot.adapter.stop();
    const late = bot.discord.slash("status");
    finish("last words");
    await stopped;
    expect(call.answers).toMatchObject([{ content: "last words" }]);
    expect(late.state).toBe("unanswered");
    expect(calls).toBe(1);
  });
});

/** What the switchboard's next start, with the same client, changes in the menu. */
async function writesOfNextStart(bot: Bot, specs: readonly CommandSpec[] = ours): Promise<readonly string[]> {
  const { discord, client } = bot;
  await bot.adapter.stop();
  const before = discord.requests.length;
  const next = discordAdapter({ client });
  await next.start(new RecordingHost(specs));
  const onMenu = () => discord.requests.slice(before).filter(({ path }) => path.includes("/commands"));
  await discord.until(() => onMenu().length > 0, "the menu was read");
  // Answered when what follows the reading has been asked for.
  const call = discord.slash("status");
  await discord.until(() => call.state === "answered", "a command was answered");
  await next.stop();
  return onMenu().flatMap(({ method }) => (method === "GET" ? [] : [method]));
}

function slowAnswer() {
  let finish: (text: string) => void = () => {};
  const answer = new Promise<{ text: string }>((resolve) => {
    finish = (text) => resolve({ text });
  });
  return { finish, answer };
}
