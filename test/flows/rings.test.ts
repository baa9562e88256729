import { describe, expect, it } from "vitest";
import { aBoard, OPEN, type Script } from "../fakes/a-board.ts";
import type { Answer } from "../fakes/asking.ts";
import { gate } from "../fakes/gate.ts";
import { at } from "../fakes/memory-adapter.ts";

const turns = (maxPingPongTurns: number) => ({ session: { agentToAgent: { maxPingPongTurns } } });

/** Agents that pass on whatever they get to the next one, `timeoutSeconds` each, and remember what they were answered. */
function relay(names: readonly string[], options: { timeoutSeconds: number; closed?: boolean }) {
  const answers: { from: string; answer: Answer }[] = [];
  const agents: Record<string, Script> = {};
  for (const [index, name] of names.entries()) {
    const next = names[index + 1] ?? (options.closed === true ? names[0] : undefined);
    agents[name] = async ({ call }) => {
      if (next === undefined) return `${name} has it`;
      const input = { agentId: next, message: "pass it on", timeoutSeconds: options.timeoutSeconds };
      const answer = await call("sessions_send", input);
      answers.push({ from: name, answer });
      return String(answer.reply ?? answer.code ?? answer.status);
    };
  }
  const refused = () => answers.filter(({ answer }) => answer.status === "error");
  const sent = () => answers.filter(({ answer }) => answer.status !== "error");
  return { agents, answers, refused, sent };
}

describe("rings of agents", () => {
  it.each([0, 30])(
    "A12 SEND-7: the send that would close a ring of three is refused with the chain (timeoutSeconds %i)",
    async (timeoutSeconds) => {
      const ring = relay(["a", "b", "c"], { timeoutSeconds, closed: true });
      const board = await aBoard({ config: { ...OPEN, ...turns(0) }, agents: ring.agents });
      await board.gateway.call("agent", { agentId: "a", message: "go" });
      await board.quiet();
      const byC = ring.answers.filter(({ from }) => from === "c").map(({ answer }) => answer);
      expect(byC.length).toBeGreaterThan(0);
      for (const answer of byC) {
        expect(answer).toMatchObject({ status: "error", code: "RING_REFUSED" });
        expect(answer.error).toContain("agent:a:main → agent:b:main → agent:c:main → agent:a:main");
      }
    },
  );

  it.each([
    { size: 3, maxTurns: 20 },
    { size: 8, maxTurns: 5 },
  ])(
    "A12 SEND-7: a ring of $size that forwards everything, replies too, comes to an end soon (at most $maxTurns turns)",
    async ({ size, maxTurns }) => {
      const names = [..."abcdefgh"].slice(0, size);
      const ring = relay(names, { timeoutSeconds: 0, closed: true });
      const board = await aBoard({ config: { ...OPEN, ...turns(maxTurns) }, agents: ring.agents });
      await board.gateway.call("agent", { agentId: "a", message: "go" });
      await board.quiet();
      expect(ring.sent().length).toBeGreaterThanOrEqual(size - 1);
      expect(ring.sent().length).toBeLessThan(100);
    },
  );

  it("A12 SEND-7: a pair that answers every message with a message of its own sends once each", async () => {
    const pair = relay(["a", "b"], { timeoutSeconds: 0, closed: true });
    const board = await aBoard({ config: { ...OPEN, ...turns(5) }, agents: pair.agents });
    await board.gateway.call("agent", { agentId: "a", message: "go" });
    await board.quiet();
    expect(pair.sent()).toHaveLength(1);
    expect(pair.refused().map(({ answer }) => answer.code)).toContain("RING_REFUSED");
  });

  it("SEND-7: a message passes through eight sends and no more", async () => {
    const names = [..."abcdefghij"];
    const chain = relay(names, { timeoutSeconds: 0 });
    const board = await aBoard({ config: { ...OPEN, ...turns(0) }, agents: chain.agents });
    await board.gateway.call("agent", { agentId: "a", message: "go" });
    await board.quiet();
    expect(chain.sent()).toHaveLength(8);
    expect(chain.refused()).toHaveLength(1);
    expect(chain.refused()[0]).toMatchObject({ from: "i", answer: { code: "HOP_LIMIT" } });
    expect(chain.refused()[0]?.answer.error).toContain("8");
    expect(board.agents.j?.turns).toEqual([]);
  });
});

describe("agents that wait for each other", () => {
  /** Two people ask two agents at the same time, and each agent asks the other one. */
  async function mutual(seconds: { a: number; b: number }) {
    const answers: Record<string, Answer> = {};
    const [aRuns, bRuns] = [gate(), gate()];
    const asks =
      (self: "a" | "b", other: string, own: typeof aRuns): Script =>
      async ({ request, call, signal }) => {
        if (request.trigger !== "user") return `${self} answers`;
        await own.pass(signal);
        const input = { agentId: other, message: "hi", timeoutSeconds: seconds[self] };
        answers[self] = await call("sessions_send", input);
        return "done";
      };
    const board = await aBoard({
      config: {
        ...OPEN,
        session: { agentToAgent: { maxPingPongTurns: 0 }, dmScope: "main" },
        bindings: [
          { agentId: "a", match: { channel: "telegram" } },
          { agentId: "b", match: { channel: "discord" } },
        ],
      },
      agents: { a: asks("a", "b", aRuns), b: asks("b", "a", bRuns) },
    });
    await board.telegram.says("go");
    await board.discord.says("go");
    await Promise.all([aRuns.reached, bRuns.reached]);
    aRuns.open();
    await board.quiet();
    bRuns.open();
    await board.quiet();
    return { board, answers };
  }

  it("SEND-7: the second of two mutual waits is refused at once, and the first gets its answer", async () => {
    const { board, answers } = await mutual({ a: 30, b: 30 });
    expect(answers.b).toMatchObject({ status: "error", code: "WAIT_CYCLE" });
    expect(answers.b?.error).toContain("Nothing was sent");
    expect(answers.b?.error).toContain("agent:a:main");
    expect(answers.a).toMatchObject({ status: "ok", reply: "b answers" });
    expect(board.agents.a?.turns.map((turn) => turn.trigger)).not.toContain("send");
  });

  it("SEND-7: a send that does not wait closes no circle", async () => {
    const { answers } = await mutual({ a: 30, b: 0 });
    expect(answers.b).toMatchObject({ status: "accepted" });
    expect(answers.a).toMatchObject({ status: "ok", reply: "b answers" });
  });

  it("RUN-1: with one slot a chain of four agents that wait for each other gets through", async () => {
    const chain = relay(["a", "b", "c", "d"], { timeoutSeconds: 30 });
    const board = await aBoard({
      config: { ...OPEN, ...turns(0), agents: { defaults: { maxConcurrent: 1 } } },
      agents: chain.agents,
    });
    await board.telegram.says("go");
    await board.quiet();
    expect(board.telegram.sent.map((one) => one.text)).toEqual(["d has it"]);
    expect(chain.answers.map(({ from }) => from)).toEqual(["c", "b", "a"]);
  });

  it("RUN-1: a run that waits does not keep other people waiting, though there is only one slot", async () => {
    const slow = gate();
    const board = await aBoard({
      config: {
        ...OPEN,
        ...turns(0),
        agents: { defaults: { maxConcurrent: 1 } },
        bindings: [{ agentId: "c", match: { channel: "discord" } }],
      },
      agents: {
        async a({ call }) {
          await call("sessions_send", { agentId: "b", message: "take your time" });
          return "a is done";
        },
        async b({ request, signal }) {
          if (request.trigger !== "send") return "ANNOUNCE_SKIP";
          await slow.pass(signal);
          return "b";
        },
        c: () => "hello",
      },
    });
    await board.telegram.says("go");
    await slow.reached;
    await board.discord.says("hi", { from: at("discord", "channel", "222") });
    await board.quiet();
    // b itself holds the slot now; c gets it as soon as b is done, whoever waits.
    expect(board.discord.sent).toEqual([]);
    slow.open();
    await board.quiet();
    expect(board.discord.sent.map((one) => one.text)).toEqual(["hello"]);
    expect(board.telegram.sent.map((one) => one.text)).toEqual(["a is done"]);
  });
});
