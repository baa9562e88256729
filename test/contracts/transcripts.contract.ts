import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TranscriptEntry } from "../../src/core/ports/run.ts";
import type { Transcripts, TurnWrite } from "../../src/core/ports/storage.ts";
import type { StorageHarness } from "./storage-harness.ts";
import { anEntry, entriesFrom, idFor, keyFor, turnsOf, turnWrite } from "./storage-samples.ts";

const sessionId = idFor(1);

/** Every store of transcripts must say these sentences. */
export function transcriptsContract(name: string, harness: StorageHarness): void {
  const open = async (writes: readonly TurnWrite[] = []) => {
    const opened = await harness.open();
    await opened.storage.apply(writes);
    return { ...opened, transcripts: opened.storage.transcripts };
  };

  describe(`transcripts: ${name}`, () => {
    it("STORE-3: rows come back in the order in which their turns were written", async () => {
      const { storage, transcripts } = await open();
      for (const write of turnsOf([2, 3, 1])) await storage.apply([write]);
      expect(await seqs(transcripts)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await transcripts.info(sessionId)).toEqual({
        sessionKey: "agent:main:discord:channel:1",
        turns: 3,
        lastSeq: 6,
        lastRunId: "run-3",
        lastTurnSeq: 6,
      });
    });

    it("STORE-3: a session id without a transcript has no info and an empty page", async () => {
      const { transcripts } = await open();
      expect(await transcripts.info(sessionId)).toBeUndefined();
      expect(await transcripts.page(sessionId, { limit: 10 })).toEqual({
        entries: [],
        totalEntries: 0,
        damaged: [],
      });
    });

    it("STORE-3: rewriting a turn replaces it, however often", async () => {
      const { storage, transcripts } = await open(turnsOf([2, 1]));
      const longer = turnWrite(2, entriesFrom(3, 3));
      await storage.apply([longer, longer]);
      await storage.apply([longer]);
      expect(await seqs(transcripts)).toEqual([1, 2, 3, 4, 5]);
      await storage.apply([turnWrite(2, [])]);
      expect(await seqs(transcripts)).toEqual([1, 2]);
      await storage.apply([turnWrite(3, entriesFrom(3, 1))]);
      expect(await transcripts.info(sessionId)).toMatchObject({ turns: 3, lastSeq: 3 });
      expect(await seqs(transcripts)).toEqual([1, 2, 3]);
    });

    it.each([
      ["a turn of another run", turnWrite(2, entriesFrom(3, 1), { runId: "run-other" })],
      ["an older turn of another run", turnWrite(1, entriesFrom(1, 2), { runId: "run-other" })],
      ["an older turn with another length", turnWrite(1, entriesFrom(1, 1))],
      ["a turn after a gap", turnWrite(4, entriesFrom(4, 1))],
      ["turn 0", turnWrite(0, entriesFrom(1, 1))],
      ["rows with wrong numbers", turnWrite(3, entriesFrom(9, 1))],
    ])("STORE-3: %s is refused and nothing is changed", async (_, write) => {
      const { storage, contents } = await open(turnsOf([2, 1]));
      const before = contents();
      await expect(storage.apply([write])).rejects.toMatchObject({ code: "INTERNAL" });
      expect(contents()).toBe(before);
    });

    it("STORE-3: an older turn may be written again by its own run", async () => {
      const { storage, transcripts } = await open(turnsOf([2, 1]));
      await storage.apply([turnWrite(1, [anEntry(1, "same length"), anEntry(2, "other words")])]);
      const { entries } = await transcripts.page(sessionId, { limit: 10 });
      expect(entries.map(textOf)).toEqual(["same length", "other words", "row 3"]);
    });

    it("STORE-3: page by page, every row is reached exactly once, also while turns are added", async () => {
      const { storage, transcripts } = await open();
      const lengths = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 40 });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(lengths, lengths, fc.integer({ min: 1, max: 12 }), async (first, later, limit) => {
          run += 1;
          const id = idFor(run);
          const all = turnsOf([...first, ...later], { sessionId: id });
          await storage.apply(all.slice(0, first.length));
          const total = first.reduce((sum, length) => sum + length, 0);
          const late = all.slice(first.length);

          const seen: number[] = [];
          for (let beforeSeq: number | undefined; beforeSeq !== 1; ) {
            const page = await transcripts.page(
              id,
              beforeSeq === undefined ? { limit } : { limit, beforeSeq },
            );
            expect(page.entries.length).toBe(Math.min(limit, (beforeSeq ?? page.totalEntries + 1) - 1));
            seen.unshift(...page.entries.map(({ seq }) => seq));
            beforeSeq = page.entries[0]?.seq ?? 1;
            await storage.apply(late.splice(0, 1));
          }
          expect(seen).toEqual(Array.from({ length: total }, (_, i) => i + 1));
        }),
        { numRuns: 40 },
      );
    });

    it("HIST-3: pages of turns of very different lengths are exact", async () => {
      const lengths = [1, 3000, 0, 0, 2, 500, 1, 1, 1, 1, 1, 0];
      const { transcripts } = await open(turnsOf(lengths));
      const total = 3508 - 1;
      for (const beforeSeq of [2, 3, 1500, 3001, 3002, 3003, 3004, 3504, total + 1, total + 900]) {
        const page = await transcripts.page(sessionId, { beforeSeq, limit: 7 });
        const end = Math.min(beforeSeq, page.totalEntries + 1);
        const expected = Array.from(
          { length: Math.min(7, end - 1) },
          (_, i) => end - Math.min(7, end - 1) + i,
        );
        expect(page.entries.map(({ seq }) => seq)).toEqual(expected);
      }
    });

    it("HIST-4: text is stored exactly", async () => {
      const texts = [
        ":base64:AAAA",
        "a\0b",
        "\ud800 alone",
        "😀\u2028\r\n",
        "<think>x</think>",
        "x".repeat(100_000),
      ];
      const entries = texts.map((text, i) => anEntry(i + 1, text));
      const { transcripts } = await open([turnWrite(1, entries)]);
      expect((await transcripts.page(sessionId, { limit: 10 })).entries).toEqual(entries);
    });

    it("G06: after a reset the old id is still read, and the new one begins empty", async () => {
      const { storage, transcripts } = await open(turnsOf([2]));
      await storage.apply(turnsOf([1], { sessionId: idFor(2) }));
      expect((await transcripts.page(sessionId, { limit: 10 })).totalEntries).toBe(2);
      expect((await transcripts.page(idFor(2), { limit: 10 })).totalEntries).toBe(1);
      expect((await transcripts.info(sessionId))?.sessionKey).toBe("agent:main:discord:channel:1");
    });

    it("STORE: a moved session's transcript belongs to the new key once it writes", async () => {
      const { storage, transcripts } = await open(turnsOf([2]));
      await storage.apply([
        turnWrite(2, entriesFrom(3, 1), { sessionKey: keyFor("agent:main:telegram:group:-1009") }),
      ]);
      expect(await transcripts.info(sessionId)).toMatchObject({
        sessionKey: "agent:main:telegram:group:-1009",
        lastSeq: 3,
      });
    });

    it.each([
      ["in the page", 4, [1, 2, 3, 5, 6]],
      ["at the end", 6, [1, 2, 3, 4, 5]],
      ["at the beginning", 1, [2, 3, 4, 5, 6]],
    ])("STORE-4: a damaged turn %s is named, and the rest is there", async (_, turn, rest) => {
      const { transcripts, damage } = await open(turnsOf([1, 1, 1, 1, 1, 1]));
      damage(`turn/${sessionId}/${turn}`);
      const page = await transcripts.page(sessionId, { limit: 50 });
      expect(page.entries.map(({ seq }) => seq)).toEqual(rest);
      expect(page.damaged).toEqual([`turn ${turn}`]);
      expect(page.totalEntries).toBe(6);
    });

    it("STORE-4: older pages are found past damaged turns", async () => {
      const opened = await open(turnsOf(Array.from({ length: 200 }, () => 2)));
      for (const turn of [99, 100, 101, 102]) opened.damage(`turn/${sessionId}/${turn}`);
      for (const beforeSeq of [20, 190, 197, 201, 205, 300]) {
        const { entries } = await opened.transcripts.page(sessionId, { beforeSeq, limit: 5 });
        const readable = Array.from({ length: beforeSeq - 1 }, (_, i) => i + 1).filter(
          (seq) => seq < 197 || seq > 204,
        );
        expect(entries.map(({ seq }) => seq)).toEqual(readable.slice(-5));
      }
    });

    it("STORE-4: a damaged head is reported with its place, never read as an empty transcript", async () => {
      const { storage, transcripts, damage } = await open(turnsOf([1]));
      damage(`transcript/${sessionId}`);
      const corrupt = { code: "STORE_CORRUPT", message: expect.stringContaining(sessionId) };
      await expect(transcripts.page(sessionId, { limit: 1 })).rejects.toMatchObject(corrupt);
      await expect(transcripts.info(sessionId)).rejects.toMatchObject(corrupt);
      await expect(storage.apply(turnsOf([1]))).rejects.toMatchObject(corrupt);
    });

    it("STORE-4: a store that fails is unreachable, never an empty transcript", async () => {
      const { storage, transcripts, breakStore } = await open(turnsOf([1]));
      breakStore();
      const unreachable = { code: "STORE_UNREACHABLE" };
      await expect(transcripts.page(sessionId, { limit: 1 })).rejects.toMatchObject(unreachable);
      await expect(transcripts.info(sessionId)).rejects.toMatchObject(unreachable);
      await expect(storage.apply(turnsOf([1]))).rejects.toMatchObject(unreachable);
      await expect(transcripts.delete(sessionId)).rejects.toMatchObject(unreachable);
    });

    it("F06: a deleted transcript is gone whole, others stay, and a new one may begin", async () => {
      const { storage, transcripts, contents } = await open();
      await storage.apply(turnsOf([1], { sessionId: idFor(2) }));
      const before = contents();
      await storage.apply(turnsOf(Array.from({ length: 300 }, () => 1)));
      await transcripts.delete(sessionId);
      await transcripts.delete(sessionId);
      expect(contents()).toBe(before);
      await storage.apply(turnsOf([1]));
      expect(await seqs(transcripts)).toEqual([1]);
    });
  });
}

async function seqs(transcripts: Transcripts): Promise<number[]> {
  const { entries } = await transcripts.page(sessionId, { limit: 100 });
  return entries.map(({ seq }) => seq);
}

function textOf({ content }: TranscriptEntry): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
