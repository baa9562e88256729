import fc from "fast-check";
import { expect, it } from "vitest";
import { childIdFor, childIdIn } from "../../../src/core/children/child-id.ts";
import { childIdOfRun, childRunId, spawnRunId } from "../../../src/core/runs/run-id.ts";
import { subagentKey } from "../../../src/core/session/key.ts";
import { key } from "../session/a-session.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it("SPAWN-1: a child is named by a UUID, the same one for the same run", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (scope, callId) => {
      const id = childIdFor(scope, callId);
      expect(id).toMatch(UUID);
      expect(childIdFor(scope, callId)).toBe(id);
    }),
  );
});

it("D17 SPAWN-1: other calls, and calls of other runs, are other children", () => {
  const calls = fc.uniqueArray(fc.tuple(fc.string(), fc.string()), {
    selector: (call) => JSON.stringify(call),
    minLength: 2,
  });
  fc.assert(
    fc.property(calls, (some) => {
      const ids = some.map(([scope, callId]) => childIdFor(scope, callId));
      expect(new Set(ids).size).toBe(some.length);
    }),
  );
  // What one part ends with is never what the next begins with.
  expect(childIdFor("a:b", "c")).not.toBe(childIdFor("a", "b:c"));
});

it("D10 SPAWN-1: ids do not grow along a chain of spawns, and tell nothing of the chat that it began in", () => {
  let runId = "in:discord:default:222::the-message";
  for (let generation = 0; generation < 50; generation++) {
    const id = childIdFor(childRunId(runId, "completion"), "call-1");
    runId = spawnRunId(id);
    expect(runId.length).toBe(42);
    expect(childIdOfRun(childRunId(runId, "archive", 7))).toBe(id);
  }
  expect(runId).not.toContain("222");
});

it("SPAWN-1: a child is found in its session's key, and in no other", () => {
  const id = childIdFor("run", "call-1");
  expect(childIdIn(subagentKey("ops", id))).toBe(id);
  expect(childIdIn(key(`subagent:${id}`))).toBe(id);
  for (const other of ["agent:main:main", `cron:${id}`, "agent:main:discord:channel:1:thread:2"]) {
    expect(childIdIn(key(other))).toBeUndefined();
  }
});
