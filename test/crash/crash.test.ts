import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { compiled } from "../compiled.ts";
import { startBots } from "./bots-process.ts";
import { makeWorld, openStore, type World } from "./crash-setup.ts";
import { judge } from "./verdict.ts";

/** CRASH_ROUNDS=100 for the long version. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 5);
/** A kill falls anywhere between the start of a process and the end of what it was asked. */
const LONGEST_LIFE_MS = 500;
/** One for each way to end. */
const CHILDREN_OF_A_FAN = 3;
const PROGRAM = await compiled(join(import.meta.dirname, "bots-main.ts"));

it(
  `RUN-2 STORE-4 ANN-4 M03 O01 D06 C03: after ${ROUNDS} kill -9 at random points nothing accepted is lost, nothing is doubled, what was cut off is told, and every child is settled and told once`,
  async () => {
    const world = await makeWorld();
    const accepted: string[] = [];
    await introduce(world);
    for (let round = 1; round <= ROUNDS; round++) {
      const bots = startBots(PROGRAM, world.setup);
      const killed =
        round % 5 === 0
          ? pause(Math.random() * 1500)
          : bots.ready.then(() => pause(Math.random() * LONGEST_LIFE_MS));
      ask(world, round);
      await killed;
      await bots.kill();
      accepted.push(...bots.accepted);
    }
    const last = startBots(PROGRAM, world.setup);
    await last.ready;
    // Nobody kills this one: whatever the kills have missed, each way to end is among what is judged.
    world.telegram.say(`fan${ROUNDS + 1} please`);
    await drained(world);
    await last.close();
    accepted.push(...last.accepted);

    const { faults, counts } = judge(world, accepted);
    console.log(`${ROUNDS} kills: ${JSON.stringify(counts)}`);
    expect(faults).toEqual([]);
    expect(counts.inboundRuns).toBeGreaterThanOrEqual(ROUNDS);
    const { children, childrenOk, childrenFailed, childrenTimedOut, interrupted } = counts;
    for (const count of [childrenOk, childrenFailed, childrenTimedOut]) expect(count).toBeGreaterThan(0);
    expect(children).toBeGreaterThan(CHILDREN_OF_A_FAN);
    // A few kills may all miss; many cannot.
    if (ROUNDS >= 20) expect(interrupted).toBeGreaterThan(0);
    await world.close();
  },
  60_000 + ROUNDS * 6000,
);

/** A first, undisturbed life makes the sessions that others send to. */
async function introduce(world: World): Promise<void> {
  const bots = startBots(PROGRAM, world.setup);
  await bots.ready;
  await askInGroups(world, 0);
  await world.discord.until(() => world.discord.sent.length > 0, "the Discord bot answered");
  await world.whatsapp.until(() => world.whatsapp.sent.length > 0);
  await bots.close();
}

function ask(world: World, round: number): void {
  for (const part of ["a", "b"]) world.telegram.say(`question${round}${part} please`);
  world.telegram.say(round % 3 === 0 ? `loose${round} please` : `fan${round} please`);
  void askInGroups(world, round);
}

async function askInGroups({ discord, whatsapp, olivia, group }: World, round: number): Promise<void> {
  discord.say(`<@${discord.bot.user.id}> hello${round}`);
  await whatsapp.say(olivia, `hello${round}`, { in: group, mentions: [whatsapp.owner] });
}

/** The last life has settled every run, and Telegram has no update left for it. */
async function drained({ setup, telegram }: World): Promise<void> {
  const store = openStore(setup);
  // Archiving is due in an hour.
  const unsettled = store.prepare(
    "SELECT count(*) AS count FROM runs WHERE ended_at IS NULL AND id NOT LIKE '%#archive:%'",
  );
  while (telegram.pending.length > 0 || unsettled.get<{ count: number }>()?.count !== 0) await pause(100);
  store.close();
}
