import { expect, it } from "vitest";
import { aBoard, aFolder, type Board } from "../fakes/a-board.ts";
import { cast, childrenOf, pass, timed } from "../fakes/a-family.ts";
import { fakeClock } from "../fakes/fake-clock.ts";
import { at, type MemoryAdapter, memoryAdapter } from "../fakes/memory-adapter.ts";

const ROOM = { ...at("telegram", "group", "-7"), accountId: "second" };
const NOBODY = 'No adapter serves telegram, account "second".';
const HOUR_MS = 3_600_000;
const WAITS = /^Texts wait for accounts that have no adapter\..*telegram:second/;

/** The announcement of a child waits for an account whose platform is away; 20 hours later, when an answer in another chat waits too, the process ends. */
async function leftBehind() {
  const clock = fakeClock();
  const dataDir = aFolder();
  const second = memoryAdapter("telegram", { accountId: "second" });
  const main = cast({
    async asked({ call, text }) {
      if (text.includes("go")) await call("sessions_spawn", { task: "work 3 s" });
      return "ok";
    },
    task: timed(clock),
    announce: "ANNOUNCED",
  });
  const open = (...adapters: readonly MemoryAdapter[]) =>
    aBoard({ clock, dataDir, adapters, agents: { main } });
  const board = await open(second);
  await second.says("go", { from: ROOM });
  await pass(board, 1000);
  second.failNext(...Array.from({ length: 999 }, () => "transient" as const));
  await pass(board, 3000);
  await hours(board, 20);
  await second.says("hello", { from: { ...ROOM, chatId: "-8" } });
  await pass(board, 1000);
  await board.close({ graceMs: 0 });
  return open;
}

async function hours(board: Board, count: number): Promise<void> {
  for (let hour = 0; hour < count; hour += 1) {
    board.clock.skip(HOUR_MS - 1000);
    await pass(board, 1000);
  }
}

const complaintsOf = (board: Board, what: RegExp) => board.complaints.filter((one) => what.test(one)).length;

it("DELIV-1 A19 M02 SPAWN-10: what waits for an account that was taken away is said once, and given up after a day with what depends on it", async () => {
  const open = await leftBehind();
  const board = await open(memoryAdapter("telegram"));
  await pass(board, 60_000);
  expect(complaintsOf(board, WAITS)).toBe(1);
  await hours(board, 3);
  expect(childrenOf(board)[0]?.post?.state).toBe("pending");
  expect((await board.deliveries.deadLetters()).total).toBe(0);
  await hours(board, 2);
  expect(childrenOf(board)[0]).toMatchObject({ post: { state: "failed" } });
  const { found } = await board.deliveries.deadLetters();
  expect(found).toMatchObject([{ to: ROOM, state: "failed", reason: NOBODY }]);
  expect((await board.deliveries.waiting()).found).toMatchObject([{ to: { chatId: "-8" }, count: 1 }]);
  expect(complaintsOf(board, WAITS)).toBe(1);
  expect(complaintsOf(board, /^A delivery was given up/)).toBe(1);
});

it("DELIV-1 A19 M01: what has not waited for a day leaves as usual when an adapter for it comes", async () => {
  const open = await leftBehind();
  const without = await open(memoryAdapter("telegram"));
  await hours(without, 6);
  await without.close({ graceMs: 0 });
  const second = memoryAdapter("telegram", { accountId: "second" });
  const board = await open(second);
  await pass(board, 0);
  expect(second.sent.map(({ to, text }) => [to.chatId, text])).toEqual([["-8", "ok"]]);
  expect((await board.deliveries.deadLetters()).total).toBe(1);
});

it("DELIV-1 RUN-2: an account that another living process serves is left to that one", async () => {
  const open = await leftBehind();
  const second = memoryAdapter("telegram", { accountId: "second" });
  second.failNext(...Array.from({ length: 999 }, () => "transient" as const));
  const other = await open(second);
  const board = await open(memoryAdapter("telegram"));
  await hours(board, 6);
  expect(complaintsOf(board, WAITS) + complaintsOf(other, WAITS)).toBe(0);
  const { found } = await board.deliveries.deadLetters();
  expect(found.map(({ reason }) => reason)).toEqual(["The platform failed (transient)."]);
});
