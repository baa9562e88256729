import { describe, expect, it } from "vitest";
import { type ConfigInput, parseConfig } from "../../../src/core/config.ts";
import { maySend } from "../../../src/core/policy/send.ts";
import type { Session } from "../../../src/core/ports/session.ts";
import { aSession, at, configOf, key } from "../session/a-session.ts";

type PolicyInput = NonNullable<NonNullable<ConfigInput["session"]>["sendPolicy"]>;
type Rules = NonNullable<PolicyInput["rules"]>;

const withPolicy = (sendPolicy: PolicyInput) => configOf({ session: { sendPolicy } });
const isAllowed = (session: Session, policy: PolicyInput) => maySend(session, withPolicy(policy)).allowed;

describe("rules and overrides", () => {
  const denyChannels = { action: "deny", match: { channel: "discord", chatType: "channel" } } as const;
  const allowNine = { action: "allow", match: { keyPrefix: "discord:channel:9" } } as const;
  const inMain = { route: at("discord"), chatType: "direct" } as const;

  it.each<[string, Partial<Session>, Rules, "allow" | "deny", boolean]>([
    ["discord:channel:9", {}, [denyChannels, allowNine], "allow", false],
    ["discord:channel:9", {}, [allowNine, denyChannels], "allow", false],
    ["discord:channel:9", { sendPolicy: "allow" }, [denyChannels, allowNine], "allow", true],
    ["telegram:group:-1", {}, [denyChannels, allowNine], "allow", true],
    ["telegram:group:-1", { sendPolicy: "deny" }, [denyChannels, allowNine], "allow", false],
    ["main", inMain, [denyChannels, allowNine], "allow", true],
    ["main", {}, [], "deny", false],
    ["main", {}, [], "allow", true],
    ["discord:channel:9", {}, [allowNine], "deny", true],
    ["discord:channel:8", {}, [allowNine], "deny", false],
    ["discord:channel:8", {}, [{ action: "deny" }], "allow", false],
    ["discord:channel:8", {}, [{ action: "allow", match: {} }], "deny", true],
  ])("POL-1 POL-2: %s with %j under %j, default %s: %s", (text, over, rules, otherwise, expected) => {
    expect(isAllowed(aSession(text, over), { rules, default: otherwise })).toBe(expected);
  });

  it.each<[string, NonNullable<Rules[number]["match"]>, boolean]>([
    ["discord:channel:9", { channel: ["telegram", "discord"], chatType: ["group", "channel"] }, true],
    ["discord:channel:9", { channel: "discord", chatType: "group" }, false],
    ["discord:group:9", { channel: "discord", chatType: "group" }, true],
    ["discord:channel:9", { channel: "Discord" }, true],
    ["discord:direct:9", { chatType: "direct" }, true],
    ["direct:9", { chatType: "direct" }, true],
    ["telegram:direct:group", { chatType: "group" }, false],
    ["cron:daily", { keyPrefix: "cron:" }, true],
    ["cron:daily", { keyPrefix: "agent:main:cron:" }, true],
    ["cron:daily", { keyPrefix: "agent:ops:cron:" }, false],
    ["cron:daily", { keyPrefix: ["hook:", " CRON: "] }, true],
    ["cron:daily", { keyPrefix: " " }, false],
    ["telegram:group:-1:topic:42", { keyPrefix: "telegram:group:-1" }, true],
    ["telegram:group:-1", { channel: "telegram", keyPrefix: "telegram:direct:" }, false],
  ])("POL-1: a rule fits %s when all of %j holds: %s", (text, match, fits) => {
    expect(isAllowed(aSession(text), { rules: [{ action: "deny", match }] })).toBe(!fits);
  });

  it("POL-1 J05: a match field that does not exist is a config error, not a rule that fits everything or nothing", () => {
    const rules = [{ action: "deny", match: { target: "+222" } }];
    expect(() => parseConfig({ session: { sendPolicy: { rules } } }, [])).toThrow(
      /rules\[0\]\.match.*"target"/,
    );
  });

  it("POL-1: the decision names its rule, and a refusal what an owner can do", () => {
    const policy = withPolicy({ rules: [{ action: "allow", match: { channel: "telegram" } }, denyChannels] });
    expect(maySend(aSession("telegram:group:-1"), policy)).toEqual({
      allowed: true,
      rule: "session.sendPolicy.rules[0]",
    });
    const refused = maySend(aSession("discord:channel:9"), policy);
    expect(refused).toMatchObject({ allowed: false, rule: "session.sendPolicy.rules[1]" });
    expect(refused).toHaveProperty("reason", expect.stringContaining("/send on"));
    expect(maySend(aSession("main"), policy).rule).toBe("session.sendPolicy.default");
    expect(maySend(aSession("main", { sendPolicy: "deny" }), policy).rule).toBe("/send off");
    expect(maySend(aSession("main", { sendPolicy: "allow" }), policy).rule).toBe("/send on");
  });

  it("J10: a thread follows the override of its room unless it is set itself", () => {
    const config = configOf();
    const thread = aSession("discord:channel:100:thread:200");
    const parent = { sendPolicy: "deny" } as const;
    expect(maySend(thread, config, { parent }).allowed).toBe(false);
    expect(maySend({ ...thread, sendPolicy: "allow" }, config, { parent }).allowed).toBe(true);
    expect(maySend(thread, config, { parent: {} }).allowed).toBe(true);
  });

  it("POL-3: a text whose address was fixed before is judged by that address, not by where the session went since", () => {
    const config = withPolicy({ rules: [{ action: "deny", match: { channel: "telegram" } }] });
    const session = aSession("main", { route: at("discord") });
    expect(maySend(session, config).allowed).toBe(true);
    expect(maySend(session, config, { at: at("telegram") }).allowed).toBe(false);
  });
});

describe("J04: a rule for one channel", () => {
  const says = [
    "telegram:direct:7",
    "telegram:y:direct:7",
    "telegram:direct:7:thread:1",
    "telegram:group:-1",
    "telegram:group:-1:topic:42",
    "telegram:channel:-1009",
    "telegram:channel:-1009:thread:3",
    "telegram:slash:7",
  ];
  const silent = [
    "main",
    "main:thread:7",
    "direct:7",
    "direct:7:thread:1",
    "cron:daily",
    "hook:1",
    "node-pi4",
    "acp:1",
    "subagent:u1",
    "my-own-key",
    "global",
  ];
  const metadata: [string, Partial<Session>][] = [
    ["a recorded channel", { channel: "telegram" }],
    ["a route", { route: at("telegram") }],
    ["an origin", { origin: at("telegram") }],
  ];
  const rules: Rules = [{ action: "deny", match: { channel: "telegram" } }];

  it.each(says)("J04 POL-1: %s is denied by its key alone, and so is a child of it", (text) => {
    for (const [, over] of [["nothing", {}] as const, ...metadata]) {
      expect(isAllowed(aSession(text, over), { rules })).toBe(false);
    }
    expect(isAllowed(aSession("agent:ops:subagent:u1", { spawnedBy: key(text) }), { rules })).toBe(false);
  });

  it.each(silent.flatMap((text) => metadata.map(([name, over]) => [text, name, over] as const)))(
    "J04 POL-1: %s is denied by %s",
    (text, _, over) => {
      expect(isAllowed(aSession(text, over), { rules })).toBe(false);
    },
  );

  it.each(silent)("J04 POL-1: %s without a known channel follows the default", (text) => {
    expect(isAllowed(aSession(text), { rules })).toBe(true);
    expect(isAllowed(aSession(text), { rules, default: "deny" })).toBe(false);
  });

  it("J04 POL-1: a shared session is judged by where it answers now, not by where it began", () => {
    const moved = { channel: "telegram", origin: at("telegram"), route: at("discord") };
    expect(isAllowed(aSession("main", moved), { rules })).toBe(true);
    expect(isAllowed(aSession("main", { channel: "discord", route: at("telegram") }), { rules })).toBe(false);
  });

  it("POL-1: a rule for the key of a requester holds for what it has spawned, wherever that speaks", () => {
    const deny: Rules = [{ action: "deny", match: { keyPrefix: "discord:channel:222" } }];
    const child = aSession("agent:ops:subagent:u1", {
      spawnedBy: key("discord:channel:222"),
      route: at("discord"),
    });
    expect(isAllowed(child, { rules: deny })).toBe(false);
    expect(isAllowed(aSession("agent:ops:subagent:u2", { route: at("discord") }), { rules: deny })).toBe(
      true,
    );
  });
});
