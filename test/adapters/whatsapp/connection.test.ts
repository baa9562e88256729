import { describe, expect, it } from "vitest";
import type { WhatsAppOptions } from "../../../src/adapters/whatsapp/index.ts";
import { fakeClock } from "../../fakes/fake-clock.ts";
import { LIBRARIES } from "../../standins/whatsapp/library.ts";
import { adapterListeners, failureOf, offline, reconnected, startedBot } from "./started.ts";

describe.each(LIBRARIES)("whatsapp with Baileys $version: when the socket goes and comes", (library) => {
  const started = (options?: WhatsAppOptions) => startedBot(library, options);

  it("M04 DELIV-2: during a gap a send fails at once and may be tried again; the core learns when it can be", async () => {
    const bot = await started();
    const to = bot.addressOf(bot.group("Ops"));
    const readyBefore = bot.host.readyCalls;
    await offline(bot, async () => {
      expect(await failureOf(bot.send(to, "announce"))).toEqual({ retryable: true, partsSent: 0 });
      expect(bot.host.readyCalls).toBe(readyBefore);
    });
    await bot.host.until(() => bot.host.readyCalls > readyBefore, "the core was told");
    await bot.send(to, "announce");
    expect(bot.server.sent.map(({ text }) => text?.trim())).toEqual(["announce"]);
    expect(bot.server.repeated).toEqual([]);
  });

  it("WA-2 M04: attempts without a connection use up nothing of the burst that is free", async () => {
    const clock = fakeClock();
    const bot = await startedBot(library, { gentle: true }, { clock, random: () => 0.5 });
    const to = bot.addressOf(bot.group("Ops"));
    await offline(bot, async () => {
      for (let n = 0; n < 10; n++) await failureOf(bot.send(to, "later"));
    });
    for (const text of ["1", "2", "3"]) await bot.send(to, text);
    expect(bot.server.sent).toHaveLength(3);
  });

  it("M04: after a reconnect everything runs over the new socket and the old one has no listeners left", async () => {
    const bot = await started();
    const before = bot.listeners;
    const newlyConnected = reconnected(bot);
    bot.server.disconnect(515);
    await newlyConnected;
    await bot.server.say(bot.alice, "still there?");
    expect(await bot.host.texts(1)).toEqual(["still there?"]);
    await bot.send(bot.addressOf(bot.alice), "yes");
    expect(bot.server.sent).toHaveLength(1);
    expect(bot.listeners).toBe(2 * (before - adapterListeners) + adapterListeners);
  });

  it("M04: a connection that breaks before the server stored the message loses nothing", async () => {
    const bot = await started();
    const to = bot.addressOf(bot.group("Ops"));
    bot.server.dropAtNext("before storing");
    const newlyConnected = reconnected(bot);
    expect(await failureOf(bot.send(to, "kept"))).toEqual({ retryable: true, partsSent: 0 });
    await newlyConnected;
    await bot.send(to, "kept");
    expect(bot.server.sent.map(({ text }) => text?.trim())).toEqual(["kept"]);
  });

  it("M04: attaching the same socket again changes nothing; its detach ends it, once", async () => {
    const bot = await started();
    bot.reconnects = false;
    const socket = await bot.connected;
    const before = bot.listeners;
    const detach = bot.adapter.attach(socket);
    expect(bot.adapter.attach(socket)).toBeTypeOf("function");
    expect(bot.listeners).toBe(before);
    detach();
    detach();
    expect(bot.listeners).toBe(before - adapterListeners);
    expect(await failureOf(bot.send(bot.addressOf(bot.alice), "no socket"))).toMatchObject({
      retryable: true,
    });
    bot.adapter.attach(socket);
    await bot.server.say(bot.alice, "attached late");
    expect(await bot.host.texts(1)).toEqual(["attached late"]);
    await bot.send(bot.addressOf(bot.alice), "and answering");
    expect(bot.server.sent).toHaveLength(1);
  });

  it("M04: the detach function of a replaced socket does not touch the new one", async () => {
    const bot = await started();
    const detachOld = bot.adapter.attach(await bot.connected);
    const newlyConnected = reconnected(bot);
    bot.server.disconnect("lost");
    await newlyConnected;
    detachOld();
    await bot.server.say(bot.alice, "hello");
    expect(await bot.host.texts(1)).toEqual(["hello"]);
  });

  it("M04: attached 50 times to one socket after the other, the adapter listens on the newest only, and once", async () => {
    const bot = await started();
    bot.reconnects = false;
    const older = await bot.connected;
    const before = bot.listeners;
    const newer = await bot.connect();
    expect(bot.listeners).toBe(2 * (before - adapterListeners) + adapterListeners);
    for (let n = 0; n < 25; n++) for (const socket of [older, newer]) bot.adapter.attach(socket);
    expect(bot.listeners).toBe(2 * (before - adapterListeners) + adapterListeners);
    await bot.server.say(bot.alice, "once");
    await bot.server.say(bot.alice, "end");
    expect(await bot.host.texts(2)).toEqual(["once", "end"]);
  });

  it("M04: a message on its way when the socket is replaced is sent again under its id, and kept once", async () => {
    const bot = await started();
    const to = bot.addressOf(bot.group("Ops"));
    const sending = failureOf(bot.send(to, "on its way"));
    await bot.server.until(() => bot.server.sent.length === 1);
    bot.reconnects = false;
    await bot.connect();
    expect(await sending).toEqual({ retryable: true, partsSent: 0 });
    const { messageIds } = await bot.send(to, "on its way");
    expect(bot.server.sent.map(({ id }) => id)).toEqual(messageIds);
    expect(bot.server.repeated).toEqual(messageIds);
  });

  it.each([
    [401, "unlinked this device"],
    [403, "blocked the account"],
    [411, "too old"],
    [440, "same credentials"],
    [500, undefined],
    [503, undefined],
    [515, undefined],
  ] as const)(
    "M04 DELIV-2: closed with %d, a send may be tried again; the log says: %s",
    async (code, said) => {
      const bot = await started();
      bot.reconnects = false;
      const socket = await bot.connected;
      const closed = new Promise<void>((resolve) => {
        socket.ev.on("connection.update", ({ connection }) => connection === "close" && resolve());
      });
      bot.server.disconnect(code);
      await closed;
      const sending = bot.send(bot.addressOf(bot.alice), "hello");
      await expect(sending).rejects.toThrow(said ?? "WhatsApp is not connected");
      expect(await failureOf(sending)).toEqual({ retryable: true, partsSent: 0 });
      const errors = bot.host.log.filter(({ level }) => level === "error").map(({ message }) => message);
      expect(errors).toEqual(said ? [expect.stringContaining(said)] : []);
    },
  );
});
