import { expect, it } from "vitest";
import { ChatMoves } from "../../../src/adapters/telegram/chat-moves.ts";
import { at } from "../../fakes/memory-adapter.ts";

const [OLD, NEW] = [at("telegram", "group", "-4001"), at("telegram", "group", "-1004001")];

it("STORE-7: a move that could not be kept is told again at the next notice, and one that was kept is not", async () => {
  const moves = new ChatMoves();
  const answers = [false, true, true];
  let told = 0;
  const tell = async () => answers[told++] ?? true;
  await Promise.all([moves.note(OLD, NEW, tell), moves.note(OLD, NEW, tell)]);
  expect(told).toBe(1);
  expect(moves.resolve(OLD)).toEqual(OLD);
  await moves.note(OLD, NEW, tell);
  expect(moves.resolve(OLD)).toEqual(NEW);
  await moves.note(OLD, NEW, tell);
  expect(told).toBe(2);
});
