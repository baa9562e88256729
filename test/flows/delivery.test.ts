import { join } from "node:path";
import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/core/engine/sqlite/database.ts";
import type { SwitchboardEvents } from "../../src/core/ports/events.ts";
import { infoKey } from "../../src/core/storage/turns.ts";
import { damageValue } from "../core/storage/embedded-harness.ts";
import { BreakableMap } from "../core/storage/keyv-harness.ts";
import { aBoard, type Board, LEASE_MS, OPEN, type Script, use } from "../fakes/a-board.ts";
import { asking, send } from "../fakes/asking.ts";
import { type Gate, gate } from "../fakes/gate.ts";
import { at, memoryAdapter } from "../fakes/memory-adapter.ts";

const ROOM = at("discord", "channel", "222");
const ROOM_KEY = "agent:main:discord:channel:222";

const sentTo = (board: Board, chatId: string) =>
  board.discord.sent.filter((one) => one.to.chatId === chatId).map((one) => one.text);

/** Answers with what it was told; waits at the gate for a message that holds the word. */
function echo(word = "", slow?: Gate): Script {
  return async ({ text, signal }) => {
    if (slow !== undefined && text.includes(word)) await slow.pass(signal);
    return `re: ${text.slice(text.indexOf(":") + 1).trim()}`;
  };
}

/** What became of deliveries, as events tell it. */
function settledOn(board: Board) {
  const events: SwitchboardEvents["delivery.settled"][] = [];
  board.on("delivery.settled", (event) => events.push(event));
  return events;
}

describe("messages of one session", () => {
  it("N06 RUN-1: that come during a turn of 120 s are all answered, in order, and other sessions do not wait", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: echo("long", slow) } });
    await board.discord.says("long", { from: ROOM });
    await slow.reached;
    for (const [afterMs, text] of [
      [5000, "at 5"],
      [35_000, "at 40"],
      [79_000, "at 119"],
    ] as const) {
      await board.clock.advance(afterMs);
      await board.discord.says(text, { from: ROOM });
    }
    await board.discord.says("elsewhere", { from: at("discord", "channel", "333") });
    await board.quiet();
    expect(sentTo(board, "333")).toEqual(["re: elsewhere"]);
    expect(sentTo(board, "222")).toEqual([]);
    await board.clock.advance(1000);
    slow.open();
    await board.quiet();
    expect(sentTo(board, "222")).toEqual(["re: long", "re: at 5", "re: at 40", "re: at 119"]);
  });

  it("N06 RUN-1: topics of one group are sessions of their own", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: echo("long", slow) } });
    await board.telegram.says("long", { from: at("telegram", "group", "-5", "1") });
    await slow.reached;
    await board.telegram.says("quick", { from: at("telegram", "group", "-5", "2") });
    await board.quiet();
    expect(board.telegram.sent).toMatchObject([{ text: "re: quick", to: { threadId: "2" } }]);
    slow.open();
    await board.quiet();
    expect(board.telegram.sent.at(-1)).toMatchObject({ text: "re: long", to: { threadId: "1" } });
  });

  it("N08 RUN-1: of a person and of an agent at the same moment are both read, in the order in which they came", async () => {
    const slow = gate();
    const { script } = asking();
    const board = await aBoard({
      config: {
        ...OPEN,
        session: { agentToAgent: { maxPingPongTurns: 0 } },
        bindings: [{ agentId: "b", match: { channel: "telegram" } }],
      },
      agents: { main: echo("long", slow), b: script },
    });
    await board.discord.says("long", { from: ROOM });
    await slow.reached;
    await board.clock.advance(10_000);
    await Promise.all([
      board.discord.says("from a person", { from: ROOM }),
      board.telegram.says(send({ sessionKey: ROOM_KEY, message: "from an agent", timeoutSeconds: 0 })),
    ]);
    await board.quiet();
    slow.open();
    await board.quiet();
    const read = board.agents.main?.turns.map((turn) => [turn.trigger, turn.input.content[0]]) ?? [];
    expect(read.map(([trigger]) => trigger)).toEqual(["user", "user", "send", "announce"]);
    expect(JSON.stringify(read[1])).toContain("from a person");
    expect(JSON.stringify(read[2])).toContain("from an agent");
  });

  it("O08 RUN-1: two in the same tick, 200 times, are each answered once and in order; no lane is left behind", async () => {
    let pauses = 0;
    const board = await aBoard({
      agents: {
        async main({ text }) {
          pauses = (pauses * 7 + 3) % 11;
          for (let turn = 0; turn < pauses; turn++) await new Promise((resolve) => setImmediate(resolve));
          return `re: ${text}`;
        },
      },
    });
    const expected: string[] = [];
    for (let round = 0; round < 200; round++) {
      const texts = [`${round}a`, `${round}b`];
      const accepted = await Promise.all(texts.map((text) => board.telegram.says(text)));
      expect(accepted).toEqual(["run", "run"]);
      expected.push(...texts.map((text) => `re: ${text}`));
      // The second may come while the first is still ending.
      for (let turn = 0; turn < round % 13; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    await board.quiet();
    expect(board.telegram.sent.map((one) => one.text)).toEqual(expected);
    expect(board.complaints).toEqual([]);
  });

  it("one message that is handed over twice in the same tick is answered once", async () => {
    const board = await aBoard({ agents: { main: echo() } });
    const twice = await Promise.all([
      board.telegram.says("hi", { id: "77" }),
      board.telegram.says("hi", { id: "77" }),
    ]);
    await board.quiet();
    expect([...twice].sort()).toEqual(["duplicate", "run"]);
    expect(board.telegram.sent).toHaveLength(1);
  });
});

describe("a platform that fails", () => {
  it("M03: an uncertain send is not repeated; what follows is sent", async () => {
    const board = await aBoard({ agents: { main: echo() } });
    const events = settledOn(board);
    board.telegram.failNext("uncertain");
    await board.telegram.says("one");
    await board.telegram.says("two");
    await board.quiet();
    await board.clock.advance(3_600_000);
    expect(board.telegram.sent.map((one) => one.text)).toEqual(["re: two"]);
    expect(events.map((event) => event.state)).toEqual(["uncertain", "delivered"]);
    const [{ deliveryId } = { deliveryId: "" }] = events;
    const record = await board.gateway.call("agent.wait", { runId: deliveryId });
    expect(record).toMatchObject({ state: "failed", result: { state: "uncertain" } });
  });

  it("M02: a permanent failure is tried once, recorded with its reason and logged; what follows is sent", async () => {
    const board = await aBoard({ agents: { main: echo() } });
    const events = settledOn(board);
    board.telegram.failNext("permanent");
    await board.telegram.says("one");
    await board.telegram.says("two");
    await board.quiet();
    await board.clock.advance(3_600_000);
    expect(board.telegram.sent.map((one) => one.text)).toEqual(["re: two"]);
    expect(events[0]).toMatchObject({ state: "failed", reason: "The platform failed (permanent)." });
    expect(board.complaints.filter((line) => line.includes("given up"))).toHaveLength(1);
  });

  it("M01: a transient failure is tried again and keeps the order of its chat; other chats do not wait", async () => {
    const board = await aBoard({ agents: { main: echo() } });
    board.discord.failNext("transient", "transient");
    await board.discord.says("one", { from: ROOM });
    await board.quiet();
    await board.discord.says("two", { from: ROOM });
    await board.discord.says("there", { from: at("discord", "channel", "333") });
    await board.quiet();
    await board.clock.advance(799);
    expect(sentTo(board, "222")).toEqual([]);
    await board.clock.advance(10_000);
    expect(sentTo(board, "222")).toEqual(["re: one", "re: two"]);
    expect(sentTo(board, "333")).toEqual(["re: there"]);
  });

  it("M01: waits longer each time, a minute at most, and gives up with a record after a day", async () => {
    let attempts = 0;
    const telegram = memoryAdapter("telegram", { whileSending: () => attempts++ });
    const board = await aBoard({ agents: { main: echo() }, adapters: [telegram] });
    const events = settledOn(board);
    const tries: number[] = [];
    telegram.failNext(...Array.from({ length: 3000 }, () => "transient" as const));
    await telegram.says("one");
    await board.quiet();
    for (let minute = 0; minute < 10; minute++) {
      await board.clock.advance(60_000);
      tries.push(attempts);
    }
    expect(board.complaints.filter((line) => line.includes("tried again"))).toHaveLength(1);
    // At once, after 1, 2, 4, 8, 16, 32 s, then every minute; each up to a fifth earlier.
    expect([6, 7, 8]).toContain(tries[0]);
    const perMinute = tries.slice(1).map((count, index) => count - (tries[index] ?? 0));
    for (const count of perMinute) expect([1, 2]).toContain(count);
    expect((tries.at(-1) ?? 0) - (tries[0] ?? 0)).toBeLessThanOrEqual(9 / 0.8 + 1);
    expect(events).toEqual([]);
    board.clock.skip(24 * 3_600_000);
    await board.clock.advance(120_000);
    await board.quiet();
    expect(events).toMatchObject([{ state: "failed" }]);
  });

  it("M03: what waits for a second try survives a restart and is sent once", async () => {
    const board = await aBoard({ agents: { main: echo() } });
    board.telegram.failNext("transient");
    await board.telegram.says("one");
    await board.quiet();
    await board.close({ graceMs: 0 });
    const next = await aBoard({ dataDir: board.dataDir, clock: board.clock });
    await next.clock.advance(2000);
    await next.quiet();
    expect([...board.telegram.sent, ...next.telegram.sent].map((one) => one.text)).toEqual(["re: one"]);
  });

  it("A19: an announce that has to wait keeps nobody's session waiting", async () => {
    const { script } = asking();
    const board = await aBoard({
      config: { ...OPEN, bindings: [{ agentId: "b", match: { channel: "discord" } }] },
      agents: { main: script, b: ({ request }) => (request.trigger === "announce" ? "told" : "hello") },
    });
    await board.discord.says("hi", { from: ROOM });
    await board.quiet();
    board.discord.failNext("transient", "transient", "transient", "transient");
    await board.telegram.says(send({ sessionKey: "agent:b:discord:channel:222", message: "x" }));
    await board.quiet();
    await board.clock.advance(5000);
    await board.telegram.says(send({ agentId: "nobody", message: "at once?" }));
    await board.discord.says("and here?", { from: ROOM });
    await board.quiet();
    expect(board.telegram.sent.map((one) => one.text)).toEqual(["asked", "asked"]);
    expect(board.agents.b?.turns.at(-1)?.trigger).toBe("user");
    await board.clock.advance(60_000);
    expect(sentTo(board, "222")).toEqual(["hello", "told", "hello"]);
  });
});

describe("a process that is killed while it sends", () => {
  /** A copy of the files from the middle of a send: before the platform has it, or when it is confirmed and the run not settled. */
  async function killedWhileSending(
    repeatable: boolean,
    moment: "whileSending" | "onceSent" = "whileSending",
  ) {
    let dataDir = "";
    const first: { board?: Board } = {};
    const kill = () => {
      dataDir = first.board?.snapshot() ?? "";
    };
    const platform = memoryAdapter("telegram", { repeatable, [moment]: kill });
    const board = await aBoard({ adapters: [platform], agents: { main: echo() } });
    first.board = board;
    await platform.says("one");
    await board.quiet();
    await board.close({ graceMs: 0 });

    const again = memoryAdapter("telegram", { repeatable });
    const next = await aBoard({ adapters: [again], agents: { main: echo() }, dataDir, clock: board.clock });
    const events = settledOn(next);
    await next.clock.advance(LEASE_MS);
    await next.quiet();
    await next.close();
    const store = openDatabase(join(dataDir, "switchboard.sqlite"));
    const results = store
      .prepare("SELECT result FROM runs WHERE kind = 'delivery'")
      .all<{ result: string }>()
      .map(({ result }) => JSON.parse(result) as unknown);
    store.close();
    return { first: platform.sent, second: again.sent, events, results };
  }

  it("M03: a platform that cannot tell a repeat gets no second copy, and that is recorded as uncertain", async () => {
    const { first, second, events } = await killedWhileSending(false);
    expect(first).toHaveLength(1);
    expect(second).toEqual([]);
    expect(events).toMatchObject([{ state: "uncertain" }]);
  });

  it("M03: a platform that knows a repeat by its id gets it again under the same id", async () => {
    const { first, second, events } = await killedWhileSending(true);
    expect(second.map((one) => one.deliveryId)).toEqual(first.map((one) => one.deliveryId));
    expect(events).toMatchObject([{ state: "delivered" }]);
  });

  it.each([true, false])(
    "DELIV-1: what was confirmed before is not sent again, and keeps its id in the record (repeatable: %s)",
    async (repeatable) => {
      const { first, second, results } = await killedWhileSending(repeatable, "onceSent");
      expect([first.length, second.length]).toEqual([1, 0]);
      expect(results).toEqual([{ state: "delivered", messageIds: ["telegram-1"] }]);
    },
  );
});

describe("a denied chat", () => {
  const DENY = {
    session: { sendPolicy: { rules: [{ action: "deny" as const, match: { channel: "discord" } }] } },
  };

  it("J01 POL-3: the agent runs, with its tools, and reads on; nothing leaves, no typing either", async () => {
    const board = await aBoard({
      config: DENY,
      agents: { main: async ({ call }) => `seen ${(await call("sessions_list")).count}` },
    });
    const events = settledOn(board);
    await board.discord.says("hi", { from: ROOM });
    await board.quiet();
    expect(board.discord.sent).toEqual([]);
    expect(board.discord.typed).toEqual([]);
    expect(events).toMatchObject([{ state: "suppressed" }]);
    expect(events[0]?.reason).toContain("session.sendPolicy.rules[0]");
    const { messages } = await board.gateway.call("chat.history", { sessionKey: ROOM_KEY });
    expect(JSON.stringify(messages)).toContain("seen 1");
  });

  it("POL-3 STATUS-1: tells its owner how many replies were withheld, and since when, until it speaks again", async () => {
    const board = await aBoard({ agents: { main: echo() } });
    const privately = async (name: string, locale = "en") =>
      (await board.discord.calls(name, "", { from: ROOM, locale })) ?? "";
    await board.discord.says("before", { from: ROOM });
    await board.quiet();
    await board.discord.says("/send off", { from: ROOM });
    await board.quiet();
    expect(await privately("send")).not.toContain("withheld");
    for (const text of ["one", "/status", "/whoami"]) await board.discord.says(text, { from: ROOM });
    await board.quiet();
    await board.clock.advance(300_000);
    expect(await privately("send")).toContain(
      "(decided by /send off).\n1 reply was withheld 5m00s ago.\nUsage:",
    );
    await board.discord.says("two", { from: ROOM });
    await board.discord.says("three", { from: ROOM });
    await board.quiet();
    const said = await Promise.all(["en", "es", "pt", "hi"].map((locale) => privately("status", locale)));
    expect(said.map((text) => /^.*5m00s.*$/m.exec(text.split("/send off")[1] ?? "")?.[0])).toEqual([
      "3 replies were withheld, the first 5m00s ago.",
      "Se retuvieron 3 respuestas, la primera hace 5m00s.",
      "3 respostas foram retidas, a primeira há 5m00s.",
      "3 उत्तर रोके गए, पहला 5m00s पहले।",
    ]);
    expect(JSON.stringify(await use(board, ROOM_KEY, "session_status"))).not.toContain("withheld");
    await board.gateway.call("sessions.reset", { sessionKey: ROOM_KEY });
    expect(await privately("status")).toContain("3 replies");
    await board.discord.says("/send on", { from: ROOM });
    await board.quiet();
    expect(await privately("status")).not.toContain("withheld");
    await board.discord.says("/send off", { from: ROOM });
    await board.quiet();
    expect(await privately("send")).not.toContain("withheld");
  });

  it("POL-3 STATUS-1: by a rule: what was withheld is counted a day long, and goes with the next word of the owner", async () => {
    const board = await aBoard({ config: DENY, agents: { main: echo() } });
    const privately = async () => (await board.discord.calls("send", "", { from: ROOM })) ?? "";
    for (const text of ["one", "two"]) await board.discord.says(text, { from: ROOM });
    await board.quiet();
    expect(await privately()).toContain("2 replies were withheld");
    board.clock.skip(24 * 3_600_000);
    expect(await privately()).not.toContain("withheld");
    await board.discord.says("three", { from: ROOM });
    await board.quiet();
    expect(await privately()).toContain("1 reply was withheld 0s ago.");
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: "deny" });
    expect(await privately()).toContain("1 reply was withheld 0s ago.");
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: null });
    expect(await privately()).not.toContain("withheld");
  });

  it("POL-3: where it is allowed, typing shows from the beginning of a run to its end", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: echo("long", slow) } });
    await board.discord.says("long", { from: ROOM });
    await slow.reached;
    await board.clock.advance(11_000);
    expect(board.discord.typed).toEqual([ROOM, ROOM, ROOM]);
    slow.open();
    await board.quiet();
    await board.clock.advance(30_000);
    expect(board.discord.typed).toHaveLength(3);
  });

  it("POL-3: typing stops when the chat is denied meanwhile", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: echo("long", slow) } });
    await board.discord.says("long", { from: ROOM });
    await slow.reached;
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: "deny" });
    await board.clock.advance(20_000);
    expect(board.discord.typed).toEqual([ROOM]);
    slow.open();
    await board.quiet();
    expect(board.discord.sent).toEqual([]);
  });

  it("POL-3: typing is judged by the chat it shows in, not by where the session has moved since", async () => {
    const [first, second] = [gate(), gate()];
    const board = await aBoard({
      config: { session: { sendPolicy: { rules: [{ action: "deny", match: { channel: "telegram" } }] } } },
      agents: {
        async main({ text, signal }) {
          await (text === "one" ? first : second).pass(signal);
          return "done";
        },
      },
    });
    await board.discord.says("one");
    await first.reached;
    await board.telegram.says("two");
    await board.discord.says("three");
    first.open();
    await second.reached;
    await board.quiet();
    expect(board.telegram.typed).toEqual([]);
    second.open();
    await board.quiet();
    expect(board.discord.sent).toHaveLength(2);
  });

  it("J03 POL-3: neither failures nor commands that others may use are heard of there", async () => {
    const board = await aBoard({
      config: DENY,
      agents: {
        main() {
          throw new Error("model down");
        },
      },
    });
    await board.discord.says("hi", { from: ROOM });
    for (const command of ["/status", "/help", "/whoami"]) await board.discord.says(command, { from: ROOM });
    await board.quiet();
    expect(board.discord.sent).toEqual([]);
  });

  it("J03 POL-3: a stopped run and an expired one are not heard of there", async () => {
    const slow = gate();
    const board = await aBoard({
      config: { ...DENY, agents: { defaults: { timeoutSeconds: 5 } } },
      agents: { main: echo("", slow) },
    });
    await board.discord.says("one", { from: ROOM });
    await board.discord.says("two", { from: at("discord", "channel", "333") });
    await slow.reached;
    await board.gateway.call("sessions.delete", { sessionKey: ROOM_KEY });
    await board.clock.advance(6000);
    await board.quiet();
    expect(board.discord.sent).toEqual([]);
  });

  it("POL-3: a reply that waits for its second try when the chat is denied does not leave", async () => {
    const board = await aBoard({ agents: { main: echo() } });
    const events = settledOn(board);
    board.discord.failNext("transient");
    await board.discord.says("one", { from: ROOM });
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy: "deny" });
    await board.clock.advance(5000);
    await board.quiet();
    expect(board.discord.sent).toEqual([]);
    expect(events).toMatchObject([{ state: "suppressed" }]);
  });
});

describe("the host's own secrets", () => {
  it("are masked wherever text leaves, whatever it looks like", async () => {
    const secret = "correct horse battery staple";
    const { script } = asking();
    const board = await aBoard({
      config: {
        ...OPEN,
        redaction: { values: [secret] },
        bindings: [{ agentId: "b", match: { channel: "discord" } }],
      },
      agents: { main: script, b: () => `the password is ${secret}.` },
    });
    await board.discord.says("hi", { from: ROOM });
    await board.telegram.says(
      send({ sessionKey: "agent:b:discord:channel:222", message: "x", timeoutSeconds: 0 }),
    );
    await board.quiet();
    await board.gateway.call("chat.send", { sessionKey: "agent:b:discord:channel:222", message: "again" });
    await board.quiet();
    const texts = board.discord.sent.map((one) => one.text);
    expect(texts).toHaveLength(3);
    for (const text of texts) {
      expect(text).toMatch(/^the password is /);
      expect(text).not.toContain("horse");
    }
  });
});

describe("a store that cannot be reached for a while", () => {
  /** A switchboard whose values lie in a store that can be broken. */
  async function onAStore(script: Script) {
    const store = new BreakableMap();
    const board = await aBoard({ store: new Keyv({ store, throwOnErrors: true }), agents: { main: script } });
    const repair = async () => {
      store.isBroken = false;
      await board.clock.advance(10_000);
      await board.quiet();
    };
    return { board, store, repair };
  }

  it("RUN-2: a run that finds it broken waits, and is executed when it is back", async () => {
    const slow = gate();
    const { board, store, repair } = await onAStore(echo("first", slow));
    await board.telegram.says("first");
    await slow.reached;
    await board.telegram.says("second");
    store.isBroken = true;
    slow.open();
    await board.quiet();
    await board.clock.advance(5000);
    expect(board.telegram.sent).toEqual([]);
    await repair();
    expect(board.telegram.sent.map((one) => one.text)).toEqual(["re: first", "re: second"]);
    expect(board.agents.main?.turns).toHaveLength(2);
  });

  it("RUN-2: a run that was accepted just before it broke is not lost", async () => {
    const { board, store, repair } = await onAStore(echo());
    // Nothing has happened yet when the hand-over resolves but the acceptance itself.
    await board.telegram.says("only");
    store.isBroken = true;
    await board.quiet();
    await board.clock.advance(5000);
    await repair();
    expect(board.telegram.sent.map((one) => one.text)).toEqual(["re: only"]);
    expect(board.agents.main?.turns).toHaveLength(1);
  });

  it("RUN-2: an answer to another agent that finds it broken is kept until it is back; the agent is not asked twice", async () => {
    const store = new BreakableMap();
    const slow = gate();
    const { script, answers } = asking();
    const board = await aBoard({
      store: new Keyv({ store, throwOnErrors: true }),
      config: OPEN,
      agents: {
        main: script,
        async b({ signal }) {
          await slow.pass(signal);
          return "the answer";
        },
      },
    });
    await board.telegram.says(send({ agentId: "b", message: "x", timeoutSeconds: 60 }));
    await slow.reached;
    store.isBroken = true;
    slow.open();
    await board.quiet();
    await board.clock.advance(3000);
    store.isBroken = false;
    await board.clock.advance(10_000);
    await board.quiet();
    expect(answers).toMatchObject([{ status: "ok", reply: "the answer" }]);
    expect(board.agents.b?.turns.filter((turn) => turn.trigger === "send")).toHaveLength(1);
  });

  it("RUN-2: a reply that finds it broken on its way out waits and is sent once", async () => {
    const { board, store, repair } = await onAStore(echo());
    board.telegram.failNext("transient");
    await board.telegram.says("one");
    await board.quiet();
    store.isBroken = true;
    await board.clock.advance(3000);
    expect(board.telegram.sent).toEqual([]);
    await repair();
    expect(board.telegram.sent.map((one) => one.text)).toEqual(["re: one"]);
  });
});

describe("a transcript that is damaged", () => {
  it("STORE-4 RUN-2: its session's runs fail with the place, and whoever waits for them is told; others go on", async () => {
    const { script, answers } = asking();
    const board = await aBoard({
      config: { ...OPEN, bindings: [{ agentId: "b", match: { channel: "discord" } }] },
      agents: { main: script, b: () => "hello" },
    });
    await board.discord.says("hi", { from: ROOM });
    await board.quiet();
    const { sessionId } = await board.gateway.call("sessions.resolve", {
      key: "agent:b:discord:channel:222",
    });
    const file = openDatabase(join(board.dataDir, "switchboard.sqlite"));
    damageValue(file, infoKey(String(sessionId)));
    file.close();

    await board.telegram.says(send({ sessionKey: "agent:b:discord:channel:222", message: "x" }));
    await board.discord.says("and me?", { from: ROOM });
    await board.discord.says("and me?", { from: at("discord", "channel", "333") });
    await board.quiet();
    expect(answers[0]).toMatchObject({ status: "error", code: "RUN_FAILED" });
    expect(answers[0]?.error).toContain(String(sessionId));
    const { exchange } = await board.gateway.call("agent.wait", { runId: answers[0]?.runId });
    expect(exchange).toMatchObject({ state: "failed" });
    expect(sentTo(board, "222")).toHaveLength(2);
    expect(sentTo(board, "333")).toEqual(["hello"]);
    expect(board.complaints.filter((line) => line.includes("could not be executed"))).toHaveLength(2);
  });
});
