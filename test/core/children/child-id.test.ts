import fc from "fast-check";
import { expect, it } from "vitest";
import { childIdFor, childIdIn } from "../../../src/core/children/child-id.ts";
import { spawnRunId } from "../../../src/core/runs/run-id.ts";
import { subagentKey } from "../../../src/core/session/key.ts";
import { key } from "../session/a-session.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it("SPAWN-1: a child is named by a UUID, the same one for the same run", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (scope, callId) => {
      const id = childIdFor(spawnRunId(scope, callId));
      expect(id).toMatch(UUID);
      expect(childIdFor(spawnRunId(scope, callId))).toBe(id);
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
      const ids = some.map(([scope, callId]) => childIdFor(spawnRunId(scope, callId)));
      expect(new Set(ids).size).toBe(some.length);
    }),
  );
  // What one part ends with is never what the next begins with.
  expect(spawnRunId("a:b", "c")).not.toBe(spawnRunId("a", "b:c"));
});

it("SPAWN-1: a child is found in its session's key, and in no other", () => {
  const id = childIdFor("spawn:run:call-1");
  expect(childIdIn(subagentKey("ops", id))).toBe(id);
  expect(childIdIn(key(`subagent:${id}`))).toBe(id);
  for (const other of ["agent:main:main", `cron:${id}`, "agent:main:discord:channel:1:thread:2"]) {
    expect(childIdIn(key(other))).toBeUndefined();
  }
});
