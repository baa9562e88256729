import { describe, expect, it } from "vitest";
import { ASKED_UNITS } from "../../../src/core/limits.ts";
import type { RunRecord } from "../../../src/core/ports/engine.ts";
import { type BatchRules, batchStep, batchWith } from "../../../src/core/runs/batch.ts";
import { type Job, toPayload } from "../../../src/core/runs/job.ts";
import { at } from "../../fakes/memory-adapter.ts";

const T0 = Date.UTC(2026, 10, 30, 10, 0, 0);
const DEBOUNCE: BatchRules = { debounceMs: 2000, anyWaiting: false };
const COLLECT: BatchRules = { debounceMs: 0, anyWaiting: true };
const MIA = { id: "7", name: "Mia", isBot: false };
const IMAGE = [{ mediaType: "image/png" }];

function message(id: string, atMs: number, over: Partial<Job> & { readonly kind?: string } = {}): RunRecord {
  const { kind = "agent", ...job } = over;
  const payload = toPayload({
    sessionKey: "agent:main:main",
    trigger: "user",
    text: id,
    atMs,
    provenance: { kind: "external_user" },
    chain: [],
    sender: MIA,
    replyTo: at("telegram", "group", "-100"),
    ...job,
    // A key as it is written.
  } as Job);
  return { id, lane: "lane", pool: "agents", kind, payload, state: "queued", attempt: 1, enqueuedAtMs: atMs };
}

const many = (count: number, sinceMs = T0) => ({
  sinceMs,
  messages: batchWith(message("m", T0)).messages.flatMap((one) => Array.from({ length: count }, () => one)),
});

describe("a message and the one behind it", () => {
  const cases: readonly (readonly [string, BatchRules, Partial<Job>, Parameters<typeof message>, boolean])[] =
    [
      ["the same person at once", DEBOUNCE, {}, ["b", T0 + 1999], true],
      ["the same person later", DEBOUNCE, {}, ["b", T0 + 2000], false],
      ["the same person, the clock set back", DEBOUNCE, {}, ["b", T0 - 3_600_000], true],
      ["another person", DEBOUNCE, {}, ["b", T0, { sender: { ...MIA, id: "8" } }], false],
      ["an attachment behind words", DEBOUNCE, {}, ["b", T0, { attachments: IMAGE }], true],
      ["words behind an attachment", DEBOUNCE, { attachments: IMAGE }, ["b", T0], false],
      [
        "the last within five times the wait",
        DEBOUNCE,
        { batch: many(1, T0 - 8500) },
        ["b", T0 + 1499],
        true,
      ],
      ["the first after it", DEBOUNCE, { batch: many(1, T0 - 8500) }, ["b", T0 + 1500], false],
      ["another person that waits", COLLECT, {}, ["b", T0 + 1e9, { sender: { ...MIA, id: "8" } }], true],
      ["another thread", COLLECT, {}, ["b", T0, { replyTo: at("telegram", "group", "-100", "5") }], false],
      ["another chat", COLLECT, {}, ["b", T0, { replyTo: at("telegram", "group", "-200") }], false],
      ["an owner behind somebody", COLLECT, {}, ["b", T0, { byOwner: true }], false],
      ["somebody behind an owner", COLLECT, { byOwner: true }, ["b", T0], false],
      ["the first message of /new", COLLECT, {}, ["b", T0, { alone: true }], false],
      ["another session", COLLECT, {}, ["b", T0, { trigger: "send", exchangeId: "send:x" }], false],
      ["the host program", COLLECT, {}, ["b", T0, { trigger: "gateway" }], false],
      ["a child's end", COLLECT, {}, ["b", T0, { kind: "child" }], false],
      ["the twentieth", COLLECT, { batch: many(18) }, ["b", T0], true],
      ["the twenty-first", COLLECT, { batch: many(19) }, ["b", T0], false],
      ["as much as a prompt holds", COLLECT, {}, ["b", T0, { text: "x".repeat(ASKED_UNITS - 1) }], true],
      ["more than that", COLLECT, {}, ["b", T0, { text: "x".repeat(ASKED_UNITS) }], false],
    ];

  it.each(cases)("RUN-1 IN-1: %s", (_, rules, own, next, isOne) => {
    expect(batchStep(message("a", T0, own), message(...next), rules, T0 + 5000)).toBe(
      isOne ? "join" : "answer",
    );
  });
});

describe("a message behind which nothing stands", () => {
  const cases: readonly (readonly [string, Partial<Job>, number, ReturnType<typeof batchStep>])[] = [
    ["waits for its time", {}, 500, { waitUntilMs: T0 + 2000 }],
    ["and no longer", {}, 2000, "answer"],
    [
      "waits for the rest of five times the wait",
      { batch: many(3, T0 - 9000) },
      0,
      { waitUntilMs: T0 + 1000 },
    ],
    ["waits for nothing with an attachment", { attachments: IMAGE }, 0, "answer"],
    ["waits for nothing when the clock was set back", {}, -1, "answer"],
    [
      "waits for its time when it was set back before",
      { batch: many(1, T0 + 3_600_000) },
      0,
      { waitUntilMs: T0 + 2000 },
    ],
  ];

  it.each(cases)("IN-1: %s", (_, own, afterMs, step) => {
    expect(batchStep(message("a", T0, own), undefined, DEBOUNCE, T0 + afterMs)).toEqual(step);
  });
});
