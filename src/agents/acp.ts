import { messageOf } from "../core/errors.ts";
import { given } from "../core/given.ts";
import type { AgentRunner, NewEntry, RunOutcome, RunRequest } from "../core/ports/run.ts";
import { textOf } from "../core/transcript/prompt.ts";
import { type AcpSdk, type Conversation, converse } from "./acp-conversation.ts";
import { type HarnessCommand, startHarness } from "./acp-process.ts";
import { type AcpTranscript, createAcpTranscript } from "./acp-transcript.ts";

export interface AcpAgentOptions extends HarnessCommand {
  /**
   * The answer to a harness that asks for permission to act. Default: "deny". What it does without asking is a matter of its own settings, and of the
   * machine that you let it run on.
   */
  readonly permissions?: "deny" | "allow";
  /** The command confines the harness well enough for sessions that are to run in a sandbox. */
  readonly supportsSandbox?: boolean;
  /** Until a harness has to have started, in ms. Default: 60,000. */
  readonly startTimeoutMs?: number;
}

const START_TIMEOUT_MS = 60_000;
const SDK_MISSING =
  'The package "@agentclientprotocol/sdk" is not installed: npm install @agentclientprotocol/sdk';

/**
 * Runs a task in an external coding harness that speaks ACP (Agent Client Protocol), such as `{ command: "gemini", args: ["--acp"] }`.
 * Each run is a process of its own, which gets the task and nothing else: no history, no session tools, no files or terminals of ours, and of the host's
 * environment only PATH and HOME. The process and what it has started end with the run. Needs the package @agentclientprotocol/sdk and a POSIX system.
 */
export function acpAgent(options: AcpAgentOptions): AgentRunner {
  return {
    ...given({ supportsSandbox: options.supportsSandbox }),
    async run(request, signal) {
      try {
        const sdk = await loadSdk();
        if (sdk === undefined) return { status: "error", error: SDK_MISSING };
        if (signal.aborted) return { status: "aborted" };
        return await execute(sdk, options, request, signal);
      } catch (error) {
        return failed(options, `could not be started (${messageOf(error)})`);
      }
    },
  };
}

async function execute(
  sdk: AcpSdk,
  options: AcpAgentOptions,
  request: RunRequest,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { permissions = "deny", startTimeoutMs = START_TIMEOUT_MS } = options;
  const transcript = createAcpTranscript(request.runId);
  const heard = (add: () => void) => {
    add();
    request.report(() => transcript.entries());
  };
  const harness = startHarness(options);
  try {
    const conversation = converse(sdk, harness, {
      // ACP has no system prompt.
      prompt: [request.extraSystemPrompt, textOf(request.input)].filter(Boolean).join("\n\n"),
      permissions,
      startTimeoutMs,
      onUpdate: (update) => heard(() => transcript.add(update)),
      onAsked: (call, isAllowed) => heard(() => transcript.addAsked(call, isAllowed)),
    });
    return outcomeOf(await stopReasonOf(conversation, signal), transcript, options);
  } catch (error) {
    const words = harness.lastWords();
    return failed(options, messageOf(error) + (words && `: ${words}`), transcript.entries());
  } finally {
    await harness.stop();
  }
}

/** Ends the conversation: an abort as "cancelled". Nothing is heard afterwards. */
async function stopReasonOf(conversation: Conversation, signal: AbortSignal): Promise<string> {
  let onAbort = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    const reason = await Promise.race([conversation.stopReason, aborted]);
    if (reason !== undefined) return reason;
    await conversation.cancel();
    return "cancelled";
  } finally {
    signal.removeEventListener("abort", onAbort);
    conversation.close();
  }
}

function outcomeOf(stopReason: string, transcript: AcpTranscript, options: AcpAgentOptions): RunOutcome {
  const entries = transcript.entries();
  switch (stopReason) {
    case "end_turn":
      return { status: "ok", ...transcript.answer() };
    case "cancelled":
      return { status: "aborted", entries };
    case "refusal":
      return { status: "error", error: "the harness refused the task", entries };
    case "max_tokens":
    case "max_turn_requests":
      return failed(options, `was cut off before it had finished (${stopReason})`, entries);
    default:
      return failed(options, `stopped for an unknown reason (${stopReason.slice(0, 64)})`, entries);
  }
}

function failed(
  { command }: AcpAgentOptions,
  what: string,
  entries: readonly NewEntry[] = [],
): Extract<RunOutcome, { status: "error" }> {
  return { status: "error", error: `the harness "${command}" ${what}`, entries };
}

async function loadSdk(): Promise<AcpSdk | undefined> {
  try {
    return await import("@agentclientprotocol/sdk");
  } catch {
    return undefined;
  }
}
