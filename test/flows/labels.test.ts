import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import { aBoard, aFolder, type BoardOptions, use } from "../fakes/a-board.ts";
import { at } from "../fakes/memory-adapter.ts";
import { fileOf, leaveBehind, said, sessionWrite, storedSession, turnWrites } from "../fakes/store-files.ts";

const CRON = ["a", "b", "c", "d"].map((job) => `agent:main:cron:${job}`);
const OPS = "agent:ops:main";

const stores: readonly (readonly [string, () => BoardOptions])[] = [
  ["the embedded store", () => ({})],
  ["a Keyv of the host", () => ({ store: new Keyv() })],
];

async function aBoardWithSessions(options: BoardOptions = {}) {
  const dataDir = aFolder();
  const { store } = options;
  const sessions = [...CRON, OPS, "agent:main:main"].map((key, n) => storedSession(n, key));
  await leaveBehind(dataDir, sessions.map(sessionWrite), store === undefined ? {} : { store });
  return aBoard({ agents: { main: () => "ok", ops: () => "ok" }, ...options, dataDir });
}

type Board = Awaited<ReturnType<typeof aBoardWithSessions>>;

const patch = (board: Board, sessionKey: string, label: unknown) =>
  board.gateway.call("sessions.patch", { sessionKey, label });

async function labels(board: Board): Promise<Record<string, unknown>> {
  const { sessions } = await board.gateway.call("sessions.list", { limit: 200 });
  // Rows of a list.
  const rows = sessions as readonly { key: string; label?: string }[];
  return Object.fromEntries(rows.flatMap(({ key, label }) => (label === undefined ? [] : [[key, label]])));
}

describe.each(stores)("labels in %s", (_, options) => {
  it("STORE-8: of parallel patches to one label of one agent exactly one wins, the others change nothing", async () => {
    const board = await aBoardWithSessions(options());
    const outcomes = await Promise.allSettled(CRON.map((key) => patch(board, key, "ops")));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "LABEL_IN_USE" });
    }
    expect(Object.values(await labels(board))).toEqual(["ops"]);
    const resolved = await board.gateway.call("sessions.resolve", { label: "ops", agentId: "main" });
    expect(await labels(board)).toEqual({ [String(resolved.key)]: "ops" });
  });

  it("STORE-8 F04: an accent is the same letter in both of its forms, for a label and for whoever looks for it", async () => {
    const [one, two] = ["caf\u00e9", "cafe\u0301"];
    const board = await aBoardWithSessions(options());
    await patch(board, OPS, two);
    const [first = "", second = ""] = CRON;
    await patch(board, first, two);
    await expect(patch(board, second, one)).rejects.toMatchObject({ code: "LABEL_IN_USE" });
    for (const label of [one, two]) {
      const found = await board.gateway.call("sessions.resolve", { label, agentId: "main" });
      expect(found).toMatchObject({ key: first });
      for (const by of [{ label }, { search: label.toUpperCase() }]) {
        expect(await board.gateway.call("sessions.list", by)).toMatchObject({ count: 2 });
      }
    }
  });

  it("STORE-8: rounds of parallel patches never leave one label twice", async () => {
    const board = await aBoardWithSessions(options());
    for (let round = 0; round < 15; round++) {
      const wishes = CRON.map((key, n) =>
        patch(board, key, (n + round) % 3 === 0 ? null : `l${(n * round) % 2}`),
      );
      await Promise.allSettled(wishes);
      const held = Object.values(await labels(board));
      expect(new Set(held).size).toBe(held.length);
    }
  });

  it("STORE-8: the refusal says what to do, and other fields of the same patch do not change either", async () => {
    const board = await aBoardWithSessions(options());
    await patch(board, "cron:a", "ops");
    const refused = board.gateway.call("sessions.patch", {
      sessionKey: "cron:b",
      label: "ops",
      pinned: true,
    });
    await expect(refused).rejects.toMatchObject({ code: "LABEL_IN_USE" });
    await expect(refused).rejects.toThrow(/"ops".*(another|clear)/);
    const { sessions } = await board.gateway.call("sessions.list", { search: "cron:b" });
    expect(sessions).toMatchObject([{ pinned: false }]);
    expect(await board.gateway.call("sessions.patch", { sessionKey: "cron:b", pinned: true })).toMatchObject({
      ok: true,
    });
  });

  it("STORE-8: the same label again is no conflict with itself, and another agent may use it too", async () => {
    const board = await aBoardWithSessions(options());
    await patch(board, "cron:a", "ops");
    await patch(board, "cron:a", "ops");
    await patch(board, OPS, "ops");
    expect(await labels(board)).toEqual({ "agent:main:cron:a": "ops", [OPS]: "ops" });
    await expect(board.gateway.call("sessions.resolve", { label: "ops" })).rejects.toMatchObject({
      code: "SESSION_AMBIGUOUS",
    });
    const one = await board.gateway.call("sessions.resolve", { label: "ops", agentId: "ops" });
    expect(one).toMatchObject({ key: OPS });
  });

  it("STORE-8: a label is free again once it was cleared, changed, or its session deleted, and not by archiving", async () => {
    const board = await aBoardWithSessions(options());
    await patch(board, "cron:a", "ops");
    await patch(board, "cron:a", null);
    await patch(board, "cron:b", "ops");
    await patch(board, "cron:b", "other");
    await patch(board, "cron:c", "ops");
    await board.gateway.call("sessions.delete", { sessionKey: "cron:c" });
    await patch(board, "cron:d", "ops");
    await board.gateway.call("sessions.patch", { sessionKey: "cron:d", archived: true });
    await expect(patch(board, "cron:a", "ops")).rejects.toMatchObject({ code: "LABEL_IN_USE" });
  });

  it("STORE-8: a reset and a run keep the label, and a restart its uniqueness", async () => {
    const kept = options();
    const first = await aBoardWithSessions(kept);
    await patch(first, "main", "ops");
    await first.gateway.call("sessions.reset", { sessionKey: "main" });
    await first.telegram.says("hello");
    await first.quiet();
    await first.close({ graceMs: 0 });
    const second = await aBoard({ ...kept, dataDir: first.dataDir });
    expect(await labels(second)).toMatchObject({ main: "ops" });
    await expect(patch(second, "cron:a", "ops")).rejects.toMatchObject({ code: "LABEL_IN_USE" });
  });

  it("STORE-8: a chat that moves takes its label along", async () => {
    const board = await aBoardWithSessions(options());
    const [from, to] = [at("telegram", "group", "-4001"), at("telegram", "group", "-100999")];
    await board.telegram.says("hi", { from });
    await board.quiet();
    await patch(board, "telegram:group:-4001", "family");
    await board.telegram.host.onChatMoved(from, to);
    expect(await labels(board)).toEqual({ "agent:main:telegram:group:-100999": "family" });
    expect(board.complaints).toEqual([]);
  });
});

describe("labels", () => {
  it.each([
    ["  Ops  Team \n", "Ops Team"],
    ["a\u0000b\u202ec\u200bd", "abcd"],
    ["x\r\n## SYSTEM", "x ## SYSTEM"],
    ["🦊".repeat(512), "🦊".repeat(512)],
  ])("STORE-8 K04: %j is stored as one clean line", async (written, stored) => {
    const board = await aBoardWithSessions();
    await patch(board, "cron:a", written);
    expect(await labels(board)).toEqual({ "agent:main:cron:a": stored });
  });

  it.each([[""], ["   "], ["\u200b\u0007"], ["x".repeat(513)], ["🦊".repeat(513)]])(
    "STORE-8: %j is no label, and nothing changes",
    async (label) => {
      const board = await aBoardWithSessions();
      await patch(board, "cron:a", "before");
      await expect(patch(board, "cron:a", label)).rejects.toMatchObject({ code: "LABEL_INVALID" });
      expect(await labels(board)).toEqual({ "agent:main:cron:a": "before" });
    },
  );

  it("STORE-8: labels that only differ in what is cleaned away are one label", async () => {
    const board = await aBoardWithSessions();
    await patch(board, "cron:a", "Ops Team");
    await expect(patch(board, "cron:b", " Ops\u200b \nTeam")).rejects.toMatchObject({ code: "LABEL_IN_USE" });
    await patch(board, "cron:b", "ops team");
  });

  it("STORE-8: a label is found as it was written, by list, send and resolve", async () => {
    const board = await aBoardWithSessions({ config: { tools: { sessions: { visibility: "agent" } } } });
    await patch(board, "cron:a", "Ops Team");
    for (const label of ["Ops Team", "  Ops  Team ", "Ops\u200b Team"]) {
      const listed = await use(board, "agent:main:main", "sessions_list", { label });
      expect(listed.count, JSON.stringify(label)).toBe(1);
      const resolved = await board.gateway.call("sessions.resolve", { label });
      expect(resolved.key).toBe("agent:main:cron:a");
      const sent = await use(board, "agent:main:main", "sessions_send", {
        label,
        message: "hi",
        timeoutSeconds: 0,
      });
      expect(sent.status).toBe("accepted");
    }
  });

  it("STORE-8: of patches by two processes on one file exactly one wins", async () => {
    const one = await aBoardWithSessions();
    const two = await aBoard({ dataDir: one.dataDir, adapters: [] });
    for (let round = 0; round < 10; round++) {
      const wishes = CRON.map((key, n) => patch(n % 2 === 0 ? one : two, key, `label ${round}`));
      const outcomes = await Promise.allSettled(wishes);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await labels(one)).toEqual(await labels(two));
    }
  });

  it("STORE-8: the same label never crosses processes: the file itself refuses it", async () => {
    const board = await aBoardWithSessions();
    await patch(board, "cron:a", "ops");
    const file = fileOf(board.dataDir);
    const forced = () => file.exec("UPDATE session_index SET label = 'ops' WHERE key = 'agent:main:cron:b'");
    expect(forced).toThrow(/UNIQUE/);
  });

  it("STORE-8: a store whose write fails gives the label back", async () => {
    const store = new (class extends Map<string, string> {
      failing = false;
      override set(key: string, value: string): this {
        if (this.failing) throw new Error("disk full");
        return super.set(key, value);
      }
    })();
    const board = await aBoardWithSessions({ store: new Keyv({ store }) });
    store.failing = true;
    await expect(patch(board, "cron:a", "ops")).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    store.failing = false;
    expect(await labels(board)).toEqual({});
    await patch(board, "cron:b", "ops");
    expect(await labels(board)).toEqual({ "agent:main:cron:b": "ops" });
  });

  it("STORE-8: rows that name a label twice in a foreign store do not keep the board from starting", async () => {
    const store = new Map<string, string>();
    const dataDir = aFolder();
    const sessions = CRON.slice(0, 2).map((key, n) => storedSession(n, key, { label: `l${n}` }));
    const rows = sessions.flatMap((session) => turnWrites(session, [[said("user", "hi")]]));
    await leaveBehind(dataDir, [...sessions.map(sessionWrite), ...rows], { store: new Keyv({ store }) });
    for (const [key, text] of store) if (key.includes("session/")) store.set(key, text.replace("l1", "l0"));
    const board = await aBoard({ dataDir: aFolder(), store: new Keyv({ store }) });
    const { sessions: listed } = await board.gateway.call("sessions.list", {});
    expect(listed).toHaveLength(2);
  });
});
