import { describe, expect, it } from "vitest";
import type { Session } from "../../src/core/ports/session.ts";
import { aBoard, aFolder, type Board, use } from "../fakes/a-board.ts";
import { fakeClock } from "../fakes/fake-clock.ts";
import { at } from "../fakes/memory-adapter.ts";
import {
  leaveBehind,
  said,
  sessionIdOf,
  sessionWrite,
  storedSession,
  turnWrites,
} from "../fakes/store-files.ts";

const MAIN = "agent:main:main";
const HOUR = 3_600_000;

async function row(board: Board, caller = MAIN) {
  const { sessions } = await use(board, caller, "sessions_list", { limit: 1 });
  // Rows of a list.
  const [first] = sessions as readonly { readonly [field: string]: unknown }[];
  if (first === undefined) throw new Error("There is no row.");
  return first;
}

async function texts(board: Board, sessionKey: unknown) {
  const { messages } = await use(board, MAIN, "sessions_history", { sessionKey });
  // Messages of a page.
  const rows = messages as readonly { content: readonly { text?: string }[] }[];
  return rows.map(({ content }) => content[0]?.text);
}

const CHOSEN: Partial<Session> = {
  label: "ops",
  sendPolicy: "deny",
  modelOverride: "large",
  thinkingLevel: "high",
  verboseLevel: "on",
  pinnedAtMs: 3,
  origin: at("telegram", "direct", "1001"),
  route: at("telegram", "direct", "1001"),
};
const HAPPENED: Partial<Session> = {
  usage: { totalTokens: 900, contextTokens: 1000 },
  systemSent: true,
  abortedLastRun: true,
  status: "failed",
  startedAtMs: 1,
  endedAtMs: 2,
};

/** A main session with everything that can be chosen and that can happen, begun at this time. */
async function aBoardSince(startedAtMs: number, reset: object, over: Partial<Session> = {}) {
  const dataDir = aFolder();
  const times = {
    updatedAtMs: startedAtMs,
    sessionStartedAtMs: startedAtMs,
    lastInteractionAtMs: startedAtMs,
  };
  const main = storedSession(1, MAIN, { ...CHOSEN, ...HAPPENED, ...times, ...over });
  await leaveBehind(dataDir, [sessionWrite(main), ...turnWrites(main, [[said("user", "yesterday")]])]);
  return aBoard({ dataDir, config: { session: { reset } } });
}

const localTime = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).getTime();

describe("STORE-6: a session begins anew", () => {
  it("STORE-6 H04: what people chose stays, /send off too; what was counted or happened is gone", async () => {
    const board = await aBoardSince(localTime(30, 9), { mode: "none" });
    const before = await row(board);
    const reset = await board.gateway.call("sessions.reset", { sessionKey: "main" });
    const after = await row(board);
    expect(after.sessionId).toBe(reset.sessionId);
    expect(after.sessionId).not.toBe(before.sessionId);
    for (const field of [
      "label",
      "sendPolicy",
      "modelOverride",
      "thinkingLevel",
      "verboseLevel",
      "pinnedAt",
      "origin",
      "deliveryContext",
      "lastTo",
    ]) {
      expect(before[field], field).toBeDefined();
      expect(after[field], field).toEqual(before[field]);
    }
    for (const field of [
      "totalTokens",
      "contextTokens",
      "systemSent",
      "abortedLastRun",
      "status",
      "startedAt",
      "endedAt",
      "runtimeMs",
    ]) {
      expect(before[field], field).toBeDefined();
      expect(after, field).not.toHaveProperty(field);
    }
    await board.telegram.says("are you there?");
    await board.quiet();
    expect(board.agents.main?.turns).toHaveLength(1);
    expect(board.telegram.sent).toEqual([]);
  });

  it("STORE-6: the old transcript stays readable by its id, also after a restart, and the agent does not see it", async () => {
    const board = await aBoardSince(localTime(30, 9), { mode: "none" }, { sendPolicy: "allow" });
    await board.gateway.call("sessions.reset", { sessionKey: "main" });
    await board.telegram.says("today");
    await board.quiet();
    expect(board.agents.main?.turns[0]?.history).toEqual([]);
    expect(await texts(board, "main")).toEqual(["today", "ok"]);
    expect(await texts(board, sessionIdOf(1))).toEqual(["yesterday"]);
    await board.close({ graceMs: 0 });
    const again = await aBoard({ dataDir: board.dataDir, config: { session: { reset: { mode: "none" } } } });
    expect(await texts(again, "main")).toEqual(["today", "ok"]);
    expect(await texts(again, sessionIdOf(1))).toEqual(["yesterday"]);
  });

  it.each<[string, object, number, number, boolean]>([
    ["the day turned at 4", {}, localTime(29, 23), localTime(30, 5), true],
    ["the day has not turned yet", {}, localTime(29, 23), localTime(30, 3, 59), false],
    ["the day turned long ago, in this session", {}, localTime(30, 5), localTime(30, 23), false],
    ["the day turned at the configured hour", { atHour: 12 }, localTime(30, 11), localTime(30, 12, 1), true],
    ["an hour of silence in idle mode", { mode: "idle" }, localTime(30, 5), localTime(30, 6), true],
    ["less silence in idle mode", { mode: "idle" }, localTime(30, 5), localTime(30, 5, 59), false],
    [
      "the day turned in idle mode",
      { mode: "idle", idleMinutes: 9000 },
      localTime(29, 23),
      localTime(30, 5),
      false,
    ],
    ["idle minutes beside daily", { idleMinutes: 10 }, localTime(30, 5), localTime(30, 5, 10), true],
    ["mode none", { mode: "none" }, localTime(1, 5), localTime(30, 23), false],
  ])("STORE-6: %s", async (_, reset, startedAtMs, nowMs, isReset) => {
    const dataDir = aFolder();
    const times = {
      updatedAtMs: startedAtMs,
      sessionStartedAtMs: startedAtMs,
      lastInteractionAtMs: startedAtMs,
    };
    const main = storedSession(1, MAIN, times);
    await leaveBehind(dataDir, [sessionWrite(main), ...turnWrites(main, [[said("user", "before")]])]);
    const board = await aBoard({ dataDir, clock: fakeClock(nowMs), config: { session: { reset } } });
    await board.telegram.says("now");
    await board.quiet();
    expect((await row(board)).sessionId === sessionIdOf(1)).toBe(!isReset);
    expect(await texts(board, "main")).toEqual(isReset ? ["now", "ok"] : ["before", "now", "ok"]);
    expect(await texts(board, sessionIdOf(1))).toEqual(isReset ? ["before"] : ["before", "now", "ok"]);
  });

  it("STORE-6: only people keep a session awake: internal runs neither reset it nor refresh its silence", async () => {
    const board = await aBoard({ config: { session: { reset: { mode: "idle", idleMinutes: 60 } } } });
    await board.telegram.says("hello");
    await board.quiet();
    const { sessionId } = await row(board);
    await board.clock.advance(0.9 * HOUR);
    await board.gateway.call("agent", { sessionKey: MAIN, message: "cron tick" });
    await board.quiet();
    await board.clock.advance(0.9 * HOUR);
    await board.gateway.call("agent", { sessionKey: MAIN, message: "cron tick" });
    await board.quiet();
    expect((await row(board)).sessionId).toBe(sessionId);
    await board.telegram.says("back again");
    await board.quiet();
    expect((await row(board)).sessionId).not.toBe(sessionId);
    expect(await texts(board, "main")).toEqual(["back again", "ok"]);
  });

  it("STORE-6: a reset during a run leaves that run's words in the old transcript and its figures out of the new one", async () => {
    let goOn = () => {};
    const going = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const board = await aBoard({
      agents: {
        async main({ text }) {
          if (text === "slow") await going;
          return { status: "ok", reply: `re: ${text}`, usage: { totalTokens: 77 } };
        },
      },
    });
    const started = board.next("run.started");
    await board.telegram.says("slow");
    await started;
    const { sessionId } = await row(board);
    await board.gateway.call("sessions.reset", { sessionKey: MAIN });
    goOn();
    await board.quiet();
    expect(await texts(board, sessionId)).toEqual(["slow", "re: slow"]);
    expect(await texts(board, "main")).toEqual([]);
    expect(await row(board)).not.toHaveProperty("totalTokens");
    expect(board.telegram.sent.map(({ text }) => text)).toEqual(["re: slow"]);
  });

  it("STORE-6: what cannot be reset is said, and parallel resets leave one session", async () => {
    const board = await aBoard();
    await expect(board.gateway.call("sessions.reset", { sessionKey: "main" })).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
    await board.telegram.says("hello");
    await board.quiet();
    const resets = await Promise.all(
      Array.from({ length: 5 }, () => board.gateway.call("sessions.reset", { sessionKey: "main" })),
    );
    const ids = resets.map(({ sessionId }) => sessionId);
    expect(new Set(ids).size).toBe(5);
    expect(ids).toContain((await row(board)).sessionId);
  });

  it("G06: neither a command nor a look wakes a stale session; the next message does", async () => {
    const board = await aBoardSince(localTime(29, 9), {}, { sendPolicy: "allow" });
    await board.telegram.says("/status");
    await board.telegram.says("/send");
    await board.quiet();
    await texts(board, "main");
    expect((await row(board)).sessionId).toBe(sessionIdOf(1));
    await board.telegram.says("hello");
    await board.quiet();
    expect((await row(board)).sessionId).not.toBe(sessionIdOf(1));
  });
});
