import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../src/core/engine/sqlite/database.ts";
import { aQuery, aSession, idFor, sessionWrite } from "../../contracts/storage-samples.ts";
import { embedded, temporaryFolder } from "./embedded-harness.ts";
import { startStoreProcess } from "./store-process.ts";

describe("several processes on one embedded store", () => {
  const open = (file = join(temporaryFolder(), "store.sqlite")) => {
    const database = openDatabase(file);
    onTestFinished(() => database.close());
    return { file, storage: embedded(database) };
  };

  it("STORE-4: two processes that make one store and change one record 500 times each lose nothing", async () => {
    const file = join(temporaryFolder(), "store.sqlite");
    const counting = await Promise.all(["a", "b"].map((name) => startStoreProcess(file, "count", name)));
    await Promise.all(counting.map((one) => one.ended()));
    const { storage } = open(file);
    const ids = (await storage.records("person").get("discord:1"))?.ids ?? [];
    expect(ids).toHaveLength(1_000);
    for (const name of ["a", "b"]) {
      expect(ids.filter((id) => id.startsWith(name))).toEqual(
        Array.from({ length: 500 }, (_, i) => `${name}:${i}`),
      );
    }
  });

  it.each([20, 150, 400])(
    "O01: after kill -9 in a write loop (at write %i) nothing acknowledged is missing",
    async (count) => {
      const file = join(temporaryFolder(), "store.sqlite");
      const writer = await startStoreProcess(file, "write", "writer");
      await writer.hasTold(count);
      await writer.kill();
      const acknowledged = writer.told.at(-1) ?? 0;

      const { storage } = open(file);
      const info = await storage.transcripts.info(idFor(1));
      expect(info?.turns).toBeGreaterThanOrEqual(acknowledged);
      const page = await storage.transcripts.page(idFor(1), { limit: 10_000 });
      expect(page.damaged).toEqual([]);
      expect(page.entries.map(({ seq }) => seq)).toEqual(
        Array.from({ length: (info?.turns ?? 0) * 2 }, (_, i) => i + 1),
      );
      const session = await storage.records("session").get(aSession(1).key);
      expect(session?.updatedAtMs).toBe(info?.turns);
      expect((await storage.index.list(aQuery())).rows[0]?.session).toEqual(session);
    },
  );

  it("O04: a process that is killed inside a transaction leaves neither its lock nor its half", async () => {
    const { file, storage } = open();
    await storage.apply([sessionWrite(aSession(1))]);
    const holder = await startStoreProcess(file, "hold", "holder");
    await holder.hasTold(1);
    await holder.kill();
    expect(await storage.records("session").get(aSession(1).key)).toEqual(aSession(1));
    await storage.apply([sessionWrite(aSession(1, { title: "after" }))]);
    expect((await storage.index.list(aQuery())).rows[0]?.session.title).toBe("after");
  });

  it("LIST-1: a list that was read before shows what another process has changed since", async () => {
    const { file, storage } = open();
    await storage.apply([sessionWrite(aSession(1)), sessionWrite(aSession(2))]);
    await storage.index.list(aQuery());
    await (await startStoreProcess(file, "rename", "Renamed")).ended();
    const titles = (await storage.index.list(aQuery())).rows.map(({ session }) => session.title);
    expect(titles).toEqual(["Renamed", "Room 2"]);
  });
});
