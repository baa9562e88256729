import fc from "fast-check";
import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../src/core/config.ts";
import { given } from "../../src/core/given.ts";
import type { Session } from "../../src/core/ports/session.ts";
import { aBoard, aFolder, use } from "../fakes/a-board.ts";
import { fakeClock } from "../fakes/fake-clock.ts";
import { at, OWNER } from "../fakes/memory-adapter.ts";
import {
  leaveBehind,
  said,
  sessionIdOf,
  sessionWrite,
  storedSession,
  turnWrites,
} from "../fakes/store-files.ts";

const MAIN = "agent:main:main";
const person = (id: string) => ({ sender: { id, name: `P${id}`, isBot: false } });
const dm = (channel: string, id: string) => ({ from: at(channel, "direct", id), ...person(id) });
const OPEN_DMS = { telegram: { dmPolicy: "open" as const }, discord: { dmPolicy: "open" as const } };

const agents = { main: () => "ok", ops: () => "ok", research: () => "ok" };

/** A board on these sessions, each with one row that says its key. */
async function aBoardOn(sessions: readonly Session[], config: ConfigInput, clock = fakeClock()) {
  const dataDir = aFolder();
  const rows = sessions.flatMap((session) =>
    turnWrites(session, [[said("user", `words of ${session.key}`)]]),
  );
  await leaveBehind(dataDir, [...sessions.map(sessionWrite), ...rows]);
  return aBoard({ dataDir, agents, config, clock });
}

type Board = Awaited<ReturnType<typeof aBoardOn>>;

/** Full keys of everything that the caller is shown, archived or not. */
async function listedFor(board: Board, caller: string): Promise<readonly string[]> {
  const own = `agent:${caller.split(":")[1]}:main`;
  const pages = await Promise.all(
    [false, true].map((archived) => use(board, caller, "sessions_list", { archived, limit: 200 })),
  );
  // Rows of a list.
  const rows = pages.flatMap(({ sessions }) => sessions as readonly { key: string }[]);
  return rows.map(({ key }) => (key === "main" ? own : key)).sort();
}

async function canRead(board: Board, caller: string, sessionKey: string): Promise<boolean> {
  const answer = await use(board, caller, "sessions_history", { sessionKey });
  if (answer.status === undefined) return true;
  expect(answer, `${caller} reads ${sessionKey}`).toMatchObject({ status: "forbidden", code: "NOT_VISIBLE" });
  expect(JSON.stringify(answer)).not.toContain("words of");
  return false;
}

describe("VIS-1: one decision for every tool", () => {
  const agentId = fc.constantFrom("main", "ops", "research");
  const node = fc.record({
    agentId,
    family: fc.constantFrom("subagent", "cron", "discord:channel"),
    parent: fc.option(fc.nat({ max: 11 }), { nil: undefined }),
    archived: fc.boolean(),
  });
  const grant = fc.record({
    from: fc.constantFrom("main", "ops", "*", "re*"),
    to: fc.constantFrom("main", "ops", "research", "*"),
    read: fc.boolean(),
    send: fc.boolean(),
  });
  const world = fc.record({
    nodes: fc.array(node, { minLength: 1, maxLength: 12 }),
    visibility: fc.constantFrom("self" as const, "tree" as const, "agent" as const, "all" as const),
    enabled: fc.boolean(),
    allow: fc.array(fc.oneof(grant, fc.constantFrom("main", "ops", "*", "r*")), { maxLength: 3 }),
    sandboxed: fc.constantFrom("off" as const, "non-main" as const, "all" as const),
  });

  it("VIS-1 F11: listed is readable and readable is listed, for every caller in any tree, whatever is granted", async () => {
    await fc.assert(
      fc.asyncProperty(world, async ({ nodes, visibility, enabled, allow, sandboxed }) => {
        const mains = ["main", "ops"].map((id, n) => storedSession(100 + n, `agent:${id}:main`));
        const sessions = [...mains];
        for (const [n, { agentId: id, family, parent, archived }] of nodes.entries()) {
          const spawner = parent === undefined ? undefined : sessions[parent % sessions.length];
          const over = given({ spawnedBy: spawner?.key, archivedAtMs: archived ? 5 : undefined });
          sessions.push(storedSession(n + 1, `agent:${id}:${family}:${n}`, over));
        }
        const board = await aBoardOn(sessions, {
          tools: {
            profile: "full",
            sessions: { visibility },
            agentToAgent: { enabled, allow },
          },
          agents: { list: [{ id: "main", sandbox: { mode: sandboxed } }] },
        });
        for (const caller of sessions) {
          const listed = await listedFor(board, caller.key);
          const readable: string[] = [];
          for (const { key, sessionId } of sessions) {
            const reads = await canRead(board, caller.key, key);
            expect(await canRead(board, caller.key, sessionId), `${key} by its id`).toBe(reads);
            if (reads) readable.push(key);
          }
          expect(listed).toEqual(readable.sort());
          expect(listed).toContain(caller.key);
        }
        await board.close({ graceMs: 0 });
      }),
      { numRuns: 20 },
    );
  }, 120_000);

  const family = [
    storedSession(1, MAIN),
    storedSession(2, "agent:main:subagent:child", { spawnedBy: storedSession(1, MAIN).key }),
    storedSession(3, "agent:ops:subagent:grandchild", {
      spawnedBy: storedSession(2, "agent:main:subagent:child").key,
      endedAtMs: 1,
    }),
    storedSession(4, "agent:main:cron:nightly", { label: "nightly-label", title: "Nightly title" }),
    storedSession(5, "agent:ops:main", { label: "ops-label" }),
  ];
  const keys = (...numbers: readonly number[]) => numbers.map((n) => family[n - 1]?.key ?? "").sort();

  it.each<[string, ConfigInput["tools"], readonly string[]]>([
    ["tree is the default: the caller and all that was spawned below it", {}, keys(1, 2, 3)],
    ["self", { sessions: { visibility: "self" } }, keys(1)],
    ["agent: its agent's, and what it spawned", { sessions: { visibility: "agent" } }, keys(1, 2, 3, 4)],
    ["all alone opens no other agent", { sessions: { visibility: "all" } }, keys(1, 2, 3, 4)],
    [
      "all with agentToAgent and no patterns",
      { sessions: { visibility: "all" }, agentToAgent: { enabled: true } },
      keys(1, 2, 3, 4, 5),
    ],
    [
      "patterns for both sides",
      { sessions: { visibility: "all" }, agentToAgent: { enabled: true, allow: ["main", "o*"] } },
      keys(1, 2, 3, 4, 5),
    ],
    [
      "a pattern for one side only",
      { sessions: { visibility: "all" }, agentToAgent: { enabled: true, allow: ["main"] } },
      keys(1, 2, 3, 4),
    ],
    ["patterns without all", { agentToAgent: { enabled: true, allow: ["*"] } }, keys(1, 2, 3)],
    [
      "a grant gives its right at any level",
      { agentToAgent: { enabled: true, allow: [{ from: "main", to: "ops", read: true, send: false }] } },
      keys(1, 2, 3, 5),
    ],
    [
      "a grant within one agent",
      { agentToAgent: { enabled: true, allow: [{ from: "main", to: "main", read: true, send: false }] } },
      keys(1, 2, 3, 4),
    ],
    [
      "a grant to send shows nothing",
      { agentToAgent: { enabled: true, allow: [{ from: "main", to: "ops", read: false, send: true }] } },
      keys(1, 2, 3),
    ],
    [
      "a grant without enabled",
      { agentToAgent: { allow: [{ from: "main", to: "ops", read: true, send: true }] } },
      keys(1, 2, 3),
    ],
  ])("VIS-1 VIS-3: %s", async (_, tools, expected) => {
    const board = await aBoardOn(family, { tools });
    expect(await listedFor(board, MAIN)).toEqual(expected);
    for (const { key } of family) expect(await canRead(board, MAIN, key)).toBe(expected.includes(key));
  });

  it("VIS-1: a sandboxed caller reaches what it spawned and nothing else, whatever is granted, and cannot tell hidden from missing", async () => {
    const tools: ConfigInput["tools"] = {
      sessions: { visibility: "all" },
      agentToAgent: { enabled: true, allow: [{ from: "*", to: "*", read: true, send: true }] },
    };
    const list = [{ id: "main", sandbox: { mode: "all" as const } }];
    const board = await aBoardOn(family, { tools, agents: { list } });
    expect(await listedFor(board, MAIN)).toEqual(keys(1, 2, 3));
    const refusal = async (sessionKey: string) => use(board, MAIN, "sessions_history", { sessionKey });
    const [hidden, missing] = [await refusal("agent:ops:main"), await refusal("agent:ops:cron:nothing")];
    expect(hidden).toMatchObject({ status: "forbidden", code: "NOT_VISIBLE" });
    expect(missing).toEqual(hidden);
    expect(await refusal(sessionIdOf(5))).toEqual(await refusal(sessionIdOf(555)));
    for (const label of ["ops-label", "no such label"]) {
      const sent = await use(board, MAIN, "sessions_send", { label, message: "hi", timeoutSeconds: 0 });
      expect(sent, label).toEqual(hidden);
    }
    const lifted = { ...tools, profile: "full" as const };
    const defaults = { sandbox: { sessionToolsVisibility: "all" as const } };
    const open = await aBoardOn(family, { tools: lifted, agents: { list, defaults } });
    expect(await listedFor(open, MAIN)).toEqual(keys(1, 2, 3, 4, 5));
    expect(open.complaints.join()).toContain("sessionToolsVisibility");
  });

  it("VIS-3: sending needs the right to send, and the right to send reads nothing", async () => {
    const allow = [
      { from: "main", to: "ops", read: false, send: true },
      { from: "main", to: "research", read: true, send: false },
    ];
    const board = await aBoardOn([...family, storedSession(6, "agent:research:main")], {
      tools: { agentToAgent: { enabled: true, allow } },
    });
    const send = (agentId: string) =>
      use(board, MAIN, "sessions_send", { agentId, message: "hi", timeoutSeconds: 0 });
    expect(await send("ops")).toMatchObject({ status: "accepted" });
    expect(await canRead(board, MAIN, "agent:ops:main")).toBe(false);
    expect(await canRead(board, MAIN, "agent:research:main")).toBe(true);
    expect(await send("research")).toMatchObject({ status: "forbidden", code: "NOT_VISIBLE" });
  });

  it("VIS-3: a refusal names every setting that would have to change", async () => {
    const board = await aBoardOn(family, {});
    const { error } = await use(board, MAIN, "sessions_history", { sessionKey: "agent:ops:main" });
    expect(error).toContain('tools.sessions.visibility: "all"');
    expect(error).toContain("tools.agentToAgent.enabled: true");
    expect(error).toContain('{ from: "main", to: "ops", read: true }');
    const same = await use(board, MAIN, "sessions_history", { sessionKey: "cron:nightly" });
    expect(same.error).toContain('tools.sessions.visibility: "agent"');
  });

  it("LIST-4 F03: a restricted list says so, and nothing of what it hides shows, not even counts", async () => {
    const hidden = Array.from({ length: 200 }, (_, n) =>
      storedSession(n + 10, `agent:main:cron:hidden-${n}`),
    );
    const board = await aBoardOn([...family, ...hidden], {});
    for (const input of [
      {},
      { limit: 1 },
      { offset: 3 },
      { search: "hidden" },
      { label: "nightly-label" },
      { agentId: "ops" },
      { kinds: ["cron"], messageLimit: 5, includeDerivedTitles: true, includeLastMessage: true },
    ]) {
      const answer = await use(board, MAIN, "sessions_list", input);
      expect(answer.visibility, JSON.stringify(input)).toMatchObject({ mode: "tree", restricted: true });
      expect(JSON.stringify(answer)).not.toMatch(/hidden-|nightly-t|Nightly|ops-label"/);
      expect(answer.count).toBeLessThanOrEqual(3);
      if (!("limit" in input)) expect(answer.hasMore).toBe(false);
    }
    const note = (await use(board, MAIN, "sessions_list", {})).visibility as { warning: string };
    expect(note.warning).toMatch(/Only .* shown/);
  });

  it("LIST-4: where nothing is held back there is no note, and the host's own list has none", async () => {
    const open = await aBoardOn(family, {
      tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true } },
    });
    expect(await use(open, MAIN, "sessions_list")).not.toHaveProperty("visibility");
    const closed = await aBoardOn(family, {});
    const host = await closed.gateway.call("sessions.list", {});
    expect(host).toMatchObject({ count: 5 });
    expect(host).not.toHaveProperty("visibility");
  });

  it("F11 VIS-1: a child stays readable to who spawned it however long ago it ended, grandchildren of other agents too", async () => {
    const now = fakeClock().now();
    for (const laterMs of [31 * 60_000, 40 * 24 * 3_600_000]) {
      const board = await aBoardOn(family, {}, fakeClock(now + laterMs));
      expect(await listedFor(board, MAIN)).toEqual(keys(1, 2, 3));
      expect(await canRead(board, MAIN, "agent:ops:subagent:grandchild")).toBe(true);
    }
  });
});

describe("KEY-5: direct messages of different people", () => {
  const scopes: readonly (readonly [string, string, string])[] = [
    ["per-peer", "agent:main:direct:1", "agent:main:direct:2"],
    ["per-channel-peer", "agent:main:telegram:direct:1", "agent:main:telegram:direct:2"],
    [
      "per-account-channel-peer",
      "agent:main:telegram:default:direct:1",
      "agent:main:telegram:default:direct:2",
    ],
  ];

  it.each(scopes)(
    "KEY-5 I10: %s gives each person a session, and answers go where the words came from",
    async (scope, one, two) => {
      const board = await aBoard({
        agents: { main: ({ text, request }) => `${text} ${request.history.length}` },
        // The scope is one of the four.
        config: { session: { dmScope: scope as "per-peer" }, channels: OPEN_DMS },
      });
      await board.telegram.says("one", dm("telegram", "1"));
      await board.telegram.says("two", dm("telegram", "2"));
      await board.quiet();
      const { sessions } = await board.gateway.call("sessions.list", {});
      expect((sessions as readonly { key: string }[]).map(({ key }) => key).sort()).toEqual([one, two]);
      expect(board.telegram.sent.map(({ to, text }) => [to.chatId, text])).toEqual([
        ["1", "one 0"],
        ["2", "two 0"],
      ]);
    },
  );

  it("I11 VIS-1: in a shared bot nobody's turn reaches other people's chats, by whichever tool or name", async () => {
    const board = await aBoard({
      agents: {
        async main({ text, call }) {
          if (!text.startsWith("probe")) return "noted";
          const theirs = "agent:main:telegram:direct:1";
          const { sessionId } = JSON.parse(text.slice(6));
          const inputs = { messageLimit: 5, includeDerivedTitles: true, includeLastMessage: true };
          return JSON.stringify([
            await call("sessions_list", inputs),
            await call("sessions_list", { search: "diary" }),
            await call("sessions_list", { label: "diary-label" }),
            await call("sessions_history", { sessionKey: theirs }),
            await call("sessions_history", { sessionKey: sessionId }),
            await call("sessions_send", { sessionKey: theirs, message: "tell me", timeoutSeconds: 0 }),
            await call("sessions_send", { label: "diary-label", message: "tell me", timeoutSeconds: 0 }),
          ]);
        },
      },
      config: { session: { dmScope: "per-channel-peer" }, channels: OPEN_DMS },
    });
    await board.telegram.says("dear diary", dm("telegram", "1"));
    await board.quiet();
    const sessionKey = "agent:main:telegram:direct:1";
    await board.gateway.call("sessions.patch", { sessionKey, label: "diary-label" });
    const { sessionId } = await board.gateway.call("sessions.resolve", { key: sessionKey });
    await board.telegram.says(`probe ${JSON.stringify({ sessionId })}`, dm("telegram", "2"));
    await board.quiet();
    const [list, search, byLabel, ...refused] = JSON.parse(board.telegram.sent.at(-1)?.text ?? "[]");
    expect(list).toMatchObject({ count: 1, sessions: [{ key: "agent:main:telegram:direct:2" }] });
    expect([search.count, byLabel.count]).toEqual([0, 0]);
    expect(refused.map(({ status }: { status: string }) => status)).toEqual(Array(4).fill("forbidden"));
    expect(board.telegram.sent.at(-1)?.text).not.toContain("dear diary");
    const theirs = await board.gateway.call("chat.history", { sessionKey });
    expect(JSON.stringify(theirs.messages)).not.toContain("tell me");
  });

  it("I10 KEY-5: while all direct chats are one session, only owners and linked people are let in", async () => {
    const board = await aBoard({
      config: {
        session: { identityLinks: { ana: ["telegram:7"] } },
        channels: { telegram: { allowFrom: ["8"] } },
      },
    });
    expect(await board.telegram.says("owner", dm("telegram", OWNER))).toBe("run");
    expect(await board.telegram.says("linked", dm("telegram", "7"))).toBe("run");
    expect(await board.telegram.says("listed", dm("telegram", "8"))).toBe("ignored");
    expect(await board.telegram.says("stranger", dm("telegram", "9"))).toBe("ignored");
    await board.quiet();
    const { messages } = await board.gateway.call("chat.history", { sessionKey: MAIN });
    expect(JSON.stringify(messages)).not.toMatch(/listed|stranger/);
  });

  it("I10: opening direct messages while they all are one session is a config error that says which scope helps", async () => {
    const opened = aBoard({ config: { channels: OPEN_DMS } });
    await expect(opened).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(opened).rejects.toThrow(/session\.dmScope.*per-channel-peer/s);
  });

  it("KEY-5: linked ids are one person with one session, however the case is written; others never join it", async () => {
    const board = await aBoard({
      config: {
        session: { dmScope: "per-peer", identityLinks: { Ana: ["telegram:7", "DISCORD:70"] } },
        channels: OPEN_DMS,
      },
    });
    await board.telegram.says("from telegram", dm("telegram", "7"));
    await board.discord.says("from discord", dm("discord", "70"));
    await board.discord.says("somebody else", dm("discord", "7"));
    await board.quiet();
    const { sessions } = await board.gateway.call("sessions.list", {});
    expect((sessions as readonly { key: string }[]).map(({ key }) => key).sort()).toEqual([
      "agent:main:direct:7",
      "agent:main:direct:ana",
    ]);
    const { messages } = await board.gateway.call("chat.history", { sessionKey: "agent:main:direct:ana" });
    expect(JSON.stringify(messages)).toMatch(/from telegram.*from discord/);
  });

  it("KEY-5: nobody gets into a linked person's session by being called like it", async () => {
    const board = await aBoard({
      config: {
        session: { dmScope: "per-peer", identityLinks: { "70": ["telegram:7"] } },
        channels: OPEN_DMS,
      },
    });
    await board.telegram.says("mine", dm("telegram", "7"));
    await board.discord.says("intruder", dm("discord", "70"));
    await board.quiet();
    const { messages } = await board.gateway.call("chat.history", { sessionKey: "agent:main:direct:70" });
    expect(JSON.stringify(messages)).toContain("mine");
    expect(JSON.stringify(messages)).not.toContain("intruder");
  });
});

describe("O07: two boards on one store of the host", () => {
  it("O07: boards with prefixes of their own see nothing of each other, also when they are listed anew", async () => {
    const store = new Map<string, string>();
    const one = await aBoard({ store: new Keyv({ store }), storePrefix: "one" });
    const two = await aBoard({ store: new Keyv({ store }), storePrefix: "two" });
    await one.telegram.says("secret of one", { id: "x1" });
    await one.telegram.says("in a room", { from: at("telegram", "group", "-1") });
    await one.quiet();
    expect(await two.gateway.call("sessions.list", {})).toMatchObject({ count: 0 });
    await two.telegram.says("secret of two", { id: "x2" });
    await two.quiet();
    const rows = async (board: typeof one) =>
      JSON.stringify(await board.gateway.call("sessions.list", { messageLimit: 5 }));
    expect(await rows(one)).not.toContain("of two");
    expect(await rows(two)).not.toContain("of one");
    await two.close({ graceMs: 0 });
    const anew = await aBoard({ store: new Keyv({ store }), storePrefix: "two" });
    expect(await anew.gateway.call("sessions.list", {})).toMatchObject({ count: 1 });
    expect(await rows(anew)).toContain("secret of two");
    expect(await rows(anew)).not.toContain("of one");
  });

  it("O07: namespaces of Keyv keep boards apart as well, and one failed write stops nothing that follows", async () => {
    const store = new (class extends Map<string, string> {
      failures = 0;
      override set(key: string, value: string): this {
        if (this.failures-- > 0) throw new Error("disk full");
        return super.set(key, value);
      }
    })();
    const one = await aBoard({ store: new Keyv({ store, namespace: "a" }) });
    const two = await aBoard({ store: new Keyv({ store, namespace: "b" }) });
    await one.telegram.says("secret of one", { id: "x1" });
    await one.quiet();
    store.failures = 1;
    const accepted = two.telegram.says("first of two", { id: "x2" });
    await two.clock.advance(200);
    expect(await accepted).toBe("run");
    await two.quiet();
    await two.telegram.says("second of two", { id: "x3" });
    await two.quiet();
    expect(two.telegram.sent).toHaveLength(2);
    const history = await two.gateway.call("chat.history", { sessionKey: MAIN });
    expect(JSON.stringify(history)).toMatch(/first of two.*second of two/);
    expect(JSON.stringify(history)).not.toContain("of one");
    expect(await two.gateway.call("sessions.list", {})).toMatchObject({ count: 1 });
  });

  it("O07: a prefix that could not be told from a key is a config error", async () => {
    const board = aBoard({ store: new Keyv(), storePrefix: "a/b" });
    await expect(board).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });
});

describe("KEY-5 VIS-1: what a session id gives away", () => {
  it("VIS-1: an older session id is as visible as its session, not more", async () => {
    const board = await aBoardOn([storedSession(1, MAIN), storedSession(2, "agent:main:cron:nightly")], {});
    await board.gateway.call("sessions.reset", { sessionKey: "cron:nightly" });
    expect(await canRead(board, MAIN, sessionIdOf(2))).toBe(false);
    await board.gateway.call("sessions.reset", { sessionKey: "main" });
    expect(await canRead(board, MAIN, sessionIdOf(1))).toBe(true);
  });
});

it("I10: a stranger's direct message in scope main is warned about, once for each channel", async () => {
  const board = await aBoard();
  const stranger = { id: "7007", name: "Sam", isBot: false };
  for (const text of ["hello?", "anybody?"]) {
    expect(
      await board.telegram.says(text, { sender: stranger, from: at("telegram", "direct", "7007") }),
    ).toBe("ignored");
  }
  expect(board.complaints.filter((line) => line.includes("was not admitted"))).toHaveLength(1);
});
