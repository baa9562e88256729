import fc from "fast-check";
import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import { aBoard, type Board, type BoardOptions, LEASE_MS, OPEN, type Script, use } from "../fakes/a-board.ts";
import { gate } from "../fakes/gate.ts";
import { at, OWNER } from "../fakes/memory-adapter.ts";

const WINDOW = 2000;
const CONFIG = { channels: { telegram: { debounceMs: WINDOW } } };
const ROOM = at("telegram", "group", "-100");
const ROOM_KEY = "agent:main:telegram:group:-100";
const MIA = { id: "7", name: "Mia", isBot: false };
const BEN = { id: "8", name: "Ben", isBot: false };
const IMAGE = [{ mediaType: "image/png", name: "cat.png" }];

const echo: Script = ({ text }) => `re: ${text}`;

function debouncing(options: BoardOptions = {}): Promise<Board> {
  return aBoard({ agents: { main: echo }, config: CONFIG, ...options });
}

/** What the agent was asked, turn by turn. */
function asked(board: Board): readonly string[] {
  return (board.agents.main?.turns ?? []).map(({ input }) =>
    input.content.map((block) => (block.type === "text" ? block.text : `(${block.type})`)).join(" | "),
  );
}

const replies = (board: Board) => board.telegram.sent.map(({ text }) => text);

async function rows(board: Board, sessionKey = "main") {
  const { messages } = await board.gateway.call("chat.history", { sessionKey });
  // The shape that sessions_history documents.
  return (messages as readonly { role: string; content: readonly { text?: string }[] }[]).map(
    ({ role, content }) => `${role}: ${content[0]?.text ?? ""}`,
  );
}

/** Ends the process as `kill -9` does, and starts another one on what it left. */
async function afterCrash(board: Board, options: BoardOptions = {}): Promise<Board> {
  const dataDir = board.snapshot();
  await board.close({ graceMs: 0 });
  const next = await debouncing({ ...options, dataDir, clock: board.clock });
  await board.clock.advance(LEASE_MS + WINDOW);
  await next.quiet();
  return next;
}

describe("channels.<name>.debounceMs", () => {
  it("IN-1: what a person writes within the window is one turn, with all of it in order, and the last message is answered", async () => {
    const board = await debouncing();
    await board.telegram.says("book a table", { id: "m-1" });
    await board.clock.advance(WINDOW - 500);
    await board.telegram.says("for four", { id: "m-2" });
    await board.clock.advance(WINDOW - 500);
    await board.telegram.says("on Friday", { id: "m-3" });
    await board.clock.advance(WINDOW - 1);
    await board.quiet();
    expect(board.agents.main?.turns).toEqual([]);
    await board.clock.advance(1);
    await board.quiet();
    expect(asked(board)).toEqual(["book a table | for four | on Friday"]);
    expect(replies(board)).toEqual(["re: book a table\nfor four\non Friday"]);
    expect(board.telegram.sent[0]?.deliveryId).toContain("m-3");
    expect(await rows(board)).toEqual([
      "user: book a table",
      "user: for four",
      "user: on Friday",
      "assistant: re: book a table\nfor four\non Friday",
    ]);
  });

  it("IN-1: without it, which is the default, every message has its own turn", async () => {
    const board = await debouncing({ config: {} });
    await Promise.all([board.telegram.says("one"), board.telegram.says("two")]);
    await board.quiet();
    expect(replies(board)).toEqual(["re: one", "re: two"]);
  });

  it("IN-1 O08: messages that come in one moment are one turn, too", async () => {
    const board = await debouncing();
    await Promise.all(["a", "b", "c", "d"].map((text) => board.telegram.says(text)));
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)).toEqual(["a | b | c | d"]);
  });

  it("IN-1: a message after the window begins a turn of its own", async () => {
    const board = await debouncing();
    await board.telegram.says("one");
    await board.clock.advance(WINDOW + 1);
    await board.telegram.says("two");
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)).toEqual(["one", "two"]);
    expect(board.agents.main?.turns[1]?.history.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("IN-1: the agent sees what it answers even where no history is given to it, and sees it once", async () => {
    const config = { ...CONFIG, agents: { defaults: { history: { maxEntries: 0 } } } };
    const [none, much] = [await debouncing({ config }), await debouncing()];
    for (const board of [none, much]) {
      await board.telegram.says("one");
      await board.telegram.says("two");
      await board.clock.advance(WINDOW);
      await board.quiet();
      expect(asked(board)).toEqual(["one | two"]);
      expect(board.agents.main?.turns[0]?.history).toEqual([]);
    }
  });

  it("IN-1: whoever never stops writing is answered after five windows", async () => {
    const board = await debouncing();
    for (let second = 0; second < 15; second++) {
      await board.telegram.says(`${second}`);
      await board.clock.advance(1000);
    }
    await board.quiet();
    expect(asked(board)).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].join(" | ")]);
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)[1]).toBe([10, 11, 12, 13, 14].join(" | "));
  });

  it("IN-1: the twenty-first message begins the next turn", async () => {
    const board = await debouncing();
    for (let n = 1; n <= 21; n++) await board.telegram.says(`${n}`);
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board).map((turn) => turn.split(" | ").length)).toEqual([20, 1]);
  });

  it("IN-1 N11: another person's message in the room ends the wait, and everybody is answered in order", async () => {
    const board = await debouncing();
    await board.telegram.says("one", { from: ROOM, sender: BEN });
    await board.telegram.says("me too", { from: ROOM, sender: MIA });
    await board.telegram.says("two", { from: ROOM, sender: BEN });
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)).toEqual(["Ben: one", "Mia: me too", "Ben: two"]);
    expect((await rows(board, ROOM_KEY)).filter((row) => row.startsWith("user"))).toEqual([
      "user: one",
      "user: me too",
      "user: two",
    ]);
  });

  it("IN-1: what others say among themselves does not part the words of one person", async () => {
    const board = await debouncing();
    await board.telegram.says("hello", { from: ROOM });
    await board.clock.advance(WINDOW);
    await board.telegram.says("one", { from: ROOM });
    await board.telegram.says("by the way", { from: ROOM, sender: MIA, addressed: false });
    await board.telegram.says("two", { from: ROOM });
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)).toEqual(["Olivia: hello", "Olivia: one | Olivia: two"]);
  });

  it("IN-1: chats that share a session, and topics of one group, are not mixed", async () => {
    const board = await aBoard({
      agents: { main: echo },
      config: { channels: { telegram: { debounceMs: WINDOW }, discord: { debounceMs: WINDOW } } },
    });
    await board.telegram.says("here");
    await board.discord.says("there");
    await board.telegram.says("topic 1", { from: { ...ROOM, threadId: "1" } });
    await board.telegram.says("topic 2", { from: { ...ROOM, threadId: "2" } });
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)).toHaveLength(4);
    expect(board.discord.sent.map(({ text }) => text)).toEqual(["re: there"]);
  });

  it("IN-1: a message with an attachment goes through at once, together with what waits before it", async () => {
    const board = await debouncing();
    await board.telegram.says("what is");
    await board.quiet();
    await board.telegram.says("this?");
    await board.quiet();
    expect(asked(board)).toEqual([]);
    await board.telegram.says("", { attachments: IMAGE });
    await board.quiet();
    expect(asked(board)).toEqual(["what is | this? | (attachment)"]);
    await board.telegram.says("alone", { attachments: IMAGE });
    await board.quiet();
    expect(asked(board)[1]).toBe("alone | (attachment)");
  });

  it("IN-1: words that come after an attachment are the next turn", async () => {
    const { script, busy } = slowOn("first");
    const board = await debouncing({ agents: { main: script } });
    await board.telegram.says("first", { attachments: IMAGE });
    await busy.reached;
    await board.telegram.says("", { attachments: IMAGE });
    await board.telegram.says("that was a cat");
    busy.open();
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board).slice(1)).toEqual(["(attachment)", "that was a cat"]);
  });

  it("IN-1: what has been begun before the next message came is not asked again with it", async () => {
    const { board, busy } = await begunEarly();
    busy.open();
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)).toEqual(["Ben: first", "Mia: look | (attachment)", "Ben: second"]);
  });

  it("IN-1: a command is answered at once, and /stop ends what waits", async () => {
    const board = await debouncing();
    await board.telegram.says("do it");
    await board.telegram.says("/whoami");
    await board.quiet();
    expect(board.telegram.sent).toHaveLength(1);
    await board.telegram.says("/stop");
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(replies(board)[1]).toMatch(/message/);
    expect(board.agents.main?.turns).toEqual([]);
  });

  it("IN-1 N05: a message that the platform hands over twice is in the turn once", async () => {
    const board = await debouncing();
    await board.telegram.says("one", { id: "m-1" });
    expect(await board.telegram.says("one", { id: "m-1" })).toBe("duplicate");
    await board.telegram.says("two", { id: "m-2" });
    await board.clock.advance(WINDOW);
    expect(await board.telegram.says("two", { id: "m-2" })).toBe("duplicate");
    await board.quiet();
    expect(asked(board)).toEqual(["one | two"]);
  });

  it("IN-1 N06: other sessions do not wait for a window", async () => {
    const board = await debouncing();
    await board.telegram.says("one");
    await board.discord.says("two", { from: at("discord", "channel", "222") });
    await board.quiet();
    expect(asked(board)).toEqual(["Olivia: two"]);
  });

  it("IN-1 N08: what another session says keeps its place and its own turn", async () => {
    const { script, busy } = slowOn("first");
    const board = await debouncing({ agents: { main: script } });
    await board.telegram.says("first");
    await board.clock.advance(WINDOW);
    await busy.reached;
    await board.telegram.says("one");
    await board.gateway.call("agent", { sessionKey: "main", message: "from the host" });
    await board.telegram.says("two");
    busy.open();
    await board.quiet();
    expect(asked(board)).toEqual(["first", "one", "from the host"]);
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)[3]).toBe("two");
  });

  it("IN-1: a message that waited longer than its window behind a run does not wait again", async () => {
    const { script, busy } = slowOn("first");
    const board = await debouncing({ agents: { main: script } });
    await board.telegram.says("first");
    await board.clock.advance(WINDOW);
    await busy.reached;
    await board.telegram.says("one");
    await board.telegram.says("two");
    await board.clock.advance(60_000);
    await board.telegram.says("much later");
    busy.open();
    await board.quiet();
    expect(asked(board)).toEqual(["first", "one | two"]);
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)[2]).toBe("much later");
  });
});

describe("what never waits for channels.<name>.debounceMs", () => {
  const long = { ...OPEN, channels: { telegram: { debounceMs: 60_000 } } };

  it("IN-1 N08: what comes behind a message that waits ends its wait: a send of another session, which is answered within its time", async () => {
    const board = await debouncing({
      agents: { main: echo, ops: () => "REPLY_SKIP" },
      config: { ...long, session: { agentToAgent: { maxPingPongTurns: 0 } } },
    });
    await board.gateway.call("agent", { agentId: "ops", message: "open" });
    await board.telegram.says("one");
    await board.quiet();
    expect(asked(board)).toEqual([]);
    const toMain = { sessionKey: "agent:main:main", message: "question", timeoutSeconds: 30 };
    const answer = use(board, "agent:ops:main", "sessions_send", toMain);
    await board.quiet();
    expect(await answer).toMatchObject({ status: "ok", reply: expect.stringContaining("question") });
    expect(asked(board)[0]).toBe("one");
  });

  it("IN-1 N08: a call of the host program, and what came of a child", async () => {
    const board = await debouncing({
      agents: { main: ({ request, text }) => (request.depth > 0 ? "the child's result" : `re: ${text}`) },
      config: long,
    });
    await board.telegram.says("one");
    await board.quiet();
    await board.gateway.call("agent", { sessionKey: "main", message: "from the host" });
    await board.quiet();
    expect(asked(board)).toEqual(["one", "from the host"]);
    await board.telegram.says("two");
    await board.quiet();
    await use(board, "agent:main:main", "sessions_spawn", { task: "look" });
    await board.quiet();
    await board.clock.advance(5000);
    await board.quiet();
    expect(replies(board).at(-1)).toContain("the child's result");
  });

  it("IN-1: the first message of /new, which is answered alone; what waited before it is answered first, in the new conversation", async () => {
    const board = await debouncing({ config: long });
    await board.telegram.says("one");
    await board.quiet();
    await board.telegram.says("/new hello");
    await board.quiet();
    expect(asked(board)).toEqual(["one", "hello"]);
    expect(await rows(board)).toEqual([
      "user: one",
      "assistant: re: one",
      "user: hello",
      "assistant: re: hello",
    ]);
  });

  it("IN-1: nobody, when the clock is set back meanwhile", async () => {
    const board = await debouncing();
    await board.telegram.says("one");
    await board.quiet();
    board.clock.skip(-3_600_000);
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)).toEqual(["one"]);
    await board.telegram.says("two");
    await board.quiet();
    board.clock.skip(-3_600_000);
    await board.telegram.says("three");
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)).toEqual(["one", "two | three"]);
  });
});

describe("messages that wait for one another", () => {
  it("IN-1: are answered whole in the new conversation where a /new comes between them and their answer, and stand in no other", async () => {
    const board = await debouncing();
    await board.telegram.says("hello");
    await board.clock.advance(WINDOW);
    // The shape that sessions_list documents.
    const { sessions } = await board.gateway.call("sessions.list", {});
    const [{ sessionId }] = sessions as [{ sessionId: string }];
    await board.telegram.says("one");
    await board.telegram.says("two");
    await board.quiet();
    await board.telegram.says("/new");
    await board.quiet();
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)).toEqual(["hello", "one | two"]);
    expect(await rows(board)).toEqual(["user: one", "user: two", "assistant: re: one\ntwo"]);
    expect(await rows(board, sessionId)).toEqual(["user: hello", "assistant: re: hello"]);
  });

  it("IN-1: /stop ends all of them, and the next message brings none of their words back", async () => {
    const board = await debouncing();
    for (const text of ["delete", "everything", "/stop"]) {
      await board.telegram.says(text);
      await board.quiet();
    }
    await board.telegram.says("hello");
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)).toEqual(["hello"]);
  });

  it("IN-1 N08: those that are being answered are not answered again with the next one", async () => {
    const { script, busy } = slowOn("two");
    const board = await debouncing({ agents: { main: script } });
    await board.telegram.says("one", { from: ROOM, sender: BEN });
    await board.telegram.says("two", { from: ROOM, sender: BEN });
    await board.telegram.says("look", { from: ROOM, sender: MIA, attachments: IMAGE });
    await busy.reached;
    await board.telegram.says("three", { from: ROOM, sender: BEN });
    busy.open();
    await board.clock.advance(WINDOW);
    await board.quiet();
    expect(asked(board)).toEqual(["Ben: one | Ben: two", "Mia: look | (attachment)", "Ben: three"]);
  });
});

describe("a process that dies within a window", () => {
  const stores: readonly (readonly [string, () => BoardOptions])[] = [
    ["the embedded store", () => ({})],
    ["a Keyv of the host", () => ({ store: new Keyv() })],
  ];

  it.each(stores)("IN-1 RUN-2: on %s nothing is lost and nothing said twice", async (_, options) => {
    const store = options();
    const board = await debouncing(store);
    await board.telegram.says("one", { id: "m-1" });
    await board.clock.advance(WINDOW - 1);
    await board.telegram.says("two", { id: "m-2" });
    // The first has been put into the turn of the second, which waits.
    await board.clock.advance(WINDOW - 500);
    await board.telegram.says("three", { id: "m-3" });
    const next = await afterCrash(board, store);
    expect(await next.telegram.says("two", { id: "m-2" })).toBe("duplicate");
    await next.quiet();
    expect([...board.telegram.sent, ...next.telegram.sent].map(({ text }) => text)).toEqual([
      "re: one\ntwo\nthree",
    ]);
    expect(await rows(next)).toEqual([
      "user: one",
      "user: two",
      "user: three",
      "assistant: re: one\ntwo\nthree",
    ]);
  });

  it.each([
    ["", false],
    [", also when its progress had been written", true],
  ])(
    "IN-1 RUN-2: an answer that was cut off is told of once, and not given in part later%s",
    async (_, reports) => {
      const busy = gate();
      const script: Script = async ({ request, text, signal }) => {
        if (reports) request.report(() => []);
        if (text.includes("two")) await busy.pass(signal);
        return `re: ${text}`;
      };
      const board = await debouncing({ agents: { main: script } });
      await board.telegram.says("one");
      await board.telegram.says("two");
      await board.clock.advance(WINDOW);
      await busy.reached;
      await board.clock.advance(1000);
      await board.quiet();
      const next = await afterCrash(board);
      await next.telegram.says("three");
      await board.clock.advance(WINDOW);
      await next.quiet();
      expect(next.telegram.sent).toHaveLength(2);
      expect(replies(next)[0]).toMatch(/restarted/i);
      expect(asked(next)).toEqual(["three"]);
      const said = (await rows(next)).filter((row) => row.startsWith("user"));
      expect(said).toEqual(["user: one", "user: two", "user: three"]);
    },
  );

  it("IN-1 RUN-2: what has only waited has not been begun, whenever it dies", async () => {
    for (let turns = 0; turns < 10; turns++) {
      const board = await debouncing();
      await board.telegram.says("one");
      await board.quiet();
      await board.telegram.says("two");
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      const next = await afterCrash(board);
      expect(replies(next)).toEqual(["re: one\ntwo"]);
    }
  });

  it("IN-1 RUN-2: what was begun is told of and not asked again, also where the next message came within the window", async () => {
    const { board } = await begunEarly();
    const next = await afterCrash(board);
    expect(asked(next)).toEqual(["Mia: look | (attachment)", "Ben: second"]);
    expect(replies(next)[0]).toMatch(/restarted/i);
    expect(next.telegram.sent).toHaveLength(3);
  });

  it("IN-1 RUN-2 O08: whenever it dies, every message is in exactly one turn, in order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 6 }),
        fc.nat(5),
        async (gaps, killAt) => {
          let board = await debouncing();
          const all: string[] = [];
          for (const [n, gap] of gaps.entries()) {
            await board.telegram.says(`w${n}`, { id: `m-${n}` });
            await board.clock.advance(gap);
            if (n !== killAt % gaps.length) continue;
            await board.quiet();
            all.push(...asked(board));
            board = await afterCrash(board);
          }
          await board.clock.advance(6 * WINDOW);
          await board.quiet();
          all.push(...asked(board));
          const words = all.flatMap((turn) => turn.split(" | "));
          expect(words).toEqual(gaps.map((_, n) => `w${n}`));
        },
      ),
      { numRuns: 12 },
    );
  });
});

/** Somebody's attachment ends the window of another person, whose next message comes when the agent is at work on the first. */
async function begunEarly() {
  const { script, busy } = slowOn("first");
  const board = await debouncing({ agents: { main: script } });
  await board.telegram.says("first", { from: ROOM, sender: BEN });
  await board.quiet();
  await board.telegram.says("look", { from: ROOM, sender: MIA, attachments: IMAGE });
  await busy.reached;
  await board.telegram.says("second", { from: ROOM, sender: BEN });
  return { board, busy };
}

/** An agent that stops at the gate when it is asked something with this word. */
function slowOn(word: string) {
  const busy = gate();
  const script: Script = async ({ text, signal }) => {
    if (text.includes(word)) await busy.pass(signal);
    return `re: ${text}`;
  };
  return { script, busy };
}

it("IN-1: a window is between 0 and 60 seconds", async () => {
  for (const debounceMs of [-1, 60_001, 1.5]) {
    await expect(debouncing({ config: { channels: { telegram: { debounceMs } } } })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
  }
  expect((await debouncing({ owners: { telegram: [OWNER] } })).complaints).toEqual([]);
});
