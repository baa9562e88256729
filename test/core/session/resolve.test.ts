import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/core/config.ts";
import type { Address, Sender } from "../../../src/core/ports/chat.ts";
import {
  formatKey,
  keyNames,
  normalizeAgentId,
  parentKey,
  subagentKey,
} from "../../../src/core/session/key.ts";
import { parseReference, resolveChat } from "../../../src/core/session/resolve.ts";
import { agentIds, at, configOf, key, names } from "./a-session.ts";

type SessionInput = NonNullable<ConfigInput["session"]>;

interface Situation {
  readonly place: Address;
  readonly from?: string | Partial<Sender>;
  readonly guildId?: string;
  readonly config?: ConfigInput;
  readonly known?: Readonly<Record<string, readonly string[]>>;
}

function resolved({ place, from = "111", guildId, config = {}, known = {} }: Situation) {
  const sender = { id: "111", isBot: false, ...(typeof from === "string" ? { id: from } : from) };
  return resolveChat(
    { address: place, sender, ...(guildId === undefined ? {} : { guildId }) },
    configOf(config),
    { agentIds, defaultAgentId: "main", samePerson: (id) => known[id] ?? [] },
  );
}

const scoped = (dmScope: SessionInput["dmScope"], more: SessionInput = {}): ConfigInput => ({
  session: { dmScope, ...more },
});
const group = (channel: string, chatId: string, threadId?: string) =>
  at(channel, { chatType: "group", chatId, ...(threadId === undefined ? {} : { threadId }) });
const room = (channel: string, chatId: string, threadId?: string) =>
  at(channel, { chatType: "channel", chatId, ...(threadId === undefined ? {} : { threadId }) });
const perChannel = scoped("per-channel-peer");
const lid = "8877@lid";

describe("the key of a chat", () => {
  it.each<[number, string, Situation, string]>([
    [1, "Discord DM", { place: at("discord") }, "agent:main:main"],
    [
      2,
      "Discord DM, per-peer",
      { place: at("discord"), config: scoped("per-peer") },
      "agent:main:direct:111",
    ],
    [
      3,
      "Discord DM, per-channel-peer",
      { place: at("discord"), config: perChannel },
      "agent:main:discord:direct:111",
    ],
    [
      4,
      "Discord DM, per-account-channel-peer",
      { place: at("discord", { accountId: "ops" }), config: scoped("per-account-channel-peer") },
      "agent:main:discord:ops:direct:111",
    ],
    [
      5,
      "Discord DM of a linked person",
      {
        place: at("discord"),
        config: scoped("per-channel-peer", { identityLinks: { ana: ["discord:111"] } }),
      },
      "agent:main:discord:direct:ana",
    ],
    [6, "Discord text channel", { place: room("discord", "222") }, "agent:main:discord:channel:222"],
    [
      7,
      "Discord thread",
      { place: room("discord", "222", "333") },
      "agent:main:discord:channel:222:thread:333",
    ],
    [
      9,
      "Discord forum post",
      { place: room("discord", "555", "444") },
      "agent:main:discord:channel:555:thread:444",
    ],
    [10, "Discord group DM", { place: group("discord", "666") }, "agent:main:discord:group:666"],
    [12, "Telegram DM", { place: at("telegram"), from: "999" }, "agent:main:main"],
    [
      13,
      "Telegram DM, per-channel-peer",
      { place: at("telegram"), from: "999", config: perChannel },
      "agent:main:telegram:direct:999",
    ],
    [14, "Telegram basic group", { place: group("telegram", "-4001") }, "agent:main:telegram:group:-4001"],
    [
      15,
      "Telegram supergroup",
      { place: group("telegram", "-1001234") },
      "agent:main:telegram:group:-1001234",
    ],
    [
      16,
      "topic",
      { place: group("telegram", "-1001234", "42") },
      "agent:main:telegram:group:-1001234:topic:42",
    ],
    [
      17,
      "General topic",
      { place: group("telegram", "-1001234", "1") },
      "agent:main:telegram:group:-1001234:topic:1",
    ],
    [18, "Telegram channel post", { place: room("telegram", "-1009") }, "agent:main:telegram:channel:-1009"],
    [
      19,
      "Telegram private topic",
      { place: at("telegram", { threadId: "7" }), from: "999", config: perChannel },
      "agent:main:telegram:direct:999:thread:7",
    ],
    [20, "WhatsApp DM", { place: at("whatsapp"), from: "41790000000@s.whatsapp.net" }, "agent:main:main"],
    [
      21,
      "WhatsApp DM, per-channel-peer",
      { place: at("whatsapp"), from: "41790000000@s.whatsapp.net", config: perChannel },
      "agent:main:whatsapp:direct:+41790000000",
    ],
    [
      22,
      "WhatsApp DM from a second device",
      { place: at("whatsapp"), from: "41790000000:12@s.whatsapp.net", config: perChannel },
      "agent:main:whatsapp:direct:+41790000000",
    ],
    [
      23,
      "WhatsApp DM from a LID that is known",
      { place: at("whatsapp"), from: lid, config: perChannel, known: { [lid]: ["+41790000000"] } },
      "agent:main:whatsapp:direct:+41790000000",
    ],
    [
      24,
      "WhatsApp DM from an unknown LID",
      { place: at("whatsapp"), from: lid, config: perChannel },
      "agent:main:whatsapp:direct:8877@lid",
    ],
    [
      25,
      "WhatsApp group",
      { place: group("whatsapp", "120363000@g.us") },
      "agent:main:whatsapp:group:120363000@g.us",
    ],
    [
      26,
      "WhatsApp newsletter",
      { place: room("whatsapp", "120363000@newsletter") },
      "agent:main:whatsapp:channel:120363000@newsletter",
    ],
    [
      27,
      "global scope",
      { place: room("discord", "222", "3"), config: { session: { scope: "global" } } },
      "global",
    ],
    [
      33,
      "group that became a supergroup",
      { place: group("telegram", "-1001234") },
      "agent:main:telegram:group:-1001234",
    ],
  ])("KEY-2 KEY-5 KEY-6: example %i, %s", (_, __, situation, expected) => {
    expect(resolved(situation).key).toBe(expected);
  });

  it("KEY-3: examples 8, 11 and 28–32, keys that no chat makes", () => {
    expect(key("discord:channel:333")).toBe("agent:main:discord:channel:333");
    expect(formatKey({ agentId: "main", family: "slash", channel: "discord", userId: "111" })).toBe(
      "agent:main:discord:slash:111",
    );
    expect(key("cron:daily")).toBe("agent:main:cron:daily");
    expect(key("hook:u1")).toBe("agent:main:hook:u1");
    expect(key("node-pi4")).toBe("agent:main:node-pi4");
    expect(subagentKey("ops", "u1")).toBe("agent:ops:subagent:u1");
    const agentId = normalizeAgentId("Support Team!");
    expect(formatKey({ agentId, family: "group", channel: "telegram", chatId: "-1001234" })).toBe(
      "agent:support-team:telegram:group:-1001234",
    );
  });

  it("I08: threads, topics and their rooms never share a key, and nothing of a group is in main", () => {
    const places = [
      room("discord", "100"),
      room("discord", "100", "200"),
      room("discord", "100", "201"),
      group("telegram", "-1"),
      group("telegram", "-1", "1"),
      group("telegram", "-1", "42"),
    ];
    const chats = places.map((place) => resolved({ place }));
    expect(new Set(chats.map((chat) => chat.key)).size).toBe(places.length);
    expect(chats.map((chat) => chat.thread)).toEqual([false, true, true, false, true, true]);
    expect(chats.every((chat) => chat.scope === "room")).toBe(true);
    const [channel, thread] = chats;
    expect(thread && parentKey(thread.key)).toBe(channel?.key);
  });
});

describe("direct chats", () => {
  const scopes = ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"] as const;

  it.each(scopes)("KEY-5 I10: two people, scope %s", (dmScope) => {
    const keyOf = (from: string) => resolved({ place: at("discord"), from, config: scoped(dmScope) }).key;
    expect(keyOf("111") === keyOf("222")).toBe(dmScope === "main");
  });

  it.each(scopes)("I09: one person on two accounts, scope %s", (dmScope) => {
    const keyOf = (accountId: string) =>
      resolved({ place: at("telegram", { accountId }), from: "7", config: scoped(dmScope) }).key;
    expect(keyOf("x") !== keyOf("y")).toBe(dmScope === "per-account-channel-peer");
  });

  it("KEY-5 I03: phone number and LID of one person give one key, from either side", () => {
    const senders: Situation["from"][] = [
      { id: "111@lid", altIds: ["222@s.whatsapp.net"] },
      { id: "222@s.whatsapp.net" },
      { id: "+222", altIds: ["111@lid"] },
      { id: "111:3@lid" },
    ];
    const known = { "111@lid": ["+222", "111@lid"] };
    const keys = senders.map(
      (from) => resolved({ place: at("whatsapp"), from: from ?? "", config: perChannel, known }).key,
    );
    expect(new Set(keys)).toEqual(new Set(["agent:main:whatsapp:direct:+222"]));
  });

  it("KEY-5 I03: without a phone number, too, every id of a person gives one key", () => {
    const known = { "8@lid": ["9@lid"], "9@lid": ["8@lid"] };
    const keyOf = (from: string) => resolved({ place: at("whatsapp"), from, config: perChannel, known }).key;
    expect(keyOf("8@lid")).toBe(keyOf("9@lid"));
  });

  it("KEY-5 I05: the digits of a LID are never a phone number", () => {
    const keyOf = (from: string) => resolved({ place: at("whatsapp"), from, config: perChannel }).key;
    expect(keyOf("333@lid")).not.toBe(keyOf("+333"));
  });

  it("KEY-5: one linked person has one session on every channel, and only that person", () => {
    const config = scoped("per-peer", { identityLinks: { Ana: ["telegram:5", "discord:111", "+4179"] } });
    const keyOf = (channel: string, from: string) => resolved({ place: at(channel), from, config }).key;
    expect(keyOf("telegram", "5")).toBe("agent:main:direct:ana");
    expect(keyOf("discord", "111")).toBe("agent:main:direct:ana");
    expect(keyOf("whatsapp", "4179@s.whatsapp.net")).toBe("agent:main:direct:ana");
    expect(keyOf("discord", "5")).toBe("agent:main:direct:5");
    expect(keyOf("telegram", "4179")).toBe("agent:main:direct:4179");
  });

  it("KEY-5: a number in identityLinks is a phone number only when it is written as one", () => {
    const config = scoped("per-peer", { identityLinks: { ana: ["4179"] } });
    expect(resolved({ place: at("telegram"), from: "4179", config }).key).toBe("agent:main:direct:ana");
    expect(resolved({ place: at("whatsapp"), from: "+4179", config }).key).toBe("agent:main:direct:+4179");
  });

  it("KEY-5 KEY-7: nobody gets into another person's session by choosing an id", () => {
    const ids = fc.constantFrom("ana", "Ana", "111", "webchat:ana", "webchat:111", "chat:ana", "a:thread:7");
    const people = fc.record({ channel: fc.constantFrom("webchat", "chat", "discord"), id: ids });
    const scope = fc.constantFrom(...scopes.slice(1));
    fc.assert(
      fc.property(people, people, scope, (one, other, dmScope) => {
        fc.pre(one.channel !== other.channel || one.id !== other.id);
        // Discord's own ids are numbers; and in per-peer "chat" and "webchat" are told apart by their names.
        fc.pre([one, other].every(({ channel, id }) => channel !== "discord" || /^\d+$/.test(id)));
        const config = scoped(dmScope, { identityLinks: { ana: ["telegram:5", "webchat:5"] } });
        const keyOf = ({ channel, id }: { channel: string; id: string }) =>
          resolved({ place: at(channel), from: id, config }).key;
        expect(keyOf(one)).not.toBe(keyOf(other));
        for (const channel of ["telegram", "webchat"]) {
          expect(keyOf(one)).not.toBe(keyOf({ channel, id: "5" }));
        }
      }),
    );
  });

  it("KEY-6: a private topic has a session beside main", () => {
    const chat = resolved({ place: at("telegram", { threadId: "7" }) });
    expect(chat).toMatchObject({ key: "agent:main:main:thread:7", scope: "main", thread: true });
  });
});

describe("the agent of a chat", () => {
  const bindings: ConfigInput["bindings"] = [
    { agentId: "ops", match: { channel: "discord" } },
    { agentId: "cipher", match: { channel: "discord", accountId: "y" } },
    { agentId: "ops", match: { channel: "discord", guildId: "g1" } },
    { agentId: "cipher", match: { channel: "discord", guildId: "g1", roles: ["r1", "r2"] } },
    { agentId: "ops", match: { channel: "discord", peer: { kind: "channel", id: "222" } } },
    { agentId: "main", match: { channel: "discord", peer: { kind: "channel", id: "333" } } },
    { agentId: "cipher", match: { channel: "telegram", peer: { kind: "group", id: "-1:topic:42" } } },
    { agentId: "ops", match: { channel: "telegram", peer: { kind: "group", id: "-1" } } },
    { agentId: "cipher", match: { channel: "whatsapp", peer: { kind: "direct", id: "+222" } } },
    { agentId: "ops", match: { channel: "slack", accountId: "*", peer: { kind: "direct", id: "u1" } } },
    { agentId: "cipher", match: { channel: "slack", guildId: "g1", peer: { kind: "direct", id: "u1" } } },
  ];

  it.each<[string, Omit<Situation, "config">, string]>([
    ["default when nothing matches", { place: at("signal") }, "main"],
    ["channel", { place: at("discord") }, "ops"],
    ["account before channel", { place: at("discord", { accountId: "y" }) }, "cipher"],
    ["guild before account", { place: at("discord", { accountId: "y" }), guildId: "g1" }, "ops"],
    [
      "guild and role before guild",
      { place: room("discord", "1"), guildId: "g1", from: { roleIds: ["r2"] } },
      "cipher",
    ],
    [
      "guild when the role is missing",
      { place: room("discord", "1"), guildId: "g1", from: { roleIds: ["r9"] } },
      "ops",
    ],
    [
      "peer before guild and role",
      { place: room("discord", "222"), guildId: "g1", from: { roleIds: ["r1"] } },
      "ops",
    ],
    [
      "parent peer for a thread",
      { place: room("discord", "222", "5"), guildId: "g1", from: { roleIds: ["r1"] } },
      "ops",
    ],
    ["the thread itself before its parent", { place: room("discord", "222", "333") }, "main"],
    ["the topic itself before its group", { place: group("telegram", "-1", "42") }, "cipher"],
    ["the group for another topic", { place: group("telegram", "-1", "43") }, "ops"],
    [
      "a person by any of their ids",
      { place: at("whatsapp"), from: { id: "111@lid", altIds: ["+222"] } },
      "cipher",
    ],
    ["the first of two that rank alike", { place: at("slack"), from: "u1", guildId: "g1" }, "ops"],
    ["a peer of another kind does not match", { place: group("discord", "222") }, "ops"],
  ])("KEY-8: %s", (_, situation, agentId) => {
    expect(resolved({ ...situation, config: { bindings } }).agentId).toBe(agentId);
  });

  it("KEY-8: a binding may choose the scope of direct chats", () => {
    const match = { channel: "telegram" };
    const config = { bindings: [{ agentId: "ops", match, session: { dmScope: "per-peer" as const } }] };
    expect(resolved({ place: at("telegram"), from: "9", config })).toMatchObject({
      key: "agent:ops:direct:9",
      scope: "per-peer",
    });
  });

  it("KEY-4 KEY-8: in global scope the default agent has `global` and a bound agent its own main session", () => {
    const config: ConfigInput = { session: { scope: "global" }, bindings };
    expect(resolved({ place: at("signal"), config })).toMatchObject({ agentId: "main", key: "global" });
    expect(resolved({ place: room("discord", "1"), config })).toMatchObject({
      agentId: "ops",
      key: "agent:ops:main",
      scope: "global",
    });
  });
});

describe("references", () => {
  const caller = { key: key("agent:cipher:discord:channel:1"), agentId: "cipher" };
  const uuid = "1b4e28ba-2fa1-41d2-883f-0016d3cca427";
  const refer = (input: Parameters<typeof parseReference>[0]) => parseReference(input, caller, names);

  it("SEND-6 B06: an explicit session key wins over whatever else a model filled in", () => {
    expect(refer({ sessionKey: "agent:ops:main", label: "agent:ops:main", agentId: "main" })).toEqual({
      by: "key",
      key: "agent:ops:main",
    });
  });

  it("SEND-6 B06: blank fields count as absent, and a label that repeats the agent says nothing", () => {
    const opsMain = { by: "agentMain", agentId: "ops", key: "agent:ops:main" };
    expect(refer({ agentId: "ops", label: "ops", sessionKey: "" })).toEqual(opsMain);
    expect(refer({ agentId: " OPS ", label: "  ", sessionKey: " " })).toEqual(opsMain);
    expect(refer({ label: "  " })).toMatchObject({ by: "missing" });
    expect(refer({})).toMatchObject({ by: "missing", reason: expect.stringContaining("sessionKey") });
  });

  it("SEND-6: a label is looked up as it was stored, in one agent if one is given", () => {
    expect(refer({ label: " daily\nreport " })).toEqual({ by: "label", label: "daily report" });
    expect(refer({ label: "report", agentId: "ops" })).toEqual({
      by: "label",
      label: "report",
      agentId: "ops",
    });
    expect(refer({ label: "x".repeat(513) })).toMatchObject({
      by: "missing",
      reason: expect.stringContaining("512"),
    });
  });

  it.each([
    ["main", "agent:cipher:main"],
    [" Main ", "agent:cipher:main"],
    ["current", "agent:cipher:discord:channel:1"],
    ["agent:ops:main", "agent:ops:main"],
    ["Agent:Main:Discord:Channel:100", "agent:main:discord:channel:100"],
    ["cron:daily", "agent:cipher:cron:daily"],
    ["node-pi4", "agent:cipher:node-pi4"],
    ["discord:channel:1", "agent:cipher:discord:channel:1"],
    ["agent:ops:my-own-key", "agent:ops:my-own-key"],
  ])("KEY-1 HIST-1 B08: %s means %s", (sessionKey, expected) => {
    expect(refer({ sessionKey })).toEqual({ by: "key", key: expected });
  });

  it.each([uuid, uuid.toUpperCase(), "some-id", "client-tui", "webchat-ui"])(
    "STATUS: %s is looked up and is never the current session",
    (sessionKey) => {
      expect(refer({ sessionKey })).toEqual({
        by: "sessionId",
        sessionId: sessionKey,
        key: `agent:cipher:${sessionKey}`,
      });
    },
  );

  it.each(["agent:", "agent::x", "agent:ops:", "agent:A B:main"])(
    "KEY-7: %s is refused with a hint",
    (sessionKey) => {
      expect(refer({ sessionKey })).toMatchObject({
        by: "missing",
        reason: expect.stringContaining("sessions_list"),
      });
    },
  );

  it("KEY-1 B08: main follows the configured name and the global scope, for each agent", () => {
    const home = keyNames(configOf({ session: { mainKey: "home" } }), "ops");
    expect(parseReference({ sessionKey: "home" }, caller, home)).toEqual({
      by: "key",
      key: "agent:cipher:home",
    });
    const global = keyNames(configOf({ session: { scope: "global" } }), "ops");
    expect(parseReference({ sessionKey: "main" }, caller, global)).toEqual({
      by: "key",
      key: "agent:cipher:main",
    });
    expect(parseReference({ agentId: "ops" }, caller, global)).toEqual({
      by: "agentMain",
      agentId: "ops",
      key: "global",
    });
  });
});
