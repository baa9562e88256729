import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Database, openDatabase } from "../../../../src/core/engine/sqlite/database.ts";
import { rowStatement } from "../../../../src/core/engine/sqlite/row-query.ts";
import {
  createSessionIndex,
  type SessionIndexOptions,
} from "../../../../src/core/engine/sqlite/session-index.ts";
import type { Session } from "../../../../src/core/ports/session.ts";
import type { RowQuery } from "../../../../src/core/ports/storage.ts";
import { aQuery, aSession, describeSession, keyFor } from "../../../contracts/storage-samples.ts";

function temporaryDatabase(): Database {
  const folder = mkdtempSync(join(tmpdir(), "session-index-"));
  const database = openDatabase(join(folder, "store.sqlite"));
  onTestFinished(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return database;
}

function openIndex(database = temporaryDatabase(), options: Partial<SessionIndexOptions> = {}) {
  return createSessionIndex({ database, describe: describeSession, ...options });
}

const agentIds = ["main", "research", "ops"];
const labels = ["cron 3", "Cron 3", "discord:channel 7"];
const words = ["café", "CAFÉ", "50%", "a_b", "needle"];

/** Few values, so that filters meet. */
const session: fc.Arbitrary<Session> = fc
  .record({
    n: fc.integer({ min: 1, max: 25 }),
    agentId: fc.constantFrom(...agentIds),
    rest: fc.constantFrom("main", "cron", "direct", "discord:channel"),
    updatedAtMs: fc.integer({ min: 1, max: 6 }),
    labelled: fc.boolean(),
    title: fc.option(fc.constantFrom(...words)),
    archivedAtMs: fc.option(fc.constant(5), { freq: 3 }),
  })
  .map(({ n, agentId, rest, updatedAtMs, labelled, title, archivedAtMs }) => {
    const { title: _, ...plain } = aSession(n, {
      key: keyFor(rest === "main" ? `agent:${agentId}:main` : `agent:${agentId}:${rest}:${n}`),
      agentId,
      updatedAtMs,
      chatType: rest === "direct" ? "direct" : "channel",
    });
    return {
      ...plain,
      ...(labelled ? { label: `${rest} ${n}` } : {}),
      ...(title === null ? {} : { title }),
      ...(archivedAtMs === null ? {} : { archivedAtMs }),
    };
  });

const query: fc.Arbitrary<RowQuery> = fc
  .record(
    {
      scope: fc.record({
        agentIds: fc.oneof(fc.constant("all" as const), fc.subarray(agentIds)),
        keys: fc.subarray(["agent:main:main", "agent:research:cron:3", "agent:ops:discord:channel:7"]),
      }),
      kinds: fc.subarray(["main", "group", "cron", "other"] as const),
      agentId: fc.constantFrom(...agentIds),
      label: fc.constantFrom(...labels),
      search: fc.constantFrom("Café", "50%", "a_b", "cron:1", "CRON 1", "lab#", "0000-4000"),
      activeSinceMs: fc.integer({ min: 1, max: 6 }),
      archived: fc.boolean(),
      offset: fc.integer({ min: 0, max: 8 }),
      limit: fc.integer({ min: 1, max: 8 }),
    },
    { requiredKeys: ["scope", "archived", "offset", "limit"] },
  )
  .map((drawn) => ({ ...drawn, scope: { ...drawn.scope, keys: drawn.scope.keys.map(keyFor) } }));

describe("the session index", () => {
  it("LIST-1: every query answers like filtering, sorting and cutting all sessions", async () => {
    const database = temporaryDatabase();
    const index = openIndex(database);
    await fc.assert(
      fc.asyncProperty(
        fc.array(session, { maxLength: 40 }),
        fc.array(query, { maxLength: 12 }),
        async (touched, queries) => {
          database.transaction(() => index.rebuild(touched, []));
          const sessions = [...new Map(touched.map((one) => [one.key, one])).values()];
          for (const asked of queries) {
            const expected = expectedPage(sessions, asked);
            const { rows, hasMore } = await index.list(asked);
            expect(rows.map((row) => row.session)).toEqual(expected.sessions);
            expect(hasMore).toBe(expected.hasMore);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("LIST-1: rows are parsed once and again only when they have changed", async () => {
    const index = openIndex();
    for (const n of [1, 2, 3]) index.touch(aSession(n));
    const first = (await index.list(aQuery())).rows;
    index.touch(aSession(2, { title: "changed", updatedAtMs: 1 }));
    const second = (await index.list(aQuery())).rows;
    expect(second.map((row) => row.session.title)).toEqual(["Room 3", "Room 1", "changed"]);
    expect(second[0]).toBe(first[0]);
    expect(second[1]).toBe(first[2]);
  });

  it("F06: a session that is deleted and made again is the new one, never the remembered one", async () => {
    const index = openIndex();
    index.touch(aSession(1, { title: "old" }));
    await index.list(aQuery());
    index.remove(aSession(1).key);
    expect((await index.list(aQuery())).rows).toEqual([]);
    index.touch(aSession(2, { title: "new" }));
    expect((await index.list(aQuery())).rows.map((row) => row.session.title)).toEqual(["new"]);
  });

  it("STORE-8: a label that another session of the agent has is refused, and left to that one when rows are made anew", async () => {
    const index = openIndex();
    const [first, second] = [aSession(1, { label: "ops" }), aSession(2, { label: "ops" })];
    index.touch(first);
    expect(() => index.touch(second)).toThrow(expect.objectContaining({ code: "LABEL_IN_USE" }));
    index.touch(aSession(3, { agentId: "research", label: "ops" }));
    expect((await index.list(aQuery())).rows.map((row) => row.session.key)).toEqual([
      aSession(3).key,
      first.key,
    ]);
    index.rebuild([first, second], []);
    expect(await index.byLabel("ops", "main", 5)).toEqual([first.key]);
    expect((await index.list(aQuery())).rows.map((row) => row.session)).toEqual([second, first]);
    index.touch({ ...second, title: "goes on" });
    expect(await index.byLabel("ops", "main", 5)).toEqual([first.key]);
    index.remove(first.key);
    index.touch({ ...second, title: "has it now" });
    expect(await index.byLabel("ops", "main", 5)).toEqual([second.key]);
  });

  it("STORE-8 F04: labels and titles that were stored with parted accents are found, and taken, in both forms", async () => {
    const index = openIndex();
    const [one, two] = ["caf\u00e9", "cafe\u0301"];
    const first = aSession(1, { label: two, title: `Bar ${two}` });
    index.rebuild([first], []);
    for (const name of [one, two]) {
      expect((await index.list(aQuery({ label: name }))).rows).toHaveLength(1);
      expect((await index.list(aQuery({ search: `BAR ${name}` }))).rows).toHaveLength(1);
      expect(() => index.touch(aSession(2, { label: name }))).toThrow(
        expect.objectContaining({ code: "LABEL_IN_USE" }),
      );
    }
    expect((await index.list(aQuery())).rows[0]?.session.title).toBe(`Bar ${two}`);
  });

  it("STORE-4: an index that was derived by other settings knows that it has to be made anew", () => {
    const database = temporaryDatabase();
    expect(openIndex(database).isComplete()).toBe(false);
    openIndex(database).rebuild([aSession(1)], []);
    expect(openIndex(database).isComplete()).toBe(true);
    expect(openIndex(database, { basis: "mainKey=home" }).isComplete()).toBe(false);
  });

  it.each<[string, Partial<RowQuery>]>([
    ["all", {}],
    ["of agents and some keys", { scope: { agentIds: ["main"], keys: [keyFor("agent:ops:main")] } }],
    ["by search", { search: "needle" }],
    ["by kind", { kinds: ["cron"] }],
  ])("F05: a list %s is answered from the index of newest rows, without a sort", (_, asked) => {
    expect(planOf(asked)).toEqual([expect.stringContaining("USING COVERING INDEX session_index_newest")]);
  });

  it.each<[string, Partial<RowQuery>, string]>([
    ["a label", { label: "ops" }, "USING INDEX session_index_label (label=?)"],
    [
      "a few keys",
      { scope: { agentIds: [], keys: [keyFor("agent:ops:main")] } },
      "USING INDEX session_index_key (key=?)",
    ],
  ])("F05: a list for %s goes straight to its rows", (_, asked, step) => {
    expect(planOf(asked)[0]).toContain(step);
  });
});

/** The steps in which SQLite walks rows, without the reading of parameters. */
function planOf(asked: Partial<RowQuery>): string[] {
  const database = temporaryDatabase();
  openIndex(database);
  const { sql } = rowStatement(aQuery(asked)) ?? {};
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all<{ detail: string }>();
  return steps.map(({ detail }) => detail).filter((detail) => !/SUBQUERY|json_each/.test(detail));
}

function expectedPage(
  sessions: readonly Session[],
  asked: RowQuery,
): { sessions: Session[]; hasMore: boolean } {
  const { scope, kinds, agentId, label, search, activeSinceMs = 0, archived, offset, limit } = asked;
  const found = sessions
    .filter((one) => (one.archivedAtMs !== undefined) === archived)
    .filter(
      (one) =>
        scope.agentIds === "all" || scope.agentIds.includes(one.agentId) || scope.keys.includes(one.key),
    )
    .filter((one) => kinds === undefined || kinds.some((kind) => kind === describeSession(one).kind))
    .filter((one) => agentId === undefined || one.agentId === agentId)
    .filter((one) => label === undefined || one.label === label)
    .filter((one) => search === undefined || textsOf(one).some((text) => text.includes(search.toLowerCase())))
    .filter((one) => one.updatedAtMs >= activeSinceMs)
    .sort((a, b) => b.updatedAtMs - a.updatedAtMs || (a.key < b.key ? -1 : 1));
  return { sessions: found.slice(offset, offset + limit), hasMore: found.length > offset + limit };
}

function textsOf(one: Session): string[] {
  const texts = [describeSession(one).displayName, one.label, one.title, one.sessionId, one.key];
  return texts.flatMap((text) => (text === undefined ? [] : text.toLowerCase()));
}
