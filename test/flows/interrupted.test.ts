import { Keyv } from "keyv";
import { describe, expect, it } from "vitest";
import { aBoard, type Board, type BoardOptions, LEASE_MS, OPEN, type Script } from "../fakes/a-board.ts";
import { asking, send } from "../fakes/asking.ts";
import { type Gate, gate } from "../fakes/gate.ts";
import { at } from "../fakes/memory-adapter.ts";

const ROOM = at("discord", "channel", "222");
const ROOM_KEY = "agent:research:discord:channel:222";
const CONFIG = {
  ...OPEN,
  session: { agentToAgent: { maxPingPongTurns: 3 } },
  bindings: [{ agentId: "research", match: { channel: "discord" } }],
};

/** Ends a process as `kill -9` does and starts another one on what it left. */
async function afterCrash(board: Board, options: BoardOptions): Promise<Board> {
  const dataDir = board.snapshot();
  await board.close({ graceMs: 0 });
  const next = await aBoard({ ...options, dataDir, clock: board.clock });
  await board.clock.advance(LEASE_MS);
  await next.quiet();
  return next;
}

/** Stops a process in order, without waiting for its runs, and starts another one. */
async function afterStop(board: Board, options: BoardOptions): Promise<Board> {
  await board.close({ graceMs: 0 });
  const next = await aBoard({ ...options, dataDir: board.dataDir, clock: board.clock });
  await next.quiet();
  return next;
}

const RESTARTS = [
  { how: "a crash", restart: afterCrash },
  { how: "a stop", restart: afterStop },
];

async function row(board: Board, key: string) {
  const { sessions } = await board.gateway.call("sessions.list");
  // The shape that sessions_list documents.
  return (sessions as readonly Record<string, unknown>[]).find((one) => one.key === key);
}

async function rows(board: Board, sessionKey: string) {
  const { messages } = await board.gateway.call("chat.history", { sessionKey });
  // The shape that sessions_history documents.
  return (messages as readonly { role: string; content: readonly { text?: string }[] }[]).map((one) => ({
    role: one.role,
    text: one.content[0]?.text ?? "",
  }));
}

async function stateOf(board: Board, runId: unknown) {
  const answer = await board.gateway.call("agent.wait", { runId, timeoutSeconds: 0 });
  // The shape of ports/exchange.ts.
  return answer.exchange as { state: string; reason?: string };
}

describe("a person's message, when the process ends while it is answered", () => {
  /** Answers "first" only after the gate, everything else at once. */
  const slowFirst =
    (slow: Gate): Script =>
    async ({ text, signal }) => {
      if (text === "first") await slow.pass(signal);
      return `re: ${text}`;
    };

  it.each(RESTARTS)(
    "RUN-2: after $how is told of once, and what stood behind it is answered",
    async ({ restart }) => {
      const slow = gate();
      const board = await aBoard({ agents: { main: slowFirst(slow) } });
      await board.telegram.says("first", { locale: "es" });
      await slow.reached;
      await board.telegram.says("second");
      await board.quiet();
      const next = await restart(board, { agents: { main: slowFirst(gate()) } });

      const sent = [...board.telegram.sent, ...next.telegram.sent].map((one) => one.text);
      expect(sent).toHaveLength(2);
      expect(sent[0]).toMatch(/^Me reinicié/);
      expect(sent[1]).toBe("re: second");
      expect((await rows(next, "main")).map(({ role, text }) => [role, text])).toEqual([
        ["user", "first"],
        ["system", "This run ended without an answer: interrupted by restart."],
        ["user", "second"],
        ["assistant", "re: second"],
      ]);

      const third = await afterStop(next, { agents: { main: slowFirst(gate()) } });
      expect(third.telegram.sent).toEqual([]);
    },
  );

  it("RUN-2: shows as an aborted last run until the next one has gone well", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: slowFirst(slow) } });
    await board.telegram.says("first");
    await slow.reached;
    const next = await afterCrash(board, { agents: { main: slowFirst(gate()) } });
    expect(await row(next, "main")).toMatchObject({ abortedLastRun: true, status: "failed" });
    await next.telegram.says("second");
    await next.quiet();
    expect(await row(next, "main")).toMatchObject({ abortedLastRun: false, status: "done" });
  });

  it("RUN-2: is not run again by itself, for the agent may have acted already", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: slowFirst(slow) } });
    await board.telegram.says("first");
    await slow.reached;
    const next = await afterCrash(board, { agents: { main: () => "again?" } });
    expect(next.agents.main?.turns).toEqual([]);
  });

  it('RUN-2: is run again with agents.defaults.resume "retry", and nobody is told anything', async () => {
    const slow = gate();
    const config = { agents: { defaults: { resume: "retry" as const } } };
    const board = await aBoard({ config, agents: { main: slowFirst(slow) } });
    await board.telegram.says("first");
    await slow.reached;
    const next = await afterCrash(board, { config, agents: { main: () => "second try" } });
    expect(next.telegram.sent.map((one) => one.text)).toEqual(["second try"]);
    expect((await rows(next, "main")).map(({ text }) => text)).toEqual(["first", "second try"]);
  });

  it("RUN-2 POL-3: nothing is said in a denied chat", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: slowFirst(slow) } });
    await board.telegram.says("first");
    await slow.reached;
    await board.gateway.call("sessions.patch", { sessionKey: "main", sendPolicy: "deny" });
    const next = await afterCrash(board, { agents: { main: slowFirst(gate()) } });
    expect(next.telegram.sent).toEqual([]);
    expect((await rows(next, "main")).at(-1)?.text).toContain("interrupted by restart");
  });

  it("RUN-2: an answer that comes while the process closes is delivered by the next one", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: slowFirst(slow) } });
    await board.telegram.says("first");
    await slow.reached;
    const closing = board.close({ graceMs: 5000 });
    slow.open();
    await closing;
    const next = await aBoard({ dataDir: board.dataDir, clock: board.clock });
    await next.quiet();
    expect([...board.telegram.sent, ...next.telegram.sent].map((one) => one.text)).toEqual(["re: first"]);
  });

  it("RUN-2: a call of the host that was interrupted says so to whoever waits for it", async () => {
    const slow = gate();
    const board = await aBoard({ agents: { main: slowFirst(slow) } });
    const { runId } = await board.gateway.call("agent", { agentId: "main", message: "first" });
    await slow.reached;
    const next = await afterCrash(board, { agents: { main: slowFirst(gate()) } });
    expect(await next.gateway.call("agent.wait", { runId })).toMatchObject({
      state: "failed",
      error: "interrupted by restart",
    });
    expect(next.telegram.sent).toEqual([]);
  });
});

describe("an exchange, when the process ends during one of its runs", () => {
  type Where = "send" | "turn 1" | "turn 2" | "announce";

  /** An exchange that stops at one of its runs; `later` is how the agents go on after the restart. */
  async function stoppedAt(where: Where, timeoutSeconds: number) {
    const stop = gate();
    const { script, answers } = asking();
    let turns = 0;
    const hold = async (here: Where, signal: AbortSignal, said: string) => {
      if (here === where) await stop.pass(signal);
      return said;
    };
    const inLoop: Script = ({ signal }) => {
      turns += 1;
      return hold(turns === 1 ? "turn 1" : "turn 2", signal, `turn ${turns}`);
    };
    const board = await aBoard({
      config: CONFIG,
      agents: {
        main: (turn) => (turn.request.trigger === "reply-back" ? inLoop(turn) : script(turn)),
        research(turn) {
          const { trigger } = turn.request;
          if (trigger === "send") return hold("send", turn.signal, "all green");
          if (trigger === "announce") return hold("announce", turn.signal, "told");
          return trigger === "reply-back" ? inLoop(turn) : "hello";
        },
      },
    });
    await board.discord.says("hi", { from: ROOM });
    await board.quiet();
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "status?", timeoutSeconds }));
    await stop.reached;
    await board.quiet();
    const later: BoardOptions = {
      config: CONFIG,
      agents: {
        main: () => "REPLY_SKIP",
        research: ({ request }) => (request.trigger === "announce" ? "told" : "REPLY_SKIP"),
      },
    };
    const runId =
      answers[0]?.runId ?? board.agents.research?.turns.find((turn) => turn.trigger === "send")?.runId;
    return { board, later, runId };
  }

  const announces = (...boards: readonly Board[]) =>
    boards.flatMap((board) => board.discord.sent.map((one) => one.text)).filter((text) => text === "told");

  /** What main reads in its next run beside what was said. */
  async function notes(board: Board): Promise<readonly string[]> {
    await board.telegram.says("look");
    await board.quiet();
    const history = board.agents.main?.turns.at(-1)?.history ?? [];
    return history
      .filter((one) => one.role === "system")
      .flatMap((one) => one.content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
  }

  it.each(RESTARTS)(
    "RUN-2: $how in the first run fails it, and the requester is told by one note",
    async ({ restart }) => {
      const { board, later, runId } = await stoppedAt("send", 0);
      const next = await restart(board, later);
      expect(await stateOf(next, runId)).toMatchObject({ state: "failed", reason: "interrupted by restart" });
      expect(announces(board, next)).toEqual([]);
      const told = await notes(next);
      expect(told).toHaveLength(1);
      expect(told[0]).toContain(runId);
      expect(told[0]).toContain("interrupted by restart");
      expect(await notes(next)).toHaveLength(1);
    },
  );

  it.each(RESTARTS)(
    "RUN-2: $how while the requester waits is told once to its person and once to itself",
    async ({ restart }) => {
      const { board, later, runId } = await stoppedAt("send", 30);
      const next = await restart(board, later);
      expect(await stateOf(next, runId)).toMatchObject({ state: "failed" });
      const sent = [...board.telegram.sent, ...next.telegram.sent].map((one) => one.text);
      expect(sent).toHaveLength(1);
      expect(sent[0]).toContain("restart");
      const told = await notes(next);
      expect(told.filter((text) => text.includes("sessions_send"))).toHaveLength(1);
      expect(told.filter((text) => text.startsWith("This run ended"))).toHaveLength(1);
    },
  );

  it.each(
    RESTARTS.flatMap((one) => [
      { ...one, where: "turn 1" as const, latest: "all green" },
      { ...one, where: "turn 2" as const, latest: "turn 1" },
    ]),
  )(
    "RUN-2 A2A-2: $how in $where ends the loop, and the announce is about what was said last",
    async ({ restart, where, latest }) => {
      const { board, later, runId } = await stoppedAt(where, 30);
      const next = await restart(board, later);
      expect(announces(board, next)).toEqual(["told"]);
      expect(next.agents.research?.turns.at(-1)?.extraSystemPrompt).toContain(`Latest reply:\n> ${latest}\n`);
      expect(await stateOf(next, runId)).toMatchObject({ state: "announced" });
      const speaker = where === "turn 1" ? "agent:main:main" : ROOM_KEY;
      const said = await rows(next, speaker);
      expect(said.filter(({ text }) => text.includes("interrupted by restart"))).toHaveLength(1);
      expect(said.filter(({ role, text }) => role === "user" && text === "")).toEqual([]);
    },
  );

  it.each(RESTARTS)(
    "RUN-2 A2A-4: $how in the announce step leaves it failed; nothing is posted",
    async ({ restart }) => {
      const { board, later, runId } = await stoppedAt("announce", 30);
      const next = await restart(board, later);
      expect(announces(board, next)).toEqual([]);
      expect(await stateOf(next, runId)).toMatchObject({ state: "failed", reason: "interrupted by restart" });
    },
  );

  it("RUN-2: a requester that is killed after its answer came, but before it could use it, reads it in its turn", async () => {
    const { script, answers } = asking();
    const using = gate();
    const board = await aBoard({
      config: CONFIG,
      agents: {
        async main(turn) {
          const said = await script(turn);
          await using.pass(turn.signal);
          return said;
        },
        research: () => "X-4711",
      },
    });
    await board.telegram.says(send({ agentId: "research", message: "number?" }));
    await using.reached;
    expect(answers[0]).toMatchObject({ status: "ok", reply: "X-4711" });
    const next = await afterCrash(board, {
      config: CONFIG,
      agents: { main: () => "REPLY_SKIP", research: () => "REPLY_SKIP" },
    });
    const turn = next.agents.main?.turns.find((one) => one.trigger === "reply-back");
    expect(JSON.stringify(turn?.input.content)).toContain("X-4711");
  });
});

describe("after a restart with other settings", () => {
  it('RUN-2 SEND-7: with resume "retry" the repeated call finds its send: the target runs again, nobody asks twice', async () => {
    const config = { ...CONFIG, agents: { defaults: { resume: "retry" as const } } };
    const [first, second] = [asking(), asking()];
    const stop = gate();
    const research =
      (held?: Gate): Script =>
      async ({ request, signal }) => {
        if (request.trigger === "send") await held?.pass(signal);
        return request.trigger === "announce" ? "told" : "all green";
      };
    const board = await aBoard({ config, agents: { main: first.script, research: research(stop) } });
    await board.discord.says("hi", { from: ROOM });
    await board.quiet();
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "status?" }));
    await stop.reached;
    const next = await afterCrash(board, { config, agents: { main: second.script, research: research() } });
    expect(second.answers).toMatchObject([{ status: "ok", reply: "all green" }]);
    expect(next.telegram.sent.map((one) => one.text)).toEqual(["asked"]);
    expect(next.discord.sent.map((one) => one.text)).toEqual(["told"]);
    expect((await rows(next, ROOM_KEY)).filter(({ text }) => text === "status?")).toHaveLength(1);
  });

  it("RUN-2: a run of an agent that is not configured any more fails, and its requester is told", async () => {
    const { script, answers } = asking();
    const busy = gate();
    const board = await aBoard({
      config: CONFIG,
      agents: {
        main: script,
        research: async ({ signal }) => {
          await busy.pass(signal);
          return "never";
        },
      },
    });
    await board.discord.says("long work", { from: ROOM });
    await busy.reached;
    await board.telegram.says(send({ sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: 0 }));
    await board.quiet();
    const { runId } = answers[0] ?? {};
    const next = await afterCrash(board, { config: OPEN, agents: { main: () => "main here" } });
    expect(await stateOf(next, runId)).toMatchObject({
      state: "failed",
      reason: 'No agent "research" is configured.',
    });
    await next.telegram.says("look");
    await next.discord.says("anybody?", { from: ROOM });
    await next.quiet();
    expect(JSON.stringify(next.agents.main?.turns[0]?.history)).toContain("was not answered");
    expect(next.discord.sent.at(-1)?.text).toBe("main here");
  });
});

describe("an exchange over restarts between any two of its steps", () => {
  const SPOKEN: Readonly<Record<string, string>> = {
    send: "all green",
    "reply-back": "go on",
    announce: "told",
  };
  const agents = {
    main: (turn: Parameters<Script>[0]) => {
      const { trigger } = turn.request;
      if (trigger !== "user") return SPOKEN[trigger] ?? "";
      return turn
        .call("sessions_send", { sessionKey: ROOM_KEY, message: "status?", timeoutSeconds: 0 })
        .then(() => "asked");
    },
    research: (turn: Parameters<Script>[0]) => SPOKEN[turn.request.trigger] ?? "hello",
  };

  it("RUN-2 A2A-3: is settled and announced once wherever a crash comes, but for a first run or an announce that it cuts off", async () => {
    const board = await aBoard({ config: CONFIG, agents });
    await board.discord.says("hi", { from: ROOM });
    await board.quiet();
    const crashes: string[] = [];
    for (const name of ["run.started", "run.finished"] as const)
      board.on(name, () => crashes.push(board.snapshot()));
    await board.telegram.says("go");
    await board.quiet();
    await board.close({ graceMs: 0 });
    const runId = board.agents.research?.turns.find((turn) => turn.trigger === "send")?.runId;
    // asked, answered, three turns, announced: each as it began and as it ended.
    expect(crashes).toHaveLength(12);

    const outcomes: number[] = [];
    // The first crash comes before the send.
    for (const dataDir of crashes.slice(1)) {
      const next = await aBoard({ config: CONFIG, agents, dataDir, clock: board.clock });
      const cutOff: string[] = [];
      next.on("run.finished", ({ status, trigger }) => status === "interrupted" && cutOff.push(trigger));
      await board.clock.advance(LEASE_MS);
      await next.quiet();
      const told = next.discord.sent.filter((one) => one.text === "told").length;
      expect(cutOff.length).toBeGreaterThan(0);
      expect(told, `cut off: ${cutOff}`).toBe(cutOff.includes("send") || cutOff.includes("announce") ? 0 : 1);
      expect((await stateOf(next, runId)).state).not.toBe("open");
      outcomes.push(told);
      await next.close({ graceMs: 0 });
    }
    expect(outcomes).toContain(0);
    expect(outcomes).toContain(1);
  });

  it("RUN-2 A2A-3: is settled and announced at most once on a store without transactions, wherever a crash comes between its writes", async () => {
    const crashes: { dataDir: string; values: Map<string, string> }[] = [];
    const running: { board?: Board } = {};
    class Watched extends Map<string, string> {
      override set(key: string, value: string): this {
        super.set(key, value);
        // After the record and before the run that wrote it is settled: the store and the queue disagree.
        if (key.includes("exchange") && running.board !== undefined) {
          crashes.push({ dataDir: running.board.snapshot(), values: new Map(this) });
        }
        return this;
      }
    }
    const onStore = (values: Map<string, string>) => new Keyv({ store: values, throwOnErrors: true });
    const board = await aBoard({ config: CONFIG, agents, store: onStore(new Watched()) });
    running.board = board;
    await board.discord.says("hi", { from: ROOM });
    await board.quiet();
    await board.telegram.says("go");
    await board.quiet();
    const runId = board.agents.research?.turns.find((turn) => turn.trigger === "send")?.runId;
    await board.close({ graceMs: 0 });
    // opened, answered, three turns, announced.
    expect(crashes).toHaveLength(6);

    for (const { dataDir, values } of crashes.slice(1)) {
      const next = await aBoard({
        config: CONFIG,
        agents,
        dataDir,
        store: onStore(values),
        clock: board.clock,
      });
      await board.clock.advance(LEASE_MS);
      await next.quiet();
      const told = next.discord.sent.filter((one) => one.text === "told").length;
      const { state } = await stateOf(next, runId);
      expect(["announced", "failed"]).toContain(state);
      expect(told).toBe(state === "announced" ? 1 : 0);
      await next.close({ graceMs: 0 });
    }
  });

  it("RUN-2 A2A-3: announces exactly once, though the process is stopped after each step", async () => {
    const clockBoard = await aBoard({ config: CONFIG, agents });
    await clockBoard.discord.says("hi", { from: ROOM });
    await clockBoard.quiet();
    await clockBoard.telegram.says("go");
    let board: Board = clockBoard;
    let told = 0;
    let stops = 0;
    for (let settled = false; !settled && stops < 20; stops++) {
      const over = board.next("exchange.settled").then(() => true);
      const step = board.next("run.finished").then(() => false);
      settled = await Promise.race([over, step]);
      await board.close({ graceMs: 0 });
      told += board.discord.sent.filter((one) => one.text === "told").length;
      board = await aBoard({ config: CONFIG, agents, dataDir: board.dataDir, clock: board.clock });
    }
    await board.quiet();
    told += board.discord.sent.filter((one) => one.text === "told").length;
    expect(stops).toBeGreaterThan(3);
    expect(told).toBe(1);
  });
});
