import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Block, NewEntry, Provenance, TranscriptEntry } from "../../src/core/ports/run.ts";
import { historyView, isShown } from "../../src/core/transcript/history-view.ts";
import { HISTORY_BYTES } from "../../src/core/transcript/limits.ts";
import { createRedactor } from "../../src/core/transcript/redact.ts";
import { aBoard, aFolder, use } from "../fakes/a-board.ts";
import { leaveBehind, sessionWrite, storedSession, turnWrites } from "../fakes/store-files.ts";
import { anyJson, cases, nastyNumber, nastyText, nearly, PATIENCE_MS } from "./arbitraries.ts";

const SECRET = "planted-secret-value-4711";
const TOKEN = `ghp_${"aB3dE6gH9j".repeat(4).slice(0, 36)}`;

/** Text with secrets at any place, markup of models, and much of it. */
const text = fc.oneof(
  { weight: 3, arbitrary: nastyText },
  {
    weight: 2,
    arbitrary: fc.tuple(nastyText, fc.constantFrom(SECRET, TOKEN), nastyText).map((parts) => parts.join(" ")),
  },
  { weight: 1, arbitrary: nearly("<think>", "</think>", "<tool_call>", "[Inter-session message", "```") },
  {
    weight: 1,
    arbitrary: fc
      .tuple(nastyText, fc.integer({ min: 1000, max: 30_000 }))
      .map(([part, units]) => part.repeat(Math.ceil(units / (part.length + 1)))),
  },
);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });
const written = <T extends object>(one: T) =>
  Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined));

/** Parts of a row; a call may have any arguments. */
const block: fc.Arbitrary<Block> = fc.oneof(
  { weight: 5, arbitrary: text.map((words) => ({ type: "text" as const, text: words })) },
  { weight: 1, arbitrary: text.map((words) => ({ type: "thinking" as const, text: words })) },
  // JSON as it comes back from the store.
  {
    weight: 1,
    arbitrary: fc
      .record({ id: nastyText, name: text, arguments: anyJson(["key"], text) })
      .map((call) => JSON.parse(JSON.stringify({ type: "toolCall", ...call }))),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ id: nastyText, name: text, text, isError: fc.boolean() })
      .map((one) => ({ type: "toolResult" as const, ...one })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ mediaType: text, name: text, sizeBytes: fc.nat() })
      .map((one) => ({ type: "attachment" as const, ...one })),
  },
);

const provenance: fc.Arbitrary<Provenance> = fc.record({
  kind: fc.constantFrom("external_user", "inter_session", "internal_system", "external"),
  sourceTool: fc.constantFrom("sessions_send", "sessions_spawn"),
});

const row: fc.Arbitrary<NewEntry> = fc
  .record({
    role: fc.constantFrom("user", "assistant", "toolResult", "system"),
    content: fc.array(block, { maxLength: 4 }),
    atMs: fc.oneof(fc.nat(), nastyNumber.filter(Number.isFinite)),
    provenance: optional(provenance),
    sender: optional(fc.record({ id: nastyText, name: text, isBot: fc.boolean() })),
    model: optional(text),
  })
  // The filter leaves rows whose optional members are there or not.
  .map((one) => written(one) as unknown as NewEntry);

const numbered = (rows: readonly NewEntry[]): readonly TranscriptEntry[] =>
  rows.map((one, n) => ({ ...one, id: `r:${n + 1}`, seq: n + 1 }));

function expectMasked(shown: unknown): void {
  const words = JSON.stringify(shown);
  expect(words).not.toContain(SECRET);
  expect(words).not.toContain(TOKEN);
}

describe("fuzz: transcripts", () => {
  it(
    "HIST-5 HIST-6 HIST-7: whatever the rows, a view is bounded as it says, in order, masked, and leaves the rows alone",
    () => {
      const redactor = createRedactor({ registered: [SECRET] });
      const budget = fc.oneof(fc.integer({ min: 200, max: 20_000 }), fc.constant(HISTORY_BYTES));
      fc.assert(
        fc.property(
          fc.array(row, { maxLength: 12 }),
          fc.boolean(),
          budget,
          (rows, includeTools, maxBytes) => {
            const entries = numbered(rows);
            const before = JSON.stringify(entries);
            const view = historyView(entries, { includeTools, redactor, maxBytes });
            expect(JSON.stringify(entries)).toBe(before);
            const bytes = Buffer.byteLength(JSON.stringify(view.messages));
            expect(view.bytes).toBe(bytes);
            if (view.messages.length > 1) expect(bytes).toBeLessThanOrEqual(maxBytes);
            expect(bytes).toBeLessThanOrEqual(HISTORY_BYTES);
            const shown = view.messages.map(({ seq }) => seq);
            const visible = entries.filter((entry) => isShown(entry, includeTools)).map(({ seq }) => seq);
            expect(shown).toEqual(visible.slice(visible.length - shown.length));
            expect(
              view.messages.flatMap(({ content }) => content).filter(({ type }) => type === "thinking"),
            ).toEqual([]);
            expect(view.truncated).toBe(view.droppedMessages || view.contentTruncated);
            if (shown.length < visible.length) expect(view.droppedMessages).toBe(true);
            expectMasked(view.messages);
          },
        ),
        cases(4),
      );
    },
    PATIENCE_MS,
  );

  it(
    "HIST-2 HIST-3: paging visits every visible row exactly once, oldest page last, whatever the rows and the page size",
    async () => {
      const pages = fc.record({
        turns: fc.array(fc.array(row, { minLength: 1, maxLength: 4 }), { maxLength: 8 }),
        limit: fc.integer({ min: 1, max: 7 }),
        includeTools: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(pages, { minLength: 1, maxLength: 6 }), async (transcripts) => {
          const dataDir = aFolder();
          const sessions = transcripts.map((_, n) =>
            storedSession(n + 1, `agent:main:telegram:group:-${n + 1}`),
          );
          const writes = sessions.flatMap((session, n) => [
            sessionWrite(session),
            ...turnWrites(session, transcripts[n]?.turns ?? []),
          ]);
          await leaveBehind(dataDir, writes);
          const board = await aBoard({ dataDir, config: { redaction: { values: [SECRET] } } });
          for (const [n, { turns, limit, includeTools }] of transcripts.entries()) {
            const visible = numbered(turns.flat())
              .filter((entry) => isShown(entry, includeTools))
              .map(({ seq }) => seq);
            const found: number[] = [];
            let offset: unknown = 0;
            for (let page = 0; offset !== undefined && page < 100; page++) {
              const key = sessions[n]?.key ?? "";
              const answer = await use(board, key, "sessions_history", {
                sessionKey: "current",
                limit,
                includeTools,
                offset,
              });
              expectMasked(answer);
              // Rows of a page.
              const seqs = (answer.messages as readonly TranscriptEntry[]).map(({ seq }) => seq);
              expect(seqs.length).toBeLessThanOrEqual(limit);
              found.unshift(...seqs);
              offset = answer.nextOffset;
            }
            expect(offset).toBeUndefined();
            expect(found).toEqual(visible);
          }
          await board.close({ graceMs: 0 });
        }),
        cases(60),
      );
    },
    PATIENCE_MS,
  );
});
