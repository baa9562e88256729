import { describe, expect, it } from "vitest";
import { functionAgent } from "../../src/agents/function-agent.ts";
import { agentRunnerContract } from "../contracts/agent-runner.contract.ts";
import { aRequest, aRow, aTool } from "../fakes/a-request.ts";
import { steppedModel } from "./stepped-model.ts";

const NEVER = new AbortController().signal;

/** A model loop as a host may have it, in a few lines. */
agentRunnerContract("a plain function", {
  reportsRows: false,
  async open(steps) {
    const model = steppedModel(steps);
    const runner = functionAgent(async ({ tools }, signal) => {
      for (;;) {
        const { says, calls } = await model.ask(signal);
        if (calls.length === 0) return says;
        for (const { id, name, input } of calls) {
          const tool = tools.find((one) => one.name === name);
          const output = await tool?.call(input, { callId: id, signal });
          signal.throwIfAborted();
          if (output?.ends === true) return "";
        }
      }
    });
    return { runner, modelCalls: model.calls, asked: model.asked };
  },
});

describe("functionAgent", () => {
  it("a plain answer is the reply; the function gets the request and what is asked as one text", async () => {
    const runner = functionAgent(({ text, trigger }) => `${trigger} said: ${text}`);
    const input = aRow({
      role: "user",
      content: [
        { type: "text", text: "first line" },
        { type: "text", text: "> quoted" },
      ],
    });
    expect(await runner.run({ ...aRequest(), input }, NEVER)).toEqual({
      status: "ok",
      reply: "user said: first line\n> quoted",
    });
  });

  it("HIST-8: a whole outcome passes as it is, with rows, usage, model and their provenance", async () => {
    const outcome = {
      status: "ok" as const,
      reply: "done",
      usage: { totalTokens: 9 },
      model: "m-1",
      entries: [
        {
          role: "assistant" as const,
          content: [{ type: "text" as const, text: "from elsewhere" }],
          atMs: 5,
          provenance: { kind: "external" as const },
        },
      ],
    };
    expect(await functionAgent(() => outcome).run(aRequest(), NEVER)).toEqual(outcome);
  });

  it("what it throws at once, later, or as no Error at all is an error outcome", async () => {
    const failing = [
      () => {
        throw new Error("no key");
      },
      () => Promise.reject(new Error("no net")),
      () => Promise.reject("plain words"),
    ];
    const outcomes = await Promise.all(failing.map((one) => functionAgent(one).run(aRequest(), NEVER)));
    expect(outcomes).toEqual([
      { status: "error", error: "no key" },
      { status: "error", error: "no net" },
      { status: "error", error: "plain words" },
    ]);
  });

  it("once a tool has ended the run, neither words nor an exception of the function count", async () => {
    const tool = aTool("sessions_yield", () => ({ value: { status: "ok" }, ends: true }));
    const call = { callId: "call-1", signal: NEVER };
    const says = functionAgent(async ({ tools }) => {
      await tools[0]?.call({}, call);
      return { status: "ok", reply: "I wait now.", usage: { totalTokens: 4 } };
    });
    const throws = functionAgent(async ({ tools }) => {
      await tools[0]?.call({}, call);
      throw new Error("stopped by my framework");
    });
    const request = aRequest({ tools: [tool] });
    expect(await says.run(request, NEVER)).toEqual({ status: "yielded", usage: { totalTokens: 4 } });
    expect(await throws.run(request, NEVER)).toEqual({ status: "yielded" });
  });

  it("a function that returns nothing has failed, unless a tool has ended the run", async () => {
    // What a function in plain JavaScript may do.
    const nothing = undefined as unknown as string;
    const tool = aTool("sessions_yield", () => ({ value: { status: "ok" }, ends: true }));
    const runner = functionAgent(async ({ tools }) => {
      await tools[0]?.call({}, { callId: "call-1", signal: NEVER });
      return nothing;
    });
    expect(await runner.run(aRequest(), NEVER)).toEqual({
      status: "error",
      error: "the agent's function returned nothing",
    });
    expect(await runner.run(aRequest({ tools: [tool] }), NEVER)).toEqual({ status: "yielded" });
  });

  it("says which models it knows and whether it confines", () => {
    const runner = functionAgent(() => "", { models: ["small"], supportsSandbox: true });
    expect(runner).toMatchObject({ models: ["small"], supportsSandbox: true });
    expect(functionAgent(() => "")).not.toHaveProperty("models");
  });
});
