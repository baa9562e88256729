import { expect, it, onTestFinished } from "vitest";
import { scriptedAgent } from "../../../src/agents/scripted-agent.ts";
import { createOverheard } from "../../../src/core/inbound/overheard.ts";
import type { InboundMessage } from "../../../src/core/ports/chat.ts";
import type { SessionKey } from "../../../src/core/ports/session.ts";
import { createBasics } from "../../../src/options.ts";
import { openStore } from "../../../src/wiring.ts";
import { aFolder } from "../../fakes/a-board.ts";
import { fakeClock } from "../../fakes/fake-clock.ts";
import { at } from "../../fakes/memory-adapter.ts";

// A key as the rules make it.
const KEY = "agent:main:telegram:group:-100" as SessionKey;

function said(id: string): { readonly id: string; readonly message: InboundMessage } {
  const sender = { id: "7", isBot: false };
  const from = at("telegram", "group", "-100");
  return { id, message: { id, from, sender, text: id, addressed: false, sentAtMs: 0 } };
}

async function overheard() {
  const options = { agents: { main: scriptedAgent(() => "ok") }, dataDir: aFolder(), clock: fakeClock() };
  const store = await openStore(options, createBasics(options));
  onTestFinished(async () => {
    await store.engine.close();
    store.database.close();
  });
  return createOverheard({ ...store, clock: options.clock });
}

it("IN-1: what a room has let go is neither brought along nor taken for new", async () => {
  const words = await overheard();
  for (const id of ["one", "two"]) expect(await words.keep(KEY, said(id), 50)).toBe("accepted");
  await words.letGo(KEY);
  expect(await words.of(KEY)).toEqual([]);
  expect(await words.keep(KEY, said("one"), 50)).toBe("duplicate");
  expect(await words.hasLetGo(KEY, "two")).toBe(true);
  expect(await words.keep(KEY, said("three"), 50)).toBe("accepted");
  expect((await words.of(KEY)).map(({ id }) => id)).toEqual(["three"]);
});

it("IN-1: of a room where much is said a bounded number is remembered", async () => {
  const words = await overheard();
  for (let n = 0; n < 300; n++) await words.keep(KEY, said(`m${n}`), 3);
  expect((await words.of(KEY)).map(({ id }) => id)).toEqual(["m297", "m298", "m299"]);
  expect(await words.hasLetGo(KEY, "m197")).toBe(true);
  expect(await words.hasLetGo(KEY, "m196")).toBe(false);
});
