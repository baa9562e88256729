import type { LanguageModel, ToolSet } from "ai";
import { systemClock } from "../core/clock.ts";
import { messageOf, SwitchboardError } from "../core/errors.ts";
import { given } from "../core/given.ts";
import type { AgentRunner, BoundTool, RunRequest } from "../core/ports/run.ts";
import { toModelMessages } from "./ai-sdk-messages.ts";
import { type FinishedStep, madeIn } from "./ai-sdk-steps.ts";

type Sdk = Pick<typeof import("ai"), "generateText" | "jsonSchema">;

export interface AiSdkAgentOptions {
  /** Used unless a session or call names one of `models`. */
  readonly model: LanguageModel;
  readonly instructions?: string;
  /** Tools of your own, beside the session tools. A session tool of the same name wins, because its rules must hold. */
  readonly tools?: ToolSet;
  /** Models that sessions may be switched to, by the name that people and agents use. Absent = none but `model`. */
  readonly models?: Readonly<Record<string, LanguageModel>>;
  /** Model calls in one run, at most; a run that needs more ends as an error. Default 20. */
  readonly maxSteps?: number;
  /** Settings of the model calls of one run, e.g. providerOptions that fit its `thinking`. */
  readonly settings?: (request: RunRequest) => CallSettings;
  /** The `ai` module (6 or 7) to use; default: the installed one. */
  readonly sdk?: Sdk;
}

export type CallSettings = Pick<
  Parameters<Sdk["generateText"]>[0],
  "temperature" | "maxOutputTokens" | "maxRetries" | "headers" | "providerOptions"
>;

const MAX_STEPS = 20;

/**
 * Repetitions of one failed model call (429, 5xx, no connection). Two wait about 6 s together, or as long as the provider asks for (at most a minute
 * each): a hiccup is bridged, and the reason of a lasting failure still reaches an agent that waits the usual 30 s.
 */
const MAX_RETRIES = 2;

/**
 * Runs an agent with the Vercel AI SDK: instructions, transcript, session tools and your own tools, until it answers or a tool ends the run.
 * An abort ends it at once, also while a tool of yours ignores its signal.
 */
export function aiSdkAgent(options: AiSdkAgentOptions): AgentRunner {
  return {
    models: Object.keys(options.models ?? {}),
    async run(request, signal) {
      const progress: Progress = { steps: [], ended: false };
      try {
        signal.throwIfAborted();
        await untilAborted(generate(request, signal, options, progress), signal);
        return { ...madeIn(progress.steps, request.runId), ...endOf(progress, options) };
      } catch (error) {
        const made = madeIn(progress.steps, request.runId);
        if (signal.aborted) return { ...made, status: "aborted" };
        return { ...made, status: "error", error: reasonOf(error) };
      }
    },
  };
}

/** Filled while the SDK works, so that a run that fails half-way still tells what it has done. */
interface Progress {
  readonly steps: FinishedStep[];
  /** A tool has answered `ends`. */
  ended: boolean;
}

async function generate(
  request: RunRequest,
  signal: AbortSignal,
  options: AiSdkAgentOptions,
  progress: Progress,
): Promise<void> {
  const { maxSteps = MAX_STEPS, sdk = await loadSdk() } = options;
  await sdk.generateText({
    maxRetries: MAX_RETRIES,
    ...options.settings?.(request),
    model: modelFor(request, options),
    messages: toModelMessages([...request.history, request.input]),
    tools: { ...options.tools, ...sessionTools(request.tools, sdk, signal, progress) },
    stopWhen: ({ steps }) => progress.ended || steps.length >= maxSteps,
    onStepFinish: (step) => {
      progress.steps.push({ step, atMs: systemClock.now() });
    },
    abortSignal: signal,
    ...given({ system: systemPrompt(request, options) }),
  });
}

function endOf(progress: Progress, { maxSteps = MAX_STEPS }: AiSdkAgentOptions) {
  if (progress.ended) return { status: "yielded" as const };
  const { steps } = progress;
  const last = steps.at(-1)?.step;
  const open = last?.toolCalls.find((call) => call.providerExecuted !== true);
  if (open !== undefined) {
    return steps.length >= maxSteps
      ? failed(`no answer after ${maxSteps} model calls`)
      : failed(`the model called "${open.toolName}", which was not executed (${last?.finishReason})`);
  }
  const { text = "", finishReason = "stop" } = last ?? {};
  if (text === "" && finishReason !== "stop")
    return failed(`the model ended without an answer (${finishReason})`);
  return { status: "ok" as const, reply: text };
}

function failed(error: string) {
  return { status: "error" as const, error };
}

function modelFor({ model }: RunRequest, { model: usual, models = {} }: AiSdkAgentOptions): LanguageModel {
  if (model === undefined) return usual;
  const named = Object.hasOwn(models, model) ? models[model] : undefined;
  if (named !== undefined) return named;
  const names = Object.keys(models).join(", ") || "none besides the default";
  throw new SwitchboardError("MODEL_UNKNOWN", `This agent has no model "${model}". Models: ${names}.`);
}

function sessionTools(
  tools: readonly BoundTool[],
  sdk: Sdk,
  signal: AbortSignal,
  progress: Progress,
): ToolSet {
  const entries = tools.map((bound): [string, ToolSet[string]] => [
    bound.name,
    {
      description: bound.description,
      inputSchema: sdk.jsonSchema(bound.inputJsonSchema),
      async execute(input: unknown, { toolCallId }: { toolCallId: string }) {
        const output = await bound.call(input, { callId: toolCallId, signal });
        if (output.ends === true) progress.ended = true;
        return output.value;
      },
    },
  ]);
  return Object.fromEntries(entries);
}

function systemPrompt(
  { extraSystemPrompt }: RunRequest,
  { instructions }: AiSdkAgentOptions,
): string | undefined {
  return [instructions, extraSystemPrompt].filter(Boolean).join("\n\n") || undefined;
}

/** The last failure of several attempts, with the status that the provider answered. The SDK's error classes differ by version. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && "lastError" in error ? error.lastError : error;
  const status = cause instanceof Error && "statusCode" in cause ? cause.statusCode : undefined;
  const said = messageOf(cause);
  return typeof status === "number" ? `the model's provider answered ${status}: ${said}` : said;
}

/** Rejects as soon as the signal is raised, whether or not the work heeds it. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import("ai");
  } catch (cause) {
    throw new SwitchboardError(
      "CONFIG_INVALID",
      'The package "ai" (6 or 7) is not installed: npm install ai',
      { cause },
    );
  }
}
