import { join } from "node:path";
import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../src/core/engine/sqlite/database.ts";
import { damageValue } from "../core/storage/embedded-harness.ts";
import { aBoard, type Board, type Script, use } from "../fakes/a-board.ts";
import { at } from "../fakes/memory-adapter.ts";

const ROOM = at("telegram", "group", "-100");
const OTHER_ROOM = at("telegram", "group", "-200");
const ROOM_KEY = "agent:main:telegram:group:-100";
const DAY_MS = 24 * 3_600_000;

/** Answers with what it was told. */
const echo: Script = ({ text }) => `re: ${text.slice(text.indexOf(":") + 1).trim()}`;

async function aBoardWith(agent: Script = echo, options = {}) {
  return aBoard({ agents: { main: agent }, ...options });
}

/** What is said in the room is answered, and the answer does not get there. */
async function lost(board: Board, text: string, how: "permanent" | "uncertain" = "permanent", from = ROOM) {
  board.telegram.failNext(how);
  await board.telegram.says(text, { from, chatTitle: "Team" });
  await board.quiet();
}

/** What the owner is answered in a direct chat on another platform. */
async function asks(board: Board, text: string): Promise<string> {
  await board.whatsapp.says(text, {
    from: at("whatsapp", "direct", "+1001"),
    sender: { id: "+1001", isBot: false },
  });
  await board.quiet();
  return board.whatsapp.sent.at(-1)?.text ?? "";
}

/** Whatever happens to the store beside us. */
function onFile(board: Board, happens: (file: Database) => void) {
  const file = openDatabase(join(board.dataDir, "switchboard.sqlite"));
  happens(file);
  file.close();
}

const inRoom = (board: Board, chatId = "-100") =>
  board.telegram.sent.filter(({ to }) => to.chatId === chatId).map(({ text }) => text);

describe("a text that did not arrive", () => {
  it("DELIV-1 M02: is shown to the owner with its chat, its reason and how it begins, and is sent again on demand, once", async () => {
    const board = await aBoardWith();
    await lost(board, "one");
    await board.clock.advance(7_200_000);
    const list = await asks(board, "/deliveries");
    expect(list).toContain(
      "**telegram:g-team** #1, 2h00m ago, not delivered: The platform failed (permanent).",
    );
    expect(list).toContain("“re: one”");
    expect(await asks(board, "/deliveries retry 1")).toBe("↻ Sending 1 message again.");
    expect(inRoom(board)).toEqual(["re: one"]);
    expect(await asks(board, "/deliveries retry 1")).toBe("Every message has been delivered.");
    expect(await asks(board, "/deliveries")).toBe("Every message has been delivered.");
    expect(inRoom(board)).toEqual(["re: one"]);
  });

  it.each([
    ["permanent", "Your last answer did not reach the chat: The platform failed (permanent)."],
    ["uncertain", "Your last answer may not have reached the chat: The platform failed (uncertain)."],
  ] as const)("M02: its agent is told in its next run, not by one (%s)", async (how, news) => {
    const board = await aBoardWith();
    await lost(board, "one", how);
    expect(board.agents.main?.turns).toHaveLength(1);
    await board.telegram.says("two", { from: ROOM });
    await board.quiet();
    expect(JSON.stringify(board.agents.main?.turns.at(-1)?.history)).toContain(news);
    expect(inRoom(board)).toEqual(["re: two"]);
  });

  it("M02: an answer to a command is no news to the agent", async () => {
    const board = await aBoardWith();
    await board.telegram.says("one", { from: ROOM });
    await board.quiet();
    await lost(board, "/whoami");
    expect((await board.deliveries.deadLetters()).total).toBe(1);
    await board.telegram.says("two", { from: ROOM });
    await board.quiet();
    expect(JSON.stringify(board.agents.main?.turns.at(-1)?.history)).not.toContain("did not reach");
  });

  it("M03: of which nobody knows is sent again because the owner asks, under an id of its own", async () => {
    const board = await aBoardWith();
    await lost(board, "one", "uncertain");
    expect(await asks(board, "/deliveries")).toContain("#1, 0s ago, perhaps delivered: ");
    const { found } = await board.deliveries.deadLetters();
    await asks(board, "/deliveries retry all");
    expect(board.telegram.sent.map(({ deliveryId }) => deliveryId)).toEqual([`${found[0]?.id}~1`]);
  });

  it("DELIV-1: that fails again is listed again under a new number, and can be sent once more", async () => {
    const board = await aBoardWith();
    await lost(board, "one");
    const [first] = (await board.deliveries.deadLetters()).found;
    board.telegram.failNext("permanent");
    await asks(board, "/deliveries retry #1");
    const [again] = (await board.deliveries.deadLetters()).found;
    expect(again).toMatchObject({ number: 2, id: `${first?.id}~1` });
    await asks(board, "/deliveries retry 2");
    expect(board.telegram.sent.map(({ deliveryId }) => deliveryId)).toEqual([`${first?.id}~2`]);
  });

  it("DELIV-1: two retries at the same moment send it once", async () => {
    const board = await aBoardWith();
    await lost(board, "one");
    const ids = (await board.deliveries.deadLetters()).found.map(({ id }) => id);
    await Promise.all([
      board.deliveries.retry(ids),
      board.deliveries.retry(ids),
      board.deliveries.retry(ids),
    ]);
    await board.quiet();
    expect(inRoom(board)).toEqual(["re: one"]);
  });

  it("DELIV-1: several are sent again in their order, and what is dismissed leaves the list unsent", async () => {
    const board = await aBoardWith();
    for (const text of ["one", "two", "three"]) await lost(board, text);
    expect(await asks(board, "/deliveries dismiss 2")).toBe("Dismissed 1 message.");
    expect(await asks(board, "/deliveries retry all")).toBe("↻ Sending 2 messages again.");
    expect(inRoom(board)).toEqual(["re: one", "re: three"]);
  });

  it("DELIV-1: is named by a number that stays its own while others come and go", async () => {
    const board = await aBoardWith();
    await lost(board, "one");
    await lost(board, "two");
    await asks(board, "/deliveries dismiss 1");
    await lost(board, "three");
    expect((await board.deliveries.deadLetters()).found.map(({ number }) => number)).toEqual([3, 2]);
    expect(await asks(board, "/deliveries retry 1")).toContain("There is no “1” here.");
    expect(await asks(board, "/deliveries retry")).toContain("Say which one");
    expect(inRoom(board)).toEqual([]);
  });

  it.each([
    ["permanent", "failed"],
    ["uncertain", "uncertain"],
  ] as const)(
    "POL-3 DELIV-1: is not sent again where sending has been switched off meanwhile, and is listed again with that reason (%s)",
    async (how, state) => {
      const board = await aBoardWith();
      await lost(board, "one", how);
      await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: "deny" });
      const ended = board.next("delivery.settled", ({ deliveryId }) => deliveryId.endsWith("~1"));
      await asks(board, "/deliveries retry 1");
      expect(await ended).toMatchObject({ state: "suppressed" });
      expect(inRoom(board)).toEqual([]);
      expect((await board.deliveries.deadLetters()).found).toMatchObject([
        { number: 2, state, text: "re: one", reason: expect.stringContaining("/send off") },
      ]);
      await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: null });
      await asks(board, "/deliveries retry 2");
      expect(inRoom(board)).toEqual(["re: one"]);
      expect((await board.deliveries.deadLetters()).total).toBe(0);
    },
  );

  it("M02: that perhaps arrived is not called failed when it is sent again and fails", async () => {
    const board = await aBoardWith();
    await lost(board, "one", "uncertain");
    board.telegram.failNext("permanent");
    await asks(board, "/deliveries retry 1");
    expect((await board.deliveries.deadLetters()).found).toMatchObject([{ number: 2, state: "uncertain" }]);
  });

  it("DELIV-1: nobody is told that it is sent again when its session is gone", async () => {
    const board = await aBoardWith();
    await lost(board, "one");
    onFile(board, (file) => file.prepare("DELETE FROM kv WHERE key = ?").run(`session/${ROOM_KEY}`));
    expect(await asks(board, "/deliveries retry 1")).toBe(
      "That cannot be sent again: its session or its text is gone.",
    );
    expect((await board.deliveries.deadLetters()).found).toMatchObject([{ number: 1 }]);
    expect(await asks(board, "/deliveries dismiss 1")).toBe("Dismissed 1 message.");
  });

  it("DELIV-1: outlives a restart and the memory of its run, and is gone after 30 days", async () => {
    const board = await aBoardWith();
    await lost(board, "one");
    await board.close({ graceMs: 0 });
    board.clock.skip(29 * DAY_MS);
    const next = await aBoardWith(echo, { dataDir: board.dataDir, clock: board.clock });
    await next.clock.advance(5000);
    const [letter] = (await next.deliveries.deadLetters()).found;
    await expect(next.gateway.call("agent.wait", { runId: letter?.id, timeoutSeconds: 0 })).rejects.toThrow(
      "No run",
    );
    expect(await asks(next, "/deliveries")).toContain("“re: one”");
    next.clock.skip(DAY_MS);
    expect(await asks(next, "/deliveries")).toBe("Every message has been delivered.");
    expect(await next.deliveries.retry([letter?.id ?? ""])).toBe(0);
  });

  it("DELIV-1: is kept in the host's own store as well, and is sent again from there", async () => {
    const board = await aBoardWith(echo, { store: new Keyv({ throwOnErrors: true }) });
    await lost(board, "one");
    expect(await asks(board, "/deliveries retry todos")).toBe("↻ Sending 1 message again.");
    expect(inRoom(board)).toEqual(["re: one"]);
    expect(await board.deliveries.deadLetters()).toEqual({ found: [], total: 0 });
  });

  it("DELIV-1: goes with the session that it came from", async () => {
    const board = await aBoardWith();
    await lost(board, "one");
    await lost(board, "two", "permanent", OTHER_ROOM);
    await board.gateway.call("sessions.delete", { sessionKey: ROOM_KEY });
    expect((await board.deliveries.deadLetters()).found).toMatchObject([{ text: "re: two" }]);
  });
});

describe("what is still to be sent", () => {
  it("DELIV-1 M01: is shown with how much waits, since when and why", async () => {
    const board = await aBoardWith();
    board.telegram.failNext(...Array.from({ length: 100 }, () => "transient" as const));
    for (const text of ["one", "two"]) await board.telegram.says(text, { from: ROOM, chatTitle: "Team" });
    await board.quiet();
    await board.clock.advance(600_000);
    expect(await asks(board, "/deliveries")).toContain(
      "Waiting to be sent:\n**telegram:g-team** 2 messages have been waiting to be sent for 10m00s (The platform failed (transient).)",
    );
    expect(await board.deliveries.waiting({ at: ROOM })).toMatchObject({
      total: 1,
      found: [{ text: "re: one" }],
    });
    expect(await board.deliveries.waiting({ at: OTHER_ROOM })).toEqual({ total: 0, found: [] });
  });
});

it("M01 DELIV-2: hundreds of texts that wait for one chat keep no other waiting, and go out in order when the platform is reached again", async () => {
  const board = await aBoardWith();
  board.telegram.failNext("transient");
  for (let n = 0; n < 300; n++) await board.telegram.says(`text ${n}`, { from: ROOM });
  await board.quiet();
  await board.telegram.says("elsewhere", { from: OTHER_ROOM });
  await board.quiet();
  expect(inRoom(board, "-200")).toEqual(["re: elsewhere"]);
  expect(inRoom(board)).toEqual([]);
  const { found } = await board.deliveries.waiting();
  expect(found).toMatchObject([{ count: 300, text: "re: text 0" }]);
  board.telegram.host.onReady();
  await board.quiet();
  expect(inRoom(board)[0]).toBe("re: text 0");
  const numbers = inRoom(board).join(" ").match(/\d+/g)?.map(Number) ?? [];
  expect(numbers).toEqual(Array.from({ length: 300 }, (_, n) => n));
});

it("DELIV-1: whoever wants to send again what only waits is told that it is sent by itself", async () => {
  const board = await aBoardWith();
  board.telegram.failNext(...Array.from({ length: 100 }, () => "transient" as const));
  await board.telegram.says("one", { from: ROOM });
  await board.quiet();
  for (const action of ["retry", "dismiss"]) {
    expect(await asks(board, `/deliveries ${action} 1`)).toBe(
      "Nothing here has to be decided: what still waits is sent by itself.",
    );
  }
});

describe("a list of them that is damaged", () => {
  async function damaged(options = {}) {
    const board = await aBoardWith(echo, options);
    await lost(board, "one");
    onFile(board, (file) => damageValue(file, "deadLetters/*"));
    return board;
  }

  it("STORE-4: keeps no session from being shown or deleted, and is complained of once", async () => {
    const board = await damaged();
    expect(await use(board, ROOM_KEY, "session_status")).not.toHaveProperty("deliveries");
    expect(await asks(board, "/deliveries")).toBe("Every message has been delivered.");
    await board.gateway.call("sessions.delete", { sessionKey: ROOM_KEY });
    expect(board.complaints.filter((line) => line.includes("not delivered is lost"))).toHaveLength(1);
  });

  it("STORE-4 DELIV-1: is written over by the next text that does not arrive", async () => {
    const board = await damaged();
    await lost(board, "two");
    await lost(board, "three");
    const { found } = await board.deliveries.deadLetters();
    expect(found.map(({ text, number }) => [text, number])).toEqual([
      ["re: three", 2],
      ["re: two", 1],
    ]);
    await asks(board, "/deliveries retry all");
    expect(inRoom(board)).toEqual(["re: two", "re: three"]);
  });

  it("STORE-4 DELIV-1: a text of it that is damaged is still listed, is not promised, and can be dismissed", async () => {
    const board = await aBoardWith();
    for (const text of ["one", "two"]) await lost(board, text);
    const [, first] = (await board.deliveries.deadLetters()).found;
    onFile(board, (file) => damageValue(file, `deadLetter/${first?.id}`));
    expect(await asks(board, "/deliveries retry all")).toBe("↻ Sending 1 message again.");
    expect((await board.deliveries.deadLetters()).found).toMatchObject([{ number: 1, text: "" }]);
    expect(await asks(board, "/deliveries dismiss all")).toBe("Dismissed 1 message.");
    expect((await board.deliveries.deadLetters()).total).toBe(0);
  });
});

describe("in a room", () => {
  it("CMD-2: the owner is shown what this room has missed, no key, and nothing of other chats", async () => {
    const board = await aBoardWith();
    await lost(board, "here");
    await lost(board, "there", "permanent", OTHER_ROOM);
    await board.telegram.says("/deliveries", { from: ROOM });
    await board.quiet();
    const [list = ""] = inRoom(board);
    expect(list).toContain("#1, 0s ago");
    expect(list).toContain("“re: here”");
    expect(list).toContain("in a direct chat with me");
    expect(list).not.toMatch(/there|agent:|-200/);
    await board.telegram.says("/deliveries dismiss 2", { from: ROOM });
    await board.telegram.says("/deliveries dismiss all", { from: ROOM });
    await board.quiet();
    expect((await board.deliveries.deadLetters()).found).toMatchObject([{ text: "re: there" }]);
  });

  it("CMD-2: an answer that only the owner sees shows all of them", async () => {
    const board = await aBoardWith();
    await lost(board, "there");
    const list = await board.discord.calls("deliveries", "", { from: at("discord", "channel", "222") });
    expect(list).toContain("“re: there”");
  });

  it("CMD-2: nothing is claimed of other chats", async () => {
    const board = await aBoardWith();
    await lost(board, "there", "permanent", OTHER_ROOM);
    await board.telegram.says("/deliveries retry 1", { from: ROOM });
    await board.quiet();
    expect(inRoom(board)).toEqual(["Every message to this chat has been delivered."]);
  });

  it("CMD-2: nobody else is answered", async () => {
    const board = await aBoardWith();
    await lost(board, "one");
    await board.telegram.says("/deliveries retry all", { from: ROOM, sender: { id: "666", isBot: false } });
    await board.quiet();
    expect(inRoom(board)).toEqual([]);
    expect((await board.deliveries.deadLetters()).total).toBe(1);
  });
});

it("HIST-5: a secret in a text that did not arrive is shown to nobody, and the text is one short line", async () => {
  const secret = `sk-ant-api03-${"Ab1".repeat(20)}`;
  const board = await aBoardWith(() => `The key\nis ${secret} ${"x".repeat(500)}`);
  await lost(board, "one");
  const list = await asks(board, "/deliveries");
  expect(list).toContain("“The key is ");
  expect(list).not.toContain("Ab1Ab1Ab1");
  expect(list.length).toBeLessThan(500);
  expect(JSON.stringify(await board.deliveries.deadLetters())).not.toContain("Ab1Ab1Ab1");
});

it("DELIV-1: a list of many is short and says how many more there are", async () => {
  const board = await aBoardWith();
  for (let n = 1; n <= 13; n++) await lost(board, `text ${n}`);
  const list = await asks(board, "/deliveries");
  expect(list.match(/^.*#\d+, /gm)).toHaveLength(10);
  expect(list).toContain("#13, ");
  expect(list).toContain("… and 3 more");
});

it("STATUS-1 DELIV-1: the state of a session tells what has not arrived in its chat", async () => {
  const board = await aBoardWith();
  await lost(board, "one");
  await lost(board, "two", "uncertain");
  await lost(board, "elsewhere", "permanent", OTHER_ROOM);
  board.telegram.failNext("transient", "transient", "transient", "transient");
  await board.telegram.says("three", { from: ROOM });
  await board.quiet();
  const state = await use(board, ROOM_KEY, "session_status");
  expect(state.deliveries).toMatchObject({
    waiting: { count: 1, reason: "The platform failed (transient)." },
    dead: { failed: 1, uncertain: 1, lastReason: "The platform failed (uncertain)." },
  });
  expect(state.statusText).toContain(
    "Deliveries: 1 waiting, the oldest for 0s (The platform failed (transient).)",
  );
  expect(state.statusText).toContain("Not delivered: 1 failed, 1 uncertain; the last: The platform failed");
  await board.telegram.says("/status", { from: ROOM });
  await board.clock.advance(60_000);
  await board.quiet();
  expect(inRoom(board).at(-1)).toContain(
    "Not delivered: 1; perhaps delivered: 1. Last reason: The platform failed",
  );
});

it.each([
  ["es", "Todos los mensajes se han entregado."],
  ["pt-BR", "Todas as mensagens foram entregues."],
  ["hi", "सभी संदेश पहुँच गए हैं।"],
])("DELIV-1: /deliveries speaks %s", async (locale, sentence) => {
  const board = await aBoardWith();
  expect(await board.discord.calls("deliveries", "list", { locale })).toBe(sentence);
});
