import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import keyvTestSuite, { keyvIteratorTests } from "@keyv/test-suite";
import { Keyv } from "keyv";
import * as vitest from "vitest";
import { openDatabase } from "../../../src/core/engine/sqlite/database.ts";
import { createSqliteKeyv } from "../../../src/core/storage/sqlite-keyv.ts";

const { afterAll, describe, expect, it } = vitest;
const folder = mkdtempSync(join(tmpdir(), "sqlite-keyv-"));
const database = openDatabase(join(folder, "store.sqlite"));
const store = () => createSqliteKeyv(database);

afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

describe("keyv's own test suite", () => {
  keyvTestSuite(vitest, Keyv, store);
  keyvIteratorTests(vitest, Keyv, store);
});

describe("what Keyv's suite does not ask", () => {
  it("O07: two namespaces on one file never see, list or clear each other", async () => {
    const one = new Keyv({ store: store(), namespace: "one" });
    const two = new Keyv({ store: store(), namespace: "two" });
    await one.set("key", "of one");
    await two.set("key", "of two");
    await one.clear();
    expect(await one.get("key")).toBeUndefined();
    expect(await two.get("key")).toBe("of two");
    expect(await collect(two)).toEqual([["key", "of two"]]);
  });

  it("STORE-4: iterating 31,000 entries neither overflows nor loses one", async () => {
    const keyv = new Keyv({ store: store(), namespace: "many" });
    const entries = Array.from({ length: 31_000 }, (_, i) => ({ key: `k${i}`, value: i }));
    await keyv.setMany(entries);
    const seen = new Set((await collect(keyv)).map(([key]) => key));
    expect(seen.size).toBe(entries.length);
  });

  it("STORE-4: a key or text that the driver would cut is refused", async () => {
    const keyv = new Keyv({ store: store(), throwOnErrors: true });
    await expect(keyv.set("cut\0here", "value")).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("O07: one failing set stops neither the reads nor the writes after it", async () => {
    const keyv = new Keyv({ store: store(), namespace: "after", throwOnErrors: true });
    await expect(keyv.set("bad\0key", 1)).rejects.toThrow();
    await keyv.set("good", 2);
    expect(await keyv.get("good")).toBe(2);
  });
});

async function collect(keyv: Keyv): Promise<[string, unknown][]> {
  const found: [string, unknown][] = [];
  for await (const entry of keyv.iterator?.(undefined) ?? []) found.push(entry);
  return found;
}
