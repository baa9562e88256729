import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  agentIdOf,
  canonicalKey,
  formatKey,
  isMainKey,
  isThreadKey,
  type KeyNames,
  mainKey,
  normalizeAgentId,
  type ParsedKey,
  parentKey,
  parseKey,
  partsOf,
  subagentKey,
} from "../../../src/core/session/key.ts";
import { key, names } from "./a-session.ts";

/** Ids that try to be something else. */
const hostileIds = [
  "group",
  "channel",
  "direct",
  "thread",
  "topic",
  "main",
  "subagent",
  "../..",
  "__proto__",
  "constructor",
  "a:thread:b",
  "a:topic:1",
  "x:subagent:y",
  "%3A",
  "%",
  "%zz",
  "a b",
  " a",
  "a ",
  "\u0000\n\u001b[31m",
  "\u202Eevil\u200B",
  "Ana",
  "ana",
  "İK",
  "\ud83d",
  "\ude00\ud83d",
  "😀",
  "x".repeat(300),
];

const id = fc.oneof(fc.constantFrom(...hostileIds), fc.string({ minLength: 1, unit: "binary" }));
const word = fc
  .oneof(
    fc.constantFrom(
      "telegram",
      "group",
      "direct",
      "dm",
      "main",
      "cron",
      "node-1",
      "agent",
      "global",
      "slash",
    ),
    id,
  )
  .map((text) => text.toLowerCase())
  // Folding twice must be folding once for the comparison below; it is for every string that was folded.
  .filter((text) => text === text.toLowerCase());
const agentId = fc.constantFrom("main", "ops", "channel", "group", "a", "x".repeat(64));

function withOptional(required: object, optional: object = {}) {
  return fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) as never[] });
}

// The records below have the shape of ParsedKey, which fast-check's types are too wide to say.
const anyKey = fc.oneof(
  fc.constantFrom({ family: "global" }, { family: "unknown" }),
  withOptional({ agentId, family: fc.constant("main") }, { threadId: id }),
  withOptional({ agentId, family: fc.constant("direct"), peerId: id }, { threadId: id }),
  withOptional(
    { agentId, family: fc.constant("direct"), channel: word, peerId: id },
    { accountId: word, threadId: id },
  ),
  withOptional(
    { agentId, family: fc.constant("group"), channel: word, chatId: id },
    { topicId: id, threadId: id },
  ),
  withOptional({ agentId, family: fc.constant("channel"), channel: word, chatId: id }, { threadId: id }),
  withOptional({ agentId, family: fc.constant("slash"), channel: word, userId: id }),
  withOptional({ agentId, family: fc.constant("cron"), jobId: id }, { runId: id }),
  withOptional({ agentId, family: fc.constant("hook"), hookId: id }),
  withOptional({ agentId, family: fc.constant("node"), nodeId: id }),
  withOptional({ agentId, family: fc.constant("acp"), harnessId: id }),
  withOptional({
    agentId,
    family: fc.constant("subagent"),
    path: fc.array(id, { minLength: 1, maxLength: 3 }),
  }),
  withOptional({ agentId, family: fc.constant("other"), rest: fc.constant("home") }, { threadId: id }),
) as unknown as fc.Arbitrary<ParsedKey>;

describe("parse and format", () => {
  it("KEY-7 I14: parse(format(k)) = k for every key, whatever the ids spell", () => {
    fc.assert(
      fc.property(anyKey, (parsed) => {
        expect(parseKey(formatKey(parsed))).toEqual(parsed);
      }),
      { numRuns: 2000 },
    );
  });

  it("KEY-7: two different keys never have one text", () => {
    fc.assert(
      fc.property(anyKey, anyKey, (one, other) => {
        fc.pre(!isSame(one, other));
        expect(formatKey(one)).not.toBe(formatKey(other));
      }),
      { numRuns: 2000 },
    );
  });

  it("KEY-7 I01: any text has one canonical form, which is its own canonical form", () => {
    const part = fc.oneof(
      fc.constantFrom(
        "Group",
        "channel",
        "DM",
        "thread",
        "topic",
        "Cron",
        "subagent",
        "main",
        "%63ron",
        "%74hread",
      ),
      fc.string(),
    );
    const text = fc.array(part, { minLength: 1, maxLength: 7 }).map((parts) => parts.join(":"));
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          text.map((rest) => `agent:a:${rest}`),
        ),
        (typed) => {
          const once = canonicalKey(typed, "main", names);
          fc.pre(once !== undefined);
          expect(canonicalKey(once as string, "ops", names)).toBe(once);
          expect(formatKey(partsOf(once as NonNullable<typeof once>))).toBe(once);
          expect(once).toMatch(/^[!-~]+$/);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it.each(hostileIds)("KEY-7: the group id %j stays one part of the key and comes back whole", (chatId) => {
    const made = formatKey({ agentId: "a", family: "group", channel: "telegram", chatId });
    expect(made.split(":")).toHaveLength(5);
    expect(made).toMatch(/^[!-~]+$/);
    expect(partsOf(made)).toEqual({ agentId: "a", family: "group", channel: "telegram", chatId });
    expect(isThreadKey(made)).toBe(false);
    expect(parentKey(made)).toBeUndefined();
  });

  it("KEY-7: hostile ids do not collide with each other", () => {
    const keys = hostileIds.map((peerId) => formatKey({ agentId: "a", family: "direct", peerId }));
    expect(new Set(keys).size).toBe(hostileIds.length);
  });

  it("I14: an account called group, a channel called cron and an agent called channel are read by position", () => {
    expect(parseKey("agent:a:telegram:group:direct:77")).toEqual({
      agentId: "a",
      family: "direct",
      channel: "telegram",
      accountId: "group",
      peerId: "77",
    });
    const cronChannel = formatKey({ agentId: "a", family: "group", channel: "cron", chatId: "5" });
    expect(parseKey(cronChannel)).toMatchObject({ family: "group", channel: "cron" });
    expect(cronChannel).not.toBe(formatKey({ agentId: "a", family: "cron", jobId: "group:5" }));
    expect(parseKey("agent:channel:telegram:direct:group")).toMatchObject({
      agentId: "channel",
      family: "direct",
      peerId: "group",
    });
  });

  it.each([
    ["agent:a:dm:7", "agent:a:direct:7"],
    ["agent:a:telegram:dm:7", "agent:a:telegram:direct:7"],
    ["agent:a:node:pi4", "agent:a:node-pi4"],
    ["agent:a:cron:backup:nightly", "agent:a:cron:backup%3Anightly"],
    ["agent:a:subagent:u1:subagent:u2", "agent:a:subagent:u1:subagent:u2"],
    ["agent:a:main:heartbeat", "agent:a:main:heartbeat"],
    ["agent:a:cron:x:run:9", "agent:a:cron:x:run:9"],
    ["agent:a:cron:x:run:9:z", "agent:a:cron:x%3Arun%3A9%3Az"],
  ])("KEY-3 KEY-5: %s is stored as %s", (typed, stored) => {
    expect(key(typed)).toBe(stored);
  });

  it.each([
    "",
    "  ",
    "agent",
    "agent:",
    "agent:a",
    "agent:a:",
    "agent::x",
    "agent:a::x",
    "agent:A B:main",
    ":",
    "x:",
  ])("KEY-7: %j is no key", (text) => {
    expect(canonicalKey(text, "main", names)).toBe(text === "agent" ? "agent:main:agent" : undefined);
  });
});

describe("case", () => {
  it("I01: words, agents and channels are folded once", () => {
    expect(key("Agent:Main:Discord:Channel:100")).toBe("agent:main:discord:channel:100");
    expect(key("AGENT:OPS:Telegram:X:Direct:7:Thread:1")).toBe("agent:ops:telegram:x:direct:7:thread:1");
    expect(key("Cron:daily")).toBe("agent:main:cron:daily");
    expect(key("MAIN")).toBe("agent:main:main");
  });

  it("I02: ids keep their case, so two chats that differ only in it stay two", () => {
    expect(key("agent:a:matrix:group:!Room")).not.toBe(key("agent:a:matrix:group:!room"));
    expect(key("cron:Daily")).not.toBe(key("cron:daily"));
    expect(subagentKey("a", "Ab")).not.toBe(subagentKey("a", "ab"));
  });
});

describe("short names", () => {
  const named: KeyNames = { defaultAgentId: "ops", mainKey: "home", scope: "per-sender" };
  const global: KeyNames = { defaultAgentId: "ops", mainKey: "main", scope: "global" };

  it("KEY-1 B08: main belongs to the agent that says it, not to the default agent", () => {
    expect(canonicalKey("main", "cipher", { ...named, mainKey: "main" })).toBe("agent:cipher:main");
    expect(canonicalKey("main", "cipher", named)).toBe("agent:cipher:home");
    expect(canonicalKey("HOME", "cipher", named)).toBe("agent:cipher:home");
    expect(canonicalKey("agent:ops:main", "cipher", named)).toBe("agent:ops:home");
    expect(canonicalKey("main", "cipher", global)).toBe("agent:cipher:main");
  });

  it("KEY-1: threads beside a main session follow its name", () => {
    expect(mainKey("ops", named, "7")).toBe("agent:ops:home:thread:7");
    expect(canonicalKey("agent:ops:main:thread:7", "ops", named)).toBe("agent:ops:home:thread:7");
    expect(parentKey(mainKey("ops", named, "7"))).toBe("agent:ops:home");
  });

  it("KEY-4: in global scope the default agent's main session is `global`, under each of its names", () => {
    for (const typed of ["main", "global", "Global", "agent:ops:main"]) {
      expect(canonicalKey(typed, "ops", global)).toBe("global");
    }
    expect(agentIdOf(mainKey("ops", global), global)).toBe("ops");
    expect(isMainKey(mainKey("ops", global), global)).toBe(true);
    expect(mainKey("cipher", global)).toBe("agent:cipher:main");
  });

  it.each([
    ["cron:daily", "agent:ops:cron:daily"],
    ["hook:1b4e28ba-2fa1-11d2-883f-0016d3cca427", "agent:ops:hook:1b4e28ba-2fa1-11d2-883f-0016d3cca427"],
    ["node-pi4", "agent:ops:node-pi4"],
    ["node:pi4", "agent:ops:node-pi4"],
    ["acp:1", "agent:ops:acp:1"],
    ["subagent:1", "agent:ops:subagent:1"],
    ["telegram:group:-1", "agent:ops:telegram:group:-1"],
    ["unknown", "unknown"],
  ])("KEY-3: bare %s is %s", (typed, stored) => {
    expect(canonicalKey(typed, "ops", names)).toBe(stored);
  });
});

describe("threads and topics", () => {
  it.each([
    ["agent:a:discord:channel:100:thread:200", "agent:a:discord:channel:100", true],
    ["agent:a:telegram:group:-1:topic:42", "agent:a:telegram:group:-1", false],
    ["agent:a:telegram:group:-1:topic:42:thread:7", "agent:a:telegram:group:-1:topic:42", true],
    ["agent:a:telegram:direct:9:thread:7", "agent:a:telegram:direct:9", true],
    ["agent:a:direct:9:thread:7", "agent:a:direct:9", true],
    ["agent:a:main:thread:7", "agent:a:main", true],
    ["agent:a:my:own:key:thread:7", "agent:a:my:own:key", true],
    ["agent:a:discord:channel:100", undefined, false],
    ["agent:a:discord:channel:thread", undefined, false],
    ["agent:a:telegram:direct:thread", undefined, false],
    ["agent:a:subagent:u", undefined, false],
    ["global", undefined, false],
  ])("KEY-6 B01: the room around %s is %s", (text, parent, isThread) => {
    expect(parentKey(key(text))).toBe(parent);
    expect(isThreadKey(key(text))).toBe(isThread);
  });
});

it.each([
  ["Support Team!", "support-team"],
  [" OPS ", "ops"],
  ["", "main"],
  ["!!!", "main"],
  ["a:b", "a-b"],
  ["-x-", "x"],
  [`${"y".repeat(63)}!z`, "y".repeat(63)],
])("KEY-8: the agent name %j becomes %s", (text, agent) => {
  expect(normalizeAgentId(text)).toBe(agent);
});

function isSame(one: ParsedKey, other: ParsedKey): boolean {
  const sorted = (parsed: ParsedKey) => JSON.stringify(Object.entries(parsed).sort());
  return sorted(one) === sorted(other);
}
