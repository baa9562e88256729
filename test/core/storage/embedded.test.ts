import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../src/core/engine/sqlite/database.ts";
import { recordsContract } from "../../contracts/records.contract.ts";
import { storageContract } from "../../contracts/storage.contract.ts";
import {
  aQuery,
  aSession,
  describeSession,
  idFor,
  sessionWrite,
  turnsOf,
} from "../../contracts/storage-samples.ts";
import { transcriptsContract } from "../../contracts/transcripts.contract.ts";
import { damageValue, embedded, embeddedHarness, temporaryFolder } from "./embedded-harness.ts";

recordsContract("embedded SQLite", embeddedHarness);
transcriptsContract("embedded SQLite", embeddedHarness);
storageContract("embedded SQLite", embeddedHarness);

describe("what only the embedded storage does", () => {
  const open = () => {
    const database = openDatabase(join(temporaryFolder(), "store.sqlite"));
    onTestFinished(() => database.close());
    return { database, storage: embedded(database) };
  };

  it("STORE-4: writes carried in another's transaction are undone with it", async () => {
    const { database, storage } = open();
    const carried = () => {
      storage.applyNow([...turnsOf([2]), sessionWrite(aSession(1))]);
      throw new Error("the settlement failed");
    };
    expect(() => database.transaction(carried)).toThrow("the settlement failed");
    expect(await storage.transcripts.info(idFor(1))).toBeUndefined();
    expect((await storage.index.list(aQuery())).rows).toEqual([]);
  });

  it("F07: reading leaves the files byte for byte as they are", async () => {
    const { database, storage } = open();
    await storage.apply([...turnsOf([2, 3]), sessionWrite(aSession(1))]);
    const bytes = () =>
      ["", "-wal"].map((suffix) => statSync(database.file + suffix).size).join() + walOf(database.file);
    const before = bytes();
    for (let i = 0; i < 100; i++) {
      await storage.transcripts.page(idFor(i), { limit: 2 });
      await storage.records("session").get(`agent:main:discord:channel:${i}`);
      await storage.index.list(aQuery());
    }
    expect(bytes()).toBe(before);
  });

  it("STORE-4: the index is derived again when its rules or settings have changed", async () => {
    const { database, storage } = open();
    await storage.apply([1, 2, 3].map((n) => sessionWrite(aSession(n))));
    const changed = embedded(database, {
      basis: "other settings",
      describe: (session) => ({ ...describeSession(session), kind: "main" }),
    });
    const { rows } = await changed.index.list(aQuery({ kinds: ["main"] }));
    expect(rows.map((row) => row.session)).toEqual([3, 2, 1].map((n) => aSession(n)));
  });

  it("G06: whose the transcripts are is derived from them again, for chats that moved too", async () => {
    const { database, storage } = open();
    const [from, to] = [aSession(1).key, aSession(2).key];
    await storage.apply(turnsOf([2]));
    await storage.apply(turnsOf([1], { sessionId: idFor(7), sessionKey: aSession(7).key }));
    await storage.apply([{ type: "record", table: "moved", key: from, change: () => ({ to }) }]);
    database.exec("DELETE FROM session_ids");
    const { index } = embedded(database, { basis: "other settings" });
    expect(await index.sessionIds(to)).toEqual([idFor(1)]);
    expect(await index.sessionIds(aSession(7).key)).toEqual([idFor(7)]);
  });

  it("STORE-4: a damaged session record is not listed by a new index, reported when read, and stops nothing else", async () => {
    const { database, storage } = open();
    await storage.apply([1, 2, 3].map((n) => sessionWrite(aSession(n))));
    damageValue(database, `session/${aSession(1).key}`);
    database.prepare("UPDATE kv SET value = '{}' WHERE key = ?").run(`session/${aSession(3).key}`);
    const again = embedded(database, { basis: "other settings" });
    expect((await again.index.list(aQuery())).rows.map((row) => row.session.key)).toEqual([aSession(2).key]);
    await expect(again.records("session").get(aSession(1).key)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
    });
  });

  it("STORE-3: without a mirror there is no path", () => {
    expect(open().storage.transcriptPath(idFor(1))).toBeUndefined();
  });
});

/** The log may be read while the store is open: SQLite's locks are on the database file. */
function walOf(file: string): string {
  return readFileSync(`${file}-wal`).toString("base64");
}
