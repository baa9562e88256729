import { describe, expect, it } from "vitest";
import { channelConfig, parseConfig } from "../../src/core/config.ts";
import { configWarnings } from "../../src/core/config-warnings.ts";
import { SwitchboardError } from "../../src/core/errors.ts";
import { createOwners } from "../../src/core/policy/people.ts";

const AGENTS = ["main", "research"];
const NOBODY = createOwners({});

function problemsOf(input: unknown): readonly string[] {
  try {
    parseConfig(input, AGENTS);
  } catch (error) {
    if (error instanceof SwitchboardError && error.code === "CONFIG_INVALID") {
      return error.message.split("\n").slice(1);
    }
    throw error;
  }
  return [];
}

describe("the config", () => {
  it("is complete without a word: every key has a default", () => {
    const config = parseConfig(undefined, AGENTS);
    expect(config.session).toMatchObject({ scope: "per-sender", dmScope: "main", mainKey: "main" });
    expect(config.session.agentToAgent.maxPingPongTurns).toBe(5);
    expect(config.tools.sessions.visibility).toBe("tree");
    expect(config.tools.agentToAgent).toEqual({ enabled: false, allow: [], maxSendsPerHour: 120 });
    expect(channelConfig(config, "telegram")).toMatchObject({ dmPolicy: "allowlist", requireMention: true });
  });

  it("names the path and the allowed values of every problem at once", () => {
    const problems = problemsOf({
      session: { dmScope: "everyone", agentToAgent: { maxPingPongTurns: 21 }, colour: "red" },
      tools: { agentToAgent: { allow: [{ from: "main", to: "research", read: false }] } },
    });
    expect(problems).toHaveLength(4);
    expect(problems.join("\n")).toMatch(/session\.dmScope: .*"per-channel-peer"/);
    expect(problems.join("\n")).toMatch(/maxPingPongTurns: .*<=20/);
    expect(problems.join("\n")).toMatch(/session: unknown key "colour"; allowed: .*dmScope/);
    expect(problems.join("\n")).toMatch(/tools\.agentToAgent\.allow\[0\]: .*send/);
  });

  it.each([
    [
      "J05: an unknown match field of a send rule",
      { session: { sendPolicy: { rules: [{ action: "deny", match: { target: "x" } }] } } },
      /unknown key "target"; allowed: channel, chatType, keyPrefix/,
    ],
    ["A2A-2: turns beyond 20", { session: { agentToAgent: { maxPingPongTurns: -1 } } }, />=0/],
    [
      "KEY-8: a binding to an agent that is not there",
      { bindings: [{ agentId: "zzz", match: { channel: "discord" } }] },
      /no agent "zzz"; configured: main, research/,
    ],
    [
      "KEY-8: a wildcard peer",
      { bindings: [{ agentId: "main", match: { channel: "discord", peer: { kind: "channel", id: "*" } } }] },
      /leave peer out/,
    ],
    [
      "KEY-7: a main key that is a word of the grammar",
      { session: { mainKey: "cron" } },
      /already means something/,
    ],
    [
      "two default agents",
      {
        agents: {
          list: [
            { id: "main", default: true },
            { id: "research", default: true },
          ],
        },
      },
      /at most one agent/,
    ],
    ["options for an agent that is not there", { agents: { list: [{ id: "zzz" }] } }, /no agent "zzz"/],
    [
      "KEY-5: strangers' direct messages while one session holds them all",
      { channels: { telegram: { dmPolicy: "open" } } },
      /session\.dmScope/,
    ],
    [
      "IN-1: pairing while one session holds all direct messages",
      { channels: { telegram: { dmPolicy: "pairing" } } },
      /"pairing" would.*set session\.dmScope/,
    ],
    [
      "IN-1: pairing while everybody shares one session",
      { session: { dmScope: "per-peer", scope: "global" }, channels: { telegram: { dmPolicy: "pairing" } } },
      /set session\.scope/,
    ],
    [
      "IN-1: tools of a topic",
      { channels: { telegram: { groups: { "-1:topic:5": { tools: { allow: [], deny: ["*"] } } } } } },
      /groups\["-1:topic:5"\]\.tools: .*write them below "-1"/,
    ],
    [
      "IN-1: a name without a letter",
      { channels: { telegram: { mentionNames: ["..."] } } },
      /mentionNames\[0\]/,
    ],
    [
      "CMD-2: everybody in an allow list",
      { channels: { telegram: { allowFrom: ["*"] } } },
      /"\*" is not an id/,
    ],
  ])("refuses %s", (_what, input, reason) => {
    const problems = problemsOf(input);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(reason);
  });

  it("KEY-5: direct messages may be opened with a scope of their own", () => {
    expect(
      problemsOf({ session: { dmScope: "per-peer" }, channels: { telegram: { dmPolicy: "open" } } }),
    ).toEqual([]);
  });

  it("IN-1: pairing goes with a scope of its own, and a topic may say whether it needs a mention", () => {
    const telegram = { dmPolicy: "pairing", groups: { "-1:topic:5": { requireMention: false } } };
    expect(problemsOf({ session: { dmScope: "per-peer" }, channels: { telegram } })).toEqual([]);
  });

  it("POL-1: warns about a Discord rule for groups alone, which leaves guild channels out", () => {
    const rule = (chatType: string | string[]) =>
      parseConfig(
        { session: { sendPolicy: { rules: [{ action: "deny", match: { channel: "discord", chatType } }] } } },
        AGENTS,
      );
    const known = { channels: ["discord"], agentIds: AGENTS, owners: NOBODY };
    expect(configWarnings(rule("group"), known).join()).toMatch(/guild channels are "channel"/);
    expect(configWarnings(rule(["group", "channel"]), known)).toEqual([]);
  });

  it("POL-1 VIS-3: warns about names that nothing answers to, and about grants that are switched off", () => {
    const config = parseConfig(
      {
        channels: { dicsord: {} },
        session: { sendPolicy: { rules: [{ action: "deny", match: { channel: "whatsap" } }] } },
        tools: { agentToAgent: { allow: [{ from: "mian", to: "research", read: true, send: true }, "re*"] } },
      },
      AGENTS,
    );
    const warnings = configWarnings(config, {
      channels: ["discord", "whatsapp"],
      agentIds: AGENTS,
      owners: NOBODY,
    });
    expect(warnings.map((warning) => /"(\w+)"/.exec(warning)?.[1])).toEqual([
      "dicsord",
      "whatsap",
      "mian",
      undefined,
    ]);
    expect(warnings.at(-1)).toMatch(/enabled is false/);
  });

  it("SPAWN-3: warns about agents that may be spawned and are not there; patterns may fit nobody yet", () => {
    const config = parseConfig(
      {
        agents: {
          defaults: { subagents: { allowAgents: ["reserch", "*"] } },
          list: [{ id: "main", subagents: { allowAgents: ["Main", "mayn", "re*", "research"] } }],
        },
      },
      AGENTS,
    );
    const warnings = configWarnings(config, { channels: ["discord"], agentIds: AGENTS, owners: NOBODY });
    expect(warnings).toEqual([
      expect.stringMatching(
        /^agents\.defaults\.subagents\.allowAgents: there is no agent "reserch"; agents: /,
      ),
      expect.stringMatching(/^agents\.list\[0\]\.subagents\.allowAgents: there is no agent "mayn"/),
    ]);
  });

  it("IN-1 KEY-5: warns about ids that fit nobody and no chat, and says what to write; of other channels it knows none", () => {
    const entries = [
      "@ann",
      "telegram:@ann",
      "whatsapp:1",
      "+1 555 000",
      "Ann",
      7,
      "telegram:7",
      "-100",
      "abc@lid",
    ];
    const lists = { allowFrom: entries, groupAllowFrom: [...entries, "80351110224678912", "1-2@g.us"] };
    const open = { session: { dmScope: "per-peer" } };
    const channels = ["discord", "telegram", "whatsapp", "webchat"];
    const config = parseConfig(
      { ...open, channels: Object.fromEntries(channels.map((name) => [name, lists])) },
      AGENTS,
    );
    const warnings = configWarnings(config, { channels, agentIds: AGENTS, owners: NOBODY });
    const flagged = (path: string) =>
      lists[path.endsWith("groupAllowFrom") ? "groupAllowFrom" : "allowFrom"].filter((_, i) =>
        warnings.some((warning) => warning.startsWith(`channels.${path}[${i}]: `)),
      );
    const never = ["@ann", "telegram:@ann", "whatsapp:1", "Ann"];
    expect(flagged("telegram.allowFrom")).toEqual([
      "@ann",
      "telegram:@ann",
      "whatsapp:1",
      "+1 555 000",
      "Ann",
      "-100",
      "abc@lid",
    ]);
    expect(flagged("discord.allowFrom")).toEqual([
      ...never.slice(0, 3),
      "+1 555 000",
      "Ann",
      "telegram:7",
      "-100",
      "abc@lid",
    ]);
    expect(flagged("whatsapp.allowFrom")).toEqual(["@ann", "telegram:@ann", "Ann", "telegram:7", "abc@lid"]);
    expect(flagged("telegram.groupAllowFrom")).not.toContain("-100");
    expect(flagged("telegram.groupAllowFrom")).toContain(7);
    expect(flagged("discord.groupAllowFrom")).not.toContain("80351110224678912");
    expect(flagged("whatsapp.groupAllowFrom")).toContain("+1 555 000");
    expect(flagged("whatsapp.groupAllowFrom")).not.toContain("1-2@g.us");
    expect(warnings.filter((warning) => warning.includes("webchat"))).toEqual([]);
    expect(warnings).toContain(
      'channels.telegram.allowFrom[0]: "@ann" is no stable telegram id; write one like "123456".',
    );
    expect(warnings).toContain(
      'channels.telegram.allowFrom[2]: "whatsapp:1" belongs to whatsapp, not to telegram; move it there.',
    );
    expect(warnings).toContain(
      'channels.telegram.groupAllowFrom[5]: "7" is no id of a telegram group; write one like "-1001234567890".',
    );
  });

  it("IN-1 KEY-8: looks at ids wherever they stand, with topics and prefixes", () => {
    const group = { requireMention: false };
    const config = parseConfig(
      {
        channels: {
          telegram: { groups: { "*": group, "-100:topic:7": group, "telegram:-5": group, Team: group } },
        },
        session: { identityLinks: { ann: ["telegram:7", "ann", "telegram:@ann", "webchat:ann"] } },
        bindings: [
          { agentId: "main", match: { channel: "Telegram", peer: { kind: "group", id: "-100:topic:7" } } },
          { agentId: "main", match: { channel: "telegram", peer: { kind: "direct", id: "-7" } } },
          { agentId: "main", match: { channel: "discord", peer: { kind: "channel", id: "#general" } } },
        ],
      },
      AGENTS,
    );
    const known = { channels: ["telegram", "discord", "Telegram"], agentIds: AGENTS, owners: NOBODY };
    expect(configWarnings(config, known).map((warning) => warning.slice(0, warning.indexOf(" ")))).toEqual([
      "channels.telegram.groups:",
      "session.identityLinks.ann[2]:",
      "bindings[1].match.peer.id:",
      "bindings[2].match.peer.id:",
    ]);
  });

  it("CMD-2: warns about owners of a channel without an adapter", () => {
    const owners = createOwners({ telegram: [7, 8], discord: ["9"], webchat: ["ann"] });
    const known = { channels: ["telegram"], agentIds: AGENTS, owners };
    expect(configWarnings(parseConfig({}, AGENTS), known)).toEqual([
      'owners.discord: there is no adapter for "discord"; adapters: telegram.',
      'owners.webchat: there is no adapter for "webchat"; adapters: telegram.',
    ]);
  });

  it.each<[string, readonly string[], Readonly<Record<string, readonly string[]>>, boolean]>([
    ["nobody is an owner", ["telegram", "discord"], {}, true],
    ["the only owner is where there is no adapter", ["telegram"], { discord: ["9"] }, true],
    ["an owner of another channel is there", ["telegram", "discord"], { discord: ["9"] }, false],
    ["a WhatsApp account is there, whose own chat is an owner's", ["telegram", "whatsapp"], {}, false],
    ["the channel has no adapter", ["discord"], {}, false],
  ])("IN-1: pairing that nobody could approve is warned about: %s", (_, channels, owners, isWarned) => {
    const config = parseConfig(
      { session: { dmScope: "per-peer" }, channels: { telegram: { dmPolicy: "pairing" } } },
      AGENTS,
    );
    const known = { channels, agentIds: AGENTS, owners: createOwners(owners) };
    const warned = configWarnings(config, known).filter((warning) => warning.includes("approve"));
    expect(warned).toEqual(
      isWarned
        ? [
            'channels.telegram.dmPolicy is "pairing", but no owner could approve anybody; write your id into owners, e.g. owners: { telegram: ["…"] }.',
          ]
        : [],
    );
  });

  it("TOOLS-1: warns about entries of tool lists that fit no tool, wherever they stand", () => {
    const config = parseConfig(
      {
        tools: {
          alsoAllow: ["message"],
          allow: ["sessions_*", "session_*", "GROUP:sessions", "Agents_List"],
          deny: ["sesions_send", "group:fs"],
          byProvider: { openai: { allow: ["*"], deny: ["read"] } },
          sandbox: { tools: { deny: [" "] } },
          subagents: { tools: { allow: ["exec*"], alsoAllow: ["subagent"], deny: ["subagents"] } },
        },
        agents: { list: [{ id: "research", tools: { allow: ["write"], deny: [] } }] },
        channels: { discord: { groups: { "*": { tools: { deny: ["sessions"] } } } } },
      },
      AGENTS,
    );
    const warnings = configWarnings(config, { channels: ["discord"], agentIds: AGENTS, owners: NOBODY });
    const tools = "tools: sessions_list, sessions_history, .*, agents_list\\.$";
    const all = warnings.map((warning) =>
      new RegExp(`^(.*): there is no tool "(.*)"; ${tools}`).exec(warning),
    );
    expect(all.map((found) => found?.slice(1))).toEqual([
      ["tools.alsoAllow", "message"],
      ["tools.subagents.tools.alsoAllow", "subagent"],
      ["tools.deny", "sesions_send"],
      ["tools.deny", "group:fs"],
      ['tools.byProvider["openai"].deny', "read"],
      ["agents.list[0].tools.allow", "write"],
      ['channels.discord.groups["*"].tools.deny', "sessions"],
      ["tools.sandbox.tools.deny", " "],
      ["tools.subagents.tools.allow", "exec*"],
    ]);
  });

  it.each([
    [
      { tools: { byProvider: { openai: { profile: "minimal" } } } },
      /unknown key "profile"; allowed: allow, deny/,
    ],
    [{ tools: { byProvider: { " ": {} } } }, /byProvider/],
    [{ tools: { sandbox: { deny: ["*"] } } }, /tools\.sandbox: unknown key "deny"; allowed: tools/],
    [
      { channels: { telegram: { groups: { "-1": { deny: ["*"] } } } } },
      /groups\.-1: unknown key "deny"; allowed: tools/,
    ],
    [
      { agents: { list: [{ id: "main", tools: { alsoAllow: ["x"] } }] } },
      /"alsoAllow"; allowed: allow, deny/,
    ],
    [{ tools: { deny: "*" } }, /tools\.deny: .*array/],
  ])("TOOLS-1: %j is refused, for it would not mean what it seems to", (input, reason) => {
    const problems = problemsOf(input);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(reason);
  });

  it("KEY-7: a platform named like a member of every object has the defaults", () => {
    expect(channelConfig(parseConfig({}, AGENTS), "constructor").requireMention).toBe(true);
  });
});
