import { Keyv } from "keyv";
import { describe, expect, it, vi } from "vitest";
import { fakeLogger } from "../../contracts/fake-logger.ts";
import { recordsContract } from "../../contracts/records.contract.ts";
import { storageContract } from "../../contracts/storage.contract.ts";
import {
  aQuery,
  aSession,
  entriesFrom,
  idFor,
  keyFor,
  sessionWrite,
  turnsOf,
  turnWrite,
} from "../../contracts/storage-samples.ts";
import { transcriptsContract } from "../../contracts/transcripts.contract.ts";
import {
  adapterHarness,
  BreakableMap,
  keyvStorage,
  memoryHarness,
  temporaryDatabase,
} from "./keyv-harness.ts";

// Real Redis: @keyv/redis is not a dependency. "Keyv on an adapter" stands for adapters with getMany and setMany.
for (const [name, harness] of Object.entries({
  "Keyv in memory": memoryHarness,
  "Keyv on an adapter": adapterHarness,
})) {
  recordsContract(name, harness);
  transcriptsContract(name, harness);
  storageContract(name, harness);
}

describe("what only a Keyv that the host hands in needs", () => {
  const listed = async (storage: Awaited<ReturnType<typeof keyvStorage>>) =>
    (await storage.index.list(aQuery())).rows.map(({ session }) => session.key);

  it("O07: instances with other prefixes on one store never see each other", async () => {
    const store = new Map();
    const one = await keyvStorage(new Keyv({ store }), temporaryDatabase(), { prefix: "one" });
    const two = await keyvStorage(new Keyv({ store, namespace: "host" }), temporaryDatabase(), {
      prefix: "two",
    });
    await one.apply([sessionWrite(aSession(1)), ...turnsOf([2])]);
    await two.apply([sessionWrite(aSession(2))]);
    expect(await two.records("session").get(aSession(1).key)).toBeUndefined();
    expect(await two.transcripts.info(idFor(1))).toBeUndefined();
    await two.transcripts.delete(idFor(1));
    expect((await one.transcripts.info(idFor(1)))?.lastSeq).toBe(2);
    expect(
      await listed(await keyvStorage(new Keyv({ store }), temporaryDatabase(), { prefix: "one" })),
    ).toEqual([aSession(1).key]);
    expect(
      await listed(
        await keyvStorage(new Keyv({ store, namespace: "host" }), temporaryDatabase(), { prefix: "two" }),
      ),
    ).toEqual([aSession(2).key]);
  });

  it("O07: the host's Keyv stays as it is, and its namespace, time to live and other keys are left alone", async () => {
    const keyv = new Keyv({ store: new Map(), namespace: "host", ttl: 1 });
    const startedAt = Date.now();
    await keyv.set("own", "value", 0);
    const storage = await keyvStorage(keyv, temporaryDatabase());
    await storage.apply([sessionWrite(aSession(1))]);
    await vi.waitUntil(() => Date.now() > startedAt + 1);
    expect(await storage.records("session").get(aSession(1).key)).toEqual(aSession(1));
    expect([keyv.throwOnErrors, keyv.namespace, keyv.store.namespace]).toEqual([false, "host", "host"]);
    expect(await keyv.get("own")).toBe("value");
  });

  it("O07: after a set that failed, later ones work", async () => {
    const store = new BreakableMap();
    const storage = await keyvStorage(new Keyv({ store }), temporaryDatabase());
    store.isBroken = true;
    await expect(storage.apply([sessionWrite(aSession(1))])).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
    });
    store.isBroken = false;
    await storage.apply([sessionWrite(aSession(1))]);
    expect(await listed(storage)).toEqual([aSession(1).key]);
  });

  it("STORE-4: an index that is missing is made from the records, once", async () => {
    const store = new Map();
    const first = await keyvStorage(new Keyv({ store }), temporaryDatabase());
    const long = aSession(3, { key: keyFor(aSession(3).key.padEnd(300, "9")) });
    await first.apply([sessionWrite(aSession(1)), sessionWrite(aSession(2)), sessionWrite(long)]);
    const database = temporaryDatabase();
    expect(await listed(await keyvStorage(new Keyv({ store }), database))).toEqual([
      long.key,
      aSession(2).key,
      aSession(1).key,
    ]);
  });

  it("G06: whose the transcripts are is derived from them again, for chats that moved too", async () => {
    const store = new Map();
    const first = await keyvStorage(new Keyv({ store }), temporaryDatabase());
    const [from, to] = [aSession(1).key, aSession(2).key];
    await first.apply(turnsOf([2]));
    await first.apply([{ type: "record", table: "moved", key: from, change: () => ({ to }) }]);
    const { index } = await keyvStorage(new Keyv({ store }), temporaryDatabase());
    expect(await index.sessionIds(to)).toEqual([idFor(1)]);
    expect(await index.sessionIds(from)).toEqual([]);
  });

  it("STORE-4: a crash between a record and its row is made up for at the next start", async () => {
    const store = new Map();
    const database = temporaryDatabase();
    const storage = await keyvStorage(new Keyv({ store }), database);
    await storage.apply([sessionWrite(aSession(1)), sessionWrite(aSession(2))]);
    // What a process leaves that dies after the record was written or deleted, before the row was.
    const before = database
      .prepare("SELECT json FROM session_index WHERE key = ?")
      .get<{ json: string }>(aSession(1).key);
    await storage.records("session").update(aSession(1).key, () => aSession(1, { title: "newer" }));
    await storage.records("session").update(aSession(2).key, () => undefined);
    database
      .prepare("UPDATE session_index SET json = ?, revision = 1 WHERE key = ?")
      .run(before?.json ?? "", aSession(1).key);
    for (const n of [1, 2])
      database.prepare("INSERT INTO session_index_expected VALUES (?)").run(aSession(n).key);

    const again = await keyvStorage(new Keyv({ store }), database);
    expect((await again.index.list(aQuery())).rows.map(({ session }) => session.title)).toEqual(["newer"]);
    expect(database.prepare("SELECT * FROM session_index_expected").all()).toEqual([]);
  });

  it("F06: rows of a store that was emptied or replaced do not stay", async () => {
    const database = temporaryDatabase();
    const storage = await keyvStorage(new Keyv({ store: new Map() }), database);
    await storage.apply([sessionWrite(aSession(1))]);
    expect(await listed(await keyvStorage(new Keyv({ store: new Map() }), database))).toEqual([]);
  });

  it("STORE-3: a turn that a crash left uncounted is written over by the next run", async () => {
    const store = new Map();
    const storage = await keyvStorage(new Keyv({ store }), temporaryDatabase());
    await storage.apply(turnsOf([1, 1]));
    const counted = [...store].filter(([key]) => key.includes("transcript/"));
    await storage.apply([turnWrite(3, entriesFrom(3, 4), { runId: "run-that-died" })]);
    for (const [key, value] of counted) store.set(key, value);
    await storage.apply([turnWrite(3, entriesFrom(3, 1))]);
    const page = await storage.transcripts.page(idFor(1), { limit: 10 });
    expect(page.entries.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  it("STORE-3: a turn that a crash left uncounted is deleted with its transcript", async () => {
    const store = new Map();
    const storage = await keyvStorage(new Keyv({ store }), temporaryDatabase());
    await storage.apply(turnsOf([1, 1]));
    const counted = [...store].filter(([key]) => key.includes("transcript/"));
    await storage.apply([turnWrite(3, entriesFrom(3, 1), { runId: "run-that-died" })]);
    for (const [key, value] of counted) store.set(key, value);
    await storage.transcripts.delete(idFor(1));
    expect([...store.keys()].filter((key) => key.includes(idFor(1)))).toEqual([]);
  });

  it("STORE-4: an adapter that hides errors and a prefix that could be mistaken are refused", async () => {
    const quiet = Object.assign(new Map(), { throwOnErrors: false });
    const invalid = { code: "CONFIG_INVALID" };
    await expect(keyvStorage(new Keyv({ store: quiet }), temporaryDatabase())).rejects.toMatchObject(invalid);
    await expect(keyvStorage(new Keyv(), temporaryDatabase(), { prefix: "a/b" })).rejects.toMatchObject(
      invalid,
    );
  });

  it("STORE-4: a damaged session record is a warning when the index is made", async () => {
    const store = new Map();
    await (await keyvStorage(new Keyv({ store }), temporaryDatabase())).apply(
      [1, 2].map((n) => sessionWrite(aSession(n))),
    );
    store.set(`keyv:bot-switchboard/session/${aSession(1).key}`, '{"value":"{\\"half"}');
    const logger = fakeLogger();
    expect(await listed(await keyvStorage(new Keyv({ store }), temporaryDatabase(), { logger }))).toEqual([
      aSession(2).key,
    ]);
    expect(logger.said).toHaveLength(1);
  });
});
