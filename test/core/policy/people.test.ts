import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/core/config.ts";
import { SwitchboardError } from "../../../src/core/errors.ts";
import {
  createOwners,
  type EntryFacts,
  isForBot,
  isOwner,
  mayEnter,
} from "../../../src/core/policy/people.ts";
import type { Address, InboundMessage, Sender } from "../../../src/core/ports/chat.ts";
import { at, configOf } from "../session/a-session.ts";

const nobodyKnown = { samePerson: () => [] };
const person = (id: string, over: Partial<Sender> = {}): Sender => ({ id, isBot: false, ...over });

describe("owners", () => {
  const channels = ["discord", "telegram", "whatsapp"];

  it.each<[string, Parameters<typeof createOwners>[0], string[]]>([
    ["undefined", undefined, []],
    ["an undefined list", { telegram: undefined }, []],
    ["an empty list", { telegram: [] }, []],
    ["a prefixed id", { telegram: ["telegram:1"] }, ["telegram"]],
    ["an id", { telegram: ["1"] }, ["telegram"]],
    ["a number", { telegram: [1] }, ["telegram"]],
    ["an id with spaces", { discord: [" 1 "] }, ["discord"]],
    ["a phone number without plus", { whatsapp: ["1"] }, ["whatsapp"]],
    ["ids on two channels", { discord: ["1"], whatsapp: ["+1"] }, ["discord", "whatsapp"]],
  ])(
    "CMD-2 J07: with %s, sender 1 is an owner only where listed and sender 2 nowhere",
    (_, list, expected) => {
      const owners = createOwners(list);
      const ownedBy = (id: string) =>
        channels.filter((channel) =>
          isOwner(owners, channel, person(channel === "whatsapp" ? `+${id}` : id), nobodyKnown),
        );
      expect(ownedBy("1")).toEqual(expected);
      expect(ownedBy("2")).toEqual([]);
    },
  );

  it.each<[string, NonNullable<Parameters<typeof createOwners>[0]>, string]>([
    ["*", { telegram: ["*"] }, "owners.telegram[0]"],
    ["a prefixed *", { telegram: ["telegram:*"] }, "everybody"],
    ["a name", { telegram: ["1", "@ann"] }, "owners.telegram[1]"],
    ["a bare name", { discord: ["ann"] }, "80351110224678912"],
    ["a name on a channel of the host's own", { webchat: ["@ann"] }, "names can change hands"],
    ["another channel's id", { telegram: ["discord:1"] }, "belongs to discord"],
    ["a blank id", { discord: [" "] }, "blank"],
    ["a snowflake as a number", { discord: [80351110224678912] }, "lost digits"],
    ["a chat id", { telegram: [-1001234] }, "no stable telegram id"],
    ["a group", { whatsapp: ["1203@g.us"] }, "+15550001111"],
  ])("CMD-2 J07: %s is a config error that says where and what to write", (_, list, hint) => {
    expect(() => createOwners(list)).toThrow(SwitchboardError);
    expect(() => createOwners(list)).toThrow(hint);
  });

  it("CMD-2: every problem is reported at once", () => {
    expect(() => createOwners({ telegram: ["*"], discord: ["ann"] })).toThrow(
      /owners\.telegram\[0\][\s\S]*owners\.discord\[0\]/,
    );
  });

  it.each(["+1 555 000-1111", "15550001111", "whatsapp:+15550001111", "15550001111@s.whatsapp.net"])(
    "CMD-2: the WhatsApp owner %s is one person however the number is written",
    (written) => {
      const owners = createOwners({ whatsapp: [written] });
      expect(isOwner(owners, "whatsapp", person("+15550001111"), nobodyKnown)).toBe(true);
      expect(isOwner(owners, "whatsapp", person("15550001111:4@s.whatsapp.net"), nobodyKnown)).toBe(true);
      expect(isOwner(owners, "whatsapp", person("15550001111@lid"), nobodyKnown)).toBe(false);
    },
  );

  it("CMD-2 J08: an owner who appears as a LID counts by alternative id or by mapping, else not at all", () => {
    const owners = createOwners({ whatsapp: ["+222"] });
    const mapped = { samePerson: (id: string) => (id === "111@lid" ? ["+222", "111@lid"] : []) };
    expect(
      isOwner(owners, "whatsapp", person("111@lid", { altIds: ["222@s.whatsapp.net"] }), nobodyKnown),
    ).toBe(true);
    expect(isOwner(owners, "whatsapp", person("111@lid"), mapped)).toBe(true);
    expect(isOwner(owners, "whatsapp", person("111@lid"), nobodyKnown)).toBe(false);
    expect(isOwner(createOwners({ whatsapp: ["111@lid"] }), "whatsapp", person("111@lid"), nobodyKnown)).toBe(
      true,
    );
  });

  it("CMD-2: who cannot be told apart is never an owner", () => {
    const owners = createOwners({ telegram: ["1"] });
    expect(isOwner(owners, "telegram", person("1", { anonymous: true }), nobodyKnown)).toBe(false);
    expect(isOwner(owners, "telegram", person("1", { isBot: true }), nobodyKnown)).toBe(false);
    expect(isOwner(owners, "telegram", person("9", { name: "1" }), nobodyKnown)).toBe(false);
  });

  it("CMD-2: without a list only the WhatsApp account itself is an owner", () => {
    const known = { ...nobodyKnown, ownIds: ["4179:3@s.whatsapp.net"] };
    expect(isOwner(createOwners({}), "whatsapp", person("+4179"), known)).toBe(true);
    expect(isOwner(createOwners({}), "whatsapp", person("+4178"), known)).toBe(false);
  });
});

type ChannelInput = NonNullable<ConfigInput["channels"]>[string];

function aMessage(from: Address, over: Partial<InboundMessage> = {}): InboundMessage {
  return { id: "1", from, sender: person("7"), text: "hi", addressed: false, sentAtMs: 0, ...over };
}

describe("who may enter", () => {
  const stranger: EntryFacts = {
    owner: false,
    linked: false,
    paired: false,
    scope: "per-peer",
    ...nobodyKnown,
  };
  const perPeer = (settings: ChannelInput) =>
    configOf({ session: { dmScope: "per-peer" }, channels: { telegram: settings } });
  const entersWith = (settings: ChannelInput, message: InboundMessage, facts: Partial<EntryFacts> = {}) =>
    mayEnter(message, perPeer(settings), { ...stranger, ...facts });
  const dm = aMessage(at("telegram"));

  it.each<[string, ChannelInput, Partial<EntryFacts>, boolean]>([
    ["a stranger by default", {}, {}, false],
    ["an owner by default", {}, { owner: true }, true],
    ["a linked person by default", {}, { linked: true }, true],
    ["a listed person", { allowFrom: ["telegram:7"] }, {}, true],
    ["a person listed as a number", { allowFrom: [7] }, {}, true],
    ["somebody else than the listed", { allowFrom: ["8", "77"] }, {}, false],
    ["a stranger where it is open", { dmPolicy: "open" }, {}, true],
    ["an owner where it is disabled", { dmPolicy: "disabled" }, { owner: true }, false],
    ["a stranger where people are paired", { dmPolicy: "pairing" }, {}, false],
    ["an approved person", { dmPolicy: "pairing" }, { paired: true }, true],
    ["a listed person where people are paired", { dmPolicy: "pairing", allowFrom: ["7"] }, {}, true],
    ["an approved person where a list counts", { dmPolicy: "allowlist" }, { paired: true }, false],
    ["an approved person where it is disabled", { dmPolicy: "disabled" }, { paired: true }, false],
    [
      "an approved person where everybody shares main",
      { dmPolicy: "pairing" },
      { paired: true, scope: "main" },
      false,
    ],
    ["a listed person where everybody shares main", { allowFrom: ["7"] }, { scope: "main" }, false],
    [
      "a stranger where it is open but everything is global",
      { dmPolicy: "open" },
      { scope: "global" },
      false,
    ],
    ["a linked person where everybody shares main", {}, { linked: true, scope: "main" }, true],
    ["an owner where everything is global", {}, { owner: true, scope: "global" }, true],
  ])("IN KEY-5: a direct message of %s", (_, settings, facts, admitted) => {
    expect(entersWith(settings, dm, facts).admitted).toBe(admitted);
  });

  it.each<[string, ChannelInput, Partial<InboundMessage>, Partial<EntryFacts>, boolean]>([
    ["a stranger where people are paired", { dmPolicy: "pairing" }, {}, {}, true],
    ["a stranger by default", {}, {}, {}, false],
    ["a stranger where everybody shares main", { dmPolicy: "pairing" }, {}, { scope: "main" }, false],
    ["an old message", { dmPolicy: "pairing" }, { replay: true }, {}, false],
    ["a bot", { dmPolicy: "pairing", bots: "allow" }, { sender: person("7", { isBot: true }) }, {}, false],
    ["somebody anonymous", { dmPolicy: "pairing" }, { sender: person("7", { anonymous: true }) }, {}, false],
  ])("IN-1: %s may be told a code or not", (_, settings, over, facts, mayPair) => {
    expect("mayPair" in entersWith(settings, aMessage(at("telegram"), over), facts)).toBe(mayPair);
  });

  it("IN-1: an approved person is let into no room", () => {
    const room = aMessage(at("telegram", { chatType: "group", chatId: "-1" }));
    const settings: ChannelInput = { dmPolicy: "pairing", groupPolicy: "allowlist" };
    expect(entersWith(settings, room, { paired: true })).not.toHaveProperty("mayPair");
    expect(entersWith(settings, room, { paired: true }).admitted).toBe(false);
  });

  it("IN: a listed phone number also admits the LID that is known to be the same person", () => {
    const config = configOf({
      session: { dmScope: "per-peer" },
      channels: { whatsapp: { allowFrom: ["+222"] } },
    });
    const message = aMessage(at("whatsapp"), { sender: person("111@lid") });
    expect(mayEnter(message, config, stranger).admitted).toBe(false);
    expect(mayEnter(message, config, { ...stranger, samePerson: () => ["+222"] }).admitted).toBe(true);
  });

  const inGroup = at("telegram", { chatType: "group", chatId: "-1" });
  const inThread = at("telegram", { chatType: "channel", chatId: "100", threadId: "200" });
  const inTopic = at("telegram", { chatType: "group", chatId: "-1", threadId: "42" });

  it.each<[string, ChannelInput, Address, boolean]>([
    ["any group by default", {}, inGroup, true],
    ["a listed group", { groupPolicy: "allowlist", groupAllowFrom: [-1] }, inGroup, true],
    ["a group that is not listed", { groupPolicy: "allowlist", groupAllowFrom: ["-2"] }, inGroup, false],
    ["any group where groups are disabled", { groupPolicy: "disabled" }, inGroup, false],
    ["a thread of a listed channel", { groupPolicy: "allowlist", groupAllowFrom: ["100"] }, inThread, true],
    ["a thread that is listed alone", { groupPolicy: "allowlist", groupAllowFrom: ["200"] }, inThread, true],
    [
      "the channel of that thread",
      { groupPolicy: "allowlist", groupAllowFrom: ["200"] },
      { ...inThread, threadId: "9" },
      false,
    ],
    ["a topic of a listed group", { groupPolicy: "allowlist", groupAllowFrom: ["-1"] }, inTopic, true],
    [
      "a topic whose number somebody listed",
      { groupPolicy: "allowlist", groupAllowFrom: ["42"] },
      inTopic,
      false,
    ],
  ])("IN J10: a message in %s", (_, settings, from, admitted) => {
    expect(entersWith(settings, aMessage(from)).admitted).toBe(admitted);
  });

  it("IN: other bots are ignored everywhere unless they are allowed", () => {
    const bot = aMessage(inGroup, { sender: person("7", { isBot: true }) });
    expect(entersWith({}, bot).admitted).toBe(false);
    expect(entersWith({ bots: "allow" }, bot).admitted).toBe(true);
  });

  it("IN: a refusal names the setting", () => {
    expect(entersWith({ dmPolicy: "disabled" }, dm)).toHaveProperty(
      "reason",
      expect.stringContaining("channels.telegram.dmPolicy"),
    );
    expect(entersWith({}, dm, { scope: "main" })).toHaveProperty(
      "reason",
      expect.stringContaining("session.dmScope"),
    );
  });

  it.each<[string, ChannelInput, Address, boolean, boolean]>([
    ["a direct message", {}, at("telegram"), false, true],
    ["chatter in a group", {}, inGroup, false, false],
    ["a mention in a group", {}, inGroup, true, true],
    ["chatter where no mention is needed", { requireMention: false }, inGroup, false, true],
    [
      "chatter in a group that needs no mention",
      { groups: { "-1": { requireMention: false } } },
      inGroup,
      false,
      true,
    ],
    ["a message that names the bot", { mentionNames: ["HI"] }, inGroup, false, true],
    ["a message with another name", { mentionNames: ["hip"] }, inGroup, false, false],
  ])("IN: %s is for the bot or not", (_, settings, from, addressed, expected) => {
    expect(isForBot(aMessage(from, { addressed }), perPeer(settings), { childThread: false })).toBe(expected);
  });
});
