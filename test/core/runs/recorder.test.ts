import { describe, expect, it } from "vitest";
import type { ToolOutput } from "../../../src/core/ports/run.ts";
import { isFailure, recordCalls } from "../../../src/core/runs/recorder.ts";
import { aTool, type FakeTool } from "../../fakes/a-request.ts";
import { fakeClock } from "../../fakes/fake-clock.ts";

const signal = new AbortController().signal;

/** A recorder of these tools; `call` is a call of the first one. */
function recording(...tools: readonly FakeTool[]) {
  const clock = fakeClock(5_000);
  const recorder = recordCalls(tools, "run-7", clock);
  const callOf = (index: number) => async (callId: string, input: unknown) =>
    (await recorder.tools[index]?.call(input, { callId, signal }))?.value;
  return { ...recorder, clock, call: callOf(0), callSecond: callOf(1) };
}

describe("the record of a run's tool calls", () => {
  it("holds call and result in order, with their times, and passes the call on", async () => {
    const { call, entries, clock } = recording(
      aTool("sessions_list", async () => {
        await clock.advance(250);
        return { value: { count: 2 } };
      }),
    );
    expect(await call("call-1", { limit: 2 })).toEqual({ count: 2 });
    expect(entries()).toEqual([
      {
        role: "assistant",
        content: [{ type: "toolCall", id: "call-1", name: "sessions_list", arguments: { limit: 2 } }],
        atMs: 5_000,
        runId: "run-7",
      },
      {
        role: "toolResult",
        content: [
          { type: "toolResult", id: "call-1", name: "sessions_list", text: '{"count":2}', isError: false },
        ],
        atMs: 5_250,
        runId: "run-7",
      },
    ]);
  });

  it("SEND-7: the same call runs once, also while the first is under way, and answers the same", async () => {
    let answer = (_output: ToolOutput) => {};
    const slow = new Promise<ToolOutput>((resolve) => {
      answer = resolve;
    });
    const tool = aTool("sessions_send", () => slow);
    const { call, entries } = recording(tool);
    const both = [call("call-1", { message: "hi" }), call("call-1", { message: "hi" })];
    answer({ value: { status: "ok", runId: "r-1" } });
    const third = await call("call-1", { message: "hi" });
    expect(await Promise.all([...both, third])).toEqual([
      { status: "ok", runId: "r-1" },
      { status: "ok", runId: "r-1" },
      { status: "ok", runId: "r-1" },
    ]);
    expect(tool.seen).toHaveLength(1);
    expect(entries()).toHaveLength(2);
  });

  it("SEND-7: a model that numbers its calls anew in each turn loses none of them", async () => {
    const [send, list] = [aTool("sessions_send"), aTool("sessions_list")];
    const { call, callSecond, entries } = recording(send, list);
    await call("call-0", { message: "first" });
    await call("call-0", { message: "second" });
    await callSecond("call-0", {});
    expect(send.seen.map(({ callId, input }) => [callId, input])).toEqual([
      ["call-0", { message: "first" }],
      ["call-0~2", { message: "second" }],
    ]);
    expect(list.seen.map(({ callId }) => callId)).toEqual(["call-0~3"]);
    const ids = entries().flatMap(({ content }) => content.map((block) => "id" in block && block.id));
    expect(ids).toEqual(["call-0", "call-0", "call-0~2", "call-0~2", "call-0~3", "call-0~3"]);
  });

  it.each([
    [
      "at once",
      () => {
        throw new Error("disk full");
      },
    ],
    ["later", () => Promise.reject(new Error("disk full"))],
  ])("a tool that throws %s is an answer and a failed result, no rejection", async (_when, answer) => {
    const { call, entries } = recording(aTool("sessions_list", answer));
    expect(await call("call-1", {})).toEqual({
      status: "error",
      code: "INTERNAL",
      error: "sessions_list failed: disk full",
    });
    expect(entries().at(-1)?.content).toMatchObject([{ type: "toolResult", id: "call-1", isError: true }]);
  });

  it.each([
    ["a BigInt", 1n],
    ["a circle", circle()],
    ["a function", () => 1],
    ["nothing", undefined],
  ])("input that is not JSON (%s) is recorded as null and passed on as it is", async (_what, input) => {
    const tool = aTool("sessions_list");
    const { call, entries } = recording(tool);
    await call("call-1", input);
    expect(entries()[0]?.content).toMatchObject([{ type: "toolCall", arguments: null }]);
    expect(tool.seen[0]?.input).toBe(input);
  });

  it("a call that is not answered yet is closed with a failed result, and its late answer changes nothing", async () => {
    let answer = (_output: ToolOutput) => {};
    const slow = new Promise<ToolOutput>((resolve) => {
      answer = resolve;
    });
    const { call, entries } = recording(aTool("sessions_send", () => slow));
    const waiting = call("call-1", {});
    const atTheEnd = entries();
    answer({ value: { status: "ok" } });
    await waiting;
    expect(atTheEnd).toHaveLength(2);
    expect(atTheEnd[1]?.content).toEqual([
      {
        type: "toolResult",
        id: "call-1",
        name: "sessions_send",
        text: "The run ended before this call was answered.",
        isError: true,
      },
    ]);
  });

  it("once it is closed, new calls do nothing; what was answered before can be asked again", async () => {
    const tool = aTool("sessions_send");
    const { call, close, entries } = recording(tool);
    await call("call-1", { message: "hi" });
    close();
    expect(await call("call-2", { message: "again" })).toMatchObject({ status: "error", code: "CLOSED" });
    expect(await call("call-1", { message: "hi" })).toEqual({ status: "ok" });
    expect(tool.seen).toHaveLength(1);
    expect(entries()).toHaveLength(2);
  });

  it.each([
    [{ status: "error", code: "INTERNAL" }, true],
    [{ status: "forbidden" }, true],
    [{ status: "timeout" }, false],
    [{ status: "ok" }, false],
    [{ count: 1 }, false],
    ["error", false],
    [null, false],
    [undefined, false],
  ])("%j is a failed answer: %s", (answer, failed) => {
    expect(isFailure(answer)).toBe(failed);
  });
});

function circle(): object {
  const ring: { self?: object } = {};
  ring.self = ring;
  return ring;
}
