import { describe, expect, it, onTestFinished } from "vitest";
import { discordAdapter } from "../../../src/adapters/discord/index.ts";
import { aBoard, type Board } from "../../fakes/a-board.ts";
import type { Fault } from "../../standins/discord/faults.ts";
import type { Channel } from "../../standins/discord/world.ts";
import { type Bot, makeBot } from "./bot.ts";

const messagesPath = /^\/channels\/\d+\/messages$/;
const wall: Fault = { kind: "wall" };
const global: Fault = { kind: "rateLimit", retryAfterSeconds: 600, scope: "global" };

/** A switchboard whose agent repeats what it is told, on a real client with three rooms. */
async function aPlace() {
  const bot = await makeBot();
  onTestFinished(() => bot.close());
  const { discord, client } = bot;
  const rooms = [discord.general, discord.addChannel("second"), discord.addChannel("third")] as const;
  const begin = (more: Partial<Pick<Board, "dataDir" | "clock">> = {}) =>
    aBoard({
      adapters: [discordAdapter({ client })],
      owners: { discord: [discord.owner.id] },
      agents: { main: ({ text }) => text.slice(text.lastIndexOf(" ") + 1) },
      ...more,
    });
  return { bot, rooms, begin };
}

/** Resolves when the answer is on its way, or waits to be. */
async function asks({ discord }: Bot, board: Board, room: Channel, word: string): Promise<void> {
  const answered = board.next("run.finished");
  discord.say(`<@${discord.bot.user.id}> say ${word}`, { in: room });
  await answered;
  await board.quiet();
}

const tries = ({ discord }: Bot) =>
  discord.requests.filter(({ method, path }) => method === "POST" && messagesPath.test(path)).length;

const said = ({ discord }: Bot, room: Channel) =>
  discord.sent.filter(({ channelId }) => channelId === room.id).map(({ content }) => content);

describe("discord: a limit of the whole account", () => {
  it.each([false, true])(
    "M01 DELIV-1: one refusal holds every chat until it is over, through a reconnect and a restart (%s); then each has its texts in order, and none has failed",
    async (restarts) => {
      const { bot, rooms, begin } = await aPlace();
      const { discord } = bot;
      const [first, second, third] = rooms;
      let board = await begin();
      discord.faults.next("POST", messagesPath, wall);
      await asks(bot, board, first, "a1");
      await discord.until(() => tries(bot) === 1, "the refusal");
      await expect
        .poll(() => board.complaints.join())
        .toContain("Everything that this account has to send waits");
      for (const [room, word] of [
        [second, "b1"],
        [third, "c1"],
        [first, "a2"],
        [second, "b2"],
      ] as const)
        await asks(bot, board, room, word);
      expect((await board.deliveries.waiting()).found.map(({ count, reason }) => [count, reason])).toEqual(
        [2, 2, 1].map((count) => [
          count,
          expect.stringContaining("Discord asks the whole account to wait 60 s."),
        ]),
      );
      const status = discord.slash("status", { in: second });
      await discord.until(() => status.state === "answered", "/status");
      expect(status.answers[0]?.content).toMatch(
        /2 messages have been waiting to be sent for .*the whole account/,
      );

      await board.clock.advance(30_000);
      if (restarts) {
        await board.close({ graceMs: 0 });
        const { dataDir, clock } = board;
        board = await begin({ dataDir, clock });
      }
      const ready = new Promise((resolve) => bot.client.once("shardResume", resolve));
      discord.gateway.drop(4000);
      await ready;
      await board.clock.advance(29_000);
      await board.quiet();
      expect(tries(bot)).toBe(1);

      await board.clock.advance(2000);
      await discord.until(() => discord.sent.length === 5, "all texts");
      expect(rooms.map((room) => said(bot, room))).toEqual([["a1", "a2"], ["b1", "b2"], ["c1"]]);
      expect(tries(bot)).toBe(6);
      expect((await board.deliveries.deadLetters()).total).toBe(0);
    },
  );

  it("M01: so does Discord's global limit, and closing ends the wait at once", async () => {
    const { bot, rooms, begin } = await aPlace();
    const board = await begin();
    bot.discord.faults.next("POST", messagesPath, global);
    for (const room of rooms) await asks(bot, board, room, "hello");
    await expect.poll(() => board.deliveries.waiting()).toMatchObject({ total: 3 });
    expect(tries(bot)).toBe(1);
    expect(board.complaints.filter((line) => /waits|tried again/.test(line))).toHaveLength(1);
    await board.close({ graceMs: 0 });
    expect(bot.discord.sent).toEqual([]);
  });

  it("M01: closing ends the wait of a text that the client holds back for a moment, too", async () => {
    const { bot, rooms, begin } = await aPlace();
    const board = await begin();
    bot.discord.faults.next("POST", messagesPath, { ...global, retryAfterSeconds: 4.9 });
    const held = new Promise((resolve) => bot.client.rest.once("rateLimited", resolve));
    await asks(bot, board, rooms[0], "hello");
    await held;
    const before = Date.now();
    await board.close({ graceMs: 0 });
    expect(Date.now() - before).toBeLessThan(2000);
    expect(bot.discord.sent).toEqual([]);
  });
});
