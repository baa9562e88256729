import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Database, openDatabase } from "../../../../src/core/engine/sqlite/database.ts";

interface Named {
  readonly name: string;
}

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "database-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "data", "store.sqlite");
}

function open(file = temporaryFile()): Database {
  const database = openDatabase(file);
  onTestFinished(() => database.close());
  return database;
}

/** A closed store with 500 rows. */
function filledFile(): string {
  const database = open();
  database.exec("CREATE TABLE things (name TEXT)");
  const insert = database.prepare("INSERT INTO things VALUES (?)");
  database.transaction(() => {
    for (let i = 0; i < 500; i++) insert.run(`thing ${i} ${"x".repeat(100)}`);
  });
  database.close();
  return database.file;
}

describe("openDatabase", () => {
  it("STORE-4: keeps what was stored, in a file and a folder that only their owner may read", () => {
    const file = filledFile();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(file, "..")).filter((name) => name.startsWith(".new"))).toEqual([]);
    expect(open(file).prepare("SELECT count(*) AS n FROM things").get()).toMatchObject({ n: 500 });
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ["truncated to 0", () => Buffer.alloc(0)],
    ["truncated to half", (bytes) => bytes.subarray(0, bytes.length / 2)],
    ["filled with NULs", (bytes) => Buffer.alloc(bytes.length)],
    ["another program's text", () => Buffer.from("not a database\n".repeat(500))],
  ])("O01: a file that is %s is reported with its path and never overwritten", (_, damage) => {
    const file = filledFile();
    const damaged = Buffer.from(damage(readFileSync(file)));
    writeFileSync(file, damaged);
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(() => openDatabase(file)).toThrow(
        expect.objectContaining({ code: "STORE_CORRUPT", message: expect.stringContaining(file) }),
      );
    }
    expect(readFileSync(file).equals(damaged)).toBe(true);
  });

  it("O01: damage inside is reported when it is read, and what can be read still is", () => {
    const file = filledFile();
    const bytes = readFileSync(file);
    bytes.fill(0, bytes.length - 8 * 4096, bytes.length - 4096);
    writeFileSync(file, bytes);
    const database = open(file);
    expect(database.prepare("SELECT name FROM things WHERE rowid = 1").get<Named>()?.name).toContain(
      "thing 0",
    );
    expect(() => database.prepare("SELECT name FROM things").all()).toThrow(
      expect.objectContaining({ code: "STORE_CORRUPT", message: expect.stringContaining(file) }),
    );
  });

  it("O01: a log without its database is reported and left alone", () => {
    const file = filledFile();
    rmSync(file);
    writeFileSync(`${file}-wal`, "frames");
    expect(() => openDatabase(file)).toThrow(expect.objectContaining({ code: "STORE_CORRUPT" }));
    expect(readFileSync(`${file}-wal`, "utf8")).toBe("frames");
  });

  it("STORE-4: another program's database and one of a newer version are refused", () => {
    const file = filledFile();
    const database = open(file);
    database.exec("PRAGMA user_version = 99");
    database.close();
    expect(() => openDatabase(file)).toThrow(/newer bot-switchboard/);
    const foreign = open(file.replace("store", "other"));
    foreign.exec("PRAGMA application_id = 7");
    foreign.close();
    expect(() => openDatabase(foreign.file)).toThrow(/not a store of bot-switchboard/);
  });

  it("STORE-4: a folder in the place of the file is unreachable, not corrupt", () => {
    const file = temporaryFile();
    mkdirSync(file, { recursive: true });
    expect(() => openDatabase(file)).toThrow(expect.objectContaining({ code: "STORE_UNREACHABLE" }));
  });

  it.skipIf(process.getuid?.() === 0)("STORE-4: a folder that may not be written is unreachable", () => {
    const file = temporaryFile();
    mkdirSync(join(file, ".."));
    chmodSync(join(file, ".."), 0o500);
    expect(() => openDatabase(file)).toThrow(expect.objectContaining({ code: "STORE_UNREACHABLE" }));
  });
});

describe("Database", () => {
  it("STORE-4: a transaction is kept whole or not at all", () => {
    const database = open(filledFile());
    const names = () =>
      database
        .prepare("SELECT name FROM things WHERE name LIKE 'new%'")
        .all<Named>()
        .map((row) => row.name);
    const insert = (name: string) => database.prepare("INSERT INTO things VALUES (?)").run(name);
    expect(database.transaction(() => insert("new 1"))).toBe(1);
    const fails = () => {
      insert("new 2");
      throw new Error("no");
    };
    expect(() => database.transaction(fails)).toThrow("no");
    expect(names()).toEqual(["new 1"]);
    expect(() => database.transaction(() => database.transaction(() => insert("new 3")))).toThrow(
      /transaction inside/,
    );
    database.transaction(() => insert("new 4"));
    expect(names()).toEqual(["new 1", "new 4"]);
  });

  it("STORE-4: two connections see each other's commits and wait for each other's transactions", () => {
    const file = filledFile();
    const [one, two] = [open(file), open(file)];
    const last = two.prepare("SELECT name FROM things ORDER BY rowid DESC LIMIT 1");
    last.get();
    one.prepare("INSERT INTO things VALUES (?)").run("the newest");
    expect(last.get<Named>()?.name).toBe("the newest");
  });

  it("STORE-4: a wrong statement is a defect, a closed store says CLOSED, and closing twice is fine", () => {
    const database = open();
    expect(() => database.prepare("SELEC 1")).toThrow(expect.objectContaining({ code: "INTERNAL" }));
    const statement = database.prepare("SELECT 1 AS one");
    database.close();
    database.close();
    const closed = expect.objectContaining({ code: "CLOSED" });
    expect(() => statement.get()).toThrow(closed);
    expect(() => database.exec("SELECT 1")).toThrow(closed);
    expect(() => database.transaction(() => 1)).toThrow(closed);
  });

  it("STORE-4: after closing, one file holds everything", () => {
    const file = filledFile();
    expect(statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  });
});
