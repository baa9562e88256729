import { describe, expect, it } from "vitest";
import { scriptedAgent } from "../../src/agents/scripted-agent.ts";
import { agentRunnerContract } from "../contracts/agent-runner.contract.ts";
import { aRequest, aRow, aTool } from "../fakes/a-request.ts";
import { steppedModel } from "./stepped-model.ts";

const NEVER = new AbortController().signal;

agentRunnerContract("a script", {
  reportsRows: false,
  async open(steps) {
    const model = steppedModel(steps);
    const runner = scriptedAgent(async ({ call, signal }) => {
      for (;;) {
        const { says, calls } = await model.ask(signal);
        if (calls.length === 0) return says;
        for (const { id, name, input } of calls) await call(name, input, id);
      }
    });
    return { runner, modelCalls: model.calls, asked: model.asked };
  },
});

describe("scriptedAgent", () => {
  it("K01: the script reads everything that the agent is asked, and `turns` keeps the requests in order", async () => {
    const agent = scriptedAgent(({ text }) => text.toUpperCase());
    const input = aRow({
      role: "user",
      content: [
        { type: "text", text: "one" },
        { type: "attachment", mediaType: "image/png" },
        { type: "text", text: "two" },
      ],
    });
    const first = { ...aRequest(), input };
    const second = aRequest({ text: "three" });
    expect(await agent.run(first, NEVER)).toEqual({ status: "ok", reply: "ONE\nTWO" });
    expect(await agent.run(second, NEVER)).toEqual({ status: "ok", reply: "THREE" });
    expect(agent.turns.map((turn) => turn.runId)).toEqual([first.runId, second.runId]);
  });

  it("SEND-7: calls of one turn have ids of their own, unless the script repeats one", async () => {
    const tool = aTool("sessions_list");
    const agent = scriptedAgent(async ({ call }) => {
      await call("sessions_list");
      await call("sessions_list", { limit: 1 });
      await call("sessions_list", { limit: 1 }, "call-2");
      return "";
    });
    await agent.run(aRequest({ tools: [tool] }), NEVER);
    expect(tool.seen.map(({ callId }) => callId)).toEqual(["call-1", "call-2", "call-2"]);
    expect(tool.seen.map(({ input }) => input)).toEqual([{}, { limit: 1 }, { limit: 1 }]);
  });

  it("a tool that is not bound is an answer, as every failure of a tool is", async () => {
    const agent = scriptedAgent(async ({ call }) => String((await call("sessions_spawn")).code));
    expect(await agent.run(aRequest(), NEVER)).toEqual({ status: "ok", reply: "TOOL_UNKNOWN" });
  });
});
