import { describe, expect, it } from "vitest";
import type { AgentRunner, BoundTool, NewEntry, RunOutcome } from "../../../src/core/ports/run.ts";
import type { Words } from "../../../src/core/runs/ending.ts";
import { recordCalls } from "../../../src/core/runs/recorder.ts";
import { runAgent } from "../../../src/core/runs/run-agent.ts";
import { aRequest, aTool, onceAborted } from "../../fakes/a-request.ts";
import { type FakeClock, fakeClock } from "../../fakes/fake-clock.ts";

const AS_WRITTEN: Words = { hear: (text) => ({ kind: "text", text }), mask: (text) => text };

interface Setting {
  readonly timeoutMs?: number;
  readonly tools?: readonly BoundTool[];
  readonly clock?: FakeClock;
}

/** The run of one agent, begun; `ending` is what came of it, as soon as something has. */
function begin(
  run: AgentRunner["run"],
  { timeoutMs = 10_000, tools = [], clock = fakeClock() }: Setting = {},
) {
  const claim = new AbortController();
  const calls = recordCalls(tools, "run-7", clock);
  const limits = { timeoutMs, signal: claim.signal, clock };
  const request = aRequest({ tools: calls.tools });
  const running = runAgent({ run }, request, limits, calls, AS_WRITTEN);
  let ended: Awaited<typeof running> | undefined;
  void running.then((result) => {
    ended = result;
  });
  return {
    clock,
    abort: (cause: string) => claim.abort(cause),
    running,
    ending: () => ended?.ending,
  };
}

/** An agent that heeds its signal, and remembers why it was stopped. */
function obedient() {
  const reasons: unknown[] = [];
  const run: AgentRunner["run"] = (_request, signal) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        reasons.push(signal.reason);
        resolve({ status: "aborted" });
      });
    });
  return { run, reasons };
}

/** An agent that answers after so many ms of the fake clock, whatever its signal says. */
function answeringAfter(ms: number, clock: FakeClock): AgentRunner["run"] {
  return () => new Promise((resolve) => clock.after(ms, () => resolve({ status: "ok", reply: "done" })));
}

const deaf: AgentRunner["run"] = () => new Promise(() => {});

describe("how a run ends", () => {
  it("SEND-2: an answer ends it, and nothing is left on the clock or the signal", async () => {
    const { running, clock, abort } = begin(async () => ({
      status: "ok",
      reply: "done",
      model: "m-1",
      usage: { totalTokens: 3 },
    }));
    expect(await running).toEqual({
      ending: { kind: "ok", spoken: { kind: "text", text: "done" }, written: "done" },
      made: { entries: [], model: "m-1", usage: { totalTokens: 3 } },
    });
    abort("cancelled");
    expect(clock.pending()).toBe(0);
  });

  it("D03: an agent that never answers times out at its limit", async () => {
    const { run } = obedient();
    const { clock, ending } = begin(run);
    await clock.advance(9_999);
    expect(ending()).toBeUndefined();
    await clock.advance(1);
    expect(ending()).toEqual({ kind: "timeout", error: "timed out after 10 s" });
    expect(clock.pending()).toBe(0);
  });

  it.each([
    [9_900, "ok"],
    [10_000, "timeout"],
    [10_400, "timeout"],
  ])("D03: an answer after %i ms of 10 s counts as %s", async (answerMs, kind) => {
    const clock = fakeClock();
    const { ending } = begin(answeringAfter(answerMs, clock), { clock });
    await clock.advance(12_000);
    expect(ending()?.kind).toBe(kind);
    expect(clock.pending()).toBe(0);
  });

  it("D05: a limit of 0 is none", async () => {
    const clock = fakeClock();
    const { ending } = begin(answeringAfter(86_400_000, clock), { clock, timeoutMs: 0 });
    await clock.advance(86_399_999);
    expect(ending()).toBeUndefined();
    await clock.advance(1);
    expect(ending()?.kind).toBe("ok");
  });

  it.each([
    ["cancelled", "killed"],
    ["stopping", "interrupted"],
    ["lease lost", "interrupted"],
  ])("an abort because of %j ends it as %s", async (cause, kind) => {
    const { run } = obedient();
    const { abort, running } = begin(run);
    abort(cause);
    expect((await running).ending.kind).toBe(kind);
  });

  it("D03: the first cause wins: stopped before its time was up, it was stopped", async () => {
    const { clock, abort, ending } = begin(deaf);
    await clock.advance(9_500);
    abort("cancelled");
    await clock.advance(1_000);
    expect(ending()).toEqual({ kind: "killed" });
  });

  it("D03: the first cause wins: out of time before it was stopped, it was out of time", async () => {
    const { clock, abort, ending } = begin(deaf);
    await clock.advance(10_500);
    abort("cancelled");
    await clock.advance(500);
    expect(ending()).toEqual({ kind: "timeout", error: "timed out after 10 s" });
  });

  it.each([
    ["stopping", "ok"],
    ["cancelled", "killed"],
  ])("D03: an answer within the grace after an abort by %j makes it %s", async (cause, kind) => {
    const clock = fakeClock();
    const { abort, ending } = begin(answeringAfter(600, clock), { clock });
    abort(cause);
    await clock.advance(600);
    expect(ending()?.kind).toBe(kind);
  });

  it("an agent that ignores its signal is left behind after a second", async () => {
    const { clock, abort, ending } = begin(deaf);
    abort("cancelled");
    await clock.advance(999);
    expect(ending()).toBeUndefined();
    await clock.advance(1);
    expect(ending()).toEqual({ kind: "killed" });
    expect(clock.pending()).toBe(0);
  });

  it("a run that was stopped before it began does not begin", async () => {
    const clock = fakeClock();
    let begun = false;
    const runner: AgentRunner = {
      async run() {
        begun = true;
        return { status: "ok", reply: "too late" };
      },
    };
    const limits = { timeoutMs: 1000, signal: AbortSignal.abort("cancelled"), clock };
    const { ending } = await runAgent(
      runner,
      aRequest(),
      limits,
      recordCalls([], "run-7", clock),
      AS_WRITTEN,
    );
    expect({ ending, begun, timers: clock.pending() }).toEqual({
      ending: { kind: "killed" },
      begun: false,
      timers: 0,
    });
  });

  it("agents are stopped with the errors that fetch and its libraries know", async () => {
    const stopped = obedient();
    const { abort, running } = begin(stopped.run);
    abort("cancelled");
    await running;
    const late = obedient();
    await begin(late.run).clock.advance(10_000);
    expect(
      [...stopped.reasons, ...late.reasons].map((reason) => reason instanceof Error && reason.name),
    ).toEqual(["AbortError", "TimeoutError"]);
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["a bare string", "hello"],
    ["an unknown status", { status: "done" }],
    ["no reply", { status: "ok" }],
    ["no reason", { status: "error" }],
  ])("a runner that returns %s has failed, and the run ends all the same", async (_what, returned) => {
    // What a runner in plain JavaScript may do.
    const { running } = begin(async () => returned as RunOutcome);
    expect((await running).ending).toEqual({
      kind: "failed",
      error: "the agent runner returned no outcome",
    });
  });

  it.each<[string, AgentRunner["run"]]>([
    [
      "at once",
      () => {
        throw new Error("no key");
      },
    ],
    ["later", () => Promise.reject(new Error("no key"))],
  ])("A05: a runner that throws %s has failed with its reason", async (_when, run) => {
    const { running, clock } = begin(run);
    expect((await running).ending).toEqual({ kind: "failed", error: "no key" });
    expect(clock.pending()).toBe(0);
  });
});

describe("what a run has made", () => {
  const row = (id: string): NewEntry[] => [
    { role: "assistant", content: [{ type: "toolCall", id, name: "weather", arguments: {} }], atMs: 1 },
    {
      role: "toolResult",
      content: [{ type: "toolResult", id, name: "weather", text: "rain", isError: false }],
      atMs: 2,
    },
  ];

  /** An agent that calls sessions_list and then ends so. */
  const calling =
    (outcome: RunOutcome): AgentRunner["run"] =>
    async ({ tools }, signal) => {
      await tools[0]?.call({}, { callId: "call-1", signal });
      return outcome;
    };

  it("the calls of bound tools, when the runner reports no rows", async () => {
    const { running } = begin(calling({ status: "ok", reply: "x" }), { tools: [aTool("sessions_list")] });
    expect(idsOf((await running).made.entries)).toEqual(["toolCall call-1", "toolResult call-1"]);
  });

  it("the runner's rows alone, when it reports them and came to its end", async () => {
    const outcome: RunOutcome = { status: "ok", reply: "x", entries: row("call-w") };
    const { running } = begin(calling(outcome), { tools: [aTool("sessions_list")] });
    expect((await running).made.entries).toEqual(outcome.entries);
  });

  it("the runner's rows and the calls that are not in them, when it broke off", async () => {
    const outcome: RunOutcome = { status: "error", error: "429", entries: row("call-w") };
    const { running } = begin(calling(outcome), { tools: [aTool("sessions_list")] });
    expect(idsOf((await running).made.entries)).toEqual([
      "toolCall call-w",
      "toolResult call-w",
      "toolCall call-1",
      "toolResult call-1",
    ]);
  });

  it.each<[string, object, object | undefined]>([
    ["NaN", { inputTokens: 10, estimatedCostUsd: Number.NaN }, { inputTokens: 10 }],
    ["infinity", { inputTokens: 10, estimatedCostUsd: Number.POSITIVE_INFINITY }, { inputTokens: 10 }],
    ["null", { inputTokens: 3, estimatedCostUsd: null }, { inputTokens: 3 }],
    ["text", { inputTokens: "12", outputTokens: 4 }, { outputTokens: 4 }],
    ["less than nothing", { inputTokens: -4, outputTokens: 0 }, { outputTokens: 0 }],
    ["nothing but NaN", { totalTokens: Number.NaN }, undefined],
  ])("ANN-3: of its usage what is a number from 0 on, and not %s", async (_, usage, counted) => {
    const { running } = begin(calling({ status: "ok", reply: "x", usage }));
    const { made, ending } = await running;
    expect(made.usage).toEqual(counted);
    expect(ending).toMatchObject({ kind: "ok" });
  });

  it("of what a runner written in JavaScript reports nothing that has another shape", async () => {
    const good = row("call-w");
    const text = { type: "text", text: "hi" };
    const odd: readonly unknown[] = [
      null,
      "text",
      { role: "assistant" },
      { role: "robot", content: [text] },
      { role: "assistant", content: "hi" },
      { role: "assistant", content: [null] },
      { role: "assistant", content: [{ type: "text" }] },
      { role: "assistant", content: [{ type: "toolCall", id: 5, name: "x" }] },
      { role: "toolResult", content: [{ type: "toolResult", id: "c", name: "x" }] },
      { role: "assistant", content: [{ type: "attachment" }] },
    ];
    // What a runner without types may answer.
    const outcome = { status: "ok", reply: "x", entries: [...odd, ...good], usage: "12", model: 5 } as never;
    const { made } = await begin(calling(outcome)).running;
    expect(made).toEqual({ entries: good });
    for (const entries of [null, "x", {}]) {
      // The same.
      const { running } = begin(calling({ status: "ok", reply: "x", entries } as never), {
        tools: [aTool("sessions_list")],
      });
      expect(idsOf((await running).made.entries)).toEqual(["toolCall call-1", "toolResult call-1"]);
    }
  });

  it("a call that was under way when its agent was left behind, with a result that says so", async () => {
    const silent = aTool("sessions_send", () => new Promise(() => {}));
    const { clock, abort, running } = begin(
      async ({ tools }, signal) => {
        await tools[0]?.call({ message: "hi" }, { callId: "call-1", signal });
        return { status: "ok", reply: "never" };
      },
      { tools: [silent] },
    );
    await clock.advance(10);
    abort("cancelled");
    await clock.advance(1_000);
    const { made } = await running;
    expect(idsOf(made.entries)).toEqual(["toolCall call-1", "toolResult call-1"]);
    expect(made.entries[1]?.content).toMatchObject([{ isError: true }]);
  });

  it("nothing that an agent does after its abort: its tools act no more", async () => {
    const tool = aTool("sessions_send");
    const answers: unknown[] = [];
    const { running, abort } = begin(
      async ({ tools }, signal) => {
        await onceAborted({ input: {}, callId: "", signal });
        answers.push((await tools[0]?.call({ message: "hi" }, { callId: "call-1", signal }))?.value);
        return { status: "aborted" };
      },
      { tools: [tool] },
    );
    abort("cancelled");
    expect((await running).made.entries).toEqual([]);
    expect(answers).toEqual([expect.objectContaining({ status: "error", code: "CLOSED" })]);
    expect(tool.seen).toEqual([]);
  });

  it("nothing that an agent does after its answer", async () => {
    const tool = aTool("sessions_send");
    let late: BoundTool | undefined;
    const { running } = begin(
      async ({ tools }) => {
        late = tools[0];
        return { status: "ok", reply: "done" };
      },
      { tools: [tool] },
    );
    await running;
    const signal = new AbortController().signal;
    expect((await late?.call({}, { callId: "call-1", signal }))?.value).toMatchObject({ code: "CLOSED" });
    expect(tool.seen).toEqual([]);
  });
});

function idsOf(entries: readonly NewEntry[]): readonly string[] {
  return entries.flatMap(({ content }) =>
    content.flatMap((block) => ("id" in block ? [`${block.type} ${block.id}`] : [])),
  );
}
