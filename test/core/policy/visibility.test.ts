import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Config, ConfigInput } from "../../../src/core/config.ts";
import {
  type AccessAction,
  type Caller,
  isClamped,
  mayAccess,
  SANDBOX_REFUSAL,
  visibilityNote,
  visibleScope,
} from "../../../src/core/policy/visibility.ts";
import { agentIds, configOf, key } from "../session/a-session.ts";

type Level = "self" | "tree" | "agent" | "all";
type AllowInput = NonNullable<NonNullable<NonNullable<ConfigInput["tools"]>["agentToAgent"]>["allow"]>;

const me: Caller = { key: key("agent:main:direct:1"), agentId: "main", sandboxed: false };
const targets = {
  own: { key: me.key, agentId: "main", ancestors: [] },
  child: { key: key("agent:main:subagent:1"), agentId: "main", ancestors: [me.key] },
  grandchild: {
    key: key("agent:ops:subagent:2"),
    agentId: "ops",
    ancestors: [key("agent:ops:subagent:1"), me.key],
  },
  sibling: { key: key("agent:main:direct:2"), agentId: "main", ancestors: [] },
  parent: { key: key("agent:main:main"), agentId: "main", ancestors: [] },
  stranger: { key: key("agent:ops:main"), agentId: "ops", ancestors: [] },
};
type Who = keyof typeof targets;

function configWith(level: Level, allow?: AllowInput, sandbox: "spawned" | "all" = "spawned"): Config {
  return configOf({
    tools: {
      sessions: { visibility: level },
      agentToAgent: allow === undefined ? {} : { enabled: true, allow },
    },
    agents: { defaults: { sandbox: { sessionToolsVisibility: sandbox } } },
  });
}

function reachable(config: Config, action: AccessAction, caller: Caller = me): Who[] {
  // Object.keys forgets the names of the members.
  return (Object.keys(targets) as Who[]).filter(
    (who) => mayAccess(caller, targets[who], action, config).allowed,
  );
}

function reason(config: Config, who: Who, action: AccessAction = "history", caller: Caller = me): string {
  const decision = mayAccess(caller, targets[who], action, config);
  return decision.allowed ? "allowed" : decision.reason;
}

describe("levels", () => {
  const tree: Who[] = ["own", "child", "grandchild"];
  const agent: Who[] = [...tree, "sibling", "parent"];
  it.each<[Level, AllowInput | undefined, Who[]]>([
    ["self", undefined, ["own"]],
    ["tree", undefined, tree],
    ["agent", undefined, agent],
    ["all", undefined, agent],
    ["self", [], ["own"]],
    ["tree", [], tree],
    ["agent", ["*"], agent],
    ["all", [], [...agent, "stranger"]],
    ["all", ["*"], [...agent, "stranger"]],
    ["all", ["MAIN", "op*"], [...agent, "stranger"]],
    ["all", ["main"], agent],
    ["all", ["ops"], agent],
    ["all", ["  "], agent],
    ["all", [{ from: "cipher", to: "ops", read: true, send: true }], agent],
  ])("VIS-1 VIS-3: level %s with agent-to-agent %j reaches %j", (level, allow, expected) => {
    const config = configWith(level, allow);
    for (const action of ["list", "history", "status", "send"] as const) {
      expect(reachable(config, action)).toEqual(expected);
    }
  });

  it("VIS-1 I11: by default another person's direct chat with the same agent is out of reach", () => {
    for (const action of ["list", "history", "status", "send"] as const) {
      expect(reachable(configOf(), action)).not.toContain("sibling");
    }
  });

  it("VIS-1 H03: a child does not reach its parent", () => {
    const child: Caller = { key: targets.child.key, agentId: "main", sandboxed: false };
    expect(mayAccess(child, targets.own, "status", configOf()).allowed).toBe(false);
  });
});

describe("grants", () => {
  const grant = (from: string, to: string, read: boolean, send: boolean) => [{ from, to, read, send }];

  it.each<Level>(["self", "tree", "agent", "all"])(
    "VIS-3 B10: a grant gives exactly its right at level %s",
    (level) => {
      const sendOnly = configWith(level, grant("main", "ops", false, true));
      expect(reachable(sendOnly, "send")).toContain("stranger");
      for (const action of ["list", "history", "status"] as const) {
        expect(reachable(sendOnly, action)).not.toContain("stranger");
      }
      const readOnly = configWith(level, grant("ma*", "*", true, false));
      expect(reachable(readOnly, "history")).toContain("stranger");
      expect(reachable(readOnly, "send")).not.toContain("stranger");
    },
  );

  it("VIS-3: a grant has a direction", () => {
    expect(reachable(configWith("tree", grant("ops", "main", true, true)), "send")).not.toContain("stranger");
  });

  it("VIS-3: a grant from an agent to itself opens its other sessions", () => {
    const config = configWith("tree", grant("main", "main", false, true));
    expect(reachable(config, "send")).toContain("sibling");
    expect(reachable(config, "list")).not.toContain("sibling");
  });

  it("VIS-3: nothing is granted while agent-to-agent is off", () => {
    const config = configOf({ tools: { agentToAgent: { allow: grant("*", "*", true, true) } } });
    expect(reachable(config, "send")).toEqual(["own", "child", "grandchild"]);
  });
});

describe("sandboxed callers", () => {
  const boxed: Caller = { ...me, sandboxed: true };
  const everything: AllowInput = ["*", { from: "*", to: "*", read: true, send: true }];

  it.each<[Level, Who[]]>([
    ["self", ["own"]],
    ["tree", ["own", "child", "grandchild"]],
    ["agent", ["own", "child", "grandchild"]],
    ["all", ["own", "child", "grandchild"]],
  ])("VIS: level %s is narrowed to what they spawned, whatever is granted", (level, expected) => {
    const config = configWith(level, everything);
    expect(isClamped(boxed, config)).toBe(true);
    for (const action of ["list", "send"] as const)
      expect(reachable(config, action, boxed)).toEqual(expected);
  });

  it("VIS: only the owner's explicit sessionToolsVisibility lifts that", () => {
    const config = configWith("all", everything, "all");
    expect(isClamped(boxed, config)).toBe(false);
    expect(reachable(config, "send", boxed)).toEqual(Object.keys(targets));
  });

  it("VIS H03: every refusal is the same text, which names no session and no agent", () => {
    const config = configWith("agent");
    const texts = (["sibling", "parent", "stranger"] as const).map((who) =>
      reason(config, who, "status", boxed),
    );
    expect(new Set(texts)).toEqual(new Set([SANDBOX_REFUSAL]));
  });
});

describe("refusals", () => {
  it("VIS-1 B10: within one agent they name the level and the grant", () => {
    const text = reason(configOf(), "sibling");
    expect(text).toContain('tools.sessions.visibility: "agent"');
    expect(text).toContain("tools.agentToAgent.enabled: true");
    expect(text).toContain('{ from: "main", to: "main", read: true }');
  });

  it("VIS-3 B10: across agents they name every setting that is missing, and no other", () => {
    const nothing = reason(configOf({ tools: { agentToAgent: { allow: ["ops"] } } }), "stranger", "send");
    expect(nothing).toContain('tools.sessions.visibility: "all"');
    expect(nothing).toContain("tools.agentToAgent.enabled: true");
    expect(nothing).toContain('patterns for "main" and "ops"');
    expect(nothing).toContain('{ from: "main", to: "ops", send: true }');

    const patterns = reason(configWith("all", ["ops"]), "stranger");
    expect(patterns).not.toContain('tools.sessions.visibility: "all"');
    expect(patterns).not.toContain("enabled: true");
    expect(patterns).toContain('patterns for "main" and "ops"');

    const level = reason(configWith("tree", ["*"]), "stranger");
    expect(level).toContain('tools.sessions.visibility: "all"');
    expect(level).not.toContain("patterns for");
  });

  it("VIS-1: doing what a refusal says helps", () => {
    const fixed = configWith("all", ["main", "ops"]);
    expect(reason(fixed, "stranger")).toBe("allowed");
    expect(reason(configWith("agent"), "sibling")).toBe("allowed");
  });
});

describe("listed and readable", () => {
  const pattern = fc.constantFrom("*", "main", "ops", "o*", "*i*", "MAIN", " ", "cipher");
  const config = fc
    .record({
      level: fc.constantFrom<Level>("self", "tree", "agent", "all"),
      enabled: fc.boolean(),
      allow: fc.array(
        fc.oneof(
          pattern,
          fc.record({
            from: pattern,
            to: pattern,
            read: fc.boolean(),
            send: fc.boolean(),
          }),
        ),
        { maxLength: 3 },
      ),
      sandbox: fc.constantFrom("spawned" as const, "all" as const),
    })
    .map(({ level, enabled, allow, sandbox }) =>
      configOf({
        tools: { sessions: { visibility: level }, agentToAgent: { enabled, allow } },
        agents: { defaults: { sandbox: { sessionToolsVisibility: sandbox } } },
      }),
    );
  /** A forest of sessions: each may have been spawned by an earlier one. */
  const forest = fc.array(
    fc.record({ agentId: fc.constantFrom(...agentIds), spawner: fc.option(fc.nat({ max: 7 })) }),
    { minLength: 2, maxLength: 8 },
  );

  it("VIS-1 F11: a grant to its own agent does not list a child that runs in another one", () => {
    const settings = configWith("self", [{ from: "main", to: "main", read: true, send: true }]);
    const scope = visibleScope({ ...me, descendants: [targets.grandchild.key] }, "list", settings, agentIds);
    expect(scope).toEqual({ agentIds: ["main"], keys: [me.key] });
    expect(reachable(settings, "history")).not.toContain("grandchild");
  });

  it("VIS-1 F11: what is listed can be read and what can be read is listed, whatever the settings", () => {
    fc.assert(
      fc.property(config, forest, fc.nat(), fc.boolean(), (settings, trees, seed, sandboxed) => {
        const sessions = trees.map(({ agentId }, index) => ({
          agentId,
          key: key(`agent:${agentId}:subagent:${index}`),
        }));
        const ancestorsOf = (index: number): number[] => {
          const spawner = trees[index]?.spawner ?? index;
          return spawner >= index ? [] : [spawner, ...ancestorsOf(spawner)];
        };
        const callerIndex = seed % sessions.length;
        const all = sessions.map((session, index) => ({ ...session, above: ancestorsOf(index) }));
        const asking = all[callerIndex];
        if (asking === undefined) return;
        const caller = { key: asking.key, agentId: asking.agentId, sandboxed };
        const descendants = all
          .filter(({ above }) => above.includes(callerIndex))
          .map((session) => session.key);
        for (const action of ["list", "history", "status", "send"] as const) {
          const scope = visibleScope({ ...caller, descendants }, action, settings, agentIds);
          for (const { key: target, agentId, above } of all) {
            const ancestors = above.flatMap((index) => all[index]?.key ?? []);
            const listed = scope.agentIds.includes(agentId) || scope.keys.includes(target);
            expect(mayAccess(caller, { key: target, agentId, ancestors }, action, settings).allowed).toBe(
              listed,
            );
          }
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe("the note of a list", () => {
  it("LIST-4: says which mode restricts it, and is silent when nothing is held back", () => {
    for (const mode of ["self", "tree", "agent"] as const) {
      expect(visibilityNote(me, configWith(mode), agentIds)).toMatchObject({ mode, restricted: true });
    }
    expect(visibilityNote(me, configWith("all", []), agentIds)).toBeUndefined();
    expect(visibilityNote(me, configWith("all"), ["main"])).toBeUndefined();
  });

  it("LIST-4: level all without agent-to-agent still holds other agents back, and says so", () => {
    expect(visibilityNote(me, configWith("all"), agentIds)).toMatchObject({ mode: "all", restricted: true });
  });

  it("LIST-4 VIS: a sandboxed caller is told its narrower mode", () => {
    expect(visibilityNote({ ...me, sandboxed: true }, configWith("all", []), agentIds)).toMatchObject({
      mode: "tree",
    });
    expect(visibilityNote({ ...me, sandboxed: true }, configWith("self"), agentIds)).toMatchObject({
      mode: "self",
    });
  });
});
