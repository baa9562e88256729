import { describe, expect, it } from "vitest";
import type { RunOutcome } from "../../../src/core/ports/run.ts";
import {
  afterRun,
  type Ending,
  endingEntries,
  endingOf,
  errorOf,
  type Words,
} from "../../../src/core/runs/ending.ts";
import { aSession } from "../session/a-session.ts";

const words: Words = {
  hear: (written) => ({ kind: "text", text: written.toUpperCase() }),
  mask: (text) => text.replaceAll("sk-1234", "•••"),
};
const ok: RunOutcome = { status: "ok", reply: "done" };
const yielded: RunOutcome = { status: "yielded" };
const aborted: RunOutcome = { status: "aborted" };
const error: RunOutcome = { status: "error", error: "no key" };

const endings: Readonly<Record<Ending["kind"], Ending>> = {
  ok: { kind: "ok", spoken: { kind: "silent" }, written: "NO_REPLY" },
  yielded: { kind: "yielded" },
  failed: { kind: "failed", error: "no key" },
  timeout: { kind: "timeout", error: "timed out after 10 s" },
  killed: { kind: "killed" },
  interrupted: { kind: "interrupted" },
};

describe("the ending of a run", () => {
  it.each<[RunOutcome, string, string]>([
    [ok, "none", "ok"],
    [yielded, "none", "yielded"],
    [error, "none", "failed"],
    [aborted, "none", "failed"],
    [ok, "cancelled", "killed"],
    [yielded, "cancelled", "killed"],
    [error, "cancelled", "killed"],
    [aborted, "cancelled", "killed"],
    [ok, "stopping", "ok"],
    [yielded, "stopping", "yielded"],
    [error, "stopping", "interrupted"],
    [aborted, "stopping", "interrupted"],
    [ok, "lease lost", "ok"],
    [aborted, "lease lost", "interrupted"],
  ])("D03: %j after an abort by %s is %s", (outcome, abort, kind) => {
    expect(endingOf(outcome, abort === "none" ? {} : { abort }, words).kind).toBe(kind);
  });

  it.each([ok, yielded, error, aborted])(
    "D03: whatever comes after our own limit is a timeout: %j",
    (outcome) => {
      expect(endingOf(outcome, { timeoutMs: 90_500 }, words)).toEqual({
        kind: "timeout",
        error: "timed out after 90.5 s",
      });
    },
  );

  it("K08: what others hear is cleaned, what the transcript keeps is exact", () => {
    expect(endingOf(ok, {}, words)).toEqual({
      kind: "ok",
      spoken: { kind: "text", text: "DONE" },
      written: "done",
    });
  });

  it.each([
    ["rate limit", "rate limit"],
    ["  rate\n\tlimit  ", "rate limit"],
    ["key sk-1234 refused", "key ••• refused"],
    [`${"x".repeat(296)}sk-1234`, `${"x".repeat(296)}•••`],
    ["", "the agent gave no reason"],
    [" \n ", "the agent gave no reason"],
    ["x".repeat(300), "x".repeat(300)],
    ["x".repeat(301), `${"x".repeat(299)}…`],
    ["😀".repeat(301), `${"😀".repeat(299)}…`],
  ])("A05: a reason is one short line without credentials", (said, reason) => {
    expect(endingOf({ status: "error", error: said }, {}, words)).toEqual({ kind: "failed", error: reason });
  });

  it("A05: an agent that stops by itself, without being asked to, has failed", () => {
    expect(endingOf(aborted, {}, words)).toEqual({ kind: "failed", error: "the agent stopped by itself" });
  });

  it.each<[Ending["kind"], string | undefined]>([
    ["ok", undefined],
    ["yielded", undefined],
    ["failed", "no key"],
    ["timeout", "timed out after 10 s"],
    ["killed", "stopped"],
    ["interrupted", "interrupted by restart"],
  ])("SEND-4: %s leaves the error %j", (kind, expected) => {
    expect(errorOf(endings[kind])).toBe(expected);
  });
});

describe("the rows that an ending adds", () => {
  const made = { entries: [], model: "m-1", usage: { totalTokens: 9 } };

  it("STORE-3: the exact words, with model and usage, also when nobody hears them", () => {
    expect(endingEntries(endings.ok, made, "run-7", 50)).toEqual([
      {
        role: "assistant",
        content: [{ type: "text", text: "NO_REPLY" }],
        atMs: 50,
        runId: "run-7",
        model: "m-1",
        usage: { totalTokens: 9 },
      },
    ]);
  });

  it.each<[string, Ending]>([
    ["an empty answer", { kind: "ok", spoken: { kind: "silent" }, written: " \n" }],
    ["a yield", { kind: "yielded" }],
  ])("A04: %s adds no row", (_what, ending) => {
    expect(endingEntries(ending, made, "run-7", 50)).toEqual([]);
  });

  it.each<[Ending, string]>([
    [endings.failed, "This run ended without an answer: no key."],
    [{ kind: "failed", error: "No agent." }, "This run ended without an answer: No agent."],
    [endings.timeout, "This run ended without an answer: timed out after 10 s."],
    [endings.killed, "This run ended without an answer: stopped."],
    [endings.interrupted, "This run ended without an answer: interrupted by restart."],
  ])("RUN-2: %j adds one note of the runtime, and no words of the agent", (ending, text) => {
    expect(endingEntries(ending, made, "run-7", 50)).toEqual([
      {
        role: "system",
        content: [{ type: "text", text }],
        atMs: 50,
        runId: "run-7",
        provenance: { kind: "internal_system" },
      },
    ]);
  });
});

describe("the session after a run", () => {
  const session = aSession("agent:main:main", {
    updatedAtMs: 100,
    lastInteractionAtMs: 90,
    usage: { totalTokens: 5 },
    model: "m-0",
    abortedLastRun: true,
  });
  const ran = { sessionId: session.sessionId, startedAtMs: 200, nowMs: 300, isAside: false };

  it.each<[Ending["kind"], string, boolean]>([
    ["ok", "done", false],
    ["yielded", "done", false],
    ["failed", "failed", false],
    ["timeout", "timeout", true],
    ["killed", "killed", true],
    ["interrupted", "failed", true],
  ])("STORE-1: after %s it is %s, aborted: %s", (kind, status, abortedLastRun) => {
    const made = { entries: [], model: "m-1", usage: { totalTokens: 9 } };
    expect(afterRun(session, ran, endings[kind], made)).toEqual({
      ...session,
      updatedAtMs: 300,
      systemSent: true,
      status,
      startedAtMs: 200,
      endedAtMs: 300,
      abortedLastRun,
      model: "m-1",
      usage: { totalTokens: 9 },
      ...(kind === "yielded" ? { yielded: true } : {}),
      ...(kind === "killed" ? { unanswered: 1 } : {}),
    });
  });

  it("RUN-1: turns in a row that people ended are counted, until another end; what runs aside does not count", () => {
    const counted = (unanswered: number, kind: Ending["kind"], isAside = false) =>
      afterRun({ ...session, unanswered }, { ...ran, isAside }, endings[kind], { entries: [] }).unanswered;
    expect(counted(4, "killed")).toBe(5);
    expect([counted(4, "ok"), counted(4, "failed")]).toEqual([undefined, undefined]);
    expect([counted(4, "killed", true), counted(4, "ok", true)]).toEqual([4, 4]);
  });

  it("STORE-1: a run that reports no counters leaves those of an earlier one", () => {
    expect(afterRun(session, ran, endings.ok, { entries: [] })).toMatchObject({
      model: "m-0",
      usage: { totalTokens: 5 },
    });
  });

  it("H02: the window of one model is not shown for another that reports no counters", () => {
    const before = { ...session, usage: { totalTokens: 5, contextTokens: 200_000 } };
    expect(afterRun(before, ran, endings.ok, { entries: [], model: "m-2" }).usage).toEqual({
      totalTokens: 5,
    });
    expect(afterRun(before, ran, endings.ok, { entries: [], model: "m-0" }).usage).toEqual(before.usage);
  });

  it("STORE-6: a run that outlived a reset does not write into the new session id", () => {
    const after = afterRun({ ...session, sessionId: "new" }, ran, endings.timeout, { entries: [] });
    expect(after).toEqual({ ...session, sessionId: "new", updatedAtMs: 300 });
  });

  it("STORE-1: a session that was touched later is not set back", () => {
    expect(afterRun({ ...session, updatedAtMs: 900 }, ran, endings.ok, { entries: [] }).updatedAtMs).toBe(
      900,
    );
  });
});
