import { jsonSchema, type ToolSet } from "ai";
import { describe, expect, it } from "vitest";
import type { Block, NewEntry } from "../../src/core/ports/run.ts";
import { aRequest, aTool } from "../fakes/a-request.ts";
import type { ModelCall } from "../standins/openai.ts";
import { sdkVersions, standInAgent } from "./ai-sdk-versions.ts";

const NEVER = new AbortController().signal;
const list = (id: string, input: object | string = {}): ModelCall => ({ id, name: "sessions_list", input });

/** A tool as hosts write them; `execute` may be left out. */
function hostTool(execute?: (input: { city?: string }) => unknown): ToolSet[string] {
  const inputSchema = jsonSchema<{ city?: string }>({
    type: "object",
    properties: { city: { type: "string" } },
  });
  const description = "The weather in a city.";
  return execute === undefined ? { description, inputSchema } : { description, inputSchema, execute };
}

describe.each(sdkVersions)("aiSdkAgent and its tools, $version", (version) => {
  it("asks a session tool, reads its answer, and reports the pair without the reply", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers({ text: "Let me look.", calls: [list("call-a", { limit: 2 })] }, { text: "Two rooms." });
    const sessionsList = aTool("sessions_list", () => ({ value: { count: 2, sessions: ["a", "b"] } }));
    const beforeMs = Date.now();
    const outcome = await agent.run(aRequest({ tools: [sessionsList] }), NEVER);

    expect(outcome).toMatchObject({ status: "ok", reply: "Two rooms." });
    expect(standIn.requests[1]?.messages.slice(1)).toMatchObject([
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [{ id: "call-a", function: { name: "sessions_list", arguments: '{"limit":2}' } }],
      },
      { role: "tool", tool_call_id: "call-a", content: '{"count":2,"sessions":["a","b"]}' },
    ]);
    const { entries = [] } = outcome;
    expect(entries.map(({ role, content }) => ({ role, content }))).toEqual([
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me look." },
          { type: "toolCall", id: "call-a", name: "sessions_list", arguments: { limit: 2 } },
        ],
      },
      {
        role: "toolResult",
        content: [
          {
            type: "toolResult",
            id: "call-a",
            name: "sessions_list",
            text: '{"count":2,"sessions":["a","b"]}',
            isError: false,
          },
        ],
      },
    ]);
    for (const { runId, atMs } of entries) {
      expect(runId).toBe("run-7");
      expect(atMs).toBeGreaterThanOrEqual(beforeMs);
      expect(atMs).toBeLessThanOrEqual(Date.now());
    }
  });

  it("HIST-8: rows of the run claim no origin; where its question came from is the core's to say", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers({ calls: [list("call-a")] }, { text: "done" });
    const { entries = [] } = await agent.run(aRequest({ tools: [aTool("sessions_list")] }), NEVER);
    expect(entries).toHaveLength(2);
    for (const entry of entries) expect(entry).not.toHaveProperty("provenance");
  });

  it("reasoning between calls stays in the transcript and out of the reply", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers(
      { reasoning: "I need the list.", calls: [list("call-a")] },
      { reasoning: "Now I know.", text: "Two." },
    );
    const outcome = await agent.run(aRequest({ tools: [aTool("sessions_list")] }), NEVER);
    expect(outcome).toMatchObject({ status: "ok", reply: "Two." });
    expect(outcome.entries?.[0]?.content[0]).toEqual({ type: "thinking", text: "I need the list." });
  });

  it("one step with several calls: results stand in the order of the calls, whoever is first", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers(
      { calls: [list("slow", { n: 1 }), list("wrong", "{"), list("fast", { n: 2 })] },
      { text: "ok" },
    );
    let release = () => {};
    const fastIsDone = new Promise<void>((resolve) => {
      release = resolve;
    });
    const sessionsList = aTool("sessions_list", async ({ callId }) => {
      if (callId === "slow") await fastIsDone;
      else release();
      return { value: { callId } };
    });
    const { entries = [] } = await agent.run(aRequest({ tools: [sessionsList] }), NEVER);
    expect(resultsIn(entries).map(({ id }) => id)).toEqual(["slow", "wrong", "fast"]);
    expect(resultsIn(entries).map(({ text }) => text)).toEqual([
      '{"callId":"slow"}',
      expect.stringContaining("sessions_list"),
      '{"callId":"fast"}',
    ]);
  });

  it.each(["{", "[1,", "not json", '{"limit": }'])(
    "malformed input of a tool (%s) goes back to the model, reaches no tool and stays in the transcript",
    async (input) => {
      const { agent, standIn } = await standInAgent(version);
      standIn.answers({ calls: [list("call-a", input)] }, { text: "Sorry." });
      const sessionsList = aTool("sessions_list");
      const outcome = await agent.run(aRequest({ tools: [sessionsList] }), NEVER);
      expect(outcome).toMatchObject({ status: "ok", reply: "Sorry." });
      expect(sessionsList.seen).toEqual([]);
      expect(standIn.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", tool_call_id: "call-a" });
      expect(outcome.entries?.[0]?.content).toEqual([
        { type: "toolCall", id: "call-a", name: "sessions_list", arguments: input },
      ]);
      expect(resultsIn(outcome.entries)).toMatchObject([{ id: "call-a", isError: true }]);
    },
  );

  it("a tool that does not exist is answered, and the run goes on", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers({ calls: [{ id: "call-a", name: "sessions_delete", input: {} }] }, { text: "I cannot." });
    const outcome = await agent.run(aRequest({ tools: [aTool("sessions_list")] }), NEVER);
    expect(outcome).toMatchObject({ status: "ok", reply: "I cannot." });
    expect(resultsIn(outcome.entries)).toMatchObject([{ name: "sessions_delete", isError: true }]);
  });

  it("a session tool that answers a failure is marked as one, and its answer reaches the model", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers({ calls: [list("call-a")] }, { text: "I may not." });
    const refusing = aTool("sessions_list", () => ({
      value: { status: "forbidden", code: "NOT_VISIBLE", error: "no" },
    }));
    const { entries } = await agent.run(aRequest({ tools: [refusing] }), NEVER);
    expect(resultsIn(entries)).toMatchObject([
      { isError: true, text: expect.stringContaining("NOT_VISIBLE") },
    ]);
    expect(standIn.requests[1]?.messages.at(-1)?.content).toContain("NOT_VISIBLE");
  });

  it("the tool that ends the run is in the rows with its result", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers({
      text: "I wait.",
      calls: [{ id: "call-y", name: "sessions_yield", input: {} }],
      tokens: [9, 1],
    });
    const yielding = aTool("sessions_yield", () => ({ value: { status: "ok" }, ends: true }));
    const outcome = await agent.run(aRequest({ tools: [yielding] }), NEVER);
    expect(outcome).toMatchObject({ status: "yielded", usage: { totalTokens: 10 } });
    expect(outcome.entries?.map(({ role }) => role)).toEqual(["assistant", "toolResult"]);
    expect(standIn.requests).toHaveLength(1);
  });

  it("a run that finds no end is stopped after maxSteps model calls and says so", async () => {
    const { agent, standIn } = await standInAgent(version, { maxSteps: 3 });
    standIn.answers(...[1, 2, 3, 4].map((n) => ({ text: `Step ${n}.`, calls: [list(`call-${n}`)] })));
    const outcome = await agent.run(aRequest({ tools: [aTool("sessions_list")] }), NEVER);
    expect(outcome).toMatchObject({ status: "error", error: "no answer after 3 model calls" });
    expect(standIn.requests).toHaveLength(3);
    expect(resultsIn(outcome.entries)).toHaveLength(3);
  });
});

describe.each(sdkVersions)("aiSdkAgent and the tools of its host, $version", (version) => {
  const weather = (id: string, city = "Oslo"): ModelCall => ({ id, name: "weather", input: { city } });

  it("work beside the session tools, in one run and in its rows", async () => {
    const { agent, standIn } = await standInAgent(version, {
      tools: { weather: hostTool(({ city }) => `${city}: rain`) },
    });
    standIn.answers({ calls: [weather("call-w"), list("call-l")] }, { text: "Rain, two rooms." });
    const sessionsList = aTool("sessions_list", () => ({ value: { count: 2 } }));
    const { entries } = await agent.run(aRequest({ tools: [sessionsList] }), NEVER);
    expect(standIn.requests[0]?.tools?.map((one) => one.function.name).sort()).toEqual([
      "sessions_list",
      "weather",
    ]);
    expect(resultsIn(entries)).toMatchObject([
      { id: "call-w", name: "weather", text: "Oslo: rain", isError: false },
      { id: "call-l", name: "sessions_list", text: '{"count":2}', isError: false },
    ]);
  });

  it("a session tool of the same name wins", async () => {
    const { agent, standIn } = await standInAgent(version, {
      tools: { sessions_list: hostTool(() => "the host's") },
    });
    standIn.answers({ calls: [list("call-a")] }, { text: "done" });
    const { entries } = await agent.run(
      aRequest({ tools: [aTool("sessions_list", () => ({ value: { from: "the switchboard" } }))] }),
      NEVER,
    );
    expect(standIn.requests[0]?.tools).toHaveLength(1);
    expect(resultsIn(entries)[0]?.text).toBe('{"from":"the switchboard"}');
  });

  it.each([
    ["nothing", () => undefined, { text: "", isError: false }],
    ["a number", () => 21, { text: "21", isError: false }],
    ["an error", () => Promise.reject(new Error("no station")), { text: "no station", isError: true }],
  ])("may answer %s", async (_what, execute, expected) => {
    const { agent, standIn } = await standInAgent(version, { tools: { weather: hostTool(execute) } });
    standIn.answers({ calls: [weather("call-w")] }, { text: "done" });
    const outcome = await agent.run(aRequest(), NEVER);
    expect(outcome.status).toBe("ok");
    expect(resultsIn(outcome.entries)).toMatchObject([expected]);
  });

  it("one that ignores its signal does not hold up an abort; what was finished is reported", async () => {
    let tell = () => {};
    const stuck = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const { agent, standIn } = await standInAgent(version, {
      tools: {
        weather: hostTool(() => {
          tell();
          return new Promise(() => {});
        }),
      },
    });
    standIn.answers({ calls: [list("call-l")], tokens: [5, 5] }, { calls: [weather("call-w")] });
    const stop = new AbortController();
    const running = agent.run(aRequest({ tools: [aTool("sessions_list")] }), stop.signal);
    await stuck;
    const abortedAtMs = performance.now();
    stop.abort("cancelled");
    const outcome = await running;
    expect(performance.now() - abortedAtMs).toBeLessThan(1000);
    expect(outcome).toMatchObject({ status: "aborted", usage: { totalTokens: 10 } });
    expect(resultsIn(outcome.entries).map(({ id }) => id)).toEqual(["call-l"]);
  });

  it("one that the provider runs itself answers within the step: its text is the reply and nothing but", async () => {
    const search = { toolCallId: "call-s", toolName: "web_search", providerExecuted: true, dynamic: true };
    const { agent } = await standInAgent(version, {
      model: version.fixedModel([
        { type: "tool-call", input: '{"q":"rain"}', ...search },
        { type: "tool-result", result: { hits: 1 }, ...search },
        { type: "text", text: "It rains." },
      ]),
    });
    const outcome = await agent.run(aRequest({ tools: [aTool("sessions_list")] }), NEVER);
    expect(outcome).toMatchObject({ status: "ok", reply: "It rains." });
    expect(outcome.entries?.map(({ content }) => content)).toEqual([
      [{ type: "toolCall", id: "call-s", name: "web_search", arguments: { q: "rain" } }],
      [{ type: "toolResult", id: "call-s", name: "web_search", text: '{"hits":1}', isError: false }],
    ]);
  });

  it("one that nobody executes here ends the run as an error, with its pair whole", async () => {
    const { agent, standIn } = await standInAgent(version, { tools: { weather: hostTool() } });
    standIn.answers({ text: "I ask.", calls: [weather("call-w")] }, { text: "too late" });
    const outcome = await agent.run(aRequest(), NEVER);
    expect(outcome).toMatchObject({
      status: "error",
      error: 'the model called "weather", which was not executed (tool-calls)',
    });
    expect(resultsIn(outcome.entries)).toMatchObject([{ id: "call-w", isError: true }]);
  });
});

function resultsIn(entries: readonly NewEntry[] = []): readonly Extract<Block, { type: "toolResult" }>[] {
  return entries.flatMap((entry) =>
    entry.content.flatMap((block) => (block.type === "toolResult" ? [block] : [])),
  );
}
