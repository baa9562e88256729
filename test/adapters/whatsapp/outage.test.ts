import { describe, expect, it, onTestFinished } from "vitest";
import type { SwitchboardEvents } from "../../../src/core/ports/events.ts";
import { aBoard } from "../../fakes/a-board.ts";
import { fakeClock } from "../../fakes/fake-clock.ts";
import { gate } from "../../fakes/gate.ts";
import { LIBRARIES } from "../../standins/whatsapp/library.ts";
import { Bot } from "./bot.ts";
import { offline } from "./started.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** On a busy machine. */
const LONG_MS = 60_000;
const CHATS = 4;

describe.each(LIBRARIES)("whatsapp with Baileys $version: hours without a connection", (library) => {
  const texts = library.mapsLids ? 50 : 10;

  it(
    `DELIV-2 M04: ${CHATS * texts} answers wait, and leave in order and once each as soon as a socket is open`,
    async () => {
      const clock = fakeClock();
      const bot = await new Bot(library, {}, { clock, random: Math.random }).run();
      onTestFinished(() => bot.close());
      const slow = gate();
      const board = await aBoard({
        clock,
        adapters: [bot.adapter],
        config: {
          session: { dmScope: "per-channel-peer" },
          channels: { whatsapp: { dmPolicy: "open" } },
        },
        agents: {
          main: async ({ text, signal }) => {
            await slow.pass(signal);
            return `re: ${text.slice(text.lastIndexOf(":") + 1).trim()}`;
          },
        },
      });
      const settled: SwitchboardEvents["delivery.settled"][] = [];
      board.on("delivery.settled", (event) => settled.push(event));
      const people = Array.from({ length: CHATS }, (_, n) =>
        bot.server.addPerson({ name: `P${n}`, phone: `1555000500${n}`, lid: `99000000000050${n}` }),
      );
      const numbers = Array.from({ length: texts }, (_, n) => String(n));
      for (const text of numbers) {
        for (const person of people) await bot.server.say(person, text);
      }
      await board.quiet();
      await offline(bot, async () => {
        slow.open();
        await board.quiet();
        await clock.advance(5 * MINUTE);
        clock.skip(3 * HOUR);
        await clock.advance(MINUTE);
        expect(bot.server.sent).toEqual([]);
      });
      await bot.server.until(() => bot.server.sent.length === CHATS * texts, LONG_MS);
      await board.quiet();
      for (const person of people) {
        const told = bot.server.sent.filter(({ to }) => to === person.jid("pn")).map(({ text }) => text);
        expect(told).toEqual(numbers.map((text) => `re: ${text}`));
      }
      expect(bot.server.repeated).toEqual([]);
      expect(settled.map(({ state }) => state)).toEqual(Array(CHATS * texts).fill("delivered"));
    },
    LONG_MS,
  );
});
