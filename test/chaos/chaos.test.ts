import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import type { Address } from "../../src/core/ports/chat.ts";
import { compiled } from "../compiled.ts";
import { startBots } from "../crash/bots-process.ts";
import { makeWorld, type World } from "../crash/crash-setup.ts";
import type { Fault } from "../standins/discord/faults.ts";
import { type Failure, rateLimited, serverError } from "../standins/telegram/failures.ts";
import { startSender } from "./sender.ts";
import { judge, wordsIn } from "./verdict.ts";

/** CHAOS=full: a thousand texts per platform and twenty kills. */
const FULL = process.env.CHAOS === "full";
const CHATS = 4;
const PER_CHAT = FULL ? 250 : 10;
const KILLS = FULL ? 20 : 2;
const FEED_PAUSE_MS = FULL ? 200 : 100;
const LONGEST_LIFE_MS = FULL ? 1500 : 500;
/** On average one fault in so many requests. */
const ONE_FAULT_IN = 12;
const PROGRAM = await compiled(join(import.meta.dirname, "chaos-main.ts"));

it(
  `DELIV-1 DELIV-2 M01 M03 M04: ${CHATS * PER_CHAT} texts per platform, with lost connections, limits, server errors and ${KILLS} kill -9: every chat has them in order, none is lost, none is doubled, and what nobody knows is listed and can be sent again`,
  async () => {
    quietSignal();
    const world = await makeWorld();
    const setup = {
      ...world.setup,
      platforms: {
        ...world.setup.platforms,
        whatsapp: { ...world.setup.platforms.whatsapp, gentle: false },
      },
    };
    const chats = openChats(world);
    const sender = await startSender(setup);
    orderFaults(world);
    const begun = performance.now();
    const fed = sender.feed(chats, PER_CHAT, FEED_PAUSE_MS);
    for (let kill = 1; kill <= KILLS; kill++) {
      const bots = startBots(PROGRAM, setup);
      // Some die while they start.
      await Promise.race([bots.ready, kill % 5 === 0 ? pause(Math.random() * 1500) : bots.ready]);
      await pause(Math.random() * LONGEST_LIFE_MS);
      await bots.kill();
    }
    const last = startBots(PROGRAM, setup);
    await Promise.all([fed, last.ready]);
    await sender.drained(chats);
    const seconds = Math.round((performance.now() - begun) / 1000);

    const { faults, counts } = judge(world, sender.texts, await sender.dead());
    process.stdout.write(
      `${KILLS} kills, ${sender.texts.length} texts in ${seconds} s: ${JSON.stringify(counts)}\n`,
    );
    expect(faults).toEqual([]);
    expect(sender.texts).toHaveLength(3 * CHATS * PER_CHAT);
    // They know a repeat by its id.
    for (const name of [
      "discord uncertain",
      "whatsapp uncertain",
      "discord failed",
      "telegram failed",
      "whatsapp failed",
    ])
      expect(counts[name], name).toBe(0);
    expect(counts["telegram uncertain"]).toBeGreaterThan(0);

    expect(await sender.retryAll()).toBe(counts["telegram uncertain"]);
    await sender.drained(chats);
    // Orders for faults may be left over.
    for (let round = 0; round < 10 && (await sender.dead()).length > 0; round++) {
      await sender.retryAll();
      await sender.drained(chats);
    }
    expect(await sender.dead()).toEqual([]);
    const words = wordsIn(world);
    for (const { to, words: sent } of sender.texts) {
      const there = new Set(words.get(`${to.channel} ${to.chatId}`));
      expect(sent.filter((word) => !there.has(word))).toEqual([]);
    }
    await last.close();
    await sender.close();
    await world.close();
  },
  FULL ? 600_000 : 60_000,
);

/** The Signal library of the stand-in's people tells the console, keys and all, whenever a killed bot begins a session anew. */
function quietSignal(): void {
  for (const level of ["log", "info", "warn", "error"] as const)
    vi.spyOn(console, level).mockImplementation(() => {});
}

/** Four chats on each platform: rooms, and a person where the platform lets bots write first. */
function openChats({ discord, telegram, whatsapp, group, olivia }: World): readonly Address[] {
  const rooms = Array.from({ length: CHATS }, (_, index) => index);
  const people = rooms.slice(2).map((index) =>
    whatsapp.addPerson({
      phone: `1555000300${index}`,
      lid: `99000000000100${index}`,
      name: `Person ${index}`,
    }),
  );
  const at = (channel: string, chatType: Address["chatType"], chatId: string): Address => ({
    channel,
    accountId: "default",
    chatType,
    chatId,
  });
  return [
    ...rooms.map((index) => at("discord", "channel", discord.addChannel(`room-${index}`).id)),
    ...rooms.map((index) => {
      const { chat } = telegram.room({ id: -1_000_000 - index, type: "supergroup", title: `Room ${index}` });
      return at("telegram", "group", String(chat.id));
    }),
    at("whatsapp", "group", group.jid),
    ...[olivia, ...people].map((person) => at("whatsapp", "direct", person.jid("lid"))),
  ];
}

type WhatsAppFault = "before storing" | "after storing" | { readonly error: string };

/** What goes wrong, one after the other, each after some requests that go well. */
function orderFaults({ discord, telegram, whatsapp }: World): void {
  const faults = Math.ceil((CHATS * PER_CHAT) / ONE_FAULT_IN);
  const spared = () => Math.floor(Math.random() * 2 * (ONE_FAULT_IN - 1));
  for (let n = 0; n < faults; n++) {
    discord.faults.next("POST", /\/messages$/, pick(DISCORD, n), { spared: spared() });
    telegram.failNext("sendMessage", pick(TELEGRAM, n), spared());
    const fault = pick(WHATSAPP, n);
    if (typeof fault === "string") whatsapp.dropAtNext(fault, spared());
    else whatsapp.refuseNext(fault.error, spared());
  }
}

const DISCORD: readonly [Fault, ...Fault[]] = [
  { kind: "drop", when: "after" },
  { kind: "rateLimit", retryAfterSeconds: 0.3 },
  { kind: "status", status: 500 },
  { kind: "drop", when: "before" },
  { kind: "rateLimit", retryAfterSeconds: FULL ? 6 : 1 },
];
const TELEGRAM: readonly [Failure, ...Failure[]] = [
  { kind: "dropAfter" },
  rateLimited(1),
  serverError,
  { kind: "dropBefore" },
  { kind: "badGateway" },
];
const WHATSAPP: readonly [WhatsAppFault, ...WhatsAppFault[]] = [
  "after storing",
  { error: "503" },
  "before storing",
];

function pick<T>(some: readonly [T, ...T[]], n: number): T {
  return some[n % some.length] ?? some[0];
}
