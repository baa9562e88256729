import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../src/core/engine/sqlite/database.ts";
import type { TranscriptEntry } from "../../../src/core/ports/run.ts";
import type { CarryingStorage } from "../../../src/core/storage/storage.ts";
import { fakeLogger } from "../../contracts/fake-logger.ts";
import {
  anEntry,
  aSession,
  entriesFrom,
  idFor,
  sessionWrite,
  turnsOf,
  turnWrite,
} from "../../contracts/storage-samples.ts";
import { damageValue, embedded, temporaryFolder } from "./embedded-harness.ts";

describe("the JSONL mirror", () => {
  const open = (folder = temporaryFolder()) => {
    const database = openDatabase(join(folder, "store.sqlite"));
    onTestFinished(() => database.close());
    const logger = fakeLogger();
    const mirrorDir = join(folder, "transcripts");
    const storage = embedded(database, { mirrorDir, logger });
    return { folder, database, storage, logger, mirrorDir, file: join(mirrorDir, `${idFor(1)}.jsonl`) };
  };

  it("STORE-3: a session id has a file: a head, then one line per row, byte for byte, for its owner only", async () => {
    const { folder, storage, file } = open();
    const entries: TranscriptEntry[] = [
      {
        ...anEntry(1, ":base64:x \u2028 😀 \ud800"),
        runId: "run-1",
        provenance: { kind: "external_user", sourceChannel: "discord" },
      },
      {
        ...anEntry(2),
        content: [
          { type: "thinking", text: "hm" },
          { type: "text", text: "<think>kept</think>" },
          { type: "toolCall", id: "c1", name: "look", arguments: { at: 1 } },
        ],
        model: "m-1",
        usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7, estimatedCostUsd: 0.5 },
      },
      {
        ...anEntry(3),
        role: "toolResult",
        content: [{ type: "toolResult", id: "c1", name: "look", text: "seen", isError: false }],
      },
    ];
    await storage.apply([turnWrite(1, entries)]);
    await storage.flush();

    expect(storage.transcriptPath(idFor(1))).toBe(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [head, first, second, third] = linesOf(file);
    expect(head).toEqual({
      type: "session",
      version: 3,
      id: idFor(1),
      timestamp: "2023-11-14T22:13:20.001Z",
      cwd: folder,
    });
    expect(first).toEqual({
      type: "message",
      id: "row-1",
      parentId: null,
      timestamp: "2023-11-14T22:13:20.001Z",
      message: { role: "user", content: entries[0]?.content, timestamp: entries[0]?.atMs },
      seq: 1,
      runId: "run-1",
      provenance: { kind: "external_user", sourceChannel: "discord" },
    });
    expect(second).toMatchObject({
      parentId: "row-1",
      message: {
        content: [{ type: "thinking", thinking: "hm" }, entries[1]?.content[1], entries[1]?.content[2]],
        model: "m-1",
        usage: { input: 3, output: 4, totalTokens: 7, cost: { total: 0.5 } },
      },
    });
    expect(third).toMatchObject({
      parentId: "row-2",
      message: {
        role: "toolResult",
        toolCallId: "c1",
        toolName: "look",
        content: [{ type: "text", text: "seen" }],
        isError: false,
      },
    });
  });

  it("STORE-3: it grows turn by turn, a turn written again replaces its lines, and an empty turn adds none", async () => {
    const { storage, file } = open();
    for (const write of turnsOf([2, 1])) await written(storage, write);
    await written(storage, turnWrite(2, entriesFrom(3, 3)));
    await written(storage, turnWrite(2, entriesFrom(3, 2)));
    await written(storage, turnWrite(3, []));
    await written(storage, turnWrite(4, entriesFrom(5, 1)));
    expect(seqsIn(file)).toEqual([1, 2, 3, 4, 5]);
    expect(linesOf(file).map(({ parentId }) => parentId)).toEqual([
      undefined,
      null,
      "row-1",
      "row-2",
      "row-3",
      "row-4",
    ]);
  });

  it.each<[string, (file: string) => void]>([
    ["missing", (file) => rmSync(file)],
    ["cut in the middle of a line", (file) => writeFileSync(file, readFileSync(file).subarray(0, -20))],
    ["short of a line", (file) => dropLine(file, 2)],
    ["empty", (file) => writeFileSync(file, "")],
    ["not JSON", (file) => writeFileSync(file, "\0".repeat(500))],
    [
      "longer than the transcript",
      (file) => appendFileSync(file, `${readFileSync(file, "utf8").split("\n").at(-2)}\n`),
    ],
  ])("F06: a mirror that is %s is made anew from the store at the next turn", async (_, spoil) => {
    const { storage, file } = open();
    for (const write of turnsOf([2, 2])) await written(storage, write);
    spoil(file);
    expect((await storage.transcripts.page(idFor(1), { limit: 9 })).entries).toHaveLength(4);
    await written(storage, turnWrite(3, entriesFrom(5, 1)));
    expect(seqsIn(file)).toEqual([1, 2, 3, 4, 5]);
  });

  it("STORE-4: what a crash left out of a mirror is made up for at the next start", async () => {
    const { folder, storage, file, database } = open();
    await storage.apply([...turnsOf([2, 2]), sessionWrite(aSession(1))]);
    await storage.flush();
    dropLine(file, 4);
    database.close();
    await open(folder).storage.flush();
    expect(seqsIn(file)).toEqual([1, 2, 3, 4]);
  });

  it("STORE-3: two processes that take turns leave one complete file", async () => {
    const { folder, storage, file } = open();
    const other = open(folder).storage;
    for (const [i, write] of turnsOf([1, 2, 3, 1, 2]).entries())
      await written(i % 2 === 0 ? storage : other, write);
    await Promise.all([
      written(storage, turnWrite(6, entriesFrom(10, 1))),
      other.apply([turnWrite(6, entriesFrom(10, 1))]),
    ]);
    await other.flush();
    expect(seqsIn(file)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it("STORE-4: a damaged turn is left out of the mirror, the rest is there", async () => {
    const { storage, database, file } = open();
    for (const write of turnsOf([1, 1, 1])) await written(storage, write);
    damageValue(database, `turn/${idFor(1)}/2`);
    rmSync(file);
    await written(storage, turnWrite(4, entriesFrom(4, 1)));
    expect(seqsIn(file)).toEqual([1, 3, 4]);
  });

  it("F06: deleting a transcript removes its file, and only that", async () => {
    const { storage, mirrorDir } = open();
    await storage.apply([...turnsOf([1]), ...turnsOf([1], { sessionId: idFor(2) })]);
    await storage.flush();
    await storage.transcripts.delete(idFor(1));
    await storage.flush();
    expect(readdirSync(mirrorDir)).toEqual([`${idFor(2)}.jsonl`]);
  });

  it.each(["../../outside", "agent:main:main", "", "5E550000-0000-4000-8000-000000000001"])(
    "STORE-3: %j is not a session id that becomes a file name, its transcript is kept all the same",
    async (sessionId) => {
      const { storage, mirrorDir } = open();
      await storage.apply(turnsOf([1], { sessionId }));
      await storage.flush();
      expect(storage.transcriptPath(sessionId)).toBeUndefined();
      expect(readdirSync(mirrorDir)).toEqual([]);
      expect((await storage.transcripts.page(sessionId, { limit: 1 })).totalEntries).toBe(1);
    },
  );

  it("STORE-3: a mirror that cannot be written is a warning, and the transcript is safe", async () => {
    const { storage, logger, mirrorDir } = open();
    rmSync(mirrorDir, { recursive: true });
    await written(storage, turnsOf([1])[0]);
    expect(logger.said.map(({ message }) => message)).toEqual([
      expect.stringContaining("mirror was not written"),
    ]);
    expect((await storage.transcripts.page(idFor(1), { limit: 1 })).totalEntries).toBe(1);
  });

  it("STORE-3: a large file is checked and made anew without a line lost", async () => {
    const { storage, file } = open();
    const long = "x".repeat(90_000);
    for (let turn = 1; turn <= 20; turn++)
      await storage.apply([turnWrite(turn, [anEntry(turn, `${turn} ${long}`)])]);
    await storage.flush();
    const before = readFileSync(file);
    expect(seqsIn(file)).toHaveLength(20);
    appendFileSync(file, "{");
    await written(storage, turnWrite(21, [anEntry(21)]));
    expect(readFileSync(file).subarray(0, before.length).equals(before)).toBe(true);
    expect(seqsIn(file)).toHaveLength(21);
  });

  it("STORE-3: a file of many turns is made anew byte for byte, with one head", async () => {
    const { storage, file } = open();
    const turns = turnsOf(Array.from({ length: 150 }, () => 1));
    await storage.apply(turns);
    await storage.flush();
    const before = readFileSync(file, "utf8");
    rmSync(file);
    await written(storage, turns.at(-1));
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(seqsIn(file)).toHaveLength(150);
  });
});

async function written(
  storage: CarryingStorage,
  write: ReturnType<typeof turnWrite> | undefined,
): Promise<void> {
  await storage.apply(write ? [write] : []);
  await storage.flush();
}

// biome-ignore lint/suspicious/noExplicitAny: lines of a file, compared field by field
function linesOf(file: string): any[] {
  const text = readFileSync(file, "utf8");
  if (!text.endsWith("\n")) throw new Error("half a line at the end");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function seqsIn(file: string): number[] {
  return linesOf(file)
    .slice(1)
    .map(({ seq }) => seq);
}

function dropLine(file: string, index: number): void {
  writeFileSync(file, readFileSync(file, "utf8").split("\n").toSpliced(index, 1).join("\n"));
}
