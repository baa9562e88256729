import { describe, expect, it } from "vitest";
import { type Telling, tellingFor } from "../../../src/core/children/audience.ts";
import type { Address } from "../../../src/core/ports/chat.ts";
import type { Child, ChildOutcome } from "../../../src/core/ports/child.ts";
import type { Session } from "../../../src/core/ports/session.ts";
import { aSession, at, key } from "../session/a-session.ts";
import { aChild } from "./a-child.ts";

const CHAT = at("telegram");
const O_KEY = "agent:main:subagent:33333333-3333-8333-a333-333333333333";

type Requester =
  | "idle"
  | "yielded"
  | "without a chat"
  | "a child at work"
  | "a child whose task is over"
  | "a child whose task ended badly";

/** How the end of a child is told to a requester that is in this state. */
function told(requester: Requester, over: Partial<Child>): Telling {
  const isChild = requester.startsWith("a child");
  const hasChat = requester === "idle" || requester === "yielded";
  const session: Partial<Session> = {
    ...(requester === "yielded" ? { yielded: true } : {}),
    ...(hasChat ? { route: CHAT } : {}),
    ...(isChild ? { spawnedBy: key("agent:main:main"), spawnDepth: 1 } : {}),
  };
  const ends: Partial<Record<Requester, ChildOutcome>> = {
    "a child whose task is over": { status: "ok" },
    "a child whose task ended badly": { status: "killed" },
  };
  const outcome = ends[requester];
  const task = aChild(outcome === undefined ? {} : { outcome });
  const child = aChild({ outcome: { status: "ok" }, ...(hasChat ? { origin: CHAT } : {}), ...over });
  return tellingFor(child, {
    session: aSession(isChild ? O_KEY : "agent:main:main", session),
    ...(isChild ? { task } : {}),
  });
}

describe("ANN-5: how the end of a task is told", () => {
  it.each<[Child["audience"], Record<Requester, Telling>]>([
    [
      "auto",
      {
        idle: "announce",
        yielded: "turn",
        "without a chat": "turn",
        "a child at work": "turn",
        "a child whose task is over": "turn",
        "a child whose task ended badly": "row",
      },
    ],
    [
      "channel",
      {
        idle: "announce",
        yielded: "both",
        "without a chat": "announce",
        "a child at work": "both",
        "a child whose task is over": "announce",
        "a child whose task ended badly": "row",
      },
    ],
    [
      "requester",
      {
        idle: "turn",
        yielded: "turn",
        "without a chat": "turn",
        "a child at work": "turn",
        "a child whose task is over": "turn",
        "a child whose task ended badly": "row",
      },
    ],
    [
      "none",
      {
        idle: "row",
        yielded: "turn",
        "without a chat": "row",
        "a child at work": "turn",
        "a child whose task is over": "row",
        "a child whose task ended badly": "row",
      },
    ],
  ])("YIELD-1: with audience %s", (audience, expected) => {
    const requesters = Object.keys(expected) as Requester[];
    const found = requesters.map((requester) => [requester, told(requester, { audience })]);
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  it.each<[Child["audience"], Record<"idle" | "yielded" | "a child at work", Telling>]>([
    ["auto", { idle: "row", yielded: "turn", "a child at work": "turn" }],
    ["channel", { idle: "row", yielded: "turn", "a child at work": "turn" }],
    ["requester", { idle: "turn", yielded: "turn", "a child at work": "turn" }],
    ["none", { idle: "row", yielded: "turn", "a child at work": "turn" }],
  ])(
    "SPAWN-7: what was said in a thread of the child is not said twice, with audience %s",
    (audience, expected) => {
      const thread: Address = { ...CHAT, threadId: "7" };
      const requesters = Object.keys(expected) as (keyof typeof expected)[];
      const found = requesters.map((requester) => [requester, told(requester, { audience, thread })]);
      expect(Object.fromEntries(found)).toEqual(expected);
    },
  );

  it.each<Child["audience"]>(["auto", "channel", "requester", "none"])(
    "D19: what the owner stopped is not told to anybody who does not wait for it, with audience %s",
    (audience) => {
      expect(told("idle", { audience, stoppedBy: "owner" })).toBe("row");
      expect(told("a child whose task is over", { audience, stoppedBy: "owner" })).toBe("row");
    },
  );

  it.each(["error", "timeout", "killed"] as const)("YIELD-1: %s wakes like success", (status) => {
    expect(told("yielded", { outcome: { status } })).toBe("turn");
    expect(told("a child at work", { outcome: { status } })).toBe("turn");
    expect(told("yielded", { outcome: { status }, stoppedBy: "requester" })).toBe("turn");
  });

  it("YIELD-1: a child at work waits also for what an owner stopped, or its task would never end", () => {
    expect(told("a child at work", { outcome: { status: "killed" }, stoppedBy: "owner" })).toBe("turn");
  });

  it("C09 ANN-5: an origin that leads nowhere counts as no chat, and so does a chat that came later", () => {
    const origin = { channel: "discord", chatType: "channel", chatId: "100" } as const;
    const lost = aChild({ outcome: { status: "ok" }, origin });
    expect(tellingFor(lost, { session: aSession("agent:main:discord:channel:100") })).toBe("turn");
    const unborn = aChild({ outcome: { status: "ok" } });
    expect(tellingFor(unborn, { session: aSession("agent:main:main", { route: CHAT }) })).toBe("turn");
  });
});
