import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../src/core/config.ts";
import type { InboundMessage } from "../../src/core/ports/chat.ts";
import type { Logger } from "../../src/core/ports/host.ts";
import { aBoard, type Board, type BoardOptions } from "../fakes/a-board.ts";
import { gate } from "../fakes/gate.ts";
import { at, memoryAdapter, OWNER } from "../fakes/memory-adapter.ts";

const MAIN = "agent:main:main";
const ROOM = at("telegram", "group", "-100");
const ROOM_KEY = "agent:main:telegram:group:-100";
const MEMBER = { id: "7", name: "Mia", isBot: false };
const DENY_ROOMS: ConfigInput = {
  session: { sendPolicy: { rules: [{ action: "deny", match: { channel: "telegram", chatType: "group" } }] } },
};

const texts = (board: Board) => board.telegram.sent.map(({ text }) => text);

async function policyOf(board: Board, search: string): Promise<unknown> {
  const { sessions } = await board.gateway.call("sessions.list", { search });
  // Rows of a list.
  const [row] = sessions as readonly { sendPolicy?: string }[];
  if (row === undefined) throw new Error(`There is no row for ${search}.`);
  return row.sendPolicy;
}

async function heard(board: Board, sessionKey: string): Promise<string> {
  return JSON.stringify((await board.gateway.call("chat.history", { sessionKey })).messages);
}

/** The owner says this in a room and everything that follows has happened. */
async function says(board: Board, text: string, message: Partial<InboundMessage> = {}) {
  const acceptance = await board.telegram.says(text, { from: ROOM, ...message });
  await board.quiet();
  return acceptance;
}

describe("/send", () => {
  it("CMD-1 POL-2: /send off silences the chat, and /send on still gets through; inherit gives the policy back", async () => {
    const board = await aBoard();
    await says(board, "hello");
    expect(await says(board, "/send off")).toBe("command");
    expect(await policyOf(board, ROOM_KEY)).toBe("deny");
    await says(board, "anybody there?");
    expect(board.agents.main?.turns).toHaveLength(2);
    await says(board, "/send on");
    expect(await policyOf(board, ROOM_KEY)).toBe("allow");
    await says(board, "and now?");
    await says(board, "/send inherit");
    expect(await policyOf(board, ROOM_KEY)).toBeUndefined();
    expect(texts(board)).toEqual([
      "ok",
      "⚙️ Sending is off for this session.",
      "⚙️ Sending is on for this session.",
      "ok",
      "⚙️ This session follows the configured policy (on).",
    ]);
    expect(board.telegram.sent.every(({ to }) => to.chatId === "-100")).toBe(true);
  });

  it("CMD-1: neither the command nor its answer reaches the agent or the transcript", async () => {
    const board = await aBoard();
    await says(board, "hello");
    for (const text of ["/send off", "/send on", "/send", "/status", "/tools", "/whoami", "/help"])
      await says(board, text);
    await says(board, "bye");
    expect(board.agents.main?.turns).toHaveLength(2);
    const ours = /\/send|\/status|\/tools|Sending is|Tools here|Commands:/;
    expect(JSON.stringify(board.agents.main?.turns)).not.toMatch(ours);
    expect(await heard(board, ROOM_KEY)).not.toMatch(ours);
  });

  it.each<[string, unknown]>([
    ["/send off", "deny"],
    ["/SEND Off", "deny"],
    ["  /send   off  ", "deny"],
    ["/send: off", "deny"],
    ["/send:off", "deny"],
    ["/send@our_bot off", "deny"],
    ["/send@our_bot: off", "deny"],
    ["\u200e/send off\u200f", "deny"],
    ["\u2068/send\u2069 \u200boff\ufeff", "deny"],
    ["/send off\n", "deny"],
    ["\n/send off", "deny"],
    ["/send\u00a0off", "deny"],
    ["/send\toff", "deny"],
    ["/send deny", "deny"],
    ["/send on", "allow"],
    ["/send allow", "allow"],
    ["/send inherit", undefined],
    ["/send default", undefined],
    ["/send reset", undefined],
  ])("CMD-1: %j is the command", async (text, policy) => {
    const board = await aBoard();
    await says(board, "hello");
    expect(await says(board, text)).toBe("command");
    expect(await policyOf(board, ROOM_KEY)).toBe(policy);
    expect(board.agents.main?.turns).toHaveLength(1);
    expect(texts(board)).toHaveLength(2);
  });

  it.each([
    "please /send off",
    "/send off please",
    "/send off now!",
    "/send off\nand then",
    "/send\noff",
    "/send 0",
    "/send off.",
    "/sendoff",
    "/sending off",
    "/ send off",
    "//send off",
    "`/send off`",
    "> /send off",
    "send off",
    "/whoami really now",
    "/status please, now",
    "/tools all of them",
    "/weather",
  ])("CMD-1: %j is words for the agent", async (text) => {
    const board = await aBoard();
    expect(await says(board, text)).toBe("run");
    expect(board.agents.main?.turns).toHaveLength(1);
    expect(await policyOf(board, ROOM_KEY)).toBeUndefined();
    expect(texts(board)).toEqual(["ok"]);
  });

  it.each(["/send", "/send maybe", "/send:"])(
    "CMD-1: %j says what holds, why, and how to use it",
    async (text) => {
      const board = await aBoard({ config: DENY_ROOMS });
      await says(board, "hello");
      await says(board, text);
      expect(texts(board)).toEqual([
        "⚙️ Sending is off for this session (decided by session.sendPolicy.rules[0]).\n1 reply was withheld 0s ago.\nUsage: /send [on|off|inherit]",
      ]);
      expect(await policyOf(board, ROOM_KEY)).toBeUndefined();
    },
  );

  it("CMD-1: in a chat without a session the owner's word makes one, and the first message there is silent already", async () => {
    const board = await aBoard();
    await says(board, "/send off", { addressed: false });
    await says(board, "hello");
    expect(await policyOf(board, ROOM_KEY)).toBe("deny");
    expect(board.agents.main?.turns).toHaveLength(1);
    expect(texts(board)).toEqual(["⚙️ Sending is off for this session."]);
  });

  it("CMD-1: a command handed over twice, at once, later or after a restart, is carried out and answered once", async () => {
    const board = await aBoard();
    const off = { id: "55", from: ROOM };
    const twice = await Promise.all([
      board.telegram.says("/send off", off),
      board.telegram.says("/send off", off),
    ]);
    await board.quiet();
    expect([...twice].sort()).toEqual(["command", "duplicate"]);
    await says(board, "/send on");
    expect(await says(board, "/send off", { id: "55" })).toBe("duplicate");
    expect(await policyOf(board, ROOM_KEY)).toBe("allow");
    expect(texts(board)).toHaveLength(2);
    await board.close({ graceMs: 0 });
    const again = await aBoard({ dataDir: board.dataDir });
    expect(await says(again, "/send off", { id: "55" })).toBe("duplicate");
    expect(await policyOf(again, ROOM_KEY)).toBe("allow");
    expect(texts(again)).toEqual([]);
  });

  it("CMD-1: it does not wait behind a busy agent, and what that agent then says does not leave", async () => {
    let goOn = () => {};
    const going = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const board = await aBoard({
      agents: { main: () => going.then(() => "late answer") },
      config: { agents: { defaults: { maxConcurrent: 1 } } },
    });
    const started = board.next("run.started");
    await board.telegram.says("hello", { from: ROOM });
    await started;
    await says(board, "/send off");
    expect(texts(board)).toEqual(["⚙️ Sending is off for this session."]);
    goOn();
    await board.quiet();
    expect(texts(board)).toEqual(["⚙️ Sending is off for this session."]);
    expect(await heard(board, ROOM_KEY)).toContain("late answer");
  });

  it("CMD-1: commands of one chat are carried out in their order, whatever their number", async () => {
    const board = await aBoard();
    const words = Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? "off" : "on"));
    await Promise.all(words.map((word) => board.telegram.says(`/send ${word}`, { from: ROOM })));
    await board.quiet();
    expect(texts(board)).toEqual(words.map((word) => `⚙️ Sending is ${word} for this session.`));
    expect(await policyOf(board, ROOM_KEY)).toBe("allow");
  });

  it.each<[string, Partial<InboundMessage>, string]>([
    ["a direct chat", {}, "main"],
    ["a topic", { from: at("telegram", "group", "-100", "42") }, `${ROOM_KEY}:topic:42`],
    [
      "a broadcast channel",
      { from: at("telegram", "channel", "-1009") },
      "agent:main:telegram:channel:-1009",
    ],
  ])("CMD-1: in %s it changes that chat's own session and is answered there", async (_, message, key) => {
    const board = await aBoard();
    await board.telegram.says("hello", message);
    await board.telegram.says("hello", { from: at("telegram", "group", "-55") });
    await board.quiet();
    await board.telegram.says("/send off", message);
    await board.quiet();
    expect(await policyOf(board, key)).toBe("deny");
    expect(await policyOf(board, "-55")).toBeUndefined();
    const last = board.telegram.sent.at(-1);
    expect(last?.text).toContain("off");
    if (message.from !== undefined) expect(last?.to).toEqual(message.from);
  });

  it("H04 POL-2: a silence outlives a reset, a restart and the end of the day", async () => {
    const board = await aBoard();
    await says(board, "hello");
    await says(board, "/send off");
    await board.gateway.call("sessions.reset", { sessionKey: ROOM_KEY });
    await board.close({ graceMs: 0 });
    const again = await aBoard({ dataDir: board.dataDir });
    again.clock.skip(26 * 3_600_000);
    await again.clock.advance(1000);
    await says(again, "hello", { id: "next day" });
    expect(await policyOf(again, ROOM_KEY)).toBe("deny");
    expect(again.agents.main?.turns).toHaveLength(1);
    expect(texts(again)).toEqual([]);
  });
});

describe("a chat in the long run", () => {
  const room = fc.constantFrom("-1", "-2", "-3");
  const act = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("says" as const), room, owner: fc.boolean() }) },
    fc.record({
      kind: fc.constantFrom("types" as const, "calls" as const),
      room,
      owner: fc.boolean(),
      word: fc.constantFrom("on", "off", "inherit", ""),
    }),
  );

  it("CMD-1 POL-2: whatever is said, typed and called, a chat hears what its owner's last word and the policy allow, and no other chat does", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 25 }), fc.boolean(), async (acts, denies) => {
        const board = await aBoard({ config: denies ? DENY_ROOMS : {} });
        const words = new Map<string, "on" | "off">();
        const expected: string[] = [];
        let turns = 0;
        for (const { room: chatId, owner, ...one } of acts) {
          const message = { from: at("telegram", "group", chatId), ...(owner ? {} : { sender: MEMBER }) };
          if (one.kind === "says") {
            await board.telegram.says("hello", message);
            turns += 1;
            if ((words.get(chatId) ?? (denies ? "off" : "on")) === "on") expected.push(`${chatId} ok`);
          } else if (one.kind === "types") {
            await board.telegram.says(`/send ${one.word}`, message);
            if (owner) expected.push(`${chatId} command`);
          } else {
            const answer = await board.telegram.calls("send", one.word, message);
            expect(answer?.startsWith("Only the owner")).toBe(!owner);
          }
          if (one.kind !== "says" && owner && one.word === "inherit") words.delete(chatId);
          if (one.kind !== "says" && owner && (one.word === "on" || one.word === "off"))
            words.set(chatId, one.word);
          await board.quiet();
        }
        const heardIn = board.telegram.sent.map(
          ({ to, text }) => `${to.chatId} ${text === "ok" ? "ok" : "command"}`,
        );
        expect(heardIn).toEqual(expected);
        expect(board.agents.main?.turns).toHaveLength(turns);
        await board.close({ graceMs: 0 });
      }),
      { numRuns: 15 },
    );
  });
});

describe("who may", () => {
  it("J06 CMD-1: a member's /send is ignored without a word and not heard by the agent; the owner's works", async () => {
    const board = await aBoard();
    await says(board, "hello");
    for (const text of ["/send off", "/send on", "/send inherit", "/send", "/status", "/tools"]) {
      expect(await says(board, text, { sender: MEMBER })).toBe("command");
    }
    expect(await policyOf(board, ROOM_KEY)).toBeUndefined();
    expect(texts(board)).toEqual(["ok"]);
    expect(board.agents.main?.turns).toHaveLength(1);
    await says(board, "/send off");
    expect(await policyOf(board, ROOM_KEY)).toBe("deny");
    await says(board, "/send on", { sender: MEMBER });
    expect(await policyOf(board, ROOM_KEY)).toBe("deny");
  });

  it("CMD-2: a native call of somebody else is refused with the id that an owner would have to be listed by", async () => {
    const board = await aBoard();
    const from = at("discord", "channel", "222");
    const sender = { ...MEMBER, id: "4711" };
    for (const [name, text] of [
      ["send", "off"],
      ["status", ""],
      ["tools", ""],
    ] as const) {
      expect(await board.discord.calls(name, text, { from, sender })).toBe(
        "Only the owner can do this. Your id: 4711",
      );
    }
    expect(await board.gateway.call("sessions.list", {})).toMatchObject({ count: 0 });
    expect(await board.discord.calls("send", "off", { from, sender: { ...MEMBER, id: OWNER } })).toContain(
      "off",
    );
    expect(await policyOf(board, "222")).toBe("deny");
    expect(board.discord.sent).toEqual([]);
  });

  it("CMD-2: a native call from where nobody is let in says nothing and does nothing", async () => {
    const board = await aBoard({ config: { channels: { discord: { groupPolicy: "disabled" } } } });
    expect(
      await board.discord.calls("send", "off", { from: at("discord", "channel", "222") }),
    ).toBeUndefined();
    expect(await board.discord.calls("nonsense", "")).toBeUndefined();
    expect(await board.gateway.call("sessions.list", {})).toMatchObject({ count: 0 });
  });

  const OWNERS: readonly (readonly [string, BoardOptions["owners"]])[] = [
    ["no owners", undefined],
    ["no list for the channel", {}],
    ["an empty list", { telegram: [] }],
    ["an owner of another channel", { discord: ["1"] }],
  ];

  it.each(OWNERS)("CMD-2 J07: with %s nobody is one", async (_, owners = {}) => {
    const board = await aBoard({ owners });
    await says(board, "/send off", { sender: { id: "1", isBot: false } });
    await says(board, "hello", { sender: { id: "1", isBot: false } });
    expect(texts(board)).toEqual(["ok"]);
    expect(await policyOf(board, ROOM_KEY)).toBeUndefined();
  });

  it.each([
    [["*"]],
    [["@ann"]],
    [["ann"]],
    [[""]],
    [["  "]],
    [["telegram:*"]],
    [["discord:1"]],
    [[-1]],
    [[1.5]],
  ])("CMD-2 J07: %j in the list is a config error, never an owner", async (telegram) => {
    const made = aBoard({ owners: { telegram } });
    await expect(made).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(made).rejects.toThrow(/owners\.telegram\[0\]/);
  });

  it.each([[["1"]], [[1]], [["telegram:1"]], [[" 1 "]]])(
    "CMD-2 J07: %j is person 1 and nobody else",
    async (telegram) => {
      const board = await aBoard({ owners: { telegram } });
      await says(board, "hello");
      for (const id of ["2", "11", "01", "@ann", "*"])
        await says(board, "/send off", { sender: { id, name: "1", isBot: false } });
      expect(await policyOf(board, ROOM_KEY)).toBeUndefined();
      await says(board, "/send off", { sender: { id: "1", isBot: false } });
      expect(await policyOf(board, ROOM_KEY)).toBe("deny");
    },
  );

  it.each<[string, Partial<InboundMessage["sender"]>]>([
    ["a bot with the owner's id", { isBot: true }],
    ["somebody who cannot be told apart", { anonymous: true }],
    ["somebody with the owner's name", { id: "8", name: OWNER }],
    ["somebody with the owner's id as a role", { id: "8", roleIds: [OWNER] }],
  ])("CMD-2: %s is no owner", async (_, sender) => {
    const board = await aBoard({ config: { channels: { telegram: { bots: "allow" } } } });
    await says(board, "hello");
    await says(board, "/send off", { sender: { id: OWNER, isBot: false, ...sender } });
    expect(await policyOf(board, ROOM_KEY)).toBeUndefined();
  });

  it.each(["discord", "telegram", "whatsapp"] as const)(
    "CMD-1: the owner on %s may, in its rooms and directly",
    async (channel) => {
      const board = await aBoard();
      const rooms = [
        { from: at(channel, channel === "discord" ? "channel" : "group", "5") },
        { from: at(channel, "direct", OWNER) },
      ];
      for (const message of rooms) {
        await board[channel].says("hello", message);
        await board.quiet();
        await board[channel].says("/send off", message);
        await board.quiet();
        expect(board[channel].sent.at(-1)?.text).toBe("⚙️ Sending is off for this session.");
        await board[channel].says("/send on", message);
        await board.quiet();
      }
      expect(board[channel].sent).toHaveLength(6);
    },
  );

  it("J08 CMD-2: on WhatsApp the owner is known by phone number or LID, told or remembered; without either nobody is, and the log says whom", async () => {
    const log: string[] = [];
    const note = (details: object, message: string) => log.push(`${message} ${JSON.stringify(details)}`);
    const logger: Logger = { debug: () => {}, info: note, warn: note, error: note };
    const board = await aBoard({ owners: { whatsapp: ["+1 (555) 000-222", "999@lid"] }, logger });
    const from = at("whatsapp", "group", "1203@g.us");
    const tries = async (sender: InboundMessage["sender"]) => {
      const before = board.whatsapp.sent.length;
      await board.whatsapp.says("/send", { from, sender });
      await board.quiet();
      return board.whatsapp.sent.length > before;
    };
    expect(await tries({ id: "111@lid", isBot: false })).toBe(false);
    expect(log.join("\n")).toMatch(/111@lid/);
    expect(await tries({ id: "+1555000222", altIds: ["111@lid"], isBot: false })).toBe(true);
    expect(await tries({ id: "111@lid", isBot: false })).toBe(true);
    expect(await tries({ id: "999@lid", isBot: false })).toBe(true);
    expect(await tries({ id: "+999", isBot: false })).toBe(false);
    expect(await tries({ id: "1555000222@lid", isBot: false })).toBe(false);
    await board.whatsapp.host.onSamePerson("whatsapp", "444@lid", "+1555000222");
    expect(await tries({ id: "444@lid", isBot: false })).toBe(true);
  });

  it("CMD-2: without owners the WhatsApp account's own chat with itself is the owner's, and only that account's", async () => {
    const whatsapp = memoryAdapter("whatsapp", { ownIds: ["+1555", "77@lid"] });
    const telegram = memoryAdapter("telegram");
    const board = await aBoard({ owners: {}, adapters: [whatsapp, telegram] });
    const self = {
      from: at("whatsapp", "direct", "1555@s.whatsapp.net"),
      sender: { id: "+1555", isBot: false },
    };
    await whatsapp.says("/send off", self);
    await telegram.says("/send off", { sender: { id: "1555", isBot: false } });
    await board.quiet();
    expect(whatsapp.sent.map(({ text }) => text)).toEqual(["⚙️ Sending is off for this session."]);
    expect(telegram.sent).toEqual([]);
  });
});

describe("a denied chat", () => {
  it("CMD-1: only /send is answered there; the others answer privately or not at all", async () => {
    const board = await aBoard();
    await says(board, "hello");
    await says(board, "/send off");
    const before = texts(board).length;
    for (const text of ["/status", "/whoami", "/help"]) {
      await says(board, text);
      await says(board, text, { sender: MEMBER });
    }
    expect(texts(board)).toHaveLength(before);
    const from = ROOM;
    expect(await board.telegram.calls("status", "", { from })).toContain("Sending: off (/send off)");
    expect(await board.telegram.calls("help", "", { from })).toContain("/send");
    expect(await board.telegram.calls("whoami", "", { from, sender: MEMBER })).toContain("7");
    await says(board, "/send");
    expect(texts(board).at(-1)).toContain("off");
    expect(texts(board)).toHaveLength(before + 1);
  });

  it("CMD-1 POL-2: where the policy denies, /send on is the exception, and inherit ends it", async () => {
    const board = await aBoard({ config: DENY_ROOMS });
    await says(board, "hello");
    expect(texts(board)).toEqual([]);
    await says(board, "/send on");
    await says(board, "hello");
    await says(board, "/send inherit");
    await says(board, "hello");
    expect(texts(board)).toEqual([
      "⚙️ Sending is on for this session.",
      "ok",
      "⚙️ This session follows the configured policy (off).",
    ]);
  });

  it("CMD-1: a typed /help of anybody in a denied room without a session stays unanswered as well", async () => {
    const board = await aBoard({ config: DENY_ROOMS });
    await says(board, "/help", { sender: MEMBER });
    await says(board, "/whoami", { sender: MEMBER });
    expect(texts(board)).toEqual([]);
    expect(await board.gateway.call("sessions.list", {})).toMatchObject({ count: 0 });
  });
});

describe("POL-1: rules", () => {
  it.each<[string, object, Partial<InboundMessage>, number]>([
    ["a channel's direct chats in main", { channel: "telegram" }, {}, 0],
    ["a channel's rooms", { channel: "telegram" }, { from: ROOM }, 0],
    ["topics", { channel: "Telegram" }, { from: at("telegram", "group", "-100", "42") }, 0],
    ["another channel", { channel: "discord" }, {}, 1],
    ["one of several channels", { channel: ["discord", "telegram"] }, {}, 0],
    ["direct chats", { chatType: "direct" }, {}, 0],
    ["direct chats, not rooms", { chatType: "direct" }, { from: ROOM }, 1],
    ["rooms of both kinds", { chatType: ["group", "channel"] }, { from: ROOM }, 0],
    ["a full key", { keyPrefix: ROOM_KEY }, { from: ROOM }, 0],
    ["a key without its agent", { keyPrefix: "telegram:group:" }, { from: ROOM }, 0],
    ["a key in other case", { keyPrefix: "TELEGRAM:Group:" }, { from: ROOM }, 0],
    ["a key of another room", { keyPrefix: "telegram:group:-2" }, { from: ROOM }, 1],
    ["all given fields must fit", { channel: "telegram", chatType: "channel" }, { from: ROOM }, 1],
    ["no field: everything", {}, { from: ROOM }, 0],
  ])("POL-1 J04: %s", async (_, match, message, sent) => {
    const config = { session: { sendPolicy: { rules: [{ action: "deny" as const, match }] } } };
    const board = await aBoard({ config });
    await board.telegram.says("hello", message);
    await board.quiet();
    expect(board.agents.main?.turns).toHaveLength(1);
    expect(texts(board)).toHaveLength(sent);
  });

  it.each(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"] as const)(
    "POL-1 J04: a rule for a channel holds for its direct chats, with scope %s",
    async (dmScope) => {
      const board = await aBoard({
        config: {
          session: { dmScope, sendPolicy: { rules: [{ action: "deny", match: { channel: "telegram" } }] } },
        },
      });
      await board.telegram.says("hello");
      await board.discord.says("hello");
      await board.quiet();
      expect([board.telegram.sent.length, board.discord.sent.length]).toEqual([0, 1]);
    },
  );

  it("POL-1: a denial beats a permission in whatever order, and the default holds for the rest", async () => {
    const deny = { action: "deny" as const, match: { channel: "telegram" } };
    const allow = { action: "allow" as const, match: { keyPrefix: "telegram:group:" } };
    for (const rules of [
      [deny, allow],
      [allow, deny],
    ]) {
      const board = await aBoard({ config: { session: { sendPolicy: { rules } } } });
      await says(board, "hello");
      expect(texts(board)).toEqual([]);
    }
    const strict = await aBoard({ config: { session: { sendPolicy: { rules: [allow], default: "deny" } } } });
    await says(strict, "hello");
    await strict.telegram.says("hello");
    await strict.quiet();
    expect(strict.telegram.sent.map(({ to }) => to.chatId)).toEqual(["-100"]);
  });

  it.each<[object, string]>([
    [{ action: "deny", match: { target: "+1" } }, "target"],
    [{ action: "deny", match: { sessionId: "x" } }, "sessionId"],
    [{ action: "forbid" }, "action"],
    [{ action: "deny", match: { chatType: "room" } }, "chatType"],
  ])("POL-1: the rule %j is a config error that names %s", async (rule, word) => {
    // What a host writes in JavaScript.
    const made = aBoard({ config: { session: { sendPolicy: { rules: [rule] } } } as unknown as ConfigInput });
    await expect(made).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(made).rejects.toThrow(word);
  });

  it("POL-1: a rule for Discord groups alone is warned about at the start: servers are channels there", async () => {
    const rules = [{ action: "deny" as const, match: { channel: "discord", chatType: "group" as const } }];
    const board = await aBoard({ config: { session: { sendPolicy: { rules } } } });
    expect(board.complaints.join()).toMatch(/rules\[0\].*Discord.*"channel"/);
    const quiet = await aBoard({ config: DENY_ROOMS });
    expect(quiet.complaints).toEqual([]);
  });

  it("POL-2: sessions.patch sets, clears and checks the override", async () => {
    const board = await aBoard();
    await says(board, "hello");
    const patch = (sendPolicy: unknown) =>
      board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, sendPolicy });
    await patch("deny");
    await says(board, "hello");
    expect(texts(board)).toHaveLength(1);
    await patch(null);
    expect(await policyOf(board, ROOM_KEY)).toBeUndefined();
    for (const wrong of ["off", "inherit", true, 1, ""]) {
      await expect(patch(wrong)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    }
    await expect(patch("off")).rejects.toThrow(/allow.*deny/);
    expect(await policyOf(board, ROOM_KEY)).toBeUndefined();
  });
});

describe("the other commands", () => {
  it("/status tells what is known of the chat's session, and that there is none where there is none", async () => {
    const usage = { totalTokens: 1200, inputTokens: 1000, outputTokens: 200 };
    const board = await aBoard({
      agents: { main: () => ({ status: "ok", reply: "hi", model: "small-1", usage }) },
    });
    await says(board, "/status");
    await says(board, "hello", { chatTitle: "Family Chat" });
    await board.clock.advance(65_000);
    await says(board, "/status");
    expect(texts(board)[0]).toBe("There is no session here yet.");
    const [time, ...lines] = texts(board)[2]?.split("\n") ?? [];
    expect(time).toMatch(/^Time: Nov 30, 2026, \d+:01.[AP]M \(.+\)$/);
    expect(lines).toEqual([
      "Session: telegram:g-family-chat (agent main)",
      "Conversation begun 1m05s ago",
      "Model: small-1",
      "Tokens: 1,200 (in 1,000 / out 200)",
      "Nothing is running.",
      "Last run: done after 0s, 1m05s ago",
      "Sending: on (session.sendPolicy.default)",
    ]);
  });

  it("STATUS-1 CMD-4: /status names the key and where replies go to the caller alone; in a room where others read along neither", async () => {
    const board = await aBoard();
    await board.telegram.says("hello");
    await says(board, "hello");
    const direct = await board.telegram.calls("status", "");
    expect(direct).toContain("\nKey: `agent:main:main`\nReplies go to telegram: 1001\n");
    const alone = await board.telegram.calls("status", "", { from: ROOM });
    expect(alone).toContain(`\nKey: \`${ROOM_KEY}\`\nReplies go to telegram: -100\n`);
    const room = await board.telegram.calls("status", "", { from: ROOM, isPublic: true });
    expect(room).toContain("Session: telegram:g-100");
    expect(room).not.toMatch(/agent:|Replies go/);
    await says(board, "/status");
    expect(texts(board).at(-1)).toContain("Session: telegram:g-100");
    expect(texts(board).at(-1)).not.toMatch(/agent:|Replies go/);
  });

  it("STATUS-1: /status says everything that session_status knows, in each language", async () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      cacheRead: 3,
      contextTokens: 150,
      estimatedCostUsd: 0.5,
    };
    const slow = gate();
    const board = await aBoard({
      config: { agents: { list: [{ id: "main", model: "m1" }] } },
      agents: {
        main: async ({ request, text, call, signal }) => {
          if (request.depth > 0) return slow.pass(signal).then(() => "done");
          if (text.includes("spawn")) await call("sessions_spawn", { task: "count `boxes`\n```" });
          return { status: "ok", reply: "hi", model: "m1", usage };
        },
      },
    });
    await says(board, "spawn");
    await slow.reached;
    await board.gateway.call("sessions.patch", {
      sessionKey: ROOM_KEY,
      label: "Family",
      model: "m2",
      thinkingLevel: "high",
      verboseLevel: "on",
    });
    const said = await Promise.all(
      ["en", "es", "pt", "hi"].map(async (locale) => {
        const text = await board.telegram.calls("status", "", { from: ROOM, locale, isPublic: true });
        return text?.split("\n") ?? [];
      }),
    );
    expect(said[0]?.slice(1)).toEqual([
      "Session: telegram:g-100 (agent main)",
      "Label: Family",
      "Conversation begun 0s ago",
      "Model: m2 (set for this session)",
      "The last run used m1",
      "Tokens: 15 (in 10 / out 5)",
      "Cache read: 3",
      "Estimated cost: $0.50",
      "Thinking: high",
      "Verbosity: on",
      "Nothing is running.",
      "Last run: done after 0s, 0s ago",
      "1 subagent at work:",
      "- count \\`boxes\\` \\`\\`\\`: running, 0s",
      "Sending: on (session.sendPolicy.default)",
    ]);
    const [english = [], ...others] = said;
    for (const lines of others) {
      expect(lines).toHaveLength(english.length);
      // Names and figures are the same, the words are not.
      expect(lines.filter((line) => english.includes(line))).toEqual([]);
      expect(lines.join("\n")).toMatch(/telegram:g-100.*Family.*m2.*m1.*15.*high.*count \\`boxes.*, 0s/s);
    }
    slow.open();
  });

  it("H02: /status shows the window of the model that it names, and of no other", async () => {
    const board = await aBoard({
      agents: {
        main: ({ text }) => {
          const usage = { totalTokens: text.includes("long") ? 500 : 15, contextTokens: 150 };
          return { status: "ok", reply: "hi", model: "m1", usage };
        },
      },
    });
    await says(board, "hello");
    const look = () => board.telegram.calls("status", "", { from: ROOM });
    expect(await look()).toContain("\nContext: 15 of 150 tokens (10%)\n");
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, model: "m2" });
    expect(await look()).not.toContain("Context");
    await board.gateway.call("sessions.patch", { sessionKey: ROOM_KEY, model: null });
    await says(board, "a long talk");
    expect(await look()).toContain("\nContext window: 150 tokens\n");
  });

  it("STATUS-1: /status tells an owner in a thread of a subagent what it works on and how long it may", async () => {
    const slow = gate();
    const board = await aBoard({
      agents: {
        main: async ({ request, call, signal }) => {
          if (request.depth > 0) return slow.pass(signal).then(() => "done");
          await call("sessions_spawn", { task: "sort it", thread: true, runTimeoutSeconds: 90 });
          return "ok";
        },
      },
    });
    await board.discord.says("go", { from: at("discord", "channel", "5") });
    await slow.reached;
    await board.discord.says("and hurry", { from: at("discord", "channel", "5", "thread-1") });
    await board.clock.advance(5000);
    const from = at("discord", "channel", "5", "thread-1");
    const text = await board.discord.calls("status", "", { from, isPublic: true });
    expect(text).toContain(
      "\nRunning for 5s\n1 run is waiting.\nTask: “sort it”\nGiven by discord:g-5\nTime left: 1m25s\n",
    );
    expect(text).not.toContain("agent:main");
    slow.open();
  });

  it("TOOLS-2: /tools shows what this chat's session has, and the setting that takes each of the others", async () => {
    const config: ConfigInput = {
      tools: { profile: "messaging", alsoAllow: ["subagents"], deny: ["sessions_history"] },
      channels: { telegram: { groups: { "-100": { tools: { deny: ["sessions_send"] } } } } },
    };
    const board = await aBoard({ config });
    const look = (message: Partial<InboundMessage> = {}) => board.telegram.calls("tools", "", message);
    await says(board, "hello");
    await says(board, "/tools");
    expect(texts(board)[1]?.split("\n")).toEqual([
      "Tools here: `sessions_list`, `subagents`, `session_status`",
      "Taken away by a setting:",
      "- `sessions_history`: `tools.deny`",
      '- `sessions_send`: `channels.telegram.groups["-100"].tools.deny`',
      '- `sessions_spawn`, `sessions_yield`, `agents_list`: `tools.profile: "messaging"`',
    ]);
    expect(await look({ from: ROOM })).toBe(texts(board)[1]);
    expect(await look()).toMatch(/^Tools here: `sessions_list`, `sessions_send`, `subagents`, /);
    // What is not there yet is not made by looking at it.
    expect(await board.gateway.call("sessions.list", {})).toMatchObject({ count: 1 });
  });

  it("TOOLS-2: /tools in the thread of a subagent shows what that one has", async () => {
    const slow = gate();
    const board = await aBoard({
      config: { tools: { subagents: { tools: { alsoAllow: ["session_status"], deny: ["subagents"] } } } },
      agents: {
        main: async ({ request, call, signal }) => {
          if (request.depth > 0) return slow.pass(signal).then(() => "done");
          await call("sessions_spawn", { task: "sort it", thread: true });
          return "ok";
        },
      },
    });
    await board.discord.says("go", { from: at("discord", "channel", "5") });
    await slow.reached;
    const look = (thread?: string) =>
      board.discord.calls("tools", "", { from: at("discord", "channel", "5", thread) });
    expect((await look("thread-1"))?.split("\n")).toEqual([
      "Tools here: `session_status`",
      "Taken away by a setting:",
      "- `sessions_list`, `sessions_history`, `sessions_send`, `sessions_spawn`, `sessions_yield`, `agents_list`: `tools.subagents.tools.alsoAllow`",
      "- `subagents`: `tools.subagents.tools.deny`",
    ]);
    expect(await look()).toMatch(/^Tools here: .*`agents_list`$/);
    slow.open();
  });

  it("TOOLS-2: /tools is short, in each language, though every tool is taken by another setting; names stay", async () => {
    const board = await aBoard({
      config: {
        tools: {
          alsoAllow: ["x"],
          byProvider: { "open`ai/*": { deny: ["sessions_list"] } },
          deny: ["sessions_history"],
          sandbox: { tools: { deny: ["sessions_send"], allow: ["subagents"] } },
        },
        channels: {
          telegram: {
            groups: { "-100": { tools: { deny: ["sessions_yield"] } }, "*": { tools: { deny: ["sub*"] } } },
          },
        },
        agents: {
          list: [
            { id: "main", model: "open`ai/x", sandbox: { mode: "all" }, tools: { deny: ["sessions_spawn"] } },
          ],
        },
      },
    });
    const said = await Promise.all(
      ["en", "es", "pt", "hi"].map(async (locale) => {
        const text = await board.telegram.calls("tools", "", { from: ROOM, locale });
        return text?.split("\n") ?? [];
      }),
    );
    const [english = [], ...others] = said;
    expect(english[0]).toBe("This session has no session tools.");
    expect(english).toHaveLength(9);
    expect(english).toContain('- `sessions_list`: `tools.byProvider["open\'ai/*"].deny`');
    for (const lines of others) {
      expect(lines.slice(2)).toEqual(english.slice(2));
      expect(lines.filter((line, index) => index < 2 && english.includes(line))).toEqual([]);
    }
    expect(Math.max(...said.map((lines) => lines.join("\n").length))).toBeLessThan(700);
  });

  it("/whoami tells the id that counts and whether it is an owner's; anybody may ask", async () => {
    const board = await aBoard();
    await says(board, "/whoami");
    await says(board, "/whoami", { sender: { ...MEMBER, altIds: ["8"] } });
    expect(texts(board)).toEqual([
      `Your id on telegram: \`${OWNER}\`\nYou are an owner.`,
      "Your id on telegram: `7`, `8`\nYou are not an owner.",
    ]);
  });

  it("CMD-2: /help lists what the asker may use: for an owner every command, with its usage and who may use it", async () => {
    const board = await aBoard();
    await says(board, "/help");
    await says(board, "/help", { sender: MEMBER });
    const [text = "", toMember = ""] = texts(board);
    expect(toMember.split("\n").map((line) => /\/[a-z]+/.exec(line)?.[0])).toEqual([
      undefined,
      "/whoami",
      "/help",
    ]);
    for (const { name, access } of board.telegram.host.commands) {
      const line = text.split("\n").find((one) => one.includes(`/${name}`));
      expect(line, name).toBeDefined();
      expect(line?.includes("owner only"), name).toBe(access === "owner");
    }
    expect(text).toContain("/send [on|off|inherit]");
  });

  it.each([
    ["en-GB", "on for this session", "Commands:", "You are an owner."],
    ["es-419", "activado en esta sesión", "Comandos:", "Eres propietario."],
    ["pt-br", "ligado nesta sessão", "Comandos:", "Você é proprietário."],
    ["pt", "ligado nesta sessão", "Comandos:", "Você é proprietário."],
    ["hi", "इस सत्र के लिए भेजना चालू है", "कमांड:", "आप स्वामी हैं।"],
    ["hi_IN", "इस सत्र के लिए भेजना चालू है", "कमांड:", "आप स्वामी हैं।"],
    ["de", "on for this session", "Commands:", "You are an owner."],
    [undefined, "on for this session", "Commands:", "You are an owner."],
  ])(
    "a person with locale %s is answered in that language, typed and native; words of the protocol stay",
    async (locale, on, title, owner) => {
      const board = await aBoard();
      const person = locale === undefined ? {} : { locale };
      for (const text of ["/send on", "/help", "/whoami", "/status"]) await says(board, text, person);
      const [sent = "", help = "", who = "", status = ""] = texts(board);
      expect(sent).toContain(on);
      expect(help).toContain(title);
      expect(help).toContain("`/send [on|off|inherit]`");
      expect(who).toContain(owner);
      expect(status).toContain("telegram:g-100");
      expect(status).toContain("/send on");
      expect(await board.telegram.calls("send", "on", { from: ROOM, ...person })).toBe(sent);
    },
  );

  it("people whose client tells no language are answered in the configured one", async () => {
    const board = await aBoard({ config: { locale: "es" } });
    await says(board, "/whoami");
    await says(board, "/whoami", { locale: "hi" });
    expect(texts(board)[0]).toContain("Eres propietario.");
    expect(texts(board)[1]).toContain("आप स्वामी हैं।");
  });
});

describe("how commands come in", () => {
  it("CMD-1: with commands.text off Discord leaves typed ones to the agent; Telegram's menu types them and WhatsApp has none, so there they count", async () => {
    const board = await aBoard({ config: { commands: { text: false } } });
    const acceptance = async (channel: "discord" | "telegram" | "whatsapp") => {
      const from = at(channel, channel === "discord" ? "channel" : "group", "5");
      const accepted = await board[channel].says("/send off", { from });
      await board.quiet();
      return accepted;
    };
    expect(await acceptance("discord")).toBe("run");
    expect(await acceptance("telegram")).toBe("command");
    expect(await acceptance("whatsapp")).toBe("command");
    expect(await board.discord.calls("send", "off", { from: at("discord", "channel", "5") })).toContain(
      "off",
    );
  });

  it("CMD-1: with commands.native off an adapter shows no menus and still knows which names are ours", async () => {
    const names = ({ telegram: { host } }: Board) => host.commands.map(({ name }) => name);
    const [on, off] = [await aBoard(), await aBoard({ config: { commands: { native: false } } })];
    expect([on.telegram.host.showMenus, off.telegram.host.showMenus]).toEqual([true, false]);
    expect(names(off)).toEqual(names(on));
    expect(names(off)).toContain("send");
    expect(await says(off, "/send off")).toBe("command");
  });
});

describe("commands and sessions that several chats share", () => {
  it("CMD-1: with one session for all direct chats /send off there silences all of them, and not the rooms", async () => {
    const board = await aBoard();
    await board.telegram.says("/send off");
    await board.quiet();
    await board.discord.says("hello");
    await says(board, "hello");
    expect(await policyOf(board, MAIN)).toBe("deny");
    expect(board.discord.sent).toEqual([]);
    expect(board.telegram.sent.at(-1)?.to.chatId).toBe("-100");
  });
});
