import { describe, expect, it } from "vitest";
import type { InboundMessage } from "../../src/core/ports/chat.ts";
import type { CommandReply, NativeCommandCall } from "../../src/core/ports/command.ts";
import { aBoard, type Board, type BoardOptions } from "../fakes/a-board.ts";
import { cast, spawning } from "../fakes/a-family.ts";
import { hangs } from "../fakes/a-spawner.ts";
import { gate } from "../fakes/gate.ts";
import { at, OWNER } from "../fakes/memory-adapter.ts";

const MAIN = "agent:main:main";
const ROOM = at("telegram", "group", "-100");
const ROOM_KEY = "agent:main:telegram:group:-100";
const MEMBER = { id: "7", name: "Mia", isBot: false };
const TOKEN = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
const PEERS = { session: { dmScope: "per-channel-peer" as const }, channels: {} };
const OPEN_DMS: BoardOptions = {
  config: { ...PEERS, channels: { telegram: { dmPolicy: "open" as const } } },
};

/** The owner writes directly, a minute after what was before. */
async function says(board: Board, text: string, message: Partial<InboundMessage> = {}): Promise<string> {
  const before = board.telegram.sent.length;
  await board.clock.advance(60_000);
  await board.telegram.says(text, message);
  await board.quiet();
  return board.telegram.sent
    .slice(before)
    .map((sent) => sent.text)
    .join("\n---\n");
}

const inRoom = (chatId: string, chatTitle?: string): Partial<InboundMessage> => ({
  from: at("telegram", "group", chatId),
  ...(chatTitle === undefined ? {} : { chatTitle }),
});

/** Two rooms with titles and the owner's own chat, the newest last. */
async function threeChats(options: BoardOptions = {}): Promise<Board> {
  const board = await aBoard(options);
  await says(board, "hello", inRoom("-100", "Family Chat"));
  await says(board, "hello", inRoom("-200", "Work"));
  await says(board, "hello");
  return board;
}

async function row(board: Board, key: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const pages = await Promise.all(
    [false, true].map((archived) =>
      board.gateway.call("sessions.list", { archived, search: key, limit: 200 }),
    ),
  );
  // Rows of a list.
  const rows = pages.flatMap(({ sessions }) => sessions as readonly Readonly<Record<string, unknown>>[]);
  // The host sees its own main session by its short name.
  return rows.find((one) => one.key === (key === MAIN ? "main" : key));
}

let calls = 0;

const native = (
  board: Board,
  name: string,
  text: string,
  call: Partial<NativeCommandCall> = {},
): Promise<CommandReply | undefined> => {
  calls += 1;
  return board.telegram.host.onCommand({
    id: `native-${calls}`,
    name,
    text,
    from: at("telegram", "direct", OWNER),
    sender: { id: OWNER, isBot: false },
    ...call,
  });
};

describe("/sessions", () => {
  it("CMD-3: lists what there is, newest first and numbered, with kind, agent, age and key", async () => {
    const board = await threeChats();
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "Kin" });
    expect(await says(board, "/sessions")).toBe(
      [
        "Sessions, newest first:",
        `#1 **main** · main · main · 1m00s ago · \`${MAIN}\``,
        "#2 **telegram:g-work** · group · main · 2m00s ago · `agent:main:telegram:group:-200`",
        `#3 **telegram:g-family-chat** · “Kin” · group · main · 3m00s ago · \`${ROOM_KEY}\``,
      ].join("\n"),
    );
  });

  it("CMD-3: says which of them is running", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: ({ signal }) => slow.pass(signal).then(() => "ok") } });
    await board.telegram.says("hello", inRoom("-100", "Family Chat"));
    await slow.reached;
    const reply = await native(board, "sessions", "");
    expect(reply?.text).toContain("#1 **telegram:g-family-chat** · group · main · running · 0s ago");
    slow.open();
  });

  it("CMD-3: in a room, where everybody reads along, it shows rooms without keys, and nobody's direct chat", async () => {
    const board = await aBoard(OPEN_DMS);
    await says(board, "hello", inRoom("-100", "Family Chat"));
    await says(board, "my secret", { from: at("telegram", "direct", "7"), sender: MEMBER, chatTitle: "Mia" });
    await board.gateway.call("sessions.patch", {
      sessionKey: "agent:main:telegram:direct:7",
      label: "patient",
    });
    const text = await says(board, "/sessions", inRoom("-100"));
    expect(text).toBe(
      [
        "Sessions, newest first:",
        "#1 **telegram:g-family-chat** · group · main · 2m00s ago",
        "Only rooms are shown here. Ask in a direct chat with me for all of them.",
      ].join("\n"),
    );
    for (const which of ["Mia", "patient", "agent:main:telegram:direct:7", "#2", "telegram:direct"]) {
      for (const action of ["history", "label", "archive", "list"]) {
        const answer = await says(board, `/sessions ${action} ${which}`, inRoom("-100"));
        expect(answer).not.toContain("my secret");
        expect(answer).toMatch(
          /^(No session that is shown here fits|There are no sessions to show|There is no #2 in the list)/,
        );
      }
    }
    expect(await row(board, "agent:main:telegram:direct:7")).toMatchObject({
      label: "patient",
      archived: false,
    });
    expect(await says(board, "/sessions history patient")).toContain("my secret");
  });

  it("CMD-3: what works for a direct chat stays out of a room's list as well", async () => {
    const agents = {
      main: cast({ asked: spawning(["count my money"], "ok"), task: ({ signal }) => hangs(signal) }),
    };
    const board = await aBoard({ agents });
    await says(board, "go");
    const everywhere = await native(board, "sessions", "list");
    expect(everywhere?.text).toContain(":subagent:");
    const here = await native(board, "sessions", "list", { from: ROOM, isPublic: true });
    expect(here?.text).not.toMatch(/subagent|money|main/);
  });

  it("CMD-3: shows ten at a time, and a tap or the line below shows the next ones", async () => {
    const board = await aBoard();
    for (let n = 10; n < 33; n++) await says(board, "hello", inRoom(`-${n}`));
    await board.telegram.says("/sessions");
    await board.quiet();
    const first = board.telegram.sent.at(-1);
    expect(first?.text.match(/^#\d+/gm)).toHaveLength(10);
    expect(first?.text).toMatch(/^#1 \*\*telegram:g-32\*\*/m);
    expect(first?.text).toContain("More: /sessions list #11");
    expect(first?.choices).toEqual([{ label: "More", command: "/sessions list #11" }]);
    const last = await native(board, "sessions", "list #21");
    expect(last?.text.match(/^#\d+/gm)).toEqual(["#21", "#22", "#23"]);
    expect(last?.choices).toBeUndefined();
    expect((await native(board, "sessions", "list #99"))?.text).toBe("There are no sessions to show.");
  });

  it("CMD-3: finds by a part of a name, whatever its case and accents, and gives the numbers that count then", async () => {
    const board = await threeChats();
    await says(board, "hello", inRoom("-300", "Família e Café"));
    const text = await says(board, "/sessions list FAMILIA");
    expect(text.split("\n").slice(1)).toEqual([
      expect.stringMatching(/^#1 \*\*telegram:g-família-e-café\*\* · group · main · 1m00s ago/),
    ]);
    expect(await says(board, "/sessions label #1 Kin")).toContain("g-família-e-café** is now labelled “Kin”");
    expect(await says(board, "/sessions list nothing")).toContain(
      "No session that is shown here fits “nothing”",
    );
  });

  it.each<[string, string]>([
    ["its number", "#3"],
    ["its number without the hash", "3"],
    ["its label", "Kin"],
    ["its label in other case", "kin"],
    ["its key", ROOM_KEY],
    ["its name", "telegram:g-family-chat"],
    ["its title in quotes", '"Family Chat"'],
    ["its title in a phone's quotes", "“family chat”"],
    ["its title in guillemets", "«Family Chat»"],
    ["how its title begins", "fam"],
    ["how its key begins", "telegram:group:-1"],
  ])("CMD-3: %s names a session", async (_, which) => {
    const board = await threeChats();
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "Kin" });
    await says(board, "/sessions");
    expect(await says(board, `/sessions history ${which}`)).toMatch(
      /^Last messages of \*\*telegram:g-family-chat\*\*:\n→ .*hello\n← ok$/,
    );
  });

  it("CMD-3: a session id names it too, in a room a room, and `current` and `main` are understood", async () => {
    const board = await threeChats();
    const id = String((await row(board, ROOM_KEY))?.sessionId);
    expect(await says(board, `/sessions history ${id}`)).toContain("**telegram:g-family-chat**");
    expect(await says(board, "/sessions history current", inRoom("-200"))).toContain("**telegram:g-work**");
    expect(await says(board, "/sessions history main")).toContain("**main**");
    expect(await says(board, "/sessions history main", inRoom("-200"))).toContain("No session that is shown");
  });

  it("CMD-3: of a beginning that fits several nothing is done, and they are named", async () => {
    const board = await threeChats();
    const text = await says(board, "/sessions archive telegram:g-");
    expect(text.split("\n")).toEqual([
      "2 sessions fit “telegram:g-”. Type more of the name, or a number:",
      expect.stringContaining("#1 **telegram:g-work**"),
      expect.stringContaining("#2 **telegram:g-family-chat**"),
    ]);
    expect(await row(board, ROOM_KEY)).toMatchObject({ archived: false });
    await says(board, "/sessions archive #2");
    expect(await row(board, ROOM_KEY)).toMatchObject({ archived: true });
  });

  it("CMD-3: a whole name is meant before the beginning of a longer one", async () => {
    const board = await threeChats();
    await says(board, "hello", inRoom("-300", "Family Chat of others"));
    expect(await says(board, '/sessions archive "Family Chat"')).toContain("g-family-chat** is archived");
    expect(await says(board, '/sessions archive "Family Ch"')).toMatch(/^2 sessions fit “Family Ch”/);
  });

  it("CMD-3: a number means the session that stood beside it, whatever has been said since", async () => {
    const board = await threeChats();
    await says(board, "/sessions");
    await says(board, "not for the bot", { ...inRoom("-100"), sender: MEMBER, addressed: false });
    await says(board, "hello again", inRoom("-200"));
    expect(await says(board, "/sessions archive #3")).toContain("g-family-chat** is archived");
    expect(await says(board, "/sessions label 3 Kin")).toContain("g-family-chat** is now labelled “Kin”");
  });

  it.each<[string, (board: Board) => Promise<unknown>]>([
    ["was in no list", async () => {}],
    ["is outside the list", (board) => says(board, "/sessions list Work")],
    [
      "is an hour old",
      async (board) => {
        await says(board, "/sessions");
        await board.clock.advance(3_600_000);
      },
    ],
    ["was shown in another chat", (board) => says(board, "/sessions", inRoom("-100"))],
  ])("CMD-3: a number that %s does nothing", async (_, before) => {
    const board = await threeChats();
    await before(board);
    expect(await says(board, "/sessions archive 2")).toBe(
      "There is no 2 in the list that I showed you last. /sessions shows it anew.",
    );
    expect(await row(board, "agent:main:telegram:group:-200")).toMatchObject({ archived: false });
  });

  it("CMD-3: neither a number nor a part of an id is the beginning of a name, but a label may be a number", async () => {
    const board = await threeChats();
    await says(board, "/sessions label Family 12 monkeys");
    const { sessionId = "" } = (await row(board, ROOM_KEY)) ?? {};
    expect(await says(board, "/sessions archive 12")).toMatch(/^There is no 12 in the list/);
    expect(await says(board, `/sessions archive ${String(sessionId).slice(0, -1)}`)).toMatch(/^No session/);
    expect(await row(board, ROOM_KEY)).toMatchObject({ archived: false });
    await says(board, "/sessions label Family 12");
    await says(board, "/sessions archive 12");
    expect(await row(board, ROOM_KEY)).toMatchObject({ archived: true });
  });

  it("CMD-3: what the caller alone was shown stays out of a room, under its number too", async () => {
    const board = await threeChats();
    expect((await native(board, "sessions", "", { from: ROOM }))?.text).toContain(`\`${MAIN}\``);
    expect(await says(board, "/sessions history #1", inRoom("-100"))).toMatch(/^There is no #1 in the list/);
    expect((await native(board, "sessions", "history #1", { from: ROOM }))?.text).toContain("hello");
  });

  it.each(["history", "label", "archive", "unarchive"])(
    "CMD-3: /sessions %s alone asks which, and of none that fits says so",
    async (action) => {
      const board = await threeChats();
      expect(await says(board, `/sessions ${action}`)).toMatch(/^Say which one/);
      expect(await says(board, `/sessions ${action} nobody`)).toMatch(
        /^No session that is shown here fits “nobody”/,
      );
    },
  );

  it.each(["/sessions kill #1", "/sessions constructor", "/sessions please #1"])(
    "CMD-3: %j is answered with how it is used",
    async (text) => {
      const board = await threeChats();
      expect(await says(board, text)).toBe(
        "Usage: /sessions [list|archived|history|label|archive|unarchive] [which] [text]",
      );
    },
  );

  it.each([
    "/sessions are a strange thing, aren't they",
    "/sessions list of all my chats",
    "/sessions archive main now",
    "/sessions history #1 please",
    "/sessions #1 please",
  ])("CMD-3: %j is words for the agent, and nothing is done", async (text) => {
    const board = await threeChats();
    const before = board.agents.main?.turns.length ?? 0;
    await says(board, text);
    expect(board.agents.main?.turns).toHaveLength(before + 1);
    expect(await row(board, MAIN)).toMatchObject({ archived: false });
  });
});

describe("/sessions history", () => {
  it("CMD-3: shows what was said cleaned and masked, and stays short", async () => {
    const board = await aBoard({
      agents: { main: () => `<think>hm</think>It is ${TOKEN}\n**bold** ${"long ".repeat(3000)}` },
    });
    for (let n = 0; n < 14; n++) await says(board, `question ${n}`, inRoom("-100"));
    await says(board, "/sessions");
    const text = await says(board, "/sessions history #1");
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain("hm");
    expect(text).toContain("\\*\\*bold\\*\\*");
    expect(text).toContain("question 13");
    expect(text).not.toContain("question 7");
    expect(text.length).toBeLessThan(3600);
  });

  it("CMD-3: after a new beginning there is nothing to show yet", async () => {
    const board = await threeChats();
    await board.gateway.call("sessions.reset", { sessionKey: ROOM_KEY });
    expect(await says(board, "/sessions history Family")).toBe(
      "**telegram:g-family-chat** has no messages yet.",
    );
  });
});

describe("/sessions label", () => {
  it("CMD-3: sets what stands behind the name, with or without quotes, and takes it away again", async () => {
    const board = await threeChats();
    await says(board, "/sessions");
    expect(await says(board, "/sessions label #3 My long label, you know!")).toBe(
      "**telegram:g-family-chat** is now labelled “My long label, you know!”.",
    );
    expect(await row(board, ROOM_KEY)).toMatchObject({ label: "My long label, you know!" });
    await says(board, '/sessions label "Family Chat" "Kin"');
    expect(await row(board, ROOM_KEY)).toMatchObject({ label: "Kin" });
    expect(await says(board, "/sessions label Kin")).toBe(
      "**telegram:g-family-chat** has lost its label “Kin”.",
    );
    expect((await row(board, ROOM_KEY))?.label).toBeUndefined();
    expect(await says(board, "/sessions label Family")).toBe("**telegram:g-family-chat** has no label.");
  });

  it("CMD-3: has the rules of sessions.patch: one holder per agent, 512 characters, some of them visible", async () => {
    const board = await threeChats();
    await says(board, "/sessions label Work Kin");
    expect(await says(board, "/sessions label Family Kin")).toMatch(
      /^Another session of the same agent is labelled “Kin”/,
    );
    expect(await says(board, `/sessions label Family ${"x".repeat(513)}`)).toMatch(
      /^A label has 1 to 512 characters/,
    );
    expect(await says(board, '/sessions label Family "\u3164"')).toMatch(/^A label has 1 to 512 characters/);
    expect((await row(board, ROOM_KEY))?.label).toBeUndefined();
    expect(await says(board, `/sessions label Family ${"é".repeat(512)}`)).toContain("is now labelled “ééé");
  });

  it("CMD-3 K04: hostile labels and titles stay one harmless line in every answer", async () => {
    const board = await aBoard();
    await says(board, "hello", inRoom("-100", `x\n## SYSTEM\n**[a](http://evil)** \`rm\` ${TOKEN}`));
    const label = `*bold* _it_ [link](http://evil) <b> \`code\` ||x|| \u202e\u200b ${TOKEN}`;
    const answers = [
      await says(board, "/sessions"),
      await says(board, `/sessions label #1 ${label}`),
      await says(board, "/sessions"),
      await says(board, "/sessions history #1"),
      await says(board, "/sessions archive #1"),
      await says(board, "/sessions archived"),
      await says(board, "/sessions unarchive #1"),
      await says(board, "/sessions label #1"),
    ];
    for (const answer of answers) {
      expect(answer).not.toContain(TOKEN);
      expect(answer).not.toMatch(/^#+ SYSTEM/m);
      expect(answer).not.toMatch(/[\u202e\u200b]/);
      expect(answer).not.toMatch(/(?<!\\)(\[link|<b>|\*bold|`code|\|\|x)/);
    }
  });

  it("CMD-3: a line break in it becomes a blank", async () => {
    const board = await threeChats();
    await says(board, "/sessions label Family first\nsecond");
    expect(await row(board, ROOM_KEY)).toMatchObject({ label: "first second" });
  });
});

describe("/sessions archive", () => {
  it("CMD-3: puts a session out of sight, and a tap brings it back", async () => {
    const board = await threeChats();
    await board.telegram.says("/sessions archive Family");
    await board.quiet();
    const { text, choices: [undo] = [] } = board.telegram.sent.at(-1) ?? {};
    expect(text).toBe("**telegram:g-family-chat** is archived. /sessions archived lists it.");
    expect(await row(board, ROOM_KEY)).toMatchObject({ archived: true });
    expect(await says(board, "/sessions")).not.toContain("family");
    expect(await says(board, "/sessions archived")).toMatch(
      /^Archived sessions, newest first:\n#1 \*\*telegram:g-family-chat\*\*/,
    );
    expect(Buffer.byteLength(undo?.command ?? "")).toBeLessThanOrEqual(64);
    const reply = await native(board, "sessions", undo?.command.replace("/sessions ", "") ?? "");
    expect(reply?.text).toBe("**telegram:g-family-chat** is back in the list.");
    expect(await row(board, ROOM_KEY)).toMatchObject({ archived: false });
    expect(await says(board, "/sessions archived")).toBe("There are no archived sessions to show.");
  });

  it("CMD-3: numbers count in the list that was shown last, names in both", async () => {
    const board = await threeChats();
    await says(board, "/sessions archive Family");
    await says(board, "/sessions archived");
    await says(board, "/sessions unarchive #1");
    expect(await row(board, ROOM_KEY)).toMatchObject({ archived: false });
    await says(board, "/sessions archive Family");
    expect(await says(board, "/sessions history Family")).toContain("hello");
    expect(await says(board, "/sessions label Family Kin")).toContain("Kin");
    expect(await row(board, ROOM_KEY)).toMatchObject({ archived: true, label: "Kin" });
  });

  it("CMD-3: twice is once, and a message in its chat opens it again", async () => {
    const board = await threeChats();
    await says(board, "/sessions archive Family");
    const { archivedAt } = (await row(board, ROOM_KEY)) ?? {};
    await says(board, "/sessions archive Family");
    expect(await row(board, ROOM_KEY)).toMatchObject({ archived: true, archivedAt });
    await says(board, "hello again", inRoom("-100"));
    expect(await row(board, ROOM_KEY)).toMatchObject({ archived: false });
  });
});

describe("/agents", () => {
  it("CMD-3: shows each agent with its model, how many sessions it has and how many of them run", async () => {
    const slow = gate();
    const board = await aBoard({
      agents: {
        main: () => "ok",
        research: ({ signal }) => slow.pass(signal).then(() => "ok"),
        idle: () => "ok",
      },
      config: {
        agents: { list: [{ id: "main", model: "small_1" }] },
        bindings: [{ agentId: "research", match: { channel: "discord" } }],
      },
    });
    await says(board, "hello");
    await says(board, "hello", inRoom("-100"));
    await board.discord.says("hello", { from: at("discord", "channel", "5") });
    await slow.reached;
    expect(await says(board, "/agents")).toBe(
      [
        "Agents:",
        "- **main** · default · small_1 · 2 sessions",
        "- **research** · 1 session · 1 running",
        "- **idle** · 0 sessions",
      ].join("\n"),
    );
    expect((await native(board, "agents", "", { locale: "hi" }))?.text).toContain("1 सत्र · 1 चल रहा है");
    slow.open();
  });

  it("CMD-3: of very many the first twenty are shown", async () => {
    const agents = Object.fromEntries(Array.from({ length: 23 }, (_, n) => [`agent${n}`, () => "ok"]));
    const board = await aBoard({ agents, config: { agents: { list: [{ id: "agent0", default: true }] } } });
    const text = await says(board, "/agents");
    expect(text.match(/^- /gm)).toHaveLength(20);
    expect(text).toContain("… and 3 more");
  });
});

describe("/new", () => {
  it("CMD-3 H04: begins the chat's session anew as sessions.reset does; what people chose stays, what was said can still be read", async () => {
    const board = await threeChats();
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, label: "Kin", model: "m2" });
    const before = await row(board, ROOM_KEY);
    expect(await says(board, "/new", inRoom("-100"))).toBe("A new conversation begins here.");
    const after = await row(board, ROOM_KEY);
    expect(after).toMatchObject({ label: "Kin", modelOverride: "m2" });
    expect(after?.sessionId).not.toBe(before?.sessionId);
    await says(board, "and now?", inRoom("-100"));
    const turn = board.agents.main?.turns.at(-1);
    expect(JSON.stringify(turn)).not.toContain("hello");
    const old = await board.gateway.call("chat.history", { sessionKey: before?.sessionId });
    expect(JSON.stringify(old.messages)).toContain("hello");
    // The other chats go on.
    expect((await row(board, MAIN))?.sessionId).toBeDefined();
    expect(await says(board, "/sessions history main")).toContain("hello");
  });

  it.each(["/new", "/reset", "/NEW", "/new:", "/new@our_bot"])(
    "CMD-3: %j alone asks no agent",
    async (text) => {
      const board = await threeChats();
      const before = await row(board, MAIN);
      const turns = board.agents.main?.turns.length;
      expect(await says(board, text)).toBe("A new conversation begins here.");
      expect(board.agents.main?.turns).toHaveLength(turns ?? 0);
      expect((await row(board, MAIN))?.sessionId).not.toBe(before?.sessionId);
    },
  );

  it("CMD-3: what stands behind it is the first message, exactly as it was written", async () => {
    const board = await threeChats({ agents: { main: ({ text }) => `re: ${text}` } });
    const text = 'Plan for 👨\u200d👩\u200d👧:\n- क्\u200dष\n- "quoted" /send off';
    expect(await says(board, `/new ${text}`)).toBe(`A new conversation begins here.\n---\nre: ${text}`);
    const { messages } = await board.gateway.call("chat.history", { sessionKey: MAIN });
    expect(messages).toHaveLength(2);
    expect(JSON.stringify(messages)).not.toContain("/new");
    expect((await row(board, MAIN))?.sendPolicy).toBeUndefined();
  });

  it("CMD-3: the answer to the first message replies to it where it was typed, and to nothing from a menu", async () => {
    const board = await aBoard();
    await says(board, "/new hello there", { ...inRoom("-100"), id: "77" });
    expect(board.telegram.sent.map(({ text, replyToId }) => [text, replyToId])).toEqual([
      ["A new conversation begins here.", "77"],
      ["ok", "77"],
    ]);
    const reply = await native(board, "new", "hello again", { from: ROOM });
    await board.quiet();
    expect(reply?.text).toBe("A new conversation begins here.");
    expect(board.agents.main?.turns).toHaveLength(2);
    const last = board.telegram.sent.at(-1);
    expect(last).toMatchObject({ text: "ok", to: { chatId: "-100" } });
    expect(last?.replyToId).toBeUndefined();
  });

  it("CMD-3: where there is no session yet it says so, and a text makes one", async () => {
    const board = await aBoard();
    expect(await says(board, "/new", inRoom("-9"))).toBe(
      "There is no session here yet: your next message begins one.",
    );
    expect(await row(board, "agent:main:telegram:group:-9")).toBeUndefined();
    expect(await says(board, "/new hello there", inRoom("-9"))).toBe(
      "A new conversation begins here.\n---\nok",
    );
    expect(await row(board, "agent:main:telegram:group:-9")).toBeDefined();
  });

  it("CMD-3 RUN-1: handed over twice it begins anew once", async () => {
    const board = await threeChats();
    const twice = { ...inRoom("-100"), id: "88" };
    await says(board, "/new say something", twice);
    const { sessionId } = (await row(board, ROOM_KEY)) ?? {};
    await says(board, "/new say something", twice);
    expect(await row(board, ROOM_KEY)).toMatchObject({ sessionId });
    expect(board.agents.main?.turns).toHaveLength(4);
  });

  it.each(["/new what is this?", "/new"])("CMD-3: the photo and the quote of %j come along", async (text) => {
    const board = await threeChats();
    const attachments = [{ mediaType: "image/png", name: "invoice.png" }];
    const quoted = { text: "pay until Friday", senderName: "Bob", forwarded: true };
    expect(await says(board, text, { attachments, quoted })).toBe("A new conversation begins here.\n---\nok");
    const { messages } = await board.gateway.call("chat.history", { sessionKey: MAIN });
    expect(JSON.stringify(messages)).toContain("invoice.png");
    expect(JSON.stringify(board.agents.main?.turns.at(-1))).toContain("pay until Friday");
  });

  it("CMD-3: what was said in the room before comes before the first message", async () => {
    const board = await aBoard();
    const overheard = { ...inRoom("-9"), sender: MEMBER, addressed: false };
    await says(board, "we meet at noon", overheard);
    await says(board, "/new when do we meet?", inRoom("-9"));
    expect(JSON.stringify(board.agents.main?.turns.at(-1)?.history)).toContain("we meet at noon");
    await says(board, "thank you", inRoom("-9"));
    const { messages } = await board.gateway.call("chat.history", {
      sessionKey: "agent:main:telegram:group:-9",
    });
    expect(JSON.stringify(messages)).toMatch(/at noon.*when do we meet.*ok.*thank you/);
    expect(JSON.stringify(messages).match(/at noon/g)).toHaveLength(1);
  });

  it("CMD-3 IN-1: alone it forgets what people had said in the room", async () => {
    const board = await aBoard();
    await says(board, "we meet at noon", { ...inRoom("-9"), sender: MEMBER, addressed: false });
    await says(board, "/new", inRoom("-9"));
    await says(board, "when do we meet?", inRoom("-9"));
    expect(JSON.stringify(board.agents.main?.turns.at(-1))).not.toContain("noon");
  });

  it("CMD-3: a member's sentence that begins with it is words for the agent, and the bare command nothing", async () => {
    const board = await threeChats();
    const { sessionId } = (await row(board, ROOM_KEY)) ?? {};
    const member = { ...inRoom("-100"), sender: MEMBER };
    expect(await says(board, "/new ideas for the party?", member)).toBe("ok");
    expect(await says(board, "/new", member)).toBe("");
    expect(await says(board, "/reset", member)).toBe("");
    expect(await row(board, ROOM_KEY)).toMatchObject({ sessionId });
  });

  it("CMD-3 POL-2: in a denied chat it works and says nothing", async () => {
    const board = await threeChats();
    await says(board, "/send off", inRoom("-100"));
    const before = await row(board, ROOM_KEY);
    expect(await says(board, "/new and go on", inRoom("-100"))).toBe("");
    expect((await row(board, ROOM_KEY))?.sessionId).not.toBe(before?.sessionId);
    expect(await row(board, ROOM_KEY)).toMatchObject({ sendPolicy: "deny" });
    expect(board.agents.main?.turns).toHaveLength(4);
  });
});

describe("/send without a word", () => {
  it("CMD-3: tells the policy and the rule that decides, in a chat without a session too, and a tap does the rest", async () => {
    const board = await aBoard({
      config: { session: { sendPolicy: { rules: [{ action: "deny", match: { chatType: "group" } }] } } },
    });
    await board.telegram.says("/send", inRoom("-100"));
    await board.quiet();
    const [{ text, choices = [] } = { text: "" }] = board.telegram.sent;
    expect(text).toMatch(
      /^⚙️ Sending is off for this session \(decided by session\.sendPolicy\.rules\[0\]\)\./,
    );
    expect(choices).toEqual([
      { label: "On", command: "/send on" },
      { label: "Off", command: "/send off" },
      { label: "As configured", command: "/send inherit" },
    ]);
    for (const { command } of choices) {
      const [name = "", word = ""] = command.slice(1).split(" ");
      expect((await native(board, name, word, { from: ROOM }))?.text).toMatch(
        /^⚙️ (Sending is|This session follows)/,
      );
    }
    expect((await native(board, "send", "off", { from: ROOM }))?.choices).toBeUndefined();
  });
});

describe("languages", () => {
  it.each(["es", "pt-BR", "hi"])(
    "CMD-5: all of it is said in %s; names, keys and words of the protocol stay",
    async (locale) => {
      const board = await threeChats();
      for (let n = 10; n < 20; n++) await says(board, "hello", inRoom(`-${n}`));
      const lines = [
        ["sessions", ""],
        ["sessions", "archived"],
        ["sessions", "history #1"],
        ["sessions", "history"],
        ["sessions", "history nobody"],
        ["sessions", "history telegram:g"],
        ["sessions", "label main Kin"],
        ["sessions", "label Family Kin"],
        ["sessions", `label Family ${"x".repeat(600)}`],
        ["sessions", "label main"],
        ["sessions", "label main"],
        ["sessions", "archive main"],
        ["sessions", "unarchive main"],
        ["sessions", "nonsense"],
        ["agents", ""],
        ["agents", "please"],
        ["new", ""],
      ] as const;
      for (const [name, text] of lines) {
        const theirs = await native(board, name, text, { locale });
        const english = await native(board, name, text, { locale: "en" });
        expect(theirs?.text, `${name} ${text}`).not.toBe(english?.text);
        expect(theirs?.text).not.toMatch(/[{}]|\b(the|is|are|more|ago|session|shown)\b/i);
        // Of an agent that is called like a kind.
        expect(theirs?.text).not.toMatch(/ · (main|group|other) · main · /);
        for (const [at, { command, label }] of (theirs?.choices ?? []).entries()) {
          expect(command).toBe(english?.choices?.[at]?.command);
          expect(label).not.toBe(english?.choices?.[at]?.label);
        }
      }
    },
  );
});

describe("who may", () => {
  const COMMANDS = [
    ["sessions", ""],
    ["sessions", "history main"],
    ["sessions", "label main x"],
    ["sessions", "archive main"],
    ["agents", ""],
    ["new", ""],
    ["new", "hello"],
    ["reset", ""],
  ] as const;
  const PEOPLE: readonly (readonly [string, InboundMessage["sender"]])[] = [
    ["a member", MEMBER],
    ["an anonymous admin", { id: OWNER, isBot: false, anonymous: true }],
    ["a bot with the owner's id", { id: OWNER, isBot: true }],
    ["somebody with the owner's name", { id: "8", name: OWNER, isBot: false }],
  ];

  it.each(PEOPLE)(
    "CMD-2 CMD-3: %s gets nothing done and nothing told, typed or native",
    async (_, sender) => {
      const board = await threeChats({ config: { channels: { telegram: { bots: "allow" } } } });
      const before = await board.gateway.call("sessions.list", { archived: false });
      for (const [name, text] of COMMANDS) {
        const reply = await native(board, name, text, { from: ROOM, sender });
        expect(reply).toEqual({ text: `Only the owner can do this. Your id: ${sender.id}` });
        if (text === "" || name === "sessions") {
          const answer = await says(board, `/${name} ${text}`.trim(), { ...inRoom("-100"), sender });
          expect(answer === "" || answer === "ok", answer).toBe(true);
        }
      }
      const after = await board.gateway.call("sessions.list", { archived: false });
      const essence = ({ sessions }: Readonly<Record<string, unknown>>) =>
        (sessions as readonly Readonly<Record<string, unknown>>[])
          .map(({ key, sessionId, label }) => [key, sessionId, label].join())
          .sort();
      expect(essence(after)).toEqual(essence(before));
    },
  );

  it("CMD-3 POL-2: in a denied chat none of them is answered in the chat, and all of them privately", async () => {
    const board = await threeChats();
    await says(board, "/send off", inRoom("-100"));
    for (const text of ["/sessions", "/sessions history current", "/agents"]) {
      expect(await says(board, text, inRoom("-100")), text).toBe("");
      const [name = "", ...rest] = text.slice(1).split(" ");
      expect((await native(board, name, rest.join(" "), { from: ROOM }))?.text, text).not.toBe("");
    }
  });

  it("CMD-1 CMD-3: neither the commands nor their answers reach an agent or a transcript", async () => {
    const board = await threeChats();
    const turns = board.agents.main?.turns.length ?? 0;
    for (const text of [
      "/sessions",
      "/sessions label Family Kin",
      "/sessions history Kin",
      "/agents",
      "/new",
    ])
      await says(board, text);
    await says(board, "bye");
    expect(board.agents.main?.turns).toHaveLength(turns + 1);
    expect(JSON.stringify(board.agents.main?.turns.at(-1))).not.toMatch(
      /\/sessions|\/agents|Sessions, newest|Agents:/,
    );
  });
});
