import { describe, expect, it } from "vitest";
import { given } from "../../src/core/given.ts";
import type { Session } from "../../src/core/ports/session.ts";
import type { RowQuery, SessionIndex } from "../../src/core/ports/storage.ts";
import { because } from "./records.contract.ts";
import type { StorageHarness } from "./storage-harness.ts";
import { aQuery, aSession, idFor, keyFor, sessionWrite, turnsOf } from "./storage-samples.ts";

/** Every storage must say these sentences: writes as data, and the index that follows the records. */
export function storageContract(name: string, harness: StorageHarness): void {
  const open = async (count = 0) => {
    const opened = await harness.open();
    const sessions = Array.from({ length: count }, (_, i) => aSession(i + 1));
    await opened.storage.apply(sessions.map(sessionWrite));
    return { ...opened, sessions, index: opened.storage.index };
  };

  describe(`storage: ${name}`, () => {
    it("STORE-4: apply writes turns, records and their rows, and applying again changes nothing", async () => {
      const { storage, index, contents } = await open();
      const session = aSession(1);
      const writes = [...turnsOf([2]), sessionWrite(session)];
      await storage.apply(writes);
      const before = contents();
      expect((await storage.transcripts.page(session.sessionId, { limit: 9 })).entries).toHaveLength(2);
      expect(await storage.records("session").get(session.key)).toEqual(session);
      expect(await keys(index)).toEqual([session.key]);
      await storage.apply(writes);
      expect(contents()).toBe(before);
    });

    const allOrNothing = harness.exempt["all or nothing"];
    it.skipIf(allOrNothing)(
      `STORE-4: writes are applied all or not at all${because(allOrNothing)}`,
      async () => {
        const { storage, index, contents } = await open();
        const before = contents();
        const fails = () => {
          throw new Error("the last one");
        };
        const writes = [...turnsOf([2]), sessionWrite(aSession(1))];
        const last = { type: "record", table: "person", key: "discord:1", change: fails } as const;
        await expect(storage.apply([...writes, last])).rejects.toThrow("the last one");
        expect(contents()).toBe(before);
        expect(await keys(index)).toEqual([]);
      },
    );

    it("LIST-1: newest first, then by key, page by page", async () => {
      const { storage, index } = await open();
      const at = (n: number, updatedAtMs: number) => sessionWrite(aSession(n, { updatedAtMs }));
      await storage.apply([at(3, 50), at(1, 50), at(2, 90), at(5, 10), at(4, 50)]);
      const expected = [2, 1, 3, 4, 5].map((n) => aSession(n).key);
      expect(await keys(index)).toEqual(expected);
      const pages = await Promise.all([0, 2, 4].map((offset) => index.list(aQuery({ offset, limit: 2 }))));
      expect(pages.flatMap(({ rows }) => rows.map(({ session }) => session.key))).toEqual(expected);
      expect(pages.map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
    });

    it("STORE-1: a row is the stored session with its kind and the size of its JSON", async () => {
      const { storage, index } = await open();
      const session = aSession(1, { title: "Café ☕", model: "m-1", usage: { totalTokens: 12 } });
      await storage.apply([sessionWrite(session)]);
      const [row] = (await index.list(aQuery())).rows;
      expect(row).toEqual({ session, kind: "group", bytes: Buffer.byteLength(JSON.stringify(session)) });
    });

    it("LIST-1: a change shows in the next list, a deletion removes the row and its look-ups", async () => {
      const { storage, index } = await open(2);
      const records = storage.records("session");
      const { key } = aSession(1);
      await keys(index);
      await records.update(key, (current) => current && { ...current, label: "ops", updatedAtMs: 9_999 });
      expect((await index.list(aQuery())).rows[0]?.session).toMatchObject({ key, label: "ops" });
      await records.update(key, () => undefined);
      expect(await keys(index)).toEqual([aSession(2).key]);
      expect(await index.byLabel("ops", undefined, 5)).toEqual([]);
      expect(await index.bySessionId(idFor(1))).toEqual([]);
    });

    it("F04: the 250th of 300 sessions is found by label, search, session id and key, however small the page", async () => {
      const { storage, index, sessions } = await open(300);
      const wanted = aSession(250, { label: "needle", updatedAtMs: 1 });
      expect(sessions).toHaveLength(300);
      await storage.apply([sessionWrite(wanted)]);
      const only = async (query: Partial<RowQuery>) => keys(index, { limit: 1, ...query });
      expect(await only({ label: "needle" })).toEqual([wanted.key]);
      expect(await only({ search: "NEEDLE" })).toEqual([wanted.key]);
      expect(await only({ search: wanted.sessionId })).toEqual([wanted.key]);
      expect(await only({ search: "room 250" })).toEqual([wanted.key]);
      expect(await only({ scope: { agentIds: [], keys: [wanted.key] } })).toEqual([wanted.key]);
      expect(await index.byLabel("needle", "main", 1)).toEqual([wanted.key]);
      expect(await index.bySessionId(wanted.sessionId)).toEqual([wanted.key]);
    });

    it("STORE-8: look-ups by label tell agents apart, are exact, and give the newest first", async () => {
      const { storage, index } = await open();
      const labelled = (n: number, agentId: string, label: string) =>
        sessionWrite(aSession(n, { key: keyFor(`agent:${agentId}:cron:${n}`), agentId, label }));
      await storage.apply([
        labelled(1, "main", "ops"),
        labelled(2, "research", "ops"),
        labelled(3, "main", "Ops"),
      ]);
      expect(await index.byLabel("ops", undefined, 5)).toEqual([
        "agent:research:cron:2",
        "agent:main:cron:1",
      ]);
      expect(await index.byLabel("ops", undefined, 1)).toEqual(["agent:research:cron:2"]);
      expect(await index.byLabel("ops", "main", 5)).toEqual(["agent:main:cron:1"]);
      expect(await index.byLabel("op", undefined, 5)).toEqual([]);
    });

    it("STORE-8: of two sessions of an agent that take one label at once, one is told that it is in use and stays as it was", async () => {
      const { storage, index, sessions } = await open(2);
      const takeLabel = (session: Session) =>
        storage.records("session").update(session.key, (current) => current && { ...current, label: "ops" });
      const results = await Promise.allSettled(sessions.map(takeLabel));
      expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
      expect(results[1]).toMatchObject({ reason: { code: "LABEL_IN_USE" } });
      expect(await storage.records("session").get(aSession(2).key)).toEqual(aSession(2));
      expect(await index.byLabel("ops", "main", 5)).toEqual([aSession(1).key]);
      await storage.records("session").update(aSession(1).key, () => aSession(1));
      await takeLabel(aSession(2));
      expect(await index.byLabel("ops", "main", 5)).toEqual([aSession(2).key]);
    });

    it("STORE-6: a new session id replaces the old one in look-ups", async () => {
      const { storage, index } = await open(1);
      const { key } = aSession(1);
      await storage.apply([sessionWrite(aSession(1, { sessionId: idFor(77) }))]);
      expect(await index.bySessionId(idFor(77))).toEqual([key]);
      expect(await index.bySessionId(idFor(1))).toEqual([]);
    });

    it("G06: the session ids of a session are known after resets and restarts, until their transcripts are deleted", async () => {
      const { storage, reopen } = await open(1);
      const { key } = aSession(1);
      await storage.apply([1, 2].flatMap((n) => turnsOf([2, 1], { sessionId: idFor(n), sessionKey: key })));
      await storage.apply(turnsOf([1], { sessionId: idFor(3), sessionKey: aSession(3).key }));
      expect(await storage.index.sessionIds(key)).toEqual([idFor(1), idFor(2)]);
      const again = harness.exempt.survives === undefined ? await reopen() : storage;
      await again.transcripts.delete(idFor(1));
      expect(await again.index.sessionIds(key)).toEqual([idFor(2)]);
      expect(await again.index.sessionIds(keyFor("agent:main:main"))).toEqual([]);
    });

    it("G06: a session that moves takes its session ids along", async () => {
      const { storage, index } = await open();
      const [from, to] = [aSession(1).key, aSession(2).key];
      await storage.apply(turnsOf([1], { sessionKey: from }));
      await storage.apply([{ type: "record", table: "moved", key: from, change: () => ({ to }) }]);
      await storage.apply(turnsOf([1], { sessionId: idFor(2), sessionKey: to }));
      expect(await index.sessionIds(to)).toEqual([idFor(1), idFor(2)]);
      expect(await index.sessionIds(from)).toEqual([]);
    });

    it("STORE-1: children are found by who spawned them, archived ones too", async () => {
      const { storage, index } = await open();
      const parent = keyFor("agent:main:main");
      const child = (n: number, more: object = {}) =>
        sessionWrite(aSession(n, { key: keyFor(`agent:main:subagent:${n}`), spawnedBy: parent, ...more }));
      await storage.apply([child(1), child(2, { archivedAtMs: 5 }), sessionWrite(aSession(3))]);
      expect(await index.children(parent)).toEqual(["agent:main:subagent:2", "agent:main:subagent:1"]);
      expect(await index.children(keyFor("agent:main:subagent:1"))).toEqual([]);
    });

    it("STORE-1: the newest children of many sessions are found at once", async () => {
      const { storage, index } = await open();
      const [first, second, none] = [1, 2, 3].map((n) => aSession(n).key);
      const child = (n: number, spawnedBy = first) =>
        sessionWrite(aSession(n, { key: keyFor(`agent:main:subagent:${n}`), ...given({ spawnedBy }) }));
      await storage.apply([child(11), child(12), child(13), child(21, second), child(31, aSession(9).key)]);
      const found = await index.childrenOf(
        [first, second, none].filter((key) => key !== undefined),
        2,
      );
      expect([...found]).toEqual([
        [first, ["agent:main:subagent:13", "agent:main:subagent:12"]],
        [second, ["agent:main:subagent:21"]],
      ]);
      expect(await index.childrenOf([], 2)).toEqual(new Map());
    });

    it("G06: a move that has yet to come moves no session ids", async () => {
      const { storage, index } = await open();
      const [from, to] = [aSession(1).key, aSession(2).key];
      await storage.apply(turnsOf([1], { sessionKey: from }));
      await storage.apply(turnsOf([1], { sessionId: idFor(2), sessionKey: to }));
      const change = () => ({ to: from, awaited: true }) as const;
      await storage.apply([{ type: "record", table: "moved", key: to, change }]);
      expect([await index.sessionIds(from), await index.sessionIds(to)]).toEqual([[idFor(1)], [idFor(2)]]);
    });

    it("LIST-1: the keys that stand for no session are never listed", async () => {
      const { storage, index } = await open();
      const reserved = ["unknown", "global"].map((key) => sessionWrite(aSession(1, { key: keyFor(key) })));
      await storage.apply([...reserved, sessionWrite(aSession(2))]);
      expect(await keys(index)).toEqual([aSession(2).key]);
      expect(await index.bySessionId(idFor(1))).toEqual([]);
    });

    it("F07: looking for what is not there, and reading what is, writes nothing", async () => {
      const { storage, index, contents } = await open(3);
      await storage.apply(turnsOf([2]));
      const before = contents();
      for (let i = 0; i < 100; i++) {
        await storage.records("session").get(`agent:main:discord:channel:missing-${i}`);
        await storage.transcripts.page(idFor(900 + i), { limit: 5 });
        await storage.transcripts.page(idFor(1), { limit: 5 });
        await index.list(aQuery({ search: `missing-${i}` }));
        await index.list(aQuery());
        await index.byLabel(`missing-${i}`, "main", 5);
      }
      expect(contents()).toBe(before);
    });

    it("F06: a session without a transcript is listed, and its page is empty", async () => {
      const { storage, index } = await open(1);
      await storage.apply(turnsOf([2]));
      await storage.transcripts.delete(idFor(1));
      expect(await keys(index)).toEqual([aSession(1).key]);
      expect((await storage.transcripts.page(idFor(1), { limit: 5 })).entries).toEqual([]);
    });
  });
}

async function keys(index: SessionIndex, query: Partial<RowQuery> = {}): Promise<readonly string[]> {
  return (await index.list(aQuery(query))).rows.map(({ session }) => session.key);
}
