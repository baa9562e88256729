import { describe, expect, it } from "vitest";
import type { AgentRunner, RunOutcome } from "../../src/core/ports/run.ts";
import { aRequest, aTool, onceAborted } from "../fakes/a-request.ts";

/** What the model does when it is asked: it speaks, calls tools (with a remark), cannot be reached, or takes the question and never answers. */
export type ModelStep =
  | { readonly says: string; readonly calls?: readonly ToolCall[] }
  | { readonly fails: string }
  | "hangs";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: { readonly [key: string]: unknown };
}

export interface OpenedRunner {
  readonly runner: AgentRunner;
  /** How often the model was asked. */
  modelCalls(): number;
  /** Resolves when the model has been asked this often. */
  asked(count: number): Promise<void>;
}

/** All that a runner of your own must supply: itself, with a model that follows the steps, one for each time that it is asked. */
export interface RunnerHarness {
  /** Whether outcomes carry `entries`; without them the core records the calls of bound tools itself. */
  readonly reportsRows: boolean;
  open(steps: readonly ModelStep[]): Promise<OpenedRunner>;
}

const ABORT_LIMIT_MS = 1000;
const NEVER = new AbortController().signal;
const list = (id: string, limit = 5): ToolCall => ({ id, name: "sessions_list", input: { limit } });

/** Every agent runner must say these sentences. */
export function agentRunnerContract(name: string, harness: RunnerHarness): void {
  const open = (...steps: readonly ModelStep[]) => harness.open(steps);

  describe(`agent runner: ${name}`, () => {
    it("SEND-2: what the agent says is the reply, exactly", async () => {
      const { runner, modelCalls } = await open({ says: "  fine ✔\nREPLY_SKIP?" });
      const outcome = await runner.run(aRequest(), NEVER);
      expect(outcome).toMatchObject({ status: "ok", reply: "  fine ✔\nREPLY_SKIP?" });
      expect(modelCalls()).toBe(1);
    });

    it("A04: an agent that says nothing has an empty reply, not an older one", async () => {
      const { runner } = await open({ says: "old text" }, { says: "" });
      await runner.run(aRequest(), NEVER);
      expect(await runner.run(aRequest(), NEVER)).toMatchObject({ status: "ok", reply: "" });
    });

    it("SEND-7: a tool gets the model's call id and its input, and its answer goes back to the model", async () => {
      const { runner, modelCalls } = await open(
        { says: "", calls: [list("call-a")] },
        { says: "There are two." },
      );
      const tool = aTool("sessions_list", () => ({ value: { count: 2 } }));
      const outcome = await runner.run(aRequest({ tools: [tool] }), NEVER);
      expect(tool.seen.map(({ callId, input }) => ({ callId, input }))).toEqual([
        { callId: "call-a", input: { limit: 5 } },
      ]);
      expect(outcome).toMatchObject({ status: "ok", reply: "There are two." });
      expect(modelCalls()).toBe(2);
    });

    it("K08: what is said between tool calls is not part of the reply", async () => {
      const { runner } = await open(
        { says: "Let me look.", calls: [list("call-a")] },
        { says: "Once more.", calls: [list("call-b", 6)] },
        { says: "Nothing new." },
      );
      const outcome = await runner.run(aRequest({ tools: [aTool("sessions_list")] }), NEVER);
      expect(outcome).toMatchObject({ status: "ok", reply: "Nothing new." });
    });

    it("a tool that answers `ends` ends the run: yielded, and the model is not asked again", async () => {
      const { runner, modelCalls } = await open(
        { says: "", calls: [{ id: "call-y", name: "sessions_yield", input: {} }] },
        { says: "too late" },
      );
      const tool = aTool("sessions_yield", () => ({ value: { status: "ok" }, ends: true }));
      const outcome = await runner.run(aRequest({ tools: [tool] }), NEVER);
      expect(outcome.status).toBe("yielded");
      expect(outcome).not.toHaveProperty("reply");
      expect(modelCalls()).toBe(1);
    });

    it("a tool that answers a failure does not end the run", async () => {
      const { runner } = await open({ says: "", calls: [list("call-a")] }, { says: "I may not." });
      const tool = aTool("sessions_list", () => ({ value: { status: "forbidden", error: "no" } }));
      const outcome = await runner.run(aRequest({ tools: [tool] }), NEVER);
      expect(outcome).toMatchObject({ status: "ok", reply: "I may not." });
    });

    it("A05: a model that cannot be reached is an error outcome with the reason, never a rejection", async () => {
      const { runner } = await open({ fails: "the quota is used up" });
      const outcome = await runner.run(aRequest(), NEVER);
      expect(outcome).toMatchObject({
        status: "error",
        error: expect.stringContaining("the quota is used up"),
      });
    });

    it("an abort while the model is silent ends the run within a second", async () => {
      const { runner, asked } = await open("hangs");
      const stop = new AbortController();
      const running = runner.run(aRequest(), stop.signal);
      await asked(1);
      await expectAbortedSoon(running, stop);
    });

    it("an abort while a tool waits reaches the tool and ends the run within a second", async () => {
      const { runner, modelCalls } = await open({ says: "", calls: [list("call-a")] }, { says: "too late" });
      const stop = new AbortController();
      const { tool, called } = waitingTool();
      const running = runner.run(aRequest({ tools: [tool] }), stop.signal);
      await called;
      await expectAbortedSoon(running, stop);
      expect(tool.seen[0]?.signal.aborted).toBe(true);
      expect(modelCalls()).toBe(1);
    });

    it("a run that was stopped before it began asks no model", async () => {
      const { runner, modelCalls } = await open({ says: "too late" });
      expect(await runner.run(aRequest(), AbortSignal.abort())).toMatchObject({ status: "aborted" });
      expect(modelCalls()).toBe(0);
    });

    it("two runs at the same time keep their tools and ends apart", async () => {
      const { runner } = await open(
        { says: "", calls: [{ id: "call-y", name: "sessions_yield", input: {} }] },
        { says: "still here" },
      );
      const tool = aTool("sessions_yield", () => ({ value: { status: "ok" }, ends: true }));
      const outcomes = await Promise.all([
        runner.run(aRequest({ runId: "run-1", tools: [tool] }), NEVER),
        runner.run(aRequest({ runId: "run-2", tools: [tool] }), NEVER),
      ]);
      expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(["ok", "yielded"]);
    });

    it.skipIf(!harness.reportsRows)(
      "rows that it reports are its calls and their results in order, without the reply",
      async () => {
        const { runner } = await open(
          { says: "", calls: [list("call-a"), list("call-b", 6)] },
          { says: "", calls: [list("call-c")] },
          { says: "the reply" },
        );
        const { entries = [] } = await runner.run(aRequest({ tools: [aTool("sessions_list")] }), NEVER);
        const blocks = entries.flatMap((entry) => entry.content);
        const ids = (type: string) =>
          blocks.flatMap((block) => (block.type === type && "id" in block ? [block.id] : []));
        expect(ids("toolCall")).toEqual(["call-a", "call-b", "call-c"]);
        expect(ids("toolResult")).toEqual(["call-a", "call-b", "call-c"]);
        expect(JSON.stringify(blocks)).not.toContain("the reply");
      },
    );
  });
}

/** A tool that answers when it is aborted, and the moment in which it was called. */
function waitingTool() {
  let tell = () => {};
  const called = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const tool = aTool("sessions_list", (call) => {
    tell();
    return onceAborted(call);
  });
  return { tool, called };
}

async function expectAbortedSoon(running: Promise<RunOutcome>, stop: AbortController): Promise<void> {
  const startedAtMs = performance.now();
  stop.abort();
  expect((await running).status).toBe("aborted");
  expect(performance.now() - startedAtMs).toBeLessThan(ABORT_LIMIT_MS);
}
