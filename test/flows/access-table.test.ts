import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SANDBOX_REFUSAL } from "../../src/core/policy/visibility.ts";
import type { Session } from "../../src/core/ports/session.ts";
import type { Write } from "../../src/core/ports/storage.ts";
import { aChild } from "../core/children/a-child.ts";
import {
  AGENT_IDS,
  CAST,
  configFor,
  EVERY_RULE,
  type Level,
  type Member,
  memberNamed,
  type Right,
  type Rules,
  reaches,
} from "../core/policy/access-oracle.ts";
import { key } from "../core/session/a-session.ts";
import { aDesk, type Desk, type Seat } from "../fakes/a-desk.ts";
import type { Answer } from "../fakes/asking.ts";
import { said, sessionIdOf, storedSession, turnWrites } from "../fakes/store-files.ts";

const OLD = 5000;

/** The cast as it is stored: what each says has its key in it, and each had another session id before. */
const stored: readonly Session[] = CAST.map((member, n) => asStored(member, n + 1));

function asStored({ key: written, spawners, sandboxed, archived, label }: Member, n: number): Session {
  const [spawner] = spawners;
  return storedSession(n, written, {
    ...(spawner === undefined ? {} : { spawnedBy: key(spawner), spawnDepth: spawners.length, sandboxed }),
    ...(archived ? { archivedAtMs: 5 } : {}),
    ...(label === undefined ? {} : { label }),
  });
}

const sessionOf = (member: Member): Session => {
  const found = stored.find((session) => session.key === member.key);
  if (found === undefined) throw new Error(`${member.name} is not stored.`);
  return found;
};

const words = stored.flatMap((session, n) => [
  ...turnWrites({ ...session, sessionId: sessionIdOf(OLD + n + 1) }, [
    [said("user", `old words of ${session.key}.`)],
  ]),
  ...turnWrites(session, [[said("user", `words of ${session.key}.`)]]),
]);

const theDesk = () => aDesk(stored, words, { agentIds: AGENT_IDS });

/** Every tool for everybody, so that nothing but access decides. */
function seatAt(desk: Desk, rules: Rules): Seat {
  const { tools, agents } = configFor(rules);
  const forChildren = { subagents: { tools: { alsoAllow: ["group:sessions"] } } };
  return desk.seat({ tools: { ...tools, profile: "full", ...forChildren }, agents });
}

/** One way to name a session, and whom it means to this caller. */
interface Naming {
  readonly how: string;
  readonly input: { readonly sessionKey?: string; readonly label?: string; readonly agentId?: string };
  readonly means: readonly Member[];
}

/** The main session of "cipher" has not been made yet. */
const cipherHome: Member = {
  name: "cipher's main to be",
  key: "agent:cipher:main",
  agentId: "cipher",
  spawners: [],
  sandboxed: false,
  archived: false,
};

const byKey = (written: string) => CAST.filter((member) => member.key === written);

/** Every way in which `caller` can write down `target`; by some it means another session, or none. */
function namingsOf(target: Member, caller: Member): readonly Naming[] {
  const n = CAST.indexOf(target) + 1;
  const [, agentId, ...rest] = target.key.split(":");
  const bare = rest.join(":");
  const { label } = target;
  const thread = /:channel:\d+:thread:(\d+)$/.exec(target.key)?.[1];
  const alias = `agent:${agentId}:discord:channel:${thread}`;
  const labelled = CAST.filter((member) => member.label === label);
  return [
    { how: "key", input: { sessionKey: target.key }, means: [target] },
    { how: "bare key", input: { sessionKey: bare }, means: byKey(`agent:${caller.agentId}:${bare}`) },
    { how: "session id", input: { sessionKey: sessionIdOf(n) }, means: [target] },
    { how: "old session id", input: { sessionKey: sessionIdOf(OLD + n).toUpperCase() }, means: [target] },
    {
      how: "agent",
      input: { agentId: target.agentId },
      means: byKey(`agent:${agentId}:main`).filter(isServed),
    },
    ...(thread === undefined ? [] : [{ how: "thread id", input: { sessionKey: alias }, means: [target] }]),
    ...(label === undefined
      ? []
      : [
          { how: "label", input: { label }, means: labelled },
          { how: "label of an agent", input: { label, agentId: target.agentId }, means: [target] },
        ]),
  ];
}

/** Ways that do not depend on the target, and names that nothing has. */
function otherNamings(caller: Member): readonly Naming[] {
  const nobody = (how: string, input: Naming["input"]) => ({ how: `${how} of nobody`, input, means: [] });
  return [
    { how: "main", input: { sessionKey: "main" }, means: byKey(`agent:${caller.agentId}:main`) },
    { how: "current", input: { sessionKey: "current" }, means: [caller] },
    { how: "agent without a session", input: { agentId: "cipher" }, means: [cipherHome] },
    nobody("key", { sessionKey: `agent:${caller.agentId}:telegram:group:-777` }),
    nobody("key", { sessionKey: "agent:ops:cron:nothing" }),
    nobody("key", { sessionKey: "agent:nobody:main" }),
    nobody("bare key", { sessionKey: "hook:nothing" }),
    nobody("session id", { sessionKey: sessionIdOf(9999) }),
    nobody("thread id", { sessionKey: "agent:main:discord:channel:999" }),
    nobody("label", { label: "nothing is called so" }),
    nobody("label of an agent", { label: "family", agentId: "ops" }),
    nobody("agent", { agentId: "nobody" }),
  ];
}

function isServed({ agentId }: Member): boolean {
  return AGENT_IDS.some((id) => id === agentId);
}

/** A tool as it is used on another session. */
interface Use {
  readonly tool: string;
  readonly rights: readonly Right[];
  /** undefined: this tool does not take such a name. */
  input(naming: Naming): object | undefined;
}

const uses: readonly Use[] = [
  {
    tool: "sessions_history",
    rights: ["read"],
    input: ({ input }) => ("sessionKey" in input ? input : undefined),
  },
  {
    tool: "sessions_send",
    rights: ["send"],
    input: ({ input }) => ({ ...input, message: "hello", timeoutSeconds: 0 }),
  },
  { tool: "session_status", rights: ["read"], input: statusInput },
  {
    tool: "session_status",
    rights: ["read", "send"],
    input: (naming) => {
      const input = statusInput(naming);
      return input && { ...input, model: "default" };
    },
  },
];

/** Keys, ids and labels share a field here. */
function statusInput({ input: { sessionKey, label, agentId } }: Naming): object | undefined {
  return agentId === undefined ? { sessionKey: sessionKey ?? label } : undefined;
}

interface Row {
  readonly rules: Rules;
  readonly caller: Member;
  readonly naming: Naming;
  readonly use: Use;
}

const isClamped = ({ rules, caller }: Row) => rules.clamp && caller.sandboxed;

/** What the contract says of a row: the sessions that the name may lead to, or why it leads to none. */
function expectedOf(row: Row): { readonly open: readonly Member[]; readonly code?: string } {
  const { rules, caller, naming, use } = row;
  const [right = "read"] = use.rights;
  const open = naming.means.filter((member) => reaches(rules, caller, member, right));
  if (open.length > 1) return { open, code: "SESSION_AMBIGUOUS" };
  const [only] = open;
  if (only === undefined) {
    if (naming.means.length > 0 || isClamped(row)) return { open, code: "NOT_VISIBLE" };
    return { open, code: naming.how.startsWith("agent") ? "AGENT_UNKNOWN" : "SESSION_NOT_FOUND" };
  }
  if (use.tool === "sessions_send") {
    if (only === caller) return { open, code: "SELF_TARGET" };
    if (/:thread:/.test(only.key)) return { open, code: "THREAD_TARGET" };
  }
  const mayDo = only === caller || use.rights.every((one) => reaches(rules, caller, only, one));
  return mayDo ? { open } : { open, code: "NOT_VISIBLE" };
}

/** undefined: as expected. */
async function disagreement(row: Row, seat: Seat): Promise<string | undefined> {
  const { caller, naming, use, rules } = row;
  const expected = expectedOf(row);
  const answer = await seat.use(sessionOf(caller), use.tool, use.input(naming));
  const problem = (what: string) =>
    `${what}: ${caller.name}, ${use.tool} ${JSON.stringify(use.input(naming))}, ${JSON.stringify(rules)} → ${JSON.stringify(answer).slice(0, 300)}`;
  if (answer.code !== expected.code) return problem(`${expected.code} expected`);
  if (expected.code === "NOT_VISIBLE" && answer.status !== "forbidden") return problem("forbidden expected");
  if (isClamped(row) && expected.code === "NOT_VISIBLE" && !isRefusal(answer))
    return problem("one refusal expected");
  const [only] = expected.open;
  const told = keysIn(answer).filter((told) => !expected.open.some((member) => member.key === told));
  if (expected.code !== undefined)
    return told.length > 0 && !isSpelled(told, row) ? problem(`tells of ${told}`) : undefined;
  return only !== undefined && isAbout(only, answer, row) ? undefined : problem(`not ${only?.name}`);
}

function isRefusal(answer: Answer): boolean {
  return (
    JSON.stringify(answer) ===
    JSON.stringify({ status: "forbidden", code: "NOT_VISIBLE", error: SANDBOX_REFUSAL })
  );
}

/** Keys of the cast, of spawned sessions and rooms above all, that stand in an answer. */
function keysIn(answer: Answer): readonly string[] {
  const text = JSON.stringify(answer);
  return CAST.map((member) => member.key).filter((written) => text.includes(written));
}

/** The hint at the room around a thread names a prefix of what the caller wrote. */
function isSpelled(told: readonly string[], { naming, use }: Row): boolean {
  return (
    use.tool === "sessions_send" &&
    naming.means.some(({ key: meant }) => told.every((one) => meant.startsWith(one)))
  );
}

function isAbout(only: Member, answer: Answer, { naming, use, caller }: Row): boolean {
  const shown = only.key === `agent:${caller.agentId}:main` ? "main" : only.key;
  if (answer.sessionKey !== shown) return false;
  if (use.tool === "sessions_send") return answer.status === "accepted";
  if (use.tool === "session_status") return answer.ok === true && answer.changedModel === false;
  const said = naming.how === "old session id" ? `"old words of ${only.key}."` : `"words of ${only.key}."`;
  return JSON.stringify(answer.messages).includes(said);
}

/** Numbers that look drawn and are the same each time. */
function drawing(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describe("the access table, through the tools", () => {
  it("VIS-1 VIS-2 VIS-3 H03 B06 B07 B08 B10: whatever the rules, each tool reaches by each name what the contract says, and nothing else", async () => {
    const desk = await theDesk();
    const draw = drawing(1);
    const wrong: string[] = [];
    const outcomes = new Map<string, number>();
    for (const rules of EVERY_RULE) {
      const seat = seatAt(desk, rules);
      for (let n = 0; n < 40; n++) {
        const row = drawnRow(rules, draw);
        if (row === undefined) continue;
        const outcome = `${row.use.tool} ${row.use.rights} ${row.naming.how} ${expectedOf(row).code ?? "ok"}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        const problem = await disagreement(row, seat);
        if (problem !== undefined) wrong.push(problem);
      }
    }
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(outcomes.size).toBeGreaterThan(90);
    expect([...outcomes.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(5000);
  }, 60_000);

  it("VIS-1 VIS-2: under the usual settings everybody reads by key what the contract says, of everybody", async () => {
    const desk = await theDesk();
    const wrong: string[] = [];
    const [history] = uses;
    for (const rules of USUAL) {
      const seat = seatAt(desk, rules);
      for (const caller of CAST) {
        for (const target of CAST) {
          const [naming] = namingsOf(target, caller);
          if (naming === undefined || history === undefined) continue;
          const problem = await disagreement({ rules, caller, naming, use: history }, seat);
          if (problem !== undefined) wrong.push(problem);
        }
      }
    }
    expect(wrong.slice(0, 10)).toEqual([]);
  }, 60_000);

  it("VIS-2 H03: to a clamped caller hidden and missing are one answer, byte for byte, by every tool and name", async () => {
    const desk = await theDesk();
    const answers = new Set<string>();
    let rows = 0;
    for (const rules of USUAL.filter(({ clamp }) => clamp)) {
      const seat = seatAt(desk, rules);
      for (const caller of [
        memberNamed("confined child"),
        memberNamed("box' main"),
        memberNamed("cell's group"),
      ]) {
        const namings = [...CAST.flatMap((target) => namingsOf(target, caller)), ...otherNamings(caller)];
        for (const use of uses) {
          for (const naming of namings) {
            const row = { rules, caller, naming, use };
            const input = use.input(naming);
            if (input === undefined || expectedOf(row).code !== "NOT_VISIBLE") continue;
            rows += 1;
            answers.add(JSON.stringify(await seat.use(sessionOf(caller), use.tool, input)));
          }
        }
      }
    }
    expect([...answers]).toEqual([
      JSON.stringify({ status: "forbidden", code: "NOT_VISIBLE", error: SANDBOX_REFUSAL }),
    ]);
    expect(rows).toBeGreaterThan(5000);
  }, 60_000);

  it("SUB-1 VIS-2: nobody cancels what it did not spawn, and what is hidden looks like what is missing", async () => {
    const desk = await theDesk();
    const seat = seatAt(desk, { level: "all", clamp: false, enabled: true, allow: [] });
    const answers = new Set<string>();
    for (const caller of CAST) {
      for (const { key: target, label = target, spawners } of CAST) {
        if (spawners.includes(caller.key)) continue;
        for (const written of [target, label, "agent:main:subagent:nothing"]) {
          answers.add(
            JSON.stringify(
              await seat.use(sessionOf(caller), "subagents", { action: "cancel", target: written }),
            ),
          );
        }
      }
    }
    expect([...answers]).toEqual([expect.stringContaining("CHILD_NOT_FOUND")]);
  }, 60_000);

  it("VIS-1 API-1: the host itself reads everything by every name, and is told that nothing is held back", async () => {
    const desk = await theDesk();
    const { gateway } = seatAt(desk, { level: "self", clamp: true, enabled: false, allow: [] });
    const host = memberNamed("main's main");
    for (const target of CAST) {
      for (const { how, input, means } of namingsOf(target, host)) {
        const [only] = means;
        if (!("sessionKey" in input) || only === undefined) continue;
        const { messages } = await gateway.call("chat.history", input);
        expect(JSON.stringify(messages), `${target.name} by ${how}`).toContain(`words of ${only.key}.`);
      }
    }
    const pages = await Promise.all(
      [false, true].map((archived) => gateway.call("sessions.list", { archived, limit: 200 })),
    );
    expect(pages.map(({ count }) => Number(count)).reduce((sum, count) => sum + count)).toBe(CAST.length);
    for (const page of pages) expect(page).not.toHaveProperty("visibility");
  });

  it("STORE-5 F07: asking, with and without success, writes nothing", async () => {
    const desk = await theDesk();
    const before = desk.dump();
    const draw = drawing(2);
    for (const rules of USUAL) {
      const seat = seatAt(desk, rules);
      for (let n = 0; n < 100; n++) {
        const row = drawnRow(rules, draw);
        if (row === undefined || row.use.tool === "sessions_send") continue;
        await seat.use(sessionOf(row.caller), row.use.tool, row.use.input(row.naming));
        await seat.use(sessionOf(row.caller), "sessions_list", {
          messageLimit: 2,
          includeDerivedTitles: true,
        });
      }
    }
    expect(desk.dump() === before).toBe(true);
  }, 60_000);
});

/** What owners set most, and the widest and the narrowest. */
const USUAL: readonly Rules[] = [
  { level: "tree", clamp: true, enabled: false, allow: [] },
  { level: "self", clamp: true, enabled: false, allow: [] },
  { level: "agent", clamp: true, enabled: false, allow: [] },
  { level: "all", clamp: true, enabled: true, allow: [] },
  { level: "all", clamp: false, enabled: true, allow: ["*"] },
  {
    level: "tree",
    clamp: true,
    enabled: true,
    allow: [{ from: "main", to: "ops", read: false, send: true }],
  },
];

function drawnRow(rules: Rules, draw: (below: number) => number): Row | undefined {
  const one = <T>(some: readonly T[]) => some[draw(some.length)];
  const [caller, target] = [one(CAST), one(CAST)];
  if (caller === undefined || target === undefined) return undefined;
  const naming = one(draw(4) === 0 ? otherNamings(caller) : namingsOf(target, caller));
  const use = one(uses);
  return naming && use?.input(naming) && { rules, caller, naming, use };
}

describe("lists", () => {
  /** The keys of all rows, page by page, archived or not. */
  async function listed(seat: Seat, caller: Member, limit: number): Promise<readonly string[]> {
    const keys: string[] = [];
    for (const archived of [false, true]) {
      for (let offset: unknown = 0; offset !== undefined; ) {
        const page = await seat.use(sessionOf(caller), "sessions_list", { archived, limit, offset });
        // Rows of a list.
        const rows = page.sessions as readonly { readonly key: string }[];
        expect(page.count).toBe(rows.length);
        expect(page.nextOffset !== undefined).toBe(page.hasMore);
        keys.push(...rows.map((row) => (row.key === "main" ? `agent:${caller.agentId}:main` : row.key)));
        offset = page.nextOffset;
      }
    }
    return keys.sort();
  }

  it("VIS-1 VIS-2 LIST-4 F03 F11: everybody is listed exactly what it may read, whatever the rules and the size of a page", async () => {
    const desk = await theDesk();
    const wrong: string[] = [];
    for (const [at, rules] of EVERY_RULE.entries()) {
      const seat = seatAt(desk, rules);
      for (const [n, caller] of CAST.entries()) {
        if ((n + at) % 5 !== 0) continue;
        const expected = CAST.filter((target) => reaches(rules, caller, target, "read")).map(
          (member) => member.key,
        );
        const found = await listed(seat, caller, 1 + ((n + at) % 9) * 7);
        if (found.join() !== expected.sort().join())
          wrong.push(`${caller.name} ${JSON.stringify(rules)}: ${found}`);
      }
    }
    expect(wrong.slice(0, 5)).toEqual([]);
  }, 60_000);

  interface Node {
    readonly agentId: string;
    readonly family: string;
    readonly by: number | undefined;
    readonly archived: boolean;
    readonly labelled: boolean;
    readonly sandboxed: boolean;
  }

  /** Sessions in any tree, with names that say whose they are. */
  const forest = fc.array(
    fc.record({
      agentId: fc.constantFrom("main", "main", "ops", "box", "gone"),
      family: fc.constantFrom("subagent", "cron", "discord:channel", "telegram:group"),
      by: fc.option(fc.nat(), { nil: undefined }),
      archived: fc.boolean(),
      labelled: fc.boolean(),
      sandboxed: fc.boolean(),
    }),
    { minLength: 2, maxLength: 16 },
  );
  const word = fc.constantFrom("main", "ops", "subagent", "name", "5e55", "1", "channel", "group", "nothing");
  const filters = {
    limit: fc.integer({ min: 1, max: 5 }),
    offset: fc.nat({ max: 4 }),
    search: word,
    label: fc.nat({ max: 16 }).map((n) => `name ${n}`),
    agentId: fc.constantFrom(...AGENT_IDS, "gone"),
    kinds: fc.subarray(["main", "group", "cron", "other"], { minLength: 1 }),
    archived: fc.boolean(),
    activeMinutes: fc.integer({ min: 1, max: 10_000_000 }),
    messageLimit: fc.nat({ max: 2 }),
    includeDerivedTitles: fc.boolean(),
    includeLastMessage: fc.boolean(),
  };
  /** Few filters at once, so that most answers have rows. */
  const question = fc
    .record({ all: fc.record(filters), asked: fc.subarray(Object.keys(filters), { maxLength: 2 }) })
    .map(({ all, asked }) =>
      Object.fromEntries(Object.entries(all).filter(([name]) => asked.includes(name))),
    );
  const world = fc.record({
    nodes: forest,
    rules: fc.constantFrom(...EVERY_RULE),
    seat: fc.nat(),
    questions: fc.array(question, { minLength: 3, maxLength: 8 }),
  });

  it("LIST-3 LIST-4 VIS-1 VIS-2 F03: whatever is asked, an answer is what it would be if nothing hidden existed", async () => {
    await fc.assert(
      fc.asyncProperty(world, async ({ nodes, rules, seat: place, questions }) => {
        const members = grown(nodes);
        const caller = members[place % members.length] ?? cipherHome;
        const seen = members.filter((member) => reaches(rules, caller, member, "read"));
        const desks = await Promise.all([members, seen].map((some) => deskOf(members, some)));
        for (const input of questions) {
          const [all, only] = await Promise.all(
            desks.map((desk) => seatAt(desk, rules).use(asStored(caller, 0), "sessions_list", input)),
          );
          expect(withoutPaths(all)).toEqual(withoutPaths(only));
          const text = JSON.stringify(all);
          for (const hidden of members.filter((member) => !seen.includes(member))) {
            const isOwnSpawner = caller.spawners[0] === hidden.key;
            if (!isOwnSpawner) expect(text).not.toContain(`${hidden.key}"`);
            expect(text).not.toContain(`"name ${hidden.name}"`);
          }
        }
        for (const desk of desks) await desk.close();
      }),
      { numRuns: 40 },
    );
  }, 120_000);

  function grown(nodes: readonly Node[]): readonly Member[] {
    const made: Member[] = [];
    for (const [
      n,
      { agentId = "main", family, by, archived = false, labelled, sandboxed },
    ] of nodes.entries()) {
      const spawner = by === undefined || n === 0 ? undefined : made[by % n];
      made.push({
        name: `${n}`,
        key: `agent:${agentId}:${family}:9${String(n).padStart(3, "0")}`,
        agentId,
        spawners: spawner === undefined ? [] : [spawner.key, ...spawner.spawners],
        sandboxed:
          isConfined(agentId) || (spawner !== undefined && (sandboxed === true || spawner.sandboxed)),
        archived,
        ...(labelled ? { label: `name ${n}` } : {}),
      });
    }
    return made;
  }

  /** None of them is a main session. */
  function isConfined(agentId: string): boolean {
    return agentId === "box" || agentId === "cell";
  }

  /** `some` of the members as they are among all of them. */
  function deskOf(members: readonly Member[], some: readonly Member[]) {
    const sessions = some.map((member) => asStored(member, members.indexOf(member) + 1));
    const rows = sessions.flatMap((session) =>
      turnWrites(session, [[said("user", `words of ${session.key}.`)]]),
    );
    return aDesk(sessions, rows, { agentIds: AGENT_IDS });
  }

  /** Each desk has a folder of its own. */
  function withoutPaths(answer: Answer | undefined): Answer {
    // A list with rows.
    const rows = (answer?.sessions ?? []) as readonly Answer[];
    return { ...answer, sessions: rows.map(({ transcriptPath: _path, ...row }) => row) };
  }
});

describe("what one session tells of another", () => {
  const wide: Rules = { level: "agent", clamp: true, enabled: false, allow: [] };

  it("LIST-4: who spawned a session is told only to itself and to those who see that one", async () => {
    const desk = await theDesk();
    const seat = seatAt(desk, wide);
    const child = memberNamed("ops' child in main");
    const rowFor = async (caller: string) => {
      const { sessions } = await seat.use(sessionOf(memberNamed(caller)), "sessions_list", { limit: 200 });
      // Rows of a list.
      return (sessions as readonly Answer[]).find((row) => row.key === child.key);
    };
    expect(await rowFor("main's group")).not.toHaveProperty("spawnedBy");
    expect(await rowFor("ops' child in main")).toMatchObject({ spawnedBy: "agent:ops:main" });
    expect(await rowFor("ops' main")).toMatchObject({ spawnedBy: "main" });
    expect(await rowFor("ops' channel")).toBeUndefined();
  });

  it("LIST-4: a row names those children alone that the caller may see", async () => {
    const desk = await theDesk();
    const childrenFor = async (caller: string) => {
      const { sessions } = await seatAt(desk, wide).use(sessionOf(memberNamed(caller)), "sessions_list");
      // Rows of a list.
      return (sessions as readonly Answer[]).find((row) => row.key === "main")?.childSessions;
    };
    const names = [
      "child",
      "child in ops",
      "archived child",
      "confined child",
      "child in an agent that is gone",
    ];
    const [child, abroad, archived, confined, gone] = names.map((name) => memberNamed(name).key);
    expect(await childrenFor("main's main")).toEqual([gone, confined, archived, abroad, child]);
    expect(await childrenFor("main's group")).toEqual([confined, archived, child]);
  });

  it("VIS-1 LIST-4: a hidden session is not found by the label of a visible one, nor the other way round", async () => {
    const desk = await theDesk();
    const seat = seatAt(desk, wide);
    const [ours, theirs] = [memberNamed("main's direct"), memberNamed("ops' main")];
    expect(ours.label).toBe(theirs.label);
    const statusFor = (caller: string) =>
      seat.use(sessionOf(memberNamed(caller)), "session_status", { sessionKey: ours.label });
    expect(await statusFor("main's group")).toMatchObject({ ok: true, sessionKey: ours.key });
    expect(await statusFor("ops' channel")).toMatchObject({ ok: true, sessionKey: "main" });
    expect(await statusFor("cell's main")).toMatchObject({ status: "forbidden", code: "NOT_VISIBLE" });
  });

  it("VIS-1 LIST-4: the state of a session does not name the hidden one that spawned it", async () => {
    const child = aChild({ requester: key("agent:ops:main") });
    const task: Write = { type: "record", table: "child", key: child.id, change: () => child };
    const spawned = storedSession(99, child.key, { spawnedBy: child.requester, spawnDepth: 1 });
    const desk = await aDesk([...stored, spawned], [task], { agentIds: AGENT_IDS });
    const seat = seatAt(desk, wide);
    const statusFor = (caller: string) =>
      seat.use(sessionOf(memberNamed(caller)), "session_status", { sessionKey: child.key });
    const [hidden, shown] = [await statusFor("main's group"), await statusFor("ops' main")];
    expect(hidden).toMatchObject({ ok: true, task: { name: "count", requester: "another session" } });
    expect(JSON.stringify(hidden)).not.toContain("agent:ops");
    expect(shown).toMatchObject({ ok: true, task: { name: "count", requester: "main" } });
  });

  it("KEY-4 VIS-1: what is said under a reserved word is reached by no id either, as no list shows it", async () => {
    const everything = storedSession(98, "global");
    const rows = turnWrites(everything, [[said("user", "words of everybody")]]);
    const desk = await aDesk([...stored, everything], rows, { agentIds: AGENT_IDS });
    const seat = seatAt(desk, { level: "all", clamp: false, enabled: true, allow: [] });
    const read = (sessionKey: string) =>
      seat.use(sessionOf(memberNamed("main's main")), "sessions_history", { sessionKey });
    expect(await read(everything.sessionId)).toEqual(await read(sessionIdOf(9999)));
  });

  it("LIST-4 VIS-2: the note of a clamped caller promises nothing that no setting could give it", async () => {
    const desk = await theDesk();
    const noteAt = async (level: Level) => {
      const seat = seatAt(desk, { level, clamp: true, enabled: true, allow: [] });
      return (await seat.use(sessionOf(memberNamed("box' main")), "sessions_list")).visibility;
    };
    const tree = {
      mode: "tree",
      restricted: true,
      warning: "This session is sandboxed: only itself and the sessions it spawned are shown.",
    };
    expect([await noteAt("tree"), await noteAt("agent"), await noteAt("all")]).toEqual([tree, tree, tree]);
    const warning = "This session is sandboxed: only itself is shown.";
    expect(await noteAt("self")).toEqual({ mode: "self", restricted: true, warning });
  });
});
