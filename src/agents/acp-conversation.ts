import { setImmediate as turnOfLoop } from "node:timers/promises";
import type {
  AnyMessage,
  PermissionOption,
  RequestPermissionOutcome,
  SessionUpdate,
  Stream,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { z } from "zod";
import { GRACE_MS, type HarnessProcess, within } from "./acp-process.ts";

export type AcpSdk = typeof import("@agentclientprotocol/sdk");

export interface Talk {
  readonly prompt: string;
  /** Whether the harness may do what it asks permission for. */
  readonly permissions: "deny" | "allow";
  /** Until its session must stand. */
  readonly startTimeoutMs: number;
  onUpdate(update: SessionUpdate): void;
  /** The harness asks for permission to make this call, and gets its answer. */
  onAsked(call: ToolCallUpdate, isAllowed: boolean): void;
}

/** One prompt to a harness, in a session of its own. */
export interface Conversation {
  /** Why the harness has stopped. Rejects with what went wrong, as the rest of a sentence about the harness. */
  readonly stopReason: Promise<string>;
  /** Asks the harness to stop, and waits for a grace that it does. */
  cancel(): Promise<void>;
  close(): void;
}

const initialized = z.object({ protocolVersion: z.number() });
const sessionMade = z.object({ sessionId: z.string() });
const stopped = z.object({ stopReason: z.string() });

export function converse(sdk: AcpSdk, harness: HarnessProcess, talk: Talk): Conversation {
  const { agent, client } = sdk.methods;
  let sessionId: string | undefined;
  let cancelled = false;
  const connection = sdk
    .client({ name: "bot-switchboard" })
    .onNotification(client.session.update, ({ params }) => {
      if (params.sessionId === sessionId) talk.onUpdate(params.update);
    })
    .onRequest(client.session.requestPermission, ({ params }) => {
      const outcome = cancelled ? NEITHER : chosen(params.options, talk.permissions);
      const isAllowed = talk.permissions === "allow" && outcome.outcome === "selected";
      if (params.sessionId === sessionId) talk.onAsked(params.toolCall, isAllowed);
      return { outcome };
    })
    .connect(streamOf(harness));
  const harnessSide = connection.agent;

  async function ask<T>(method: string, asked: Promise<unknown>, shape: z.ZodType<T>): Promise<T> {
    const answer = await asked.catch(async (error) => {
      throw new Error(error instanceof sdk.RequestError ? refused(method, error) : await whyLost(harness));
    });
    const parsed = shape.safeParse(answer);
    if (!parsed.success) throw new Error(`answered "${method}" with something that is not ACP`);
    return parsed.data;
  }

  async function start(): Promise<string> {
    const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
    const { protocolVersion } = await ask(
      agent.initialize,
      harnessSide.request(agent.initialize, { protocolVersion: sdk.PROTOCOL_VERSION, clientCapabilities }),
      initialized,
    );
    if (protocolVersion !== sdk.PROTOCOL_VERSION) {
      throw new Error(`speaks version ${protocolVersion} of ACP, not ${sdk.PROTOCOL_VERSION}`);
    }
    const session = { cwd: harness.cwd, mcpServers: [] };
    return (await ask(agent.session.new, harnessSide.request(agent.session.new, session), sessionMade))
      .sessionId;
  }

  async function hold(): Promise<string> {
    sessionId = await within(talk.startTimeoutMs, start());
    if (sessionId === undefined) throw new Error(`was not ready within ${talk.startTimeoutMs / 1000} s`);
    const prompt = { sessionId, prompt: [{ type: "text" as const, text: talk.prompt }] };
    const { stopReason } = await ask(
      agent.session.prompt,
      harnessSide.request(agent.session.prompt, prompt),
      stopped,
    );
    // The SDK promises no order between an answer and the updates before it.
    await turnOfLoop();
    return stopReason;
  }

  const stopReason = hold();
  return {
    stopReason,
    async cancel() {
      if (sessionId === undefined) return;
      cancelled = true;
      harnessSide.notify(agent.session.cancel, { sessionId }).catch(() => {});
      await within(GRACE_MS, stopReason).catch(() => {});
    },
    close: () => connection.close(),
  };
}

const NEITHER: RequestPermissionOutcome = { outcome: "cancelled" };
const KINDS = {
  deny: ["reject_once", "reject_always"],
  allow: ["allow_once", "allow_always"],
} as const;

/** Only what holds for this call, where the harness offers that. */
function chosen(
  options: readonly PermissionOption[],
  permissions: Talk["permissions"],
): RequestPermissionOutcome {
  const [once, always] = KINDS[permissions].map((kind) => options.find((option) => option.kind === kind));
  const option = once ?? always;
  return option === undefined ? NEITHER : { outcome: "selected", optionId: option.optionId };
}

function refused(method: string, { code, message, data }: InstanceType<AcpSdk["RequestError"]>): string {
  const hasDetails = typeof data === "object" && data !== null && "details" in data;
  const details = hasDetails && typeof data.details === "string" ? `: ${data.details}` : "";
  return `answered "${method}" with error ${code}: ${message}${details}`;
}

async function whyLost({ lost }: HarnessProcess): Promise<string> {
  return (await within(2 * GRACE_MS, lost)) ?? "closed its output";
}

function streamOf({ messages, write }: HarnessProcess): Stream {
  return {
    // The SDK checks each message that it gets.
    readable: ReadableStream.from(messages as AsyncIterable<AnyMessage>),
    writable: new WritableStream({ write }),
  };
}
