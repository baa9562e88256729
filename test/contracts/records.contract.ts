import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Records, Tables } from "../../src/core/ports/storage.ts";
import type { StorageHarness } from "./storage-harness.ts";
import { aSession, keyFor } from "./storage-samples.ts";

/** Every store of records must say these sentences. */
export function recordsContract(name: string, harness: StorageHarness): void {
  const open = async () => {
    const opened = await harness.open();
    return { ...opened, people: opened.storage.records("person") };
  };

  describe(`records: ${name}`, () => {
    it("STORE-4: what was stored comes back, what was not is undefined", async () => {
      const { people } = await open();
      await people.update("discord:1", () => ({ ids: ["1"] }));
      expect(await people.get("discord:1")).toEqual({ ids: ["1"] });
      expect(await people.get("discord:2")).toBeUndefined();
      expect(await people.getMany(["discord:2", "discord:1"])).toEqual([undefined, { ids: ["1"] }]);
      expect(await people.getMany([])).toEqual([]);
    });

    it("STORE-4: 50 parallel updates of one record lose none", async () => {
      const { people } = await open();
      await Promise.all(Array.from({ length: 50 }, (_, i) => addId(people, "telegram:7", String(i))));
      expect((await people.get("telegram:7"))?.ids).toHaveLength(50);
    });

    it("STORE-4: update resolves with what it stored, undefined deletes, and the unchanged value is not written", async () => {
      const { people, contents } = await open();
      expect(await people.update("discord:1", () => ({ ids: ["1"] }))).toEqual({ ids: ["1"] });
      const before = contents();
      expect(await people.update("discord:1", (current) => current)).toEqual({ ids: ["1"] });
      expect(contents()).toBe(before);
      expect(await people.update("discord:1", () => undefined)).toBeUndefined();
      expect(await people.get("discord:1")).toBeUndefined();
      expect(await people.update("discord:1", () => undefined)).toBeUndefined();
    });

    it("STORE-4: a change that throws leaves the record as it was and later ones work", async () => {
      const { people } = await open();
      await people.update("discord:1", () => ({ ids: ["1"] }));
      const change = () => {
        throw new Error("no");
      };
      await expect(people.update("discord:1", change)).rejects.toThrow("no");
      expect(await people.get("discord:1")).toEqual({ ids: ["1"] });
      await addId(people, "discord:1", "2");
      expect(await people.get("discord:1")).toEqual({ ids: ["1", "2"] });
    });

    it("I02: keys that differ only in case are two records, and tables do not share keys", async () => {
      const { people, storage } = await open();
      await people.update("telegram:Ab", () => ({ ids: ["upper"] }));
      await people.update("telegram:ab", () => ({ ids: ["lower"] }));
      expect(await people.getMany(["telegram:Ab", "telegram:ab"])).toEqual([
        { ids: ["upper"] },
        { ids: ["lower"] },
      ]);
      expect(await storage.records("moved").get("telegram:ab")).toBeUndefined();
    });

    it("STORE-4: any text comes back as it was, under any key", async () => {
      const { people } = await open();
      const text = fc.oneof(
        fc.string({ unit: "binary" }),
        fc.constantFrom(":base64:AAAA", ":x", "\0", "\ud800", "😀\u2028"),
      );
      const key = fc.oneof(
        fc.string({ unit: "grapheme", maxLength: 30 }),
        fc.string({ minLength: 161, maxLength: 300 }),
      );
      await fc.assert(
        fc.asyncProperty(key, fc.array(text), async (at, ids) => {
          await people.update(at, () => ({ ids }));
          expect(await people.get(at)).toEqual({ ids });
        }),
        { numRuns: 50 },
      );
    });

    it("STORE-4: a damaged record is reported with its place, and the others are still read", async () => {
      const { people, damage } = await open();
      await people.update("discord:1", () => ({ ids: ["1"] }));
      await people.update("discord:2", () => ({ ids: ["2"] }));
      damage("person/discord:1");
      const corrupt = { code: "STORE_CORRUPT", message: expect.stringContaining("discord:1") };
      await expect(people.get("discord:1")).rejects.toMatchObject(corrupt);
      await expect(people.getMany(["discord:2", "discord:1"])).rejects.toMatchObject(corrupt);
      await expect(people.update("discord:1", () => ({ ids: [] }))).rejects.toMatchObject(corrupt);
      expect(await people.get("discord:2")).toEqual({ ids: ["2"] });
    });

    it("STORE-4: a damaged record is written over only by a write that says so, and is none to it", async () => {
      const { storage, people, damage } = await open();
      for (const key of ["discord:1", "discord:2"]) await people.update(key, () => ({ ids: ["1"] }));
      damage("person/discord:1");
      const seen: unknown[] = [];
      const write = (key: string) => ({
        type: "record" as const,
        table: "person" as const,
        key,
        change: (current: unknown) => {
          seen.push(current);
          return { ids: ["new"] };
        },
      });
      await expect(storage.apply([write("discord:1")])).rejects.toMatchObject({ code: "STORE_CORRUPT" });
      for (const key of ["discord:1", "discord:2"])
        await storage.apply([{ ...write(key), evenDamaged: true }]);
      expect(seen).toEqual([undefined, { ids: ["1"] }]);
      expect(await people.get("discord:1")).toEqual({ ids: ["new"] });
    });

    it("STORE-4: a store that fails is unreachable, never empty", async () => {
      const { people, breakStore } = await open();
      await people.update("discord:1", () => ({ ids: ["1"] }));
      breakStore();
      const unreachable = { code: "STORE_UNREACHABLE" };
      await expect(people.get("discord:1")).rejects.toMatchObject(unreachable);
      await expect(people.getMany(["discord:1", "discord:2"])).rejects.toMatchObject(unreachable);
      await expect(people.update("discord:1", () => ({ ids: [] }))).rejects.toMatchObject(unreachable);
      await expect(people.update("discord:1", () => undefined)).rejects.toMatchObject(unreachable);
    });

    const { survives, closed } = harness.exempt;
    it.skipIf(survives)(`STORE-4: a record survives close and reopen${because(survives)}`, async () => {
      const { storage, reopen } = await open();
      const session = aSession(1, { label: "ops" });
      await storage.records("session").update(session.key, () => session);
      const again = await reopen();
      expect(await again.records("session").get(session.key)).toEqual(session);
      expect(await again.index.byLabel("ops", undefined, 10)).toEqual([session.key]);
    });

    it.skipIf(closed)(`STORE-4: a closed store says CLOSED${because(closed)}`, async () => {
      const { storage, people, close } = await open();
      close();
      await expect(people.get("discord:1")).rejects.toMatchObject({ code: "CLOSED" });
      await expect(addId(people, "discord:1", "1")).rejects.toMatchObject({ code: "CLOSED" });
      await expect(storage.index.children(keyFor("agent:main:main"))).rejects.toMatchObject({
        code: "CLOSED",
      });
    });
  });
}

function addId(
  people: Records<Tables["person"]>,
  key: string,
  id: string,
): Promise<Tables["person"] | undefined> {
  return people.update(key, (current) => ({ ids: [...(current?.ids ?? []), id] }));
}

export function because(reason: string | undefined): string {
  return reason === undefined ? "" : ` (skipped: ${reason})`;
}
