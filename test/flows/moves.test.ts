import { describe, expect, it } from "vitest";
import { aBoard, aFolder, type Board, OPEN, type Script } from "../fakes/a-board.ts";
import { asking, send } from "../fakes/asking.ts";
import { type Gate, gate } from "../fakes/gate.ts";
import { at } from "../fakes/memory-adapter.ts";
import { dumpOf, fileOf } from "../fakes/store-files.ts";

const LID = at("whatsapp", "direct", "111@lid");
const PHONE = at("whatsapp", "direct", "222@s.whatsapp.net");
const LID_KEY = "agent:main:whatsapp:direct:111@lid";
const PHONE_KEY = "agent:main:whatsapp:direct:+222";
const byLid = { from: LID, sender: { id: "111@lid", isBot: false } };
const byPhone = { from: PHONE, sender: { id: "+222", isBot: false } };
const byBoth = { from: LID, sender: { id: "+222", altIds: ["111@lid"], isBot: false } };
const SCOPE = { session: { dmScope: "per-channel-peer" as const } };
const PER_PERSON = { ...SCOPE, channels: { whatsapp: { dmPolicy: "open" as const } } };

const GROUP = at("telegram", "group", "-5");
const SUPERGROUP = at("telegram", "group", "-1005");
const GROUP_KEY = "agent:main:telegram:group:-5";
const SUPERGROUP_KEY = "agent:main:telegram:group:-1005";

/** Answers at once, but for the word: then it waits at the gate. */
function slowOn(word: string, slow: Gate): Script {
  return async ({ text, signal }) => {
    if (text.endsWith(word)) await slow.pass(signal);
    return `re: ${text.split(" ").at(-1)}`;
  };
}

async function rows(board: Board): Promise<readonly { readonly [field: string]: unknown }[]> {
  const { sessions } = await board.gateway.call("sessions.list");
  // The shape that sessions_list documents.
  return sessions as readonly { readonly [field: string]: unknown }[];
}

async function keys(board: Board): Promise<readonly unknown[]> {
  return (await rows(board)).map(({ key }) => key).sort();
}

async function said(board: Board, sessionKey: string): Promise<readonly string[]> {
  const { messages } = await board.gateway.call("chat.history", { sessionKey });
  // The shape that sessions_history documents.
  const entries = messages as readonly { content: readonly { text?: string }[] }[];
  return entries.map(({ content }) => content[0]?.text ?? "");
}

describe("a session whose chat gets another key while it is busy", () => {
  it("I03 RUN-1: stays until it is idle, runs one after the other, loses no word, and moves with the next message", async () => {
    const slow = gate();
    const board = await aBoard({ config: PER_PERSON, agents: { main: slowOn("one", slow) } });
    await board.whatsapp.says("one", byLid);
    await slow.reached;
    await board.whatsapp.says("two", byBoth);
    await board.whatsapp.says("three", byPhone);
    await board.quiet();
    expect(await keys(board)).toEqual([LID_KEY]);
    expect(board.agents.main?.turns).toHaveLength(1);
    slow.open();
    await board.quiet();
    expect(await said(board, LID_KEY)).toEqual(["one", "re: one", "two", "re: two", "three", "re: three"]);
    await board.whatsapp.says("four", byLid);
    await board.quiet();
    expect(await keys(board)).toEqual([PHONE_KEY]);
    expect(await said(board, PHONE_KEY)).toEqual([
      ...["one", "re: one", "two", "re: two", "three", "re: three"],
      ...["four", "re: four"],
    ]);
    expect(board.whatsapp.sent.map(({ to, text }) => [to.chatId, text])).toEqual([
      ["111@lid", "re: one"],
      ["111@lid", "re: two"],
      ["222@s.whatsapp.net", "re: three"],
      ["111@lid", "re: four"],
    ]);
    expect(board.complaints).toEqual([]);
  });

  it("I07 RUN-1: a group that became a supergroup is remembered, over a restart too, until its session is idle", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: slowOn("one", slow) } });
    await board.telegram.says("one", { from: GROUP });
    await slow.reached;
    await board.telegram.says("two", { from: GROUP });
    await board.telegram.host.onChatMoved(GROUP, SUPERGROUP);
    await board.telegram.host.onChatMoved(GROUP, SUPERGROUP);
    await board.telegram.says("three", { from: SUPERGROUP });
    await board.quiet();
    expect(await keys(board)).toEqual([GROUP_KEY]);
    expect(board.agents.main?.turns).toHaveLength(1);
    slow.open();
    await board.quiet();
    expect(board.telegram.sent.map(({ to, text }) => [to.chatId, text])).toEqual([
      ["-5", "re: one"],
      ["-5", "re: two"],
      ["-1005", "re: three"],
    ]);
    await board.close({ graceMs: 0 });

    const again = await aBoard({ dataDir: board.dataDir });
    await again.telegram.says("four", { from: SUPERGROUP });
    await again.quiet();
    expect(await keys(again)).toEqual([SUPERGROUP_KEY]);
    const words = ["one", "re: one", "two", "re: two", "three", "re: three", "four", "ok"];
    expect(await said(again, SUPERGROUP_KEY)).toEqual(words);
    expect(await said(again, GROUP_KEY)).toEqual(words);
    expect(again.complaints).toEqual([]);
  });

  it("A2A-3 RUN-1: the next step of an exchange waits for the runs that its session has under the new key", async () => {
    const { script } = asking();
    const [theirs, mine] = [gate(), gate()];
    const board = await aBoard({
      config: { ...OPEN, ...PER_PERSON },
      agents: {
        main: async (turn) => {
          if (!turn.text.endsWith("hold on")) return script(turn);
          await mine.pass(turn.signal);
          return "held";
        },
        research: async ({ request, signal }) => {
          if (request.trigger === "send") await theirs.pass(signal);
          return "hello";
        },
      },
    });
    const started: unknown[] = [];
    board.on("run.started", ({ sessionKey, trigger }) => started.push([sessionKey, trigger]));
    await board.whatsapp.says(send({ agentId: "research", message: "x", timeoutSeconds: 0 }), byLid);
    await theirs.reached;
    await board.quiet();
    await board.whatsapp.says("hold on", byBoth);
    await mine.reached;
    theirs.open();
    await board.quiet();
    expect(await keys(board)).toContain(PHONE_KEY);
    expect(started.slice(-1)).toEqual([[PHONE_KEY, "user"]]);
    mine.open();
    await board.quiet();
    expect(started.slice(3, 4)).toEqual([[PHONE_KEY, "reply-back"]]);
    expect(board.complaints).toEqual([]);
  });
});

describe("a session that moves", () => {
  const BOUND = {
    ...PER_PERSON,
    bindings: [
      { agentId: "research", match: { channel: "whatsapp", peer: { kind: "direct" as const, id: "+222" } } },
    ],
  };

  it.each([
    ["keeps its label", undefined, "ann"],
    ["leaves a label that is in use there", "ann", undefined],
  ])("I03 KEY-8: belongs to the agent of its new key, and %s", async (_, taken, expected) => {
    const board = await aBoard({
      config: BOUND,
      agents: { main: () => "main here", research: () => "research here" },
    });
    await board.whatsapp.says("one", byLid);
    await board.quiet();
    await board.gateway.call("sessions.patch", { sessionKey: LID_KEY, label: "ann" });
    await board.gateway.call("agent", { agentId: "research", message: "x" });
    await board.quiet();
    if (taken !== undefined)
      await board.gateway.call("sessions.patch", { sessionKey: "agent:research:main", label: taken });
    await board.whatsapp.says("two", byBoth);
    await board.quiet();
    const key = "agent:research:whatsapp:direct:+222";
    expect(await keys(board)).toEqual(["agent:research:main", key]);
    const moved = (await rows(board)).find((one) => one.key === key);
    expect(moved).toMatchObject({ agentId: "research" });
    expect(moved?.label).toBe(expected);
    expect(board.whatsapp.sent.map(({ text }) => text)).toEqual(["main here", "research here"]);
    expect(board.complaints).toEqual([]);
  });

  it("STORE-5 STORE-2: a person who is refused writes nothing, though the message tells that two ids are one", async () => {
    const dataDir = aFolder();
    const open = await aBoard({ config: PER_PERSON, dataDir });
    await open.whatsapp.says("one", byLid);
    await open.quiet();
    await open.close({ graceMs: 0 });
    const board = await aBoard({ config: SCOPE, dataDir });
    const file = fileOf(dataDir);
    const before = dumpOf(file);
    expect(await board.whatsapp.says("two", byBoth)).toBe("ignored");
    expect(await board.whatsapp.calls("whoami", "", byBoth)).toBeUndefined();
    await board.quiet();
    expect(dumpOf(file)).toBe(before);
    expect((await rows(board))[0]).toMatchObject({ key: LID_KEY, lastTo: "111@lid" });
  });

  it("STORE-5: neither a look nor an owner's question moves it, and both find it where it is", async () => {
    const board = await aBoard({ config: PER_PERSON, owners: { whatsapp: ["+222"] } });
    await board.whatsapp.says("one", byLid);
    await board.quiet();
    await board.whatsapp.host.onSamePerson("whatsapp", "111@lid", "+222");
    expect(await board.whatsapp.calls("send", "off", byPhone)).toContain("off");
    expect(await rows(board)).toMatchObject([{ key: LID_KEY, sendPolicy: "deny" }]);
  });
});
