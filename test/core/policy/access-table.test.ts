import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Config, parseConfig } from "../../../src/core/config.ts";
import { matchesPattern } from "../../../src/core/policy/pattern.ts";
import { isSandboxed } from "../../../src/core/policy/sandbox.ts";
import {
  type AccessAction,
  type AccessTarget,
  mayAccess,
  SANDBOX_REFUSAL,
  visibleScope,
} from "../../../src/core/policy/visibility.ts";
import { aSession, key, names } from "../session/a-session.ts";
import {
  AGENT_IDS,
  AGREEMENTS,
  CAST,
  configFor,
  EVERY_RULE,
  fits,
  type Grant,
  LEVELS,
  type Member,
  type Right,
  type Rules,
  reaches,
} from "./access-oracle.ts";

const RIGHTS: Readonly<Record<AccessAction, Right>> = {
  list: "read",
  history: "read",
  status: "read",
  send: "send",
};
// Object.keys forgets the names of the members.
const ACTIONS = Object.keys(RIGHTS) as readonly AccessAction[];

const parsed = (rules: Rules): Config => parseConfig(configFor(rules), AGENT_IDS);

const callers = CAST.map((member) => ({ ...member, key: key(member.key) }));
const targets = CAST.map((member): { readonly member: Member; readonly target: AccessTarget } => {
  const { agentId, spawners } = member;
  const retired = AGENT_IDS.some((id) => id === agentId) ? {} : { retired: true as const };
  return { member, target: { key: key(member.key), agentId, ancestors: spawners.map(key), ...retired } };
});

function say(rules: Rules, caller: Member, target: Member, action: string): string {
  return `${caller.name} → ${target.name}, ${action}, ${JSON.stringify(rules)}`;
}

describe("the access table", () => {
  it("VIS-1 VIS-2 VIS-3 B10 F11 H03: every caller, every target, every setting and every action is decided as the contract says", () => {
    const wrong: string[] = [];
    let rows = 0;
    for (const rules of EVERY_RULE) {
      const config = parsed(rules);
      for (const [at, caller] of callers.entries()) {
        for (const { member, target } of targets) {
          for (const action of ACTIONS) {
            rows += 1;
            const expected = reaches(rules, CAST[at] ?? member, member, RIGHTS[action]);
            const { allowed } = mayAccess(caller, target, action, config);
            if (allowed !== expected) wrong.push(`${allowed}: ${say(rules, caller, member, action)}`);
          }
        }
      }
    }
    expect(wrong.slice(0, 20)).toEqual([]);
    expect(rows).toBeGreaterThan(800_000);
  });

  it("VIS-1 F11: what a list is made of is exactly what can be reached, for every caller, setting and action", () => {
    const wrong: string[] = [];
    for (const rules of EVERY_RULE) {
      const config = parsed(rules);
      for (const caller of callers) {
        const descendants = targets.filter(({ target }) => target.ancestors.includes(caller.key));
        const asking = { ...caller, descendants: descendants.map(({ target }) => target.key) };
        for (const action of ACTIONS) {
          const scope = visibleScope(asking, action, config, AGENT_IDS);
          for (const { member, target } of targets) {
            const listed = scope.agentIds.includes(target.agentId) || scope.keys.includes(target.key);
            const expected = reaches(rules, caller, member, RIGHTS[action]);
            if (listed !== expected) wrong.push(`${listed}: ${say(rules, caller, member, action)}`);
          }
        }
      }
    }
    expect(wrong.slice(0, 20)).toEqual([]);
  });

  it("SAND-1 VIS-2: who is sandboxed follows from the mode, the spawn and the record alone", () => {
    const config = parseConfig({ agents: { list: configFor(anyRules).agents.list } }, AGENT_IDS);
    const found = CAST.map(({ key: written, spawners, sandboxed, name }) => {
      const isSpawned = spawners.length > 0;
      const record = aSession(written, isSpawned ? { spawnedBy: key(spawners[0] ?? ""), sandboxed } : {});
      return [name, isSandboxed(record, config, names)];
    });
    expect(found).toEqual(CAST.map(({ name, sandboxed }) => [name, sandboxed]));
  });
});

const anyRules: Rules = { level: "tree", clamp: true, enabled: false, allow: [] };

describe("refusals", () => {
  const refusals = EVERY_RULE.flatMap((rules) => {
    const config = parsed(rules);
    return callers.flatMap((caller) =>
      targets.flatMap(({ member, target }) =>
        (["history", "send"] as const).flatMap((action) => {
          const decision = mayAccess(caller, target, action, config);
          const isClamped = caller.sandboxed && rules.clamp;
          return decision.allowed
            ? []
            : [{ rules, caller, member, action, isClamped, reason: decision.reason }];
        }),
      ),
    );
  });
  const clamped = refusals.filter(({ isClamped }) => isClamped);
  const explained = refusals.filter(({ isClamped }) => !isClamped);

  it("VIS-2 H03: a clamped caller reads one and the same sentence, whatever is hidden from it", () => {
    expect(clamped.length).toBeGreaterThan(10_000);
    expect(new Set(clamped.map(({ reason }) => reason))).toEqual(new Set([SANDBOX_REFUSAL]));
  });

  it("VIS-1 VIS-3 B10: each way that a refusal names grants the access, and nothing that it names can be left out", () => {
    const wrong: string[] = [];
    const seen = new Set<string>();
    for (const { rules, caller, member, action, reason } of explained) {
      // Under the same rules the same sentence has the same remedies.
      const known = `${JSON.stringify(rules)} ${reason}`;
      if (seen.has(known) || isLost(caller, member)) continue;
      seen.add(known);
      const isEnough = (changes: readonly Change[]) =>
        reaches(
          changes.reduce((now, change) => change(now), rules),
          caller,
          member,
          RIGHTS[action],
        );
      const ways = waysIn(reason);
      if (ways.length === 0) wrong.push(`names nothing: ${reason}`);
      for (const way of ways) {
        if (!isEnough(way)) wrong.push(`not enough: ${reason} ${say(rules, caller, member, action)}`);
        if (way.some((left) => isEnough(way.filter((change) => change !== left))))
          wrong.push(`too much: ${reason} ${say(rules, caller, member, action)}`);
      }
    }
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(seen.size).toBeGreaterThan(1000);
  });

  it("VIS-1: of a session whose agent is gone it is said that no setting would help", () => {
    const lost = explained.filter(({ caller, member }) => isLost(caller, member));
    const wrong = lost.filter(({ caller, action, reason }) => {
      const verb = action === "send" ? "send to" : "read";
      const expected = `Agent "${caller.agentId}" may not ${verb} this session of agent "gone". Agent "gone" is not configured any more.`;
      return reason !== expected;
    });
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(lost.length).toBeGreaterThan(1000);
  });

  it("VIS-1: no refusal names a session, nor how there could be one", () => {
    const texts = new Set(refusals.map(({ reason }) => reason));
    for (const { key: text, label = text } of CAST) {
      const rest = text.split(":").slice(2).join(":");
      for (const reason of texts) {
        if (rest !== "main" && (reason.includes(rest) || reason.includes(`"${label}"`)))
          expect(reason).toBe(`nothing of ${text}`);
      }
    }
    expect([...texts].filter((reason) => /agent:/.test(reason))).toEqual([]);
  });

  function isLost(caller: Member, { agentId, spawners }: Member): boolean {
    return agentId === "gone" && !spawners.includes(caller.key);
  }
});

type Change = (rules: Rules) => Rules;

/** The settings that a refusal names, read from its words: in each way all of them together. */
function waysIn(reason: string): readonly (readonly Change[])[] {
  const said = /The owner can set (.*)\.$/.exec(reason)?.[1];
  return said === undefined
    ? []
    : said.split("; or ").map((way) => way.split(" and ").flatMap(unquoted).map(changeFor));
}

/** `patterns for "a" and "b" in …` is one setting. */
function unquoted(words: string, at: number, all: readonly string[]): readonly string[] {
  if (/^patterns for "[^"]*"$/.test(words)) return [`${words} and ${all[at + 1]}`];
  return /^patterns for/.test(all[at - 1] ?? "") ? [] : [words];
}

function changeFor(words: string): Change {
  const level = LEVELS.find((one) => words === `tools.sessions.visibility: "${one}"`);
  if (level !== undefined) return (rules) => ({ ...rules, level });
  if (words === "tools.agentToAgent.enabled: true") return (rules) => ({ ...rules, enabled: true });
  const added = entriesIn(words);
  if (added.length === 0) throw new Error(`No setting: ${words}`);
  return (rules) => ({ ...rules, allow: [...rules.allow, ...added] });
}

function entriesIn(words: string): readonly (string | Grant)[] {
  const [, from, to, right] =
    /^a grant \{ from: "(.*)", to: "(.*)", (read|send): true \}.* in tools\.agentToAgent\.allow$/.exec(
      words,
    ) ?? [];
  if (from !== undefined && to !== undefined) {
    return [{ from, to, read: right === "read", send: right === "send" }];
  }
  const [, one, other] = /^patterns for "(.*)" and "(.*)" in tools\.agentToAgent\.allow$/.exec(words) ?? [];
  return one === undefined || other === undefined ? [] : [one, other];
}

describe("patterns", () => {
  it("VIS-3: * is any text, case and blanks around do not matter, a blank pattern fits nothing, and nothing else is special", () => {
    const textOf = (...letters: readonly string[]) =>
      fc.array(fc.constantFrom(...letters), { maxLength: 6 }).map((some) => some.join(""));
    // Few letters fit often, many hold what could be special.
    const text = fc.oneof(
      textOf("a", "*", "b"),
      textOf("a", "A", "*", ".", "+", "-", "(", "[", "\\", "$", " "),
    );
    fc.assert(
      fc.property(text, text, (pattern, word) => {
        expect(matchesPattern(pattern, word)).toBe(fits(pattern, word));
      }),
      { numRuns: 5000 },
    );
  });

  it("VIS-3: every pattern of the table fits an agent as the contract says", () => {
    const written = AGREEMENTS.flatMap(({ allow }) =>
      allow.flatMap((entry) => (typeof entry === "string" ? [entry] : [entry.from, entry.to])),
    );
    for (const pattern of written) {
      for (const id of [...AGENT_IDS, "gone"]) expect(matchesPattern(pattern, id)).toBe(fits(pattern, id));
    }
  });
});

describe("any rules and any forest", () => {
  const pattern = fc.constantFrom("*", "main", "ops", "o*", "*i*", "MAIN", " ", "cipher", "**", "b*x");
  const grant = fc.record({ from: pattern, to: pattern, read: fc.boolean(), send: fc.boolean() });
  const rules: fc.Arbitrary<Rules> = fc.record({
    level: fc.constantFrom(...LEVELS),
    clamp: fc.boolean(),
    enabled: fc.boolean(),
    allow: fc.array(fc.oneof(pattern, grant), { maxLength: 4 }),
  });
  const forest = fc
    .array(
      fc.record({
        agentId: fc.constantFrom(...AGENT_IDS, "gone"),
        by: fc.option(fc.nat()),
        sandboxed: fc.boolean(),
      }),
      { minLength: 2, maxLength: 14 },
    )
    .map((nodes) => {
      const made: Member[] = [];
      for (const [n, { agentId, by, sandboxed }] of nodes.entries()) {
        const spawner = by === null || n === 0 ? undefined : made[by % n];
        made.push({
          name: `${n}`,
          key: `agent:${agentId}:subagent:${n}`,
          agentId,
          spawners: spawner === undefined ? [] : [spawner.key, ...spawner.spawners],
          sandboxed: sandboxed || spawner?.sandboxed === true,
          archived: false,
        });
      }
      return made;
    });

  it("VIS-1 VIS-2 VIS-3 F11: code and contract agree, and what can be read is what is listed", () => {
    fc.assert(
      fc.property(rules, forest, (settings, sessions) => {
        const config = parsed(settings);
        const wrong: string[] = [];
        for (const caller of sessions) {
          const asking = { ...caller, key: key(caller.key) };
          const descendants = sessions
            .filter(({ spawners }) => spawners.includes(caller.key))
            .map((one) => key(one.key));
          for (const action of ACTIONS) {
            const scope = visibleScope({ ...asking, descendants }, action, config, AGENT_IDS);
            for (const member of sessions) {
              const { agentId } = member;
              const retired = agentId === "gone" ? { retired: true as const } : {};
              const target = {
                key: key(member.key),
                agentId,
                ancestors: member.spawners.map(key),
                ...retired,
              };
              const expected = reaches(settings, caller, member, RIGHTS[action]);
              const { allowed } = mayAccess(asking, target, action, config);
              const listed = scope.agentIds.includes(agentId) || scope.keys.includes(target.key);
              if (allowed !== expected || listed !== expected)
                wrong.push(`${allowed}, listed ${listed}: ${say(settings, caller, member, action)}`);
            }
          }
        }
        expect(wrong).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });
});
