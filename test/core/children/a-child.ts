import type { Child } from "../../../src/core/ports/child.ts";
import { key } from "../session/a-session.ts";

const ID = "22222222-3333-8444-a555-666666666666";

/** A child of main's own session that was asked to count; at work unless said otherwise. */
export function aChild(over: Partial<Child> = {}): Child {
  return {
    id: ID,
    runId: "spawn:run:call-1",
    key: key(`agent:main:subagent:${ID}`),
    requester: key("agent:main:main"),
    task: "count",
    runtime: "subagent",
    depth: 1,
    number: 1,
    audience: "auto",
    cleanup: "keep",
    chain: [],
    spawnedAtMs: 0,
    timeoutSeconds: 0,
    ...over,
  };
}
