import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/core/config.ts";
import { channelConfig } from "../../../src/core/config.ts";
import { isNamed, needsMention } from "../../../src/core/policy/mention.ts";
import type { Address } from "../../../src/core/ports/chat.ts";
import { at, configOf } from "../session/a-session.ts";

describe("names of the bot", () => {
  it.each<[string, string]>([
    ["Switch, what's up", "switch"],
    ["hey SWITCH", "Switch"],
    ["what do you think, switch?", "switch"],
    ["(switch)", "switch"],
    ["_Switch_ and *Switch*", "switch"],
    ["switch\nplease", "switch"],
    ["switch's idea", "switch"],
    ["preswitch, and switch", "switch"],
    ["hey\u00a0 \n bot", "Hey Bot"],
    ["S\u200bwitch", "switch"],
    ["Ｓｗｉｔｃｈ", "switch"],
    ["José!", "Jose\u0301"],
    ["GRÜSSE STRASSE", "straße"],
    ["Свитч, привет", "свитч"],
    ["γεια ΝΙΚΟΣ", "νικος"],
    ["नमस्ते स्विच!", "स्विच"],
    ["مرحبا سويتش؟", "سويتش"],
    ["Switch你好", "switch"],
    ["小助手你好", "小助手"],
    ["hi小助手", "小助手"],
    ["ねえボット、元気?", "ボット"],
    ["สวัสดีบอทครับ", "บอท"],
    ["hi 🤖", "🤖"],
    ["C++?", "c++"],
    ["a.b", "a.b"],
    ["__Ada__, hi", "ada"],
    ["@ada hello", "ada"],
    ["hi @ada", "@ada"],
    ["see https://x.org/ada: Ada, is that you?", "ada"],
    ["看https://x.org/a小助手", "小助手"],
    ["ask me@x.org, ada", "ada"],
    ["is 1+1=2_, ada?", "ada"],
  ])("IN-1: %j names %j", (text, name) => {
    expect(isNamed(text, ["somebody else", name])).toBe(true);
  });

  it.each<[string, string]>([
    ["switches", "switch"],
    ["preswitch", "switch"],
    ["switch2", "switch"],
    ["Switché", "switch"],
    ["switche\u0301", "switch"],
    ["स्विची", "स्विच"],
    ["свитча", "свитч"],
    ["บอท์", "บอท"],
    ["hey, bot", "hey bot"],
    ["axb", "a.b"],
    ["anything", ".*"],
    ["", "switch"],
    ["found before: an endless search", "\u200b"],
    ["ask @ada_other", "ada"],
    ["ask @other_ada", "ada"],
    ["#ada_lovers", "ada"],
    ["write to ada@x.org", "ada"],
    ["write to ada.smith@x.org", "ada"],
    ["write to me@ada.org", "ada"],
    ["write to me@mail.ada.org", "ada"],
    ["https://ada.example", "ada"],
    ["https://x.org/ada", "ada"],
    ["see www.ada.example", "ada"],
    ["HTTPS://x.org/?q=Ada&r=1", "ada"],
  ])("IN-1: %j does not name %j", (text, name) => {
    expect(isNamed(text, [name])).toBe(false);
  });

  it("IN-1: without names nobody is named", () => {
    expect(isNamed("switch", [])).toBe(false);
  });

  const word = fc.stringMatching(/^[\p{Lu}\p{Ll}]{1,8}$/u).filter((text) => text.normalize("NFKC") === text);

  it("IN-1: a name is found as a word of its own in any text and case, and never within a word", () => {
    fc.assert(
      fc.property(word, fc.string({ unit: "grapheme" }), fc.string(), (name, before, after) => {
        expect(isNamed(`${before} ${name}, ${after}`, [name])).toBe(true);
        expect(isNamed(`${before} ${name.toLowerCase()}. ${after}`, [name.toLowerCase()])).toBe(true);
        expect(isNamed(`q${name}`, [name])).toBe(false);
        expect(isNamed(`${name}q`, [name])).toBe(false);
      }),
    );
  });

  it("IN-1: no text and no name make it throw, and what it says does not depend on the order of names", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.array(fc.string({ unit: "binary", minLength: 1 })),
        (text, names) => {
          expect(isNamed(text, names)).toBe(isNamed(text, [...names].reverse()));
        },
      ),
    );
  });

  it("IN-1: a text of any length costs a time that grows with its length alone", () => {
    const names = Array.from({ length: 32 }, (_, n) => `${"a".repeat(62)}${n}`);
    const cost = (length: number) => {
      const text = "a".repeat(length);
      const begunMs = performance.now();
      expect(isNamed(text, [...names, "a".repeat(64)])).toBe(false);
      return performance.now() - begunMs;
    };
    const best = (length: number) => Math.min(cost(length), cost(length), cost(length));
    const [short, long] = [best(20_000), best(200_000)];
    // Quadratic would be a hundred times.
    expect(long).toBeLessThan(Math.max(short, 1) * 50);
  });
});

describe("where a mention is needed", () => {
  type Groups = NonNullable<NonNullable<ConfigInput["channels"]>[string]["groups"]>;
  const no = { requireMention: false };
  const yes = { requireMention: true };
  const group = at("telegram", { chatType: "group", chatId: "-1" });
  const topic = { ...group, threadId: "42" };
  const thread = at("telegram", { chatType: "channel", chatId: "100", threadId: "200" });

  it.each<[string, Groups, boolean | undefined, Address, boolean]>([
    ["by default", {}, undefined, group, true],
    ["where the channel needs none", {}, false, group, false],
    ["where every group needs none", { "*": no }, undefined, group, false],
    ["where the group says otherwise than all", { "*": no, "-1": yes }, undefined, group, true],
    ["where the group says nothing", { "*": no, "-1": {} }, undefined, group, false],
    ["in another group", { "-2": no }, undefined, group, true],
    ["in a topic of the group", { "-1": no }, undefined, topic, false],
    ["in a topic that says otherwise", { "-1": no, "-1:topic:42": yes }, undefined, topic, true],
    ["in a group whose topic says otherwise", { "-1:topic:42": no }, undefined, group, true],
    ["in a topic whose bare number is listed", { "42": no }, undefined, topic, true],
    ["in a thread by its whole name", { "100:thread:200": no }, undefined, thread, false],
    ["in a thread by its own id", { "200": no, "100": yes }, undefined, thread, false],
    ["in a thread by its parent", { "100": no }, undefined, thread, false],
    ["with the channel's name in front", { "telegram:-1": no }, undefined, group, false],
  ])("IN-1: %s", (_, groups, requireMention, from, needed) => {
    const telegram = { groups, ...(requireMention === undefined ? {} : { requireMention }) };
    expect(needsMention(from, channelConfig(configOf({ channels: { telegram } }), "telegram"))).toBe(needed);
  });
});
