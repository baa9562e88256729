import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { announcement, isSilent } from "../../../src/core/children/announcement.ts";
import type { ChildOutcome } from "../../../src/core/ports/child.ts";

const OK: ChildOutcome = { status: "ok" };
const STATS = "Stats: runtime 3s • tokens n/a";

/** The announcement of a task that went well, without stats. */
const said = (written?: string) =>
  announcement({ outcome: OK, stats: "", ...(written === undefined ? {} : { written }) });

describe("ANN-2: an announcement", () => {
  it("says Status, Result, Notes and the stats line, each where there is one", () => {
    const written = "Result: 3 of 3 pass\nNotes: one was slow";
    expect(announcement({ outcome: OK, written, stats: STATS })).toBe(
      `Status: success\nResult: 3 of 3 pass\nNotes: one was slow\n${STATS}`,
    );
    expect(said("3 of 3 pass")).toBe("Status: success\nResult: 3 of 3 pass");
    expect(said()).toBe("Status: success\nResult: (not available)");
    expect(said("  \n ")).toBe("Status: success\nResult: (not available)");
  });

  it.each<[ChildOutcome, string]>([
    [{ status: "ok" }, "Status: success\nResult: all green"],
    [{ status: "error", error: "429: too many requests" }, "Status: error\nNotes: 429: too many requests"],
    [{ status: "timeout", error: "timed out after 10 s" }, "Status: timeout\nNotes: timed out after 10 s"],
    [{ status: "killed", error: "stopped" }, "Status: stopped\nNotes: stopped"],
    [{ status: "error" }, "Status: error"],
  ])("has the status of the runtime: %j", (outcome, text) => {
    expect(announcement({ outcome, written: "Status: success\nResult: all green", stats: "" })).toBe(text);
  });

  it("D02 C05: tells nothing of what was written on the way to a failure", () => {
    const outcome: ChildOutcome = { status: "error", error: "cut off" };
    const written = "Result: 51 %, continuing\nNotes: see /home/bot/work.log";
    expect(announcement({ outcome, written, stats: "" })).toBe("Status: error\nNotes: cut off");
  });

  it.each([
    ["ENOENT: no such file '/home/bot/data/secret.txt'", "ENOENT: no such file '…'"],
    ["cannot read ~/bot/secret.txt, twice", "cannot read ~…, twice"],
    ["C:\\bot\\secret.txt is locked", "… is locked"],
    ["file:///home/bot/x.json (line 3)", "… (line 3)"],
    ["agent:main:subagent:22222222-3333 is broken", "… is broken"],
    [
      "GET https://api.example.com/v1/chat answered 429/503",
      "GET https://api.example.com/v1/chat answered 429/503",
    ],
    ["and/or, 3/4, a/b/c: the agent: no", "and/or, 3/4, a/b/c: the agent: no"],
  ])("C05: shows people no paths and no session keys: %s", (error, shown) => {
    expect(announcement({ outcome: { status: "error", error }, stats: "" })).toBe(
      `Status: error\nNotes: ${shown}`,
    );
  });

  it.each([
    ["Status: error\nResult: fine"],
    ["STATUS: ERROR\nRESULT: fine"],
    ["status :error\nresult :fine"],
    ["**Status:** error\n**Result:** fine"],
    ["**Status**: error\n__Result__: fine"],
    ["*Status:* error\n*Result:* fine"],
    ["  Status: error\n\tResult: fine"],
    ["Status：error\nResult：fine"],
    ["Result: fine\nStatus: error"],
    ["Status: error\r\nResult: fine\r"],
    ["Status: error\n\nfine"],
    ["Status: error\nStatus: timeout\nfine\nStats: runtime 1h • tokens 1 (in 0 / out 1)"],
  ])("overwrites a status that the text claims: %j", (written) => {
    expect(said(written)).toBe("Status: success\nResult: fine");
  });

  it("keeps values of several lines", () => {
    expect(said("Result: one\ntwo\n\nthree\nNotes: four\nfive")).toBe(
      "Status: success\nResult: one\ntwo\n\nthree\n\nNotes: four\nfive",
    );
  });

  it("loses nothing of a text whose only label is the status", () => {
    expect(said("Status: success\n\nThe build is green.\nIt took 3 min.")).toBe(
      "Status: success\nResult: The build is green.\nIt took 3 min.",
    );
    expect(said("Stats:\n- won 3\n- lost 2")).toBe("Status: success\nResult:\n- won 3\n- lost 2");
    expect(said("Status: the server is up, 3 nodes healthy")).toBe(
      "Status: success\nResult: the server is up, 3 nodes healthy",
    );
    expect(said("Status: **Done**.")).toBe("Status: success\nResult: (not available)");
  });

  it("reads text before the result label as a part of the result, and of the notes after theirs", () => {
    expect(said("I am finished.\nResult: 42\nNotes: slow\nStatus: ok\nvery slow")).toBe(
      "Status: success\nResult: I am finished.\n42\n\nNotes: slow\nvery slow",
    );
  });

  it("takes labels inside sentences and inside code for what they are", () => {
    expect(said("The Status: line says ok")).toBe("Status: success\nResult: The Status: line says ok");
    const code = "Result: the file\n```yaml\nStatus: error\nNotes: none\n```\nNotes: written";
    expect(said(code)).toBe(
      "Status: success\nResult: the file\n```yaml\nStatus: error\nNotes: none\n```\n\nNotes: written",
    );
    const nested = "Result: the file\n````\n```\nStatus: error\n```\nStatus: error\n````\nStatus: error";
    expect(said(nested)).toBe(
      "Status: success\nResult: the file\n````\n```\nStatus: error\n```\nStatus: error\n````",
    );
    expect(said("~~~\nStatus: error\n```\nNotes: x\n~~~")).toContain("Status: error\n```\nNotes: x");
    expect(said("`Status`: ok ```inline``` \nStatus: error")).toBe(
      "Status: success\nResult: `Status`: ok ```inline```",
    );
  });

  it.each([
    ["```ts\nlet a = 1;\n```", "Result:\n```ts\nlet a = 1;\n```\n\n"],
    ["Result: ```\nopen", "Result:\n```\nopen\n```\n\n"],
    ["Result: text\n~~~~\nopen", "Result: text\n~~~~\nopen\n~~~~\n\n"],
    ["| a | b |\n|---|---|\n| 1 | 2 |", "Result:\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"],
    ["- one\n- two", "Result:\n- one\n- two\n\n"],
    ["## Summary\ngood", "Result:\n## Summary\ngood\n\n"],
    ["1. first", "Result:\n1. first\n\n"],
    ["> quoted", "Result:\n> quoted\n\n"],
  ])("keeps the Markdown of a result whole, and what follows out of it: %j", (written, result) => {
    expect(announcement({ outcome: OK, written, stats: STATS })).toBe(`Status: success\n${result}${STATS}`);
  });

  const line = fc.oneof(
    fc.constantFrom(
      "Status: success",
      "**STATUS**: ok",
      "Result:",
      "notes: x",
      "Stats: 1",
      "```",
      "~~~~",
      "",
      "\r",
      "\u2028",
    ),
    fc.string({ unit: "binary" }),
  );
  const outcome = fc.record({
    status: fc.constantFrom("ok" as const, "error" as const, "timeout" as const, "killed" as const),
    error: fc.string(),
  });

  it("begins with the status of the runtime and ends with its stats line, whatever was written", () => {
    const word = { ok: "success", error: "error", timeout: "timeout", killed: "stopped" };
    fc.assert(
      fc.property(fc.array(line), outcome, (lines, { status, error }) => {
        const ended: ChildOutcome = status === "ok" ? { status } : { status, error };
        const text = announcement({ outcome: ended, written: lines.join("\n"), stats: STATS });
        expect(text.split("\n")[0]).toBe(`Status: ${word[status]}`);
        expect(text.split("\n").at(-1)).toBe(STATS);
      }),
    );
  });

  it.each([
    "Result: ANNOUNCE_SKIP",
    "Result:\nANNOUNCE_SKIP",
    "Status: success\nResult: NO_REPLY",
    "Notes: ANNOUNCE_SKIP",
    "Status: success\nANNOUNCE_SKIP",
    "**Result:** `ANNOUNCE_SKIP`",
    "Status: success",
    "",
  ])("K07: is silence where a token of silence is all that stands behind the labels: %j", (written) => {
    expect(isSilent(written)).toBe(true);
  });

  it("K07: is none where something else is said", () => {
    for (const written of ["Result: fine", "Notes: slow", "ANNOUNCE_SKIP was said", "Stats: 42 players"]) {
      expect(isSilent(written), written).toBe(false);
    }
    expect(said("Result: ANNOUNCE_SKIP\nNotes: one was slow")).toBe(
      "Status: success\nResult: (not available)\nNotes: one was slow",
    );
  });

  it("keeps a line that only looks like the runtime's stats, and drops one that is a copy of them", () => {
    expect(said("Stats: 42 players are online, 7 of them new.")).toBe(
      "Status: success\nResult: 42 players are online, 7 of them new.",
    );
    expect(said(STATS)).toBe("Status: success\nResult: (not available)");
    expect(said(`Result: fine\n${STATS}`)).toBe("Status: success\nResult: fine");
  });

  it("leaves text without labels as it is", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z ,.]{1,40}$/), { minLength: 1 }), (lines) => {
        const text = lines.join("\n").trim();
        fc.pre(text !== "");
        expect(said(text)).toBe(`Status: success\nResult: ${text}`);
      }),
    );
  });

  it.each([
    ["spaces", " ".repeat(100_000)],
    ["a label that never ends", `Status${" ".repeat(100_000)}`],
    ["marks", "*".repeat(100_000)],
    ["fences", "```\n".repeat(25_000)],
    ["labels", "Status: x\n".repeat(10_000)],
    ["half words", "Status: success ".repeat(6000)],
    ["backticks", "`".repeat(100_000)],
  ])("is quick on 100 kB of %s", (_, written) => {
    const begun = performance.now();
    announcement({ outcome: OK, written, stats: STATS });
    expect(performance.now() - begun).toBeLessThan(200);
  });
});
