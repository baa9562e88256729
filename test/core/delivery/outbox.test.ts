import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { burial, openEntries, retryRun } from "../../../src/core/delivery/dead-letter.ts";
import { type Parcel, toParcel } from "../../../src/core/delivery/parcel.ts";
import { SwitchboardError } from "../../../src/core/errors.ts";
import type { DeadLetter, DeadLetterList } from "../../../src/core/ports/dead-letter.ts";
import { aText, aWorld, type Outcome } from "./outbox-harness.ts";

const HOUR_MS = 3_600_000;

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 3, arbitrary: fc.constant("ok" as const) },
  fc.constantFrom("offline" as const, "transient" as const, "permanent" as const),
  fc.record({ hintMs: fc.constantFrom(1, 3000, 90_000, 6_775_000) }),
  fc.record({ holdMs: fc.constantFrom(1, 3000, 90_000, 6_775_000) }),
  fc.record({ lostAnswer: fc.constantFrom("before" as const, "after" as const) }),
  fc.record({
    crash: fc.constantFrom("before" as const, "after" as const, "confirmed" as const, "settling" as const),
    downMs: fc.constantFrom(0, 5000, 59_000, 130_000),
  }),
);

const plan = fc.record({
  repeatableForMs: fc.constantFrom(0, 60_000, Number.POSITIVE_INFINITY),
  outcomes: fc.array(outcome, { maxLength: 40 }),
  // Which chat, and how many parts.
  texts: fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 8 }),
  wakes: fc.array(fc.boolean(), { maxLength: 40 }),
});

it("DELIV-1 M01 M03: whatever the platform does and whenever the process dies, a chat gets its texts in order, no part twice, limits are kept, and every delivery ends in one state with the ids of all that arrived", async () => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ repeatableForMs, outcomes, texts, wakes }) => {
      const world = aWorld({ repeatableForMs });
      const sent = texts.map(([chat, parts], index) => {
        const chatId = `c${chat}`;
        const to = { channel: "test", accountId: "default", chatType: "group" as const, chatId };
        const words = Array.from({ length: parts }, (_, part) => `${index}.${part}`);
        world.enqueue(aText(`d${index}`, words.join("|"), { to }));
        return { id: `d${index}`, chatId, words };
      });
      world.order(...outcomes);
      for (let step = 0; await world.step(); step++) {
        if (wakes[step] === true) world.wake();
        if (step > 1000) throw new Error("It never ends.");
      }
      expect(world.faults).toEqual([]);
      for (const [chatId, stored] of world.chats) {
        const inOrder = sent.filter((one) => one.chatId === chatId).flatMap(({ words }) => words);
        const arrived = stored.map(({ text }) => text);
        expect(inOrder.filter((word) => arrived.includes(word))).toEqual(arrived);
      }
      for (const { id, chatId, words } of sent) {
        const ids = (world.chats.get(chatId) ?? [])
          .filter((one) => one.deliveryId === id)
          .map((one) => one.messageId);
        const { state, messageIds = [] } = world.results.get(id) ?? { state: "none" };
        expect(["delivered", "failed", "uncertain"]).toContain(state);
        // What is uncertain is one part at most.
        if (state === "uncertain")
          expect([...messageIds, ...ids.slice(messageIds.length, messageIds.length + 1)]).toEqual(ids);
        else expect(messageIds).toEqual(ids);
        if (state === "delivered") expect(ids).toHaveLength(words.length);
        expect(world.letters.filter((letter) => letter.id === id)).toHaveLength(
          state === "delivered" ? 0 : 1,
        );
      }
    }),
    { numRuns: 1500 },
  );
});

describe("an account that is to be silent", () => {
  const to = (chatId: string) => ({
    to: { channel: "test", accountId: "default", chatType: "group" as const, chatId },
  });

  it("M01: tries nothing in any chat meanwhile, and counts it for no text: not as a try, and not as the end of a day of tries", async () => {
    const warned: object[] = [];
    const logger = {
      debug: () => {},
      info: () => {},
      error: () => {},
      warn: (one: object) => warned.push(one),
    };
    const world = aWorld({ parts: { logger } });
    world.enqueue(aText("old", "old"));
    world.pass(25 * HOUR_MS);
    for (const chat of ["c2", "c3", "c4"]) world.enqueue(aText(chat, chat, to(chat)));
    world.order({ holdMs: 6_775_000 });
    for (let claim = 0; claim < 4; claim++) await world.step();
    expect(world.now()).toBe(1_000_000 + 25 * HOUR_MS);
    expect(world.waiting()).toEqual(
      ["old", "c2", "c3", "c4"].map((id) => ({
        id,
        failures: undefined,
        reason: "no luck",
        untilMs: world.now() + 6_775_000,
      })),
    );
    expect(warned).toHaveLength(1);
    while (await world.step());
    expect(world.faults).toEqual([]);
    expect(world.letters).toEqual([]);
    expect(world.chats.size).toBe(4);
  });

  it("M01: gives up what is two days old when it is woken, in a chat that was not tried either", async () => {
    const world = aWorld();
    world.enqueue(aText("one", "one"));
    world.enqueue(aText("two", "two", to("c2")));
    world.pass(30 * HOUR_MS);
    world.order({ holdMs: 24 * HOUR_MS });
    await world.step();
    world.pass(19 * HOUR_MS);
    for (let claim = 0; claim < 2; claim++) {
      world.wake();
      await world.step();
    }
    expect([...world.results.values()].map(({ reason }) => reason)).toEqual(
      Array.from({ length: 2 }, () => "It could not be sent for 49 hours."),
    );
    expect(world.tries).toEqual([]);
  });

  it.each([Number.NaN, -1])(
    "M01: for a time that the platform does not name (%s) is an ordinary failure of each text",
    async (holdMs) => {
      const world = aWorld();
      world.enqueue(aText("one", "one"));
      world.order({ holdMs });
      await world.step();
      expect(world.waiting()).toMatchObject([{ id: "one", failures: 1 }]);
    },
  );

  it("M01: and is told so again and again knocks once a second, until its texts are two days old", async () => {
    const world = aWorld();
    world.enqueue(aText("one", "one"));
    world.order({ holdMs: 0 }, { holdMs: 0 }, { holdMs: 0 });
    for (let claim = 0; claim < 3; claim++) await world.step();
    expect(world.now() - 1_000_000).toBe(2000);
    for (let day = 0; day < 4 && world.results.size === 0; day++) {
      world.order({ holdMs: 24 * HOUR_MS });
      await world.step();
    }
    expect(world.results.get("one")).toEqual({
      state: "failed",
      reason: "It could not be sent for 48 hours.",
    });
  });
});

describe("a head that cannot be sent", () => {
  it("M01: is given up after a day; what follows is sent then, in order, however long it has waited", async () => {
    const world = aWorld();
    for (const id of ["one", "two", "three"]) world.enqueue(aText(id, id));
    while (!world.results.has("one")) {
      world.order("transient");
      await world.step();
    }
    expect(world.now() - 1_000_000).toBeGreaterThan(24 * HOUR_MS);
    expect(world.now() - 1_000_000).toBeLessThan(24 * HOUR_MS + 61_000);
    while (await world.step());
    expect(world.results.get("one")?.state).toBe("failed");
    expect(world.chats.get("c1")?.map(({ text }) => text)).toEqual(["two", "three"]);
    expect(world.tries.length).toBeLessThan(2000);
  });

  it("M01: keeps a limit of two hours to the end, although the platform is reached again meanwhile", async () => {
    const world = aWorld();
    world.enqueue(aText("one", "one"));
    world.order({ hintMs: 6_775_000 });
    await world.step();
    for (let minute = 0; minute < 60; minute++) {
      world.pass(60_000);
      world.wake();
      await world.step();
    }
    expect(world.tries).toEqual(["one"]);
    while (await world.step());
    expect(world.faults).toEqual([]);
    expect(world.now()).toBe(1_000_000 + 6_775_000);
    expect(world.results.get("one")?.state).toBe("delivered");
  });

  it.each([9e12, Number.POSITIVE_INFINITY, Number.NaN, -1])(
    "M01: is given up after two days at most, however long the platform asks to be left alone (%d ms)",
    async (hintMs) => {
      const world = aWorld();
      world.enqueue(aText("one", "one"));
      for (let step = 0; step < 2000 && !world.results.has("one"); step++) {
        world.order({ hintMs });
        await world.step();
      }
      expect(world.results.get("one")?.state).toBe("failed");
      expect(world.now() - 1_000_000).toBeLessThan(48 * HOUR_MS + 1);
    },
  );

  it("M01: that an older version has parked for years is given up when it is woken", async () => {
    const world = aWorld();
    world.enqueue(aText("one", "one", { heldUntilMs: 9e12 }));
    await world.step();
    world.pass(49 * HOUR_MS);
    world.wake();
    await world.step();
    expect(world.results.get("one")?.reason).toBe("It could not be sent for 49 hours.");
  });

  it("M02: keeps a platform's page of HTML as one masked line of 300 characters", async () => {
    const page = `<html>\n\t${"secret \n".repeat(200)}</html>`;
    const redact = (text: string) => ({ text: text.replaceAll("secret", "***"), redacted: true });
    const world = aWorld({ parts: { redactor: { redact } }, says: page });
    world.enqueue(aText("one", "one"));
    world.order("permanent");
    await world.step();
    const [{ reason = "" } = {}] = world.letters;
    expect(reason).toMatch(/^<html> (\*\*\* )+/);
    expect(reason).toHaveLength(300);
    expect(world.results.get("one")?.reason).toBe(reason);
  });

  it("M02: whose platform says nothing has a reason all the same", async () => {
    const world = aWorld({ says: " \n" });
    world.enqueue(aText("one", "one"));
    world.order("permanent");
    await world.step();
    expect(world.letters[0]?.reason).toBe("The platform gave no reason.");
  });

  it("M01: lets at most a thousand texts wait for one chat; the oldest go, each after one more try", async () => {
    const world = aWorld();
    for (let n = 1; n <= 1003; n++) world.enqueue(aText(`t${n}`, `t${n}`));
    world.order(...Array.from({ length: 8 }, () => "transient" as const));
    for (let n = 0; n < 8; n++) await world.step();
    expect([...world.results.keys()]).toEqual(["t1", "t2", "t3"]);
    expect(world.results.get("t3")?.reason).toContain("More than 1000 texts wait for this chat. no luck");
    expect(new Set(world.tries)).toEqual(new Set(["t1", "t2", "t3", "t4"]));
  });

  it("M03: that nobody could try for two days is not sent out of nowhere", async () => {
    const world = aWorld();
    world.enqueue(aText("one", "one"));
    world.pass(49 * HOUR_MS);
    await world.step();
    expect(world.results.get("one")).toMatchObject({
      state: "failed",
      reason: "It could not be sent for 49 hours.",
    });
    expect(world.tries).toEqual([]);
  });

  it("M03: that a crash left in doubt stays in doubt while the platform is out of reach, and is not sent when it has forgotten", async () => {
    const world = aWorld({ repeatableForMs: 60_000 });
    world.enqueue(aText("one", "one"));
    world.order({ crash: "after", downMs: 1000 }, "offline", "transient", { hintMs: 90_000 });
    while (await world.step());
    expect(world.faults).toEqual([]);
    expect(world.results.get("one")?.state).toBe("uncertain");
  });

  it("POL-3: whose session can no longer be read is given up with that reason", async () => {
    const damaged = async () => {
      throw new SwitchboardError("STORE_CORRUPT", "The session record cannot be read.");
    };
    const world = aWorld({ parts: { sessions: { get: damaged } as never } });
    world.enqueue(aText("one", "one", { evenIfDenied: false }));
    await world.step();
    expect(world.results.get("one")).toEqual({
      state: "failed",
      reason: "The session record cannot be read.",
    });
    expect(world.letters).toHaveLength(1);
  });
});

it("L04: a text of more than fifty messages is cut, says so, and is recorded as cut", async () => {
  const world = aWorld();
  world.enqueue(aText("one", "x".repeat(12_345)));
  await world.step();
  const [only] = world.chats.get("c1") ?? [];
  expect(only?.text).toBe(`${"x".repeat(5000)}\n\n[… 5000 / 12345]`);
  expect(world.results.get("one")?.reason).toContain("5000 of 12345 characters were sent");
});

it("L04: says how much of a text was sent, where the limit falls within a grapheme", async () => {
  const world = aWorld();
  world.enqueue(aText("one", `${"x".repeat(4998)}${"👨‍👩‍👧".repeat(900)}`));
  await world.step();
  expect(world.chats.get("c1")?.[0]?.text).toMatch(/\[… 4998 \/ 12198\]$/);
  expect(world.results.get("one")?.reason).toContain("4998 of 12198 characters were sent");
});

it("HIST-5: a secret is masked below a text as well as in it", async () => {
  const world = aWorld({ parts: { mask: (text) => text.replaceAll("secret", "***") } });
  world.enqueue(aText("one", "a secret", { choices: [{ label: "my secret", command: "/send on" }] }));
  await world.step();
  expect(world.chats.get("c1")?.[0]).toMatchObject({
    text: "a ***",
    choices: [{ label: "my ***", command: "/send on" }],
  });
});

describe("a dead letter", () => {
  it("DELIV-1: of three parts is sent again without those that had arrived; all ids are in the record", async () => {
    const world = aWorld();
    world.enqueue(aText("one", "a|b|c", { followedBy: [aText("next", "x")] }));
    world.order("ok", "permanent");
    await world.step();
    const [letter] = world.letters;
    if (letter === undefined) throw new Error("There is none.");
    world.pass(5000);
    const again = retryRun(letter, world.now());
    expect(toParcel(again.payload)).toEqual({
      ...toParcel(aText("one", "a|b|c").payload),
      createdAtMs: world.now(),
      retryOf: "failed",
      partsSent: 1,
      messageIds: ["m1"],
    });
    world.enqueue(again);
    await world.step();
    expect(world.chats.get("c1")?.map(({ text }) => text)).toEqual(["a", "b", "c"]);
    expect(world.results.get("one~1")).toEqual({ state: "delivered", messageIds: ["m1", "m2", "m3"] });
  });

  it.each([
    ["in:a:1>reply", "in:a:1>reply~1"],
    ["in:a:1>reply~1", "in:a:1>reply~2"],
    ["in:a:1>reply~9", "in:a:1>reply~10"],
    ["a~b", "a~b~1"],
  ])("DELIV-1: %s is tried again as %s", (id, next) => {
    expect(retryRun(letterOf(id, 0), 0).id).toBe(next);
  });

  it("DELIV-1: is one of at most 500, none older than 30 days; what goes for it is removed with its text", () => {
    let list: DeadLetterList | undefined;
    const removed: string[] = [];
    for (let n = 1; n <= 503; n++) {
      const { writes } = burial(letterOf(`d${n}`, n), list);
      for (const write of writes) {
        if (write.table === "deadLetters") list = write.change(list);
        // The new text, or undefined for one that goes.
        if (write.table === "deadLetter" && write.change(undefined) === undefined) removed.push(write.key);
      }
    }
    expect(list?.entries).toHaveLength(500);
    expect(removed).toEqual(["d1", "d2", "d3"]);
    expect(openEntries(list, 503).map(({ number }) => number)).toEqual(
      Array.from({ length: 500 }, (_, n) => 503 - n),
    );
    expect(openEntries(list, 30 * 24 * HOUR_MS + 500).map(({ id }) => id)).toEqual([
      "d503",
      "d502",
      "d501",
      "d500",
    ]);
  });

  it("DELIV-1: that is written twice stands once, under its number", () => {
    const {
      writes: [, write],
    } = burial(letterOf("d1", 1), undefined);
    if (write?.table !== "deadLetters") throw new Error("The second write is the list.");
    const once = write.change(undefined);
    expect(write.change(once)).toBe(once);
  });
});

function letterOf(id: string, atMs: number): DeadLetter {
  const { payload } = aText(id, "text");
  const { sessionKey, to }: Parcel = toParcel(payload);
  return { id, sessionKey, to, state: "failed", reason: "no luck", atMs, payload };
}
