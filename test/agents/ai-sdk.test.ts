import { describe, expect, it } from "vitest";
import { agentRunnerContract, type ModelStep } from "../contracts/agent-runner.contract.ts";
import { aRequest, aTool } from "../fakes/a-request.ts";
import { type ScriptedAnswer, SERVED_MODEL } from "../standins/openai.ts";
import { sdkVersions, standInAgent } from "./ai-sdk-versions.ts";

const NEVER = new AbortController().signal;

for (const version of sdkVersions) {
  agentRunnerContract(`AI SDK, ${version.version}`, {
    reportsRows: true,
    async open(steps) {
      const { agent, standIn } = await standInAgent(version);
      standIn.answers(...steps.map(answerOf));
      return { runner: agent, modelCalls: () => standIn.requests.length, asked: standIn.requested };
    },
  });
}

describe.each(sdkVersions)("aiSdkAgent, $version", (version) => {
  it("tells the system prompt, the question and the bound tools, and reports model and tokens", async () => {
    const { agent, standIn } = await standInAgent(version, { instructions: "You are Ada." });
    standIn.answers({ text: "Hi!", tokens: [12, 3] });
    const request = aRequest({
      text: "hello",
      extraSystemPrompt: "# Message from another agent",
      tools: [aTool("sessions_list")],
    });
    expect(await agent.run(request, NEVER)).toEqual({
      status: "ok",
      reply: "Hi!",
      entries: [],
      model: SERVED_MODEL,
      usage: { inputTokens: 12, outputTokens: 3, totalTokens: 15, cacheRead: 0 },
    });
    const [asked] = standIn.requests;
    expect(asked?.messages).toEqual([
      { role: "system", content: "You are Ada.\n\n# Message from another agent" },
      { role: "user", content: "hello" },
    ]);
    expect(asked?.model).toBe("usual");
    expect(asked?.tools?.map((tool) => [tool.function.name, tool.function.parameters])).toEqual([
      ["sessions_list", expect.objectContaining(aTool("sessions_list").inputJsonSchema)],
    ]);
  });

  it("without instructions there is no system message, and without tools no tool list", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers({ text: "Hi!" });
    await agent.run(aRequest(), NEVER);
    expect(standIn.requests[0]?.messages.map(({ role }) => role)).toEqual(["user"]);
    expect(standIn.requests[0]).not.toHaveProperty("tools");
  });

  it("D16: a long task with quotes, line breaks and emoji reaches the model unchanged", async () => {
    const task = `[Subagent Task]\n"quote" 'single' \\n \u2028 👩‍👩‍👧 \n${"0123456789".repeat(2000)}`;
    const { agent, standIn } = await standInAgent(version, { instructions: "rules" });
    standIn.answers({ text: "ok" });
    await agent.run(aRequest({ text: task, trigger: "spawn" }), NEVER);
    expect(standIn.requests[0]?.messages.find(({ role }) => role === "user")?.content).toBe(task);
  });

  it("the tokens of all steps are summed; what a provider does not count stays unknown", async () => {
    const { agent, standIn } = await standInAgent(version);
    const calls = [{ id: "call-a", name: "sessions_list", input: {} }];
    standIn.answers({ calls, tokens: [100, 20, 64] }, { text: "done", tokens: [150, 5, 128] });
    const request = aRequest({ tools: [aTool("sessions_list")] });
    expect((await agent.run(request, NEVER)).usage).toEqual({
      inputTokens: 250,
      outputTokens: 25,
      totalTokens: 275,
      cacheRead: 192,
    });
    standIn.answers({ text: "done" });
    expect(await agent.run(request, NEVER)).not.toHaveProperty("usage");
  });

  it("a session's model is looked up by its name; without one the usual model answers", async () => {
    const { agent, standIn } = await standInAgent(version, { models: ["small", "big"] });
    expect(agent.models).toEqual(["small", "big"]);
    standIn.answers({ text: "a" }, { text: "b" });
    await agent.run(aRequest({ model: "big" }), NEVER);
    await agent.run(aRequest(), NEVER);
    expect(standIn.requests.map(({ model }) => model)).toEqual(["big", "usual"]);
  });

  it.each(["huge", "constructor", "toString", ""])(
    "an unknown model (%j) is an error that names the known ones, and nothing is asked",
    async (model) => {
      const { agent, standIn } = await standInAgent(version, { models: ["small", "big"] });
      expect(await agent.run(aRequest({ model }), NEVER)).toMatchObject({
        status: "error",
        error: `This agent has no model "${model}". Models: small, big.`,
      });
      expect(standIn.requests).toEqual([]);
    },
  );

  it("an agent with one model knows no other name, and says so beforehand", async () => {
    const { agent } = await standInAgent(version);
    expect(agent.models).toEqual([]);
    expect(await agent.run(aRequest({ model: "big" }), NEVER)).toMatchObject({
      status: "error",
      error: 'This agent has no model "big". Models: none besides the default.',
    });
  });

  it("settings of the model calls may follow the request, and cannot replace what the runner sets", async () => {
    const settings = ({ thinking = "low" }) => ({
      temperature: 0.25,
      providerOptions: { test: { reasoningEffort: thinking } },
      messages: [],
    });
    const { agent, standIn } = await standInAgent(version, { settings });
    standIn.answers({ text: "ok" });
    await agent.run(aRequest({ thinking: "high", text: "still here?" }), NEVER);
    expect(standIn.requests[0]).toMatchObject({
      temperature: 0.25,
      reasoning_effort: "high",
      messages: [{ role: "user", content: "still here?" }],
    });
  });
});

describe.each(sdkVersions)("aiSdkAgent when the provider fails, $version", (version) => {
  const busy = { status: 429, message: "Rate limit reached", retryAfterMs: 1 };

  it("A07: a failed call is repeated with the same words, and one reply comes of it", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers(busy, { status: 500, message: "oops", retryAfterMs: 1 }, { text: "here" });
    expect(await agent.run(aRequest(), NEVER)).toMatchObject({ status: "ok", reply: "here", entries: [] });
    expect(standIn.requests).toHaveLength(3);
    expect(new Set(standIn.requests.map((request) => JSON.stringify(request))).size).toBe(1);
  });

  it.each([
    [429, "Rate limit reached"],
    [500, "The server had an error"],
  ])("A05: a lasting %i ends the run after three attempts, with a short reason", async (status, message) => {
    const { agent, standIn } = await standInAgent(version);
    const failure = { status, message, retryAfterMs: 1 };
    standIn.answers(failure, failure, failure, { text: "too late" });
    expect(await agent.run(aRequest(), NEVER)).toEqual({
      status: "error",
      error: `the model's provider answered ${status}: ${message}`,
      entries: [],
    });
    expect(standIn.requests).toHaveLength(3);
  });

  it("A05: what no repetition can mend is not repeated", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers({ status: 401, message: "Incorrect API key" });
    expect(await agent.run(aRequest(), NEVER)).toMatchObject({
      error: "the model's provider answered 401: Incorrect API key",
    });
    expect(standIn.requests).toHaveLength(1);
  });

  it("A05: `settings` decide how often a failed call is repeated", async () => {
    const { agent, standIn } = await standInAgent(version, { settings: () => ({ maxRetries: 0 }) });
    standIn.answers(busy, { text: "too late" });
    expect((await agent.run(aRequest(), NEVER)).status).toBe("error");
    expect(standIn.requests).toHaveLength(1);
  });

  it("A07: tools that ran before a failure do not run again, and their rows and tokens are reported", async () => {
    const { agent, standIn } = await standInAgent(version);
    const calls = [{ id: "call-a", name: "sessions_send", input: { message: "hi" } }];
    const denied = { status: 403, message: "Blocked" };
    standIn.answers({ calls, tokens: [10, 2] }, busy, denied);
    const tool = aTool("sessions_send");
    const outcome = await agent.run(aRequest({ tools: [tool] }), NEVER);
    expect(outcome).toMatchObject({
      status: "error",
      error: "the model's provider answered 403: Blocked",
      usage: { inputTokens: 10, outputTokens: 2, totalTokens: 12 },
    });
    expect(outcome.entries?.map(({ role }) => role)).toEqual(["assistant", "toolResult"]);
    expect(tool.seen).toHaveLength(1);
  });

  it("an abort hangs up on the provider", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers("hang");
    const stop = new AbortController();
    const running = agent.run(aRequest(), stop.signal);
    await standIn.requested(1);
    stop.abort("cancelled");
    expect((await running).status).toBe("aborted");
    await standIn.hungUp();
  });

  it("a run that was stopped before it began has no answer, even of a model that ignores signals", async () => {
    const { agent } = await standInAgent(version, {
      model: version.fixedModel([{ type: "text", text: "too late" }]),
    });
    expect(await agent.run(aRequest(), AbortSignal.abort())).toEqual({ status: "aborted", entries: [] });
  });

  it("an abort between two attempts does not wait for the second", async () => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers({ ...busy, retryAfterMs: 50_000 }, { text: "too late" });
    const stop = new AbortController();
    const running = agent.run(aRequest(), stop.signal);
    await standIn.requested(1);
    stop.abort();
    expect(await running).toEqual({ status: "aborted", entries: [] });
    expect(standIn.requests).toHaveLength(1);
  });

  it.each([
    ["length", "length"],
    ["content_filter", "content-filter"],
  ])("an answer without words because of %s is an error, not silence", async (finish, reason) => {
    const { agent, standIn } = await standInAgent(version);
    standIn.answers({ text: "", finish });
    expect(await agent.run(aRequest(), NEVER)).toMatchObject({
      status: "error",
      error: `the model ended without an answer (${reason})`,
    });
  });
});

function answerOf(step: ModelStep): ScriptedAnswer {
  if (step === "hangs") return "hang";
  if ("fails" in step) return { status: 400, message: step.fails };
  return { text: step.says, ...(step.calls === undefined ? {} : { calls: step.calls }) };
}
